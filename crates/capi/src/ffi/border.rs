//! Turns pointers into slices, texts and values, and turns panics and errors into codes.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::slice;
use std::sync::{Arc, Once};

use super::kinds::dp_error;
use crate::handles;
use deadpan_bind::{Code, Fault};
use deadpan_ct::with_data_independent_timing;
use deadpan_seal::ReadAt;

/// Defines functions that C calls. Each function gets a last parameter for the error, and returns a code.
macro_rules! exports {
    ($( $(#[$doc:meta])* fn $name:ident($($parameter:ident: $type:ty),* $(,)?) $body:block )*) => { $(
        $(#[$doc])*
        // SAFETY: no other library exports a name with this prefix. The caller fulfills the requirements in deadpan.h:
        // each pointer is NULL or valid for the length that is passed with it, and callbacks may be called.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($parameter: $type,)*
            error: *mut *mut $crate::ffi::kinds::dp_error,
        ) -> i32 {
            $crate::ffi::border::run(error, || $body)
        }
    )* };
}

/// Defines functions that free handles. The functions also accept NULL.
macro_rules! frees {
    ($( $(#[$doc:meta])* $name:ident($type:ty => $held:ty); )*) => { $(
        $(#[$doc])*
        // SAFETY: no other library exports a name with this prefix. The pointer is only a number and is never
        // dereferenced.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(handle: *mut $type) -> i32 {
            $crate::ffi::border::code(|| $crate::handles::free::<$held>(handle as usize))
        }
    )* };
}

/// Runs a function's body. Writes the error to `error` if `error` is not NULL.
// SAFETY: `error` is NULL or points to a handle that may be written.
pub(super) unsafe fn run(error: *mut *mut dp_error, body: impl FnOnce() -> Result<(), Fault>) -> i32 {
    if !error.is_null() {
        error.write(std::ptr::null_mut());
    }
    let Err(fault) = caught(body) else { return Code::Ok as i32 };
    let code = fault.code as i32;
    if !error.is_null() {
        error.write(handles::put(fault).map_or(std::ptr::null_mut(), |handle| handle as *mut dp_error));
    }
    code
}

/// Runs the body of a function that has no parameter for the error, and returns only the error code.
pub(super) fn code(body: impl FnOnce() -> Result<(), Fault>) -> i32 {
    caught(body).map_or_else(|fault| fault.code as i32, |()| Code::Ok as i32)
}

/// Turns a panic into an error, without printing a message.
fn caught(body: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
    static SILENT: Once = Once::new();
    // This library contains its own copy of the standard library, so the call does not replace a panic hook of the
    // program.
    SILENT.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    catch_unwind(AssertUnwindSafe(|| with_data_independent_timing(body))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Fault::new(Code::Panic, format!("{}: {text}", Code::Panic.message())))
    })
}

/// Refuses a NULL pointer whose length is not 0, and refuses a length that is larger than any memory.
fn check(pointer: *const u8, length: usize) -> Result<(), Fault> {
    match length {
        0 => Ok(()),
        _ if pointer.is_null() => Err(Fault::argument("a pointer is NULL, and its length is not 0")),
        _ if isize::try_from(length).is_err() => Err(Fault::argument("a length is longer than memory")),
        _ => Ok(()),
    }
}

/// Returns bytes of the caller.
// SAFETY: the pointer is NULL, or valid for reading `length` bytes, which nobody changes while the slice is in use.
pub(super) unsafe fn bytes<'a>(pointer: *const u8, length: usize) -> Result<&'a [u8], Fault> {
    check(pointer, length)?;
    Ok(if length == 0 { &[] } else { slice::from_raw_parts(pointer, length) })
}

/// Returns a buffer of the caller.
// SAFETY: the pointer is NULL, or valid for writing `length` bytes, which nobody else reads or writes while the slice
// is in use.
pub(super) unsafe fn buffer<'a>(pointer: *mut u8, length: usize) -> Result<&'a mut [u8], Fault> {
    check(pointer, length)?;
    Ok(if length == 0 { &mut [] } else { slice::from_raw_parts_mut(pointer, length) })
}

/// Memory of the caller. Other threads may write to this memory at the same time. This library only copies bytes from
/// this memory, and never makes a Rust reference to it.
#[derive(Clone, Copy)]
pub(super) struct CallerMemory {
    start: *const u8,
    length: usize,
}

// SAFETY: any thread may copy from this memory: see `shared`.
unsafe impl Sync for CallerMemory {}

/// Returns a view of the caller's memory; other threads may write to this memory at the same time.
// SAFETY: the pointer is NULL, or valid for reading `length` bytes while the result is used.
pub(super) unsafe fn shared(pointer: *const u8, length: usize) -> Result<CallerMemory, Fault> {
    check(pointer, length)?;
    Ok(CallerMemory { start: pointer, length })
}

impl ReadAt for CallerMemory {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let begin = usize::try_from(position).map_or(self.length, |position| position.min(self.length));
        let count = buffer.len().min(self.length - begin);
        if count > 0 {
            // SAFETY: the range lies in the caller's memory, which is valid for reading: see `shared`. This library's
            // own code owns the buffer, which has `count` bytes. If another thread writes at the same time, each copied
            // byte has its old or its new value, and the sealing code is safe with either value.
            unsafe { std::ptr::copy_nonoverlapping(self.start.add(begin), buffer.as_mut_ptr(), count) };
        }
        Ok(count)
    }
}

pub(super) fn apart(input: *const u8, length: usize, output: *const u8, room: usize) -> Result<(), Fault> {
    let (input, output) = (input as usize, output as usize);
    let overlap =
        length > 0 && room > 0 && input < output.saturating_add(room) && output < input.saturating_add(length);
    if overlap { Err(Fault::argument("the input and the buffer share memory")) } else { Ok(()) }
}

/// Returns a path of the caller.
// SAFETY: the pointer is NULL, or points to a text that ends with a zero. Nobody changes the text while the path is in
// use.
pub(super) unsafe fn path<'a>(pointer: *const c_char) -> Result<&'a Path, Fault> {
    as_path(text(pointer, "a path")?)
}

#[cfg(unix)]
fn as_path(bytes: &[u8]) -> Result<&Path, Fault> {
    Ok(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)))
}

/// On Windows, paths are UTF-8, as all texts are.
#[cfg(windows)]
fn as_path(bytes: &[u8]) -> Result<&Path, Fault> {
    str::from_utf8(bytes).map(Path::new).map_err(|_| Fault::argument("a path is not UTF-8"))
}

/// Returns a text of the caller, without the zero at its end. `what` names the text in the error for NULL.
// SAFETY: as for `path`.
pub(super) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a [u8], Fault> {
    if pointer.is_null() {
        return Err(Fault::argument(format!("{what} is NULL")));
    }
    Ok(CStr::from_ptr(pointer).to_bytes())
}

/// Writes a result.
// SAFETY: the pointer is NULL, or valid for writing.
pub(super) unsafe fn set<T>(pointer: *mut T, value: T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::argument("the pointer for a result is NULL"));
    }
    pointer.write(value);
    Ok(())
}

/// Sets the caller's variable for a handle to NULL. If the pointer to the variable is NULL, fails before it makes a
/// handle.
// SAFETY: the pointer is NULL, or valid for writing.
pub(super) unsafe fn ready<T>(pointer: *mut *mut T) -> Result<(), Fault> {
    set(pointer, std::ptr::null_mut())
}

/// Makes a handle.
// SAFETY: the pointer is NULL, or valid for writing.
pub(super) unsafe fn give<T>(pointer: *mut *mut T, value: impl Any + Send + Sync) -> Result<(), Fault> {
    set(pointer, handles::put(value)? as *mut T)
}

/// Returns the value of a handle.
pub(super) fn held<H: Any + Send + Sync, T>(handle: *const T) -> Result<Arc<H>, Fault> {
    handles::get(handle as usize)
}

pub(super) fn maybe<H: Any + Send + Sync, T>(handle: *const T) -> Result<Option<Arc<H>>, Fault> {
    if handle.is_null() { Ok(None) } else { held(handle).map(Some) }
}

/// Copies a result to the caller's buffer, and writes the length of the result to `length`. The length is written even
/// if the buffer is too small.
// SAFETY: the pointers are NULL, or valid for writing. `pointer` is valid for writing `room` bytes.
pub(super) unsafe fn copy(value: &[u8], pointer: *mut u8, room: usize, length: *mut usize) -> Result<(), Fault> {
    set(length, value.len())?;
    let buffer = buffer(pointer, room)?;
    let Some(buffer) = buffer.get_mut(..value.len()) else { return Err(small(value.len())) };
    buffer.copy_from_slice(value);
    Ok(())
}

pub(super) fn small(needed: usize) -> Fault {
    Fault::new(Code::Room, format!("{}: it needs {needed} bytes", Code::Room.message()))
}
