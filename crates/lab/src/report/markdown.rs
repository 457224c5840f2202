//! The Markdown page.

use super::chart::{Chart, Plot};
use super::table::plain;
use super::{Detail, calibration, generations, guide, page, rank, security, speed, summary, traces, words};
use crate::record::{Record, Timing, Verdict};
use crate::visible::visible;

/// Returns the Markdown page. The page contains the charts as links to their picture files.
pub(super) fn write(record: &Record, charts: &[Chart], detail: Detail) -> String {
    let title = record.generations.as_ref().map(|found| &found.title).filter(|title| !title.is_empty());
    let mut out = format!("# {}\n\n", title.cloned().unwrap_or_else(|| plain(&page::title(record))));
    if title.is_none() {
        out.push_str(&summary::markdown(record));
        out.push('\n');
    }
    timing(&mut out, record, charts, detail);
    if !record.speed.is_empty() {
        out.push_str("## Speed\n\n");
        pictures(&mut out, charts, &[Plot::Throughput], |_| true);
        out.push_str(&speed::table(record).markdown());
        pictures(&mut out, charts, &[Plot::Regression], |chart| chart.name.starts_with("speed."));
    }
    if !record.comparisons.is_empty() {
        out.push_str("## Comparisons\n\n");
        for (index, comparison) in record.comparisons.iter().enumerate() {
            out.push_str(&format!(
                "{}\n\n{}",
                plain(&speed::compared(comparison)),
                speed::contestants(comparison).markdown()
            ));
            pictures(&mut out, charts, &[Plot::Ratios], |chart| chart.index == index);
        }
    }
    if !record.baselines.is_empty() {
        out.push_str(&format!("## Highest rates of this machine\n\n{}", speed::baselines(record).markdown()));
        pictures(&mut out, charts, &[Plot::History], |_| true);
    }
    if let Some(calibration) = &record.calibration {
        out.push_str("## How often the lab errs here\n\n");
        for level in &calibration.levels {
            out.push_str(&format!("- {}\n", plain(&calibration::words(calibration, level))));
        }
        out.push('\n');
        out.push_str(&calibration::alarms(calibration).markdown());
        pictures(&mut out, charts, &[Plot::Power], |_| true);
    }
    if !record.selftest.is_empty() {
        out.push_str(&format!(
            "## Selftest\n\n{}\n\n{}",
            calibration::verdict(record),
            calibration::checks(record).markdown()
        ));
    }
    if let Some(found) = &record.generations {
        out.push_str(&generations::markdown(found));
        if record.timing.is_empty() && record.speed.is_empty() {
            // This page has no verdicts and no intervals, so it needs no guide to verdicts and intervals.
            out.push_str(&run(record));
            return out;
        }
    }
    out.push_str(&guide::markdown());
    out.push('\n');
    out.push_str(&run(record));
    out
}

/// The section about the run and the machine is the last section, because few readers need it.
fn run(record: &Record) -> String {
    let mut out = String::from("## Run and machine\n\n");
    if !record.command.is_empty() {
        // The fence has more backticks in a row than the command, so the command cannot end its code block.
        let command = visible(&record.command);
        let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((longest + 1).max(3));
        out.push_str(&format!("This command repeats the run:\n\n{fence}sh\n{command}\n{fence}\n\n"));
    }
    out.push_str("| | |\n|---|---|\n");
    for (name, value) in page::facts(record) {
        out.push_str(&format!("| {} | {} |\n", plain(name), plain(&value)));
    }
    out
}

fn timing(out: &mut String, record: &Record, charts: &[Chart], detail: Detail) {
    out.push_str(&traces::markdown(record));
    let timed: Vec<&Timing> = record.timing.iter().filter(|timing| !traces::only(timing)).collect();
    if timed.is_empty() {
        return;
    }
    out.push_str(&format!("## Does time depend on the input?\n\n{}\n\n", plain(&words::tally(timed))));
    out.push_str(&security::summary(record).markdown());
    out.push_str(&format!("{}\n\n", plain(security::COLUMNS)));
    for index in security::order(record) {
        let timing = &record.timing[index];
        match detail {
            Detail::Full | Detail::Main => target(out, record, index, charts),
            Detail::Brief => reasons(out, &security::name(record, timing), timing),
        }
    }
}

/// Adds the reason of each pair whose verdict is not `NO_LEAK_ABOVE`.
fn reasons(out: &mut String, name: &str, timing: &Timing) {
    let others: Vec<_> = timing.pairs.iter().filter(|pair| pair.verdict != Verdict::NoLeakAbove).collect();
    for pair in &others {
        let sentence = pair.words(timing.design.delta_ns);
        let line = format!("{name}, {} against {}: {}. {sentence}", pair.b, pair.a, pair.verdict);
        out.push_str(&format!("- {}\n", plain(line.trim_end())));
    }
    let trace = timing.trace.as_ref().filter(|_| traces::differs(timing) || timing.unoptimized());
    if let Some(trace) = trace {
        out.push_str(&format!("- {}: {}\n", plain(name), plain(&words::trace(trace))));
    }
    if trace.is_some() || !others.is_empty() {
        out.push('\n');
    }
}

fn target(out: &mut String, record: &Record, index: usize, charts: &[Chart]) {
    let timing = &record.timing[index];
    let label = words::label(timing.verdict, rank::bound(timing));
    let labels: Vec<String> = security::badges(timing, label).into_iter().map(|(_, text)| plain(&text)).collect();
    out.push_str(&format!("### {}: {}\n\n", plain(&security::name(record, timing)), labels.join(", ")));
    out.push_str(&format!("{}\n\n", plain(&words::target(timing))));
    let timed = |chart: &Chart| chart.index == index && chart.name.starts_with("security.");
    pictures(out, charts, &[Plot::Quantiles, Plot::Violin, Plot::Pairs, Plot::Density], timed);
    pictures(out, charts, &[Plot::Ecdf, Plot::Funnel, Plot::Series, Plot::Autocorrelation], timed);
    if let Some(trace) = &timing.trace {
        out.push_str(&format!("{}\n\n", plain(&words::trace(trace))));
    }
    out.push_str(&security::pairs(timing).markdown());
    if !timing.pairs.is_empty() {
        out.push_str(&format!("{}\n\n", plain(security::P)));
    }
    out.push_str(&security::quantiles(timing).markdown());
    if timing.pairs.len() > 1 {
        out.push_str(&format!("{}\n\n", plain(security::POOLED)));
    }
    for class in &timing.classes {
        let Some(estimates) = &class.estimates else { continue };
        let (table, words) = (security::estimates(estimates).markdown(), words::class(class));
        out.push_str(&format!("#### {}\n\n{}\n\n{table}", plain(&class.name), plain(&words)));
    }
    out.push_str(&format!("{}\n\n", plain(&words::design(timing))));
}

fn pictures(out: &mut String, charts: &[Chart], plots: &[Plot], wanted: impl Fn(&Chart) -> bool) {
    for chart in charts.iter().filter(|chart| plots.contains(&chart.plot) && wanted(chart)) {
        let text = format!("{}, {}", chart.title, chart.subtitle).replace(['[', ']', '\n'], " ");
        out.push_str(&format!("![{}]({})\n\n", plain(&text), chart.file()));
    }
}
