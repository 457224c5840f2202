//! What the user is told about many objects: each failure, and a summary at the end.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use crate::console::say;
use crate::failure::Exit;
use crate::input::Source;
use crate::many::failed;
use crate::output::Place;
use crate::progress::{Progress, amount};
use crate::report::{Done, Report};
use crate::shown::count;
use crate::streams::print;
use deadpan_fleet::{Job, Outcome, Pair};

/// The report of a run, which counts the objects.
pub struct Told {
    command: &'static str,
    json: bool,
    rehearse: bool,
    start: Instant,
    pub progress: Progress,
    tally: Mutex<Tally>,
}

struct Tally {
    report: Report,
    made: u64,
    there: u64,
    would: u64,
    waiting: u64,
    failed: u64,
    bytes: u64,
    /// Whether an object failed for a reason that may be gone when the command is run again.
    passing: bool,
}

impl Told {
    pub fn new(command: &'static str, json: bool, rehearse: bool, name: &str) -> Self {
        let report = Report::new(command, json, 1).quiet();
        let tally = Tally { report, made: 0, there: 0, would: 0, waiting: 0, failed: 0, bytes: 0, passing: false };
        let progress = Progress::of_many(name).hidden_if(rehearse);
        Self { command, json, rehearse, start: Instant::now(), progress, tally: Mutex::new(tally) }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts and reports what became of one object.
    pub fn tell(&self, pair: &Pair, outcome: Outcome) {
        let (source, target) = (pair.source.to_string(), Place::Given(pair.target.to_string().into()));
        let (mut tally, would) = (self.tally(), matches!(outcome, Outcome::Would(_)));
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
                let failure = failed(&source, error);
                tally.failed += 1;
                tally.passing |= failure.exit == Exit::System;
                Err(failure)
            }
        };
        // A rehearsal shows each object.
        if would && !self.json {
            let line = format!("{}: {source} -> {}\n", self.command, target.shown());
            if let Err(failure) = print(&line) {
                failure.end();
            }
            return;
        }
        let file = source.replace('\0', "");
        tally.report.add(&Source::File(PathBuf::from(file)), self.start, &result);
    }

    /// Whether the run has found no object.
    pub fn is_empty(&self) -> bool {
        let tally = self.tally();
        [tally.made, tally.there, tally.would, tally.waiting, tally.failed].iter().all(|number| *number == 0)
    }

    /// Prints the summary of a run that ended with a failure. Without JSON, it is left out if no object was made.
    pub fn end_early(self, job: Option<&Job>) {
        if self.json || self.tally().made > 0 {
            self.end(job, false);
        }
    }

    /// Prints the summary: how many objects were made, were there already, and failed. Returns the exit code.
    /// If the job `is_new`, it has not made the results that were there already, and a note says so.
    pub fn end(self, job: Option<&Job>, is_new: bool) -> Exit {
        let Self { command, json, rehearse, start, progress, tally } = self;
        drop(progress);
        let Tally { report, made, there, would, waiting, failed, bytes: moved, passing } =
            tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        let seconds = start.elapsed().as_secs_f64();
        if json {
            let fields = json!({
                "schema": 1,
                "command": command,
                "summary": true,
                "made": made,
                "there": there,
                "would": would,
                "waiting": waiting,
                "failed": failed,
                "bytes": moved,
                "seconds": seconds,
                "job": job.map(ToString::to_string),
                "job_is_new": is_new,
            });
            if let Err(failure) = print(&format!("{fields}\n")) {
                failure.say();
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
        let others = [(there, "there already"), (waiting, "with parts that others have to make"), (failed, "failed")];
        parts.extend(others.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")));
        say(&format!("{command}: {}", parts.join(", ")));
        if is_new && there > 0 {
            say("note: this job has not made the results that were there already, and they may be sealed for others: \
                 deadpan inspect shows the recipients, and deadpan rewrap --recursive changes them");
        }
        if let Some(job) = job.filter(|_| waiting > 0 || passing) {
            say(&format!(
                "note: run the command again to go on; --dry-run shows what is missing, and \
                 deadpan cluster status {job} the long objects that are half done"
            ));
        }
        report.exit()
    }
}
