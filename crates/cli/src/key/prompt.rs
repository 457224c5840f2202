//! Asks questions on the terminal, usually without showing the answer.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::Terminal;
#[cfg(windows)]
pub use self::windows::Terminal;

/// The longest passphrase, in bytes. A line beyond this limit is probably not a passphrase, but a file that was given
/// by mistake.
pub const LONGEST: usize = 4096;

const HINT: &str =
    "type it, then Enter; a script gives it with --passphrase-file, --passphrase-fd or DEADPAN_PASSPHRASE";
