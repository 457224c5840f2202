//! Changes the recipients of one file.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::change::{Change, RecipientPlan, unknown};
use super::{RewrapArgs, moved};
use crate::command::repair::sidecar::outdated;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::place::locked::{LockedFile, replaced};
use crate::place::sealed::Sealed;
use crate::place::{journal, recover};
use crate::tell::failure::Failure;
use crate::tell::shown::count;
use deadpan_disk::portable::FileExt;
use deadpan_disk::{About, Spot};
use deadpan_seal::{Error, LooksLike, Stanza};

/// The result of changing one file.
#[derive(Default)]
pub struct Outcome {
    /// Whether the file was changed. With `--dry-run`: whether the file needs to be changed.
    pub changed: bool,
    pub removed: usize,
    pub remark: String,
    pub notes: Vec<String>,
    /// More fields for the JSON object of the result.
    pub more: Map<String, Value>,
}

/// A new header for a sealed file or object.
pub struct Rewrapped {
    pub header: Vec<u8>,
    /// The length of the old header.
    pub old: u64,
    pub outcome: Outcome,
}

impl Rewrapped {
    pub fn make(
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
        if outcome.changed && sealed.page.as_ref().is_some_and(|page| page.version().is_none()) {
            outcome.notes.push(format!("{name} keeps its page, which is not the page of this version"));
        }
        Ok(Self { header, old: opened.header_length(), outcome })
    }
}

/// Changes the recipients of one file: the file at `spot` if `spot` is given, or else the file at `path`.
pub fn rewrap(
    path: &Path,
    spot: Option<Spot>,
    args: &RewrapArgs,
    change: &mut Change,
    identities: &mut Identities,
    home: &Home,
) -> Result<Outcome, Failure> {
    let mut target = LockedFile::find(path, spot, !args.dry_run, args.force)?;
    if args.dry_run {
        recover::settle(path, &target.real, &target.file, &target.about)?;
    } else {
        recover::settle_target(&target)?;
        // Recovery may have restored the old header, so the facts about the file are read again.
        target.about = About::of_file(&target.file).map_err(|error| target.failed("read", &error))?;
    }
    let sealed = Sealed::begun(Vec::new(), &target.file).map_err(|error| not_sealed(&target.shown(), error))?;
    let Rewrapped { header, old, mut outcome } =
        Rewrapped::make(&target.shown(), &sealed, args, change, identities, home)?;
    if !outcome.changed {
        return Ok(outcome);
    }
    let fits = !sealed.armored && header.len() as u64 == old;
    if !fits {
        refuse_links(&target, args.force)?;
    }
    if args.dry_run {
        if fits {
            let writable = target.real.folder.file_to_change(&target.real.name);
            writable.map_err(|error| target.failed("write", &error))?;
        } else {
            outcome.notes.extend(moved::rehearse(&target, args.force)?);
        }
        return Ok(outcome);
    }
    target.refuse_changed()?;
    let place = if sealed.armored {
        outcome.notes.extend(moved::replace_armor(&target, &header, sealed, args.force)?);
        "new file"
    } else if fits {
        if !target.real.folder.has(&target.real.name, &target.file) {
            return Err(replaced(path));
        }
        let mut now = vec![0; header.len()];
        target.file.read_exact_at(&mut now, 0).map_err(|error| target.failed("read", &error))?;
        journal::overwrite(&target, now, header)?;
        "in place"
    } else {
        outcome.notes.extend(moved::replace(&target, &header, old, args.force)?);
        "new file"
    };
    outcome.changed_by(place);
    outcome.notes.extend(outdated(path));
    Ok(outcome)
}

impl Outcome {
    /// Adds to the outcome how the file or the object was changed: in place or as a new file.
    pub fn changed_by(&mut self, way: &str) {
        self.remark = format!("{}, {way}", self.remark);
        self.more.insert("in_place".into(), json!(way == "in place"));
    }
}

/// Returns the failure if no header can be made for a list of recipients. If the recipients have different strengths,
/// the file may already have the weaker recipient.
fn not_wrapped(name: &str, error: Error) -> Failure {
    let is_mixed = matches!(error, Error::Mixed(_));
    let failure = Failure::seal(name, error);
    let hint = "the recipients of the file and the new ones differ in strength; allow that with --mode ecc, or name \
        all with --to";
    if is_mixed { Failure { hint: Some(hint.into()), ..failure } } else { failure }
}

/// Refuses to replace a file that has other hard links by a new file, because the other links keep the file with the
/// old recipients.
fn refuse_links(target: &LockedFile, force: bool) -> Result<(), Failure> {
    if force || target.about.links < 2 {
        return Ok(());
    }
    let message = format!(
        "{} needs a new file, and its {} would keep the old recipients",
        target.shown(),
        count(target.about.links - 1, "other hard link", "other hard links")
    );
    Err(Failure::usage(message, "change it all the same with --force"))
}

/// Returns the failure for a file without a header. The file may be a picture that carries sealed data.
pub fn not_sealed(name: &str, error: Error) -> Failure {
    let is_picture = matches!(error, Error::NotSealed(LooksLike::Png | LooksLike::WebP));
    let failure = Failure::seal(name, error);
    let hint =
        "data in pictures cannot be changed in place: reveal them with --raw, change that file, and hide it again";
    if is_picture { Failure { hint: Some(hint.into()), ..failure } } else { failure }
}

fn outcome(plan: &RecipientPlan, stanzas: &[Stanza], dry_run: bool) -> Outcome {
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
