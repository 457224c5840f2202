//! Line charts of a quantity over the number of calls, the injected delay, the runs, or the rounds.

use super::canvas::{Anchor, Canvas, fit, thin};
use super::palette::{Ink, SERIES};
use super::scale::{Frame, Labels, Scale, Spread};
use crate::record::{CalibrationLevel, Comparison, Estimates, Interval};
use crate::report::number;

/// Returns the largest number of calls and the longest time of all measurements. If charts use these two values as
/// their common scale, a reader can compare the charts.
pub(super) fn reach<'e>(all: impl IntoIterator<Item = &'e Estimates>) -> [f64; 2] {
    let points = all.into_iter().flat_map(finite);
    points.fold([0.0; 2], |most, point| [most[0].max(point[0]), most[1].max(point[1])])
}

fn finite(estimates: &Estimates) -> impl Iterator<Item = [f64; 2]> {
    estimates.points.iter().copied().filter(|point| point[0].is_finite() && point[1].is_finite())
}

/// Draws the time over the number of calls: the measurements, the regression line, and its confidence band.
///
/// The scales end at `most` calls and at the time `highest`.
pub(super) fn regression(estimates: &Estimates, [most, highest]: [f64; 2]) -> Option<Canvas> {
    let points: Vec<[f64; 2]> = finite(estimates).collect();
    if points.len() < 3 {
        return None;
    }
    let mut canvas = Canvas::new(480.0, 250.0);
    let frame =
        Frame::new(&canvas, Scale::new(Spread::Even, 0.0, most * 1.04), Scale::new(Spread::Even, 0.0, highest * 1.06));
    let unit = number::time_unit(highest);
    frame.vertical(&mut canvas, &format!("time for all calls ({})", unit.name), Labels::Unit(unit.worth));
    frame.horizontal(&mut canvas, "calls", Labels::Unit(1.0));
    let count = points.len() as f64;
    let center = (
        points.iter().map(|point| point[0]).sum::<f64>() / count,
        points.iter().map(|point| point[1]).sum::<f64>() / count,
    );
    let line = |slope: f64, x: f64| center.1 + slope * (x - center.0);
    let slope = estimates.slope;
    // The line ends at the last measurement of this chart. A longer line could leave the frame, because several charts
    // share the scale.
    let end = points.iter().map(|point| point[0]).fold(0.0, f64::max);
    let ends =
        |a: f64, b: f64| [frame.at(0.0, line(a, 0.0)), frame.at(center.0, center.1), frame.at(end, line(b, end))];
    let around: Vec<_> =
        ends(slope.lower, slope.upper).into_iter().chain(ends(slope.upper, slope.lower).into_iter().rev()).collect();
    canvas.area(&around, Ink::Vermillion, 3);
    let dots: Vec<_> = thin(&points, 60).iter().map(|point| frame.at(point[0], point[1])).collect();
    canvas.dots(&dots, Ink::Blue, 2.2);
    let middle = ends(slope.estimate, slope.estimate);
    canvas.line(&[middle[0], middle[2]], Ink::Vermillion, 1.6);
    Some(canvas)
}

/// Draws how often the test found a delay, over the size of the delay. Each cost of a call has one line.
pub(super) fn power(levels: &[CalibrationLevel]) -> Option<Canvas> {
    let shown: Vec<_> = levels.iter().filter(|level| level.power.len() > 1).take(SERIES.len()).collect();
    let delays =
        || shown.iter().flat_map(|level| &level.power).map(|point| point.delay_ns).filter(|delay| *delay > 0.0);
    let (low, high) = (delays().fold(f64::INFINITY, f64::min), delays().fold(0.0, f64::max));
    if low > high {
        return None;
    }
    let head = 19.0 * shown.len().div_ceil(2) as f64;
    let mut canvas = Canvas::new(480.0, 270.0 + head);
    let frame = Frame {
        top: 28.0 + head,
        ..Frame::new(&canvas, Scale::roomy(Spread::Log, low, high), Scale::new(Spread::Even, 0.0, 1.0))
    };
    let unit = number::time_unit(high);
    frame.horizontal(&mut canvas, &format!("injected delay ({})", unit.name), Labels::Unit(unit.worth));
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = frame.y(tick);
        canvas.line(&[(frame.left, y), (frame.right, y)], Ink::Grid, 1.0);
        canvas.text((frame.left - 7.0, y + 4.5), number::fixed(tick * 100.0, 0), Anchor::End, Ink::Muted);
    }
    canvas.text((0.0, 17.0 + head), "runs that found it (%)", Anchor::Start, Ink::Muted);
    canvas.dashed(&[(frame.left, frame.y(0.9)), (frame.right, frame.y(0.9))], Ink::Green, 1.2);
    for (index, (level, &ink)) in shown.iter().zip(&SERIES).enumerate() {
        let (x, y) = (234.0 * (index % 2) as f64, 14.0 + 19.0 * (index / 2) as f64);
        canvas.line(&[(x, y - 4.0), (x + 14.0, y - 4.0)], ink, 3.0);
        let name = format!("a call of {}", number::time(level.cost_ns));
        canvas.text((x + 20.0, y), fit(&name, 200.0), Anchor::Start, Ink::Text);
        let points: Vec<_> = level.power.iter().filter(|point| point.delay_ns > 0.0).collect();
        let middle: Vec<_> = points.iter().map(|point| frame.at(point.delay_ns, point.rate.estimate)).collect();
        for point in &points {
            let x = frame.x(point.delay_ns);
            canvas.line(&[(x, frame.y(point.rate.lower)), (x, frame.y(point.rate.upper))], ink, 1.0);
        }
        canvas.line(&middle, ink, 1.6);
        canvas.dots(&middle, ink, 3.0);
    }
    Some(canvas)
}

pub(super) fn ratios(comparison: &Comparison) -> Option<Canvas> {
    let values = thin(&comparison.ratios, 150);
    if values.len() < 2 {
        return None;
    }
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let margin = comparison.margin * 100.0;
    let all = || values.iter().copied().chain([comparison.ratio.lower, comparison.ratio.upper]).map(percent);
    let low = all().fold(-margin * 1.5, f64::min);
    let high = all().fold(margin * 1.5, f64::max);
    let mut canvas = Canvas::new(480.0, 250.0);
    let frame = Frame::new(
        &canvas,
        Scale::new(Spread::Even, 0.0, comparison.ratios.len() as f64 + 1.0),
        Scale::roomy(Spread::Even, low, high),
    );
    canvas.rectangle((frame.left, frame.y(margin)), (frame.right, frame.y(-margin)), Ink::Green, 1);
    frame.vertical(&mut canvas, "time of the second over the first, change (%)", Labels::Unit(1.0));
    frame.horizontal(&mut canvas, "round", Labels::Unit(1.0));
    super::spread::zero(&mut canvas, &frame);
    let (lower, upper) = (percent(comparison.ratio.lower), percent(comparison.ratio.upper));
    canvas.rectangle((frame.left, frame.y(upper)), (frame.right, frame.y(lower)), Ink::Vermillion, 2);
    let middle = frame.y(percent(comparison.ratio.estimate));
    canvas.line(&[(frame.left, middle), (frame.right, middle)], Ink::Vermillion, 1.6);
    let step = comparison.ratios.len() as f64 / values.len() as f64;
    let dots: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(index, &value)| frame.at((index as f64 + 0.5) * step + 0.5, percent(value)))
        .collect();
    canvas.dots(&dots, Ink::Blue, 2.2);
    Some(canvas)
}

/// Draws a rate over several runs. The last run is the run that the record describes.
pub(super) fn history(rates: &[(String, Interval)], kind: &str) -> Option<Canvas> {
    if rates.len() < 2 {
        return None;
    }
    let low = rates.iter().map(|(_, rate)| rate.lower).fold(f64::INFINITY, f64::min);
    let high = rates.iter().map(|(_, rate)| rate.upper).fold(0.0, f64::max);
    let mut canvas = Canvas::new(480.0, 220.0);
    let across = Scale::new(Spread::Even, -0.4, rates.len() as f64 - 0.6);
    let frame = Frame::new(&canvas, across, Scale::roomy(Spread::Even, low, high));
    let unit = number::unit_of(kind, high);
    frame.vertical(&mut canvas, unit.name, Labels::Unit(unit.worth));
    let place = |index: usize, value: f64| frame.at(index as f64, value);
    let line: Vec<_> = rates.iter().enumerate().map(|(index, (_, rate))| place(index, rate.estimate)).collect();
    canvas.line(&line, Ink::Blue, 1.4);
    for (index, (_, rate)) in rates.iter().enumerate() {
        canvas.line(&[place(index, rate.lower), place(index, rate.upper)], Ink::Blue, 2.0);
    }
    canvas.dots(&line, Ink::Blue, 3.0);
    canvas.dots(&line[line.len() - 1..], Ink::Vermillion, 4.0);
    for (index, anchor) in [(0, Anchor::Start), (rates.len() - 1, Anchor::End)] {
        let x = if index == 0 { frame.left } else { frame.right };
        let day: String = rates[index].0.chars().take(10).collect();
        canvas.text((x, frame.bottom + 20.0), day, anchor, Ink::Muted);
    }
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Shape;
    use super::*;

    #[test]
    fn the_line_on_a_shared_scale_ends_at_the_last_measurement_and_passes_through_it() {
        let points = (1..=10).map(|calls| [f64::from(calls) * 100.0, f64::from(calls) * 2000.0]).collect();
        let slope = Interval { lower: 19.9, estimate: 20.0, upper: 20.1 };
        let estimates = Estimates { slope, points, ..Estimates::default() };
        let canvas = regression(&estimates, [10_000.0, 20_000.0]).unwrap();
        let dots = canvas.shapes.iter().find_map(|shape| match shape {
            Shape::Dots { points, .. } => points.last().copied(),
            _ => None,
        });
        let line = canvas.shapes.iter().rev().find_map(|shape| match shape {
            Shape::Line { points, .. } => points.last().copied(),
            _ => None,
        });
        let (dots, line) = (dots.unwrap(), line.unwrap());
        assert!((dots.0 - line.0).abs() < 0.01 && (dots.1 - line.1).abs() < 0.01, "{dots:?} {line:?}");
    }
}
