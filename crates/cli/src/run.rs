//! What all commands share: session, diagnostics, exit code.

use crate::args::{Common, RootsArgument, SensitivityArgument, Whole};
use crate::{diagnostics, output};
use anyhow::Context;
use hognose::pta::Roots;
use hognose::{Analysis, Config, Sensitivity, Session, Usage};
use std::time::Duration;

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Clean = 0,
    /// Something was looked for and found.
    Findings = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// Something is missing from the result.
    Partial = 3,
    /// Nothing could be analysed.
    Nothing = 4,
}

/// The configuration that the arguments ask for.
pub(crate) fn config(common: &Common, whole: Option<&Whole>) -> Config {
    let config = Config {
        python: common.python.clone(),
        threads: common.threads,
        follow: whole.is_some_and(|whole| !whole.no_follow),
        deps: whole.map(|whole| whole.deps.clone()).unwrap_or_default(),
        models: whole.map(|whole| whole.models.clone()).unwrap_or_default(),
        profile: common.profile.is_some(),
        ..Config::default()
    };
    let Some(whole) = whole else { return config };
    config
        .with_roots(match whole.roots {
            RootsArgument::Modules => Roots::Modules,
            RootsArgument::Exports => Roots::Exports,
        })
        .with_sensitivity(match whole.sensitivity {
            SensitivityArgument::Insensitive => Sensitivity::Insensitive,
            SensitivityArgument::Default => Sensitivity::Default,
        })
}

/// Shows the diagnostics, writes the profile, and says how it went.
pub(crate) fn finish(session: &Session, analysis: &Analysis, common: &Common) -> anyhow::Result<Exit> {
    diagnostics::show(analysis, common);
    if let Some(path) = &common.profile {
        let written = output::write(Some(path), |out| session.profiler().write_json(out));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(if analysis.is_empty() {
        Exit::Nothing
    } else if analysis.is_partial() && !common.allow_partial {
        Exit::Partial
    } else {
        Exit::Clean
    })
}

/// Says how long it took.
pub(crate) fn say_time(usage: Usage, common: &Common) {
    if !common.quiet {
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        diagnostics::say(&format!(
            "done in {} (CPU {})",
            seconds(usage.wall()),
            seconds(usage.cpu())
        ));
    }
}
