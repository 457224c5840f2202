//! Forest plots: each row has a name, a dot for the estimate and a line for the interval. One kind of plot shows all
//! pairs of a target. The other kind of plot shows the speeds of several functions.

use super::canvas::{Anchor, Canvas, fit};
use super::palette::Ink;
use super::quantiles;
use super::scale::{Frame, Labels, Scale, Spread};
use crate::record::{Interval, Pair, Speed};
use crate::report::number;

const ROW: f64 = 33.0;
/// The maximum number of pairs in a plot. The table lists all pairs.
const MOST: usize = 24;

struct Row {
    name: String,
    value: Interval,
    ink: Ink,
    mark: Option<f64>,
}

fn draw(canvas: &mut Canvas, frame: &Frame, rows: &[Row]) {
    for (index, row) in rows.iter().enumerate() {
        let top = frame.top + ROW * index as f64;
        let y = top + 25.0;
        canvas.text((frame.left, top + 14.0), fit(&row.name, frame.right - frame.left), Anchor::Start, Ink::Text);
        canvas.line(&[(frame.left, y), (frame.right, y)], Ink::Grid, 1.0);
        if let Some(mark) = row.mark {
            let x = frame.x(mark);
            canvas.line(&[(x, y - 6.0), (x, y + 6.0)], Ink::Muted, 2.0);
        }
        canvas.line(&[(frame.x(row.value.lower), y), (frame.x(row.value.upper), y)], row.ink, 2.0);
        canvas.dots(&[(frame.x(row.value.estimate), y)], row.ink, 4.0);
    }
}

/// Draws the difference between the two classes of each pair, in the pair's first statistic. The first statistic is the
/// mean of the fastest 90 % if the record has this mean.
pub(super) fn pairs(pairs: &[&Pair]) -> Option<Canvas> {
    let chosen: Vec<_> =
        pairs.iter().filter_map(|pair| pair.effects.first().map(|effect| (pair, effect))).take(MOST).collect();
    if chosen.len() < 2 {
        return None;
    }
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let reach = chosen.iter().map(|(_, effect)| finite(effect.difference.reach())).fold(0.0, f64::max);
    let delta = chosen.iter().map(|(_, effect)| effect.tolerance_ns).fold(0.0, f64::max);
    let whole = reach.max(delta * 1.4);
    let spread = if delta > 0.0 && whole > 12.0 * delta { Spread::Bent(delta) } else { Spread::Even };
    let mut canvas = Canvas::new(480.0, 16.0 + ROW * chosen.len() as f64 + 52.0);
    let frame = Frame {
        left: 6.0,
        top: 12.0,
        ..Frame::new(&canvas, Scale::roomy(spread, -whole, whole), Scale::new(Spread::Even, 0.0, 1.0))
    };
    let unit = number::time_unit(if matches!(spread, Spread::Even) { whole } else { delta });
    canvas.rectangle((frame.x(-delta), frame.top), (frame.x(delta), frame.bottom), Ink::Green, 1);
    for side in [-delta, delta] {
        canvas.dashed(&[(frame.x(side), frame.top), (frame.x(side), frame.bottom)], Ink::Green, 1.2);
    }
    canvas.line(&[(frame.x(0.0), frame.top), (frame.x(0.0), frame.bottom)], Ink::Slate, 1.2);
    let rows: Vec<_> = chosen
        .iter()
        .map(|(pair, effect)| Row {
            name: format!("{} against {}", pair.b, pair.a),
            value: effect.difference,
            ink: quantiles::ink(pair.verdict),
            mark: None,
        })
        .collect();
    draw(&mut canvas, &frame, &rows);
    frame.horizontal(
        &mut canvas,
        &format!("difference in the {} ({})", chosen[0].1.name, unit.name),
        Labels::Unit(unit.worth),
    );
    Some(canvas)
}

/// Draws a rate in bytes per second for each function and each size of inputs. A bar shows the rate of the yardstick
/// (the reference function) at the same size.
///
/// The scale includes all speeds in `all`, so that a reader can compare the charts of several groups of functions.
pub(super) fn throughput(speeds: &[&Speed], all: &[Speed]) -> Option<Canvas> {
    let known = |speed: &&Speed| speed.bytes_per_second.estimate > 0.0;
    let chosen: Vec<_> = speeds.iter().copied().filter(known).take(40).collect();
    let mark = |speed: &Speed| {
        speed.yardstick.as_ref().map(|yardstick| speed.bytes_per_second.estimate * yardstick.ratio.estimate)
    };
    let rates = || all.iter().filter(known).flat_map(|speed| [Some(speed.bytes_per_second.estimate), mark(speed)]);
    let (low, high) = (rates().flatten().fold(f64::INFINITY, f64::min), rates().flatten().fold(0.0, f64::max));
    if chosen.is_empty() || !high.is_finite() {
        return None;
    }
    let mut canvas = Canvas::new(480.0, 16.0 + ROW * chosen.len() as f64 + 52.0);
    let spread = if high / low > 6.0 { Spread::Log } else { Spread::Even };
    let low = if matches!(spread, Spread::Even) { 0.0 } else { low };
    let frame = Frame {
        left: 6.0,
        top: 12.0,
        ..Frame::new(&canvas, Scale::roomy(spread, low, high), Scale::new(Spread::Even, 0.0, 1.0))
    };
    let unit = number::rate_unit(high);
    frame.columns(&mut canvas);
    let rows: Vec<_> = chosen
        .iter()
        .map(|speed| Row {
            name: format!("{}, {}: {}", speed.target, speed.size, number::rate(speed.bytes_per_second.estimate)),
            value: speed.bytes_per_second,
            ink: Ink::Blue,
            mark: mark(speed),
        })
        .collect();
    draw(&mut canvas, &frame, &rows);
    let yardstick =
        chosen.iter().find_map(|speed| speed.yardstick.as_ref()).map(|yardstick| format!("; bar: {}", yardstick.name));
    let title = format!("{}{}", unit.name, yardstick.unwrap_or_default());
    frame.horizontal(&mut canvas, &title, Labels::Unit(unit.worth));
    Some(canvas)
}
