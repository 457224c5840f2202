//! The part of the page about speed: single functions, comparisons, and the highest rates of the machine.

use super::markup::{details, escape, paragraph};
use super::number::{self, NONE, change, fixed, percent, probability, rate, seconds, size, time};
use super::security::{estimates, figures};
use super::table::{Cell, Table};
use crate::plural::plural;
use crate::record::{Baseline, Change, Comparison, Contestant, Interval, Outcome, Record, Speed};
use crate::report::chart::{Chart, Plot};

pub(super) fn table(record: &Record) -> Table {
    let mut table = Table::new(&[
        "Target",
        "Size",
        ">Time for one call",
        ">95 % interval",
        ">Bytes per second",
        ">Against",
        "Since the baseline",
    ]);
    for speed in &record.speed {
        let slope = &speed.estimates.slope;
        let yardstick = speed.yardstick.as_ref();
        let ratio = yardstick.map_or_else(|| NONE.to_owned(), |of| format!("{} × {}", times(&of.ratio), of.name));
        table.row(vec![
            Cell::Code(speed.target.clone()),
            speed.size.as_str().into(),
            Cell::Strong(time(slope.estimate)),
            number::times(slope.lower, slope.upper).into(),
            rate(speed.bytes_per_second.estimate).into(),
            ratio.into(),
            speed.change.as_ref().map_or_else(|| NONE.to_owned(), outcome).into(),
        ]);
    }
    table
}

fn outcome(since: &Change) -> String {
    let ratio = &since.ratio;
    let p = probability(since.p);
    let p = if p.starts_with('<') { p } else { format!("= {p}") };
    format!("{}: time {} (p {p})", name(since.outcome), change(ratio.estimate))
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Same => "same",
        Outcome::Faster => "faster",
        Outcome::Slower => "slower",
        Outcome::Inconclusive => "inconclusive",
    }
}

/// Returns a ratio with its interval.
fn times(ratio: &Interval) -> String {
    let [lower, estimate, upper] = [ratio.lower, ratio.estimate, ratio.upper].map(number::short);
    format!("{estimate} [{lower}, {upper}]")
}

/// Describes one speed in sentences.
pub(super) fn words(speed: &Speed) -> String {
    let slope = &speed.estimates.slope;
    let mut out = format!(
        "{} of {} takes {} (95 % interval {}): {}.",
        speed.target,
        speed.size,
        time(slope.estimate),
        number::times(slope.lower, slope.upper),
        rate(speed.bytes_per_second.estimate)
    );
    if let Some(of) = &speed.yardstick {
        out.push_str(&format!(
            " That is {} times as long as {} of the same size in the same run.",
            times(&of.ratio),
            of.name
        ));
    }
    if let Some(since) = &speed.change {
        let (ratio, day) = (&since.ratio, since.since.get(..10).unwrap_or(&since.since));
        let what = match since.outcome {
            Outcome::Same => format!("no change beyond the margin of {}", percent(since.margin)),
            Outcome::Inconclusive => {
                format!("neither within nor beyond the margin of {}, so inconclusive", percent(since.margin))
            }
            Outcome::Faster => format!("less time, beyond the margin of {}", percent(since.margin)),
            Outcome::Slower => format!("more time, beyond the margin of {}", percent(since.margin)),
        };
        out.push_str(&format!(
            " Since {day}: {} [{}, {}], {what}.",
            change(ratio.estimate),
            change(ratio.lower),
            change(ratio.upper)
        ));
    }
    out
}

pub(super) fn section(record: &Record, charts: &[Chart]) -> String {
    if record.speed.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section id=\"speed\">\n<h2>Speed</h2>\n");
    out.push_str(&figures(charts, &[Plot::Throughput], ""));
    out.push_str(&table(record).html());
    let mut cards = String::new();
    for (index, speed) in record.speed.iter().enumerate() {
        let regression =
            |chart: &&Chart| chart.plot == Plot::Regression && chart.index == index && chart.name.starts_with("speed.");
        cards.push_str(&format!("<article><h4>{}, {}</h4>\n", escape(&speed.target), escape(&speed.size)));
        cards.push_str(&estimates(&speed.estimates).html());
        cards.push_str(&paragraph(&words(speed)));
        if let Some(chart) = charts.iter().find(regression) {
            cards.push_str(&chart.inline());
        }
        cards.push_str("</article>\n");
    }
    out.push_str(&details("Each function by itself", &format!("<div class=\"cards\">\n{cards}</div>\n")));
    out.push_str("</section>\n");
    out
}

pub(super) fn compared(comparison: &Comparison) -> String {
    let (a, b, ratio) = (&comparison.a.name, &comparison.b.name, &comparison.ratio);
    let span = format!("{} [{}, {}]", change(ratio.estimate), change(ratio.lower), change(ratio.upper));
    let margin = percent(comparison.margin);
    let rounds = format!("{} {}", comparison.rounds, plural(comparison.rounds as u64, "round", "rounds"));
    match comparison.outcome {
        Outcome::Same => format!("{b} takes as long as {a}, within the margin of {margin}: {span} over {rounds}."),
        Outcome::Faster => format!("{b} takes less time than {a}: {span} over {rounds} (margin {margin})."),
        Outcome::Slower => format!("{b} takes more time than {a}: {span} over {rounds} (margin {margin})."),
        Outcome::Inconclusive => {
            let further = comparison.further_rounds.map_or_else(String::new, |further| {
                let noun = plural(further, "round", "rounds");
                format!(" About {} more {noun} would settle it.", further)
            });
            format!(
                "Inconclusive: whether {b} takes as long as {a} within the margin of {margin} is not known: {span} \
                 over {rounds}.{further}"
            )
        }
    }
}

/// Returns the table of a comparison, with one row for each function or program and one row for the yardstick (the
/// reference).
pub(super) fn contestants(comparison: &Comparison) -> Table {
    let mut table =
        Table::new(&["", ">Median", ">Quartiles", ">Least", ">User", ">System", ">Peak memory", ">Bytes per second"]);
    for one in [Some(&comparison.a), Some(&comparison.b), comparison.yardstick.as_ref()].into_iter().flatten() {
        table.row(contestant(one, 2 * comparison.rounds as u64));
    }
    table
}

fn contestant(one: &Contestant, runs: u64) -> Vec<Cell> {
    let maybe = |value: Option<String>| Cell::Text(value.unwrap_or_else(|| NONE.to_owned()));
    vec![
        one.failed(runs).map_or_else(|| one.name.clone(), |failed| format!("{} ({failed})", one.name)).into(),
        Cell::Strong(seconds(one.wall.estimate)),
        number::times(one.wall.lower * 1e9, one.wall.upper * 1e9).into(),
        seconds(one.wall_minimum).into(),
        maybe(one.user.map(|user| seconds(user.estimate))),
        maybe(one.system.map(|system| seconds(system.estimate))),
        maybe(one.peak_memory.map(|bytes| size(bytes as f64))),
        maybe(one.bytes_per_second.map(rate)),
    ]
}

pub(super) fn comparisons(record: &Record, charts: &[Chart]) -> String {
    if record.comparisons.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section id=\"comparisons\">\n<h2>Comparisons</h2>\n");
    for (index, comparison) in record.comparisons.iter().enumerate() {
        let class = match comparison.outcome {
            Outcome::Same => "dull",
            Outcome::Faster => "good",
            Outcome::Slower | Outcome::Inconclusive => "open",
        };
        let title = format!("{} against {}", comparison.b.name, comparison.a.name);
        out.push_str(&format!(
            "<div class=\"target\"><h3>{} <span class=\"badge {class}\">{}</span></h3>\n",
            escape(&title),
            name(comparison.outcome)
        ));
        out.push_str(&format!("<p class=\"lead\">{}</p>\n", escape(&compared(comparison))));
        out.push_str(&contestants(comparison).html());
        let chart: Vec<Chart> =
            charts.iter().filter(|chart| chart.plot == Plot::Ratios && chart.index == index).cloned().collect();
        out.push_str(&figures(&chart, &[Plot::Ratios], ""));
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
    out
}

pub(super) fn baselines(record: &Record) -> Table {
    let mut table = Table::new(&["Baseline", ">Lower bound", ">Estimate", ">Upper bound"]);
    for Baseline { name, rate, unit } in &record.baselines {
        let scale = number::unit_of(unit, rate.estimate);
        let places = number::places(rate.estimate / scale.worth, 3);
        let show = |value: f64| format!("{}\u{a0}{}", fixed(value / scale.worth, places), scale.name);
        table.row(vec![
            name.as_str().into(),
            show(rate.lower).into(),
            Cell::Strong(show(rate.estimate)),
            show(rate.upper).into(),
        ]);
    }
    table
}

/// Returns the section about the machine's highest rates, with charts of the rates over several runs.
pub(super) fn machine(record: &Record, charts: &[Chart]) -> String {
    let history = |of_baselines: bool| {
        let chosen = charts.iter().filter(|chart| chart.name.ends_with(".baseline.history") == of_baselines).cloned();
        figures(&chosen.collect::<Vec<_>>(), &[Plot::History], "")
    };
    let (table, over_runs, speeds) =
        (baselines(record).html(), history(true), details("Speeds over runs", &history(false)));
    if table.is_empty() && speeds.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"baselines\">\n<h2>Highest rates of this machine</h2>\n{table}{over_runs}{speeds}</section>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Yardstick;

    fn spaced(text: &str) -> String {
        text.replace('\u{a0}', " ")
    }

    #[test]
    fn a_comparison_of_one_round_has_no_plural() {
        for outcome in [Outcome::Same, Outcome::Faster, Outcome::Slower, Outcome::Inconclusive] {
            let text = compared(&Comparison {
                a: Contestant::default(),
                b: Contestant::default(),
                ratio: Interval::default(),
                margin: 0.005,
                noise: 0.0,
                rounds: 1,
                outcome,
                further_rounds: None,
                yardstick: None,
                ratios: vec![],
            });
            assert!(text.contains("over 1 round.") || text.contains("over 1 round ("), "{text}");
        }
    }

    #[test]
    fn a_speed_is_described_by_its_time_its_rate_and_its_change() {
        let slope = Interval { lower: 990.0, estimate: 1000.0, upper: 1010.0 };
        let speed = Speed {
            target: "base64.encoding".into(),
            size: "16 KiB".into(),
            bytes: 16384,
            estimates: crate::record::Estimates { slope, ..Default::default() },
            bytes_per_second: Interval { lower: 1.6e10, estimate: 1.64e10, upper: 1.7e10 },
            change: Some(Change {
                since: "2026-01-02T03:04:05Z".into(),
                ratio: Interval { lower: 0.9, estimate: 0.91, upper: 0.92 },
                p: 0.001,
                margin: 0.005,
                outcome: Outcome::Faster,
            }),
            yardstick: Some(Yardstick {
                name: "memcpy".into(),
                ratio: Interval { lower: 2.0, estimate: 2.1, upper: 2.2 },
            }),
        };
        assert_eq!(
            spaced(&words(&speed)),
            "base64.encoding of 16 KiB takes 1 µs (95 % interval 0.99 to 1.01 µs): 16.4 GB/s. That is 2.1 [2, 2.2] \
             times as long as memcpy of the same size in the same run. Since 2026-01-02: −9.0 % [−10.0 %, −8.0 %], \
             less time, beyond the margin of 0.5 %."
        );
    }
}
