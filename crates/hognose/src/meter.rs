//! Clocks and memory of this process.
//!
//! CPU time comes from the operating system's clocks of the process and the thread, resident memory from
//! `/proc/self/statm`. Where these do not exist the answer is zero: measuring never stops an analysis.

use std::time::{Duration, Instant};

/// Wall clock and process CPU at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    at: Instant,
    cpu: Duration,
}

impl Usage {
    /// The usage up to now.
    #[must_use]
    pub fn now() -> Self {
        Self {
            at: Instant::now(),
            cpu: process_cpu(),
        }
    }
    /// Wall-clock time since then.
    #[must_use]
    pub fn wall(self) -> Duration {
        self.at.elapsed()
    }
    /// CPU time of all threads since then.
    #[must_use]
    pub fn cpu(self) -> Duration {
        process_cpu().saturating_sub(self.cpu)
    }
}

/// CPU time of all threads of this process, ended ones included.
#[must_use]
pub fn process_cpu() -> Duration {
    clock(Clock::Process)
}

/// CPU time of this thread.
#[must_use]
pub fn thread_cpu() -> Duration {
    clock(Clock::Thread)
}

/// Resident memory of this process.
#[must_use]
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|field| field.parse::<u64>().ok());
    pages.unwrap_or(0) * page_size()
}

#[derive(Clone, Copy)]
enum Clock {
    Process,
    Thread,
}

#[cfg(unix)]
fn clock(clock: Clock) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(match clock {
        Clock::Process => ClockId::ProcessCPUTime,
        Clock::Thread => ClockId::ThreadCPUTime,
    });
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds)
}

#[cfg(not(unix))]
fn clock(_clock: Clock) -> Duration {
    Duration::ZERO
}

#[cfg(unix)]
fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(unix))]
fn page_size() -> u64 {
    0
}
