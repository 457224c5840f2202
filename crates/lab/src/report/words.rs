//! What the numbers say, in sentences. Verdicts keep to what was shown: a bound, a difference, or nothing.

use super::chart::quantile;
use super::number::{count, interval, percent, probability, time, times};
use super::rank;
use crate::record::{Class, Pair, Timing, Trace, Verdict};

/// A verdict with its bound: `NO_LEAK_ABOVE(0.3 ns)`.
pub(super) fn label(verdict: Verdict, bound: Option<f64>) -> String {
    match (verdict, bound) {
        (Verdict::NoLeakAbove, Some(bound)) => format!("{}({})", verdict.name(), time(bound)),
        _ => verdict.name().to_owned(),
    }
}

/// What a verdict stands for.
pub(super) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NoLeakAbove => "No difference was found, and one above the stated bound would have shown.",
        Verdict::BelowThreshold => "A real difference, smaller than what was asked for.",
        Verdict::Leak => "A difference beyond the threshold was found, and found again on fresh data.",
        Verdict::Inconclusive => "Neither a leak nor its absence could be shown.",
        Verdict::Invalid => "A control failed, or the machine drifted: nothing may be said.",
        Verdict::Unmeasurable => "A call is too fast for the clock to see.",
    }
}

/// What one pair of classes comes to.
pub(super) fn pair(pair: &Pair, delta_ns: f64) -> String {
    let (a, b) = (format!("“{}”", pair.a), format!("“{}”", pair.b));
    match pair.verdict {
        Verdict::NoLeakAbove => format!(
            "Between {a} and {b} there is no difference above {} up to the 95\u{a0}% quantile, none above {} up to the \
             99.9\u{a0}% quantile; {}.",
            time(pair.bound_ns),
            time(pair.tail_bound_ns),
            detectable(pair.mde_ns)
        ),
        Verdict::BelowThreshold => format!(
            "Between {a} and {b} there is a real difference of {}, smaller than the {} that count as a leak.",
            largest(pair),
            time(delta_ns)
        ),
        Verdict::Leak => format!(
            "{b} differs from {a} by {}. It was found (p {}), found again on fresh data{}, and lies beyond the threshold of {}.",
            largest(pair),
            equals(pair.p_holm),
            pair.confirmed.map_or_else(String::new, |p| format!(" (p {})", equals(p))),
            time(delta_ns)
        ),
        Verdict::Inconclusive => format!(
            "Between {a} and {b} neither a leak nor its absence could be shown: differences up to {} remain possible; {}. {}",
            time(pair.bound_ns),
            detectable(pair.mde_ns),
            more(pair.more_pairs)
        ),
        Verdict::Invalid => format!("About {a} and {b} nothing may be said: {}", stopped(&pair.reason)),
        Verdict::Unmeasurable => {
            format!("Between {a} and {b} nothing can be measured, for a call is too fast for the clock: {}", stopped(&pair.reason))
        }
    }
}

fn equals(p: f64) -> String {
    let text = probability(p);
    if text.starts_with('<') { text } else { format!("= {text}") }
}

fn detectable(mde_ns: f64) -> String {
    if mde_ns.is_finite() && mde_ns > 0.0 {
        format!("a shift of {} would have been found nine times in ten", time(mde_ns))
    } else {
        "which shift would have been found is not known".to_owned()
    }
}

fn more(pairs: Option<u64>) -> String {
    pairs.filter(|&pairs| pairs > 0).map_or_else(
        || "How many more pairs of calls would settle it is not known.".to_owned(),
        |pairs| format!("About {} more pairs of calls would settle it.", count(pairs)),
    )
}

fn largest(pair: &Pair) -> String {
    rank::largest(pair).map_or_else(
        || "unknown size".to_owned(),
        |effect| {
            let what = effect.quantile.map_or_else(|| format!("the {}", effect.name), |at| format!("the {} quantile", percent(at)));
            format!("{} in {what}", interval(&effect.difference))
        },
    )
}

/// A reason as the end of a sentence.
fn stopped(reason: &str) -> String {
    let reason = reason.trim().trim_end_matches('.');
    if reason.is_empty() { "no reason was recorded.".to_owned() } else { format!("{reason}.") }
}

/// How many pairs of classes come to each verdict, the most severe first, and what the traces show.
pub(super) fn tally(timings: &[Timing]) -> String {
    let pairs: Vec<Verdict> = timings.iter().flat_map(|timing| timing.pairs.iter().map(|pair| pair.verdict)).collect();
    let mut kinds = pairs.clone();
    kinds.sort_unstable_by(|x, y| y.cmp(x));
    kinds.dedup();
    let each = |kind: &Verdict| format!("{} {}", pairs.iter().filter(|verdict| *verdict == kind).count(), kind.name());
    let each: Vec<String> = kinds.iter().map(each).collect();
    let mut out = format!("{} targets, {} pairs of classes: {}.", timings.len(), pairs.len(), each.join(", "));
    let traces: Vec<_> = timings.iter().filter_map(|timing| timing.trace.as_ref()).filter(|trace| trace.skipped.is_none()).collect();
    if !traces.is_empty() {
        let equal = traces.iter().filter(|trace| trace.equal).count();
        out.push_str(&format!(" The single-stepped traces of {equal} targets are equal, those of {} differ.", traces.len() - equal));
    }
    out
}

/// What a target comes to, over all its pairs.
pub(super) fn target(timing: &Timing) -> String {
    let pairs = timing.pairs.len();
    let hits = timing.pairs.iter().filter(|pair| pair.verdict == timing.verdict).count();
    let first = rank::worst(timing).map_or_else(String::new, |worst| pair(worst, timing.design.delta_ns));
    match (timing.verdict, pairs) {
        (_, 0) => "No pair of classes was compared.".to_owned(),
        (_, 1) => first,
        (Verdict::NoLeakAbove, _) => classes(timing),
        _ if hits == pairs => format!("All {pairs} pairs of classes come to this. {first}"),
        _ => format!("{hits} of {pairs} pairs of classes {} to this. {first}", if hits == 1 { "comes" } else { "come" }),
    }
}

/// How long the calls take and how far the classes lie apart.
pub(super) fn classes(timing: &Timing) -> String {
    let medians: Vec<f64> = timing.classes.iter().filter_map(|class| quantile(class, 0.5)).collect();
    let (low, high) = (medians.iter().copied().fold(f64::INFINITY, f64::min), medians.iter().copied().fold(0.0, f64::max));
    let mut out = if medians.is_empty() {
        String::new()
    } else {
        let whose = if medians.len() > 2 { "all classes" } else { "both classes" };
        format!("The calls of {whose} take {} (medians). ", times(low, high))
    };
    let judged = timing.pairs.iter().filter(|pair| !matches!(pair.verdict, Verdict::Invalid | Verdict::Unmeasurable)).count();
    let what = match judged {
        0 => return out.trim_end().to_owned(),
        1 => "The classes do not differ".to_owned(),
        2 => "Neither pair differs".to_owned(),
        _ if judged == timing.pairs.len() => "No pair differs".to_owned(),
        _ => format!("None of the {judged} pairs that could be judged differs"),
    };
    if let Some(bound) = rank::bound(timing) {
        out.push_str(&format!("{what} by more than {} (quantiles up to 95\u{a0}%)", time(bound)));
        match rank::detectable(timing).filter(|ns| ns.is_finite() && *ns > 0.0) {
            Some(ns) => out.push_str(&format!(", while a shift of {} would have been found nine times in ten.", time(ns))),
            None => out.push('.'),
        }
    }
    out
}

/// One class by itself.
pub(super) fn class(class: &Class) -> String {
    let mut out = String::new();
    if let Some(estimates) = &class.estimates {
        let slope = &estimates.slope;
        out.push_str(&format!("One call takes {} (95\u{a0}% interval {}). ", time(slope.estimate), times(slope.lower, slope.upper)));
        out.push_str(&format!(
            "The line through {} measurements explains {} of their variation",
            estimates.points.len(),
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

/// What the single-stepped trace showed.
pub(super) fn trace(trace: &Trace) -> String {
    if let Some(reason) = &trace.skipped {
        return format!("There is no trace: {}", stopped(reason));
    }
    let mut out = if trace.equal {
        format!(
            "The single-stepped traces of {} inputs are equal: {} instructions, the same addresses of code and data in the same order.",
            trace.secrets,
            count(trace.instructions)
        )
    } else {
        let place = trace.divergence.as_deref().unwrap_or("a place that could not be named");
        format!("The single-stepped traces of {} inputs part, first at {place}.", trace.secrets)
    };
    if !trace.instruction_sets.is_empty() {
        out.push_str(&format!(" It ran {}.", listed(&trace.instruction_sets)));
    }
    if trace.variable_latency.is_empty() {
        out.push_str(" No instruction ran whose time depends on its operands.");
    }
    for found in &trace.variable_latency {
        let operands = if found.secret {
            "its operands differ between inputs, and so may its time"
        } else {
            "its operands are the same for all inputs"
        };
        out.push_str(&format!(" {} ran {} times at {}; {operands}.", found.instruction, count(found.count), found.place));
    }
    out
}

/// `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// How the controls of a pair came out.
pub(super) fn controls(pair: &Pair) -> String {
    let controls = &pair.controls;
    let all = [&controls.same, &controls.delay, &controls.leak];
    let passed = all.iter().filter(|control| control.passed).count();
    let delay = time(controls.delay.meant_ns);
    if passed == all.len() {
        format!("The controls hold: one class against itself was not found, a delay of {delay} and a leak of like cost were.")
    } else {
        let names = ["one class against itself was found", "an added delay was missed", "a known leak was missed"];
        let failed: Vec<String> =
            names.iter().zip(all).filter(|(_, control)| !control.passed).map(|(name, _)| (*name).to_owned()).collect();
        format!("The controls do not hold: {}.", listed(&failed))
    }
}

/// How it was decided.
pub(super) fn design(timing: &Timing) -> String {
    let design = &timing.design;
    let looks: Vec<String> = design.looks.iter().map(|look| count(*look as u64)).collect();
    let repeats =
        if timing.repeats > 1 { format!(" Each measurement calls {} times on the same input.", timing.repeats) } else { String::new() };
    format!(
        "Input of {} bytes. Batches of {} pairs, looked at after {} batches; α = {} over all looks and pairs; Δ = {}; seed {}.{repeats}",
        count(timing.length as u64),
        design.pairs_per_batch,
        listed(&looks),
        percent(design.alpha),
        time(design.delta_ns),
        design.seed
    )
}

#[cfg(test)]
mod tests;
