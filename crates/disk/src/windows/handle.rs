//! Attributes and locks of open files and folders. Files have neither an owner with a number nor permission bits, so
//! only the right to write is kept, as the attribute "read-only".

use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle};

use windows_sys::Wdk::Storage::FileSystem::{FILE_OPEN, FILE_OPEN_REPARSE_POINT, FileBasicInformation};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_READONLY, FILE_READ_ATTRIBUTES,
    FILE_WRITE_ATTRIBUTES, READ_CONTROL, WRITE_DAC,
};

use super::about::{self, system_time};
use super::errno::Errno;
use super::imp::security::{self, Descriptor, Owner};
use super::imp::{self, Opening};
use super::reopened;
use crate::about::About;
use crate::handle::sealed::Sealed;
use crate::handle::{Attribute, Locked};

pub(crate) fn set_owner(_handle: BorrowedHandle<'_>, _owner: Option<u32>, _group: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn set_mode(handle: BorrowedHandle<'_>, mode: u32) -> io::Result<()> {
    change(handle, |basic| {
        let old = basic[4] as u32;
        // In a folder, the attribute has another meaning.
        if old & FILE_ATTRIBUTE_DIRECTORY != 0 {
            return false;
        }
        let new = if mode & 0o200 == 0 { old | FILE_ATTRIBUTE_READONLY } else { old & !FILE_ATTRIBUTE_READONLY };
        let new = if new == 0 { FILE_ATTRIBUTE_NORMAL } else { new };
        *basic = [0, 0, 0, 0, new.into()];
        new != old
    })
}

/// Gives all rights to this user and the system alone.
pub(crate) fn set_private(handle: BorrowedHandle<'_>) -> io::Result<()> {
    set_mode(handle, 0o600)?;
    let file = reopened(handle, READ_CONTROL | WRITE_DAC)?;
    Ok(Descriptor::of_this_user()?.give_to(file.as_handle())?)
}

/// Gives the access control list of one file or folder to another one. If this user may not change the list, it stays.
pub(crate) fn take_list(new: BorrowedHandle<'_>, old: BorrowedHandle<'_>) -> io::Result<()> {
    let taken = reopened(new, READ_CONTROL | WRITE_DAC).and_then(|new| security::copy_list(old, new.as_handle()));
    match taken {
        // The file system has no such lists, or a server lets nobody change them.
        Err(Errno::ACCESS | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        taken => Ok(taken?),
    }
}

/// Whether a file belongs to this user. For a folder, also asks whether others have access to it.
pub(crate) fn is_own(handle: BorrowedHandle<'_>, about: &About) -> bool {
    match security::owner(handle) {
        Ok(Owner::This) => !about.is_folder() || security::is_open_to_others(handle).is_ok_and(|is_open| !is_open),
        Ok(Owner::Nobody) => true,
        Ok(Owner::Other) | Err(_) => false,
    }
}

pub(crate) fn set_modified_at(handle: BorrowedHandle<'_>, modified: (i64, u32)) -> io::Result<()> {
    change(handle, |basic| {
        *basic = [0, 0, system_time(modified).cast_unsigned(), 0, 0];
        true
    })
}

/// Changes times or attributes. In the table of times and attributes, zero changes nothing.
fn change(handle: BorrowedHandle<'_>, change: impl FnOnce(&mut [u64; 5]) -> bool) -> io::Result<()> {
    let mut basic = [0; 5];
    imp::query(handle, FileBasicInformation, &mut basic)?;
    if !change(&mut basic) {
        return Ok(());
    }
    match imp::set(handle, FileBasicInformation, &basic, 40) {
        // The handle was opened for reading.
        Err(Errno::ACCESS) => {
            let file = reopened(handle, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES)?;
            Ok(imp::set(file.as_handle(), FileBasicInformation, &basic, 40)?)
        }
        set => Ok(set?),
    }
}

pub(crate) fn attributes(_handle: BorrowedHandle<'_>) -> io::Result<Vec<Attribute>> {
    Ok(Vec::new())
}

pub(crate) fn attribute(_handle: BorrowedHandle<'_>, _name: &[u8], _longest: usize) -> io::Result<Option<Vec<u8>>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn set_attribute(_handle: BorrowedHandle<'_>, _name: &[u8], _value: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn has_access_list(_handle: BorrowedHandle<'_>) -> bool {
    false
}

pub(crate) fn remove_access_list(_handle: BorrowedHandle<'_>) -> io::Result<()> {
    Ok(())
}

/// Locks a file or folder. The system locks no folders, so the lock of a folder is a handle with the right to remove
/// it. While this handle is open, no other such handle can be opened, so nobody removes or renames the folder. For a
/// folder that was opened as a file, only asks whether it is locked.
pub(crate) fn lock_now(handle: &(impl Sealed + ?Sized)) -> io::Result<Locked> {
    let is_folder = handle.folder().is_some() || about::of_handle(handle.descriptor())?.is_folder();
    let locked = if is_folder {
        match imp::open(handle.descriptor(), &mut [], LOCK) {
            Err(Errno::BUSY) => false,
            lock => {
                let lock = lock?;
                if let Some(folder) = handle.folder() {
                    *folder.lock.lock() = Some(lock);
                }
                true
            }
        }
    } else {
        match imp::lock(handle.descriptor()) {
            // Some network file systems have no locks.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => true,
            locked => locked?,
        }
    };
    Ok(if locked { Locked::Yes } else { Locked::ByOthers })
}

const LOCK: Opening<'_> = Opening {
    access: DELETE,
    disposition: FILE_OPEN,
    options: FILE_OPEN_REPARSE_POINT,
    shares_removal: false,
    security: None,
};

pub(crate) fn unlock_file(handle: &(impl Sealed + ?Sized)) {
    match handle.folder() {
        None => imp::unlock(handle.descriptor()),
        Some(folder) => *folder.lock.lock() = None,
    }
}
