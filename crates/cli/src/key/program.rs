//! Other programs that give a passphrase: a password manager (`--passphrase-command`), or a window that asks the user
//! (`DEADPAN_ASKPASS`).

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;

use crate::key::passphrase::first_line;
use crate::key::prompt::LONGEST;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::bytes;
use deadpan_disk::portable::OsStrExt;
use deadpan_seal::{Passphrase, Secret};

/// The variable with the program that asks for passphrases.
const ASKPASS: &str = "DEADPAN_ASKPASS";
/// The number of bytes that one read requests from a program.
const MANY: usize = 4096;
/// The most bytes that are read after the first line.
const MOST: usize = 1 << 20;

/// A command that prints a passphrase. The command is split into words as a shell would split it, but no shell runs it.
#[derive(Clone, Debug)]
pub struct PassphraseCommand {
    words: Vec<String>,
}

impl FromStr for PassphraseCommand {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        words(text).map(|words| Self { words })
    }
}

/// Splits a command into words as a shell would split it. There is at least one word. On Windows, a backslash is a part
/// of a path.
pub fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let escaped = cfg!(windows).then(|| with_plain_backslashes(text));
    match shlex::split(escaped.as_deref().unwrap_or(text)) {
        None => Err("a quote in the command is not closed"),
        Some(words) if words.is_empty() => Err("the command is empty"),
        Some(words) => Ok(words),
    }
}

/// Escapes the backslashes, so that they stand for themselves when the command is split. Single quotes need no escape.
fn with_plain_backslashes(text: &str) -> String {
    let (mut escaped, mut quote) = (String::new(), None);
    for letter in text.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '\\') => escaped.push('\\'),
            _ => {}
        }
        escaped.push(letter);
    }
    escaped
}

impl PassphraseCommand {
    /// Runs the command, and returns the first line that the command prints.
    pub fn run(&self) -> Result<Passphrase, Failure> {
        let Self { words } = self;
        let hint = "run the command alone, and see what it prints";
        let failed = |message| Failure::new(Exit::Key, message, hint);
        first_line_of(words[0].as_ref(), &words[1..])
            .map_err(|why| failed(format!("the passphrase command {} {why}", self.shown())))?
            .ok_or_else(|| failed(format!("the output of {} is empty and has no passphrase", self.shown())))
    }

    /// Returns the name of the program, for messages. Arguments may be secret.
    pub fn shown(&self) -> String {
        bytes(self.words[0].as_bytes())
    }
}

/// A program that asks the user for a passphrase, like the program in `SSH_ASKPASS`. The program gets the question as
/// its argument, and prints the answer as its first line.
pub struct Askpass(OsString);

impl Askpass {
    pub fn find() -> Option<Self> {
        std::env::var_os(ASKPASS).filter(|program| !program.is_empty()).map(Self)
    }

    pub fn ask(&self, question: &str) -> Result<Passphrase, Failure> {
        let failed = |why: &str| {
            let message = format!("no passphrase was given: {} ({ASKPASS}) {why}", bytes(self.0.as_bytes()));
            let hint = format!(
                "{ASKPASS} is the path of one program, without arguments; answer its question, or unset the variable \
                 to type on the terminal"
            );
            Failure::new(Exit::Key, message, hint)
        };
        let line = first_line_of(&self.0, &[format!("{question}: ")]).map_err(|why| failed(&why))?;
        match line.ok_or_else(|| failed("printed nothing"))? {
            line if line.as_bytes().len() > LONGEST => Err(failed("printed a line that is too long")),
            line => Ok(line),
        }
    }
}

/// Returns the program that asks the user to confirm something.
pub fn confirming() -> Option<OsString> {
    [ASKPASS, "SSH_ASKPASS"].into_iter().filter_map(std::env::var_os).find(|program| !program.is_empty())
}

/// Asks the user to confirm something, with a program. If the program fails, the answer is no.
#[cfg(unix)]
pub fn confirm(program: &OsStr, question: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(question).env("SSH_ASKPASS_PROMPT", "confirm");
    command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a program, and returns the first line of the program's output. The error is the end of a sentence about the
/// program.
fn first_line_of(program: &OsStr, arguments: &[String]) -> Result<Option<Passphrase>, String> {
    // Standard input may hold the data, and standard error is for questions and errors of the program.
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot be run: {error}"))?;
    let read = read(&mut child);
    let status = child.wait().map_err(|error| format!("cannot be waited for: {error}"))?;
    if !status.success() {
        return Err(format!("failed ({status})"));
    }
    read.map_err(|error| format!("cannot be read: {error}"))
}

/// Reads the program's output, and returns the first line. If the rest were not read, the program could fail. A program
/// that prints without an end is not waited for.
fn read(child: &mut Child) -> io::Result<Option<Passphrase>> {
    let Some(mut output) = child.stdout.take() else { return Ok(None) };
    let line = first_line(&mut output, MANY)?;
    // The rest of the output may also be secret, so its memory is wiped.
    let (mut rest, mut left) = (Secret::zeroed(MANY), MOST);
    while left > 0 {
        match output.read(&mut rest) {
            Ok(0) => break,
            Ok(read) => left = left.saturating_sub(read),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            Err(_) => {}
        }
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_is_a_part_of_a_path_on_windows() {
        for (command, words) in [
            (r"C:\Tools\pass.exe show x", [r"C:\Tools\pass.exe", "show", "x"]),
            (r#""C:\My Tools\pass.exe" "a \ b" '\'"#, [r"C:\My Tools\pass.exe", r"a \ b", r"\"]),
            (r#"'C:\it"s\x' \\share\y z"#, [r#"C:\it"s\x"#, r"\\share\y", "z"]),
        ] {
            assert_eq!(shlex::split(&with_plain_backslashes(command)).unwrap(), words);
        }
    }
}
