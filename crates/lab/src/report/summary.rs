//! Summarizes the results of a whole record in a few lines, for the top of a page.

use super::markup::escape;
use super::table::{badge, plain};
use super::{calibration, generations, speed, traces};
use crate::record::{Outcome, Record, Timing, Verdict};

/// The maximum number of names in a list. If there are more names, the list ends with the number of names that it does
/// not show.
const NAMES: usize = 6;

/// The verdicts in the order of the summary's lines, beginning with the most severe verdict.
const ORDER: [Verdict; 6] = [
    Verdict::Leak,
    Verdict::Invalid,
    Verdict::Inconclusive,
    Verdict::Unmeasurable,
    Verdict::BelowThreshold,
    Verdict::NoLeakAbove,
];

/// One line of the summary: a label, a sentence after the label, and the verdict that determines the color of the
/// label.
struct Line {
    label: Option<(Verdict, &'static str)>,
    text: String,
}

impl Line {
    fn plain(text: String) -> Self {
        Self { label: None, text }
    }
}

pub(super) fn html(record: &Record) -> String {
    let mut out = String::from("<ul class=\"results\">\n");
    for Line { label, text } in lines(record) {
        let mark = label.map_or_else(String::new, |(verdict, name)| badge(verdict, name) + " ");
        out.push_str(&format!("<li>{mark}{}</li>\n", escape(&text)));
    }
    out.push_str("</ul>\n");
    out
}

pub(super) fn markdown(record: &Record) -> String {
    let mut out = String::new();
    for Line { label, text } in lines(record) {
        let mark = label.map_or_else(String::new, |(_, name)| format!("**{}** ", plain(name)));
        out.push_str(&format!("- {mark}{}\n", plain(&text)));
    }
    out
}

fn lines(record: &Record) -> Vec<Line> {
    let mut lines = Vec::new();
    if record.interrupted {
        lines.push(Line::plain(
            "The run was interrupted: some targets or pairs of classes were not measured.".to_owned(),
        ));
    }
    let plain = record.timing.iter().filter(|timing| timing.unoptimized());
    let names: Vec<&str> = plain.map(|timing| timing.target.as_str()).collect();
    if !names.is_empty() {
        let text = format!(
            "Apparently compiled without optimization: {}. The results hold for this build only: optimized code may \
             leak.",
            listed(&names)
        );
        lines.push(Line { label: Some((Verdict::Invalid, "NOT OPTIMIZED")), text });
    }
    let timed: Vec<&Timing> = record.timing.iter().filter(|timing| !traces::only(timing)).collect();
    for verdict in ORDER {
        let of = |timing: &&&Timing| timing.verdict == verdict;
        let names: Vec<&str> = timed.iter().filter(of).map(|timing| timing.target.as_str()).collect();
        if !names.is_empty() {
            let mut text = functions(verdict, &names, timed.len());
            let differ = timed.iter().filter(|timing| timing.verdict == verdict && traces::differs(timing)).count();
            if verdict == Verdict::NoLeakAbove && differ > 0 {
                text.push_str(&format!(" This is about the clock: the traces of {differ} of them differ."));
            }
            lines.push(Line { label: Some((verdict, verdict.name())), text });
        }
        if verdict == Verdict::Leak {
            lines.extend(traced(record, traces::differs, (verdict, traces::DIFFER), "depend on the input"));
        }
    }
    let none = (Verdict::NoLeakAbove, traces::EQUAL);
    lines.extend(traced(record, traces::equal, none, "are equal for all inputs that were run"));
    if !record.speed.is_empty() {
        lines.push(Line::plain(speeds(record)));
    }
    lines.extend(record.comparisons.iter().map(|comparison| Line::plain(speed::compared(comparison))));
    if let Some(found) = record.generations.as_ref().filter(|found| !found.targets.is_empty()) {
        lines.push(Line::plain(generations::tally(found)));
    }
    if let Some(calibration) = &record.calibration {
        let words = calibration.levels.iter().map(|level| Line::plain(calibration::words(calibration, level)));
        // The summary has a line about the error rates only if the record has no timing verdicts. A page with verdicts
        // has a separate section about the error rates.
        lines.extend(words.filter(|_| record.timing.is_empty()));
    }
    if !record.selftest.is_empty() {
        lines.push(Line::plain(calibration::verdict(record)));
    }
    lines
}

/// Counts the functions whose traces have a property. The count does not include functions without a trace. If the
/// property is a finding, the text also contains the names of these functions.
fn traced(record: &Record, has: fn(&Timing) -> bool, label: (Verdict, &'static str), property: &str) -> Option<Line> {
    let known = |timing: &&Timing| traces::differs(timing) || traces::equal(timing) || traces::only(timing);
    let all = record.timing.iter().filter(known).count();
    let names: Vec<&str> =
        record.timing.iter().filter(|timing| has(timing)).map(|timing| timing.target.as_str()).collect();
    let noun = if all == 1 { "function" } else { "functions" };
    let named = if label.0 == Verdict::Leak { format!(": {}", listed(&names)) } else { String::new() };
    let text = format!("The traces of {} of {all} {noun} {property}{named}.", names.len());
    (!names.is_empty()).then_some(Line { label: Some(label), text })
}

/// Counts the functions with this verdict. If the verdict needs attention, the text also contains the names of these
/// functions.
fn functions(verdict: Verdict, names: &[&str], all: usize) -> String {
    let one = names.len() == 1;
    let choose = |single: &'static str, plural: &'static str| if one { single } else { plural };
    let what = match verdict {
        Verdict::Leak => choose("leaks through time", "leak through time"),
        Verdict::Invalid => choose("could not be judged: a control failed", "could not be judged: controls failed"),
        Verdict::Inconclusive => choose("is undecided", "are undecided"),
        Verdict::Unmeasurable => choose("is too fast for the clock", "are too fast for the clock"),
        Verdict::BelowThreshold => "differ in time by less than the threshold",
        Verdict::NoLeakAbove => "show no leak above the stated bounds, for the stated share of the calls",
    };
    let what = match verdict {
        Verdict::BelowThreshold if one => "differs in time by less than the threshold",
        Verdict::NoLeakAbove if one => "shows no leak above the stated bound, for the stated share of the calls",
        _ => what,
    };
    let noun = if all == 1 { "function" } else { "functions" };
    let named = if verdict == Verdict::NoLeakAbove { String::new() } else { format!(": {}", listed(names)) };
    format!("{} of {all} {noun} {what}{named}.", names.len())
}

fn listed(names: &[&str]) -> String {
    match names.len().checked_sub(NAMES) {
        Some(more @ 1..) => format!("{} and {more} more", names[..NAMES].join(", ")),
        _ => names.join(", "),
    }
}

fn speeds(record: &Record) -> String {
    let all = record.speed.len();
    let measured = if all == 1 { "1 speed was measured".to_owned() } else { format!("{all} speeds were measured") };
    let of = |outcome| {
        let changes = record.speed.iter().filter_map(|speed| speed.change.as_ref());
        changes.filter(|change| change.outcome == outcome).count()
    };
    let [faster, slower, same, open] = [Outcome::Faster, Outcome::Slower, Outcome::Same, Outcome::Inconclusive].map(of);
    if faster + slower + same + open == 0 {
        return format!("{measured}; there are no earlier ones to compare with.");
    }
    format!(
        "{measured}. Since the last run {faster} became faster, {slower} slower, {same} stayed the same, and {open} \
         cannot be told."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Design;

    fn timing(target: &str, verdict: Verdict) -> Timing {
        Timing {
            target: target.to_owned(),
            length: 64,
            repeats: 1,
            design: Design::default(),
            classes: Vec::new(),
            pairs: Vec::new(),
            trace: None,
            verdict,
        }
    }

    #[test]
    fn the_most_severe_verdict_comes_first_and_names_its_functions() {
        let record = Record {
            timing: vec![
                timing("a", Verdict::NoLeakAbove),
                timing("b", Verdict::Leak),
                timing("c", Verdict::NoLeakAbove),
            ],
            ..Record::default()
        };
        assert_eq!(
            markdown(&record),
            "- **LEAK** 1 of 3 functions leaks through time: b.\n\
             - **NO\\_LEAK\\_ABOVE** 2 of 3 functions show no leak above the stated bounds, for the stated share of \
             the calls.\n"
        );
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        assert_eq!(listed(&names), "a, b, c, d, e, f and 2 more");
        assert_eq!(listed(&names[..6]), "a, b, c, d, e, f");
    }
}
