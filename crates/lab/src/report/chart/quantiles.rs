//! The main picture of a target: the difference between two classes at each quantile, with the simultaneous confidence
//! band and the threshold.

use super::canvas::{Anchor, Canvas};
use super::palette::Ink;
use super::scale::{Frame, Labels, Scale, Spread};
use crate::record::{Effect, Pair, Verdict};
use crate::report::number;

/// Draws the difference by quantile. Returns `None` if the pair has fewer than two quantiles.
pub(super) fn quantiles(pair: &Pair) -> Option<Canvas> {
    let mut effects: Vec<(f64, &Effect)> = pair
        .effects
        .iter()
        .filter_map(|effect| effect.quantile.map(|at| (at, effect)))
        .filter(|(at, _)| *at > 0.0 && *at < 1.0)
        .collect();
    effects.sort_by(|a, b| a.0.total_cmp(&b.0));
    if effects.len() < 2 {
        return None;
    }
    let mut canvas = Canvas::new(480.0, 300.0);
    let spread = vertical(&effects);
    let (low, high) = (effects[0].0, effects[effects.len() - 1].0);
    let frame = Frame {
        right: canvas.width - 34.0,
        ..Frame::new(&canvas, Scale::new(Spread::Logit, low.min(0.05), high.max(0.95)), spread.scale)
    };
    let unit = number::time_unit(spread.unit_of);
    tolerance(&mut canvas, &frame, &effects);
    frame.vertical(
        &mut canvas,
        &format!("{} − {} ({}{})", pair.b, pair.a, unit.name, spread.note),
        Labels::Unit(unit.worth),
    );
    frame.horizontal(&mut canvas, "quantile (%)", Labels::Percent);
    canvas.line(&[(frame.left, frame.y(0.0)), (frame.right, frame.y(0.0))], Ink::Slate, 1.2);
    band(&mut canvas, &frame, &effects, ink(pair.verdict));
    Some(canvas)
}

/// A leak is drawn in the color with the most contrast.
pub(super) fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Leak => Ink::Vermillion,
        Verdict::Invalid | Verdict::Unmeasurable => Ink::Slate,
        Verdict::Inconclusive => Ink::Ochre,
        Verdict::NoLeakAbove | Verdict::BelowThreshold => Ink::Blue,
    }
}

struct Vertical {
    scale: Scale,
    unit_of: f64,
    note: &'static str,
}

/// Chooses the vertical scale. The scale is linear if all differences have about the same size. Otherwise the scale is
/// logarithmic beyond the threshold. With a linear scale, the wide bands of the slowest calls would make all other
/// bands look flat.
fn vertical(effects: &[(f64, &Effect)]) -> Vertical {
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let reach = effects.iter().map(|(_, effect)| finite(effect.difference.reach())).fold(0.0, f64::max);
    let inner = effects
        .iter()
        .filter(|(at, _)| *at <= 0.95)
        .map(|(_, effect)| finite(effect.difference.reach()))
        .fold(0.0, f64::max);
    let tolerance = effects
        .iter()
        .map(|(_, effect)| finite(effect.tolerance_ns))
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    let knee = if tolerance.is_finite() { tolerance } else { inner.max(1e-6) };
    let whole = reach.max(knee * 1.6);
    if whole > 6.0 * knee.max(inner) || whole > 30.0 * knee {
        return Vertical {
            scale: Scale::roomy(Spread::Bent(knee), -whole, whole),
            unit_of: knee,
            note: ", by ratio beyond ±Δ",
        };
    }
    Vertical { scale: Scale::roomy(Spread::Even, -whole, whole), unit_of: whole, note: "" }
}

fn tolerance(canvas: &mut Canvas, frame: &Frame, effects: &[(f64, &Effect)]) {
    let side = |sign: f64| {
        let first = (frame.left, frame.y(sign * effects[0].1.tolerance_ns));
        let inner = effects.iter().map(move |(at, effect)| (frame.x(*at), frame.y(sign * effect.tolerance_ns)));
        let last = (frame.right, frame.y(sign * effects[effects.len() - 1].1.tolerance_ns));
        std::iter::once(first).chain(inner).chain(std::iter::once(last)).collect::<Vec<_>>()
    };
    let (upper, lower) = (side(1.0), side(-1.0));
    let around: Vec<_> = upper.iter().chain(lower.iter().rev()).copied().collect();
    canvas.area(&around, Ink::Green, 1);
    for edge in [upper, lower] {
        canvas.dashed(&edge, Ink::Green, 1.2);
        let y = edge[edge.len() - 1].1;
        canvas.text((frame.right + 6.0, y + 4.5), "limit", Anchor::Start, Ink::Green);
    }
}

fn band(canvas: &mut Canvas, frame: &Frame, effects: &[(f64, &Effect)], ink: Ink) {
    let place = |value: fn(&Effect) -> f64| {
        effects.iter().map(move |(at, effect)| frame.at(*at, value(effect))).collect::<Vec<_>>()
    };
    let (lower, upper) = (place(|effect| effect.difference.lower), place(|effect| effect.difference.upper));
    let middle = place(|effect| effect.difference.estimate);
    let around: Vec<_> = upper.iter().chain(lower.iter().rev()).copied().collect();
    canvas.area(&around, ink, 2);
    canvas.line(&upper, ink, 0.8);
    canvas.line(&lower, ink, 0.8);
    canvas.line(&middle, ink, 1.8);
    canvas.dots(&middle, ink, 3.0);
}
