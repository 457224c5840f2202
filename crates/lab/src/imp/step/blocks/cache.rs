//! Executable memory near the original code. The copy must be near the original code, because instructions access data
//! at 32-bit offsets from their own address.

use std::ffi::c_void;

/// Size in bytes of a cache.
const SIZE: usize = 48 << 20;
/// The largest allowed distance between an instruction and its copy. The data of the instruction may be up to 1 GiB
/// away on the other side of the instruction.
const REACH: u64 = 1 << 30;
/// The distance between two addresses at which this module tries to map the memory for the copy.
const STRIDE: u64 = 64 << 20;

/// Executable memory for copied code. The process and its child processes share this memory.
pub(super) struct Cache {
    base: *mut u8,
    used: usize,
}

impl Cache {
    /// Creates a cache near each group of executable mappings in this process. Returns `None` if the system refuses
    /// executable memory.
    pub(super) fn all() -> Option<Vec<Self>> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let mut caches = Vec::<Self>::new();
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (Some(range), Some(access)) = (words.next(), words.next()) else { continue };
            let Some((from, to)) = range.split_once('-') else { continue };
            let (Ok(from), Ok(to)) = (u64::from_str_radix(from, 16), u64::from_str_radix(to, 16)) else { continue };
            // The old page for system calls (vsyscall) lies in the kernel's half of the address space, where no memory
            // can be mapped.
            if access.contains('x') && from >> 63 == 0 && !caches.iter().any(|cache| cache.reaches(from, to)) {
                caches.extend(Self::near(from, to));
            }
        }
        (!caches.is_empty()).then_some(caches)
    }

    /// Creates a cache near the code. The memory directly after the code stays free, because the heap grows there.
    fn near(from: u64, to: u64) -> Option<Self> {
        let below = (1..16).filter_map(|step| from.checked_sub(step * STRIDE));
        let above = (1..15).map(|step| to + REACH - step * STRIDE);
        below.chain(above).find_map(|place| Self::at(place & !0xffff))
    }

    fn at(place: u64) -> Option<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        if place < 1 << 16 {
            return None;
        }
        let hint = std::ptr::without_provenance_mut::<c_void>(place as usize);
        // SAFETY: the kernel creates this mapping only at addresses that are not mapped yet.
        let base = unsafe { libc::mmap(hint, SIZE, access, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let cache = Self { base: base.cast(), used: 0 };
        // Old kernels may map the memory at a different address.
        (base == hint).then_some(cache)
    }

    /// Returns whether code in this range of addresses can be copied to this cache.
    pub(super) fn reaches(&self, from: u64, to: u64) -> bool {
        let start = self.base.addr() as u64;
        from.abs_diff(start) < REACH && to.abs_diff(start) < REACH
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base.addr() as u64) < SIZE as u64
    }

    /// Returns the address of the free bytes and the bytes themselves.
    pub(super) fn free(&mut self) -> (u64, &mut [u8]) {
        let address = self.base.expose_provenance() + self.used;
        // SAFETY: the bytes are in the mapping, and no code in these bytes has run yet.
        (address as u64, unsafe { std::slice::from_raw_parts_mut(self.base.add(self.used), SIZE - self.used) })
    }

    pub(super) fn keep(&mut self, bytes: usize) {
        self.used = (self.used + bytes).next_multiple_of(16).min(SIZE);
    }

    pub(super) fn used(&self) -> usize {
        self.used
    }

    pub(super) fn set_used(&mut self, used: usize) {
        self.used = used.min(SIZE);
    }

    /// Changes the jump whose distance is stored at `site`, so that the jump leads to `target`. Does nothing if
    /// `target` is too far away for a 32-bit distance.
    pub(super) fn link(&mut self, site: u64, target: u64) {
        let offset = site.wrapping_sub(self.base.addr() as u64) as usize;
        if let Ok(distance) = i32::try_from(target.wrapping_sub(site + 4) as i64)
            && offset < self.used
        {
            // SAFETY: the site lies in the used part, where `emit` has left four bytes for the distance. The processor
            // notices if a thread changes code and then executes this code.
            unsafe { self.base.add(offset).cast::<i32>().write_unaligned(distance) };
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // SAFETY: this call unmaps the memory that `at` mapped. No copied code runs at this moment, because this
        // process does not trace.
        unsafe { libc::munmap(self.base.cast(), SIZE) };
    }
}
