//! Passphrases from a file, a descriptor, another program, the environment, or the terminal. No argument contains a
//! passphrase, since every user of the machine can see arguments.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::key::agent::HeldKeys;
use crate::key::home::Home;
use crate::key::program::PassphraseCommand;
use crate::key::prompt::{Asker, LONGEST};
use crate::key::{strength, words};
use crate::place::held;
use crate::place::input::Source;
use crate::tell::advice;
use crate::tell::failure::{Exit, Failure};
use crate::tell::imp;
use crate::tell::shown::shown;
use crate::tell::streams::STDIN;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{Input, OpenMode};
use deadpan_seal::{Passphrase, Secret};

/// The byte order mark, as UTF-8.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const NOT_OPEN: &str = "this descriptor is not open; open it in the shell, for example with 3< FILE";
/// The variable with the passphrase.
pub const VARIABLE: &str = "DEADPAN_PASSPHRASE";
/// Advice if there is no terminal to ask for the passphrase.
pub const NO_TERMINAL: &str =
    "run this on a terminal, or give it with --passphrase-file, --passphrase-command or DEADPAN_PASSPHRASE";
/// The number of bytes that one read requests from a file that this program opened itself.
const MANY: usize = 4096;
/// How many times the user may type a passphrase.
const TRIES: usize = 3;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct PassphraseArgs {
    /// Take the passphrase from the first line of this file, instead of the terminal (or DEADPAN_PASSPHRASE)
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd", value_parser = stdin_or_path())]
    passphrase_file: Option<PathBuf>,
    /// Take the passphrase from the next line of this open descriptor
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<Descriptor>,
    /// Take the passphrase from the first line that this command prints, for example 'pass show backup'. No shell runs
    /// it
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["passphrase_fd", "passphrase_file"])]
    passphrase_command: Option<PassphraseCommand>,
    /// Do not use the keys that the agent holds
    #[arg(long)]
    no_agent: bool,
}

/// A descriptor that was open when the program started. The descriptor is duplicated while the arguments are parsed. At
/// this time, the program has not yet opened any files of its own, so the descriptor cannot belong to one of these
/// files.
#[derive(Clone, Debug)]
struct Descriptor {
    number: u32,
    file: Arc<File>,
}

impl FromStr for Descriptor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse().map_err(|_| "a descriptor is a number, such as 3 in `3< FILE`")?;
        let file = imp::descriptor(number)
            .map_err(|_| if cfg!(windows) { "Windows has only descriptor 0" } else { NOT_OPEN })?;
        Ok(Self { number, file: Arc::new(file.into()) })
    }
}

/// Returns a parser for file names that treats `-` as standard input.
pub fn stdin_or_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| if path == Path::new("-") { STDIN.into() } else { path })
}

impl PassphraseArgs {
    /// Returns arguments that choose the first line of this file as the source of the passphrase.
    pub fn of_file(path: PathBuf) -> Self {
        Self { passphrase_file: Some(path), ..Self::default() }
    }

    /// Returns arguments that choose the first line of a file, or of the output of a command, as the source of the
    /// passphrase.
    pub fn of(passphrase_file: Option<PathBuf>, passphrase_command: Option<PassphraseCommand>) -> Option<Self> {
        let is_given = passphrase_file.is_some() || passphrase_command.is_some();
        is_given.then(|| Self { passphrase_file, passphrase_command, ..Self::default() })
    }

    /// Whether the agent is not to be used.
    pub fn leaves_agent_out(&self) -> bool {
        self.no_agent
    }

    /// Returns an error if the arguments choose standard input for both the passphrase and the data.
    pub fn leave_stdin_to(&self, sources: &[Source]) -> Result<(), Failure> {
        let taken = self.passphrase_fd.as_ref().is_some_and(|descriptor| descriptor.number == 0)
            || self.passphrase_file.as_deref().is_some_and(|file| file == Path::new(STDIN));
        if taken && sources.contains(&Source::Stdin) {
            return Err(Failure::usage(
                "standard input cannot give both the data and the passphrase",
                "use another descriptor: --passphrase-fd 3",
            ));
        }
        Ok(())
    }

    fn read(&self) -> Result<Option<Given>, Failure> {
        match (&self.passphrase_file, &self.passphrase_fd) {
            (Some(path), _) => {
                let failed = |error| Failure::path("read the passphrase from", path, &error);
                let mut file = match held::stdin(path) {
                    Some(stdin) => stdin.map_err(failed)?.file,
                    None => Input::open(path, OpenMode::WAITING).map_err(failed)?.file,
                };
                let line = first_line(&mut file, MANY).map_err(failed)?;
                let nothing = || {
                    let hint = "write the passphrase into its first line";
                    Failure::new(Exit::Key, format!("{} is empty and has no passphrase", shown(path)), hint)
                };
                checked(line.ok_or_else(nothing)?, &shown(path), true).map(Some)
            }
            (None, Some(Descriptor { number, file })) => {
                let name = format!("descriptor {number}");
                let failed = |error| Failure::io("read the passphrase from", &name, &error);
                // A pipe or a socket has no position, so its next line is treated as its first line.
                let is_first = (&**file).stream_position().map_or(true, |position| position == 0);
                // Reads byte by byte, so that the next program that reads the descriptor can read the following lines.
                let line = first_line(&mut &**file, 1).map_err(failed)?;
                let nothing = || {
                    let hint = "each command takes the next line; write the passphrase once for each of them";
                    Failure::new(Exit::Key, format!("{name} is at its end and has no passphrase"), hint)
                };
                checked(line.ok_or_else(nothing)?, &name, is_first).map(Some)
            }
            (None, None) => {
                let Some(command) = &self.passphrase_command else { return Ok(None) };
                checked(command.run()?, &format!("the output of {}", command.shown()), true).map(Some)
            }
        }
    }

    /// Whether an option chooses the source of the passphrase.
    pub fn is_given(&self) -> bool {
        self.passphrase_file.is_some() || self.passphrase_fd.is_some() || self.passphrase_command.is_some()
    }
}

/// A passphrase that was not typed on the terminal.
struct Given {
    passphrase: Passphrase,
    /// The passphrase with the byte order mark before it, if the file has such a mark.
    marked: Option<Passphrase>,
}

impl Given {
    /// Removes a byte order mark from the first line of a file. Editors on Windows write a byte order mark at the
    /// beginning of a file. In later lines of the file, the bytes of a byte order mark belong to the passphrase.
    fn without_mark(line: Passphrase, is_first: bool) -> Self {
        match line.as_bytes().strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).map(Passphrase::new) {
            Some(passphrase) => Self { passphrase, marked: Some(line) },
            None => Self { passphrase: line, marked: None },
        }
    }
}

/// The source of passphrases. A passphrase is read or typed when it is first needed, and then kept in memory.
pub struct Passphrases {
    args: PassphraseArgs,
    given: OnceCell<Option<Given>>,
    typed: OnceCell<Passphrase>,
    /// Set after the strength of the first new passphrase was estimated.
    weighed: OnceCell<()>,
    held: OnceCell<HeldKeys>,
}

impl Passphrases {
    pub fn new(args: &PassphraseArgs) -> Self {
        Self {
            args: args.clone(),
            given: OnceCell::new(),
            typed: OnceCell::new(),
            weighed: OnceCell::new(),
            held: OnceCell::new(),
        }
    }

    /// Returns the keys that the agent holds. These keys need no passphrase.
    pub fn held(&self) -> &HeldKeys {
        self.held.get_or_init(|| match Home::find() {
            Ok(home) if !self.args.no_agent => HeldKeys::of(&home),
            _ => HeldKeys::default(),
        })
    }

    /// Returns the passphrase from the arguments or the environment, or `None` if neither has a passphrase.
    pub fn given(&self) -> Result<Option<&Passphrase>, Failure> {
        Ok(self.find()?.map(|given| &given.passphrase))
    }

    /// Whether there is a passphrase, or a way to ask the user for a passphrase.
    pub fn has_source(&self) -> Result<bool, Failure> {
        Ok(self.find()?.is_some() || Asker::find().is_some())
    }

    fn find(&self) -> Result<Option<&Given>, Failure> {
        if self.given.get().is_none() {
            let variable = || {
                let text = std::env::var_os(VARIABLE)?;
                Some(Given { passphrase: Passphrase::new(text.as_bytes()), marked: None })
            };
            let _ = self.given.set(self.args.read()?.or_else(variable));
        }
        Ok(self.given.get().and_then(Option::as_ref))
    }

    /// Calls `lock` with the passphrase from the arguments or the environment, or else with the passphrase that the
    /// user types. `lock` returns `None` if the passphrase is wrong. Returns `Ok(None)` if the user types nothing.
    pub fn unlock<T>(
        &self,
        what: &str,
        mut lock: impl FnMut(&Passphrase) -> Result<Option<T>, Failure>,
    ) -> Result<Option<T>, Failure> {
        let wrong = |hint| Err(Failure::new(Exit::Key, format!("the passphrase does not fit {what}"), hint));
        if let Some(Given { passphrase, marked }) = self.find()? {
            // Earlier versions used the byte order mark as a part of the passphrase.
            for passphrase in std::iter::once(passphrase).chain(marked) {
                if let Some(open) = lock(passphrase)? {
                    return Ok(Some(open));
                }
            }
            return wrong(if passphrase.as_bytes().is_empty() {
                "the passphrase is empty"
            } else {
                advice::key::PASSPHRASE
            });
        }
        let asker = Asker::find()
            .ok_or_else(|| Failure::new(Exit::Key, format!("a passphrase is needed for {what}"), NO_TERMINAL))?;
        for left in (0..TRIES).rev() {
            let typed = asker.ask(&format!("passphrase for {what}"))?;
            if typed.as_bytes().is_empty() {
                return Ok(None);
            }
            match lock(&typed)? {
                Some(open) => return Ok(Some(open)),
                None if left > 0 => asker.say("the passphrase does not fit, try again; Enter alone goes on without it"),
                None => {}
            }
        }
        wrong(advice::key::PASSPHRASE)
    }

    /// Returns a new passphrase for `what`, which the user types twice. Several files that are sealed together get the
    /// same passphrase, which the user types for the first file. `without` is advice for a user who does not want a
    /// passphrase.
    pub fn new_one(&self, what: &str, without: &str) -> Result<Passphrase, Failure> {
        if let Some(known) = self.given()?.or(self.typed.get()) {
            return if known.as_bytes().is_empty() { Err(empty(without)) } else { Ok(self.weighed(known.clone())) };
        }
        let asker = Asker::find()
            .ok_or_else(|| Failure::new(Exit::Key, format!("a passphrase is needed for {what}"), NO_TERMINAL))?;
        let Asker::Terminal(terminal) = &asker else {
            let typed = twice(&asker, &format!("new passphrase for {what}"))?;
            return if typed.as_bytes().is_empty() { Err(empty(without)) } else { Ok(self.keep(self.weighed(typed))) };
        };
        let typed = twice(&asker, &format!("new passphrase for {what} (empty for ten random words)"))?;
        if !typed.as_bytes().is_empty() {
            return Ok(self.keep(self.weighed(typed)));
        }
        let offered = words::offered()?;
        terminal.say(&format!("the passphrase is: {}", String::from_utf8_lossy(offered.as_bytes())));
        terminal.say("write it down: nothing opens without it, and it is not shown again");
        Ok(self.keep(offered))
    }

    /// Stores a new passphrase, so that the next file gets the same passphrase.
    fn keep(&self, passphrase: Passphrase) -> Passphrase {
        self.typed.get_or_init(|| passphrase).clone()
    }

    /// Prints a note if the first new passphrase is weak.
    fn weighed(&self, passphrase: Passphrase) -> Passphrase {
        self.weighed.get_or_init(|| strength::note(&passphrase));
        passphrase
    }

    /// Like [`new_one`](Self::new_one), but returns `None` if the user types nothing.
    pub fn new_or_none(&self, what: &str, without: &str) -> Result<Option<Passphrase>, Failure> {
        if self.given()?.is_some() {
            return self.new_one(what, without).map(Some);
        }
        let asker = Asker::find()
            .ok_or_else(|| Failure::new(Exit::Key, format!("a passphrase is needed for {what}"), NO_TERMINAL))?;
        let typed = twice(&asker, &format!("new passphrase for {what} (empty for none)"))?;
        Ok((!typed.as_bytes().is_empty()).then(|| self.weighed(typed)))
    }

    /// Returns a new passphrase for `what`. Returns `None` if there is no terminal, or if the user types nothing.
    /// Refuses an empty passphrase from the arguments or the environment, because a script may have left a variable
    /// empty by mistake. `without` is advice for a user who does not want a passphrase.
    pub fn new_if_wanted(&self, what: &str, without: &str) -> Result<Option<Passphrase>, Failure> {
        if let Some(given) = self.given()? {
            return if given.as_bytes().is_empty() {
                Err(empty(without))
            } else {
                Ok(Some(self.weighed(given.clone())))
            };
        }
        let Some(asker) = Asker::find().filter(Asker::is_awaited) else { return Ok(None) };
        let typed = twice(&asker, &format!("passphrase for {what} (empty for none)"))?;
        Ok((!typed.as_bytes().is_empty()).then(|| self.weighed(typed)))
    }
}

fn empty(without: &str) -> Failure {
    Failure::new(Exit::Key, "the passphrase is empty", format!("an empty passphrase protects nothing; {without}"))
}

fn twice(asker: &Asker, question: &str) -> Result<Passphrase, Failure> {
    for _ in 0..TRIES {
        let typed = asker.ask(question)?;
        if typed.as_bytes().is_empty()
            || Secret::copy_of(typed.as_bytes()).same(asker.ask("the same again")?.as_bytes())
        {
            return Ok(typed);
        }
        asker.say("they differ, try again");
    }
    Err(Failure::usage("the passphrases differ", "type the same one twice"))
}

/// Reads the first line in reads of at most `step` bytes. Returns `None` at the end of the input.
pub fn first_line(input: &mut impl Read, step: usize) -> io::Result<Option<Passphrase>> {
    let mut text = Secret::zeroed(LONGEST + 2);
    let mut length = 0;
    while length < text.len() && !text[..length].contains(&b'\n') {
        let end = text.len().min(length + step);
        match input.read(&mut text[length..end]) {
            Ok(0) if length == 0 => return Ok(None),
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let line = text[..length].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(Some(Passphrase::new(line.strip_suffix(b"\r").unwrap_or(line))))
}

/// Checks the length of a line. `is_first` is true if the line is the first line of its file.
fn checked(line: Passphrase, name: &str, is_first: bool) -> Result<Given, Failure> {
    if line.as_bytes().len() > LONGEST {
        let message = format!("the first line of {name} is too long for a passphrase");
        return Err(Failure::usage(message, "check that it is the right file"));
    }
    Ok(Given::without_mark(line, is_first))
}
