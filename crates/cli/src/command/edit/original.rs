//! The sealed file before it is edited.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use super::draft::Draft;
use super::recipients;
use super::reseal::Reseal;
use crate::command::rewrap::moved;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::signers;
use crate::place::ending::{ENDINGS, PAGE};
use crate::place::locked::LockedFile;
use crate::place::recover;
use crate::place::sealed::Sealed;
use crate::place::window::{Limited, TooLong};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{count, is_plain, shown};
use deadpan_disk::About;
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::is_archive;
use deadpan_seal::sign::VerifyingKey;
use deadpan_seal::{Audience, Error, Format, Kind, Level, Metadata, Opened, Recipient, Sealing, Signatures, Work};

/// The most bytes that are edited. The data lie in memory.
const MOST: u64 = 64 << 20;
/// The number of bytes from the start of the sealed file that must not change meanwhile. A header is usually shorter.
const BEGINNING: u64 = 64 << 10;

/// The keys that open a file, and the keys that it is sealed to again.
pub struct Keys {
    pub home: Home,
    /// The recipients on the command line.
    pub named: Vec<(String, Recipient)>,
    pub identities: Identities,
    pub no_sign: bool,
}

pub struct Original {
    pub target: LockedFile,
    pub reseal: Reseal,
    pub notes: Vec<String>,
    beginning: Vec<u8>,
}

impl Original {
    /// Opens a sealed file, and makes the draft. Everything that sealing needs is checked and asked for before: after
    /// this, the editor can start.
    pub fn open(path: &Path, force: bool, keys: &mut Keys) -> Result<(Self, Draft), Failure> {
        let mut target = find(path, force)?;
        recover::settle_target(&target)?;
        target.about = About::of_file(&target.file).map_err(|error| target.failed("read", &error))?;
        refuse_links(&target, force)?;
        let name = target.shown();
        let beginning = beginning(&target)?;
        let mut sealed = Sealed::read_file(&name, &target.file)?;
        let opened = keys.identities.open(&name, &sealed)?;
        if opened.metadata().kind == Kind::Folder {
            return Err(folder(&name));
        }
        recipients::refuse_threshold(&name, &opened.stanzas())?;
        let again = recipients::again(&name, &sealed, &opened, keys)?;
        let notes = moved::rehearse(&target, force)?;
        again.notes.iter().for_each(|note| say(&format!("note: {note}")));
        let mut draft = Draft::create(&draft_name(path, &opened))?;
        let payload = std::mem::replace(&mut sealed.payload, Box::new(std::io::empty()));
        let signatures = draft.fill(|draft| {
            let done = opened.open_stream(payload, Limited::new(draft, MOST), &Work::default());
            done.map(|done| done.signatures).map_err(|error| unopened(&name, error))
        })?;
        if opened.format() == Format::Age && is_tar(&draft) {
            return Err(folder(&name));
        }
        let sealing = sealing(&opened, again.recipients).map_err(|error| Failure::seal(&name, error))?;
        let sealing = signed(&name, sealing, signatures.filter(|_| !keys.no_sign).as_ref(), keys)?;
        let reseal = Reseal { sealing, format: opened.format(), armored: sealed.armored, page: sealed.page.take() };
        drop(sealed);
        Ok((Self { target, reseal, notes, beginning }, draft))
    }

    /// Fails if another program has changed or replaced the file meanwhile.
    pub fn refuse_changed(&self) -> Result<(), Failure> {
        let Self { target, .. } = self;
        target.refuse_changed()?;
        let what = if !target.real.folder.has(&target.real.name, &target.file) {
            "replaced"
        } else if beginning(target)? != self.beginning {
            "changed"
        } else {
            return Ok(());
        };
        let message = format!("another program has {what} {} meanwhile", target.shown());
        Err(Failure::new(Exit::System, message, "edit the file again"))
    }
}

/// Opens and locks the file.
fn find(path: &Path, force: bool) -> Result<LockedFile, Failure> {
    let name = shown(path);
    match About::of_path(path) {
        Ok(about) if about.is_folder() => {
            Err(Failure::usage(format!("{name} is a folder"), "name the sealed file to edit"))
        }
        Ok(about) if !about.is_file() => {
            Err(Failure::usage(format!("{name} is not a regular file"), "edit replaces a file; name a sealed file"))
        }
        _ => LockedFile::find(path, None, true, force).map_err(|failure| match About::of_name(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let plain = bare(full_name(path)).map_or(OsStr::new("FILE"), OsStr::from_bytes);
                let hint = format!("make the file first, and seal it: deadpan seal {}", shown(plain));
                Failure { hint: Some(hint), ..failure }
            }
            _ => failure,
        }),
    }
}

/// Refuses to replace a file that has other hard links by a new file, because the other links keep the old text.
fn refuse_links(target: &LockedFile, force: bool) -> Result<(), Failure> {
    if force || target.about.links < 2 {
        return Ok(());
    }
    let links = count(target.about.links - 1, "other hard link", "other hard links");
    let message = format!("edit makes a new file of {}, and its {links} would keep the old text", target.shown());
    Err(Failure::usage(message, "edit it all the same with --force"))
}

/// Reads the first bytes of the sealed file. Leaves the position at the start of the file.
fn beginning(target: &LockedFile) -> Result<Vec<u8>, Failure> {
    let (mut file, mut bytes) = (&target.file, Vec::new());
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(BEGINNING).read_to_end(&mut bytes));
    let read = read.and_then(|_| (&target.file).seek(SeekFrom::Start(0)));
    read.map(|_| bytes).map_err(|error| target.failed("read", &error))
}

fn folder(name: &str) -> Failure {
    let hint = "open one file of it with `deadpan open --only`, or open all, and seal the folder again";
    Failure::usage(format!("{name} holds a folder, and edit takes single files"), hint)
}

fn unopened(name: &str, error: Error) -> Failure {
    match error {
        Error::Write(error) if error.get_ref().is_some_and(|inner| inner.is::<TooLong>()) => {
            let message =
                format!("the data in {name} are too long to be edited in memory: more than {} MiB", MOST >> 20);
            Failure::usage(message, "open it, edit it, and seal it again")
        }
        Error::Write(error) => Failure::io("write", "the draft in memory", &error),
        error => Failure::seal(name, error),
    }
}

/// Whether the draft is a folder that an age file holds as an archive.
fn is_tar(draft: &Draft) -> bool {
    let mut start = Vec::new();
    let read = draft.file().and_then(|file| file.take(deadpan_pack::BLOCK).read_to_end(&mut start));
    read.is_ok() && is_archive(&start)
}

/// Returns the name of the draft: the name of the sealed file without its extension, or else the sealed name.
fn draft_name(path: &Path, opened: &Opened) -> OsString {
    let full = full_name(path);
    let sealed = opened.metadata().name.as_deref().filter(|name| is_plain(name));
    let name = bare(full).or(sealed).filter(|name| !matches!(*name, b"" | b"." | b"..")).unwrap_or(full);
    OsStr::from_bytes(name).to_owned()
}

fn full_name(path: &Path) -> &[u8] {
    path.file_name().unwrap_or(OsStr::new("draft")).as_bytes()
}

/// Returns the name of a sealed file without its extension, if it has one.
fn bare(full: &[u8]) -> Option<&[u8]> {
    let [own, age] = ENDINGS;
    [own, age, PAGE].iter().find_map(|ending| full.strip_suffix(ending.as_bytes())).filter(|bare| !bare.is_empty())
}

/// Returns the settings with which the file was sealed, for new data. The level of compression is not in the file, so
/// it is the usual one.
fn sealing(opened: &Opened, recipients: Vec<Recipient>) -> Result<Sealing, Error> {
    let old = opened.metadata();
    let metadata = Metadata { modified: old.modified.map(|_| SystemTime::now()), ..old.clone() };
    let sealing = Sealing::mixed(recipients)?.format(opened.format())?.metadata(metadata)?;
    let sealing = sealing.hide_length(opened.hides_length());
    Ok(if opened.is_compressed() { sealing.compress(Level::default()) } else { sealing })
}

/// Adds the signers of the file, who must all be the user.
fn signed(name: &str, sealing: Sealing, signatures: Option<&Signatures>, keys: &Keys) -> Result<Sealing, Failure> {
    let Some(signatures) = signatures else { return Ok(sealing) };
    let add = |sealing: Sealing, key: &VerifyingKey| {
        let signer = signers::with_key(key, &keys.home, keys.identities.passphrases())?;
        let signer = signer.ok_or_else(|| not_yours(name, key))?;
        sealing.sign(signer).map_err(|error| Failure::seal(name, error))
    };
    let sealing = signatures.keys().iter().try_fold(sealing, add)?;
    Ok(if signatures.audience() == Audience::Anyone { sealing.for_anyone() } else { sealing })
}

fn not_yours(name: &str, key: &VerifyingKey) -> Failure {
    let message =
        format!("{name} is signed with a key that you do not have: {} {}", key.scheme().name(), key.fingerprint());
    Failure::new(Exit::Key, message, "your text would not be signed; go on without a signature with --no-sign")
}
