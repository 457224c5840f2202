//! Memory that is mapped by hand, and the bytes of code.

use std::ffi::c_void;

const PAGE: usize = 4096;

/// Zeroed memory above a page that may not be touched.
pub(super) struct Mapping {
    base: *mut u8,
    length: usize,
}

impl Mapping {
    /// `length` bytes, a multiple of the page.
    pub(super) fn new(length: usize) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length + PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let mapping = Self { base: base.cast(), length };
        // SAFETY: the first page of the mapping, in which nothing is.
        (unsafe { libc::mprotect(base, PAGE, libc::PROT_NONE) } == 0).then_some(mapping)
    }

    pub(super) fn start(&self) -> *mut u8 {
        // SAFETY: inside the mapping.
        unsafe { self.base.add(PAGE) }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: what `new` mapped.
        unsafe { libc::munmap(self.base.cast::<c_void>(), self.length + PAGE) };
    }
}

/// The bytes of the instruction at `address`, which has run or is about to: up to the end of the page, or 15 with `beyond` it. An
/// instruction that is not complete at the end of its page goes on in the next, which is mapped then.
pub(crate) fn code(address: u64, beyond: bool) -> ([u8; 15], usize) {
    let room = PAGE - (address as usize & (PAGE - 1));
    let length = if beyond { 15 } else { room.min(15) };
    let mut bytes = [0; 15];
    // SAFETY: the page of an instruction that runs is readable, and so is the next one if the instruction reaches into it.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::with_exposed_provenance::<u8>(address as usize), bytes.as_mut_ptr(), length) };
    (bytes, length)
}
