//! A page for state that must not exist in two processes. The page is locked like the memory of secrets. If the system
//! supports this feature, the child of a fork gets an empty page.

use memmap2::MmapMut;

use super::locked::{PAGE, map};
use deadpan_ct::Wipe;

/// A page that is filled with zeros at first and wiped on drop.
pub(crate) struct Transient(MmapMut);

impl Transient {
    pub(crate) fn new() -> Self {
        #[cfg_attr(not(target_os = "linux"), expect(unused_mut, reason = "the advice needs it"))]
        let mut page = map(PAGE);
        #[cfg(target_os = "linux")]
        // SAFETY: the range is a mapping that this value owns. The mapping is private and anonymous, as the advice for
        // forks requires. This advice to the system changes nothing in this process. If the system is too old to
        // support this advice, the owner of the page has to detect forks in another way.
        unsafe {
            libc::madvise(page.as_mut_ptr().cast(), page.len(), libc::MADV_WIPEONFORK);
        }
        Self(page)
    }

    pub(crate) fn bytes(&self) -> &[u8; PAGE] {
        self.0.first_chunk().expect("a page")
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8; PAGE] {
        self.0.first_chunk_mut().expect("a page")
    }
}

impl Drop for Transient {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// Runs `look` in the child of a fork, and returns the result of `look`.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn in_child<const N: usize>(look: impl FnOnce() -> [u8; N]) -> [u8; N] {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the child runs `look`, writes to the pipe and exits without running code of the parent. glibc makes its
    // allocator usable in the child, even if another thread held a lock of the allocator during the fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "the system gives a process");
    if child == 0 {
        let seen = look();
        // SAFETY: `seen` has N bytes. `_exit` ends the child here, so no value is dropped twice.
        unsafe {
            libc::write(writer.as_raw_fd(), seen.as_ptr().cast(), N);
            libc::_exit(0);
        }
    }
    drop(writer);
    let mut seen = [0; N];
    reader.read_exact(&mut seen).expect("the child's answer");
    // SAFETY: this process started the child, and no other code waits for it. No status is requested.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_finds_it_empty() {
        let mut page = Transient::new();
        page.bytes_mut().fill(7);
        assert_eq!(in_child(|| [page.bytes()[0], page.bytes()[PAGE - 1]]), [0, 0]);
        assert!(page.bytes().iter().all(|byte| *byte == 7), "the parent keeps it");
    }
}
