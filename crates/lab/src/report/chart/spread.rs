//! Draws three charts of the difference between two classes: over the distribution of times, over the evaluations of
//! the data, and over the time of the measurement.

use super::canvas::{Anchor, Canvas, thin};
use super::palette::Ink;
use super::quantiles;
use super::scale::{Frame, Labels, Scale, Spread};
use crate::record::Pair;
use crate::report::number;

/// `range` contains the shortest time and the longest time in the target's other charts.
pub(super) fn ecdf(pair: &Pair, range: Option<(f64, f64)>) -> Option<Canvas> {
    let (low, high) = range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let shown: Vec<_> = pair.ecdf.iter().copied().filter(|point| (low..=high).contains(&point[0])).collect();
    let points = thin(&shown, 100);
    let (first, last) = (points.first()?, points.last()?);
    let (low, high) = range.unwrap_or((first[0], last[0]));
    let reach = points.iter().map(|point| point[1].abs()).fold(0.0, f64::max).max(0.002) * 1.15;
    let mut canvas = Canvas::new(480.0, 250.0);
    let frame = Frame::new(&canvas, Scale::new(Spread::Even, low, high), Scale::new(Spread::Even, -reach, reach));
    let unit = number::time_unit(high);
    frame.vertical(&mut canvas, "share of calls that are faster, difference (%)", Labels::Percent);
    frame.horizontal(&mut canvas, &format!("time for one call ({})", unit.name), Labels::Unit(unit.worth));
    zero(&mut canvas, &frame);
    let line: Vec<_> = points.iter().map(|point| frame.at(point[0], point[1])).collect();
    canvas.line(&line, quantiles::ink(pair.verdict), 1.6);
    Some(canvas)
}

/// Returns the largest difference of all evaluations of the data and of the whole series. The funnel chart and the
/// series chart use this value as their common scale, because the page shows the two charts side by side.
fn reach(pair: &Pair, delta: f64) -> f64 {
    let looks = pair.funnel.iter().filter(|look| look.batches > 0).map(|look| look.difference.reach());
    let all = looks.chain(means(pair).into_iter().map(f64::abs));
    all.filter(|value| value.is_finite()).fold(delta * 1.4, f64::max)
}

/// Returns the means of successive parts of the series. There are so few means that a chart can show each mean as a
/// separate point.
fn means(pair: &Pair) -> Vec<f64> {
    let chunk = pair.series.len().div_ceil(150).max(1);
    pair.series.chunks(chunk).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

/// Draws the estimate and the interval of each evaluation of the data.
pub(super) fn funnel(pair: &Pair, delta: f64) -> Option<Canvas> {
    let looks: Vec<_> =
        pair.funnel.iter().filter(|look| look.batches > 0 && look.difference.reach().is_finite()).collect();
    let (first, last) = (looks.first()?, looks.last()?);
    if looks.len() < 2 {
        return None;
    }
    let reach = reach(pair, delta);
    let spread = if delta > 0.0 && reach > 12.0 * delta { Spread::Bent(delta) } else { Spread::Even };
    let mut canvas = Canvas::new(480.0, 250.0);
    let across = Scale::roomy(Spread::Log, first.batches as f64, last.batches as f64);
    let frame = Frame::new(&canvas, across, Scale::roomy(spread, -reach, reach));
    let unit = number::time_unit(if matches!(spread, Spread::Even) { reach } else { delta });
    threshold(&mut canvas, &frame, delta);
    frame.vertical(
        &mut canvas,
        &format!("difference in the mean of the fastest 90 % ({})", unit.name),
        Labels::Unit(unit.worth),
    );
    frame.horizontal(&mut canvas, "batches", Labels::Unit(1.0));
    zero(&mut canvas, &frame);
    let ink = quantiles::ink(pair.verdict);
    let place = |value: fn(&crate::record::Interval) -> f64| {
        looks.iter().map(|look| frame.at(look.batches as f64, value(&look.difference))).collect::<Vec<_>>()
    };
    let (lower, upper, middle) = (place(|at| at.lower), place(|at| at.upper), place(|at| at.estimate));
    let around: Vec<_> = upper.iter().chain(lower.iter().rev()).copied().collect();
    canvas.area(&around, ink, 2);
    canvas.line(&middle, ink, 1.6);
    canvas.dots(&middle, ink, 3.0);
    Some(canvas)
}

/// Draws the difference over time.
pub(super) fn series(pair: &Pair, delta: f64) -> Option<Canvas> {
    if pair.series.len() < 2 {
        return None;
    }
    let means = means(pair);
    let reach = reach(pair, delta);
    let spread = if delta > 0.0 && reach > 12.0 * delta { Spread::Bent(delta) } else { Spread::Even };
    let mut canvas = Canvas::new(480.0, 250.0);
    let frame =
        Frame::new(&canvas, Scale::new(Spread::Even, 0.0, pair.seconds.max(1e-9)), Scale::roomy(spread, -reach, reach));
    let unit = number::time_unit(if matches!(spread, Spread::Even) { reach } else { delta });
    let clock = number::time_unit(pair.seconds * 1e9);
    threshold(&mut canvas, &frame, delta);
    frame.vertical(
        &mut canvas,
        &format!("difference in the mean of the fastest 90 % ({})", unit.name),
        Labels::Unit(unit.worth),
    );
    frame.horizontal(&mut canvas, &format!("time since the start ({})", clock.name), Labels::Unit(clock.worth * 1e-9));
    zero(&mut canvas, &frame);
    let when = |index: usize| (index as f64 + 0.5) / means.len() as f64 * pair.seconds;
    let points: Vec<_> = means.iter().enumerate().map(|(index, &value)| frame.at(when(index), value)).collect();
    canvas.dots(&points, quantiles::ink(pair.verdict), 2.0);
    Some(canvas)
}

/// Draws the correlation between the times of two batches, depending on the distance between the batches.
pub(super) fn autocorrelation(pair: &Pair) -> Option<Canvas> {
    let lags = &pair.autocorrelation[..pair.autocorrelation.len().min(40)];
    if lags.len() < 2 {
        return None;
    }
    let low = lags.iter().copied().fold(-0.2, f64::min);
    let mut canvas = Canvas::new(480.0, 250.0);
    let frame =
        Frame::new(&canvas, Scale::new(Spread::Even, 0.0, lags.len() as f64 + 0.5), Scale::new(Spread::Even, low, 1.0));
    frame.vertical(&mut canvas, "correlation", Labels::Unit(1.0));
    frame.horizontal(&mut canvas, "batches apart", Labels::Unit(1.0));
    let noise = 1.96 / (pair.batches.max(1) as f64).sqrt();
    for side in [-noise, noise] {
        canvas.dashed(&[(frame.left, frame.y(side)), (frame.right, frame.y(side))], Ink::Slate, 1.0);
    }
    zero(&mut canvas, &frame);
    for (index, &value) in lags.iter().enumerate() {
        let x = frame.x(index as f64 + 1.0);
        canvas.line(&[(x, frame.y(0.0)), (x, frame.y(value))], Ink::Blue, 4.0);
    }
    Some(canvas)
}

pub(super) fn zero(canvas: &mut Canvas, frame: &Frame) {
    canvas.line(&[(frame.left, frame.y(0.0)), (frame.right, frame.y(0.0))], Ink::Slate, 1.2);
}

/// Shades the area between −Δ and Δ. Differences in this area are not a leak.
pub(super) fn threshold(canvas: &mut Canvas, frame: &Frame, delta: f64) {
    if delta <= 0.0 {
        return;
    }
    canvas.rectangle((frame.left, frame.y(delta)), (frame.right, frame.y(-delta)), Ink::Green, 1);
    for (side, text, down) in [(delta, "+Δ", -5.0), (-delta, "−Δ", 14.0)] {
        let y = frame.y(side);
        canvas.dashed(&[(frame.left, y), (frame.right, y)], Ink::Green, 1.2);
        canvas.text((frame.right - 2.0, y + down), text, Anchor::End, Ink::Green);
    }
}
