//! The threads of a session.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::thread::{self, ThreadId};

/// Threads that share work. The thread that starts them is one of them, if it is not one of another session already: what
/// runs on one thread only, the fixed point above all, runs there, and uses the memory that this thread has gathered.
pub(crate) struct Workers {
    pool: ThreadPool,
    /// The thread that is the only one, and does nothing on behalf of others.
    only: Option<ThreadId>,
}

impl Workers {
    /// Starts so many threads.
    pub(crate) fn start(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let builder = || ThreadPoolBuilder::new().num_threads(threads);
        match builder().use_current_thread().build() {
            Ok(pool) => Ok(Self {
                pool,
                only: (threads == 1).then(|| thread::current().id()),
            }),
            Err(_) => Ok(Self {
                pool: builder().build()?,
                only: None,
            }),
        }
    }

    /// Runs `work` so that what it does in parallel is done by these threads.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        if self.only.is_some_and(|only| only != thread::current().id()) {
            // The analysis was handed to another thread, and the only one of the pool may wait for it.
            return match ThreadPoolBuilder::new().num_threads(1).build() {
                Ok(pool) => pool.install(work),
                Err(_) => work(),
            };
        }
        self.pool.install(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_handed_to_another_thread_is_done() {
        let workers = Workers::start(1).expect("a thread");
        assert_eq!(workers.install(|| thread::current().id()), thread::current().id());
        let sum = thread::scope(|scope| {
            let other = scope.spawn(|| {
                use rayon::prelude::*;
                workers.install(|| (1..=10).into_par_iter().sum::<u32>())
            });
            other.join().expect("no panic")
        });
        assert_eq!(sum, 55);
    }

    #[test]
    fn a_thread_may_start_several_sessions() {
        let sessions: Vec<Workers> = (1..4)
            .map(|threads| Workers::start(threads).expect("threads"))
            .collect();
        for workers in &sessions {
            assert_eq!(workers.install(|| 7), 7);
        }
    }
}
