//! Mapped memory for stacks, and access to the bytes of code.

use std::ffi::c_void;

const PAGE: usize = 4096;

/// Zeroed memory that follows an inaccessible page.
pub(super) struct Mapping {
    base: *mut u8,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes, which must be a multiple of the page size. Returns `None` if the system refuses.
    pub(super) fn new(length: usize) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: this creates a new mapping at an address that the kernel chooses.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length + PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let mapping = Self { base: base.cast(), length };
        // SAFETY: the first page of the mapping is not in use yet.
        (unsafe { libc::mprotect(base, PAGE, libc::PROT_NONE) } == 0).then_some(mapping)
    }

    pub(super) fn start(&self) -> *mut u8 {
        // SAFETY: the mapping is longer than a page.
        unsafe { self.base.add(PAGE) }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this unmaps what `new` mapped.
        unsafe { libc::munmap(self.base.cast::<c_void>(), self.length + PAGE) };
    }
}

/// Returns the words of `length` bytes at `address`, which a system call is about to read.
pub(crate) fn bytes(address: u64, length: u64) -> impl Iterator<Item = u64> {
    let words = std::ptr::with_exposed_provenance::<u64>(address as usize);
    // SAFETY: the system call reads the same bytes. If they are not mapped, this process ends, which exists for the
    // traced call only.
    (0..length as usize / 8).map(move |word| unsafe { words.add(word).read_unaligned() })
}

/// Returns whether the code at `address` still begins with these bytes.
pub(crate) fn unchanged(address: u64, bytes: &[u8]) -> bool {
    let code = std::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: the code ran. If it is not mapped any more, this process ends, which exists for the traced call only.
    bytes.iter().enumerate().all(|(place, byte)| unsafe { code.add(place).read_volatile() } == *byte)
}

/// Returns the bytes of the instruction at `address`, which has run or is about to run, and their number. The bytes end
/// at the end of the page; if `beyond` is true there are 15. An instruction that is not complete at the end of its page
/// continues in the next page, which is then mapped.
pub(crate) fn code(address: u64, beyond: bool) -> ([u8; 15], usize) {
    let room = PAGE - (address as usize & (PAGE - 1));
    let length = if beyond { 15 } else { room.min(15) };
    let mut bytes = [0; 15];
    // SAFETY: the page of an instruction that runs is readable, and so is the next page if the instruction extends into
    // it.
    unsafe {
        std::ptr::copy_nonoverlapping(
            std::ptr::with_exposed_provenance::<u8>(address as usize),
            bytes.as_mut_ptr(),
            length,
        )
    };
    (bytes, length)
}
