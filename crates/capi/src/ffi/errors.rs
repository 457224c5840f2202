//! Errors, and the version.

use std::ffi::c_char;

use super::border::{code, copy, held};
use super::kinds::dp_error;
use deadpan_bind::{Code, Fault};

/// Returns the version of the library.
// SAFETY: no other library exports a name with this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn dp_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

macro_rules! messages {
    ($($name:ident)*) => {
        fn message(code: Code) -> &'static std::ffi::CStr {
            match code {
                $( Code::$name => const {
                    const TEXT: &[u8] = Code::$name.message().as_bytes();
                    const ENDED: [u8; TEXT.len() + 1] = {
                        let mut ended = [0; TEXT.len() + 1];
                        let mut place = 0;
                        while place < TEXT.len() {
                            ended[place] = TEXT[place];
                            place += 1;
                        }
                        ended
                    };
                    match std::ffi::CStr::from_bytes_with_nul(&ENDED) {
                        Ok(text) => text,
                        Err(_) => panic!("a message with a zero in it"),
                    }
                }, )*
                _ => c"an unknown error",
            }
        }
    };
}

messages!(Ok Argument Room Handle Busy Stopped Panic Exists NotSealed Newer Truncated Tampered Limit Signature Encoding
    NoKey Passphrase Costly Key Locked Read Write System);

/// Returns the message of a code.
// SAFETY: no other library exports a name with this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn dp_message(code: i32) -> *const c_char {
    Code::from_number(code).map_or(c"an unknown error", message).as_ptr()
}

/// Returns the code of an error.
// SAFETY: no other library exports a name with this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn dp_error_code(error: *const dp_error) -> i32 {
    held::<Fault, _>(error).map_or_else(|fault| fault.code as i32, |fault| fault.code as i32)
}

/// Returns the errno of an error that the system reported, and 0 for other errors.
// SAFETY: no other library exports a name with this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn dp_error_errno(error: *const dp_error) -> i32 {
    held::<Fault, _>(error).map_or(0, |fault| fault.errno.unwrap_or(0))
}

/// Copies the text of an error.
// SAFETY: no other library exports a name with this prefix; the caller fulfills the requirements in deadpan.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dp_error_text(
    error: *const dp_error,
    text: *mut c_char,
    room: usize,
    length: *mut usize,
) -> i32 {
    code(|| copy(held::<Fault, _>(error)?.text.as_bytes(), text.cast(), room, length))
}

frees! {
    /// Frees an error.
    dp_error_free(dp_error => Fault);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_message() {
        for code in Code::ALL {
            assert_eq!(message(*code).to_str(), Ok(code.message()));
        }
    }
}
