//! The operations on files that differ between systems, for Windows.

pub(crate) mod about;
mod errno;
mod folder;
pub(crate) mod handle;
#[allow(unsafe_code)]
mod imp;
mod link;
pub(crate) mod portable;
pub(crate) mod special;
#[cfg(test)]
mod tests;
pub(crate) mod user;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the tables of the system are written for 64 bits");

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_OPEN, FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_REPARSE_POINT, FILE_RENAME_IGNORE_READONLY_ATTRIBUTE,
    FILE_RENAME_POSIX_SEMANTICS, FILE_RENAME_REPLACE_IF_EXISTS, FileDispositionInformation,
    FileDispositionInformationEx, FileLinkInformation, FileRenameInformation, FileRenameInformationEx,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_DISPOSITION_FLAG_DELETE, FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE,
    FILE_DISPOSITION_FLAG_POSIX_SEMANTICS, FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES,
};

pub use self::errno::Errno;
use self::imp::Opening;
use crate::about::FileKind;
use crate::folder::Folder;
use crate::handle::Handle;
use crate::names::windows;

/// The handle of an open file or folder, while the file or folder is borrowed.
pub(crate) type Borrowed<'a> = BorrowedHandle<'a>;

/// The handle of an open folder, with the handle that locks it.
#[derive(Debug)]
pub struct FolderHandle {
    handle: OwnedHandle,
    lock: Mutex<Option<OwnedHandle>>,
}

impl FolderHandle {
    fn new(handle: OwnedHandle) -> Self {
        Self { handle, lock: Mutex::new(None) }
    }
}

pub(crate) fn borrowed(file: &File) -> Borrowed<'_> {
    file.as_handle()
}

/// Refuses a name that is not one component of a path.
pub(crate) fn single(name: &OsStr) -> Result<&OsStr, Errno> {
    if matches!(name.as_encoded_bytes(), b"" | b"." | b"..") || windows::is_path(name.as_encoded_bytes()) {
        return Err(Errno::ILSEQ);
    }
    Ok(name)
}

/// Refuses a name that programs for Windows could not use, or would take for something else.
fn new_name(name: &OsStr) -> Result<&OsStr, Errno> {
    match windows::flaw(single(name)?.as_encoded_bytes()) {
        Some(_) => Err(Errno::ILSEQ),
        None => Ok(name),
    }
}

fn wide(name: &OsStr) -> Vec<u16> {
    name.encode_wide().collect()
}

/// Whether a path ends with a separator, or with a separator and a dot.
pub(crate) fn ends_with_separator(path: &OsStr) -> bool {
    let bytes = path.as_encoded_bytes();
    matches!(bytes.strip_suffix(b".").unwrap_or(bytes).last(), Some(b'/' | b'\\'))
}

/// Opens the folder in which the lookup of a path begins. Returns the folder and the path, which is absolute then. As
/// in all programs for Windows, `..` removes the component before it, even if that component is a link.
pub(crate) fn start(path: &Path) -> io::Result<(Folder, Cow<'_, Path>)> {
    let absolute = std::path::absolute(path)?;
    let root = absolute.ancestors().last().unwrap_or(&absolute).to_owned();
    let rest = absolute.strip_prefix(&root).unwrap_or(&absolute).to_owned();
    Ok((Folder::open_for_names(&root)?, Cow::Owned(rest)))
}

/// Returns the path of an open file without links, which begins with `\\?\`.
fn path_of(handle: BorrowedHandle<'_>) -> Result<PathBuf, Errno> {
    imp::final_path(handle).map(|path| OsString::from_wide(&path).into())
}

/// Opens an open file again, with other rights. If it has become a link meanwhile, opens the link.
fn reopened(handle: BorrowedHandle<'_>, access: u32) -> Result<OwnedHandle, Errno> {
    let options = FILE_OPEN_FOR_BACKUP_INTENT | FILE_OPEN_REPARSE_POINT;
    imp::open(
        handle,
        &mut [],
        Opening { access, disposition: FILE_OPEN, options, shares_removal: true, security: None },
    )
}

/// Removes an open file. Its name is gone at once if the file system can do that. On other file systems, the name is
/// gone when the last handle is closed.
fn dispose(file: BorrowedHandle<'_>) -> Result<(), Errno> {
    let flags = FILE_DISPOSITION_FLAG_DELETE
        | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS
        | FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE;
    match imp::set(file, FileDispositionInformationEx, &[flags.into()], 4) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        disposed => return disposed,
    }
    match imp::set(file, FileDispositionInformation, &[1], 1) {
        // A file that is read-only cannot be removed.
        Err(Errno::ACCESS) => {
            let writable = File::from(reopened(file, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES)?);
            writable.set_mode(0o600).map_err(|_| Errno::ACCESS)?;
            imp::set(file, FileDispositionInformation, &[1], 1)
        }
        disposed => disposed,
    }
}

/// Gives an open file another name in a folder.
fn rename_to(file: BorrowedHandle<'_>, folder: BorrowedHandle<'_>, name: &[u16], replaces: bool) -> Result<(), Errno> {
    let flags = FILE_RENAME_POSIX_SEMANTICS
        | FILE_RENAME_IGNORE_READONLY_ATTRIBUTE
        | if replaces { FILE_RENAME_REPLACE_IF_EXISTS } else { 0 };
    let (buffer, length) = naming(flags, folder, name);
    match imp::set(file, FileRenameInformationEx, &buffer, length) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return renamed,
    }
    let (buffer, length) = naming(replaces.into(), folder, name);
    imp::set(file, FileRenameInformation, &buffer, length)
}

/// Gives an open file one more name in a folder.
fn link_to(file: BorrowedHandle<'_>, folder: BorrowedHandle<'_>, name: &[u16]) -> Result<(), Errno> {
    let (buffer, length) = naming(0, folder, name);
    imp::set(file, FileLinkInformation, &buffer, length)
}

/// Returns the table that says which name a file gets, and its length: flags, the folder, the length of the name, the
/// name.
fn naming(flags: u32, folder: BorrowedHandle<'_>, name: &[u16]) -> (Vec<u64>, usize) {
    use std::os::windows::io::AsRawHandle;
    let mut bytes = Vec::new();
    bytes.extend(u64::from(flags).to_le_bytes());
    bytes.extend((folder.as_raw_handle().addr() as u64).to_le_bytes());
    bytes.extend((size_of_val(name) as u32).to_le_bytes());
    name.iter().for_each(|unit| bytes.extend(unit.to_le_bytes()));
    // The system takes no table that is shorter than its fixed part.
    let length = bytes.len().max(24);
    bytes.resize(length.next_multiple_of(8), 0);
    let words = bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
    (words.collect(), length)
}

/// The names in a folder.
pub(crate) struct Entries {
    folder: OwnedHandle,
    buffer: Vec<u64>,
    /// The offset of the next entry in the buffer. `None` if the buffer has no more entries.
    next: Option<usize>,
    ended: bool,
}

impl Entries {
    fn new(folder: OwnedHandle) -> Self {
        Self { folder, buffer: vec![0; 4 << 10], next: None, ended: false }
    }

    fn entry(&mut self, at: usize) -> Option<FoundEntry> {
        let bytes = |from: usize, length: usize| -> Option<Vec<u8>> {
            let byte = |index: usize| Some(self.buffer.get(index / 8)?.to_le_bytes()[index % 8]);
            (from..from + length).map(byte).collect()
        };
        let number = |from: usize| Some(u32::from_le_bytes(bytes(at + from, 4)?.try_into().ok()?));
        let (attributes, length, tag) = (number(56)?, number(60)?, number(64)?);
        let name = bytes(at + 68, length as usize)?;
        let name: Vec<u16> = name.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let next = number(0)? as usize;
        self.next = (next != 0).then_some(at + next);
        Some(FoundEntry { name: OsString::from_wide(&name), kind: about::kind_of(attributes, tag) })
    }
}

impl Iterator for Entries {
    type Item = Result<FoundEntry, Errno>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = match self.next {
            Some(at) => at,
            None if self.ended => return None,
            None => match imp::list(self.folder.as_handle(), &mut self.buffer) {
                Ok(true) => 0,
                ended => {
                    self.ended = true;
                    return ended.err().map(Err);
                }
            },
        };
        self.next = None;
        Some(self.entry(at).ok_or(Errno::IO))
    }
}

/// A name in a folder that is listed.
pub(crate) trait Entry {
    fn name(&self) -> &OsStr;
    /// Returns the kind of the file, if the file system reports it.
    fn kind(&self) -> Option<FileKind>;
    /// Whether the name is `.` or `..`.
    fn is_dots(&self) -> bool;
}

/// A name in a folder, and the kind of its file.
pub(crate) struct FoundEntry {
    name: OsString,
    kind: FileKind,
}

impl Entry for FoundEntry {
    fn name(&self) -> &OsStr {
        &self.name
    }

    fn kind(&self) -> Option<FileKind> {
        Some(self.kind)
    }

    fn is_dots(&self) -> bool {
        self.name == "." || self.name == ".."
    }
}

/// Does nothing: reading waits for data.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn wait_for_data(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Returns the rest of the file as data, because holes are rare on this system.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn next_data(_file: &File, position: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    Ok((position < length).then_some((position, length)))
}

/// Returns `None`: the caller reads and writes.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn copy_range(_from: &File, _at: u64, _to: &File, _into: u64, _length: usize) -> io::Result<Option<usize>> {
    Ok(None)
}
