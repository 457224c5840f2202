//! The results of traces. Some of the traced functions were also timed.

use super::markup::escape;
use super::security::name;
use super::table::{Cell, Table, badge, plain};
use super::words;
use crate::record::{Record, Timing, Trace, Verdict};

pub(super) const DIFFER: &str = "TRACES DIFFER";
pub(super) const EQUAL: &str = "TRACES EQUAL";
const UNKNOWN: &str = "NOT COMPARED";

/// Returns whether the function was traced and not timed. The record of a function that was only traced has no
/// statement about time.
pub(super) fn only(timing: &Timing) -> bool {
    timing.repeats == 0 && timing.pairs.is_empty() && timing.trace.is_some()
}

/// Returns whether the trace depends on the input. The dependence can be in the path, in an address, or in an operand
/// that changes the time of an instruction.
pub(super) fn differs(timing: &Timing) -> bool {
    timing.trace.as_ref().is_some_and(|trace| {
        let parted = trace.divergence.is_some() || (trace.skipped.is_none() && !trace.equal);
        parted || trace.variable_latency.iter().any(|found| found.secret)
    })
}

/// Returns whether all traces were compared and are equal.
pub(super) fn equal(timing: &Timing) -> bool {
    !differs(timing) && timing.trace.as_ref().is_some_and(|trace| trace.skipped.is_none())
}

/// Returns the indexes of the functions that were only traced. Functions with a finding come first.
fn order(record: &Record) -> Vec<usize> {
    let mut order: Vec<usize> = (0..record.timing.len()).filter(|&index| only(&record.timing[index])).collect();
    order.sort_by_key(|&index| (!differs(&record.timing[index]), equal(&record.timing[index])));
    order
}

/// Returns the outcome as a verdict and as words.
fn outcome(timing: &Timing) -> (Verdict, &'static str) {
    match (differs(timing), equal(timing)) {
        (true, _) => (Verdict::Leak, DIFFER),
        (_, true) => (Verdict::NoLeakAbove, EQUAL),
        _ => (Verdict::Inconclusive, UNKNOWN),
    }
}

fn table(record: &Record) -> Table {
    let mut table = Table::new(&["Target", "Outcome", ">Inputs", ">Instructions", "Finding"]);
    for index in order(record) {
        let timing = &record.timing[index];
        let Some(trace) = &timing.trace else { continue };
        let (verdict, words) = outcome(timing);
        table.row(vec![
            name(record, timing).into(),
            Cell::Badge(verdict, words.to_owned()),
            trace.secrets.to_string().into(),
            super::number::count(trace.instructions).into(),
            finding(trace).into(),
        ]);
    }
    table
}

fn finding(trace: &Trace) -> String {
    let found = compared(trace);
    if trace.unoptimized.is_some() { format!("looks unoptimized; {found}") } else { found }
}

fn compared(trace: &Trace) -> String {
    let slow = || trace.variable_latency.iter().find(|found| found.secret);
    match (&trace.divergence, slow(), &trace.skipped) {
        (Some(divergence), ..) => divergence.clone(),
        (None, Some(slow), _) => {
            format!("the operands of {} in {} differ between inputs, and so may its time", slow.instruction, slow.place)
        }
        (None, None, Some(reason)) => reason.clone(),
        (None, None, None) if trace.equal => "the same instructions and addresses for all inputs".to_owned(),
        (None, None, None) => "the first difference is not known".to_owned(),
    }
}

pub(super) fn section(record: &Record) -> String {
    let order = order(record);
    if order.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section id=\"traces\">\n<h2>Does the executed code depend on the input?</h2>\n");
    out.push_str(&table(record).html());
    for index in order {
        let timing = &record.timing[index];
        let Some(trace) = &timing.trace else { continue };
        let (verdict, label) = outcome(timing);
        out.push_str(&format!(
            "<section class=\"target\"><h3>{} {}</h3>\n<p>{}</p></section>\n",
            escape(&name(record, timing)),
            badge(verdict, label),
            escape(&words::trace(trace))
        ));
    }
    out.push_str("</section>\n");
    out
}

pub(super) fn markdown(record: &Record) -> String {
    if order(record).is_empty() {
        return String::new();
    }
    let mut out = format!("## Does the executed code depend on the input?\n\n{}", table(record).markdown());
    for index in order(record) {
        let timing = &record.timing[index];
        if let Some(trace) =
            timing.trace.as_ref().filter(|trace| !equal(timing) || timing.unoptimized() || !trace.notes.is_empty())
        {
            out.push_str(&format!("- {}: {}\n", plain(&name(record, timing)), plain(&words::trace(trace))));
        }
    }
    out.push('\n');
    out
}
