//! Threads with deep stacks, and an ordered parallel map over them.
//!
//! Compilers recurse on the syntax tree. A *deep stack* is a large reservation of address space; the operating system
//! gives it memory only page by page as recursion goes down, so that a thousand shallow files cost nothing.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Stack sizes to try, in bytes: where address space is limited a smaller one is better than none, and
/// [`run_deep`] makes up for what is missing.
const STACK_SIZES: [usize; 3] = [DEEP_STACK, 256 << 20, 16 << 20];

/// The stack that the deepest accepted tree may need, with room to spare: see `nesting`.
pub(crate) const DEEP_STACK: usize = if cfg!(target_pointer_width = "64") {
    1 << 30
} else {
    64 << 20
};

/// What must be left of the current stack for [`run_deep`] to stay on it.
const ENOUGH: usize = DEEP_STACK / 16 * 15;

/// How many threads to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(pub NonZeroUsize);

impl Threads {
    /// One thread.
    pub const ONE: Self = Self(NonZeroUsize::MIN);

    /// This many threads; zero stands for as many as the machine has.
    #[must_use]
    pub fn new(count: usize) -> Self {
        NonZeroUsize::new(count).map_or_else(Self::default, Self)
    }
}

impl Default for Threads {
    /// As many as the machine has.
    fn default() -> Self {
        Self(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

/// Calls `work` for `0..count` on threads with deep stacks; `start` makes each thread's state.
///
/// The result is in order of the index. Which thread does which index is left to chance, so `work` must not depend on it.
pub fn map_with<S, T: Send>(
    threads: Threads,
    count: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        let mut state = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return done;
            }
            let state = state.get_or_insert_with(&start);
            done.push((index, work(state, index)));
        }
    };
    let wanted = threads.0.get().min(count);
    let mut done = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..wanted).filter_map(|_| spawn(scope, &run)).collect();
        // Without a single thread the work is done here; `run_deep` then finds the stack it needs.
        let mut done = if handles.is_empty() {
            run()
        } else {
            Vec::with_capacity(count)
        };
        for handle in handles {
            match handle.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A scoped thread with the largest stack that can be had.
fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: &'scope (impl Fn() -> T + Sync),
) -> Option<ScopedJoinHandle<'scope, T>> {
    STACK_SIZES.iter().find_map(|&size| {
        Builder::new()
            .name("hognose-compile".to_owned())
            .stack_size(size)
            .spawn_scoped(scope, run)
            .ok()
    })
}

/// Runs `work` on a deep stack: on the current one if it is, else on a new one.
pub(crate) fn run_deep<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(ENOUGH, DEEP_STACK, work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    #[test]
    fn results_are_in_order_of_the_index_and_each_index_is_done_once() {
        for threads in [1, 2, 7, 64] {
            let seen = Mutex::new(Vec::new());
            let results = map_with(
                Threads::new(threads),
                100,
                || (),
                |(), index| {
                    seen.lock().unwrap().push(index);
                    index * index
                },
            );
            assert_eq!(results, (0..100).map(|index| index * index).collect::<Vec<_>>());
            let seen = seen.into_inner().unwrap();
            assert_eq!(seen.len(), 100);
            assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 100);
        }
    }

    #[test]
    fn no_work_starts_no_state() {
        let results: Vec<()> = map_with(Threads::ONE, 0, || unreachable!(), |(), _| ());
        assert!(results.is_empty());
    }

    #[test]
    fn the_stack_is_deep_on_a_pool_thread_and_on_any_other() {
        fn descend(depth: usize) -> usize {
            let page = std::hint::black_box([depth; 128]);
            if depth == 0 {
                page[0]
            } else {
                1 + descend(depth - 1) + (page[1] - depth)
            }
        }
        let depth = if cfg!(target_pointer_width = "64") {
            200_000
        } else {
            10_000
        };
        assert_eq!(
            map_with(Threads::ONE, 1, || (), |(), _| run_deep(|| descend(depth))),
            [depth]
        );
        assert_eq!(run_deep(|| descend(depth)), depth);
    }
}
