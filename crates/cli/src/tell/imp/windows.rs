//! The console, and the standard streams.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr::null;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_UNKNOWN, GetFileType};
use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, ENABLE_ECHO_INPUT, ENABLE_LINE_INPUT, ENABLE_PROCESSED_INPUT,
    ENABLE_VIRTUAL_TERMINAL_PROCESSING, FlushConsoleInputBuffer, GetConsoleMode, GetConsoleScreenBufferInfo,
    GetStdHandle, ReadConsoleW, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetConsoleCtrlHandler,
    SetConsoleMode,
};

/// Duplicates standard input, the only descriptor that has a number.
///
/// # Errors
/// Fails if `number` is not zero, or if standard input is closed.
pub fn descriptor(number: u32) -> io::Result<OwnedHandle> {
    if number == 0 { io::stdin().as_handle().try_clone_to_owned() } else { Err(io::ErrorKind::NotFound.into()) }
}

pub fn was_closed(number: u8) -> bool {
    let Some(stream) = [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE].get(usize::from(number)) else {
        return true;
    };
    // SAFETY: the call takes the number of a stream.
    let handle = unsafe { GetStdHandle(*stream) };
    // SAFETY: the call takes any number, and fails for one that is no handle.
    handle.is_null() || handle == INVALID_HANDLE_VALUE || unsafe { GetFileType(handle) } == FILE_TYPE_UNKNOWN
}

/// Does nothing: the allocator of the system gives large memory back.
pub fn give_back_memory() {}

/// The settings of a console.
#[derive(Clone, Copy, Debug)]
pub struct ConsoleMode(u32);

/// Makes the console end its input at an Enter and show it only if `echo` is set. Drops input that was typed before.
/// Returns the settings that the console had.
///
/// # Errors
/// If this is no console.
pub fn set_mode(console: &File, echo: bool) -> io::Result<ConsoleMode> {
    let mut before = 0;
    // SAFETY: the call may write to `before`.
    done(unsafe { GetConsoleMode(console.as_raw_handle(), &mut before) })?;
    let echo = if echo { ENABLE_ECHO_INPUT } else { 0 };
    let mode = before & !ENABLE_ECHO_INPUT | ENABLE_LINE_INPUT | ENABLE_PROCESSED_INPUT | echo;
    // SAFETY: the calls take any handle.
    done(unsafe { SetConsoleMode(console.as_raw_handle(), mode) })?;
    // SAFETY: as above.
    unsafe {
        FlushConsoleInputBuffer(console.as_raw_handle());
    }
    Ok(ConsoleMode(before))
}

impl ConsoleMode {
    /// Gives these settings to the console.
    pub fn restore(self, console: &File) {
        // SAFETY: the call takes any handle and any number.
        unsafe {
            SetConsoleMode(console.as_raw_handle(), self.0);
        }
    }
}

/// Reads units of UTF-16 that were typed, two bytes for each. Returns the number of bytes.
///
/// # Errors
/// If this is no console.
pub fn read_line(console: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let (before, units, _) = {
        // SAFETY: all bytes are valid units.
        unsafe { buffer.align_to_mut::<u16>() }
    };
    if !before.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (most, mut read) = (u32::try_from(units.len()).unwrap_or(u32::MAX), 0);
    // SAFETY: the system writes at most `most` units, and `units` has so many.
    done(unsafe { ReadConsoleW(console.as_raw_handle(), units.as_mut_ptr().cast(), most, &mut read, null()) })?;
    Ok(2 * read as usize)
}

/// Returns the number of the columns of a console.
pub fn columns(console: BorrowedHandle<'_>) -> Option<usize> {
    let mut about = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: the call may write to `about`.
    done(unsafe { GetConsoleScreenBufferInfo(console.as_raw_handle(), &mut about) }).ok()?;
    usize::try_from(i32::from(about.srWindow.Right) - i32::from(about.srWindow.Left) + 1).ok().filter(|it| *it > 0)
}

/// Makes a console understand sequences that move the cursor and set colors. Does nothing if this is no console.
pub fn show_colors(console: BorrowedHandle<'_>) {
    let mut mode = 0;
    // SAFETY: the call may write to `mode`, and the second call takes any number.
    unsafe {
        if GetConsoleMode(console.as_raw_handle(), &mut mode) != 0 {
            SetConsoleMode(console.as_raw_handle(), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        }
    }
}

/// Calls `handler` when the program is to end: Ctrl-C, Ctrl-Break, the closing of the console, and the end of the
/// session. The system calls it on a thread of its own. If it returns zero, the system ends the program.
pub fn on_control(handler: unsafe extern "system" fn(u32) -> i32) {
    // SAFETY: the handler is a function, so it lives for ever.
    unsafe {
        SetConsoleCtrlHandler(Some(handler), 1);
    }
}

fn done(result: i32) -> io::Result<()> {
    if result != 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
