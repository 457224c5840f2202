//! A drawing as a list of shapes, which [`svg`](super::svg) writes as a file.

use super::palette::Ink;

/// A position: x from the left edge and y from the top edge, in the drawing's units.
pub(in crate::report) type Point = (f64, f64);

/// The part of a text (start, middle or end) that is at the given position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One element of a drawing.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Line { points: Vec<Point>, ink: Ink, width: f64, dashed: bool },
    Area { points: Vec<Point>, ink: Ink, tenths: u8 },
    Dots { points: Vec<Point>, ink: Ink, radius: f64 },
    Text { at: Point, text: String, anchor: Anchor, ink: Ink },
}

/// A drawing: its size and its shapes. Later shapes cover earlier ones.
#[derive(Clone, Debug)]
pub(in crate::report) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    pub(super) fn line(&mut self, points: &[Point], ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points: points.to_vec(), ink, width, dashed: false });
    }

    pub(super) fn dashed(&mut self, points: &[Point], ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points: points.to_vec(), ink, width, dashed: true });
    }

    /// Fills the polygon with these corners. The opacity is `tenths` / 10.
    pub(super) fn area(&mut self, points: &[Point], ink: Ink, tenths: u8) {
        self.shapes.push(Shape::Area { points: points.to_vec(), ink, tenths });
    }

    /// Fills the rectangle with the opposite corners `from` and `to`. The opacity is `tenths` / 10.
    pub(super) fn rectangle(&mut self, from: Point, to: Point, ink: Ink, tenths: u8) {
        self.area(&[from, (to.0, from.1), to, (from.0, to.1)], ink, tenths);
    }

    pub(super) fn dots(&mut self, points: &[Point], ink: Ink, radius: f64) {
        self.shapes.push(Shape::Dots { points: points.to_vec(), ink, radius });
    }

    pub(super) fn text(&mut self, at: Point, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        self.shapes.push(Shape::Text { at, text: text.into(), anchor, ink });
    }
}

/// Returns at most `most` of the points, at regular intervals in the list. The result includes the first and the last
/// point.
pub(super) fn thin<T: Copy>(points: &[T], most: usize) -> Vec<T> {
    if points.len() <= most || most < 2 {
        return points.to_vec();
    }
    (0..most).map(|index| points[index * (points.len() - 1) / (most - 1)]).collect()
}

/// Returns `text`. Returns the text. A text that is wider than about `units` is shortened and ends with an ellipsis.
pub(super) fn fit(text: &str, units: f64) -> String {
    // An average letter is 7.6 units wide.
    let most = (units / 7.6) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(most.saturating_sub(1)).collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}
