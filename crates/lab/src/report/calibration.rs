//! The part of the page about the lab's own error rates: the calibration and the selftest.

use super::chart::{Chart, Plot};
use super::markup::escape;
use super::number::{NONE, count, percent, time};
use super::security::figures;
use super::table::{Cell, Table};
use crate::plural::plural;
use crate::record::{Calibration, CalibrationLevel, Interval, Record};

/// Describes the calibration for one duration of a call. Pages and verdicts contain this text.
pub(super) fn words(calibration: &Calibration, level: &CalibrationLevel) -> String {
    format!(
        "At α = {}, the lab raised a false alarm in {} of {} runs ({}) with this program on this machine, for calls of \
        {}; {} of these runs ended as LEAK.",
        percent(calibration.alpha),
        count(level.rejected),
        count(level.runs),
        span(&level.rate),
        time(level.cost_ns),
        if level.leaks == 0 { "none".to_owned() } else { count(level.leaks) }
    )
}

/// Formats the two bounds of a rate: `0.06–0.9 %`.
fn span(rate: &Interval) -> String {
    let lower = percent(rate.lower);
    format!("{}–{}", lower.trim_end_matches(['%', '\u{a0}']), percent(rate.upper))
}

/// Returns the table of false alarms, with one row for each duration of a call.
pub(super) fn alarms(calibration: &Calibration) -> Table {
    let mut table = Table::new(&[
        "Cost of a call",
        ">Runs without a leak",
        ">Rejected",
        ">Ended as LEAK",
        ">Rate",
        ">95 % interval",
    ]);
    for level in &calibration.levels {
        table.row(vec![
            time(level.cost_ns).into(),
            count(level.runs).into(),
            count(level.rejected).into(),
            count(level.leaks).into(),
            Cell::Strong(percent(level.rate.estimate)),
            span(&level.rate).into(),
        ]);
    }
    table
}

/// Returns the table of added delays. The table of delays shows how often the lab found each delay.
fn power(calibration: &Calibration) -> Table {
    let mut table = Table::new(&["Cost of a call", ">Delay", ">Runs", ">Found", ">Rate", ">95 % interval"]);
    for level in &calibration.levels {
        for point in &level.power {
            table.row(vec![
                time(level.cost_ns).into(),
                time(point.delay_ns).into(),
                count(point.runs).into(),
                count(point.found).into(),
                Cell::Strong(percent(point.rate.estimate)),
                span(&point.rate).into(),
            ]);
        }
    }
    table
}

pub(super) fn section(record: &Record, charts: &[Chart]) -> String {
    let Some(calibration) = &record.calibration else { return String::new() };
    let mut out = String::from("<section id=\"calibration\">\n<h2>How often the lab errs here</h2>\n<ul>\n");
    for level in &calibration.levels {
        out.push_str(&format!("<li>{}</li>\n", escape(&words(calibration, level))));
    }
    out.push_str("</ul>\n");
    out.push_str(&alarms(calibration).html());
    out.push_str(&figures(charts, &[Plot::Power], ""));
    out.push_str(&super::markup::details("The chance of finding a delay, in numbers", &power(calibration).html()));
    let binary = calibration.binary_sha256.as_deref().map_or_else(String::new, |digest| format!(", program {digest}"));
    out.push_str(&format!(
        "<p class=\"small\">{}</p>\n</section>\n",
        escape(&format!("Calibrated {} on {}{binary}.", calibration.started, calibration.cpu))
    ));
    out
}

pub(super) fn checks(record: &Record) -> Table {
    let mut table = Table::new(&["What must hold", "Outcome", ">Found", ">Rate", ">95 % interval", "Wanted", "More"]);
    for check in &record.selftest {
        let (found, rate, bounds) = if check.runs == 0 {
            (NONE.to_owned(), NONE.to_owned(), NONE.to_owned())
        } else {
            (
                format!("{} of {}", count(check.found), count(check.runs)),
                percent(check.rate.estimate),
                span(&check.rate),
            )
        };
        table.row(vec![
            check.what.as_str().into(),
            Cell::Mark(check.passed),
            found.into(),
            Cell::Strong(rate),
            bounds.into(),
            check.wanted.as_str().into(),
            check.detail.as_str().into(),
        ]);
    }
    table
}

pub(super) fn verdict(record: &Record) -> String {
    let all = record.selftest.len();
    let passed = record.selftest.iter().filter(|check| check.passed == Some(true)).count();
    let skipped = record.selftest.iter().filter(|check| check.passed.is_none()).count();
    let failed = all - passed - skipped;
    let mut out = format!("{passed} of {all} {} of the lab on itself passed", plural(all as u64, "check", "checks"));
    if failed > 0 {
        out.push_str(&format!(", {failed} failed"));
    }
    if skipped > 0 {
        out.push_str(&format!(", {skipped} could not run here"));
    }
    out.push('.');
    out
}

pub(super) fn selftest(record: &Record) -> String {
    if record.selftest.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"selftest\">\n<h2>Selftest</h2>\n<p class=\"lead\">{}</p>\n{}</section>\n",
        escape(&verdict(record)),
        checks(record).html()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Check;

    #[test]
    fn a_calibration_is_described_in_a_sentence() {
        let rate = Interval { lower: 0.0006, estimate: 0.003, upper: 0.009 };
        let level = CalibrationLevel { cost_ns: 40.0, runs: 1000, rejected: 3, leaks: 0, rate, power: vec![] };
        let calibration = Calibration { alpha: 0.01, ..Calibration::default() };
        assert_eq!(
            words(&calibration, &level).replace('\u{a0}', " "),
            "At α = 1 %, the lab raised a false alarm in 3 of 1000 runs (0.06–0.9 %) with this program on this \
             machine, for calls of 40 ns; none of these runs ended as LEAK."
        );
    }

    #[test]
    fn skipped_checks_do_not_count_as_passed() {
        let check = |passed| Check { passed, ..Check::default() };
        let record = Record { selftest: vec![check(Some(true)), check(None), check(Some(false))], ..Record::default() };
        assert_eq!(verdict(&record), "1 of 3 checks of the lab on itself passed, 1 failed, 1 could not run here.");
    }
}
