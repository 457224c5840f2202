//! Names of plugins, and the lines that contain them. A name becomes the name of a program, so it is checked strictly.

use std::fmt;

use super::error::{InvalidName, PluginError, Reason};
use crate::Secret;
use crate::key::bech32::{self, Case};

const RECIPIENT: &str = "age1";
const IDENTITY: &str = "age-plugin-";
/// The longest name. File systems limit the names of programs to 255 bytes.
const LONGEST: usize = 128;

/// The name of a plugin, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(String);

impl Name {
    fn new(text: &str) -> Result<Self, InvalidName> {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-._".contains(&byte);
        let valid = (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_allowed);
        if valid { Ok(Self(text.to_owned())) } else { Err(InvalidName::Name) }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the program.
    pub(super) fn program(&self) -> String {
        format!("age-plugin-{}", self.0)
    }

    pub(super) fn failed(&self, reason: Reason) -> PluginError {
        PluginError::new(self.program(), reason)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads `age1NAME1…`. Returns the name, and the line in lower case.
pub(super) fn recipient(text: &str) -> Result<(Name, String), InvalidName> {
    let (prefix, case) = prefix(text.as_bytes())?;
    let name = prefix.strip_prefix(RECIPIENT).ok_or(InvalidName::Prefix)?;
    let name = Name::new(name)?;
    bech32::decode(&prefix, case, &text.as_bytes()[prefix.len() + 1..]).ok_or(InvalidName::Damaged)?;
    Ok((name, text.to_ascii_lowercase()))
}

/// Reads `AGE-PLUGIN-NAME-1…`. Returns the name, and the line in upper case.
pub(super) fn identity(text: &[u8]) -> Result<(Name, Secret), InvalidName> {
    let (prefix, case) = prefix(text)?;
    let name = prefix.strip_prefix(IDENTITY).and_then(|name| name.strip_suffix('-')).ok_or(InvalidName::Prefix)?;
    let name = Name::new(name)?;
    let data = bech32::decode(&prefix, case, &text[prefix.len() + 1..]).ok_or(InvalidName::Damaged)?;
    Ok((name, bech32::encode(&prefix.to_ascii_uppercase(), Case::Upper, &data)))
}

/// Returns the prefix of a line of Bech32 in lower case, and the case that the line has.
fn prefix(text: &[u8]) -> Result<(String, Case), InvalidName> {
    // BIP 173: the last `1` is the separator, because the data have no `1`.
    let end = text.iter().rposition(|byte| *byte == b'1').ok_or(InvalidName::Prefix)?;
    let prefix = str::from_utf8(&text[..end]).map_err(|_| InvalidName::Prefix)?;
    let case = Case::of(prefix.as_bytes()).ok_or(InvalidName::Prefix)?;
    Ok((prefix.to_ascii_lowercase(), case))
}
