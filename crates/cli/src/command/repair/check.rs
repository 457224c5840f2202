//! `deadpan repair check`: finds damage.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::sidecar::{self, OpenSidecar, SidecarArgs};
use crate::command::plan::Plan;
use crate::place::input::{Input, Source};
use crate::place::report::{Done, Report};
use crate::tell::console::is_quiet;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::amount;
use crate::tell::shown::count;
use deadpan_repair::{Error, Report as Damage};

/// The maximum number of damaged ranges that a message lists. JSON lists more.
const MOST: usize = 20;
/// The maximum number of damaged ranges in JSON.
const MOST_IN_JSON: usize = 10_000;

/// Checks files against their recovery data, and tells what is damaged
///
/// Reads all of FILE and of FILE.dpr. The exit code is 0 if both are whole, and 1 if one is damaged.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan repair check photos.dpn              with photos.dpn.dpr",
    "deadpan repair check --json *.dpn            the damaged ranges, for scripts",
    "deadpan repair check -s disk2/film.mkv.dpr film.mkv"
))]
pub struct RepairCheckArgs {
    #[command(flatten)]
    sidecar: SidecarArgs,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    json: bool,
    /// The files to check
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub struct RepairCheck {
    args: RepairCheckArgs,
    sources: Vec<Source>,
}

impl RepairCheckArgs {
    pub fn plan(self) -> Result<RepairCheck, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.sidecar.check(&sources)?;
        Ok(RepairCheck { args: self, sources })
    }
}

impl Plan for RepairCheck {
    fn run(&self) -> Result<Exit, Failure> {
        let mut report = Report::new("repair check", self.args.json, self.sources.len()).talking();
        for source in &self.sources {
            let start = Instant::now();
            report.add(source, start, &self.check(source));
        }
        Ok(report.exit())
    }
}

impl RepairCheck {
    fn check(&self, source: &Source) -> Result<Done, Failure> {
        let path = source.path().unwrap_or("-".as_ref());
        sidecar::refuse_sidecar(path, "check")?;
        let input = sidecar::regular(source)?;
        let open = OpenSidecar::open(self.args.sidecar.path(path), &input.shown())?;
        let damage = open.check(&open.read()?, &input)?;
        let lists_places = self.args.json || !is_quiet();
        Ok(judged(&input, &open, &damage, lists_places))
    }
}

/// Returns the result of a check, with messages about all damage. With `lists_places`, notes list the damaged places of
/// the file.
fn judged(input: &Input, open: &OpenSidecar, damage: &Damage, lists_places: bool) -> Done {
    let name = input.shown();
    let done = Done { bytes: damage.file_length(), more: fields(damage), ..Done::default() };
    let spoiled = |failure: Failure, remark: &str| Done {
        exit: Exit::Data,
        failures: vec![failure],
        remark: Some(remark.into()),
        ..Done::default()
    };
    let worn = format!("{} is damaged: {}", open.shown(), sidecar_damage(damage));
    if damage.is_whole() && damage.is_sidecar_whole() {
        return Done { remark: Some("whole, and so are its recovery data".into()), ..done };
    }
    if damage.is_whole() {
        let hint = format!("make it again, while {name} is whole: deadpan repair make --force {name}");
        let spoiled = spoiled(Failure::new(Exit::Data, worn, hint), "whole, but not its recovery data");
        return Done { bytes: done.bytes, more: done.more, ..spoiled };
    }
    let (failure, remark) = match damage.fixable() {
        Ok(()) => {
            let hint = format!(
                "repair it with: deadpan repair fix {name}; if it was changed on purpose: deadpan repair make --force \
                 {name}"
            );
            (Failure::new(Exit::Data, format!("{name} is damaged: {}", file_damage(damage)), hint), "can be repaired")
        }
        Err(error @ Error::Foreign) => {
            let failure = Failure::repair(&name, open.shown(), error);
            return Done {
                bytes: done.bytes,
                more: done.more,
                ..spoiled(failure, "not the file of the recovery data")
            };
        }
        Err(error) => (Failure::repair(&name, open.shown(), error), "cannot be repaired"),
    };
    let most = if lists_places { MOST } else { 0 };
    let mut notes: Vec<_> = damage
        .missing()
        .take(most)
        .map(|(begin, end)| format!("{name}: bytes {begin} to {} are damaged", end - 1))
        .collect();
    let others = damage.missing().skip(MOST).count() as u64;
    notes.extend((lists_places && others > 0).then(|| format!("{name}: {} more", count(others, "place", "places"))));
    notes.extend((!damage.is_sidecar_whole()).then_some(worn));
    Done { bytes: done.bytes, more: done.more, ..spoiled(Failure { notes, ..failure }, remark) }
}

/// Describes the damage to a file.
fn file_damage(damage: &Damage) -> String {
    let mut parts = Vec::new();
    let (missing, moved) = (damage.missing_bytes(), damage.moved_bytes());
    if missing > 0 {
        let ranges = count(damage.missing().count() as u64, "place", "places");
        parts.push(format!("{} are missing, in {ranges}", amount(missing)));
    }
    if moved > 0 {
        parts.push(format!("{} have moved", amount(moved)));
    }
    let (length, original) = (damage.file_length(), damage.original_length());
    if length != original {
        let (by, how) = (amount(length.abs_diff(original)), if length < original { "too short" } else { "too long" });
        parts.push(format!("it is {by} {how}"));
    }
    if parts.is_empty() { "its hash is wrong".into() } else { parts.join("; ") }
}

/// Describes the damage to a sidecar.
fn sidecar_damage(damage: &Damage) -> String {
    match damage.damaged_recovery_bytes() {
        0 => "headers, tables or its length, but none of the recovery data".into(),
        damaged => {
            let all = damaged + damage.recovery_bytes();
            format!("{} of {} of recovery data are lost", amount(damaged), amount(all))
        }
    }
}

fn fields(damage: &Damage) -> Map<String, Value> {
    let ranges: Vec<_> = damage.missing().take(MOST_IN_JSON).collect();
    let mut more = Map::new();
    for (key, value) in [
        ("whole", json!(damage.is_whole())),
        ("sidecar_whole", json!(damage.is_sidecar_whole())),
        ("fixable", json!(damage.fixable().is_ok())),
        ("original_bytes", json!(damage.original_length())),
        ("missing_bytes", json!(damage.missing_bytes())),
        ("missing_ranges", json!(ranges)),
        ("moved_bytes", json!(damage.moved_bytes())),
        ("recovery_bytes", json!(damage.recovery_bytes())),
        ("damaged_recovery_bytes", json!(damage.damaged_recovery_bytes())),
    ] {
        more.insert(key.into(), value);
    }
    more
}
