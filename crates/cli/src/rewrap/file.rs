//! Changing the recipients of one file.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, open, statat};
use rustix::io::Errno;
use serde_json::{Map, Value, json};

use super::change::{Change, Plan, unknown};
use super::{RewrapArgs, journal, moved, not_a_file, recover};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::identity::Identities;
use crate::partial::folder_of;
use crate::sealed::Sealed;
use crate::shown::{count, shown};
use deadpan_seal::{Error, LooksLike, Stanza};

/// A file that is locked against other runs that change its recipients.
pub struct Target {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The path of the file itself, if `path` is a link to it.
    pub real: PathBuf,
    /// The folder of the file, and its name there.
    pub folder: File,
    pub name: OsString,
    /// The file, for reading and writing.
    pub file: File,
    pub metadata: Metadata,
}

/// The result of changing one file.
#[derive(Default)]
pub struct Outcome {
    /// Whether the file was changed, or with `--dry-run` would be.
    pub changed: bool,
    /// How many recipients were removed.
    pub removed: usize,
    pub remark: String,
    pub notes: Vec<String>,
    /// Fields for the JSON object.
    pub more: Map<String, Value>,
}

impl Target {
    /// Opens and locks a file. A link is followed, so that the file itself changes.
    fn open(path: &Path, writes: bool) -> Result<Self, Failure> {
        let failed = |error: &io::Error| Failure::path("read", path, error);
        let about = fs::metadata(path).map_err(|error| failed(&error))?;
        if !about.is_file() {
            return Err(not_a_file(path, about.is_dir()));
        }
        let real = fs::canonicalize(path).map_err(|error| failed(&error))?;
        let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
        let file = open(&real, access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let file = File::from(
            file.map_err(|error| Failure::path(if writes { "write" } else { "read" }, path, &error.into()))?,
        );
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        let folder = File::open(folder_of(&real)).map_err(|error| failed(&error))?;
        let name = real.file_name().unwrap_or_default().to_owned();
        let target = Self { path: path.to_owned(), real, folder, name, file, metadata };
        if writes {
            target.lock()?;
        }
        Ok(target)
    }

    fn lock(&self) -> Result<(), Failure> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(recover::busy(&self.path)),
            // Some network file systems have no locks.
            Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::NOSYS) | Ok(()) => {}
            Err(error) => return Err(self.failed("lock", &error.into())),
        }
        // A run that had the lock before may have put another file in the place of this one.
        let now = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        if now.is_ok_and(|now| (now.st_dev, now.st_ino) == (self.metadata.dev(), self.metadata.ino())) {
            return Ok(());
        }
        Err(Failure::new(Exit::System, format!("{} was replaced while it was opened", self.shown()), "try again"))
    }

    pub fn shown(&self) -> String {
        shown(&self.path)
    }

    pub fn failed(&self, verb: &str, error: &io::Error) -> Failure {
        Failure::path(verb, &self.path, error)
    }
}

/// A new header for a sealed file or object.
pub struct Rewrapped {
    pub header: Vec<u8>,
    /// The length of the old header.
    pub old: u64,
    pub outcome: Outcome,
}

impl Rewrapped {
    /// Opens the old header, and makes the new one.
    pub fn of(
        name: &str,
        sealed: &Sealed<'_>,
        args: &RewrapArgs,
        change: &mut Change,
        identities: &mut Identities,
        home: &Home,
    ) -> Result<Self, Failure> {
        let opened = identities.open(name, sealed)?;
        let plan = change.plan(name, &opened, home, identities)?;
        let header =
            opened.rewrap_keeping(&plan.kept, &plan.added, plan.mixed).map_err(|error| not_wrapped(name, error))?;
        let mut outcome = outcome(&plan, &opened.stanzas(), args.dry_run);
        if sealed.header.is_signed() && !plan.added_names.is_empty() {
            outcome.notes.push(format!(
                "{name} is signed: unless that was --for-anyone, `open` tells new recipients that it was forwarded"
            ));
        }
        Ok(Self { header, old: opened.header_length(), outcome })
    }
}

/// Changes the recipients of one file.
pub fn rewrap(
    path: &Path,
    args: &RewrapArgs,
    change: &mut Change,
    identities: &mut Identities,
    home: &Home,
) -> Result<Outcome, Failure> {
    let mut target = Target::open(path, !args.dry_run)?;
    if args.dry_run {
        recover::settle(path, &target.file, &target.metadata)?;
    } else {
        recover::settle_target(&target)?;
    }
    let sealed = Sealed::begun(Vec::new(), &target.file).map_err(|error| not_sealed(&target.shown(), error))?;
    let Rewrapped { header, old, mut outcome } =
        Rewrapped::of(&target.shown(), &sealed, args, change, identities, home)?;
    if !outcome.changed {
        return Ok(outcome);
    }
    let fits = !sealed.armored && header.len() as u64 == old;
    if !fits {
        refuse_links(&target, args.force)?;
    }
    if args.dry_run {
        return Ok(outcome);
    }
    let place = if sealed.armored {
        moved::replace_armor(&target, &header, sealed)?;
        "new file"
    } else if fits {
        target.metadata = target.file.metadata().map_err(|error| target.failed("read", &error))?;
        let mut now = vec![0; header.len()];
        target.file.read_exact_at(&mut now, 0).map_err(|error| target.failed("read", &error))?;
        journal::overwrite(&target, now, header)?;
        "in place"
    } else {
        moved::replace(&target, &header, old)?;
        "new file"
    };
    outcome.changed_by(place);
    Ok(outcome)
}

impl Outcome {
    /// Adds how the file or the object was changed.
    pub fn changed_by(&mut self, way: &str) {
        self.remark = format!("{}, {way}", self.remark);
        self.more.insert("in_place".into(), json!(way == "in place"));
    }
}

/// Returns the failure for a list of recipients. The weaker one may be in the file already.
fn not_wrapped(name: &str, error: Error) -> Failure {
    let is_mixed = matches!(error, Error::Mixed(_));
    let failure = Failure::of(name, error);
    let hint = "the recipients of the file and the new ones differ in strength; allow that with --mode ecc, or name \
        all with --to";
    if is_mixed { Failure { hint: Some(hint.into()), ..failure } } else { failure }
}

/// Refuses to put a new file in the place of one that has other names: those would keep the old recipients.
fn refuse_links(target: &Target, force: bool) -> Result<(), Failure> {
    if force || target.metadata.nlink() < 2 {
        return Ok(());
    }
    let message = format!(
        "{} needs a new file, and its {} would keep the old recipients",
        target.shown(),
        count(target.metadata.nlink() - 1, "other hard link", "other hard links")
    );
    Err(Failure::usage(message, "change it all the same with --force"))
}

/// Returns the failure for a file without a header. A picture may carry sealed data.
pub fn not_sealed(name: &str, error: Error) -> Failure {
    let is_picture = matches!(error, Error::NotSealed(LooksLike::Png | LooksLike::WebP));
    let failure = Failure::of(name, error);
    let hint =
        "data in pictures cannot be changed in place: reveal them with --raw, change that file, and hide it again";
    if is_picture { Failure { hint: Some(hint.into()), ..failure } } else { failure }
}

/// Describes the change of a file.
fn outcome(plan: &Plan, stanzas: &[Stanza], dry_run: bool) -> Outcome {
    let list = |names: &[String]| names.join(", ");
    let mut parts = Vec::new();
    if !plan.added_names.is_empty() {
        parts.push(format!("{} {}", if dry_run { "would add" } else { "added" }, list(&plan.added_names)));
    }
    if !plan.removed_names.is_empty() {
        parts.push(format!("{} {}", if dry_run { "would remove" } else { "removed" }, list(&plan.removed_names)));
    }
    let changed = !parts.is_empty();
    if !changed && !dry_run {
        parts.push("unchanged".into());
    }
    let before: Vec<_> = plan
        .before
        .iter()
        .zip(stanzas)
        .map(|(name, stanza)| name.clone().unwrap_or_else(|| unknown(*stanza)))
        .collect();
    if dry_run {
        parts.insert(0, format!("recipients: {}", list(&before)));
    }
    let mut more = Map::new();
    for (key, value) in [
        ("changed", json!(changed)),
        ("dry_run", json!(dry_run)),
        ("recipients_before", json!(plan.before)),
        ("added", json!(plan.added_names)),
        ("removed", json!(plan.removed_names)),
        ("in_place", Value::Null),
    ] {
        more.insert(key.into(), value);
    }
    Outcome { changed, removed: plan.removed_names.len(), remark: parts.join("; "), notes: plan.notes.clone(), more }
}
