//! The part of the page about whole workloads.

use super::markup::{escape, paragraph};
use super::number::{self, NONE};
use super::table::{Cell, Table, plain};
use crate::plural::plural;
use crate::record::{GenerationRow, Generations, Role, TargetOutcome, TargetVerdict, Yardstick};

const INTRODUCTION: &str = "In each round every variant runs once, in random order. Before each run, the lab removes \
    the variant's output, and the system writes its cache to the disk; inputs are in the cache. Programs are timed \
    from the start to the end of the process. Kernels are functions: each runs in its own process and is timed alone, \
    and its peak memory includes its data. One core: the process is kept on one core. The rate is the median over the \
    rounds; the ratio is relative to the first row of the same operation. Once, outside of the timing, the final \
    result is compared with the input.";

/// A text that explains the measuring method, for tables that have a title.
const METHOD: &str = "\
In each round every variant runs once, in random order. Programs are timed from the start to the end of the process,
with their input in the page cache. Before each run, the output of the run before is removed, and the system writes its
cache to the disk. *Beside* is the median of the ratios within a round, with a 95 % interval. The peak is that of the
largest process. Results are checked in the first round, outside of the timing.";

pub(super) fn markdown(found: &Generations) -> String {
    let mut out = if found.title.is_empty() {
        format!("## Whole workloads\n\n{INTRODUCTION}\n\n")
    } else {
        format!("{}\n\n{METHOD}\n\n", found.about.trim_end())
    };
    for set in &found.sets {
        out.push_str(&format!("- Set {}: {}.\n", plain(&set.name), plain(&set.what)));
    }
    found.notes.iter().for_each(|note| out.push_str(&format!("- {}\n", plain(note))));
    if !found.targets.is_empty() {
        out.push_str(&format!("\n### Target rates\n\n{}\n\n{}", tally(found), targets(found).markdown()));
    }
    if !found.goals.is_empty() {
        out.push_str(&format!("\n## Wanted and measured\n\n{}\n", goals(found).markdown().trim_end()));
    }
    if found.title.is_empty() {
        out.push_str(&format!("\n### All rows\n\n{}", rows(found).markdown()));
    }
    for (workload, table) in workloads(found) {
        out.push_str(&format!("\n## {}\n\n{}\n", plain(workload), table.markdown().trim_end()));
    }
    if !found.title.is_empty() {
        out.push('\n');
    }
    out
}

pub(super) fn section(found: Option<&Generations>) -> String {
    let Some(found) = found else { return String::new() };
    let mut out = format!("<section id=\"generations\">\n<h2>Whole workloads</h2>\n{}<ul>\n", paragraph(INTRODUCTION));
    for set in &found.sets {
        out.push_str(&format!("<li>Set {}: {}.</li>\n", escape(&set.name), escape(&set.what)));
    }
    found.notes.iter().for_each(|note| out.push_str(&format!("<li>{}</li>\n", escape(note))));
    out.push_str("</ul>\n");
    if !found.targets.is_empty() {
        out.push_str(&format!("<h3>Target rates</h3>\n{}{}", paragraph(&tally(found)), targets(found).html()));
    }
    if !found.goals.is_empty() {
        out.push_str(&format!("<h3>Wanted and measured</h3>\n{}", goals(found).html()));
    }
    out.push_str(&format!("<h3>All rows</h3>\n{}</section>\n", rows(found).html()));
    out
}

fn goals(found: &Generations) -> Table {
    let mut table = Table::new(&["Goal", "Outcome", "Rows", "Measured"]);
    for goal in &found.goals {
        let outcome = goal.outcome.name().to_owned();
        table.row(vec![
            goal.goal.as_str().into(),
            if goal.outcome == TargetOutcome::Missed { Cell::Strong(outcome) } else { Cell::Text(outcome) },
            format!("{} of {}", goal.met, goal.of).into(),
            goal.measured.as_str().into(),
        ]);
    }
    table
}

/// For a table with goals, returns each workload with a table of its rows.
fn workloads(found: &Generations) -> Vec<(&str, Table)> {
    let mut all: Vec<(&str, Table)> = Vec::new();
    let rows = if found.title.is_empty() { &[] } else { found.rows.as_slice() };
    for row in rows {
        if all.last().is_none_or(|(workload, _)| *workload != row.workload) {
            let head = ["Input", "Operation", "Variant", ">Median", ">Least", ">Rate", ">Beside", "95 %", ">Processor"];
            all.push((&row.workload, Table::new(&[&head[..], &[">Peak MiB", ">Rounds"]].concat())));
        }
        if let Some((_, table)) = all.last_mut() {
            table.row(figures(row));
        }
    }
    all.into_iter().map(|(workload, table)| (workload, table.without_empty_columns())).collect()
}

fn figures(row: &GenerationRow) -> Vec<Cell> {
    let maybe = |value: Option<String>| value.unwrap_or_default().into();
    let median = match &row.skipped {
        Some(reason) => format!("skipped: {reason}"),
        None => number::seconds(crate::distribution::median(&mut row.seconds.clone())),
    };
    let beside = row.beside.as_ref();
    let bytes = row.rate.filter(|_| row.unit == "MiB/s").map(|rate| number::rate(rate * f64::from(1 << 20)));
    vec![
        row.set.as_str().into(),
        row.operation.as_str().into(),
        if row.role == Role::Own { Cell::Strong(row.variant.clone()) } else { row.variant.as_str().into() },
        median.into(),
        maybe(row.minimum.map(number::seconds)),
        maybe(bytes),
        maybe(beside.map(|beside| format!("{} × {}", number::fixed(beside.ratio.estimate, 2), beside.name))),
        maybe(beside.map(|Yardstick { ratio, .. }| {
            format!("{} to {}", number::fixed(ratio.lower, 2), number::fixed(ratio.upper, 2))
        })),
        maybe(row.processor_seconds.map(number::seconds)),
        maybe(row.peak_memory.map(|bytes| number::fixed(bytes as f64 / f64::from(1 << 20), 1))),
        maybe((row.rounds > 0).then(|| row.rounds.to_string())),
    ]
}

pub(super) fn tally(found: &Generations) -> String {
    let of = |outcome| found.targets.iter().filter(|target| target.outcome == outcome).count();
    let all = found.targets.len();
    format!(
        "{all} target {}: {} met (at least {} times the target), {} at the limit (at least {} % of the rate of a \
         limit), {} missed, {} not measured. The rates are those on all cores, with zeros or random bytes, \
         whichever is slower.",
        plural(all as u64, "rate", "rates"),
        of(TargetOutcome::Met),
        crate::generations::WANTED,
        of(TargetOutcome::AtLimit),
        (crate::generations::AT_LIMIT * 100.0).round(),
        of(TargetOutcome::Missed),
        of(TargetOutcome::Skipped)
    )
}

fn targets(found: &Generations) -> Table {
    let mut table = Table::new(&["Set", "Workload", "Operation", ">Target", ">Wanted", ">Measured", "Outcome", "Why"]);
    found.targets.iter().for_each(|target| table.row(target_row(target)));
    table
}

fn target_row(target: &TargetVerdict) -> Vec<Cell> {
    let outcome = target.outcome.name().to_owned();
    vec![
        target.set.as_str().into(),
        target.workload.as_str().into(),
        target.operation.as_str().into(),
        number::fixed(target.beat, 0).into(),
        number::fixed(target.wanted, 0).into(),
        target.rate.map_or_else(|| NONE.to_owned(), |rate| number::fixed(rate, 0)).into(),
        if target.outcome == TargetOutcome::Missed { Cell::Strong(outcome) } else { Cell::Text(outcome) },
        target.reason.as_str().into(),
    ]
}

fn rows(found: &Generations) -> Table {
    let mut table = Table::new(&[
        "Set",
        "Contents",
        "Workload",
        "Operation",
        "Variant",
        ">Rate",
        "Unit",
        ">Ratio",
        ">Peak MiB",
        ">Median",
        ">Least",
        ">Processor",
        ">Rounds",
    ]);
    found.rows.iter().for_each(|row| table.row(line(row)));
    table
}

fn line(row: &GenerationRow) -> Vec<Cell> {
    let maybe = |value: Option<String>| Cell::Text(value.unwrap_or_else(|| NONE.to_owned()));
    let rate = match (row.rate, row.role) {
        (None, _) => Cell::Text(format!("skipped: {}", row.skipped.as_deref().unwrap_or("not measured"))),
        (Some(rate), Role::Own) => Cell::Strong(number::fixed(rate, 0)),
        (Some(rate), _) => Cell::Text(number::fixed(rate, 0)),
    };
    let mut seconds = row.seconds.clone();
    let median = row.rate.map(|_| number::seconds(crate::distribution::median(&mut seconds)));
    vec![
        row.set.as_str().into(),
        row.contents.as_str().into(),
        row.workload.as_str().into(),
        row.operation.as_str().into(),
        row.variant.as_str().into(),
        rate,
        row.unit.as_str().into(),
        maybe(row.ratio.map(|ratio| number::fixed(ratio, 2))),
        maybe(row.peak_memory.map(|bytes| number::fixed(bytes as f64 / f64::from(1 << 20), 1))),
        maybe(median),
        maybe(row.minimum.map(number::seconds)),
        maybe(row.processor_seconds.map(number::seconds)),
        row.rounds.to_string().into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BesideLimit;

    fn found() -> Generations {
        let row = |variant: &str, rate: Option<f64>| GenerationRow {
            set: "A".to_owned(),
            workload: "file, key".to_owned(),
            operation: "seal".to_owned(),
            variant: variant.to_owned(),
            unit: "MiB/s".to_owned(),
            rate,
            ratio: rate.map(|rate| rate / 1000.0),
            seconds: vec![0.3, 0.1, 0.2],
            peak_memory: rate.map(|_| 12 << 20),
            rounds: 3,
            skipped: rate.is_none().then(|| "age | is not installed".to_owned()),
            ..GenerationRow::default()
        };
        let target = TargetVerdict {
            workload: "file, key".to_owned(),
            operation: "seal".to_owned(),
            set: "A".to_owned(),
            contents: "zero".to_owned(),
            beat: 2089.0,
            wanted: 3133.5,
            rate: Some(2000.0),
            limits: vec![BesideLimit { name: "cp".to_owned(), ratio: 0.95 }],
            outcome: TargetOutcome::AtLimit,
            reason: "the limit is cp".to_owned(),
        };
        Generations {
            scale: 1.0,
            rows: vec![row("one core", Some(1000.0)), row("all cores", Some(2000.0)), row("age", None)],
            targets: vec![target],
            notes: vec!["skipped: set D: no room".to_owned()],
            ..Generations::default()
        }
    }

    #[test]
    fn a_page_shows_figures_verdicts_and_what_was_skipped() {
        let page = markdown(&found()).replace('\u{a0}', " ");
        for part in [
            "| A | file, key | seal | 2089 | 3134 | 2000 | at the limit | the limit is cp |",
            "| all cores | **2000** | MiB/s | 2.00 | 12.0 | 200 ms |",
            "| age | skipped: age \\| is not installed | MiB/s | – |",
            "- skipped: set D: no room",
            "1 target rate: 0 met (at least 1.5 times the target), 1 at the limit (at least 90 % of the rate",
        ] {
            assert!(page.contains(part), "no {part:?} in\n{page}");
        }
        assert!(section(Some(&found())).contains("<section id=\"generations\">") && section(None).is_empty());
    }
}
