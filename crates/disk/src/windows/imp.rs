//! The system's functions, as safe functions over handles and byte buffers. All `unsafe` of this crate is here.
//!
//! The buffers have the layouts that the documentation of the system gives, and their fields are read and written as
//! bytes by the callers.

pub(super) mod security;

use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_SYNCHRONOUS_IO_NONALERT, FileFullDirectoryInformation, NtCreateFile, NtFsControlFile, NtQueryDirectoryFile,
    NtQueryInformationFile, NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    GetLastError, HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE, STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE, UNICODE_STRING,
};
use windows_sys::Win32::Security::{SECURITY_QUALITY_OF_SERVICE, SecurityIdentification};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, GetFileInformationByHandle,
    GetFileType, GetFinalPathNameByHandleW, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    SYNCHRONIZE, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, IO_STATUS_BLOCK, OVERLAPPED};

use self::security::Descriptor;
use super::errno::Errno;

/// A position behind the end of every file. The locks of the system forbid reading and writing, so only this byte is
/// locked.
const LOCKED_BYTE: u64 = i64::MAX as u64 - 1;

/// What the server of a named pipe may do with the identity of this user: only see it.
const SERVER: SECURITY_QUALITY_OF_SERVICE = SECURITY_QUALITY_OF_SERVICE {
    Length: size_of::<SECURITY_QUALITY_OF_SERVICE>() as u32,
    ImpersonationLevel: SecurityIdentification,
    ContextTrackingMode: 0,
    EffectiveOnly: true,
};

/// How a name is opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'a> {
    /// The rights of the new handle.
    pub(super) access: u32,
    /// Whether the name must be there or must be new: `FILE_OPEN` or `FILE_CREATE`.
    pub(super) disposition: u32,
    pub(super) options: u32,
    /// Whether other handles may be opened that can remove or rename the file.
    pub(super) shares_removal: bool,
    /// The access control list of a new file. `None` for the list that the folder gives.
    pub(super) security: Option<&'a Descriptor>,
}

/// Opens a name in an open folder. An empty name opens the folder again.
pub(super) fn open(folder: BorrowedHandle<'_>, name: &mut [u16], how: Opening<'_>) -> Result<OwnedHandle, Errno> {
    let length = u16::try_from(size_of_val(name)).map_err(|_| Errno::NAMETOOLONG)?;
    let name = UNICODE_STRING { Length: length, MaximumLength: length, Buffer: name.as_mut_ptr() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
        RootDirectory: folder.as_raw_handle(),
        ObjectName: &name,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: how.security.map_or(null(), Descriptor::pointer).cast(),
        SecurityQualityOfService: &SERVER,
    };
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | if how.shares_removal { FILE_SHARE_DELETE } else { 0 };
    let (mut handle, mut status): (HANDLE, _) = (null_mut(), IO_STATUS_BLOCK::default());
    // SAFETY: `attributes`, `name`, the name's characters and the descriptor live during the call, and `length` is the
    // length of the characters in bytes. The call may write to `handle` and `status`.
    let result = unsafe {
        NtCreateFile(
            &mut handle,
            how.access | SYNCHRONIZE,
            &attributes,
            &mut status,
            null(),
            0,
            share,
            how.disposition,
            how.options | FILE_SYNCHRONOUS_IO_NONALERT,
            null(),
            0,
        )
    };
    check(result)?;
    // SAFETY: the call has succeeded, so `handle` is an open handle, which belongs to nobody else.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Reads properties of an open file into `buffer`, in the layout of the class.
pub(super) fn query(handle: BorrowedHandle<'_>, class: i32, buffer: &mut [u64]) -> Result<(), Errno> {
    let mut status = IO_STATUS_BLOCK::default();
    let length = size_of_val(buffer) as u32;
    // SAFETY: the system writes at most `length` bytes to `buffer`, whose alignment is enough for each class.
    check(unsafe {
        NtQueryInformationFile(handle.as_raw_handle(), &mut status, buffer.as_mut_ptr().cast(), length, class)
    })
}

/// Sets properties of an open file. `length` bytes of `buffer` are in the layout of the class.
pub(super) fn set(handle: BorrowedHandle<'_>, class: i32, buffer: &[u64], length: usize) -> Result<(), Errno> {
    let mut status = IO_STATUS_BLOCK::default();
    let length = length.min(size_of_val(buffer)) as u32;
    // SAFETY: the system reads `length` bytes of `buffer`, which has so many.
    check(unsafe { NtSetInformationFile(handle.as_raw_handle(), &mut status, buffer.as_ptr().cast(), length, class) })
}

/// Reads the next names of a folder into `buffer`, in the layout of `FILE_FULL_DIR_INFORMATION`. Returns false if no
/// name is left.
pub(super) fn list(folder: BorrowedHandle<'_>, buffer: &mut [u64]) -> Result<bool, Errno> {
    let mut status = IO_STATUS_BLOCK::default();
    let length = size_of_val(buffer) as u32;
    // SAFETY: the system writes at most `length` bytes to `buffer`, whose alignment is enough. The other pointers may
    // be null.
    let result = unsafe {
        NtQueryDirectoryFile(
            folder.as_raw_handle(),
            null_mut(),
            None,
            null(),
            &mut status,
            buffer.as_mut_ptr().cast(),
            length,
            FileFullDirectoryInformation,
            false,
            null(),
            false,
        )
    };
    match result {
        STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE => Ok(false),
        result => check(result).map(|()| true),
    }
}

/// Sends a control code to the file system. Returns the number of bytes of `output`.
pub(super) fn control(handle: BorrowedHandle<'_>, code: u32, input: &[u8], output: &mut [u8]) -> Result<usize, Errno> {
    let mut status = IO_STATUS_BLOCK::default();
    // SAFETY: the system reads `input` and writes to `output`, with their lengths. The other pointers may be null.
    check(unsafe {
        NtFsControlFile(
            handle.as_raw_handle(),
            null_mut(),
            None,
            null(),
            &mut status,
            code,
            if input.is_empty() { null() } else { input.as_ptr().cast() },
            input.len() as u32,
            if output.is_empty() { null_mut() } else { output.as_mut_ptr().cast() },
            output.len() as u32,
        )
    })?;
    Ok(status.Information.min(output.len()))
}

/// Returns the number of the volume and the number of the file in it, for file systems without numbers of 128 bits.
pub(super) fn short_id(handle: BorrowedHandle<'_>) -> Result<(u32, u64), Errno> {
    let mut about = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the call may write to `about`.
    done(unsafe { GetFileInformationByHandle(handle.as_raw_handle(), &mut about) })?;
    Ok((about.dwVolumeSerialNumber, u64::from(about.nFileIndexHigh) << 32 | u64::from(about.nFileIndexLow)))
}

/// Returns the type of an open file: disk, character device or pipe.
pub(super) fn file_type(handle: BorrowedHandle<'_>) -> u32 {
    // SAFETY: the call takes any open handle.
    unsafe { GetFileType(handle.as_raw_handle()) }
}

/// Returns the path of an open file, which begins with `\\?\`.
pub(super) fn final_path(handle: BorrowedHandle<'_>) -> Result<Vec<u16>, Errno> {
    let mut path = vec![0; 512];
    loop {
        // SAFETY: the system writes at most as many characters as `path` has.
        let length =
            unsafe { GetFinalPathNameByHandleW(handle.as_raw_handle(), path.as_mut_ptr(), path.len() as u32, 0) }
                as usize;
        match length {
            0 => return Err(last()),
            length if length < path.len() => {
                path.truncate(length);
                return Ok(path);
            }
            length => path.resize(length + 1, 0),
        }
    }
}

/// Locks one byte behind the end of a file. Returns false if another handle has locked it.
pub(super) fn lock(file: BorrowedHandle<'_>) -> Result<bool, Errno> {
    let mut place = place();
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: `place` lives until the lock is decided: `decided` waits for that.
    let locked = done(unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &mut place) });
    match decided(file, &place, locked) {
        Err(Errno::LOCKED | Errno::CANCELLED) => Ok(false),
        locked => locked.map(|()| true),
    }
}

pub(super) fn unlock(file: BorrowedHandle<'_>) {
    let mut place = place();
    // SAFETY: as in `lock`.
    let unlocked = done(unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &mut place) });
    let _ = decided(file, &place, unlocked);
}

/// Ends a call that goes on, and returns its result. A call goes on if the handle is not synchronous, for example if
/// another program has opened it.
fn decided(file: BorrowedHandle<'_>, place: &OVERLAPPED, called: Result<(), Errno>) -> Result<(), Errno> {
    if called != Err(Errno::PENDING) {
        return called;
    }
    let mut length = 0;
    // SAFETY: `place` belongs to the call that goes on, and the call may write to `length`. The second call returns
    // when the system uses `place` no more.
    done(unsafe {
        CancelIoEx(file.as_raw_handle(), place);
        GetOverlappedResult(file.as_raw_handle(), place, &mut length, 1)
    })
}

fn place() -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = LOCKED_BYTE as u32;
    place.Anonymous.Anonymous.OffsetHigh = (LOCKED_BYTE >> 32) as u32;
    place
}

fn check(status: NTSTATUS) -> Result<(), Errno> {
    if status >= 0 { Ok(()) } else { Err(Errno::from_status(status)) }
}

/// Returns the error of the last call if the call returned zero.
pub(super) fn done(result: i32) -> Result<(), Errno> {
    if result != 0 { Ok(()) } else { Err(last()) }
}

fn last() -> Errno {
    // SAFETY: the call has no conditions.
    Errno::from_code(unsafe { GetLastError() })
}

/// Returns the code of a status.
pub(super) fn code(status: NTSTATUS) -> u32 {
    // SAFETY: the call takes any number.
    unsafe { windows_sys::Win32::Foundation::RtlNtStatusToDosError(status) }
}
