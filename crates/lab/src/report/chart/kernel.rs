//! Estimates probability densities from histograms with a Gaussian kernel.

use crate::record::{Class, Histogram};

/// The number of points at which a density is computed. With this number of points, the outline of the density is
/// smooth.
const POINTS: usize = 60;

/// Returns the range of times for all charts of these classes. The range begins at the fastest call and ends slightly
/// above the 95 % quantile.
pub(super) fn range(classes: &[Class]) -> Option<(f64, f64)> {
    let shown: Vec<&Class> = classes.iter().filter(|class| total(&class.histogram) > 0.0).collect();
    let low = shown.iter().map(|class| low(class)).fold(f64::INFINITY, f64::min);
    let high = shown.iter().map(|class| high(class)).fold(f64::NEG_INFINITY, f64::max);
    (low < high).then_some((low, high))
}

fn low(class: &Class) -> f64 {
    let steps = &class.histogram;
    let first = steps.counts.iter().position(|&count| count > 0).unwrap_or(0);
    steps.start_ns + first as f64 * steps.step_ns
}

fn high(class: &Class) -> f64 {
    let steps = &class.histogram;
    let last = steps.counts.iter().rposition(|&count| count > 0).unwrap_or(0);
    let end = steps.start_ns + (last + 1) as f64 * steps.step_ns;
    match (quantile(class, 0.05), quantile(class, 0.95)) {
        (Some(low), Some(high)) if high > low => end.min(high + (high - low) * 0.5),
        _ => end,
    }
}

fn total(steps: &Histogram) -> f64 {
    steps.counts.iter().sum::<u64>() as f64
}

/// Returns the density at evenly spaced times between `from` and `to`, as pairs of a time and a density per nanosecond.
pub(super) fn density(class: &Class, from: f64, to: f64) -> Vec<(f64, f64)> {
    let steps = &class.histogram;
    let all = total(steps);
    if all == 0.0 {
        return Vec::new();
    }
    let wide = width(class, from, to);
    let middle = |index: usize| steps.start_ns + (index as f64 + 0.5) * steps.step_ns;
    let scale = 1.0 / (all * wide * (2.0 * std::f64::consts::PI).sqrt());
    (0..POINTS)
        .map(|point| from + (to - from) * point as f64 / (POINTS - 1) as f64)
        .map(|ns| {
            let near = steps.counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let sum: f64 =
                near.map(|(index, &count)| count as f64 * (-0.5 * ((ns - middle(index)) / wide).powi(2)).exp()).sum();
            (ns, sum * scale)
        })
        .collect()
}

/// Returns the kernel's width by Silverman's rule. The rule uses at most a thousand as the number of measurements. With
/// a larger number, the width could be so small that each step of the clock appears as a peak.
fn width(class: &Class, from: f64, to: f64) -> f64 {
    let spread = match (quantile(class, 0.25), quantile(class, 0.75)) {
        (Some(low), Some(high)) => (high - low) / 1.34,
        _ => (to - from) / 6.0,
    };
    let count = class.samples.clamp(20, 1000) as f64;
    let least = class.histogram.step_ns.max((to - from) / POINTS as f64 * 0.8);
    (0.9 * spread * count.powf(-0.2)).max(least)
}

/// Returns the class's time at a quantile, interpolated between the quantiles in the record.
pub(in crate::report) fn quantile(class: &Class, at: f64) -> Option<f64> {
    let above = class.quantiles.iter().position(|known| known.at >= at - 1e-9)?;
    let upper = class.quantiles[above];
    if (upper.at - at).abs() < 1e-9 {
        return Some(upper.ns);
    }
    let lower = class.quantiles.get(above.checked_sub(1)?)?;
    let share = (at - lower.at) / (upper.at - lower.at);
    Some(lower.ns + share * (upper.ns - lower.ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_under_a_density_is_one() {
        let histogram =
            Histogram { start_ns: 40.0, step_ns: 0.1, counts: (0..30).map(|index| 10 + index % 7).collect() };
        let class = Class { name: "c".into(), samples: 390, quantiles: vec![], histogram, estimates: None };
        let points = density(&class, 38.0, 45.0);
        let sum: f64 = points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum();
        assert!((sum - 1.0).abs() < 0.02, "{sum}");
    }
}
