//! The part of the page about timing: the summary of all targets, and a section for each target.

use super::chart::{self, Chart, Plot, quantile};
use super::markup::{details, escape, paragraph};
use super::number::{self, NONE, count, probability, time};
use super::table::{Cell, Table, badge};
use super::{rank, traces, words};
use crate::record::{Class, Control, Estimates, Interval, Pair, Record, Timing, Verdict};

fn place(index: usize) -> String {
    format!("target-{}", index + 1)
}

/// Returns the summary table, with one row for each target. The target with the most severe verdict comes first.
pub(super) fn summary(record: &Record) -> Table {
    let mut table = Table::new(&[
        "Target",
        "Verdict",
        "Finding",
        ">Slowest calls differ at most",
        ">Shift that is found",
        "Most notable pair",
        ">Pairs",
    ]);
    for index in order(record) {
        let timing = &record.timing[index];
        let shown = |value: Option<f64>| value.filter(|ns| ns.is_finite()).map_or_else(|| NONE.to_owned(), time);
        let finding = words::finding(timing);
        table.row(vec![
            Cell::Link(name(record, timing), place(index)),
            Cell::Badges(badges(timing, timing.verdict.name().to_owned())),
            Cell::Strong(if timing.unoptimized() { format!("{finding}; looks unoptimized") } else { finding }),
            shown(rank::tail_bound(timing).filter(|_| bounded(timing.verdict))).into(),
            shown(rank::detectable(timing).filter(|_| bounded(timing.verdict))).into(),
            rank::worst(timing).map_or_else(|| NONE.to_owned(), |pair| format!("{} against {}", pair.b, pair.a)).into(),
            timing.pairs.len().to_string().into(),
        ]);
    }
    table
}

/// Returns the labels of a target: the label for the verdict about time, which contains `text`, and a second label if
/// traces differ.
pub(super) fn badges(timing: &Timing, text: String) -> Vec<(Verdict, String)> {
    let differ = traces::differs(timing).then(|| (Verdict::Leak, traces::DIFFER.to_owned()));
    differ.into_iter().chain([(timing.verdict, text)]).collect()
}

/// Returns the indexes of the targets that were timed. Targets with a leak come first, then targets whose traces
/// differ, and then the other targets in the order of their verdicts.
pub(super) fn order(record: &Record) -> Vec<usize> {
    let timings = &record.timing;
    let mut order: Vec<usize> = (0..timings.len()).filter(|&index| !traces::only(&timings[index])).collect();
    order.sort_by_key(|&index| {
        let verdict = timings[index].verdict;
        std::cmp::Reverse((verdict == Verdict::Leak, traces::differs(&timings[index]), verdict))
    });
    order
}

/// Returns whether the page shows bounds beside a verdict. For a difference or a failed control, the page shows no
/// bounds, because a bound could suggest that there is no leak.
fn bounded(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::NoLeakAbove | Verdict::Inconclusive)
}

pub(super) const COLUMNS: &str = "“Slowest calls” is a bound for 99.9\u{a0}% of the calls, where the run had enough of \
    them; no bound covers differences in fewer calls. “Shift that is found”: nine of ten runs find a shift of all \
    calls by this time. “–”: not known, or a difference was found.";

/// A text that warns against wrong conclusions from the table of classes.
pub(super) const POOLED: &str = "A row has the times of its class from all pairs, measured one after another, while \
    the machine's speed changes. Only the differences of pairs compare classes.";

pub(super) const P: &str = "p: if the classes did not differ, data like these would come up in this share of runs. \
    A difference above zero means that the first-named class is slower.";

/// Returns the target's name. If several targets have the same name, the length of the input follows the name.
pub(super) fn name(record: &Record, timing: &Timing) -> String {
    let twice = record.timing.iter().filter(|other| other.target == timing.target).count() > 1;
    if twice { format!("{}, {} bytes", timing.target, timing.length) } else { timing.target.clone() }
}

/// Returns the section of one target.
pub(super) fn section(record: &Record, index: usize) -> String {
    let timing = &record.timing[index];
    let charts = chart::of_timing(timing, index, false);
    let label = words::label(timing.verdict, rank::bound(timing));
    let mut out = format!("<section class=\"target\" id=\"{}\">\n<h3>{} ", place(index), escape(&name(record, timing)));
    let badges: Vec<String> = badges(timing, label).iter().map(|(verdict, text)| badge(*verdict, text)).collect();
    out.push_str(&badges.join(" "));
    out.push_str("</h3>\n<p class=\"lead\">");
    out.push_str(&escape(&words::target(timing)));
    out.push_str("</p>\n");
    out.push_str(&figures(&charts, &[Plot::Quantiles, Plot::Violin], "main"));
    if let Some(trace) = &timing.trace {
        let class = if traces::differs(timing) { "note bad" } else { "note" };
        out.push_str(&format!("<p class=\"{class}\"><b>Trace.</b> {}</p>\n", escape(&words::trace(trace))));
    }
    out.push_str(&pairs(timing).html());
    if !timing.pairs.is_empty() {
        out.push_str(&format!("<p class=\"small\">{}</p>\n", escape(P)));
    }
    let more = [Plot::Pairs, Plot::Density, Plot::Ecdf, Plot::Funnel, Plot::Series, Plot::Autocorrelation];
    out.push_str(&details("More pictures", &figures(&charts, &more, "")));
    out.push_str(&details("Each class by itself", &classes(timing, &charts)));
    out.push_str(&details("Statistics, controls and design", &inner(timing)));
    out.push_str("</section>\n");
    out
}

pub(super) fn figures(charts: &[Chart], plots: &[Plot], class: &str) -> String {
    let chosen: Vec<&Chart> =
        plots.iter().flat_map(|plot| charts.iter().filter(move |chart| chart.plot == *plot)).collect();
    if chosen.is_empty() {
        return String::new();
    }
    let mut out = format!("<div class=\"figures {class}\">\n");
    for chart in chosen {
        out.push_str(&format!(
            "<figure>{}<figcaption>{}</figcaption></figure>\n",
            chart.inline(),
            escape(&chart.caption)
        ));
    }
    out.push_str("</div>\n");
    out
}

pub(super) fn pairs(timing: &Timing) -> Table {
    let mut table = Table::new(&[
        "Pair",
        "Verdict",
        ">Difference of the means",
        ">Most calls differ at most",
        ">Slowest calls",
        ">Shift that is found",
        ">p",
        ">Calls",
    ]);
    for pair in rank::pairs(timing) {
        let first = pair.effects.first().map_or_else(|| NONE.to_owned(), |effect| number::interval(&effect.difference));
        // A row with the verdict LEAK has no bound, because a bound could suggest that there is no leak. A row with the
        // verdict LEAK shows the interval of the difference instead of a bound.
        let judged = !matches!(pair.verdict, Verdict::Leak | Verdict::Invalid | Verdict::Unmeasurable);
        let shown = |ns: f64, said: bool| if said { time(ns) } else { NONE.to_owned() };
        let calls = pair.batches as u64 * timing.design.pairs_per_batch as u64 * 2 * u64::from(timing.repeats.max(1));
        table.row(vec![
            format!("{} against {}", pair.b, pair.a).into(),
            Cell::Badge(pair.verdict, pair.verdict.name().to_owned()),
            first.into(),
            shown(pair.bound_ns, judged).into(),
            shown(pair.tail_bound_ns, judged).into(),
            shown(pair.mde_ns, bounded(pair.verdict)).into(),
            probability(pair.p_holm).into(),
            count(calls).into(),
        ]);
    }
    table
}

fn classes(timing: &Timing, charts: &[Chart]) -> String {
    let mut out = quantiles(timing).html();
    if timing.pairs.len() > 1 {
        out.push_str(&paragraph(POOLED));
    }
    out.push_str(&paragraph(&words::classes(timing)));
    let mut cards = String::new();
    for (index, class) in timing.classes.iter().enumerate() {
        if let Some(estimates) = &class.estimates {
            cards.push_str(&card(
                class,
                estimates,
                charts.iter().find(|chart| chart.plot == Plot::Regression && chart.index == index),
            ));
        }
    }
    if !cards.is_empty() {
        out.push_str(&format!("<div class=\"cards\">\n{cards}</div>\n"));
    }
    out
}

pub(super) fn quantiles(timing: &Timing) -> Table {
    let mut table = Table::new(&[
        "Class",
        ">5 %",
        ">25 %",
        ">median",
        ">75 %",
        ">95 %",
        ">99.9 %",
        ">Median per byte",
        ">Measurements",
    ]);
    for class in &timing.classes {
        let mut row: Vec<Cell> = vec![class.name.as_str().into()];
        for at in [0.05, 0.25, 0.5, 0.75, 0.95, 0.999] {
            let text = quantile(class, at).map_or_else(|| NONE.to_owned(), time);
            row.push(if at == 0.5 { Cell::Strong(text) } else { Cell::Text(text) });
        }
        let middle = class.quantiles.iter().find(|quantile| quantile.at == 0.5 && timing.length > 0);
        row.push(middle.map_or_else(|| NONE.to_owned(), |middle| time(middle.ns / timing.length as f64)).into());
        row.push(count(class.samples).into());
        table.row(row);
    }
    table
}

fn card(class: &Class, estimates: &Estimates, chart: Option<&Chart>) -> String {
    let mut out = format!("<article><h4>{}</h4>\n{}", escape(&class.name), paragraph(&words::class(class)));
    out.push_str(&self::estimates(estimates).html());
    if let Some(chart) = chart {
        out.push_str(&chart.inline());
    }
    out.push_str("</article>\n");
    out
}

pub(super) fn estimates(estimates: &Estimates) -> Table {
    let mut table = Table::new(&["", ">Lower bound", ">Estimate", ">Upper bound"]);
    let rows = [
        ("Slope", &estimates.slope),
        ("Mean", &estimates.mean),
        ("Median", &estimates.median),
        ("Median absolute deviation", &estimates.mad),
    ];
    for (name, value) in rows {
        let [lower, estimate, upper] = bounds(value);
        table.row(vec![name.into(), lower.into(), Cell::Strong(estimate), upper.into()]);
    }
    table
}

/// Formats the lower bound, the estimate and the upper bound in one unit. The number of digits depends on the width of
/// the interval.
fn bounds(value: &Interval) -> [String; 3] {
    let unit = number::time_unit(value.estimate);
    let places = number::interval_places(value, unit.worth);
    [value.lower, value.estimate, value.upper]
        .map(|ns| format!("{}\u{a0}{}", number::fixed(ns / unit.worth, places), unit.name))
}

/// Returns the statistics and controls of the most notable pair, and the design of the measurement.
fn inner(timing: &Timing) -> String {
    let mut out = String::new();
    if let Some(pair) = rank::worst(timing) {
        out.push_str(&format!("<h4>{}</h4>\n", escape(&format!("{} against {}", pair.b, pair.a))));
        out.push_str(&paragraph(&pair.words(timing.design.delta_ns)));
        out.push_str(&effects(pair).html());

        out.push_str(&paragraph(&words::controls(pair)));
        out.push_str(&controls(pair).html());
        if let Some(file) = &pair.raw {
            out.push_str(&paragraph(&format!("The file {file} contains all single times.")));
        }
    }
    out.push_str("<h4>Design</h4>\n");
    out.push_str(&paragraph(&words::design(timing)));
    out
}

fn effects(pair: &Pair) -> Table {
    let mut table = Table::new(&["Statistic", ">Lower bound", ">Difference", ">Upper bound", ">Wanted within ±"]);
    let raw = ("mean of all calls".to_owned(), &pair.raw_mean, f64::NAN);
    let effects = pair.effects.iter().map(|effect| (effect.name.clone(), &effect.difference, effect.tolerance_ns));
    for (name, value, tolerance) in effects.chain([raw]) {
        let limit = if tolerance.is_nan() { NONE.to_owned() } else { time(tolerance) };
        table.row(vec![
            name.into(),
            time(value.lower).into(),
            Cell::Strong(time(value.estimate)),
            time(value.upper).into(),
            limit.into(),
        ]);
    }
    table
}

fn controls(pair: &Pair) -> Table {
    let mut table = Table::new(&["Control", "Must be", ">p", ">Difference", ">Meant", "Outcome"]);
    let mut add = |name: &str, must: &str, control: &Control| {
        table.row(vec![
            name.into(),
            must.into(),
            probability(control.p).into(),
            number::interval(&control.difference).into(),
            if control.meant_ns > 0.0 { time(control.meant_ns) } else { NONE.to_owned() }.into(),
            Cell::Mark(Some(control.passed)),
        ]);
    };
    add("One class against itself", "not found", &pair.controls.same);
    add("The target with a delay added", "found", &pair.controls.delay);
    add("A leaking function of similar cost", "found", &pair.controls.leak);
    table
}
