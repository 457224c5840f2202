//! What data are sealed to, and opened with.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{exception, raised};
use crate::keys::{Passphrase, PrivateKey, PublicKey, Session};
use deadpan_seal::{Cost, Format, Identity, Recipient, Sealing};

/// Options of sealing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) age: bool,
    pub(crate) hide_length: bool,
    pub(crate) mixed: bool,
}

/// Returns one recipient: a key, a passphrase, a session, or the text of a key.
fn recipient(value: &Bound<'_, PyAny>) -> PyResult<Option<Recipient>> {
    if let Ok(key) = value.cast::<PublicKey>() {
        return Ok(Some(Recipient::Key(key.get().0.clone())));
    }
    if let Ok(key) = value.cast::<PrivateKey>() {
        return Ok(Some(Recipient::Key(key.get().0.public().clone())));
    }
    if let Ok(passphrase) = value.cast::<Passphrase>() {
        return Ok(Some(Recipient::Passphrase(passphrase.get().0.clone(), Cost::default())));
    }
    if let Ok(session) = value.cast::<Session>() {
        return Ok(Some(session.get().0.recipient()));
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        let text = crate::buffer::text(value)?;
        return PublicKey::parse(&text).map(|key| Some(Recipient::Key(key))).map_err(exception);
    }
    Ok(None)
}

/// Returns the sealing for one recipient or several.
pub(crate) fn sealing(to: &Bound<'_, PyAny>, options: Options) -> PyResult<Sealing> {
    let mut recipients = Vec::new();
    match recipient(to)? {
        Some(one) => recipients.push(one),
        None => {
            for value in to.try_iter().map_err(|_| wrong(to, "recipient"))? {
                let value = value?;
                recipients.push(recipient(&value)?.ok_or_else(|| wrong(&value, "recipient"))?);
            }
        }
    }
    let sealing = if options.mixed { Sealing::mixed(recipients) } else { Sealing::to(recipients) };
    let format = if options.age { Format::Age } else { Format::Deadpan };
    sealing.and_then(|sealing| sealing.hide_length(options.hide_length).format(format)).map_err(raised)
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

/// Returns one key or several.
pub(crate) fn identities(keys: &Bound<'_, PyAny>) -> PyResult<Vec<Identity>> {
    if let Some(one) = identity(keys) {
        return Ok(vec![one]);
    }
    keys.try_iter()
        .map_err(|_| wrong(keys, "key"))?
        .map(|value| value.and_then(|value| identity(&value).ok_or_else(|| wrong(&value, "key"))))
        .collect()
}

fn wrong(value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let name = value.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} is no {what}"))
}
