//! Memory that a process and its future child processes share.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Bytes before the first item. The first word in memory is the number of items.
const HEADER: usize = 64;

/// A list with a fixed capacity in shared memory. Adding an item never allocates memory or moves the list.
pub(crate) struct Array<T> {
    memory: Rc<Memory>,
    capacity: usize,
    items: PhantomData<T>,
}

/// A shared mapping.
struct Memory {
    base: *mut u8,
    bytes: usize,
}

impl<T: Copy> Array<T> {
    /// Creates an empty list. Returns `None` if the system refuses the memory.
    pub(crate) fn new(capacity: usize) -> Option<Self> {
        const { assert!(align_of::<T>() <= HEADER) };
        let bytes = HEADER + capacity.checked_mul(size_of::<T>())?;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: this creates a new mapping at an address that the kernel chooses.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        (base != libc::MAP_FAILED).then(|| Self {
            memory: Rc::new(Memory { base: base.cast(), bytes }),
            capacity,
            items: PhantomData,
        })
    }

    pub(crate) fn filled(item: T, count: usize) -> Option<Self> {
        let mut array = Self::new(count)?;
        array.resize(count, item);
        Some(array)
    }

    /// Adds an item. Returns false if the list is full.
    pub(crate) fn push(&mut self, item: T) -> bool {
        let length = self.len();
        let room = length < self.capacity;
        if room {
            // SAFETY: the item lies inside the mapping, because the length is below the capacity.
            unsafe { self.items().add(length).write(item) };
            self.set_length(length + 1);
        }
        room
    }

    pub(crate) fn room(&self) -> usize {
        self.capacity - self.len()
    }

    pub(crate) fn clear(&mut self) {
        self.set_length(0);
    }

    /// Sets the length of the list to `count` items, but not to more than its capacity. New items are copies of `item`.
    pub(crate) fn resize(&mut self, count: usize, item: T) {
        self.set_length(self.len().min(count));
        while self.len() < count && self.push(item) {}
    }

    fn items(&self) -> *mut T {
        // SAFETY: the mapping is longer than the header.
        unsafe { self.memory.base.add(HEADER).cast() }
    }

    fn set_length(&mut self, length: usize) {
        // SAFETY: the mapping begins with the length, and is aligned to a page.
        unsafe { self.memory.base.cast::<usize>().write(length) };
    }
}

impl<T: Copy> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the mapping begins with the number of items, all of which have been written. While other processes
        // write to the memory, this process only waits for these processes.
        unsafe { std::slice::from_raw_parts(self.items(), self.memory.base.cast::<usize>().read()) }
    }
}

impl<T: Copy> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: see `deref`. No other reference to the items exists, because `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.items(), self.memory.base.cast::<usize>().read()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this unmaps what `Array::new` mapped. The items are `Copy` and need no drop.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

/// A value in shared memory.
pub(crate) struct Shared<T>(Array<T>);

impl<T: Copy> Shared<T> {
    pub(crate) fn new(value: T) -> Option<Self> {
        Array::filled(value, 1).map(Self)
    }

    /// Returns a function that reads the value, even while another process changes the value.
    pub(crate) fn reader(&self) -> impl Fn() -> T + use<T> {
        let (memory, value) = (self.0.memory.clone(), self.0.items());
        move || {
            let _mapped = &memory;
            // SAFETY: the value is `Copy` and stays mapped as long as `memory` lives.
            unsafe { value.read_volatile() }
        }
    }
}

impl<T: Copy> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0[0]
    }
}

impl<T: Copy> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0[0]
    }
}
