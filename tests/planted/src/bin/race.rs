//! Two threads write to one number without synchronization: ThreadSanitizer must report this race.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Shared(UnsafeCell<u64>);

// SAFETY: none. This is the intentional fault: the writes below are not synchronized.
unsafe impl Sync for Shared {}

/// Waits until both threads have reached this point. Relaxed accesses, unlike locks and barriers, do not order other
/// accesses.
fn meet(arrived: &AtomicU32) {
    arrived.fetch_add(1, Ordering::Relaxed);
    while arrived.load(Ordering::Relaxed) < 2 {
        thread::yield_now();
    }
}

fn main() {
    let number = Shared(UnsafeCell::new(0));
    // If one thread started after the end of the other thread, a lock in the standard library could order the two
    // threads. So each thread waits for the start and for the end of the other thread.
    let (started, ended) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let number = black_box(&number);
                meet(&started);
                // ThreadSanitizer can miss two writes at exactly the same moment, so there are many writes.
                for _ in 0..1000 {
                    // SAFETY: none; see above.
                    unsafe { *number.0.get() += 1 };
                    thread::yield_now();
                }
                meet(&ended);
            });
        }
    });
    black_box(number);
}
