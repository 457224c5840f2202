//! Two threads write to one number without order: ThreadSanitizer must report it.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Shared(UnsafeCell<u64>);

// SAFETY: none. This is the fault: nothing orders the writes below.
unsafe impl Sync for Shared {}

/// Waits until both threads have come to this point. Relaxed accesses order no others, as locks and barriers would.
fn meet(arrived: &AtomicU32) {
    arrived.fetch_add(1, Ordering::Relaxed);
    while arrived.load(Ordering::Relaxed) < 2 {
        thread::yield_now();
    }
}

fn main() {
    let number = Shared(UnsafeCell::new(0));
    // A thread that starts after the other one's end may be ordered after it, by a lock in the standard library.
    let (started, ended) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let number = black_box(&number);
                meet(&started);
                // Two writes at the very same moment can be missed, so there are many.
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
