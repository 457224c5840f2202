//! Attributes and locks of open files and folders, by system calls of Unix.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{
    FlockOperation, Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags, fchmod, fchown, fgetxattr,
    flistxattr, flock, fremovexattr, fsetxattr, futimens,
};
use rustix::io::{Errno, dup};

use super::{UNSUPPORTED, user};
use crate::about::About;
use crate::handle::sealed::Sealed;
use crate::handle::{ACCESS_LIST, Attribute, Locked};

#[cfg(target_vendor = "apple")]
const NO_ATTRIBUTE: Errno = Errno::NOATTR;
#[cfg(not(target_vendor = "apple"))]
const NO_ATTRIBUTE: Errno = Errno::NODATA;

pub(crate) fn set_owner(descriptor: BorrowedFd<'_>, owner: Option<u32>, group: u32) -> io::Result<()> {
    Ok(fchown(descriptor, owner.map(Uid::from_raw), Some(Gid::from_raw(group)))?)
}

pub(crate) fn set_mode(descriptor: BorrowedFd<'_>, mode: u32) -> io::Result<()> {
    Ok(fchmod(descriptor, Mode::from_raw_mode(mode as _))?)
}

pub(crate) fn set_private(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    set_mode(descriptor, 0o600)
}

/// Does nothing: on these systems, a list is one of the extended attributes.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Windows")]
pub(crate) fn take_list(_new: BorrowedFd<'_>, _old: BorrowedFd<'_>) -> io::Result<()> {
    Ok(())
}

/// Whether a file belongs to this user.
pub(crate) fn is_own(_descriptor: BorrowedFd<'_>, about: &About) -> bool {
    user::is_mine(about.owner)
}

pub(crate) fn set_modified_at(descriptor: BorrowedFd<'_>, modified: (i64, u32)) -> io::Result<()> {
    Ok(futimens(descriptor, &times(modified))?)
}

pub(crate) fn attributes(descriptor: BorrowedFd<'_>) -> io::Result<Vec<Attribute>> {
    let mut names = vec![0; 64 << 10];
    let length = match flistxattr(descriptor, names.as_mut_slice()) {
        Ok(length) => length,
        Err(UNSUPPORTED) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if !is_portable(name) {
            continue;
        }
        // The system allows no value that is longer than this.
        let mut value = vec![0; 64 << 10];
        match fgetxattr(descriptor, name, value.as_mut_slice()) {
            Ok(length) => value.truncate(length),
            Err(NO_ATTRIBUTE) => continue,
            Err(error) => return Err(error.into()),
        }
        found.push((name.to_vec(), value));
    }
    found.sort();
    Ok(found)
}

/// Whether an extended attribute means the same on other systems. The attributes of macOS itself do not, and are often
/// longer than Linux allows. An example is the resource fork.
fn is_portable(name: &[u8]) -> bool {
    cfg!(not(target_vendor = "apple")) || name.starts_with(b"user.")
}

pub(crate) fn attribute(descriptor: BorrowedFd<'_>, name: &[u8], longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; longest];
    match fgetxattr(descriptor, name, value.as_mut_slice()) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(NO_ATTRIBUTE) => Ok(None),
        Err(UNSUPPORTED) => Err(Errno::OPNOTSUPP.into()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn set_attribute(descriptor: BorrowedFd<'_>, name: &[u8], value: &[u8]) -> io::Result<()> {
    fsetxattr(descriptor, name, value, XattrFlags::empty()).map_err(|error| match error {
        // The kernel limits the size of attributes, and many file systems have smaller limits. Some file systems
        // report a full disk for an attribute that is too large.
        UNSUPPORTED => Errno::OPNOTSUPP.into(),
        Errno::TOOBIG | Errno::RANGE | Errno::NOSPC | Errno::DQUOT => io::ErrorKind::StorageFull.into(),
        error => error.into(),
    })
}

pub(crate) fn has_access_list(descriptor: BorrowedFd<'_>) -> bool {
    // Every access control list is longer than this buffer, so if there is a list, the system returns the error
    // `RANGE`.
    let mut start = [0; 1];
    cfg!(target_os = "linux") && fgetxattr(descriptor, ACCESS_LIST, &mut start) == Err(Errno::RANGE)
}

pub(crate) fn remove_access_list(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    match fremovexattr(descriptor, ACCESS_LIST) {
        Ok(()) | Err(NO_ATTRIBUTE | UNSUPPORTED) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn lock_now(handle: &(impl Sealed + ?Sized)) -> io::Result<Locked> {
    match flock(handle.descriptor(), FlockOperation::NonBlockingLockExclusive) {
        // Some network file systems have no locks.
        Ok(()) | Err(UNSUPPORTED | Errno::NOLCK | Errno::NOSYS) => Ok(Locked::Yes),
        Err(Errno::WOULDBLOCK) => Ok(Locked::ByOthers),
        Err(error) => Err(error.into()),
    }
}

/// Returns another descriptor of the same open file. Programs that are started while this descriptor is open inherit
/// the descriptor.
pub(crate) fn inherited(handle: &(impl Sealed + ?Sized)) -> io::Result<OwnedFd> {
    Ok(dup(handle.descriptor())?)
}

pub(crate) fn unlock_file(handle: &(impl Sealed + ?Sized)) {
    let _ = flock(handle.descriptor(), FlockOperation::Unlock);
}

/// Returns timestamps that set the modification time and leave the access time unchanged.
pub(crate) fn times((seconds, nanoseconds): (i64, u32)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
        last_modification: Timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ },
    }
}
