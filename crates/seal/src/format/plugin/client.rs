//! How to find plugins and how to talk to them.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use super::dialog::{Dialog, Silence};

/// How long a plugin may be silent, unless the caller says otherwise.
const SILENCE: Duration = Duration::from_secs(60);

/// How to find plugins, and how to talk to them and to the user.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) dialog: Arc<dyn Dialog>,
    pub(super) silence: Duration,
    pub(super) path: Option<OsString>,
    pub(super) hidden: Vec<OsString>,
}

/// Asks nobody, waits 60 seconds, and searches the folders of the environment variable `PATH`.
impl Default for Client {
    fn default() -> Self {
        Self::new(Arc::new(Silence))
    }
}

impl Client {
    /// Makes a client whose questions go to `dialog`. It waits 60 seconds, and searches the folders of `PATH`.
    #[must_use]
    pub fn new(dialog: Arc<dyn Dialog>) -> Self {
        Self { dialog, silence: SILENCE, path: None, hidden: Vec::new() }
    }

    /// Sets how long a plugin may be silent before it is stopped. After a message to the user, who may have to find and
    /// touch a key, it may be silent five times as long.
    #[must_use]
    pub fn timeout(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Sets the folders to search for plugins, as in `PATH`. Relative folders are left out.
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
