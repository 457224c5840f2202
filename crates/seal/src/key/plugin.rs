//! The lines for recipients and identities of age's plugins. The name of a plugin becomes part of the name of a
//! program, so this module checks the name of the plugin strictly.

use std::fmt;

use super::bech32::{self, Case};
use crate::Secret;

const RECIPIENT: &str = "age1";
const IDENTITY: &str = "age-plugin-";
/// The longest name of a plugin. File systems limit the names of programs to 255 bytes.
const LONGEST: usize = 128;

/// The reason why a text is not a recipient or an identity of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// The text does not begin like a recipient or an identity of a plugin.
    #[error("not a recipient or an identity of a plugin")]
    Prefix,
    /// The name of the plugin contains a character that is not allowed, or is too long.
    #[error("the name of the plugin is not valid")]
    Name,
    /// The text has a wrong character, checksum or length.
    #[error("the text is damaged")]
    Damaged,
}

/// The name of a plugin, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PluginName(String);

impl PluginName {
    fn new(text: &str) -> Result<Self, InvalidName> {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-._".contains(&byte);
        let valid = (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_allowed);
        if valid { Ok(Self(text.to_owned())) } else { Err(InvalidName::Name) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn program(&self) -> String {
        format!("age-plugin-{}", self.0)
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A line with a recipient of a plugin. [`plugin::Recipient`](crate::plugin::Recipient) seals files to a recipient of a
/// plugin.
#[derive(Clone, Debug)]
pub struct PluginRecipient {
    pub(crate) name: PluginName,
    /// The line in lower case.
    text: String,
}

impl PluginRecipient {
    /// Reads a recipient, such as `age1yubikey1…`, in lower or upper case.
    ///
    /// # Errors
    /// If the text is not Bech32, its prefix is not `age1NAME`, or `NAME` is not the name of a plugin.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let (prefix, case) = prefix(text.as_bytes())?;
        let name = prefix.strip_prefix(RECIPIENT).ok_or(InvalidName::Prefix)?;
        let name = PluginName::new(name)?;
        bech32::decode(&prefix, case, &text.as_bytes()[prefix.len() + 1..]).ok_or(InvalidName::Damaged)?;
        Ok(Self { name, text: text.to_ascii_lowercase() })
    }

    /// Returns the name of the plugin, in lower case, without `age-plugin-`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns the line, in lower case.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A line with an identity of a plugin. [`plugin::Identity`](crate::plugin::Identity) opens files with an identity of a
/// plugin.
#[derive(Clone)]
pub struct PluginIdentity {
    pub(crate) name: PluginName,
    /// The line in upper case.
    pub(crate) text: Secret,
}

impl fmt::Debug for PluginIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PluginIdentity({})", self.name)
    }
}

impl PluginIdentity {
    /// Reads an identity, such as `AGE-PLUGIN-YUBIKEY-1…`, in upper or lower case. May leak: the name of the plugin,
    /// the length, and whether the text is valid.
    ///
    /// # Errors
    /// If the text is not Bech32, its prefix is not `AGE-PLUGIN-NAME-`, or `NAME` is not the name of a plugin.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidName> {
        let (prefix, case) = prefix(text)?;
        let name = prefix.strip_prefix(IDENTITY).and_then(|name| name.strip_suffix('-')).ok_or(InvalidName::Prefix)?;
        let name = PluginName::new(name)?;
        let data = bech32::decode(&prefix, case, &text[prefix.len() + 1..]).ok_or(InvalidName::Damaged)?;
        Ok(Self { name, text: bech32::encode(&prefix.to_ascii_uppercase(), Case::Upper, &data) })
    }

    /// Returns the name of the plugin, in lower case, without `age-plugin-`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }
}

/// Returns the prefix of a Bech32 line in lower case, and the case of the line.
fn prefix(text: &[u8]) -> Result<(String, Case), InvalidName> {
    // BIP 173: the last `1` of the text is the separator, because the data contain no `1`.
    let end = text.iter().rposition(|byte| *byte == b'1').ok_or(InvalidName::Prefix)?;
    let prefix = str::from_utf8(&text[..end]).map_err(|_| InvalidName::Prefix)?;
    let case = Case::from_prefix(prefix.as_bytes()).ok_or(InvalidName::Prefix)?;
    Ok((prefix.to_ascii_lowercase(), case))
}
