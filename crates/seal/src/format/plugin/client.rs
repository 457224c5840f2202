//! The client of plugins. The settings of the client determine how to find plugins and how to talk to plugins.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use super::dialog::{Dialog, Silence};

/// The default value of the maximum time that a plugin may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// The settings for finding plugins, and for talking to plugins and to the user.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) dialog: Arc<dyn Dialog>,
    pub(super) silence: Duration,
    pub(super) path: Option<OsString>,
    pub(super) hidden: Vec<OsString>,
}

/// The default client answers no questions, waits 60 seconds, and searches the folders in the environment variable
/// `PATH`.
impl Default for Client {
    fn default() -> Self {
        Self::new(Arc::new(Silence))
    }
}

impl Client {
    /// Makes a client that passes the plugin's questions to `dialog`. The client waits 60 seconds, and searches the
    /// folders in `PATH`.
    #[must_use]
    pub fn new(dialog: Arc<dyn Dialog>) -> Self {
        Self { dialog, silence: SILENCE, path: None, hidden: Vec::new() }
    }

    /// Sets how long a plugin may be silent. After this time, the client stops the plugin. After a message to the user,
    /// the plugin may be silent five times as long, because the user may have to find and touch a key.
    #[must_use]
    pub fn timeout(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Sets the folders to search for plugins, in the form of `PATH`. Relative folders are skipped.
    #[must_use]
    pub fn path(self, path: impl Into<OsString>) -> Self {
        Self { path: Some(path.into()), ..self }
    }

    /// Removes a variable from the environment that plugins inherit.
    #[must_use]
    pub fn hide_variable(mut self, name: impl Into<OsString>) -> Self {
        self.hidden.push(name.into());
        self
    }
}
