//! Errors, each with a number and a text.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use deadpan_seal::Error;
use deadpan_seal::key::KeyError;

macro_rules! codes {
    ($( $(#[$doc:meta])* $name:ident = $number:literal, $message:literal; )*) => {
        /// The kind of an error, or `Ok`. The numbers are the same in every language and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum Code {
            $( $(#[$doc])* $name = $number, )*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$( Self::$name ),*];

            /// Returns the message of a code.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self {
                    $( Self::$name => $message, )*
                }
            }
        }
    };
}

codes! {
    /// Nothing went wrong.
    Ok = 0, "no error";
    /// The caller asked for something that is not possible.
    Argument = 1, "an argument is not possible";
    /// The caller's buffer is too small.
    Room = 2, "the buffer is too small";
    /// A handle was freed, or the handle is of another kind.
    Handle = 3, "the handle was freed, or is of another kind";
    /// Another thread uses the handle.
    Busy = 4, "another thread uses the handle";
    /// A callback asked to stop the work.
    Stopped = 5, "stopped by the caller";
    /// A fault in Deadpan itself.
    Panic = 6, "a fault in Deadpan; please report it";
    /// The output exists already.
    Exists = 7, "the output exists already";
    /// The input is not a sealed file.
    NotSealed = 10, "not a sealed file";
    /// The file needs a newer version.
    Newer = 11, "sealed by a newer version";
    /// The input ends too early.
    Truncated = 12, "the sealed data end too early";
    /// The input was changed after sealing.
    Tampered = 13, "the sealed data are damaged, or were changed after sealing";
    /// The input requires more memory or work than is allowed.
    Limit = 14, "the sealed data ask for more than is allowed";
    /// A signature is wrong or missing.
    Signature = 15, "a signature is wrong or missing";
    /// A text is not valid base64, or the padding of a block is not valid.
    Encoding = 16, "the text or the padding is not valid";
    /// None of the keys opens the file.
    NoKey = 20, "no key opens it";
    /// The passphrase is wrong.
    Passphrase = 21, "the passphrase is wrong";
    /// Trying the passphrase would need more memory or work than is allowed.
    Costly = 22, "trying the passphrase costs more than is allowed";
    /// A key is damaged, or the text is not a key.
    Key = 23, "the key is damaged, or is no key";
    /// A private key needs its passphrase.
    Locked = 24, "the private key is protected by a passphrase";
    /// The input cannot be read.
    Read = 30, "the input cannot be read";
    /// The output cannot be written.
    Write = 31, "the output cannot be written";
    /// The system failed.
    System = 32, "the system failed";
}

impl Code {
    /// Returns the code with this number.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| *code as i32 == number)
    }
}

/// An error. An error with a code, and with a text that names the file or key and describes what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the error.
    pub code: Code,
    /// The description of the error in words.
    pub text: String,
    /// The number of the system's error, if there is one.
    pub errno: Option<i32>,
    /// The file that the system could not read or write.
    pub path: Option<PathBuf>,
}

impl Fault {
    /// Makes an error.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), errno: None, path: None }
    }

    /// Adds the number of the system's error.
    #[must_use]
    pub fn with_errno(self, errno: Option<i32>) -> Self {
        Self { errno, ..self }
    }

    /// Makes an error about an argument.
    pub fn argument(text: impl Into<String>) -> Self {
        Self::new(Code::Argument, text)
    }

    /// Puts the path before the text of the error.
    #[must_use]
    pub fn about(self, path: &Path) -> Self {
        Self { text: format!("{}: {}", shown(path), self.text), ..self }
    }

    /// Returns the error of a reader; if `error` contains an error of an engine, returns the engine's error.
    #[must_use]
    pub fn of_reader(error: io::Error) -> Self {
        match error.downcast::<deadpan_pack::Error>() {
            Ok(error) => error.into(),
            Err(error) => error.downcast::<Error>().unwrap_or_else(Error::Read).into(),
        }
    }

    /// Returns the error of a writer; if `error` contains an error of the engine, returns the engine's error.
    #[must_use]
    pub fn of_writer(error: io::Error) -> Self {
        error.downcast::<Error>().unwrap_or_else(Error::Write).into()
    }

    /// Adds the path that the system could not read or write, and the number of the system's error.
    pub(crate) fn at(self, path: PathBuf, errno: Option<i32>) -> Self {
        Self { path: Some(path), errno, ..self }
    }
}

/// Returns a path as part of a text. Control characters of terminals and invisible characters are escaped, because
/// programs print the texts of errors.
pub(crate) fn shown(path: &Path) -> String {
    deadpan_pack::shown_path(path)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}

fn code(error: &Error) -> Code {
    match error {
        Error::NotSealed(_) => Code::NotSealed,
        Error::Newer(_) => Code::Newer,
        Error::Truncated => Code::Truncated,
        Error::Limit(_) => Code::Limit,
        Error::SignatureForged | Error::Sign(_) => Code::Signature,
        Error::NoKeyFits(_) | Error::TooFewShares { .. } => Code::NoKey,
        Error::WrongPassphrase => Code::Passphrase,
        Error::TooCostly(_) => Code::Costly,
        Error::Key(_) | Error::InvalidKey(_) => Code::Key,
        Error::Stopped => Code::Stopped,
        Error::Read(_) | Error::Shrank => Code::Read,
        Error::Write(_) => Code::Write,
        Error::System(_) | Error::Plugin(_) => Code::System,
        other => match other.fault() {
            deadpan_seal::Fault::Data => Code::Tampered,
            deadpan_seal::Fault::Caller => Code::Argument,
            deadpan_seal::Fault::Key => Code::NoKey,
            deadpan_seal::Fault::System => Code::System,
        },
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let code = code(&error);
        // An error of a callback is stored inside an error of reading or writing.
        match error {
            Error::Read(inner) | Error::Write(inner) => match inner.downcast::<Self>() {
                Ok(fault) => fault,
                Err(inner) => Self::new(code, inner.to_string()).with_errno(inner.raw_os_error()),
            },
            error => Self::new(code, error.to_string()),
        }
    }
}

fn code_of_key(error: &KeyError) -> Code {
    match error {
        KeyError::WrongPassphrase => Code::Passphrase,
        _ => Code::Key,
    }
}

impl From<KeyError> for Fault {
    fn from(error: KeyError) -> Self {
        Self::new(code_of_key(&error), error.to_string())
    }
}

fn code_of_folder(error: &deadpan_pack::Error) -> Code {
    use deadpan_pack::{Action, Error};
    match error {
        Error::Stopped => Code::Stopped,
        Error::Read(_) | Error::Shrank { .. } => Code::Read,
        Error::Entry { action: Action::Read | Action::ReadAttributes | Action::Open, .. } => Code::Read,
        other => match other.fault() {
            deadpan_pack::Fault::Data => Code::Tampered,
            deadpan_pack::Fault::Caller => Code::Argument,
            _ => Code::Write,
        },
    }
}

impl From<deadpan_pack::Error> for Fault {
    fn from(error: deadpan_pack::Error) -> Self {
        match error {
            deadpan_pack::Error::Read(error) => Self::of_reader(error),
            error => Self::new(code_of_folder(&error), error.to_string()),
        }
    }
}

impl From<deadpan_files::Error> for Fault {
    fn from(error: deadpan_files::Error) -> Self {
        use deadpan_files::Error as Files;
        let code = code_of_files(&error);
        let fault = Self::new(code, error.to_string());
        match error {
            Files::Read { path, error } | Files::Write { path, error } => fault.at(path, error.raw_os_error()),
            Files::Exists { path, .. } => fault.at(path, Some(deadpan_disk::Errno::EXIST.raw_os_error())),
            Files::Left { error, .. } => Self { text: fault.text, ..Self::from(*error) },
            _ => fault,
        }
    }
}

fn code_of_files(error: &deadpan_files::Error) -> Code {
    use deadpan_files::Error as Files;
    match error {
        Files::Sealed { error, .. } | Files::Sealing(error) => code(error),
        Files::Folder { error, .. } => code_of_folder(error),
        Files::Key(error) => code_of_key(error),
        Files::KeyFile { error, .. } | Files::Left { error, .. } => code_of_files(error),
        Files::KeyIsPrivate | Files::KeyIsPublic | Files::NoPublicKey | Files::NoPrivateKey | Files::OtherRecipient => {
            Code::Key
        }
        Files::SeveralKeys(_) | Files::LongKeyFile(_) => Code::Key,
        Files::Locked => Code::Locked,
        Files::Exists { .. } => Code::Exists,
        Files::Read { .. } => Code::Read,
        Files::Write { .. } | Files::Output { .. } => Code::Write,
        Files::Stopped => Code::Stopped,
        _ => Code::Argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_messages_are_all_different() {
        for (place, code) in Code::ALL.iter().enumerate() {
            assert_eq!(Code::from_number(*code as i32), Some(*code));
            let others = &Code::ALL[place + 1..];
            assert!(others.iter().all(|other| other.message() != code.message()), "{code:?}");
        }
        assert_eq!(Code::from_number(-1), None);
    }

    /// Programs print the texts of errors, also on terminals.
    #[test]
    fn paths_in_texts_are_escaped() {
        let path = Path::new("a\u{1b}[2J\u{202e}b");
        let faults =
            [Fault::argument("it is wrong").about(path), deadpan_files::Error::HoldsFolder(path.to_owned()).into()];
        for fault in faults {
            assert!(fault.text.contains(r"\u{1b}") && !fault.text.contains(['\u{1b}', '\u{202e}']), "{fault}");
        }
    }

    #[test]
    fn each_cause_has_its_code() {
        let of = |error: Error| Fault::from(error).code;
        assert_eq!(of(Error::Segment { segment: 3 }), Code::Tampered);
        assert_eq!(of(Error::Truncated), Code::Truncated);
        assert_eq!(of(Error::WrongPassphrase), Code::Passphrase);
        assert_eq!(of(Error::Mixed(String::new())), Code::Argument);
        assert_eq!(of(Error::Read(io::Error::other("no"))), Code::Read);
        assert_eq!(of(Error::Write(io::Error::other(Fault::new(Code::Stopped, "enough")))), Code::Stopped);
        let exists = || deadpan_files::Error::Exists { path: "a".into(), is_other: false };
        let fault = Fault::from(exists());
        assert_eq!((fault.code, fault.path.as_deref()), (Code::Exists, Some(Path::new("a"))));
        let left = deadpan_files::Error::Left { error: Box::new(exists()), left: Vec::new() };
        assert_eq!(Fault::from(left), fault);
    }
}
