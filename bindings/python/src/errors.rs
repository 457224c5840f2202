//! Errors as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyFileExistsError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use deadpan_bind::{Code, Fault};

macro_rules! exceptions {
    ($($name:ident: $base:ident, $text:literal;)*) => {
        $( create_exception!(deadpan, $name, $base, $text); )*

        pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $( module.add(stringify!($name), module.py().get_type::<$name>())?; )*
            Ok(())
        }
    };
}

exceptions! {
    Error: PyException, "What can go wrong with sealed data and keys.";
    NotSealedError: Error, "The data are not sealed.";
    NewerError: Error, "The data were sealed by a newer version.";
    TamperedError: Error, "The data are damaged, or were changed after sealing.";
    TruncatedError: TamperedError, "The sealed data end too early.";
    SignatureError: TamperedError, "A signature is wrong or missing.";
    LimitError: Error, "The data ask for more memory or work than is allowed.";
    NoKeyError: Error, "No key opens the data.";
    PassphraseError: NoKeyError, "The passphrase is wrong.";
    CostlyError: NoKeyError, "Trying the passphrase costs more than is allowed.";
    InvalidKeyError: Error, "The key is damaged, or is no key.";
    LockedKeyError: InvalidKeyError, "The private key is protected by a passphrase.";
    StoppedError: Error, "The work was stopped before its end.";
}

/// Returns the exception for an error.
pub(crate) fn exception(fault: Fault) -> PyErr {
    let text = fault.text;
    match fault.code {
        Code::Argument | Code::Room | Code::Encoding => PyValueError::new_err(text),
        // If the system gave an error number, Python chooses the class of the exception: FileNotFoundError,
        // PermissionError, …
        Code::Read | Code::Write | Code::Exists => match (fault.errno, fault.path) {
            (Some(errno), Some(path)) => PyOSError::new_err((errno, reason(errno), path.into_os_string())),
            (Some(errno), None) => PyOSError::new_err((errno, text)),
            (None, _) if fault.code == Code::Exists => PyFileExistsError::new_err(text),
            (None, _) => PyOSError::new_err(text),
        },
        Code::NotSealed => NotSealedError::new_err(text),
        Code::Newer => NewerError::new_err(text),
        Code::Truncated => TruncatedError::new_err(text),
        Code::Tampered => TamperedError::new_err(text),
        Code::Limit => LimitError::new_err(text),
        Code::Signature => SignatureError::new_err(text),
        Code::NoKey => NoKeyError::new_err(text),
        Code::Passphrase => PassphraseError::new_err(text),
        Code::Costly => CostlyError::new_err(text),
        Code::Key => InvalidKeyError::new_err(text),
        Code::Locked => LockedKeyError::new_err(text),
        Code::Stopped => StoppedError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

fn reason(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.rsplit_once(" (os error").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

pub(crate) fn raised(error: impl Into<Fault>) -> PyErr {
    exception(error.into())
}
