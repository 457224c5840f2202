//! Checks whether an existing result is sealed for the same recipients as a new result of this command.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::key::identity::Identities;
use crate::key::recipient::Recipients;
use crate::place::sealed::Sealed;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_fleet::TreeFile;
use deadpan_seal::{Error, Format, Opened, PublicKey, Stanza};

/// The recipients for whom results are sealed.
pub struct Readers {
    keys: Vec<PublicKey>,
    /// The kinds of a result's recipients, in sorted order.
    kinds: Vec<String>,
    /// The number of keys that are needed together to open a result.
    needed: usize,
    /// The user's own keys. Only those of the user's keys that need no passphrase are used to open results.
    own: Mutex<Identities>,
    /// The `rewrap` command with which existing results get the recipients of this command.
    command: Option<String>,
    /// The number of existing results that are sealed for other recipients, or may be.
    others: AtomicU64,
    unknown: AtomicU64,
}

/// The outcome of comparing the recipients of an existing result with the recipients that a new result would have.
#[derive(Debug)]
enum Compared {
    Same,
    Others,
    /// The file is not a sealed file, or its header is damaged.
    Unsealed(Error),
    /// The recipients cannot be compared: none of the user's keys opens the result without a passphrase, or the result
    /// does not show the owners of its recipients.
    Unknown,
}

impl Readers {
    /// `options` are the options that choose the same recipients for `rewrap`.
    pub fn new(to: &Recipients, own: Identities, options: &str) -> Self {
        let mut keys: Vec<PublicKey> = Vec::new();
        to.keys.iter().for_each(|key| {
            if !keys.contains(key) {
                keys.push(key.clone())
            }
        });
        let share = if to.needed > 1 { format!(" {}", to.needed) } else { String::new() };
        let kinds = keys.iter().map(|key| format!("{}{share}", key.kem().name()));
        let kinds = kinds.chain(to.passphrase.iter().map(|_| "passphrase".to_owned()));
        let mut kinds: Vec<_> = kinds.chain(to.others.iter().map(|_| "other".to_owned())).collect();
        kinds.sort();
        // `rewrap` replaces recipients only by keys, and otherwise adds the passphrase to the old recipients.
        let is_fit = to.needed == 1 && !(keys.is_empty() && to.others.is_empty());
        let command = is_fit.then(|| format!("deadpan rewrap --recursive{options}"));
        let (others, unknown) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { keys, kinds, needed: to.needed, own: Mutex::new(own), command, others, unknown }
    }

    /// Checks that an existing result is sealed for the recipients of this command, as far as the user's keys show
    /// this. Counts the other results.
    pub fn check(&self, result: &TreeFile) -> Result<(), Failure> {
        match self.compare(result) {
            Compared::Same => Ok(()),
            Compared::Unknown => {
                self.unknown.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Compared::Unsealed(error) => {
                let failure = Failure::seal(&shown(result.path()), error);
                let hint = "look at it, and seal its source again with --force".into();
                let message = format!("{}; it is in the place of a result, and is not replaced", failure.message);
                Err(Failure { message, hint: Some(hint), ..failure })
            }
            Compared::Others => {
                self.others.fetch_add(1, Ordering::Relaxed);
                Err(self.refused(result))
            }
        }
    }

    /// Returns the number of existing results that are sealed for other recipients.
    pub fn others(&self) -> u64 {
        self.others.load(Ordering::Relaxed)
    }

    /// Returns the number of existing results that may be sealed for other recipients.
    pub fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }

    /// Compares the recipients of a result with the recipients of this command. Returns `Unknown` if the result cannot
    /// be read.
    fn compare(&self, result: &TreeFile) -> Compared {
        let opened = result.spot().and_then(|spot| spot.folder.file(&spot.name));
        let Ok((file, about)) = opened else { return Compared::Unknown };
        if !about.is_file() {
            return Compared::Unknown;
        }
        let sealed = match Sealed::begun(Vec::new(), &file) {
            Ok(sealed) => sealed,
            Err(Error::Read(_)) => return Compared::Unknown,
            Err(error) => return Compared::Unsealed(error),
        };
        let mut kinds: Vec<_> = sealed.stanzas.iter().map(kind).collect();
        kinds.sort();
        if kinds != self.kinds {
            return Compared::Others;
        }
        let own = self.own.lock();
        let is_ready = |key: &PublicKey| own.private_keys().iter().any(|own| own.public() == key);
        match own.open_at_once(&sealed) {
            Some(opened) if self.needed == 1 => self.recognize(&opened, &own),
            Some(_) => Compared::Unknown,
            None if self.needed == 1 && self.keys.iter().any(is_ready) => Compared::Others,
            None => Compared::Unknown,
        }
    }

    /// Searches for each key among the recipients of a result that was opened. The result has as many recipients as
    /// this command has keys.
    fn recognize(&self, opened: &Opened, own: &Identities) -> Compared {
        let private = own.private_keys();
        let finds = |key: &PublicKey| {
            let own = private.iter().find(|own| own.public() == key);
            let by_own = own.is_some_and(|own| opened.recipients_of(own).is_ok_and(|numbers| !numbers.is_empty()));
            by_own || opened.recipients_with(key).is_ok_and(|numbers| !numbers.is_empty())
        };
        match self.keys.iter().all(finds) {
            true if self.keys.len() == self.kinds.len() => Compared::Same,
            false if opened.format() == Format::Deadpan => Compared::Others,
            _ => Compared::Unknown,
        }
    }

    fn refused(&self, result: &TreeFile) -> Failure {
        let again = "seal such results again with --force";
        let hint = match &self.command {
            Some(command) => {
                format!("give all results these recipients: {command} {}; or {again}", quoted(result.tree.path()))
            }
            None => format!("{again}, or choose another place with --to"),
        };
        Failure::usage(format!("{} is there already, and sealed for other recipients", shown(result.path())), hint)
    }
}

/// Returns a path as a word for a shell.
fn quoted(path: &Path) -> String {
    let text = shown(path);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte) || !byte.is_ascii();
    if text.bytes().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Describes the kind of a result's recipient, in the same words as [`Readers::new`] uses for the recipients of new
/// results.
fn kind(stanza: &Stanza) -> String {
    match stanza {
        Stanza::Key(kem) => kem.name().to_owned(),
        Stanza::Share { kem, needed, .. } => format!("{} {needed}", kem.name()),
        Stanza::Passphrase(_) | Stanza::Session(_) => "passphrase".to_owned(),
        Stanza::Plugin { .. } | Stanza::Ssh(_) | Stanza::Unknown => "other".to_owned(),
    }
}
