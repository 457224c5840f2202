//! Properties of the process: its user, the permissions that new files do not get, and the number of files that it may
//! have open.

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::about::About;

/// Returns the number of files that the process may have open at the same time.
#[must_use]
pub fn most_open_files() -> usize {
    getrlimit(Resource::Nofile).current.and_then(|most| most.try_into().ok()).unwrap_or(usize::MAX)
}

/// Raises the limit for open files of the process to the maximum that its user may set.
pub fn allow_many_files() {
    // macOS refuses more open files than its constant `OPEN_MAX`, although the maximum is unlimited there.
    const MOST: Option<u64> = if cfg!(target_vendor = "apple") { Some(10_240) } else { None };
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = [maximum, MOST].into_iter().flatten().min();
    if current.is_some_and(|current| wanted.is_none_or(|wanted| current < wanted)) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: wanted, maximum });
    }
}

/// Whether the user of this process has this number.
pub(crate) fn is_mine(owner: u32) -> bool {
    rustix::process::geteuid().as_raw() == owner
}

/// Whether a folder belongs to this user and nobody else may use it.
pub(crate) fn is_draft(about: &About) -> bool {
    is_mine(about.owner) && about.mode & 0o777 == 0o700
}

/// Whether the process runs as root, who may change the owner of files.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the permission bits that new files do not get. On Linux, reads these bits from `/proc/self/status`. On other
/// systems, the bits can be read only by a call that also changes them for a moment, so this function makes the call
/// only once.
pub fn umask() -> u32 {
    // The second line has the bits. Only the beginning of the file is read: reading the whole file takes nine times as
    // many system calls.
    let mut start = [0; 256];
    let length = File::open("/proc/self/status").and_then(|mut status| status.read(&mut start)).unwrap_or(0);
    let mask = str::from_utf8(&start[..length])
        .ok()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("Umask:")));
    let read = mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok());
    read.unwrap_or_else(|| {
        static ASKED: OnceLock<u32> = OnceLock::new();
        *ASKED.get_or_init(|| {
            let mask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
            rustix::process::umask(mask);
            #[allow(clippy::unnecessary_cast, reason = "the bits have another width on macOS")]
            let mask = mask.bits() as u32;
            mask
        })
    })
}
