//! What a fake agent listens on: a named pipe.

use std::fs::File;
use std::io;
use std::os::windows::io::FromRawHandle;
use std::path::{Path, PathBuf};
use std::ptr::null;

use windows_sys::Win32::Foundation::{ERROR_PIPE_CONNECTED, GetLastError, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::PIPE_ACCESS_DUPLEX;
use windows_sys::Win32::System::Pipes::{
    ConnectNamedPipe, CreateNamedPipeW, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES,
};

/// Makes an instance of a pipe that no client has opened yet.
pub(super) struct PipeListener {
    path: PathBuf,
    next: File,
}

impl PipeListener {
    pub(super) fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        Ok(Self { next: instance(&path)?, path })
    }

    /// Waits for the next client. The new instance is made before the client is served, so that other clients find one.
    pub(super) fn incoming(self) -> impl Iterator<Item = io::Result<File>> {
        let Self { path, mut next } = self;
        std::iter::repeat_with(move || {
            connect(&next)?;
            Ok(std::mem::replace(&mut next, instance(&path)?))
        })
    }
}

fn instance(path: &Path) -> io::Result<File> {
    use std::os::windows::ffi::OsStrExt;
    let name: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let kind = PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS;
    // SAFETY: the name ends with a zero, and the attributes may be null.
    let handle = unsafe {
        CreateNamedPipeW(name.as_ptr(), PIPE_ACCESS_DUPLEX, kind, PIPE_UNLIMITED_INSTANCES, 4096, 4096, 0, null())
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so the handle is open and belongs to nobody else.
    Ok(unsafe { File::from_raw_handle(handle) })
}

fn connect(pipe: &File) -> io::Result<()> {
    use std::os::windows::io::AsRawHandle;
    // SAFETY: the handle is that of an open pipe, and no structure is needed for a call that waits.
    let connected = unsafe { ConnectNamedPipe(pipe.as_raw_handle(), std::ptr::null_mut()) != 0 };
    // SAFETY: the call has no conditions.
    if connected || unsafe { GetLastError() } == ERROR_PIPE_CONNECTED {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}
