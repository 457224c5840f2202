//! The console of Windows.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;

use super::{HINT, LONGEST};
use crate::tell::failure::{Exit, Failure};
use crate::tell::imp;
use crate::tell::progress::without_bar;
use crate::tell::shown::guarded;
use crate::tell::signals;
use deadpan_seal::{Passphrase, Secret};

/// The console of the process, even if the standard streams are redirected.
pub struct Terminal {
    input: Arc<File>,
    output: File,
}

impl Terminal {
    pub fn find() -> Option<Self> {
        let open = |name: &str| OpenOptions::new().read(true).write(true).open(name).ok();
        Some(Self { input: Arc::new(open("CONIN$")?), output: open("CONOUT$")? })
    }

    /// Asks the question, and reads a line without echo.
    pub fn ask(&self, question: &str) -> Result<Passphrase, Failure> {
        self.question(question, false)
    }

    /// Asks the question, and reads a line. The console shows the characters that the user types.
    pub fn ask_openly(&self, question: &str) -> Result<Passphrase, Failure> {
        self.question(question, true)
    }

    fn question(&self, question: &str, echo: bool) -> Result<Passphrase, Failure> {
        let failed = |error: std::io::Error| Failure::io("use", "the console", &error);
        let before = imp::set_mode(&self.input, echo).map_err(failed)?;
        let console = Arc::clone(&self.input);
        let _restored = signals::guard(move || before.restore(&console));
        self.write(&format!("{}: ", guarded(question, false))).map_err(failed)?;
        let line = self.line().map_err(failed)?;
        if !echo {
            // The console has not shown the Enter.
            let _ = self.write("\n");
        }
        line.ok_or_else(|| Failure::new(Exit::Key, "no passphrase was given", HINT))
    }

    /// Reads a line. Returns `None` if nothing was typed before Ctrl-Z, which ends the input.
    fn line(&self) -> std::io::Result<Option<Passphrase>> {
        // Two bytes for each unit, with room for the two characters of the Enter.
        let mut units = Secret::zeroed(2 * LONGEST + 4);
        let length = imp::read_line(&self.input, &mut units)?;
        let mut text = Secret::zeroed(3 * LONGEST + 6);
        let mut end = 0;
        let pairs = units[..length].chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let (mut is_ended, mut has_line) = (false, false);
        for character in char::decode_utf16(pairs) {
            match character.unwrap_or(char::REPLACEMENT_CHARACTER) {
                '\r' | '\n' => has_line = true,
                '\u{1a}' => is_ended = true,
                character if !is_ended => end += character.encode_utf8(&mut text[end..]).len(),
                _ => {}
            }
        }
        let is_empty = end == 0 && (is_ended || !has_line);
        Ok((!is_empty).then(|| Passphrase::new(&text[..end.min(LONGEST)])))
    }

    /// Writes a line to the console.
    pub fn say(&self, line: &str) {
        let _ = self.write(&format!("{}\n", guarded(line, false)));
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        without_bar(|| (&self.output).write_all(text.as_bytes()))
    }
}
