//! What can go wrong.

use std::io;
use thiserror::Error;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The archive is damaged, or made to do harm.
    Data,
    /// What was asked for cannot be.
    Caller,
    /// A disk is full, a permission missing.
    System,
}

/// Why packing, unpacking or listing ended. Paths are as people can read them.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive is not what it says.
    #[error("{what}\nhint: {hint}")]
    Archive {
        /// What is wrong, and where.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// The archive ends before its end.
    #[error("the archive ends too early\nhint: it was cut short; get it again")]
    Truncated,
    /// What was asked for cannot be.
    #[error("{what}\nhint: {hint}")]
    Refused {
        /// What, and why not.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {verb} {path}: {error}")]
    Entry {
        /// What could not be done: `read`, `write`, `create`.
        verb: &'static str,
        /// To what.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The archive could not be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// The archive could not be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
}

/// The system's errors by their numbers, or by their kind and what they say.
impl Clone for Error {
    fn clone(&self) -> Self {
        let again = |error: &io::Error| match error.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        match self {
            Self::Archive { what, hint } => Self::Archive { what: what.clone(), hint },
            Self::Truncated => Self::Truncated,
            Self::Refused { what, hint } => Self::Refused { what: what.clone(), hint },
            Self::Entry { verb, path, error } => Self::Entry { verb, path: path.clone(), error: again(error) },
            Self::Read(error) => Self::Read(again(error)),
            Self::Write(error) => Self::Write(again(error)),
            Self::Stopped => Self::Stopped,
        }
    }
}

impl Error {
    /// An archive that got damaged on its way, as far as one can tell.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Archive { what: what.into(), hint: "the archive is damaged, or it is none; get it again" }
    }

    /// Why, for those who say themselves what could not be done to which file.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Entry { error, .. } => words(error),
            error => error.to_string(),
        }
    }

    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Archive { .. } | Self::Truncated => Fault::Data,
            Self::Refused { .. } => Fault::Caller,
            Self::Entry { .. } | Self::Read(_) | Self::Write(_) | Self::Stopped => Fault::System,
        }
    }
}

/// What the system says, without its number.
pub(crate) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Bytes of a path, for people: what is not plain text is escaped, so that no name can play tricks with a terminal, or look like another.
#[must_use]
pub fn shown(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_plain(character) {
                text.push(character);
            } else {
                text.extend(character.escape_default());
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Whether a character does nothing but stand there: no control, nothing that is not seen, no change of the direction of writing.
fn is_plain(character: char) -> bool {
    let hidden = matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !character.is_control() && !hidden
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        for plain in ["plain name.txt", "z\u{e4}h", "e\u{301}", "\u{5d0}\u{5d1}", "\u{1f600}", "\u{2027}\u{202f}\u{2070}"] {
            assert_eq!(shown(plain.as_bytes()), plain);
        }
        for hidden in ['\0', '\u{1b}', '\u{7f}', '\u{9b}', '\u{61c}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{206f}', '\u{feff}'] {
            assert_eq!(shown(format!("a{hidden}b").as_bytes()), format!("a{}b", hidden.escape_default()));
        }
        assert_eq!(shown(b"\x1b[2Jx\n"), "\\u{1b}[2Jx\\n");
        assert_eq!(shown(b"\xff\xfe"), "\\xff\\xfe");
    }
}
