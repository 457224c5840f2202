//! Outputs that exist and are not replaced: open descriptors, FIFOs, devices.
//!
//! In a folder such as `/tmp`, another user can plant a FIFO, or a link to one, under the name of an output. A planted
//! link can also lead to an open descriptor of the caller. So a FIFO, a device or a link is written to only if it
//! belongs to the caller or to root, or with `--force`. After opening, the file is compared with the one whose owner
//! was checked, so that another user cannot exchange it in between.

use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::failure::Failure;
use crate::input::FileId;
use crate::shown::shown;
use crate::streams;

/// The folders that name the open descriptors of this process.
const DESCRIPTORS: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
/// The number of symbolic links that systems follow in one path.
const LINKS: usize = 40;

/// Opens what `path` names if it is a descriptor, a FIFO or a device, or a link to one. Returns `None` for everything
/// else.
pub fn open(path: &Path, force: bool) -> Option<Result<File, Failure>> {
    if let Some(found) = find(path) {
        let allowed = force || !found.foreign;
        return Some(if allowed { duplicate(found.number, path) } else { Err(of_another_user(path, "link")) });
    }
    let about = fs::metadata(path).ok()?;
    let kind = about.file_type();
    (kind.is_fifo() || kind.is_char_device()).then(|| checked(path, &about, force))
}

/// Returns the number of the descriptor that `path` stands for, such as 1 for `/dev/stdout`.
pub fn descriptor(path: &Path) -> Option<u32> {
    find(path).map(|found| found.number)
}

/// A descriptor that a path leads to.
struct Found {
    number: u32,
    /// Whether another user owns a link in the path. Such a link can lead to any descriptor of the caller.
    foreign: bool,
}

/// Resolves `path` as the system does, one component at a time, until a component is the folder of descriptors.
fn find(path: &Path) -> Option<Found> {
    let descriptors: Vec<_> = DESCRIPTORS.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    let mut folder = PathBuf::from(".").canonicalize().ok()?;
    // The components that are left, the last one first.
    let mut left: Vec<_> = path.components().rev().map(|component| component.as_os_str().to_owned()).collect();
    let (mut links, mut foreign) = (0, false);
    while let Some(component) = left.pop() {
        if left.is_empty() && descriptors.contains(&folder) {
            return component.to_str()?.parse().ok().map(|number| Found { number, foreign });
        }
        if component == ".." {
            folder.pop();
            continue;
        }
        let next = folder.join(component);
        let about = fs::symlink_metadata(&next).ok()?;
        if about.is_symlink() {
            links += 1;
            if links > LINKS {
                return None;
            }
            foreign |= !is_trusted(&about);
            let target = fs::read_link(&next).ok()?;
            left.extend(target.components().rev().map(|component| component.as_os_str().to_owned()));
        } else {
            folder = next;
        }
    }
    None
}

/// Duplicates a descriptor, so that data are written at its current position.
fn duplicate(number: u32, path: &Path) -> Result<File, Failure> {
    let failed = |error| Failure::path("write", path, &error);
    match number {
        0 => return streams::stdin(),
        1 => return streams::stdout(),
        2 => return rustix::stdio::stderr().try_clone_to_owned().map(File::from).map_err(failed),
        _ => {}
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
        let own = pidfd_open(getpid(), PidfdFlags::empty());
        let found = own.and_then(|own| pidfd_getfd(own, number as _, PidfdGetfdFlags::empty()));
        if let Ok(found) = found {
            return Ok(found.into());
        }
    }
    // A file that is opened again would be overwritten from its start, so data are appended.
    OpenOptions::new().append(true).open(format!("/dev/fd/{number}")).map_err(failed)
}

/// Opens a FIFO or a device, unless another user can have planted it.
fn checked(path: &Path, about: &Metadata, force: bool) -> Result<File, Failure> {
    let failed = |error| Failure::path("write", path, &error);
    let name = fs::symlink_metadata(path).map_err(failed)?;
    let foreign = !(is_trusted(&name) && is_trusted(about));
    if foreign && !force {
        let what = if name.is_symlink() { "link" } else { "FIFO or device" };
        return Err(of_another_user(path, what));
    }
    let mut flags = OFlags::NOCTTY;
    if !name.is_symlink() {
        flags |= OFlags::NOFOLLOW;
    }
    let file = OpenOptions::new().write(true).custom_flags(flags.bits() as i32).open(path).map_err(failed)?;
    if FileId::of(&file.metadata().map_err(failed)?) != FileId::of(about) {
        return Err(Failure::usage(
            format!("{} was replaced while it was opened", shown(path)),
            "check who can write to its folder, or choose another output with -o",
        ));
    }
    Ok(file)
}

/// Returns the refusal of an output that another user may have planted.
fn of_another_user(path: &Path, what: &str) -> Failure {
    Failure::usage(
        format!("{} is a {what} of another user, who could read what is written to it", shown(path)),
        "choose another output with -o; --force writes to it nevertheless",
    )
}

/// Whether the caller or root owns this file.
pub(super) fn is_trusted(about: &Metadata) -> bool {
    about.uid() == geteuid().as_raw() || about.uid() == 0 || is_device_of_system(about)
}

/// Whether this is a device that no ordinary user can make. In a user namespace, such devices seem to belong to nobody.
#[cfg(target_os = "linux")]
fn is_device_of_system(about: &Metadata) -> bool {
    // The major numbers of pseudo-terminals, which every user can have.
    about.file_type().is_char_device() && !(136..144).contains(&rustix::fs::major(about.rdev()))
}

#[cfg(not(target_os = "linux"))]
fn is_device_of_system(_about: &Metadata) -> bool {
    false
}
