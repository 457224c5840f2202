//! Writes a drawing as SVG. Colors are CSS classes, so the theme of the page determines the colors. Text stays text and
//! is not converted to shapes.

use std::fmt::Write as _;

use super::canvas::{Anchor, Canvas, Point, Shape};
use super::palette;
use crate::report::markup::escape;

/// Returns an SVG element for a page. The page must contain the style sheet of [`palette::style`].
pub(in crate::report) fn inline(canvas: &Canvas, title: &str) -> String {
    let mut out = format!(
        "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 {} {}\" aria-label=\"{}\">",
        canvas.width,
        canvas.height,
        escape(title)
    );
    for shape in &canvas.shapes {
        draw(&mut out, shape);
    }
    out.push_str("</svg>");
    out
}

/// Returns a complete SVG file, with the title and the subtitle above the drawing.
pub(super) fn file(canvas: &Canvas, title: &str, subtitle: &str) -> String {
    let (width, height) = (canvas.width + 2.0 * SIDE, canvas.height + HEAD);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"-{SIDE} 0 {width} \
         {height}\" width=\"{}\" height=\"{}\"><title>{}</title><style>{}{STYLE}</style><rect x=\"-{SIDE}\" \
         width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\
         <text y=\"22\" class=\"f-ink b\" style=\"font-size:15px\">{}</text><text y=\"40\" class=\"f-muted\">{}</text>\
         <g transform=\"translate(0 {HEAD})\">",
        width * 1.5,
        height * 1.5,
        escape(title),
        palette::style("svg"),
        escape(title),
        escape(subtitle)
    );
    for shape in &canvas.shapes {
        draw(&mut out, shape);
    }
    out.push_str("</g></svg>\n");
    out
}

/// The left and right margin around a drawing in its own file.
const SIDE: f64 = 14.0;
/// The height of the space for title and subtitle above a drawing in its own file.
const HEAD: f64 = 50.0;
const STYLE: &str =
    "text{font:12px system-ui,sans-serif;stroke:none}.b{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}";

fn draw(out: &mut String, shape: &Shape) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Line { points, ink, width, dashed } => {
            let dashes = if *dashed { " stroke-dasharray=\"4 4\"" } else { "" };
            write!(out, "<path class=\"s-{}\" stroke-width=\"{width}\"{dashes} d=\"{}\"/>", ink.name(), path(points))
        }
        Shape::Area { points, ink, tenths: 10 } => {
            write!(out, "<path class=\"f-{}\" d=\"{}z\"/>", ink.name(), path(points))
        }
        Shape::Area { points, ink, tenths } => {
            write!(out, "<path class=\"f-{}\" fill-opacity=\".{tenths}\" d=\"{}z\"/>", ink.name(), path(points))
        }
        Shape::Dots { points, ink, radius } => {
            let mut data = String::new();
            for point in points {
                let _ = write!(data, "M{} {}h0", tenth(point.0), tenth(point.1));
            }
            write!(out, "<path class=\"s-{}\" stroke-width=\"{}\" d=\"{data}\"/>", ink.name(), radius * 2.0)
        }
        Shape::Text { at, text, anchor, ink } => {
            let class = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " m",
                Anchor::End => " e",
            };
            write!(
                out,
                "<text class=\"f-{}{class}\" x=\"{}\" y=\"{}\">{}</text>",
                ink.name(),
                tenth(at.0),
                tenth(at.1),
                escape(text)
            )
        }
    };
}

/// Returns the data of an SVG path with relative coordinates. The points are rounded to tenths before the differences
/// are computed, so that rounding errors do not accumulate.
fn path(points: &[Point]) -> String {
    let mut out = String::new();
    let mut last = (0, 0);
    for (index, point) in points.iter().enumerate() {
        let here = (tenths(point.0), tenths(point.1));
        let step = (here.0 - last.0, here.1 - last.1);
        if index == 0 {
            let _ = write!(out, "M{} {}l", decimal(here.0), decimal(here.1));
        } else if step != (0, 0) || points.len() == 2 {
            let (x, y) = (decimal(step.0), decimal(step.1));
            let gap = if y.starts_with('-') { "" } else { " " };
            let before = if x.starts_with('-') || out.ends_with('l') { "" } else { " " };
            let _ = write!(out, "{before}{x}{gap}{y}");
        }
        last = here;
    }
    if out.ends_with('l') {
        out.push_str("0 0");
    }
    out
}

fn tenths(value: f64) -> i64 {
    if value.is_finite() { (value * 10.0).round() as i64 } else { 0 }
}

fn tenth(value: f64) -> String {
    decimal(tenths(value))
}

fn decimal(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, part) = (tenths.abs() / 10, tenths.abs() % 10);
    match (whole, part) {
        (_, 0) => format!("{sign}{whole}"),
        (0, _) => format!("{sign}.{part}"),
        _ => format!("{sign}{whole}.{part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short_and_do_not_drift() {
        assert_eq!(path(&[(1.0, 2.0), (1.04, 2.0), (1.08, 1.5), (0.5, 10.0)]), "M1 2l.1-.5-.6 8.5");
        assert_eq!(path(&[(3.0, 4.0)]), "M3 4l0 0");
    }
}
