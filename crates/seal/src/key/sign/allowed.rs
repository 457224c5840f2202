//! The file `allowed_signers` of `ssh-keygen -Y`: a list of people and their keys.
//!
//! ```text
//! # people           options                                                          key
//! alice@example.com  namespaces="file,git",valid-after="20260101Z",valid-before="20270101Z" ssh-ed25519 AAAA… laptop
//! *@example.com,!mallory@example.com  ssh-mldsa44-ed25519 AAAA…
//! ```
//!
//! The reader checks lines with keys of unsupported kinds, such as RSA, but these lines never match. The reader refuses
//! the option `cert-authority`, because a reader that ignores this option accepts fewer people than the file lists.
//!
//! ```
//! use deadpan_seal::sign::{Allowed, Scheme, SigningKey};
//!
//! let line = "alice namespaces=\"file\" \
//!             ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
//! let allowed = Allowed::read(line.as_bytes())?;
//! let stranger = SigningKey::generate(Scheme::Ed25519)?;
//! assert!(allowed.principals(stranger.public(), "file", 1_800_000_000).is_empty());
//! # Ok::<(), deadpan_seal::Error>(())
//! ```

mod line;
mod pattern;
mod time;

use std::ops::RangeInclusive;

use super::{SignError, VerifyingKey};
use crate::Error;

/// The longest file that the reader accepts.
const MAX_LEN: usize = 1 << 20;

/// The people and keys that an `allowed_signers` file lists.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    entries: Vec<AllowedSigner>,
}

/// A line of the file.
#[derive(Clone, Debug)]
struct AllowedSigner {
    /// The patterns for the people, separated by commas.
    principals: String,
    /// The patterns for the namespaces, separated by commas. If this field is `None`, all namespaces are allowed.
    namespaces: Option<String>,
    /// The period in which the key is valid, in seconds since 1970.
    valid: RangeInclusive<i64>,
    /// The key, or `None` if the kind of the key is not supported.
    key: Option<VerifyingKey>,
}

impl Allowed {
    /// Reads a file. Interprets times without a `Z` as UTC times. For local times, see [`Allowed::read_in`].
    ///
    /// # Errors
    /// [`SignError::AllowedSigners`] if a line is not valid.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        Self::read_in(text, |time| time)
    }

    /// Reads a file. Interprets times without a `Z` as local times, as `ssh-keygen` does. The function `zone` converts
    /// local time to UTC: it gets the seconds since the start of 1970 by the local clock, and returns the seconds since
    /// 1970 in UTC.
    ///
    /// # Errors
    /// [`SignError::AllowedSigners`] if a line is not valid.
    pub fn read_in(text: &[u8], zone: impl Fn(i64) -> i64) -> Result<Self, Error> {
        if text.len() > MAX_LEN {
            return Err(SignError::AllowedSigners { line: 1, what: "the file is longer than 1 MiB".into() }.into());
        }
        let mut entries = Vec::new();
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let entry = match str::from_utf8(line) {
                Ok(line) => line::read(line, &zone),
                Err(_) => Err("not UTF-8 text".into()),
            };
            match entry {
                Ok(entry) => entries.extend(entry),
                Err(what) => return Err(SignError::AllowedSigners { line: number + 1, what }.into()),
            }
        }
        Ok(Self { entries })
    }

    /// Returns the people to whom a key belongs, for signatures in the given namespace at the given time. The time is
    /// in seconds since 1970. The result contains the patterns of the file in the file's order; a pattern may contain
    /// wildcards. Negated patterns are omitted.
    #[must_use]
    pub fn principals(&self, key: &VerifyingKey, namespace: &str, time: i64) -> Vec<&str> {
        let mut people = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.allows(key, namespace, time)) {
            let patterns = entry.principals.split(',').filter(|pattern| !pattern.starts_with('!'));
            patterns.for_each(|pattern| {
                if !people.contains(&pattern) {
                    people.push(pattern);
                }
            });
        }
        people
    }

    /// Returns whether a key belongs to a person, for signatures in the given namespace at the given time. The time is
    /// in seconds since 1970.
    #[must_use]
    pub fn permits(&self, principal: &str, key: &VerifyingKey, namespace: &str, time: i64) -> bool {
        self.entries
            .iter()
            .any(|entry| pattern::list(&entry.principals, principal) && entry.allows(key, namespace, time))
    }

    /// Returns all keys of the file, in the order of the file, regardless of namespaces and times.
    pub fn all_keys(&self) -> impl Iterator<Item = &VerifyingKey> {
        self.entries.iter().filter_map(|entry| entry.key.as_ref())
    }

    /// Returns the keys of a person, in the order of the file, regardless of namespaces and times.
    #[must_use]
    pub fn keys(&self, principal: &str) -> Vec<&VerifyingKey> {
        let entries = self.entries.iter().filter(|entry| pattern::list(&entry.principals, principal));
        entries.filter_map(|entry| entry.key.as_ref()).collect()
    }
}

impl AllowedSigner {
    fn allows(&self, key: &VerifyingKey, namespace: &str, time: i64) -> bool {
        self.key.as_ref() == Some(key)
            && self.namespaces.as_ref().is_none_or(|patterns| pattern::list(patterns, namespace))
            && self.valid.contains(&time)
    }
}

#[cfg(test)]
mod tests;
