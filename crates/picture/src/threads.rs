//! Work that several threads share.

use std::panic::resume_unwind;
use std::thread;

use parking_lot::Mutex;

/// Runs `work` on several threads, which share the work, and returns the results. If the system cannot start a thread,
/// the other threads do the work of this thread. If a thread panics, the caller panics too.
pub fn together<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    let results = Mutex::new(Vec::new());
    on_threads(threads, &|| {
        let result = work();
        results.lock().push(result);
    });
    results.into_inner()
}

/// Starts the threads of [`together`]. Because `work` is a trait object, the compiler makes this function only once,
/// instead of once for each kind of work.
fn on_threads(count: usize, work: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..count).filter_map(spawn).collect();
        work();
        others.into_iter().for_each(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_is_done_once() {
        for threads in [0, 1, 2, 7] {
            let next = AtomicUsize::new(0);
            let results = together(threads, || {
                std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed))
                    .take_while(|at| *at < 1000)
                    .sum::<usize>()
            });
            assert_eq!(results.iter().sum::<usize>(), 499_500);
        }
    }

    #[test]
    #[should_panic = "from a thread"]
    fn panics_come_to_the_caller() {
        let caller = thread::current().id();
        together(2, || assert!(thread::current().id() == caller, "from a thread"));
    }
}
