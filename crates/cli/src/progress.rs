//! What is being done, on the standard error, when it is a terminal and the work takes over a second.

use crate::args::Common;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A line that says what is being done; gone when this is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn start(common: &Common) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        if stderr().is_terminal() && !common.quiet {
            let late = bar.downgrade();
            // The thread outlives the bar by a second at most, and does nothing then.
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                if let Some(bar) = late.upgrade().filter(|bar| !bar.is_finished()) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            });
        }
        Self { bar }
    }

    /// What is done from now on.
    pub(crate) fn phase(&self, message: &'static str) {
        self.bar.set_message(message);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
