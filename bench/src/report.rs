//! The tables, on the terminal as they are measured, and as Markdown.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::race::{Outcome, Role};
use crate::statistic::quantile;
use crate::targets::Verdict;

/// The explanation of the tables.
pub const LEGEND: &str = "\
median, min: nanoseconds per call over all rounds. ours/its: our time divided by the time of the other contestant in
the same round, as the median over the rounds; below 1, ours is faster. 'no promise': does not claim constant time.
'leaks': known to leak through time. 'loop alone': the loop with its loads and barriers but without a call; every other
row of the cell includes this time.";

/// The start of the Markdown file.
const TITLE: &str = "\
# ct, base64 and pad beside other libraries

Made by `scripts/bench --markdown FILE`; the targets are at the end.

";

/// A report, which prints and collects the Markdown file.
pub struct Report {
    loud: bool,
    markdown: String,
    section: String,
}

impl Report {
    /// Makes a report. A silent one prints nothing.
    pub fn new(loud: bool) -> Self {
        Self { loud, markdown: TITLE.to_owned(), section: String::new() }
    }

    /// Adds a paragraph.
    pub fn line(&mut self, text: &str) {
        self.print(&format!("{text}\n"));
        let _ = writeln!(self.markdown, "{text}\n");
        // The next outcome starts a new table.
        self.section.clear();
    }

    /// Adds a cell.
    pub fn outcome(&mut self, outcome: &Outcome) {
        if self.section != outcome.section {
            let heading = format!(
                "{:<52} {:<22} {:>12} {:>12} {:>9} {:>8}",
                outcome.section, "", "median ns", "min ns", "ours/its", "GB/s"
            );
            self.print(&format!("{heading}\n"));
            let _ = writeln!(self.markdown, "\n| {} | | median ns | min ns | ours/its | GB/s | |", outcome.section);
            self.markdown.push_str("|---|---|--:|--:|--:|--:|---|\n");
            self.section.clone_from(&outcome.section);
        }
        let mut last = None;
        for lane in &outcome.lanes {
            let cell = [outcome.cell.as_str(), lane.row.as_str()].join(if lane.row.is_empty() { "" } else { ", " });
            let first = last.as_ref() != Some(&cell);
            let shown = if first { cell.as_str() } else { "" };
            let (median, minimum) = (digits(lane.median), digits(lane.minimum));
            let ratio =
                if matches!(lane.role, Role::Ours | Role::Loop) { String::new() } else { format!("{:.3}", lane.ratio) };
            let rate = outcome.bytes.filter(|_| lane.role != Role::Loop);
            let rate = rate.map_or(String::new(), |bytes| format!("{:.2}", bytes as f64 / lane.median));
            let note = if lane.correct { note(lane.role) } else { "WRONG RESULT" };
            self.print(&format!(
                "{shown:<52} {:<22} {median:>12} {minimum:>12} {ratio:>9} {rate:>8} {note}",
                lane.name
            ));
            let _ = writeln!(
                self.markdown,
                "| {shown} | {} | {median} | {minimum} | {ratio} | {rate} | {note} |",
                lane.name
            );
            last = Some(cell);
        }
        self.print("");
    }

    /// Adds a paragraph about the noise: how much equal lanes differ.
    pub fn echoes(&mut self, outcomes: &[Outcome]) {
        let off = || outcomes.iter().map(|outcome| (outcome.echo - 1.0).abs() * 100.0);
        let (middle, most) = (quantile(off(), 0.5), quantile(off(), 0.95));
        self.line(&format!(
            "control: in each of the {} cells, the first contestant was also timed against itself. The two times \
             differ by {middle:.2} % in the median cell, and by more than {most:.2} % in one cell of twenty.",
            outcomes.len()
        ));
    }

    /// Adds the targets.
    pub fn verdicts(&mut self, verdicts: &[Verdict]) {
        self.print("targets");
        self.markdown.push_str("| target | | measured |\n|---|---|---|\n");
        for Verdict { target, met, measured } in verdicts {
            let word = match met {
                Some(true) => "met",
                Some(false) => "missed",
                None => "not run",
            };
            self.print(&format!("  {word:<8} {target:<72} {measured}"));
            let _ = writeln!(self.markdown, "| {target} | {word} | {measured} |");
        }
    }

    /// Returns the whole Markdown text.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    fn print(&self, line: &str) {
        if self.loud {
            // A closed pipe, as after `| head`, is no error.
            let _ = writeln!(std::io::stdout(), "{}", line.trim_end_matches(' '));
        }
    }
}

/// Formats a time, with three decimal places below a hundred nanoseconds and fewer above.
fn digits(value: f64) -> String {
    let places = if value < 100.0 {
        3
    } else if value < 10_000.0 {
        1
    } else {
        0
    };
    format!("{value:.places$}")
}

fn note(role: Role) -> &'static str {
    match role {
        Role::Ours | Role::ConstantTime => "",
        Role::NoPromise => "no promise",
        Role::Leaks => "leaks",
        Role::Yardstick => "yardstick",
        Role::Loop => "loop alone",
    }
}
