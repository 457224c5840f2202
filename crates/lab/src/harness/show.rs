//! Tables on the terminal.

use std::time::Duration;

use super::output::{Stream, is_terminal, print, unwritable};
use crate::plural::plural;
use crate::record::sentence::spaced;
use crate::record::{
    Calibration, Check, Comparison, GenerationRow, GoalVerdict, Interval, Outcome, Pair, Power, Speed, TargetOutcome,
    TargetVerdict, Timing, Verdict, Yardstick,
};
use crate::target::Target;
use crate::visible::visible_lines;

/// The output for tables: standard output, or standard error if other data is written to standard output.
pub(super) struct Screen {
    aside: bool,
    color: bool,
}

impl Screen {
    /// Creates the output. If `aside` is true, tables go to standard error, because standard output is used for a
    /// record.
    pub(super) fn new(aside: bool) -> Self {
        let terminal = is_terminal(if aside { Stream::Errors } else { Stream::Output });
        Self { aside, color: terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// Writes a line. Control characters are shown as visible text. If the reader has closed the pipe, the program ends
    /// without a message, and its exit code differs from the exit code of a run without a leak.
    pub(super) fn line(&self, text: &str) {
        self.write(&visible_lines(text));
    }

    fn write(&self, line: &str) {
        let stream = if self.aside { Stream::Errors } else { Stream::Output };
        print(stream, format!("{line}\n").as_bytes()).unwrap_or_else(|error| unwritable(&error));
    }

    /// Writes a line of three parts. The middle part is a word, and the function writes it in the given color.
    fn colored(&self, before: &str, (color, word): (&str, &str), after: &str) {
        if !self.color {
            return self.line(&format!("{before}{word}{after}"));
        }
        let [before, word, after] = [before, word, after].map(visible_lines);
        self.write(&format!("{before}\x1b[{color}m{word}\x1b[0m{after}"));
    }

    pub(super) fn timing_head(&self) {
        self.line(&format!(
            "{:<34} {:>9}  {:<15} {:>9} {:>12} {:>9} {:>6}  {}",
            "target", "call", "verdict", "at most", "slow calls", "found", "pairs", "trace"
        ));
    }

    /// Writes a text that explains the table columns that contain bounds.
    pub(super) fn timing_legend(&self, timing: &[Timing]) {
        let bounded: Vec<&Pair> =
            timing.iter().filter(|timing| bounded(timing)).flat_map(|timing| &timing.pairs).collect();
        if bounded.is_empty() {
            return;
        }
        let least = |of: fn(&Pair) -> f64| bounded.iter().map(|pair| of(pair)).fold(1.0, f64::min);
        self.line(&format!(
            "at most: the largest difference for {} of the calls; slow calls: for {}; fewer calls are not covered",
            percent(least(|pair| pair.bound_up_to)),
            percent(least(Pair::covered_up_to)),
        ));
        self.line("found: nine of ten runs find a shift of all calls by this time");
    }

    /// Writes the table row of one target, and a line for each pair of classes whose verdict is not `NO_LEAK_ABOVE`.
    pub(super) fn timing(&self, timing: &Timing, limit: Duration) {
        let bounded = bounded(timing);
        let bound = |of: fn(&Pair) -> f64| {
            let most = timing.pairs.iter().map(of).fold(0.0, f64::max);
            if bounded && most > 0.0 { time(most) } else { "–".to_owned() }
        };
        let call = timing
            .classes
            .iter()
            .flat_map(|class| class.quantiles.iter().find(|quantile| quantile.at >= 0.5))
            .map(|middle| middle.ns)
            .fold(0.0, f64::max);
        let color = match timing.verdict {
            Verdict::NoLeakAbove => "32",
            Verdict::BelowThreshold => "36",
            Verdict::Leak | Verdict::Invalid => "31",
            Verdict::Inconclusive | Verdict::Unmeasurable => "33",
        };
        let figures = format!(
            " {:>9} {:>12} {:>9} {:>6}  {}",
            bound(|pair| pair.bound_ns),
            bound(|pair| pair.tail_bound_ns),
            bound(|pair| pair.mde_ns),
            timing.pairs.len(),
            trace(timing),
        );
        let name = format!("{:<34} {:>9}  ", timing.target, time(call));
        self.colored(&name, (color, &format!("{:15}", timing.verdict.name())), &figures);
        if let Some(finding) = finding(timing) {
            self.line(&format!("    trace: {finding}"));
        }
        self.notes(timing);
        self.warning(timing);
        for pair in timing.pairs.iter().filter(|pair| pair.verdict != Verdict::NoLeakAbove) {
            let names =
                if pair.reason.contains(&pair.a) { String::new() } else { format!("{} / {}: ", pair.a, pair.b) };
            // If the user interrupted the run, a longer time limit would not help, so the lab gives no advice.
            let interrupted = super::progress::interrupted();
            let advice = if interrupted { String::new() } else { longer(timing, pair, limit.as_secs_f64()) };
            self.line(&format!("    {}: {names}{}{advice}", pair.verdict, pair.reason));
        }
    }

    fn notes(&self, timing: &Timing) {
        for note in timing.trace.iter().flat_map(|trace| &trace.notes) {
            self.line(&format!("    note: {note}"));
        }
    }

    fn warning(&self, timing: &Timing) {
        if let Some(warning) = timing.trace.as_ref().and_then(|trace| trace.warning()) {
            self.caution(&warning);
        }
    }

    /// If some targets were apparently compiled without optimization, writes the number of these targets.
    pub(super) fn unoptimized(&self, timing: &[Timing]) {
        let plain = timing.iter().filter(|timing| timing.unoptimized()).count() as u64;
        if plain > 0 {
            let look = plural(plain, "looks", "look");
            self.line(&format!(
                "NOT OPTIMIZED: {plain} of {} {look} as if compiled without optimization",
                timing.len()
            ));
        }
    }

    /// Writes a warning about a target.
    pub(super) fn caution(&self, text: &str) {
        self.colored("    ", ("31", text), "");
    }

    pub(super) fn classes(&self, target: &Target) {
        let classes: Vec<&str> = target.classes().iter().map(|class| class.name()).collect();
        let traced = match (classes.len(), target.pairs().is_empty()) {
            (1, _) => " (one class: traced only)",
            (_, true) => " (no pairs of classes: traced only)",
            _ => "",
        };
        self.line(&format!("{}: {}{traced}", target.name(), classes.join(", ")));
    }

    /// Writes a note, and then the result of one target's trace.
    pub(super) fn trace(&self, timing: &Timing, note: &str) {
        self.line(&format!("{:<34} {note}{}", timing.target, trace(timing)));
        self.notes(timing);
        if let Some(finding) = finding(timing) {
            self.line(&format!("    {finding}"));
        }
        self.warning(timing);
    }

    pub(super) fn speed(&self, speed: &Speed) {
        let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
        let beside = speed.yardstick.as_ref().map_or_else(String::new, |Yardstick { name, ratio }| {
            // If the interval of a ratio is wide, the table shows the interval instead of the ratio.
            if ratio.upper > 1.1 * ratio.lower {
                format!("{:.2}–{:.2} × {name}", ratio.lower, ratio.upper)
            } else {
                format!("{:.2} × {name}", ratio.estimate)
            }
        });
        let change = speed.change.as_ref().map_or_else(String::new, |change| match change.outcome {
            Outcome::Same => format!("as before, within {:.0} %", change.margin * 100.0),
            Outcome::Faster | Outcome::Slower => percent(change.ratio.estimate),
            Outcome::Inconclusive => format!("{} to {}", percent(change.ratio.lower), percent(change.ratio.upper)),
        });
        let Speed { target, size, estimates, bytes_per_second, .. } = speed;
        self.line(&format!(
            "{target:<34} {size:>8} {:>10} {:>10} {:>10}  {:>14}  {beside:<18} {change}",
            time(estimates.median.lower),
            time(estimates.median.estimate),
            time(estimates.median.upper),
            rate(bytes_per_second.estimate, "B"),
        ));
    }

    pub(super) fn generations_head(&self) {
        let figures =
            format!("{:>10} {:>6} {:>8} {:>9} {:>8} {:>3}", "rate", "ratio", "peak MiB", "median s", "cpu s", "n");
        self.line(&format!("{:<3} {:<6} {:<19} {:<8} {:<18} {figures}", "set", "", "workload", "", "variant"));
    }

    pub(super) fn generation(&self, row: &GenerationRow) {
        let GenerationRow { set, contents, workload, operation, variant, .. } = row;
        let name = format!("{set:<3} {contents:<6} {workload:<19} {operation:<8} {variant:<18}");
        let Some(rate) = row.rate else {
            return self.line(&format!("{name} skipped: {}", row.skipped.as_deref().unwrap_or("not measured")));
        };
        let maybe = |value: Option<f64>, places: usize| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.places$}"))
        };
        let median = row.amount / rate / if row.unit == "Mop/s" { 1e6 } else { f64::from(1 << 20) };
        let (ratio, peak) =
            (maybe(row.ratio, 2), maybe(row.peak_memory.map(|bytes| bytes as f64 / f64::from(1 << 20)), 1));
        let (cpu, rounds) = (maybe(row.processor_seconds, 3), row.rounds);
        self.line(&format!(
            "{name} {rate:>10.1} {ratio:>6} {peak:>8} {median:>9.4} {cpu:>8} {rounds:>3}  {}",
            row.unit
        ));
    }

    pub(super) fn row(&self, row: &GenerationRow) {
        let GenerationRow { set, workload, operation, variant, .. } = row;
        let name = format!("{set:<8} {:<60} {variant:<26}", format!("{workload}, {operation}"));
        let Some(rate) = row.rate else {
            return self.line(&format!("{name} skipped: {}", row.skipped.as_deref().unwrap_or("not measured")));
        };
        let beside = row.beside.as_ref().map_or_else(String::new, |Yardstick { name, ratio }| {
            format!("{:.3} ({:.3} to {:.3}) × {name}", ratio.estimate, ratio.lower, ratio.upper)
        });
        let peak = row.peak_memory.map_or_else(String::new, |bytes| scaled(bytes as f64, "B"));
        let bytes = if row.unit == "MiB/s" { self::rate(rate * f64::from(1 << 20), "B") } else { String::new() };
        let median = crate::distribution::median(&mut row.seconds.clone());
        self.line(&format!("{name} {:>9} {bytes:>10} {peak:>9} {:>4}  {beside}", time(median * 1e9), row.rounds));
    }

    pub(super) fn goal(&self, goal: &GoalVerdict) {
        let color = if goal.met == goal.of { "32" } else { "31" };
        let outcome = format!("{:<8}", goal.outcome.name());
        self.colored(
            "",
            (color, &outcome),
            &format!(" {:>2} of {:<2} {:<70} {}", goal.met, goal.of, goal.goal, goal.measured),
        );
    }

    pub(super) fn target(&self, target: &TargetVerdict) {
        let outcome = format!("{:<12}", target.outcome.name());
        let color = match target.outcome {
            TargetOutcome::Met => "32",
            TargetOutcome::AtLimit => "36",
            TargetOutcome::Missed => "31",
            TargetOutcome::Skipped => "33",
        };
        let rate = target.rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate:.0}"));
        let TargetVerdict { set, workload, operation, wanted, .. } = target;
        let before = format!("{set:<3} {workload:<19} {operation:<8} {rate:>7} of {wanted:>5.0} wanted  ");
        self.colored(&before, (color, &outcome), &format!(" {}", target.reason));
    }

    /// Writes the comparison of two programs. The comparison took the time `elapsed`.
    pub(super) fn comparison(&self, comparison: &Comparison, elapsed: Duration) {
        self.line(&format!(
            "{:<4} {:>22} {:>22} {:>10} {:>10} {:>10} {:>10} {:>12}",
            "", "mean ± deviation", "shortest … longest", "median", "user", "system", "memory", ""
        ));
        let sides = [("A", Some(&comparison.a)), ("B", Some(&comparison.b)), ("yard", comparison.yardstick.as_ref())];
        for (name, side) in sides.into_iter().filter_map(|(name, side)| Some((name, side?))) {
            let seconds = |interval: &Option<Interval>| {
                interval.map_or_else(String::new, |interval| time(interval.estimate * 1e9))
            };
            let [mean, deviation] = side.wall_mean.unwrap_or_default().map(|seconds| time(seconds * 1e9));
            let [least, most] =
                [side.wall_minimum, side.wall_maximum.unwrap_or_default()].map(|seconds| time(seconds * 1e9));
            self.line(&format!(
                "{name:<4} {:>22} {:>22} {:>10} {:>10} {:>10} {:>10} {:>12}  {}",
                format!("{mean} ± {deviation}"),
                format!("{least} … {most}"),
                time(side.wall.estimate * 1e9),
                seconds(&side.user),
                seconds(&side.system),
                side.peak_memory.map_or_else(String::new, |bytes| scaled(bytes as f64, "B")),
                side.bytes_per_second.map_or_else(String::new, |bytes| rate(bytes, "B")),
                side.name
            ));
            if let Some(failed) = side.failed(2 * comparison.rounds as u64) {
                self.caution(&format!("WARNING: {name}: {failed}"));
            }
        }
        let ratio = comparison.ratio;
        let margin = format!("{:.1} %", comparison.margin * 100.0);
        let words = match comparison.outcome {
            Outcome::Same => format!("the same within {margin}"),
            Outcome::Faster => "B is faster".to_owned(),
            Outcome::Slower => "B is slower".to_owned(),
            Outcome::Inconclusive => "inconclusive".to_owned(),
        };
        self.line(&format!(
            "B / A: {:.4} ({:.4} to {:.4}, 99 %), {} {}: {words}",
            ratio.estimate,
            ratio.lower,
            ratio.upper,
            comparison.rounds,
            plural(comparison.rounds as u64, "round", "rounds")
        ));
        if comparison.outcome != Outcome::Inconclusive {
            return;
        }
        let noise = comparison.noise.exp_m1();
        let why = if noise > comparison.margin {
            format!("A differs from itself by {:.1} %, more than the margin of {margin}", noise * 100.0)
        } else {
            format!("the interval is neither within the margin of {margin} nor beyond it")
        };
        self.line(&format!("    {why}{}", further(comparison, elapsed)));
    }

    pub(super) fn check(&self, check: &Check) {
        let (mark, color) = match check.passed {
            Some(true) => ("kept", "32"),
            Some(false) => ("MISSED", "31"),
            None if check.runs > 0 => ("open", "33"),
            None => ("skipped", "33"),
        };
        let rate = if check.runs == 0 {
            String::new()
        } else {
            let percent = |share: f64| format!("{:.2}", share * 100.0);
            let interval = check.rate;
            format!(
                ": {} of {} = {} % ({} to {} %)",
                check.found,
                check.runs,
                percent(interval.estimate),
                percent(interval.lower),
                percent(interval.upper)
            )
        };
        let wanted = if check.wanted.is_empty() { String::new() } else { format!("; wanted: {}", check.wanted) };
        let rest = format!(" {}{rate}{wanted}\n        {}", check.what, check.detail);
        self.colored("", (color, &format!("{mark:<7}")), &rest);
    }

    pub(super) fn calibration(&self, calibration: &Calibration) {
        for level in &calibration.levels {
            let percent = |share: f64| format!("{:.2} %", share * 100.0);
            self.line(&format!(
                "calls of {}: {} of {} runs without a leak were rejected at α = {} ({} to {}), {} ended as LEAK",
                time(level.cost_ns),
                level.rejected,
                level.runs,
                percent(calibration.alpha),
                percent(level.rate.lower),
                percent(level.rate.upper),
                level.leaks
            ));
            for power in &level.power {
                let Power { delay_ns, found, runs, rate } = *power;
                self.line(&format!(
                    "    {:>9} more: found in {found} of {runs} runs ({} to {})",
                    time(delay_ns),
                    percent(rate.lower),
                    percent(rate.upper)
                ));
            }
        }
    }
}

/// Returns whether the table shows bounds for this target. The table shows no bounds if the lab found a difference or a
/// control failed, because a bound could suggest that there is no leak.
fn bounded(timing: &Timing) -> bool {
    matches!(timing.verdict, Verdict::NoLeakAbove | Verdict::Inconclusive)
}

/// The lab never recommends a time limit that is longer than this number of seconds.
const PATIENCE: f64 = 3600.0;

/// For an undecided pair, returns advice about the option `--time-limit`, so that the next run collects enough data. A
/// pair takes at most half of its target's remaining time. The last pair of a target may use all of the remaining time.
fn longer(timing: &Timing, pair: &Pair, limit: f64) -> String {
    if pair.verdict != Verdict::Inconclusive || pair.more_pairs.is_none() {
        return String::new();
    }
    let Some(more) = pair.more_seconds else {
        return " Choose a larger threshold (--delta).".to_owned();
    };
    let share = if timing.pairs.len() > 1 { 2.0 } else { 1.0 };
    let all = timing.pairs.iter().map(|pair| pair.seconds).sum::<f64>();
    // The estimate is rough, and the amount of data doubles from one evaluation to the next.
    let seconds = (1.5 * share * (all + more)).max(2.0 * limit);
    if seconds > PATIENCE {
        return " Repeat the run with less load, or choose a larger threshold (--delta).".to_owned();
    }
    let shared = if timing.pairs.len() > 1 { ", a time for all pairs of the target" } else { "" };
    format!(" Repeat the run with --time-limit {}{shared}.", (seconds / 10.0).ceil() * 10.0)
}

/// Describes the options for a longer comparison that would probably reach a decision. `elapsed` is the time that the
/// comparison has taken so far.
fn further(comparison: &Comparison, elapsed: Duration) -> String {
    let Some(further) = comparison.further_rounds else { return String::new() };
    let all = further.saturating_add(comparison.rounds as u64);
    let about = format!("; about {further} more {} would settle it", plural(further, "round", "rounds"));
    // The number of rounds and the time for each round are rough estimates.
    let seconds = 1.2 * elapsed.as_secs_f64() / comparison.rounds as f64 * all as f64;
    if seconds > PATIENCE {
        return format!("{about}, in about {:.0} min: use longer runs, or a quieter machine", seconds / 60.0);
    }
    format!("{about}: --rounds {all} --time-limit {}", (seconds / 10.0).ceil() * 10.0)
}

/// Formats a share of the calls.
fn percent(share: f64) -> String {
    spaced(&crate::number::percent(share))
}

fn trace(timing: &Timing) -> String {
    let Some(trace) = &timing.trace else { return String::new() };
    match &trace.skipped {
        _ if finding(timing).is_some() => "DIFFERS, see below".to_owned(),
        Some(why) => format!("skipped: {why}"),
        None => format!(
            "equal: {} {}, {} {}",
            trace.secrets,
            plural(trace.secrets as u64, "input", "inputs"),
            trace.instructions,
            plural(trace.instructions, "instruction", "instructions")
        ),
    }
}

pub(super) fn finding(timing: &Timing) -> Option<String> {
    #[cfg(feature = "trace")]
    return crate::trace::leaks(timing.trace.as_ref()?);
    #[cfg(not(feature = "trace"))]
    timing.trace.as_ref()?.divergence.clone()
}

/// Formats nanoseconds with three digits and a suitable unit.
pub(super) fn time(ns: f64) -> String {
    if ns == 0.0 {
        return "0".to_owned();
    }
    let (scale, unit) = match ns.abs() {
        size if size < 0.0995 => (1e-3, "ps"),
        size if size < 999.5 => (1.0, "ns"),
        size if size < 999.5e3 => (1e3, "µs"),
        size if size < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", digits(ns / scale))
}

/// Formats an amount per second.
pub(super) fn rate(amount: f64, unit: &str) -> String {
    format!("{}/s", scaled(amount, unit))
}

fn scaled(amount: f64, unit: &str) -> String {
    let (scale, prefix) = match amount.abs() {
        amount if amount < 999.5 => (1.0, ""),
        amount if amount < 999.5e3 => (1e3, "k"),
        amount if amount < 999.5e6 => (1e6, "M"),
        amount if amount < 999.5e9 => (1e9, "G"),
        _ => (1e12, "T"),
    };
    format!("{} {prefix}{unit}", digits(amount / scale))
}

fn digits(value: f64) -> String {
    match value.abs() {
        size if size < 0.9995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_suitable_unit() {
        let shown = [0.0, 0.0123, 0.206, 0.9999, 12.34, 999.6, 45_600.0, 2.5e9].map(time);
        assert_eq!(shown, ["0", "12.3 ps", "0.206 ns", "1.00 ns", "12.3 ns", "1.00 µs", "45.6 µs", "2.50 s"]);
        assert_eq!(rate(1.5e9, "B"), "1.50 GB/s");
    }

    #[test]
    fn advice_for_an_undecided_comparison_names_both_options_or_the_time() {
        let comparison = |further: u64| -> Comparison {
            let side = serde_json::json!({
                "name": "a", "wall": Interval::default(), "wall_minimum": 1.0, "user": null, "system": null,
                "peak_memory": null, "bytes_per_second": null,
            });
            serde_json::from_value(serde_json::json!({
                "a": side, "b": side, "ratio": Interval::default(), "margin": 0.01, "rounds": 20,
                "outcome": "inconclusive", "further_rounds": further, "yardstick": null, "ratios": [],
            }))
            .unwrap()
        };
        let advice = |more| further(&comparison(more), Duration::from_secs(10));
        assert_eq!(advice(180), "; about 180 more rounds would settle it: --rounds 200 --time-limit 120");
        assert!(
            advice(1 << 20).ends_with("would settle it, in about 10486 min: use longer runs, or a quieter machine")
        );
    }

    #[test]
    fn advice_for_an_undecided_pair_names_an_option_that_helps() {
        let pair = |more_pairs: u64, more_seconds: Option<f64>| -> Pair {
            serde_json::from_value(serde_json::json!({
                "a": "a", "b": "b", "verdict": "INCONCLUSIVE", "reason": "", "p": 1.0, "p_holm": 1.0, "batches": 16,
                "effects": [], "raw_mean": Interval::default(), "bound_ns": 1.0, "tail_bound_ns": 1.0, "mde_ns": 1.0,
                "more_pairs": more_pairs, "more_seconds": more_seconds, "controls": crate::record::Controls::default(),
                "funnel": [], "series": [], "autocorrelation": [], "ecdf": [], "seconds": 15.0,
            }))
            .unwrap()
        };
        let timing = |pairs: Vec<Pair>| Timing {
            target: "t".to_owned(),
            length: 1,
            repeats: 1,
            design: Default::default(),
            classes: Vec::new(),
            pairs,
            trace: None,
            verdict: Verdict::Inconclusive,
        };
        let advice = |pairs: Vec<Pair>, limit| longer(&timing(pairs.clone()), &pairs[0], limit);
        let needs = |seconds| pair(1000, Some(seconds));
        // The only pair of a target may use the whole time limit. If a target has two pairs, the first pair may use
        // only half of the time.
        assert_eq!(advice(vec![needs(40.0)], 20.0), " Repeat the run with --time-limit 90.");
        assert_eq!(
            advice(vec![needs(40.0), needs(1.0)], 20.0),
            " Repeat the run with --time-limit 210, a time for all pairs of the target."
        );
        assert_eq!(
            advice(vec![needs(1.0)], 60.0),
            " Repeat the run with --time-limit 120.",
            "a longer one in any case"
        );
        assert!(advice(vec![needs(10_000.0)], 60.0).contains("less load"), "nobody waits for hours");
        assert_eq!(advice(vec![pair(1 << 40, None)], 60.0), " Choose a larger threshold (--delta).");
    }
}
