//! age's plugins. Plugins are programs named `age-plugin-NAME` that wrap and unwrap file keys, mostly with hardware.
//!
//! A [`Recipient`] is a line `age1NAME1…`, or a plugin's identity to which files are sealed. An [`Identity`] is a line
//! `AGE-PLUGIN-NAME-1…`. The protocol is specified in C2SP's age-plugin. The client starts the program, and sends it
//! recipients, identities, keys and stanzas. The client then answers the plugin's commands until the plugin is done.
//! Keys and stanzas are sent as text over two pipes.
//!
//! The library itself never asks the user. A [`Client`] holds the [`Dialog`] that answers a plugin's questions. The
//! client also holds the time after which a silent plugin is stopped. A plugin runs with all rights of the user. This
//! module protects against plugins that fail, but not against plugins that attack.
//!
//! ```no_run
//! use deadpan_seal::{Header, Identity, Recipient, Sealing, plugin};
//!
//! let line = "age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt";
//! let recipient = plugin::Recipient::parse(line)?;
//! let sealed = Sealing::to(vec![Recipient::Plugin(recipient)])?.seal(b"straight face")?;
//!
//! let identity = plugin::Identity::parse(b"AGE-PLUGIN-YUBIKEY-1QYPQXPQ9QCRSSZG8EK8KC")?;
//! let opened = Header::read(&sealed[..])?.open(&[Identity::Plugin(identity)])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod dialog;
mod error;
mod frames;
mod process;
mod search;
pub(crate) mod stanzas;
mod tag;
mod talk;
#[cfg(test)]
mod tests;
mod text;
mod unwrap;
mod wrap;

pub use crate::key::plugin::InvalidName;
pub use client::Client;
pub use dialog::{Answer, Dialog, Question};
pub use error::{About, PluginError, Reason};
pub use process::Process;
pub use tag::Tag;
pub use talk::Pipe;
pub use wrap::Wrapping;

use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::Secret;
use crate::format::age::AgeStanza;
use crate::format::deadpan::recipient::Prepared;
use crate::key::plugin::{PluginIdentity, PluginName, PluginRecipient};

/// The number of bytes in a key that a plugin wraps.
pub const KEY: usize = 16;

/// A recipient whose plugin wraps the key.
#[derive(Clone)]
pub struct Recipient {
    address: Address,
    client: Client,
    /// A key for one file that the plugin has already wrapped.
    pub(crate) prepared: Option<Arc<Prepared>>,
    /// Keys that the plugin has already wrapped and that no file uses yet.
    ahead: Arc<Mutex<Vec<Arc<Prepared>>>>,
}

/// The recipient or identity for which the plugin wraps keys.
#[derive(Clone)]
enum Address {
    Recipient(PluginRecipient),
    Identity(PluginIdentity),
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin::Recipient({})", self.name())
    }
}

impl Recipient {
    /// Reads a recipient, such as `age1yubikey1…`, in lower or upper case.
    ///
    /// # Errors
    /// If the text is not Bech32, its prefix is not `age1NAME`, or `NAME` is not the name of a plugin.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        PluginRecipient::parse(text).map(Self::from)
    }

    fn to(address: Address) -> Self {
        Self { address, client: Client::default(), prepared: None, ahead: Arc::default() }
    }

    fn plugin(&self) -> &PluginName {
        match &self.address {
            Address::Recipient(recipient) => &recipient.name,
            Address::Identity(identity) => &identity.name,
        }
    }

    /// Returns the name of the plugin, in lower case, without `age-plugin-`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.plugin().as_str()
    }

    /// Returns the recipient as a line of text. Returns `None` if the recipient is an identity, because an identity is
    /// secret.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.address {
            Address::Recipient(recipient) => Some(recipient.text()),
            Address::Identity(_) => None,
        }
    }

    /// Sets the client that talks to the plugin and to the user.
    #[must_use]
    pub fn with(self, client: Client) -> Self {
        Self { client, ..self }
    }

    /// Starts the plugin, and lets it wrap each key.
    ///
    /// # Errors
    /// If there is no such plugin, or if the plugin fails, breaks the protocol, or refuses the recipient.
    pub fn wrap(&self, keys: &[Secret]) -> Result<Wrapping, PluginError> {
        let run = |pipe: &mut dyn Pipe| self.wrap_through(pipe, keys);
        process::run(self.plugin(), &self.client, "recipient-v1", run).map_err(|reason| self.failed(reason))
    }

    /// Wraps keys with a plugin that is already running at the other end of `pipe`.
    ///
    /// # Errors
    /// If the plugin fails, breaks the protocol, or refuses the recipient.
    pub fn wrap_over(&self, pipe: &mut dyn Pipe, keys: &[Secret]) -> Result<Wrapping, PluginError> {
        self.wrap_through(pipe, keys).map_err(|reason| self.failed(reason))
    }

    pub(crate) fn with_prepared(&self, prepared: Arc<Prepared>) -> Self {
        Self { prepared: Some(prepared), ..self.clone() }
    }

    pub(crate) fn ahead(&self) -> MutexGuard<'_, Vec<Arc<Prepared>>> {
        self.ahead.lock()
    }

    /// Returns the error for a file with other recipients that do not have the labels of this recipient.
    pub(crate) fn incompatible(&self, labels: &[String]) -> PluginError {
        self.failed(Reason::Labels(labels.join(", ")))
    }

    fn failed(&self, reason: Reason) -> PluginError {
        PluginError::new(self.plugin(), reason)
    }

    fn wrap_through(&self, pipe: &mut dyn Pipe, keys: &[Secret]) -> Result<Wrapping, Reason> {
        let (command, text) = match &self.address {
            Address::Recipient(recipient) => ("add-recipient", recipient.text().as_bytes()),
            Address::Identity(identity) => ("add-identity", &*identity.text),
        };
        wrap::wrap(&mut talk::Talk::new(pipe, self.plugin(), &self.client), command, text, keys)
    }
}

impl From<PluginRecipient> for Recipient {
    fn from(line: PluginRecipient) -> Self {
        Self::to(Address::Recipient(line))
    }
}

/// An identity whose plugin unwraps keys.
#[derive(Clone)]
pub struct Identity {
    line: PluginIdentity,
    client: Client,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin::Identity({})", self.name())
    }
}

impl Identity {
    /// Reads an identity, such as `AGE-PLUGIN-YUBIKEY-1…`, in upper or lower case. May leak: the name of the plugin,
    /// the length, and whether the text is valid.
    ///
    /// # Errors
    /// If the text is not Bech32, its prefix is not `AGE-PLUGIN-NAME-`, or `NAME` is not the name of a plugin.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidName> {
        PluginIdentity::parse(text).map(Self::from)
    }

    /// Returns the name of the plugin, in lower case, without `age-plugin-`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.line.name()
    }

    /// Sets the client that talks to the plugin and to the user.
    #[must_use]
    pub fn with(self, client: Client) -> Self {
        Self { client, ..self }
    }

    /// Returns the identity as a recipient. The plugin itself determines the recipient that belongs to the identity.
    #[must_use]
    pub fn to_recipient(&self) -> Recipient {
        Recipient::to(Address::Identity(self.line.clone())).with(self.client.clone())
    }

    /// Starts the plugin and sends it the stanzas of each file. The plugin looks for its own stanzas. Returns a key for
    /// each file whose key the plugin has unwrapped.
    ///
    /// # Errors
    /// If there is no such plugin, if the plugin fails or breaks the protocol, or if the plugin reports an error and
    /// unwraps no key.
    pub fn unwrap(&self, files: &[Vec<AgeStanza>]) -> Result<Vec<Option<Secret>>, PluginError> {
        let run = |pipe: &mut dyn Pipe| self.unwrap_through(pipe, files);
        process::run(&self.line.name, &self.client, "identity-v1", run).map_err(|reason| self.failed(reason))
    }

    /// Unwraps keys with a plugin that is already running at the other end of `pipe`.
    ///
    /// # Errors
    /// If the plugin fails or breaks the protocol, or if the plugin reports an error and unwraps no key.
    pub fn unwrap_over(
        &self,
        pipe: &mut dyn Pipe,
        files: &[Vec<AgeStanza>],
    ) -> Result<Vec<Option<Secret>>, PluginError> {
        self.unwrap_through(pipe, files).map_err(|reason| self.failed(reason))
    }

    fn unwrap_through(&self, pipe: &mut dyn Pipe, files: &[Vec<AgeStanza>]) -> Result<Vec<Option<Secret>>, Reason> {
        unwrap::unwrap(&mut talk::Talk::new(pipe, &self.line.name, &self.client), &self.line.text, files)
    }

    /// Returns the error for a key that the plugin has unwrapped but that does not open the file.
    pub(crate) fn wrong_key(&self) -> PluginError {
        self.failed(Reason::WrongKey)
    }

    fn failed(&self, reason: Reason) -> PluginError {
        PluginError::new(&self.line.name, reason)
    }
}

impl From<PluginIdentity> for Identity {
    fn from(line: PluginIdentity) -> Self {
        Self { line, client: Client::default() }
    }
}
