//! Errors of plugins.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use super::Tag;
use crate::Fault;
use crate::key::plugin::PluginName;

/// The failure of a plugin. The text of the error contains text that the plugin sent. Control characters in the
/// plugin's text are escaped.
#[derive(Debug)]
pub struct PluginError {
    plugin: String,
    reason: Reason,
}

/// The reason why a plugin failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    // The plugin's answer.
    /// The plugin reports an error.
    Refused {
        /// The cause that the plugin reports.
        about: About,
        /// The plugin's words.
        text: String,
    },
    /// The plugin asked a question that nobody answered, and then gave up. The text is the question.
    Unanswered(String),
    /// The key that the plugin unwrapped does not open the file.
    WrongKey,

    // The caller.
    /// The plugin requires that all recipients of the file have the same labels. The text lists the labels.
    Labels(String),
    /// The folders of `PATH` contain no program of this plugin.
    Missing,

    // The plugin itself.
    /// The program cannot be started.
    Start(io::Error),
    /// The program ended before its work was done.
    Ended(Option<ExitStatus>),
    /// The plugin was stopped, because it sent nothing or read nothing for this time.
    Silent(Duration),
    /// The plugin was stopped, because it sent more than a client accepts.
    Flood(&'static str),
    /// The plugin broke the protocol.
    Protocol(&'static str),
    /// The plugin made a stanza of a type that age defines. Plugins must not make stanzas of this type, or the stanza
    /// does not have the form of its type.
    Stanza(Tag),
    /// The plugin unwrapped a key that does not have 16 bytes. The number is the length of the key.
    KeyLength(usize),
    /// The plugin reported success, but wrapped no key.
    NoStanza,
    /// The pipes to the plugin failed.
    Pipe(io::Error),
}

/// The cause of an error that a plugin reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum About {
    /// The recipient.
    Recipient,
    /// The identity.
    Identity,
    /// A stanza in the header of the file.
    Stanza,
    /// An internal error of the plugin, or a cause that is not specified.
    Internal,
}

impl PluginError {
    pub(super) fn new(plugin: &PluginName, reason: Reason) -> Self {
        Self { plugin: plugin.program(), reason }
    }

    /// Returns the name of the program: `age-plugin-NAME`.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.plugin
    }

    /// Returns the reason of the failure.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Returns the cause of the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match &self.reason {
            Reason::Refused { about: About::Recipient, .. } => Fault::Data,
            // Plugins report a wrong passphrase as an error of the stanza.
            Reason::Refused { about: About::Identity | About::Stanza, .. } => Fault::Key,
            Reason::Unanswered(_) | Reason::WrongKey => Fault::Key,
            Reason::Missing | Reason::Labels(_) => Fault::Caller,
            _ => Fault::System,
        }
    }
}

impl std::error::Error for PluginError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Start(error) | Reason::Pipe(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugin = &self.plugin;
        match &self.reason {
            Reason::Refused { about: About::Recipient, text } => write!(f, "{plugin} refuses the recipient: {text}"),
            Reason::Refused { about: About::Identity, text } => write!(f, "{plugin} refuses the identity: {text}"),
            Reason::Refused { about: About::Stanza, text } => {
                write!(f, "{plugin} refuses a recipient of the file: {text}")
            }
            Reason::Refused { about: About::Internal, text } => write!(f, "{plugin} failed: {text}"),
            Reason::Unanswered(text) => write!(f, "{plugin} asked, and nobody could answer: {text}"),
            Reason::WrongKey => write!(f, "{plugin} gave a key that does not open the file"),
            Reason::Labels(labels) => {
                write!(f, "{plugin} does not allow these recipients together: not all have the label {labels}")
            }
            Reason::Missing => write!(f, "there is no program {plugin} in the folders of PATH"),
            Reason::Start(error) => write!(f, "{plugin} cannot be started: {error}"),
            Reason::Ended(None) => write!(f, "{plugin} closed its output before it was done"),
            Reason::Ended(Some(status)) => write!(f, "{plugin} ended before it was done ({})", ended(*status)),
            Reason::Silent(limit) => {
                let seconds = limit.as_secs();
                let plural = if seconds == 1 { "" } else { "s" };
                write!(f, "{plugin} was stopped: nothing came for {seconds} second{plural}")
            }
            Reason::Flood(what) => write!(f, "{plugin} was stopped: it sent {what}"),
            Reason::Protocol(what) => write!(f, "{plugin} breaks the protocol of plugins: {what}"),
            Reason::Stanza(tag) => {
                write!(
                    f,
                    "{plugin} made a stanza of the type {tag}, which no reader accepts from a plugin in this form"
                )
            }
            Reason::KeyLength(length) => write!(f, "{plugin} gave a key of {length} bytes instead of 16"),
            Reason::NoStanza => write!(f, "{plugin} wrapped no key, and reported no error"),
            Reason::Pipe(error) => write!(f, "talking to {plugin} failed: {error}"),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None::<i32>;
    match (status.code(), signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".into(),
    }
}
