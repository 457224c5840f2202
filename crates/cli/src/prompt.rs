//! A question on the terminal whose answer is not shown.

use crate::failure::{Exit, Failure};
use crate::signals;
use deadpan_seal::{Passphrase, Secret};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::sync::Arc;

/// Longer answers are no passphrases but files in the wrong place.
pub const LONGEST: usize = 4096;

/// The terminal that the person sits at, wherever the standard streams go.
pub struct Terminal(Arc<File>);

impl Terminal {
    pub fn find() -> Option<Self> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").ok().map(|file| Self(Arc::new(file)))
    }

    /// Asks, and reads a line without showing it.
    pub fn ask(&self, question: &str) -> Result<Passphrase, Failure> {
        let failed = |error: std::io::Error| Failure::io("use", "the terminal", &error);
        let before = tcgetattr(&*self.0).map_err(|error| failed(error.into()))?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        let _echo = signals::guard(restore(Arc::clone(&self.0), before));
        tcsetattr(&*self.0, OptionalActions::Flush, &silent).map_err(|error| failed(error.into()))?;
        (&*self.0).write_all(format!("{question}: ").as_bytes()).map_err(failed)?;
        self.line().map_err(failed)?.ok_or_else(|| Failure::new(Exit::Usage, "nothing was typed", "type the passphrase, then Enter"))
    }

    /// A line; `None` at the end of the input.
    fn line(&self) -> std::io::Result<Option<Passphrase>> {
        let mut line = Secret::zeroed(LONGEST);
        let mut length = 0;
        loop {
            let mut byte = [0];
            if (&*self.0).read(&mut byte)? == 0 {
                return Ok((length > 0).then(|| Passphrase::new(&line[..length])));
            }
            if byte == *b"\n" || length == LONGEST {
                return Ok(Some(Passphrase::new(&line[..length])));
            }
            line[length] = byte[0];
            length += 1;
        }
    }

    /// Says something where the questions are.
    pub fn say(&self, line: &str) {
        let _ = (&*self.0).write_all(format!("{line}\n").as_bytes());
    }
}

fn restore(terminal: Arc<File>, before: Termios) -> impl FnMut() + Send {
    move || {
        let _ = tcsetattr(&*terminal, OptionalActions::Now, &before);
    }
}
