//! Work that several threads share, and results that are taken in order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::{Condvar, Mutex};

use crate::{Error, Work};

/// Pieces of work with the numbers from 0 up to a count. Each piece is taken by one thread, and the results are handed
/// in by the order of the numbers.
pub(crate) struct Pieces<'a, T> {
    count: u64,
    next: AtomicU64,
    turn: Mutex<Turn<T>>,
    changed: Condvar,
    work: &'a Work<'a>,
}

struct Turn<T> {
    /// The number of the piece whose result comes next.
    number: u64,
    failed: bool,
    result: T,
}

impl<'a, T: Send> Pieces<'a, T> {
    /// Runs `act` on several threads, and returns what the pieces have made of `result`. `act` takes pieces until there
    /// are no more. The first error ends the work.
    pub(crate) fn run(
        count: u64,
        threads: usize,
        work: &'a Work<'a>,
        result: T,
        act: impl Fn(&Self) -> Result<(), Error> + Sync,
    ) -> Result<T, Error> {
        let turn = Mutex::new(Turn { number: 0, failed: false, result });
        let pieces = Self { count, next: AtomicU64::new(0), turn, changed: Condvar::new(), work };
        let failure = Mutex::new(None);
        let worker = || {
            // If a thread fails or panics, the others must not wait for its result.
            let ended = Ended(&pieces);
            match act(&pieces) {
                Ok(()) => std::mem::forget(ended),
                Err(error) => _ = failure.lock().get_or_insert(error),
            }
        };
        let others = usize::try_from(count).map_or(threads, |count| count.min(threads)).saturating_sub(1);
        thread::scope(|scope| {
            // If the system cannot start a thread, the other threads do its work.
            for _ in 0..others {
                let _ = thread::Builder::new().spawn_scoped(scope, worker);
            }
            worker();
        });
        match failure.into_inner() {
            Some(error) => Err(error),
            None => Ok(pieces.turn.into_inner().result),
        }
    }

    /// Returns the number of a piece for this thread, or `None` if there are no more pieces.
    pub(crate) fn take(&self) -> Result<Option<u64>, Error> {
        if self.work.is_stopped() {
            return Err(Error::Stopped);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok((number < self.count && !self.turn.lock().failed).then_some(number))
    }

    /// Waits until the results of all pieces before this one were handed in, and then hands in the result of this
    /// piece. Does nothing if another thread has failed.
    pub(crate) fn hand_in(&self, number: u64, act: impl FnOnce(&mut T)) {
        let mut turn = self.turn.lock();
        while turn.number != number && !turn.failed {
            self.changed.wait(&mut turn);
        }
        if !turn.failed {
            act(&mut turn.result);
            turn.number += 1;
            self.changed.notify_all();
        }
    }
}

/// Tells the other threads that this thread has failed.
struct Ended<'a, 'b, T>(&'a Pieces<'b, T>);

impl<T> Drop for Ended<'_, '_, T> {
    fn drop(&mut self) {
        self.0.turn.lock().failed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for threads in [0, 1, 2, 7] {
            let all = Pieces::run(100, threads, &Work::default(), Vec::new(), |pieces| {
                while let Some(number) = pieces.take()? {
                    pieces.hand_in(number, |all| all.push(number));
                }
                Ok(())
            });
            assert_eq!(all.unwrap(), (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_all_threads() {
        for threads in [1, 2, 7] {
            let all = Pieces::run(100, threads, &Work::default(), (), |pieces| {
                while let Some(number) = pieces.take()? {
                    if number == 7 {
                        return Err(Error::Shrank);
                    }
                    pieces.hand_in(number, |()| ());
                }
                Ok(())
            });
            assert!(matches!(all, Err(Error::Shrank)));
        }
        let stop = || true;
        let work = Work { stop: Some(&stop), ..Work::default() };
        let stopped = Pieces::run(1, 2, &work, (), |pieces| pieces.take().map(drop));
        assert!(matches!(stopped, Err(Error::Stopped)));
    }
}
