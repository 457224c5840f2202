//! A run of the benchmark: its cells, the time for each, and the outcomes.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use crate::options::Options;
use crate::race::{Effort, Outcome, Race};
use crate::report::{self, Report};
use crate::targets;

/// Runs cells and keeps their outcomes.
pub struct Bench<'o> {
    /// The options of the command line.
    pub options: &'o Options,
    /// The report that is printed.
    pub report: Report,
    machine: String,
    outcomes: Vec<Outcome>,
}

impl<'o> Bench<'o> {
    /// Makes a run without outcomes. `machine` describes the machine.
    pub fn new(options: &'o Options, machine: String) -> Self {
        Self { options, report: Report::new(options.ladder.is_none()), machine, outcomes: Vec::new() }
    }

    /// Prints the text above the tables.
    pub fn begin(&mut self) {
        self.report.line(&self.machine);
        self.report.line(report::LEGEND);
    }

    /// Whether this cell is to be measured. Callers ask before they prepare inputs.
    pub fn wants(&self, cell: &str) -> bool {
        cell.contains(&self.options.cell)
    }

    /// Returns how long to measure a cell. A round of a large cell takes long, so that the smallest number of rounds
    /// decides.
    pub fn effort(&self) -> Effort {
        let time = Duration::from_millis(if self.options.quick { 70 } else { 500 });
        Effort { time, least: if self.options.quick { 5 } else { 31 }, most: 4000 }
    }

    /// Measures a cell and prints it.
    pub fn run(&mut self, race: Race<'_>) {
        let outcome = race.run(self.effort());
        self.keep(outcome);
    }

    /// Prints an outcome and keeps it for the targets.
    pub fn keep(&mut self, outcome: Outcome) {
        self.report.outcome(&outcome);
        self.outcomes.push(outcome);
    }

    /// Returns the outcomes, without targets.
    pub fn outcomes(self) -> Vec<Outcome> {
        self.outcomes
    }

    /// Prints the targets and writes the files.
    pub fn finish(mut self) -> io::Result<ExitCode> {
        self.report.echoes(&self.outcomes);
        let mut verdicts = targets::judge(&self.outcomes);
        if self.options.partial() {
            verdicts.retain(|verdict| verdict.met.is_some());
        }
        self.report.verdicts(&verdicts);
        if let Some(path) = &self.options.json {
            let document = serde_json::json!({
                "schema_version": 1,
                "machine": self.machine,
                "outcomes": self.outcomes,
                "targets": verdicts,
            });
            std::fs::write(path, format!("{document:#}\n"))?;
        }
        if let Some(path) = &self.options.markdown {
            std::fs::write(path, self.report.markdown())?;
        }
        let wrong = self.outcomes.iter().flat_map(|outcome| &outcome.lanes).any(|lane| !lane.correct);
        Ok(ExitCode::from(u8::from(wrong)))
    }
}
