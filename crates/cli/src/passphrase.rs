//! Where passphrases come from: a file, a descriptor, the environment, or the terminal. Never an argument, which everybody can see.

use crate::failure::{Exit, Failure};
use crate::input::Source;
use crate::prompt::{LONGEST, Terminal};
use deadpan_seal::{Passphrase, Secret};
use std::cell::OnceCell;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const VARIABLE: &str = "DEADPAN_PASSPHRASE";
/// How often a person may mistype.
const TRIES: usize = 3;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct PassphraseArgs {
    /// Take the passphrase from the first line of this file, instead of the terminal (or DEADPAN_PASSPHRASE)
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    passphrase_file: Option<PathBuf>,
    /// Take the passphrase from the first line of this open descriptor
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<u32>,
}

impl PassphraseArgs {
    /// Standard input gives the passphrase or data, not both.
    pub fn leave_stdin_to(&self, sources: &[Source]) -> Result<(), Failure> {
        let taken = self.passphrase_fd == Some(0) || self.passphrase_file.as_deref().is_some_and(|file| file == Path::new("/dev/stdin"));
        if taken && sources.contains(&Source::Stdin) {
            return Err(Failure::usage(
                "standard input cannot give both the data and the passphrase",
                "use another descriptor: --passphrase-fd 3",
            ));
        }
        Ok(())
    }

    fn file(&self) -> Option<PathBuf> {
        // A descriptor is opened by its name: to adopt a number as a file would take `unsafe`.
        self.passphrase_file.clone().or_else(|| self.passphrase_fd.map(|number| PathBuf::from(format!("/dev/fd/{number}"))))
    }
}

/// Gets passphrases when they are needed, and asks for none twice.
pub struct Passphrases {
    args: PassphraseArgs,
    given: OnceCell<Option<Passphrase>>,
    typed: OnceCell<Passphrase>,
}

impl Passphrases {
    pub fn new(args: &PassphraseArgs) -> Self {
        Self { args: args.clone(), given: OnceCell::new(), typed: OnceCell::new() }
    }

    /// The one that was given without a terminal.
    pub fn given(&self) -> Result<Option<&Passphrase>, Failure> {
        if self.given.get().is_none() {
            let given = match self.args.file() {
                Some(file) => Some(first_line(&file)?),
                None => std::env::var_os(VARIABLE).map(|text| Passphrase::new(text.as_bytes())),
            };
            let _ = self.given.set(given);
        }
        Ok(self.given.get().and_then(Option::as_ref))
    }

    /// Tries what is given, or else what a person types, on `lock`: `None` from it means that the passphrase does not fit. `Ok(None)` if the
    /// person types nothing.
    pub fn unlock<T>(&self, what: &str, mut lock: impl FnMut(&Passphrase) -> Result<Option<T>, Failure>) -> Result<Option<T>, Failure> {
        let wrong = || {
            Failure::new(
                Exit::Key,
                format!("the passphrase does not fit {what}"),
                "passphrases are case-sensitive; check the keyboard's layout",
            )
        };
        if let Some(given) = self.given()? {
            return lock(given)?.map(Some).ok_or_else(wrong);
        }
        let terminal = Terminal::find().ok_or_else(|| {
            let hint = "run this on a terminal, or give it with --passphrase-file, --passphrase-fd or DEADPAN_PASSPHRASE";
            Failure::new(Exit::Key, format!("a passphrase is needed for {what}"), hint)
        })?;
        for left in (0..TRIES).rev() {
            let typed = terminal.ask(&format!("passphrase for {what}"))?;
            if typed.as_bytes().is_empty() {
                return Ok(None);
            }
            match lock(&typed)? {
                Some(open) => return Ok(Some(open)),
                None if left > 0 => terminal.say("it does not fit, try again"),
                None => {}
            }
        }
        Err(wrong())
    }

    /// A new one for `what`, typed twice. Asked for once: several files sealed together get the same.
    pub fn new_one(&self, what: &str) -> Result<Passphrase, Failure> {
        let empty = || Failure::usage("the passphrase is empty", "an empty passphrase protects nothing");
        if let Some(known) = self.given()?.or(self.typed.get()) {
            return if known.as_bytes().is_empty() { Err(empty()) } else { Ok(known.clone()) };
        }
        let terminal = Terminal::find().ok_or_else(|| {
            let hint = "run this on a terminal, or give it with --passphrase-file, --passphrase-fd or DEADPAN_PASSPHRASE";
            Failure::usage(format!("a passphrase is needed for {what}"), hint)
        })?;
        let typed = twice(&terminal, &format!("new passphrase for {what}"))?;
        if typed.as_bytes().is_empty() {
            return Err(empty());
        }
        Ok(self.typed.get_or_init(|| typed).clone())
    }

    /// A new one for `what`, if the person wants one: without a terminal, or with an empty answer, there is none.
    pub fn new_if_wanted(&self, what: &str) -> Result<Option<Passphrase>, Failure> {
        if let Some(given) = self.given()? {
            return Ok((!given.as_bytes().is_empty()).then(|| given.clone()));
        }
        // A program started by another program has nobody to ask, even if a terminal is somewhere up the line.
        let Some(terminal) = Terminal::find().filter(|_| std::io::stderr().is_terminal()) else { return Ok(None) };
        let typed = twice(&terminal, &format!("passphrase for {what} (empty for none)"))?;
        Ok((!typed.as_bytes().is_empty()).then_some(typed))
    }
}

fn twice(terminal: &Terminal, question: &str) -> Result<Passphrase, Failure> {
    for _ in 0..TRIES {
        let typed = terminal.ask(question)?;
        if typed.as_bytes().is_empty() || Secret::copy_of(typed.as_bytes()).same(terminal.ask("the same again")?.as_bytes()) {
            return Ok(typed);
        }
        terminal.say("they differ, try again");
    }
    Err(Failure::usage("the passphrases differ", "type the same one twice"))
}

fn first_line(path: &Path) -> Result<Passphrase, Failure> {
    let failed = |error| Failure::path("read the passphrase from", path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let mut text = Secret::zeroed(LONGEST + 2);
    let mut length = 0;
    while length < text.len() && !text[..length].contains(&b'\n') {
        match file.read(&mut text[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let line = text[..length].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > LONGEST {
        return Err(Failure::usage(
            format!("the first line of {} is too long for a passphrase", crate::shown::shown(path)),
            "is it the right file?",
        ));
    }
    Ok(Passphrase::new(line))
}
