//! Mapped memory for stacks, and access to the bytes of code.

use std::ffi::c_void;

/// The smallest page of this architecture.
const PAGE: usize = 4096;
/// The largest page of this architecture.
const GUARD: usize = if cfg!(target_arch = "aarch64") { 1 << 16 } else { PAGE };

/// Zeroed memory with inaccessible memory before it.
pub(super) struct Mapping {
    base: *mut u8,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes, which must be a multiple of the page size.
    pub(super) fn new(length: usize) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: this creates a new mapping at an address that the kernel chooses.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length + GUARD, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let mapping = Self { base: base.cast(), length };
        // SAFETY: the start of the mapping is not in use yet.
        (unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } == 0).then_some(mapping)
    }

    pub(super) fn start(&self) -> *mut u8 {
        // SAFETY: the mapping is longer than its inaccessible part.
        unsafe { self.base.add(GUARD) }
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this call unmaps the memory that `new` mapped.
        unsafe { libc::munmap(self.base.cast::<c_void>(), self.length + GUARD) };
    }
}

/// Returns the `length` bytes at `address` as words. The next system call of the traced code reads these bytes. Zeros
/// fill the last word.
#[cfg(target_arch = "x86_64")]
pub(crate) fn bytes(address: u64, length: u64) -> impl Iterator<Item = u64> {
    let start = std::ptr::with_exposed_provenance::<u8>(address as usize);
    let length = length as usize;
    (0..length.div_ceil(8)).map(move |word| {
        let mut bytes = [0_u8; 8];
        for (byte, place) in bytes.iter_mut().zip(word * 8..length) {
            // SAFETY: the system call reads the same bytes. If the bytes are not mapped, this process crashes. The
            // crash does no harm, because the process exists only for the traced call.
            *byte = unsafe { start.add(place).read_volatile() };
        }
        u64::from_le_bytes(bytes)
    })
}

/// Returns the bytes of a path at `address`, without the zero byte at its end.
#[cfg(target_arch = "x86_64")]
pub(crate) fn path(address: u64) -> impl Iterator<Item = u8> {
    let start = std::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: the system call reads the same bytes. If the bytes are not mapped, this process crashes. The crash does
    // no harm, because the process exists only for the traced call.
    (0..libc::PATH_MAX as usize)
        .map(move |place| unsafe { start.add(place).read_volatile() })
        .take_while(|&byte| byte != 0)
}

/// Returns whether the code at `address` still begins with these bytes.
pub(crate) fn unchanged(address: u64, bytes: &[u8]) -> bool {
    let code = std::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: the code ran. If the code is not mapped any more, this process crashes. The crash does no harm, because
    // the process exists only for the traced call.
    bytes.iter().enumerate().all(|(place, byte)| unsafe { code.add(place).read_volatile() } == *byte)
}

/// Returns the bytes of the instruction at `address`, and the number of bytes. The caller guarantees that the processor
/// has already executed this instruction, or executes it next. If `beyond` is true, the function returns 15 bytes. If
/// `beyond` is false, the function returns no bytes of the following page. If an instruction extends beyond the end of
/// its page, the next page is mapped too.
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
