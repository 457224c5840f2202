//! The tables: on the terminal as they come, and once more as Markdown.

use crate::race::{Outcome, Role};
use crate::statistic::quantile;
use crate::targets::Verdict;
use std::fmt::Write as _;
use std::io::Write as _;

/// How to read the tables.
pub const LEGEND: &str = "\
median, min: nanoseconds per call over the interleaved rounds. ours/its: median over the rounds of our time divided by its time
(below 1 we are faster). 'no promise': not meant to be constant-time; 'leaks': known not to be. 'loop alone': loads and barriers
without a call, included in every other line of its cell.";

/// What the Markdown file begins with.
const TITLE: &str = "\
# The ground floor beside its peers

Made by `scripts/bench --markdown FILE`; the targets stand at the end.

";

/// Prints, and remembers for the Markdown file.
pub struct Report {
    loud: bool,
    markdown: String,
    section: String,
}

impl Report {
    /// A report; a silent one prints nothing.
    pub fn new(loud: bool) -> Self {
        Self { loud, markdown: TITLE.to_owned(), section: String::new() }
    }

    /// A paragraph.
    pub fn line(&mut self, text: &str) {
        self.print(&format!("{text}\n"));
        let _ = writeln!(self.markdown, "{text}\n");
        // The next outcome needs a table head again.
        self.section.clear();
    }

    /// One cell.
    pub fn outcome(&mut self, outcome: &Outcome) {
        if self.section != outcome.section {
            let heading =
                format!("{:<52} {:<22} {:>12} {:>12} {:>9} {:>8}", outcome.section, "", "median ns", "min ns", "ours/its", "GB/s");
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
            let ratio = if matches!(lane.role, Role::Ours | Role::Loop) { String::new() } else { format!("{:.3}", lane.ratio) };
            let rate = outcome.bytes.filter(|_| lane.role != Role::Loop);
            let rate = rate.map_or(String::new(), |bytes| format!("{:.2}", bytes as f64 / lane.median));
            let note = if lane.correct { note(lane.role) } else { "WRONG RESULT" };
            self.print(&format!("{shown:<52} {:<22} {median:>12} {minimum:>12} {ratio:>9} {rate:>8} {note}", lane.name));
            let _ = writeln!(self.markdown, "| {shown} | {} | {median} | {minimum} | {ratio} | {rate} | {note} |", lane.name);
            last = Some(cell);
        }
        self.print("");
    }

    /// How well equal things came out equal.
    pub fn echoes(&mut self, outcomes: &[Outcome]) {
        let off = || outcomes.iter().map(|outcome| (outcome.echo - 1.0).abs() * 100.0);
        let (middle, most) = (quantile(off(), 0.5), quantile(off(), 0.95));
        self.line(&format!(
            "control: the first contestant of each of the {} cells, timed against itself, is off by {middle:.2} % in the median cell and by \
             more than {most:.2} % in one of twenty.",
            outcomes.len()
        ));
    }

    /// The targets.
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

    /// Everything so far, for the file.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    fn print(&self, line: &str) {
        if self.loud {
            // A reader that has seen enough (`| head`) is no reason to complain.
            let _ = writeln!(std::io::stdout(), "{}", line.trim_end_matches(' '));
        }
    }
}

/// Three digits behind the point for what takes less than a hundred nanoseconds, fewer for the rest.
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
