//! Outputs that exist and are not replaced: open descriptors, FIFOs, devices.
//!
//! In a folder such as `/tmp`, another user can plant a FIFO, or a link to a FIFO, with the name of an output. A
//! planted link can also lead to an open descriptor of the caller. So the program writes to a FIFO, a device or a link
//! only in two cases. Either the caller or root owns this file, or the caller named the file with `-o` and gave
//! `--force`. The program also checks that the open file is the file whose owner was checked, so that another user
//! cannot exchange the file.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::place::partial::folder_of;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use crate::tell::streams;
use deadpan_disk::{About, FileKind, append_to, open_special};

/// The folders whose entries are the open descriptors of this process.
const DESCRIPTORS: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
/// The maximum number of symbolic links that systems follow in one path.
const LINKS: usize = 40;

/// Opens `path` for writing if it is a descriptor, a FIFO, a device, or a link to one of these. Returns `None` for all
/// other paths.
pub fn open(path: &Path, force: bool) -> Option<Result<File, Failure>> {
    if let Some(found) = find(path) {
        let allowed = force || !found.foreign;
        return Some(if allowed { duplicate(found.number, path) } else { Err(of_another_user(path, "link")) });
    }
    let about = About::of_path(path).ok()?;
    matches!(about.kind, FileKind::Fifo | FileKind::Device).then(|| checked(path, &about, force))
}

/// Returns the number of the descriptor that `path` stands for, such as 1 for `/dev/stdout`.
pub fn descriptor(path: &Path) -> Option<u32> {
    find(path).map(|found| found.number)
}

/// Whether a path is in a folder of devices or descriptors. An output beside an input cannot be made in a folder of
/// devices or descriptors.
pub fn is_beside_devices(path: &Path) -> bool {
    folder_of(path).canonicalize().is_ok_and(|folder| is_of_descriptors(&folder) || is_one_of(&folder, &["/dev"]))
}

/// A descriptor that a path leads to.
struct Found {
    number: u32,
    /// Whether another user owns a link in the path. A link of another user can lead to any descriptor of the caller.
    foreign: bool,
}

/// Resolves `path` as the system does, one component at a time, until a component is the folder of descriptors.
fn find(path: &Path) -> Option<Found> {
    // On Windows, descriptors have no paths.
    if cfg!(windows) {
        return None;
    }
    let mut folder = PathBuf::from(".").canonicalize().ok()?;
    // The remaining components, in reverse order.
    let mut left: Vec<_> = path.components().rev().map(|component| component.as_os_str().to_owned()).collect();
    let (mut links, mut foreign) = (0, false);
    while let Some(component) = left.pop() {
        if left.is_empty() && is_of_descriptors(&folder) {
            return component.to_str()?.parse().ok().map(|number| Found { number, foreign });
        }
        if component == ".." {
            folder.pop();
            continue;
        }
        let next = folder.join(component);
        let about = About::of_name(&next).ok()?;
        if about.is_link() {
            links += 1;
            if links > LINKS {
                return None;
            }
            foreign |= !about.is_trusted();
            let target = next.read_link().ok()?;
            left.extend(target.components().rev().map(|component| component.as_os_str().to_owned()));
        } else {
            folder = next;
        }
    }
    None
}

/// Whether the entries of a folder are the open descriptors of this process. `folder` is a path without links.
fn is_of_descriptors(folder: &Path) -> bool {
    // Resolving the names of these folders takes ten system calls, so other folders are excluded first.
    folder.ends_with("fd") && is_one_of(folder, &DESCRIPTORS)
}

fn is_one_of(folder: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| Path::new(name).canonicalize().is_ok_and(|it| it == folder))
}

/// Duplicates a descriptor, so that data are written at the current position of the descriptor.
fn duplicate(number: u32, path: &Path) -> Result<File, Failure> {
    let failed = |error| Failure::path("write", path, &error);
    match number {
        0 => return streams::stdin(),
        1 => return streams::stdout(),
        2 => return streams::Duplicate::duplicate(&std::io::stderr()).map_err(failed),
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
    // Opening a file again sets the position to the start, so the program appends the data instead of overwriting the
    // file.
    append_to(Path::new(&format!("/dev/fd/{number}"))).map_err(failed)
}

/// Opens a FIFO or a device. Refuses the FIFO or the device if another user may have planted it.
fn checked(path: &Path, about: &About, force: bool) -> Result<File, Failure> {
    let failed = |error| Failure::path("write", path, &error);
    let name = About::of_name(path).map_err(failed)?;
    let foreign = !(name.is_trusted() && about.is_trusted());
    if foreign && !force {
        let what = if name.is_link() { "link" } else { "FIFO or device" };
        return Err(of_another_user(path, what));
    }
    match open_special(path, about.id).map_err(failed)? {
        Some(file) => Ok(file),
        None => Err(Failure::usage(
            format!("{} was replaced while it was opened", shown(path)),
            "check who can write to its folder, or choose another output with -o",
        )),
    }
}

fn of_another_user(path: &Path, what: &str) -> Failure {
    Failure::usage(
        format!("{} is a {what} of another user, who could read what is written to it", shown(path)),
        "choose another output with -o; --force writes to it nevertheless if -o names it",
    )
}
