//! Public keys of SSH. Each line holds one key: the name of the algorithm, the key in base64, and a comment.
//!
//! May leak: everything, because all keys in this module are public.

use super::Found;
use super::error::Trouble;
use super::openssh::{SshKind, line};
use super::text::starts_with;
use crate::Error;
use crate::key::sign::{Scheme, SignError, VerifyingKey};
use deadpan_ct::declassify_bytes;

/// Returns the key in a line, or `None` if the line does not begin with the name of a known algorithm.
pub(super) fn key(line: &[u8]) -> Result<Option<Found>, Trouble> {
    if ![&b"ssh-"[..], b"sk-ssh-"].iter().any(|prefix| starts_with(line, prefix)) {
        return Ok(None);
    }
    let Ok(line) = str::from_utf8(declassify_bytes(line)) else { return Ok(None) };
    let name = line.split_ascii_whitespace().next();
    if name == Some(SshKind::Rsa.name()) {
        return Ok(line::read(line)?.map(|(key, _)| Found::Ssh(key)));
    }
    if name.and_then(Scheme::from_ssh_name).is_none() {
        return Ok(None);
    }
    match VerifyingKey::from_line(line) {
        Ok(key) => Ok(Some(Found::Verifying(key))),
        Err(Error::Sign(SignError::Malformed(_))) => Err(Trouble::Malformed("the SSH key is damaged")),
        Err(_) => Err(Trouble::Malformed("the SSH key is not a valid one of its kind")),
    }
}
