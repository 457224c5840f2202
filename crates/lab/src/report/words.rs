//! Describes results in sentences. A sentence claims only what the run supports. A run can support a bound, a
//! difference, or nothing.

use super::chart::quantile;
use super::number::{count, percent, time, times};
use super::{rank, traces};
use crate::plural::plural;
use crate::record::sentence::stopped;
use crate::record::{Class, Pair, Timing, Trace, Verdict};

/// Returns a verdict with its bound: `NO_LEAK_ABOVE(0.3 ns)`.
pub(super) fn label(verdict: Verdict, bound: Option<f64>) -> String {
    match (verdict, bound) {
        (Verdict::NoLeakAbove, Some(bound)) => format!("{}({})", verdict.name(), time(bound)),
        _ => verdict.name().to_owned(),
    }
}

/// Describes the meaning of a verdict.
pub(super) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NoLeakAbove => {
            "No difference was found, and the intervals exclude differences above the stated bound for the stated \
             share of the calls. Differences in fewer calls are not covered."
        }
        Verdict::BelowThreshold => {
            "A difference was found, and was found again in fresh data. It is smaller than the threshold for the \
             stated share of the calls."
        }
        Verdict::Leak => {
            "A difference was found, was found again in fresh data, and the interval of at least one statistic lies \
             wholly beyond the threshold."
        }
        Verdict::Inconclusive => "The run shows neither a leak nor its absence.",
        Verdict::Invalid => "A control failed, or the machine drifted, so the run shows nothing.",
        Verdict::Unmeasurable => "A call is too fast for the clock.",
    }
}

/// Describes the result of a target in a few words for a table. Only the text for `NO_LEAK_ABOVE` may suggest that
/// there is no leak.
pub(super) fn finding(timing: &Timing) -> String {
    let bound = rank::bound(timing).filter(|ns| ns.is_finite());
    let share = percent(rank::bound_up_to(timing));
    let differs = || {
        let worst = rank::worst(timing);
        let shown = worst.and_then(|pair| Some(pair.slower(pair.shown(timing.design.delta_ns)?)));
        shown.unwrap_or_else(|| "a difference of unknown size".to_owned())
    };
    match (timing.verdict, bound) {
        (Verdict::NoLeakAbove, Some(bound)) => format!("no difference above {} for {share} of the calls", time(bound)),
        (Verdict::Inconclusive, Some(bound)) => format!("may differ by up to {} for {share} of the calls", time(bound)),
        (Verdict::NoLeakAbove | Verdict::Inconclusive, None) => "the bound is not known".to_owned(),
        (Verdict::Leak, _) => differs(),
        (Verdict::BelowThreshold, _) => format!("{}, below the threshold", differs()),
        (Verdict::Invalid, _) => "shows nothing: a control failed".to_owned(),
        (Verdict::Unmeasurable, _) => "too fast for the clock".to_owned(),
    }
}

/// Counts the verdicts of all pairs of classes, the most severe verdict first. The text also contains the number of
/// equal traces.
pub(super) fn tally<'t>(timings: impl IntoIterator<Item = &'t Timing>) -> String {
    let timings: Vec<&Timing> = timings.into_iter().collect();
    let pairs: Vec<Verdict> = timings.iter().flat_map(|timing| timing.pairs.iter().map(|pair| pair.verdict)).collect();
    let mut kinds = pairs.clone();
    kinds.sort_unstable_by(|x, y| y.cmp(x));
    kinds.dedup();
    let each = |kind: &Verdict| format!("{} {}", pairs.iter().filter(|verdict| *verdict == kind).count(), kind.name());
    let each: Vec<String> = kinds.iter().map(each).collect();
    let mut out = format!(
        "{} {}, {} {} of classes: {}.",
        timings.len(),
        plural(timings.len() as u64, "target", "targets"),
        pairs.len(),
        plural(pairs.len() as u64, "pair", "pairs"),
        each.join(", ")
    );
    let known = timings.iter().filter(|timing| traces::equal(timing) || traces::differs(timing)).count();
    if known > 0 {
        let differ = timings.iter().filter(|timing| traces::differs(timing)).count();
        out.push_str(&format!(
            " The traces of {} {} are equal, those of {differ} differ.",
            known - differ,
            plural((known - differ) as u64, "target", "targets"),
        ));
    }
    out
}

pub(super) fn target(timing: &Timing) -> String {
    let pairs = timing.pairs.len();
    let hits = timing.pairs.iter().filter(|pair| pair.verdict == timing.verdict).count();
    let first = rank::worst(timing).map_or_else(String::new, |worst| worst.words(timing.design.delta_ns));
    match (timing.verdict, pairs) {
        (_, 0) => "No pair of classes was compared.".to_owned(),
        (_, 1) => first,
        (Verdict::NoLeakAbove, _) => classes(timing),
        _ if hits == pairs => format!("All {pairs} pairs of classes have this verdict. {first}"),
        _ => {
            format!("{hits} of {pairs} pairs of classes {} this verdict. {first}", plural(hits as u64, "has", "have"))
        }
    }
}

/// Describes how long the calls take, and the largest possible difference between the classes.
pub(super) fn classes(timing: &Timing) -> String {
    let medians: Vec<f64> = timing.classes.iter().filter_map(|class| quantile(class, 0.5)).collect();
    let (low, high) =
        (medians.iter().copied().fold(f64::INFINITY, f64::min), medians.iter().copied().fold(0.0, f64::max));
    let mut out = if medians.is_empty() {
        String::new()
    } else {
        let whose = if medians.len() > 2 { "all classes" } else { "both classes" };
        format!("The calls of {whose} take {} (medians). ", times(low, high))
    };
    if matches!(timing.verdict, Verdict::Leak | Verdict::BelowThreshold) {
        // The classes differ, so the text contains no bound: a bound could suggest that there is no leak.
        return out.trim_end().to_owned();
    }
    let judged =
        timing.pairs.iter().filter(|pair| !matches!(pair.verdict, Verdict::Invalid | Verdict::Unmeasurable)).count();
    let what = match judged {
        0 => return out.trim_end().to_owned(),
        1 => "The classes do not differ".to_owned(),
        2 => "Neither pair differs".to_owned(),
        _ if judged == timing.pairs.len() => "No pair differs".to_owned(),
        _ => format!("None of the {judged} pairs that could be judged differs"),
    };
    if let Some(bound) = rank::bound(timing) {
        let up_to = percent(rank::bound_up_to(timing));
        out.push_str(&format!("{what} by more than {} for {up_to} of the calls", time(bound)));
        match rank::detectable(timing).filter(|ns| ns.is_finite() && *ns > 0.0) {
            Some(ns) => {
                out.push_str(&format!(", while a shift of {} would have been found nine times in ten.", time(ns)))
            }
            None => out.push('.'),
        }
    }
    out
}

/// The page shows a slope only if the coefficient of determination, R², is at least this value. Under heavy load, R² is
/// smaller.
const STRAIGHT: f64 = 0.9;

/// Describes the times of one class.
pub(super) fn class(class: &Class) -> String {
    let mut out = String::new();
    if let Some(estimates) = &class.estimates {
        let slope = &estimates.slope;
        if estimates.r_squared < STRAIGHT {
            out.push_str("Other programs disturbed the measurements of calls in a row, so these figures are rough. ");
        } else {
            out.push_str(&format!(
                "In a row with one input, on which branch prediction is trained, a call takes {} (95\u{a0}% interval \
                 {}). ",
                time(slope.estimate),
                times(slope.lower, slope.upper)
            ));
        }
        out.push_str(&format!(
            "The line through {} {} explains {} of their variation",
            estimates.points.len(),
            plural(estimates.points.len() as u64, "measurement", "measurements"),
            percent(estimates.r_squared)
        ));
        out.push_str(&match estimates.outliers {
            0 => "; none lies beyond the outer fences.".to_owned(),
            1 => "; one lies beyond the outer fences and is in all figures.".to_owned(),
            more => format!("; {} lie beyond the outer fences and are in all figures.", count(more as u64)),
        });
    } else if let (Some(low), Some(high)) = (quantile(class, 0.05), quantile(class, 0.95)) {
        out.push_str(&format!("Nine in ten calls take {}.", times(low, high)));
    }
    out
}

/// Describes the result of the traces.
pub(super) fn trace(trace: &Trace) -> String {
    let warning = trace.warning().map_or_else(String::new, |text| format!("{text} "));
    if let Some(reason) = &trace.skipped {
        return format!("{warning}There is no trace: {}", stopped(reason));
    }
    let inputs = format!("{} {}", trace.secrets, plural(trace.secrets as u64, "input", "inputs"));
    let mut out = if trace.equal {
        format!(
            "{warning}The traces of {inputs} are equal: {} {}, the same addresses of code and data in the same \
            order.",
            count(trace.instructions),
            plural(trace.instructions, "instruction", "instructions")
        )
    } else {
        let divergence = trace.divergence.as_deref().unwrap_or("the first difference is not known");
        format!("{warning}The traces of {inputs} are not all equal: {divergence}.")
    };
    for note in &trace.notes {
        out.push_str(&format!(" Note: {note}."));
    }
    if !trace.instruction_sets.is_empty() {
        out.push_str(&format!(" The code executed {} instructions.", listed(&trace.instruction_sets)));
    }
    if trace.variable_latency.is_empty() {
        out.push_str(" No executed instruction has a time that depends on its operands.");
    }
    for found in &trace.variable_latency {
        let operands = if found.secret {
            "its operands differ between inputs, and so may its time"
        } else {
            "its operands are the same for all inputs"
        };
        out.push_str(&format!(
            " {} ran {} {} at {}; {operands}.",
            found.instruction,
            count(found.count),
            plural(found.count, "time", "times"),
            found.place
        ));
    }
    out
}

/// Joins names to a text such as `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

pub(super) fn controls(pair: &Pair) -> String {
    let controls = &pair.controls;
    let all = [&controls.same, &controls.delay, &controls.leak];
    let passed = all.iter().filter(|control| control.passed).count();
    let delay = time(controls.delay.meant_ns);
    if passed == all.len() {
        format!(
            "The controls passed: no difference was found between one class and itself, and a delay of {delay} and a \
            leak of similar cost were found."
        )
    } else {
        let names = [
            "a difference between one class and itself was found",
            "an added delay was missed",
            "a known leak was missed",
        ];
        let failed: Vec<String> =
            names.iter().zip(all).filter(|(_, control)| !control.passed).map(|(name, _)| (*name).to_owned()).collect();
        format!("The controls failed: {}.", listed(&failed))
    }
}

pub(super) fn design(timing: &Timing) -> String {
    let design = &timing.design;
    let looks: Vec<String> = design.looks.iter().map(|look| count(*look as u64)).collect();
    let repeats = if timing.repeats > 1 {
        format!(" Each measurement calls {} times on the same input.", timing.repeats)
    } else {
        String::new()
    };
    let input = match timing.length as u64 {
        0 => "Prepared inputs".to_owned(),
        length => format!("Input of {} {}", count(length), plural(length, "byte", "bytes")),
    };
    format!(
        "{input}. Batches of {} {}, looked at after {} {}; α = {} over all looks and pairs; Δ = {}; seed \
        {}.{repeats}",
        design.pairs_per_batch,
        plural(design.pairs_per_batch as u64, "pair", "pairs"),
        listed(&looks),
        plural(design.looks.last().map_or(0, |&look| look as u64), "batch", "batches"),
        percent(design.alpha),
        time(design.delta_ns),
        design.seed
    )
}

#[cfg(test)]
mod tests;
