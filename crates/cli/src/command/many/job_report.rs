//! Reports the work on many objects to the user: each failure, and a summary at the end.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::command::folder;
use crate::command::many::left_out::{note, print_left_out};
use crate::command::many::readers::Readers;
use crate::place::input::Source;
use crate::place::output::{OutputArgs, Place};
use crate::place::report::{Done, Report};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::names::{joined, put_name};
use crate::tell::progress::{Progress, amount};
use crate::tell::shown::{count, shown};
use crate::tell::streams::{print, print_json};
use deadpan_disk as disk;
use deadpan_disk::portable::OsStrExt;
use deadpan_fleet::{Error, Job, LeftOut, Observer, Outcome, Pair, Removal, Spot};
use deadpan_remote::Problem;

pub struct JobReport<'a> {
    command: &'static str,
    json: bool,
    rehearse: bool,
    /// Whether existing results may be replaced.
    replace: bool,
    start: Instant,
    progress: Progress,
    report: Mutex<Report>,
    tally: Mutex<JobTally>,
    readers: Option<&'a Readers>,
}

#[derive(Default)]
struct JobTally {
    made: u64,
    there: u64,
    would: u64,
    waiting: u64,
    failed: u64,
    /// The number of empty folders that were made, or would be.
    folders: u64,
    left_out: LeftOut,
    /// The number of results and folders that `--mirror` has removed, or would remove.
    removed: u64,
    bytes: u64,
    /// Whether an object failed for a reason that may be gone when the user runs the command again.
    passing: bool,
    /// The exit code if a line could not be printed.
    mute: Option<Exit>,
}

impl JobTally {
    /// Reports the first line that could not be printed.
    fn mute(&mut self, failure: &Failure) {
        if self.mute.is_none() {
            failure.end();
            self.mute = Some(failure.exit);
        }
    }
}

impl<'a> JobReport<'a> {
    pub fn new(
        command: &'static str,
        output: &OutputArgs,
        rehearse: bool,
        name: &str,
        readers: Option<&'a Readers>,
    ) -> Self {
        let (json, replace) = (output.json, output.force);
        let report = Report::new(command, json, 1).quiet().hinting_once();
        let progress = Progress::of_many(name).hidden_if(rehearse);
        let (report, tally) = (Mutex::new(report), Mutex::default());
        Self { command, json, rehearse, replace, start: Instant::now(), progress, report, tally, readers }
    }

    fn tell(&self, pair: &Pair, outcome: Outcome) {
        let (source, target) = (Source::File(path_of(&pair.source)), Place::Given(path_of(&pair.target)));
        let (mut tally, would) = (self.tally.lock(), matches!(outcome, Outcome::Would(_)));
        let done = |state: &str, bytes: u64| {
            let more = [("state".to_owned(), Value::from(state))].into_iter().collect();
            Done { output: Some(target.clone()), bytes, more, ..Done::default() }
        };
        let result = match outcome {
            Outcome::Made(bytes) => {
                (tally.made, tally.bytes) = (tally.made + 1, tally.bytes + bytes);
                Ok(done("made", bytes))
            }
            Outcome::There => {
                tally.there += 1;
                Ok(done("there", 0))
            }
            Outcome::Would(bytes) => {
                (tally.would, tally.bytes) = (tally.would + 1, tally.bytes + bytes);
                Ok(done("would", bytes))
            }
            Outcome::Waiting(missing) => {
                tally.waiting += 1;
                let mut done = done("waiting", 0);
                done.more.insert("missing".into(), missing.into());
                Ok(done)
            }
            Outcome::Failed(error) => {
                let exists = matches!(&error, Error::Store(error) if error.problem() == Problem::Exists);
                let mut failure = Failure::job(&source.shown(), error);
                // The object did not exist when the program listed the targets, so another command has made the object
                // since then.
                if exists {
                    failure.exit = Exit::System;
                    failure.hint =
                        Some("another command makes it, too: let this end, and run the command again".into());
                }
                tally.failed += 1;
                tally.passing |= failure.exit == Exit::System;
                Err(failure)
            }
        };
        // A rehearsal (`--dry-run`) prints a line for each object.
        if would && !self.json {
            let line = format!("{}: {} -> {}\n", self.command, source.shown(), target.shown());
            if tally.mute.is_none()
                && let Err(failure) = print(&line)
            {
                tally.mute(&failure);
            }
            return;
        }
        drop(tally);
        self.report.lock().add(&source, self.start, &result);
    }

    pub fn has_failed(&self) -> bool {
        let tally = self.tally.lock();
        tally.failed + tally.waiting > 0 || tally.mute.is_some()
    }

    /// Whether the run found an object that has a result, or would have one.
    pub fn has_files(&self) -> bool {
        let tally = self.tally.lock();
        tally.made + tally.there + tally.would > 0
    }

    pub fn is_rehearsal(&self) -> bool {
        self.rehearse
    }

    /// Shows a result or a folder that a command with `--mirror` would remove.
    pub fn would_remove(&self, path: &Path) -> Result<(), Failure> {
        self.tally.lock().removed += 1;
        match self.json {
            true => self.print_removal(path, "would_remove"),
            false => print(&format!("{}: would remove {}\n", self.command, shown(path))),
        }
    }

    /// Counts and reports a result or a folder that was removed, or that could not be removed.
    pub fn removed(&self, Removal { path, result }: Removal) {
        let told = match result {
            Ok(()) => {
                self.tally.lock().removed += 1;
                if self.json {
                    self.print_removal(&path, "removed")
                } else {
                    say(&format!("{}: removed {}", self.command, shown(&path)));
                    Ok(())
                }
            }
            Err(Error::Write(path, error)) => Err(unremoved(&path, &error)),
            Err(error) => Err(Failure::job(&shown(&path), error)),
        };
        if let Err(failure) = told {
            self.tally.lock().failed += 1;
            self.report.lock().add(&Source::File(path), self.start, &Err(failure));
        }
    }

    fn print_removal(&self, path: &Path, state: &str) -> Result<(), Failure> {
        let mut fields = serde_json::Map::new();
        put_name(&mut fields, "output", Some(path.as_os_str().as_bytes()));
        print_json(&joined(fields, json!({ "schema": 1, "command": self.command, "state": state })))
    }

    /// Whether the run found no object.
    pub fn is_empty(&self) -> bool {
        let tally = self.tally.lock();
        [tally.made, tally.there, tally.would, tally.waiting, tally.failed, tally.folders]
            .iter()
            .all(|number| *number == 0)
    }

    /// Prints the summary of a run that ended with a failure. Without `--json`, prints no summary if no object was
    /// made. Returns the failure. The exit code of the returned failure is the highest exit code of the failure and of
    /// all objects.
    pub fn end_early(self, job: Option<&Job>, is_new: bool, mut failure: Failure) -> Failure {
        let worst = self.report.lock().worst();
        failure.exit = failure.exit.max(worst);
        let is_told = self.json;
        if self.json || self.tally.lock().made > 0 {
            self.finish(job, 1, is_new, &[], Some(&failure));
        }
        failure.told = is_told;
        failure
    }

    /// Prints the summary: how many objects were made, how many existed before, and how many failed. Returns the exit
    /// code. `shares` is the number of shares into which the job is divided. If `is_new` is true, this job did not make
    /// the results that existed before, and a note says so. `idle` contains the patterns that matched no object.
    pub fn end(self, job: Option<&Job>, shares: u64, is_new: bool, idle: &[Vec<u8>]) -> Exit {
        self.finish(job, shares, is_new, idle, None)
    }

    fn finish(self, job: Option<&Job>, shares: u64, is_new: bool, idle: &[Vec<u8>], failure: Option<&Failure>) -> Exit {
        let Self { command, json, rehearse, replace, start, progress, report, tally, readers } = self;
        drop(progress);
        let report = report.into_inner();
        let JobTally { made, there, would, waiting, failed, folders, left_out, removed, bytes: moved, passing, mute } =
            tally.into_inner();
        let beside = left_out.links.len() + left_out.specials.len() + left_out.folders.len();
        let (others, unknown) = readers.map_or((0, 0), |readers| (readers.others(), readers.unknown()));
        let seconds = start.elapsed().as_secs_f64();
        if json {
            let exit = failure.map_or(report.worst(), |failure| failure.exit);
            let fields = json!({
                "schema": 1,
                "command": command,
                "summary": true,
                "made": made,
                "there": there,
                "would": would,
                "waiting": waiting,
                "failed": failed,
                "for_others": others,
                "removed": removed,
                "folders": folders,
                "left_out": beside,
                "idle_patterns": idle.iter().map(|pattern| String::from_utf8_lossy(pattern)).collect::<Vec<_>>(),
                "bytes": moved,
                "seconds": seconds,
                "job": job.map(|job| job.folder().text()),
                "job_is_new": is_new,
                "error": failure.map(|failure| failure.message.as_str()),
                "hint": failure.and_then(|failure| failure.hint.as_deref()),
                "exit": exit as u8,
            });
            if let Err(unwritten) = print_json(&fields) {
                failure.into_iter().chain([&unwritten]).for_each(Failure::say);
                return report.exit().max(Exit::System);
            }
            return report.exit();
        }
        let mut parts = Vec::new();
        let amount = amount(moved);
        if rehearse {
            parts.push(format!("{} ({amount}) would be done", count(would, "object", "objects")));
        } else {
            parts.push(format!("{} ({amount}) in {seconds:.1} s", count(made, "object", "objects")));
        }
        // With `--force`, these results are made again.
        let refused = if replace { 0 } else { others };
        let rest = [
            (there, "there already"),
            (waiting, "with parts that others have to make"),
            (refused, "sealed for other recipients"),
            (folders, if folders == 1 { "empty folder" } else { "empty folders" }),
            (removed, if rehearse { "to remove" } else { "removed" }),
            (failed.saturating_sub(refused), "failed"),
        ];
        parts.extend(rest.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")));
        say(&format!("{command}: {}", parts.join(", ")));
        if is_new && there > 0 {
            say("note: this job has not made the results that were there already, and they may be sealed for others: \
                 deadpan inspect shows the recipients, and deadpan rewrap --recursive changes them");
        }
        if others > refused {
            let results = count(others, "result was", "results were");
            let again = if rehearse { "would be" } else { "are" };
            say(&format!("note: {results} sealed for other recipients, and {again} made again"));
        }
        if unknown > 0 {
            let results = count(unknown, "result was there already, and may", "results were there already, and may");
            say(&format!("note: {results} be sealed for others: deadpan inspect --keys shows for whom"));
        }
        folder::idle(idle.iter().map(Vec::as_slice)).for_each(|note| say(&format!("note: {note}")));
        if let Some(text) = note(&left_out) {
            say(&format!("note: {text}"));
        }
        if let Some(job) = job.filter(|_| waiting > 0 || passing) {
            let next =
                if shares > 1 && !passing { "run the other shares to go on" } else { "run the command again to go on" };
            say(&format!(
                "note: {next}; --dry-run shows what is missing, and deadpan cluster status {job} the long objects that \
                 are half done"
            ));
        }
        report.exit().max(mute.unwrap_or_default())
    }
}

impl Observer for JobReport<'_> {
    fn ended(&self, pair: &Pair, outcome: Outcome) {
        self.tell(pair, outcome);
    }

    fn progressed(&self, bytes: u64) {
        self.progress.add(bytes);
    }

    fn remarked(&self, remark: &str) {
        say(&format!("note: {remark}"));
    }

    fn planned(&self, bytes: Option<u64>) {
        self.progress.plan(bytes);
    }

    fn folder_ended(&self, pair: &Pair, outcome: Outcome) {
        let (source, target) = (Source::File(path_of(&pair.source)), Place::Given(path_of(&pair.target)));
        let told = match outcome {
            Outcome::Failed(error) => {
                let failure = Failure::job(&source.shown(), error);
                self.tally.lock().failed += 1;
                return self.report.lock().add(&source, self.start, &Err(failure));
            }
            Outcome::Would(_) if !self.json => {
                print(&format!("{}: {}/ -> {}/\n", self.command, source.shown(), target.shown()))
            }
            Outcome::Made(_) | Outcome::Would(_) if self.json => {
                let fields = json!({ "schema": 1, "command": self.command, "state": "folder" });
                print_json(&joined(source.fields(), fields))
            }
            Outcome::Made(_) => Ok(()),
            _ => return,
        };
        let mut tally = self.tally.lock();
        tally.folders += 1;
        if let Err(failure) = told {
            tally.mute(&failure);
        }
    }

    fn left_out(&self, left_out: &LeftOut) {
        if self.json
            && let Err(failure) = print_left_out(self.command, left_out)
        {
            self.tally.lock().mute(&failure);
        }
        self.tally.lock().left_out = left_out.clone();
    }
}

pub struct SingleReport {
    pub outcome: Mutex<Option<Outcome>>,
    pub progress: Progress,
}

impl Observer for SingleReport {
    fn ended(&self, _pair: &Pair, outcome: Outcome) {
        *self.outcome.lock() = Some(outcome);
    }

    fn progressed(&self, bytes: u64) {
        self.progress.add(bytes);
    }
}

/// Returns the failure for a result or a folder that cannot be removed.
fn unremoved(path: &Path, error: &io::Error) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(disk::Error::Changed) => Failure::new(
            Exit::System,
            format!("cannot remove {}: it was changed, or another file has its name now", shown(path)),
            "see who else writes there, and run the command again",
        ),
        Some(disk::Error::System(_, error)) => Failure::path("remove", path, error),
        _ => Failure::path("remove", path, error),
    }
}

/// Returns the path of a file, or the address of an object.
fn path_of(spot: &Spot) -> PathBuf {
    match spot {
        Spot::Object(_, address) => address.text().into(),
        Spot::File(file) => file.path(),
    }
}
