//! The arguments that name recipients and keys.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString, PyTuple};

use crate::errors::exception;
use crate::keys::{Passphrase, PrivateKey, PublicKey, Session};
use deadpan_bind::{Fault, public_keys};
use deadpan_seal::{Cost, Error, Format, Identity, Level, MaxCost, Recipient, Sealing};

/// Options of sealing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) age: bool,
    pub(crate) hide_length: bool,
    pub(crate) allow_mixed: bool,
    /// The level of compression.
    pub(crate) compress: Option<u8>,
}

/// Returns the recipients that a value stands for: one recipient, or all keys of a text. Returns `None` if the value
/// stands for no recipient.
fn recipients(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Recipient>>> {
    let one = |recipient| Ok(Some(vec![recipient]));
    if let Ok(key) = value.cast::<PublicKey>() {
        return one(Recipient::Key(key.get().0.clone()));
    }
    if let Ok(key) = value.cast::<PrivateKey>() {
        return one(Recipient::Key(key.get().0.public().clone()));
    }
    if let Ok(passphrase) = value.cast::<Passphrase>() {
        return one(Recipient::Passphrase(passphrase.get().0.clone(), Cost::default()));
    }
    if let Ok(session) = value.cast::<Session>() {
        return one(session.get().0.recipient());
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        let text = crate::buffer::text(value)?;
        let keys = public_keys(&text).map_err(|fault| exception(advised(fault, advice(&text))))?;
        return Ok(Some(keys.into_iter().map(Recipient::Key).collect()));
    }
    Ok(None)
}

/// Returns the `Sealing` for one or several recipients.
pub(crate) fn sealing(to: &Bound<'_, PyAny>, options: Options) -> PyResult<Sealing> {
    let all = match recipients(to)? {
        Some(all) => all,
        None => {
            let mut all = Vec::new();
            for value in to.try_iter().map_err(|error| instead(to, error, "recipient"))? {
                let value = value?;
                all.extend(recipients(&value)?.ok_or_else(|| wrong(&value, "recipient"))?);
            }
            all
        }
    };
    let sealing = if options.allow_mixed { Sealing::mixed(all) } else { Sealing::to(all) };
    let format = if options.age { Format::Age } else { Format::Deadpan };
    let level =
        options.compress.map(|level| Level::new(level).map_err(|error| PyValueError::new_err(error.to_string())));
    let level = level.transpose()?;
    sealing
        .and_then(|sealing| sealing.hide_length(options.hide_length).format(format))
        .map(|sealing| match level {
            Some(level) => sealing.compress(level),
            None => sealing,
        })
        .map_err(|error| {
            let advice = if matches!(error, Error::Mixed(_)) { "; allow_mixed=True allows it" } else { "" };
            exception(advised(error.into(), advice))
        })
}

const READ_IT: &str = "; if it is a path, read the file: pathlib.Path(path).read_bytes()";

/// Returns advice for a text that is not a key but may be the path of a key file. Texts of keys are longer than paths,
/// or contain a line feed or a typical beginning.
pub(crate) fn advice(text: &[u8]) -> &'static str {
    let is_key = text.contains(&b'\n') || text.starts_with(b"-----") || text.to_ascii_lowercase().starts_with(b"age");
    if is_key || text.len() > 1000 { "" } else { READ_IT }
}

/// Adds advice to an error.
pub(crate) fn advised(fault: Fault, advice: &str) -> Fault {
    Fault { text: fault.text + advice, ..fault }
}

fn identity(value: &Bound<'_, PyAny>) -> Option<Identity> {
    if let Ok(key) = value.cast::<PrivateKey>() {
        return Some(Identity::Key(key.get().0.clone()));
    }
    if let Ok(passphrase) = value.cast::<Passphrase>() {
        return Some(Identity::Passphrase(passphrase.get().0.clone()));
    }
    value.cast::<Session>().ok().map(|session| Identity::Session(session.get().0.clone()))
}

/// The argument `max_cost`: a tuple of the memory in KiB and the passes, such as `deadpan.MaxCost`.
#[derive(Clone, Copy)]
pub(crate) struct Limit(MaxCost);

impl<'py> FromPyObject<'_, 'py> for Limit {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let is_pair = value.cast::<PyTuple>().is_ok_and(|tuple| tuple.len() == 2);
        let numbers = if is_pair { value.extract::<(Bound<'py, PyInt>, Bound<'py, PyInt>)>().ok() } else { None };
        let (memory, passes) = numbers.ok_or_else(|| {
            PyTypeError::new_err("max_cost is a deadpan.MaxCost(memory, passes): whole numbers, the memory in KiB")
        })?;
        match (memory.extract(), passes.extract()) {
            (Ok(memory), Ok(passes)) => Ok(Self(MaxCost::new(memory, passes))),
            _ => Err(PyValueError::new_err(format!(
                "{memory} KiB and {passes} passes are no limit: both are 0 to {}",
                u32::MAX
            ))),
        }
    }
}

/// Returns one key or several keys, with a limit on the memory and work for trying passphrases and sessions.
pub(crate) fn identities(keys: &Bound<'_, PyAny>, max_cost: Option<Limit>) -> PyResult<Vec<Identity>> {
    let all = unlimited(keys)?;
    Ok(match max_cost {
        Some(Limit(max)) => all.into_iter().map(|one| one.with_max_cost(max)).collect(),
        None => all,
    })
}

fn unlimited(keys: &Bound<'_, PyAny>) -> PyResult<Vec<Identity>> {
    if let Some(one) = identity(keys) {
        return Ok(vec![one]);
    }
    if keys.is_instance_of::<PyString>() || keys.is_instance_of::<PyBytes>() {
        return Err(wrong(keys, "key"));
    }
    keys.try_iter()
        .map_err(|error| instead(keys, error, "key"))?
        .map(|value| value.and_then(|value| identity(&value).ok_or_else(|| wrong(&value, "key"))))
        .collect()
}

/// Returns the exception for a value that cannot be iterated. Exceptions of the value's own `__iter__` are not
/// replaced.
fn instead(value: &Bound<'_, PyAny>, error: PyErr, what: &str) -> PyErr {
    if error.is_instance_of::<PyTypeError>(value.py()) { wrong(value, what) } else { error }
}

fn wrong(value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    if what == "key" && value.is_instance_of::<PublicKey>() {
        return PyTypeError::new_err("a public key opens nothing: a private key is needed");
    }
    let name = value.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
    let is_text = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    let is_path = value.hasattr("__fspath__").unwrap_or(false);
    let advice = match what {
        "key" if is_text || is_path => "; read the file with deadpan.PrivateKey.read(pathlib.Path(path).read_bytes())",
        _ if is_path => READ_IT,
        _ => "",
    };
    PyTypeError::new_err(format!("{name} is no {what}{advice}"))
}
