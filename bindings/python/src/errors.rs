//! Errors as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyFileExistsError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use deadpan_bind::{Code, Fault};

create_exception!(deadpan, Error, PyException, "What can go wrong with sealed data and keys.");
create_exception!(deadpan, NotSealedError, Error, "The data are not sealed.");
create_exception!(deadpan, NewerError, Error, "The data were sealed by a newer version.");
create_exception!(deadpan, TamperedError, Error, "The data are damaged, or were changed after sealing.");
create_exception!(deadpan, TruncatedError, TamperedError, "The sealed data end too early.");
create_exception!(deadpan, SignatureError, TamperedError, "A signature is wrong or missing.");
create_exception!(deadpan, LimitError, Error, "The data ask for more memory or work than is allowed.");
create_exception!(deadpan, NoKeyError, Error, "No key opens the data.");
create_exception!(deadpan, PassphraseError, NoKeyError, "The passphrase is wrong.");
create_exception!(deadpan, CostlyError, NoKeyError, "Trying the passphrase costs more than is allowed.");
create_exception!(deadpan, InvalidKeyError, Error, "The key is damaged, or is no key.");
create_exception!(deadpan, LockedKeyError, InvalidKeyError, "The private key is protected by a passphrase.");
create_exception!(deadpan, StoppedError, Error, "The progress callback stopped the work.");

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, exception) in [
        ("Error", py.get_type::<Error>()),
        ("NotSealedError", py.get_type::<NotSealedError>()),
        ("NewerError", py.get_type::<NewerError>()),
        ("TamperedError", py.get_type::<TamperedError>()),
        ("TruncatedError", py.get_type::<TruncatedError>()),
        ("SignatureError", py.get_type::<SignatureError>()),
        ("LimitError", py.get_type::<LimitError>()),
        ("NoKeyError", py.get_type::<NoKeyError>()),
        ("PassphraseError", py.get_type::<PassphraseError>()),
        ("CostlyError", py.get_type::<CostlyError>()),
        ("InvalidKeyError", py.get_type::<InvalidKeyError>()),
        ("LockedKeyError", py.get_type::<LockedKeyError>()),
        ("StoppedError", py.get_type::<StoppedError>()),
    ] {
        module.add(name, exception)?;
    }
    Ok(())
}

/// Returns the exception for an error.
pub(crate) fn exception(fault: Fault) -> PyErr {
    let text = fault.text;
    match fault.code {
        Code::Argument | Code::Room | Code::Encoding => PyValueError::new_err(text),
        Code::Exists => PyFileExistsError::new_err(text),
        // With a number of the system, Python chooses the class: FileNotFoundError, PermissionError, …
        Code::Read | Code::Write => match fault.errno {
            Some(errno) => PyOSError::new_err((errno, text)),
            None => PyOSError::new_err(text),
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

/// Returns the exception for an error of the engine.
pub(crate) fn raised(error: impl Into<Fault>) -> PyErr {
    exception(error.into())
}
