//! Maps values to positions: scales, their ticks, and the frame of a plot.

use super::canvas::{Anchor, Canvas, Point};
use super::palette::Ink;
use crate::report::number;

/// The mapping from values to positions along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spread {
    /// Linear.
    Even,
    /// Logarithmic.
    Log,
    /// Logit scale for quantiles: the regions near 0 and 1 are stretched.
    Logit,
    /// The scale is nearly linear for absolute values below this number, and nearly logarithmic for larger absolute
    /// values.
    Bent(f64),
}

impl Spread {
    fn bend(self, value: f64) -> f64 {
        match self {
            Self::Even => value,
            Self::Log => value.max(f64::MIN_POSITIVE).ln(),
            Self::Logit => (value / (1.0 - value)).ln(),
            Self::Bent(knee) => (value / knee).asinh(),
        }
    }
}

/// One axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
}

impl Scale {
    /// Creates the scale from `low` to `high`. If `low` and `high` are equal, the scale extends to both sides of this
    /// value.
    pub(super) fn new(spread: Spread, low: f64, high: f64) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        if high > low {
            return Self { spread, low, high };
        }
        let room = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
        Self { spread, low: low - room, high: low + room }
    }

    /// Creates the scale from `low` to `high` with a margin at both ends.
    pub(super) fn roomy(spread: Spread, low: f64, high: f64) -> Self {
        let tight = Self::new(spread, low, high);
        match spread {
            Spread::Even => {
                let room = (tight.high - tight.low) * 0.06;
                Self { low: tight.low - room, high: tight.high + room, ..tight }
            }
            Spread::Log => {
                let room = (tight.high / tight.low).powf(0.05);
                Self { low: tight.low / room, high: tight.high * room, ..tight }
            }
            Spread::Logit => tight,
            Spread::Bent(_) => Self { low: tight.low * 1.25, high: tight.high * 1.25, ..tight },
        }
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Returns the position of a value on the scale, as a number from 0 to 1. A value outside of the scale has the
    /// position of the nearer end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high) = (self.spread.bend(self.low), self.spread.bend(self.high));
        let place = (self.spread.bend(value) - low) / (high - low);
        if place.is_nan() { 0.5 } else { place.clamp(0.0, 1.0) }
    }

    /// Returns about `wanted` round numbers on the scale.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.spread {
            Spread::Even => even(self.low, self.high, wanted),
            Spread::Log => self.decades(self.low, wanted),
            Spread::Logit => vec![0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999],
            Spread::Bent(knee) => {
                let reach = self.low.abs().max(self.high.abs());
                let beyond: Vec<f64> = self.decades(knee * 0.5, 5);
                let ticks = beyond.iter().flat_map(|&value| [-value, value]).chain([0.0]);
                let gap = 0.075;
                let mut taken: Vec<f64> = Vec::new();
                let mut sorted: Vec<f64> = ticks.filter(|value| value.abs() <= reach).collect();
                sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
                for tick in sorted {
                    if taken.iter().all(|&other| (self.place(other) - self.place(tick)).abs() > gap) {
                        taken.push(tick);
                    }
                }
                taken
            }
        }
        .into_iter()
        .filter(|tick| (self.low..=self.high).contains(tick))
        .collect()
    }

    fn decades(&self, from: f64, wanted: usize) -> Vec<f64> {
        let decades = (self.high / from).log10();
        if decades < 0.7 {
            return even(from, self.high, wanted);
        }
        let steps: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let stride = if decades > 2.0 * wanted as f64 { (decades / wanted as f64).ceil() as i32 } else { 1 };
        let (first, last) = (from.log10().floor() as i32, self.high.log10().ceil() as i32);
        let mut out = Vec::new();
        for power in (first..=last).filter(|power| power.rem_euclid(stride) == 0) {
            out.extend(
                steps.iter().map(|step| step * 10f64.powi(power)).filter(|tick| (from..=self.high).contains(tick)),
            );
        }
        out
    }
}

fn even(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let rough = (high - low) / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        power * [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last.min(first + 40)).map(|index| index as f64 * step).collect()
}

#[derive(Clone, Copy)]
pub(super) enum Labels {
    /// Numbers, divided by this unit.
    Unit(f64),
    /// Shares, as percentages.
    Percent,
}

/// The rectangle in which data are drawn, and the scales of its two axes.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Frame {
    /// Creates a frame with space for the ticks on the left and at the bottom, and for the titles of both axes.
    pub(super) fn new(canvas: &Canvas, x: Scale, y: Scale) -> Self {
        Self { left: 56.0, top: 28.0, right: canvas.width - 16.0, bottom: canvas.height - 44.0, x, y }
    }

    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (self.x(x), self.y(y))
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * (self.right - self.left)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.place(value) * (self.bottom - self.top)
    }

    /// Draws the vertical axis: a line and a number for each tick, and the title above the axis.
    pub(super) fn vertical(&self, canvas: &mut Canvas, title: &str, labels: Labels) {
        let ticks = self.y.ticks(4);
        for &tick in &ticks {
            let y = self.y(tick);
            canvas.line(&[(self.left, y), (self.right, y)], Ink::Grid, 1.0);
            let text = label(tick, labels, &ticks);
            canvas.text((self.left - 7.0, y + 4.5), text, Anchor::End, Ink::Muted);
        }
        canvas.text((0.0, 15.0), title, Anchor::Start, Ink::Muted);
    }

    /// Draws the horizontal axis: its ticks and numbers, and the title below the axis.
    pub(super) fn horizontal(&self, canvas: &mut Canvas, title: &str, labels: Labels) {
        // Ticks are sorted first, because some scales list their ticks from the middle. A label is not drawn if it
        // would overlap the label to its left or would not fit into the drawing.
        let mut ticks = self.x.ticks(5);
        ticks.sort_by(f64::total_cmp);
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], Ink::Slate, 1.0);
        let mut end = f64::NEG_INFINITY;
        for &tick in &ticks {
            let x = self.x(tick);
            canvas.line(&[(x, self.bottom), (x, self.bottom + 4.0)], Ink::Slate, 1.0);
            let text = label(tick, labels, &ticks);
            let half = text.chars().count() as f64 * 4.3;
            if x - half > end && x + half < canvas.width + 2.0 {
                end = x + half + 4.0;
                canvas.text((x, self.bottom + 19.0), text, Anchor::Middle, Ink::Muted);
            }
        }
        canvas.text((self.right, self.bottom + 39.0), title, Anchor::End, Ink::Muted);
    }

    /// Draws a light vertical line at each tick of the horizontal axis, for plots whose rows have names.
    pub(super) fn columns(&self, canvas: &mut Canvas) {
        for tick in self.x.ticks(5) {
            let x = self.x(tick);
            canvas.line(&[(x, self.top), (x, self.bottom)], Ink::Grid, 1.0);
        }
    }
}

fn label(tick: f64, labels: Labels, all: &[f64]) -> String {
    let shown = |value: f64| {
        let step = all.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
        let digits = if all.len() > 1 {
            number::places(step, 1).max(number::places(value, 1))
        } else {
            number::places(value, 2)
        };
        let text = number::fixed(value, digits.min(6));
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    match labels {
        Labels::Unit(worth) => {
            let step = all.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min) / worth;
            let value = tick / worth;
            let digits = if step.is_finite() { number::places(step, 2).min(6) } else { number::places(value, 2) };
            let text = number::fixed(value, digits);
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        Labels::Percent => shown((tick * 100_000.0).round() / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_values_within_the_scale() {
        let scale = Scale::new(Spread::Even, 41.07, 41.93);
        let ticks = scale.ticks(5);
        assert!(ticks.len() >= 4 && ticks.iter().all(|tick| (41.07..=41.93).contains(tick)), "{ticks:?}");
        let scale = Scale::new(Spread::Log, 0.3, 700.0);
        assert_eq!(scale.ticks(5), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn bent_scales_keep_zero_in_the_middle() {
        let scale = Scale::new(Spread::Bent(0.5), -300.0, 300.0);
        assert!((scale.place(0.0) - 0.5).abs() < 1e-12);
        assert!(scale.ticks(5).contains(&0.0));
        assert_eq!(
            scale.ticks(5).iter().filter(|tick| **tick > 0.0).count(),
            scale.ticks(5).iter().filter(|tick| **tick < 0.0).count()
        );
    }

    #[test]
    fn both_sides_of_a_bent_axis_have_labels() {
        let mut canvas = Canvas::new(480.0, 100.0);
        let bent = Scale::new(Spread::Bent(1.0), -25.0, 25.0);
        let frame = Frame { left: 6.0, ..Frame::new(&canvas, bent, Scale::new(Spread::Even, 0.0, 1.0)) };
        frame.horizontal(&mut canvas, "", Labels::Unit(1.0));
        let texts: Vec<_> = canvas
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                super::super::canvas::Shape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let [below, above] = [true, false].map(|below| {
            texts.iter().filter(|text| text.starts_with(['−', '-']) == below && ![&"0", &""].contains(text)).count()
        });
        assert!(below >= 2 && below.abs_diff(above) <= 1, "{texts:?}");
    }

    #[test]
    fn scales_without_extent_do_not_divide_by_zero() {
        for value in [0.0, 3.0, f64::NAN, f64::INFINITY] {
            let scale = Scale::roomy(Spread::Even, value, value);
            assert!(scale.place(value).is_finite());
        }
    }
}
