//! Writes a drawing as a small PNG file: plotters draws it at twice the size, each 2 × 2 pixels are averaged, and the
//! result is encoded with a palette.

use std::collections::HashMap;
use std::sync::Once;

use plotters::prelude::{
    BitMapBackend, DrawingBackend, FontStyle, IntoFont, RGBAColor, RGBColor, ShapeStyle, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Anchor, Canvas, Point, Shape};
use super::palette::Ink;
use super::svg::{HEAD, SIDE};
use crate::report::Error;

/// The number of pixels per unit of the drawing.
const SCALE: f64 = 1.5;
/// The number of drawn pixels that are averaged into one pixel, along each side.
const FINE: usize = 2;
const FACE: &str = "deadpan";

/// Returns the PNG file, with the title and the subtitle above the drawing.
pub(super) fn encode(canvas: &Canvas, title: &str, subtitle: &str) -> Result<Vec<u8>, Error> {
    static FONT: Once = Once::new();
    FONT.call_once(|| {
        // The call fails only for an invalid font. The font is a constant, so the tests would find that.
        let _ = plotters::style::register_font(FACE, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    });
    let width = ((canvas.width + 2.0 * SIDE) * SCALE) as usize;
    let height = ((canvas.height + HEAD) * SCALE) as usize;
    let mut fine = vec![255; width * FINE * height * FINE * 3];
    {
        let back = BitMapBackend::with_buffer(&mut fine, ((width * FINE) as u32, (height * FINE) as u32));
        let mut pen = Pen { back, down: 0.0 };
        pen.text((0.0, 22.0), title, Anchor::Start, Ink::Text, 15.0, true)?;
        pen.text((0.0, 40.0), subtitle, Anchor::Start, Ink::Muted, 12.0, false)?;
        pen.down = HEAD;
        for shape in &canvas.shapes {
            pen.draw(shape)?;
        }
        pen.back.present().map_err(|_| Error::Picture("the bitmap cannot be finished"))?;
    }
    pack(&average(&fine, width, height), width, height)
}

struct Pen<'a> {
    back: BitMapBackend<'a>,
    down: f64,
}

impl Pen<'_> {
    fn place(&self, point: Point) -> (i32, i32) {
        let zoom = SCALE * FINE as f64;
        (((point.0 + SIDE) * zoom).round() as i32, ((point.1 + self.down) * zoom).round() as i32)
    }

    fn style(ink: Ink, width: f64, opacity: f64) -> ShapeStyle {
        let [red, green, blue] = ink.light();
        let stroke_width = (width * SCALE * FINE as f64).round().max(1.0) as u32;
        ShapeStyle { color: RGBAColor(red, green, blue, opacity), filled: true, stroke_width }
    }

    fn draw(&mut self, shape: &Shape) -> Result<(), Error> {
        match shape {
            Shape::Line { points, ink, width, dashed } => {
                let style = Self::style(*ink, *width, 1.0);
                let parts = if *dashed { dashes(points, 4.0) } else { vec![points.clone()] };
                for part in parts {
                    let mut path: Vec<_> = part.iter().map(|&point| self.place(point)).collect();
                    path.dedup();
                    if path.len() > 1 {
                        self.back.draw_path(path, &style).map_err(unseen)?;
                    }
                }
            }
            Shape::Area { points, ink, tenths } => {
                let style = Self::style(*ink, 1.0, f64::from(*tenths) / 10.0);
                let path: Vec<_> = points.iter().map(|&point| self.place(point)).collect();
                self.back.fill_polygon(path, &style).map_err(unseen)?;
            }
            Shape::Dots { points, ink, radius } => {
                let style = Self::style(*ink, 1.0, 1.0);
                let radius = (radius * SCALE * FINE as f64).round() as u32;
                for &point in points {
                    let place = self.place(point);
                    self.back.draw_circle(place, radius, &style, true).map_err(unseen)?;
                }
            }
            Shape::Text { at, text, anchor, ink } => self.text(*at, text, *anchor, *ink, 12.5, false)?,
        }
        Ok(())
    }

    fn text(&mut self, at: Point, text: &str, anchor: Anchor, ink: Ink, size: f64, bold: bool) -> Result<(), Error> {
        let [red, green, blue] = ink.light();
        let across = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style: TextStyle<'_> = (FACE, size * SCALE * FINE as f64).into_font().color(&RGBColor(red, green, blue));
        let style = style.pos(Pos::new(across, VPos::Center));
        let (x, y) = self.place((at.0, at.1 - size * 0.36));
        // The font is a light one. Drawing the text again one pixel to the right makes it as dark as on the page.
        for shift in 0..if bold { 3 } else { 2 } {
            self.back.draw_text(text, &style, (x + shift, y)).map_err(unseen)?;
        }
        Ok(())
    }
}

fn unseen<E>(_: E) -> Error {
    Error::Picture("a shape cannot be drawn")
}

/// Returns the dashes of a dashed line, each of this length.
fn dashes(points: &[Point], length: f64) -> Vec<Vec<Point>> {
    let mut out = Vec::new();
    let mut walked = 0.0;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let whole = (to.0 - from.0).hypot(to.1 - from.1);
        let mut at = 0.0;
        while at < whole {
            let rest = length - (walked % length);
            let end = (at + rest).min(whole);
            let point =
                |along: f64| (from.0 + (to.0 - from.0) * along / whole, from.1 + (to.1 - from.1) * along / whole);
            if ((walked / length) as u64).is_multiple_of(2) {
                out.push(vec![point(at), point(end)]);
            }
            walked += (end - at).max(1e-9);
            at = end;
        }
    }
    out
}

fn average(fine: &[u8], width: usize, height: usize) -> Vec<[u8; 3]> {
    let row = width * FINE * 3;
    let mut out = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let mut sum = [0u32; 3];
            for line in 0..FINE {
                let start = (y * FINE + line) * row + x * FINE * 3;
                for pixel in fine[start..start + FINE * 3].chunks_exact(3) {
                    for (total, &part) in sum.iter_mut().zip(pixel) {
                        *total += u32::from(part);
                    }
                }
            }
            out.push(sum.map(|total| (total / (FINE * FINE) as u32) as u8));
        }
    }
    out
}

/// The size of the palette. Sixteen colors suffice for a few inks and their smoothed edges, and need four bits a pixel.
const COLORS: usize = 16;

fn pack(pixels: &[[u8; 3]], width: usize, height: usize) -> Result<Vec<u8>, Error> {
    let palette = common(pixels);
    let mut known: HashMap<[u8; 3], u8> = HashMap::new();
    let mut data = Vec::with_capacity(width.div_ceil(2) * height);
    let mut last = (palette[0], 0);
    let mut index = |pixel: [u8; 3]| {
        if pixel != last.0 {
            last = (pixel, *known.entry(pixel).or_insert_with(|| nearest(&palette, pixel)));
        }
        last.1
    };
    for row in pixels.chunks_exact(width) {
        for two in row.chunks(2) {
            let second = two.get(1).map_or(0, |&pixel| index(pixel));
            data.push(index(two[0]) << 4 | second);
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Four);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(|_| Error::Picture("the header cannot be encoded"))?;
    writer.write_image_data(&data).map_err(|_| Error::Picture("the pixels cannot be compressed"))?;
    writer.finish().map_err(|_| Error::Picture("the end of the file cannot be encoded"))?;
    Ok(out)
}

/// Chooses the palette: each step adds the color with the largest product of its number of pixels and its distance to
/// the palette so far.
fn common(pixels: &[[u8; 3]]) -> Vec<[u8; 3]> {
    let mut counts: HashMap<[u8; 3], u32> = HashMap::new();
    // Most neighbors have the same color. The map would take most of the time otherwise.
    for same in pixels.chunk_by(|one, next| one == next) {
        *counts.entry(same[0]).or_default() += same.len() as u32;
    }
    let mut left: Vec<_> = counts.into_iter().collect();
    left.sort_unstable_by_key(|&(pixel, count)| (std::cmp::Reverse(count), pixel));
    let mut palette = vec![left[0].0];
    while palette.len() < COLORS {
        let gain = |pixel: [u8; 3], count: u32| {
            u64::from(palette.iter().map(|&other| apart(pixel, other)).min().unwrap_or(0)) * u64::from(count)
        };
        let best = left
            .iter()
            .max_by_key(|(pixel, count)| gain(*pixel, *count))
            .map(|&(pixel, count)| (pixel, gain(pixel, count)));
        match best {
            Some((pixel, gain)) if gain > 0 => palette.push(pixel),
            _ => break,
        }
    }
    palette
}

fn nearest(palette: &[[u8; 3]], pixel: [u8; 3]) -> u8 {
    (0u8..).zip(palette).min_by_key(|(_, other)| apart(pixel, **other)).map_or(0, |(index, _)| index)
}

fn apart(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
