//! Asks questions on the terminal, usually without showing the answer, or lets another program ask.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::Terminal;
#[cfg(windows)]
pub use self::windows::Terminal;

use std::io::{IsTerminal, stderr};

use crate::key::program::Askpass;
use crate::tell::console::complain;
use crate::tell::failure::Failure;
use deadpan_seal::Passphrase;

/// The longest passphrase, in bytes. A line beyond this limit is probably not a passphrase, but a file that was given
/// by mistake.
pub const LONGEST: usize = 4096;

const HINT: &str =
    "type it, then Enter; a script gives it with --passphrase-file, --passphrase-command or DEADPAN_PASSPHRASE";

/// The way in which the user is asked for passphrases.
pub enum Asker {
    Program(Askpass),
    Terminal(Terminal),
}

impl Asker {
    /// Returns the program that the user has chosen, or else the terminal.
    pub fn find() -> Option<Self> {
        Askpass::find().map(Self::Program).or_else(|| Terminal::find().map(Self::Terminal))
    }

    /// Whether a user probably waits for questions. If standard error is not a terminal, another program probably
    /// started this program, and no user waits.
    pub fn is_awaited(&self) -> bool {
        matches!(self, Self::Program(_)) || stderr().is_terminal()
    }

    /// Asks the question, and returns the answer of the user. The screen does not show the answer.
    pub fn ask(&self, question: &str) -> Result<Passphrase, Failure> {
        match self {
            Self::Program(program) => program.ask(question),
            Self::Terminal(terminal) => terminal.ask(question),
        }
    }

    pub fn say(&self, line: &str) {
        match self {
            Self::Program(_) => complain(line),
            Self::Terminal(terminal) => terminal.say(line),
        }
    }
}
