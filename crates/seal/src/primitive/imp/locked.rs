//! Memory for secrets. As far as the system allows, the memory is locked against swapping, and is excluded from core
//! dumps.
//!
//! The system locks whole pages, but secrets are short. Several secrets therefore share a page, and each secret has a
//! slot in the page. A locked page is kept for later secrets, because mapping, locking and unmapping a page takes
//! microseconds.

use std::ptr::NonNull;
use std::slice;

use memmap2::MmapMut;
use parking_lot::Mutex;

use deadpan_ct::Wipe;

/// The number of bytes in a short slot and in a long slot. The short slot has the length of the longest key. The long
/// slot is long enough for the metadata of most files.
const SIZES: [usize; 2] = [128, 512];
pub(super) const PAGE: usize = 4096;

/// Bytes with one owner. The bytes are zero at first, and are wiped on drop.
pub(crate) struct Locked {
    start: NonNull<u8>,
    length: usize,
    home: Home,
}

/// The place of the bytes.
enum Home {
    /// The bytes are in a slot. The number is an index into [`SIZES`].
    Slot(usize),
    /// The bytes are in their own mapping, because the secret is longer than a slot.
    Own(#[expect(dead_code, reason = "it is unmapped on drop")] MmapMut),
}

// SAFETY: a `Locked` owns its bytes like a `Box<[u8]>`, and the bytes do not belong to any thread.
unsafe impl Send for Locked {}
// SAFETY: as for `Send`; also, shared references only read the bytes.
unsafe impl Sync for Locked {}

struct Slots {
    /// The pages. The pages are never unmapped, because slots point into the pages.
    pages: Vec<MmapMut>,
    free: Vec<NonNull<u8>>,
}

// SAFETY: this type only stores the pointers, and gives each pointer to one owner; see `Locked`.
unsafe impl Send for Slots {}

static SLOTS: [Mutex<Slots>; SIZES.len()] =
    [const { Mutex::new(Slots { pages: Vec::new(), free: Vec::new() }) }; SIZES.len()];

/// Maps memory. If the system allows locking, locks the memory and excludes the memory from core dumps. On many
/// machines, the limit on locked memory is low. If the limit is reached, the memory is not locked, because memory that
/// may be swapped out is better than an error.
pub(super) fn map(length: usize) -> MmapMut {
    let memory = MmapMut::map_anon(length).expect("the system gives a page of memory");
    #[cfg(unix)]
    let _ = memory.lock();
    #[cfg(windows)]
    // SAFETY: the range is a mapping of this process. The call does not change its contents.
    let _ = unsafe { windows_sys::Win32::System::Memory::VirtualLock(memory.as_ptr().cast_mut().cast(), length) };
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::DontDump);
    memory
}

impl Slots {
    fn take(&mut self, size: usize) -> NonNull<u8> {
        if self.free.is_empty() {
            let mut page = map(PAGE);
            let slots = page.chunks_exact_mut(size).map(|slot| NonNull::from(slot).cast());
            self.free.extend(slots);
            self.pages.push(page);
        }
        self.free.pop().expect("a page has slots")
    }
}

impl Locked {
    pub(crate) fn zeroed(length: usize) -> Self {
        let Some(class) = SIZES.iter().position(|size| length <= *size) else {
            let mut own = map(length);
            return Self { start: NonNull::from(&mut own[..]).cast(), length, home: Home::Own(own) };
        };
        let start = SLOTS[class].lock().take(SIZES[class]);
        Self { start, length, home: Home::Slot(class) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `start` points to `length` initialized bytes. The bytes are in a slot or in a mapping that only this
        // value uses until it is dropped, and are borrowed for as long as `self` is borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.bytes_mut().wipe();
        if let Home::Slot(class) = self.home {
            SLOTS[class].lock().free.push(self.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn secrets_do_not_share_bytes_and_start_as_zeros() {
        let mut all: Vec<Locked> =
            (0..200).map(|i| Locked::zeroed([0, 1, 31, 128, 129, 512, 513, 5000][i % 8])).collect();
        assert!(all.iter().all(|it| it.bytes().iter().all(|byte| *byte == 0)));
        for (i, it) in all.iter_mut().enumerate() {
            it.bytes_mut().fill(i as u8);
        }
        assert!(all.iter().enumerate().all(|(i, it)| it.bytes().iter().all(|byte| *byte == i as u8)));
        drop(all);
        for size in SIZES {
            let clean = |_| Locked::zeroed(size).bytes().iter().all(|byte| *byte == 0);
            assert!((0..200).all(clean), "a slot was not wiped");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn secrets_are_locked() {
        let secret = Locked::zeroed(32);
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let locked: u64 = status
            .lines()
            .find_map(|line| line.strip_prefix("VmLck:")?.trim().strip_suffix(" kB")?.parse().ok())
            .expect("VmLck");
        if locked == 0 {
            // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
            let _ = writeln!(std::io::stderr(), "skipped: this system does not allow memory to be locked");
        }
        // The flags of the slot's page show whether the page is locked.
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
        let address = secret.start.as_ptr() as usize;
        let mut inside = false;
        for line in maps.lines() {
            if let Some((range, _)) = line.split_once(' ').filter(|(range, _)| range.contains('-')) {
                let ends: Vec<usize> =
                    range.split('-').map(|end| usize::from_str_radix(end, 16).expect("an address")).collect();
                inside = (ends[0]..ends[1]).contains(&address);
            } else if inside && line.starts_with("VmFlags:") {
                assert!(locked == 0 || line.contains(" lo"), "{line}");
                assert!(line.contains(" dd"), "left in core dumps: {line}");
                return;
            }
        }
        panic!("the secret's page is not in the list");
    }
}
