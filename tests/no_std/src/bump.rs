//! A minimal allocator, which never reuses memory.
#![allow(unsafe_code)]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

const SIZE: usize = 64 * 1024;

#[global_allocator]
static BUMP: Bump = Bump { memory: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) };

struct Bump {
    memory: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

// SAFETY: `used` is atomic, so every part of the memory is given out only once. Nothing else accesses the memory.
unsafe impl Sync for Bump {}

// SAFETY: a block lies within the memory, is aligned, and is never given out a second time. If there is not enough
// memory, the result is null. Nothing panics.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = self.memory.get().cast::<u8>();
        let take = |used: usize| {
            let start = memory.addr().checked_add(used)?.checked_next_multiple_of(layout.align())? - memory.addr();
            let end = start.checked_add(layout.size()).filter(|end| *end <= SIZE)?;
            Some((start, end))
        };
        let before =
            self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| take(used).map(|(_, end)| end));
        // The address of the block follows from the old value of `used`.
        before.ok().and_then(take).map_or(null_mut(), |(start, _)| memory.wrapping_add(start))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
