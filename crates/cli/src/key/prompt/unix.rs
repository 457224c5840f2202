//! The terminal of Unix.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, getpgrp, kill_process_group};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::{HINT, LONGEST};
use crate::tell::failure::{Exit, Failure};
use crate::tell::progress::{ERASE, without_bar};
use crate::tell::shown::guarded;
use crate::tell::signals;
use deadpan_seal::{Passphrase, Secret};

/// The maximum number of times that a program in the background stops itself before it asks a question. The number of
/// stops needs a limit, because a stop has no effect if no other process can continue the program.
const STOPS: usize = 100;

/// The terminal of the process, even if the standard streams are redirected.
pub struct Terminal(Arc<File>);

impl Terminal {
    pub fn find() -> Option<Self> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").ok().map(|file| Self(Arc::new(file)))
    }

    /// Returns the terminal as a file, for another program.
    pub fn file(&self) -> std::io::Result<File> {
        self.0.try_clone()
    }

    /// Asks the question, and reads a line without echo. If Ctrl-Z stops the program, the terminal's settings are
    /// restored until the program continues; then the question is asked again.
    pub fn ask(&self, question: &str) -> Result<Passphrase, Failure> {
        self.question(question, false)
    }

    /// Asks the question, and reads a line. The terminal shows the characters that the user types.
    pub fn ask_openly(&self, question: &str) -> Result<Passphrase, Failure> {
        self.question(question, true)
    }

    fn question(&self, question: &str, echo: bool) -> Result<Passphrase, Failure> {
        let failed = |error: std::io::Error| Failure::io("use", "the terminal", &error);
        let question = guarded(question, false);
        self.wait_for_foreground();
        let before = tcgetattr(&*self.0).map_err(|error| failed(error.into()))?;
        let mut silent = before.clone();
        silent.local_modes.set(LocalModes::ECHO, echo);
        silent.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        let again = Arc::new(AtomicBool::new(false));
        let _echo = signals::guard(restore(Arc::clone(&self.0), before.clone()));
        let _pause = signals::around_stop(restore(Arc::clone(&self.0), before), {
            let (terminal, silent) = (Self(Arc::clone(&self.0)), silent.clone());
            let (question, again) = (format!("{ERASE}{question}: "), Arc::clone(&again));
            move || {
                again.store(true, Ordering::Release);
                let _ = terminal.begin(&silent, &question);
            }
        });
        without_bar(|| self.begin(&silent, &format!("{question}: "))).map_err(failed)?;
        let (line, ended) = self.line(&again).map_err(failed)?;
        if ended {
            // The input ended without an Enter, so the terminal has not moved to the next line.
            let _ = without_bar(|| (&*self.0).write_all(b"\n"));
        }
        line.ok_or_else(|| Failure::new(Exit::Key, "no passphrase was given", HINT))
    }

    /// Stops the program until it is in the foreground. The system itself stops a background program only when the
    /// program reads from the terminal. While a shell edits a line, the terminal may be in a mode in which Enter does
    /// not end a line.
    fn wait_for_foreground(&self) {
        for _ in 0..STOPS {
            if tcgetpgrp(&*self.0).map_or(true, |foreground| foreground == getpgrp()) {
                return;
            }
            // The call returns when the program continues, or immediately if no other process can continue the program.
            let _ = kill_process_group(getpgrp(), Signal::TTIN);
        }
    }

    /// Switches the echo on or off, drops input that was typed before the question, and writes the question.
    fn begin(&self, silent: &Termios, question: &str) -> std::io::Result<()> {
        tcsetattr(&*self.0, OptionalActions::Flush, silent)?;
        (&*self.0).write_all(question.as_bytes())
    }

    /// Reads a line; returns `None` if the input ends before the first byte. Also returns whether the input has ended,
    /// for example after Ctrl-D. If `again` is set while the line is read, drops the bytes that were already read.
    fn line(&self, again: &AtomicBool) -> std::io::Result<(Option<Passphrase>, bool)> {
        let mut line = Secret::zeroed(LONGEST);
        let mut length = 0;
        loop {
            let mut byte = [0];
            let read = match (&*self.0).read(&mut byte) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if again.swap(false, Ordering::AcqRel) {
                length = 0;
            }
            if read == 0 {
                return Ok(((length > 0).then(|| Passphrase::new(&line[..length])), true));
            }
            if byte == *b"\n" || length == LONGEST {
                return Ok((Some(Passphrase::new(&line[..length])), false));
            }
            line[length] = byte[0];
            length += 1;
        }
    }

    /// Writes a line to the terminal.
    pub fn say(&self, line: &str) {
        let _ = without_bar(|| (&*self.0).write_all(format!("{}\n", guarded(line, false)).as_bytes()));
    }
}

fn restore(terminal: Arc<File>, before: Termios) -> impl FnMut() + Send {
    move || {
        let _ = tcsetattr(&*terminal, OptionalActions::Now, &before);
    }
}
