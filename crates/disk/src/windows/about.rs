//! The properties of a file, from the system's tables of attributes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::path::Path;

use windows_sys::Wdk::Storage::FileSystem::{
    FileAttributeTagInformation, FileBasicInformation, FileIdInformation, FileStandardInformation,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES, FILE_TYPE_CHAR, FILE_TYPE_DISK, FILE_TYPE_PIPE,
    SECURITY_IDENTIFICATION,
};

use super::errno::Errno;
use super::imp;
use crate::about::{About, FileId, FileKind};

/// Between 1601, where the system's time begins, and 1970: the seconds.
const BETWEEN: i64 = 11_644_473_600;
/// The steps of the system's time in a second.
const STEPS: i64 = 10_000_000;

const TAG_SYMLINK: u32 = 0xa000_000c;
const TAG_MOUNT_POINT: u32 = 0xa000_0003;
/// The bit of tags that stand for another file. Other tags say how the file itself is stored.
const SURROGATE: u32 = 0x2000_0000;

pub(crate) fn of_file(file: &File) -> io::Result<About> {
    Ok(of_handle(file.as_handle())?)
}

pub(crate) fn of_path(path: &Path) -> io::Result<About> {
    of_file(&opened(path, 0)?)
}

pub(crate) fn of_name(path: &Path) -> io::Result<About> {
    of_file(&opened(path, FILE_FLAG_OPEN_REPARSE_POINT)?)
}

fn opened(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags)
        .security_qos_flags(SECURITY_IDENTIFICATION)
        .open(path)
}

/// Returns the properties of an open file. A handle that was opened without following links gives the properties of the
/// link.
pub(super) fn of_handle(handle: BorrowedHandle<'_>) -> Result<About, Errno> {
    match imp::file_type(handle) {
        FILE_TYPE_DISK => {}
        FILE_TYPE_CHAR => return Ok(other(handle, FileKind::Device)),
        FILE_TYPE_PIPE => return Ok(other(handle, FileKind::Fifo)),
        _ => return Ok(other(handle, FileKind::Other)),
    }
    let (mut basic, mut standard) = ([0; 5], [0; 3]);
    imp::query(handle, FileBasicInformation, &mut basic)?;
    imp::query(handle, FileStandardInformation, &mut standard)?;
    let attributes = basic[4] as u32;
    let kind = if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        let mut tag = [0];
        imp::query(handle, FileAttributeTagInformation, &mut tag)?;
        kind_of(attributes, (tag[0] >> 32) as u32)
    } else {
        kind_of(attributes, 0)
    };
    let mode = match kind {
        FileKind::Folder => 0o755,
        FileKind::Link => 0o777,
        _ if attributes & FILE_ATTRIBUTE_READONLY != 0 => 0o444,
        _ => 0o644,
    };
    Ok(About {
        kind,
        id: id(handle)?,
        length: standard[1],
        stored: standard[0],
        mode,
        owner: 0,
        group: 0,
        links: standard[2] & 0xffff_ffff,
        modified: since_1970(basic[2].cast_signed()),
        changed: since_1970(basic[3].cast_signed()),
        is_system_device: false,
    })
}

/// Returns the kind of a file with these attributes. `tag` says what a reparse point is.
pub(super) fn kind_of(attributes: u32, tag: u32) -> FileKind {
    match (attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0, tag) {
        (true, TAG_SYMLINK | TAG_MOUNT_POINT) => FileKind::Link,
        (true, tag) if tag & SURROGATE != 0 => FileKind::Other,
        _ if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 => FileKind::Folder,
        _ => FileKind::File,
    }
}

/// Whether the file is stored in another way than usual, so that it must be opened through the driver that stores it.
pub(super) fn is_stored_otherwise(handle: BorrowedHandle<'_>) -> Result<bool, Errno> {
    let mut tag = [0];
    match imp::query(handle, FileAttributeTagInformation, &mut tag) {
        // This is no file on a disk, or its file system has no reparse points.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error),
        Ok(()) => {
            let is_point = tag[0] as u32 & FILE_ATTRIBUTE_REPARSE_POINT != 0;
            Ok(is_point && (tag[0] >> 32) as u32 & SURROGATE == 0)
        }
    }
}

fn id(handle: BorrowedHandle<'_>) -> Result<FileId, Errno> {
    let mut id = [0; 3];
    match imp::query(handle, FileIdInformation, &mut id) {
        Ok(()) => Ok(FileId { device: id[0], number: id[1], upper: id[2] }),
        // Older file systems have numbers of 64 bits.
        Err(_) => imp::short_id(handle).map(|(device, number)| FileId { device: device.into(), number, upper: 0 }),
    }
}

/// Returns the properties of something that is not on a disk. The system has no number for it, so the number of the
/// handle takes its place.
fn other(handle: BorrowedHandle<'_>, kind: FileKind) -> About {
    About {
        kind,
        id: FileId { device: u64::MAX, number: handle.as_raw_handle().addr() as u64, upper: 0 },
        length: 0,
        stored: 0,
        mode: 0o666,
        owner: 0,
        group: 0,
        links: 1,
        modified: (0, 0),
        changed: (0, 0),
        is_system_device: kind == FileKind::Device,
    }
}

/// Returns a time of the system as seconds since 1970 and nanoseconds.
fn since_1970(time: i64) -> (i64, u32) {
    (time.div_euclid(STEPS) - BETWEEN, (time.rem_euclid(STEPS) * 100) as u32)
}

/// Returns a time of the system. A time that the system cannot store becomes the nearest time that it can store.
pub(super) fn system_time((seconds, nanoseconds): (i64, u32)) -> i64 {
    let time = (i128::from(seconds) + i128::from(BETWEEN)) * i128::from(STEPS) + i128::from(nanoseconds / 100);
    // Zero and negative numbers have other meanings.
    time.clamp(1, i64::MAX.into()) as i64
}
