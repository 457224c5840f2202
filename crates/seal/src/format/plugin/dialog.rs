//! The questions that a plugin asks the user.

use std::any::Any;
use std::fmt;

use super::Process;
use crate::Secret;

/// A message from a plugin to the user, or a question. The texts may have several lines. Control characters in the
/// texts are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// A message to show, such as a request to touch the key. The answer is [`Answer::Done`].
    Message(String),
    /// A choice between two options. The answer is [`Answer::Yes`] or [`Answer::No`].
    Confirm {
        /// The request.
        text: String,
        /// The option that means yes.
        yes: String,
        /// The option that means no, or `None` if there is no such option.
        no: Option<String>,
    },
    /// A text that everybody may see while it is typed. The answer is [`Answer::Text`].
    Public(String),
    /// A secret, such as a PIN. The answer is [`Answer::Text`].
    Secret(String),
    /// A line that the plugin wrote to its standard error. The answer does not matter.
    Log(String),
    /// The plugin has been silent for some seconds, so it may be waiting for the user. The answer does not matter.
    Waiting,
}

/// The answer to a [`Question`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The message is shown.
    Done,
    /// The user chose yes.
    Yes,
    /// The user chose no.
    No,
    /// The text that the user typed.
    Text(Secret),
    /// There is no user to ask, or the user did not answer. The client sends this answer to the plugin, and the plugin
    /// decides how to continue.
    Nobody,
}

/// Answers the questions of plugins.
pub trait Dialog: Send + Sync {
    /// Asks the user, and waits for the answer. `program` is the plugin's program. The plugin's time-out does not run
    /// during this call.
    fn ask(&self, program: &str, question: &Question) -> Answer;

    /// The client calls this method after it has started a plugin. The client drops the result when the plugin has
    /// ended. A program that is ended by a signal should first stop the plugin with `process`.
    fn started(&self, process: &Process) -> Box<dyn Any> {
        let _ = process;
        Box::new(())
    }
}

/// A dialog for programs that cannot ask a user.
pub(super) struct Silence;

impl Dialog for Silence {
    fn ask(&self, _: &str, _: &Question) -> Answer {
        Answer::Nobody
    }
}

impl fmt::Debug for dyn Dialog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dialog")
    }
}
