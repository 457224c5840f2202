//! Charts of the distribution of each class's times: one chart with horizontal violins and their quartiles, and one
//! chart with curves.

use super::canvas::{Anchor, Canvas, Point, fit};
use super::kernel;
use super::palette::{Ink, SERIES};
use super::scale::{Frame, Labels, Scale, Spread};
use crate::record::{Class, Timing};
use crate::report::number;

/// Draws one violin for each class. Each violin has its own row.
pub(super) fn violins(timing: &Timing) -> Option<Canvas> {
    let (low, high) = kernel::range(&timing.classes)?;
    let count = timing.classes.len() as f64;
    let row = match timing.classes.len() {
        0..=5 => 44.0,
        6..=9 => 32.0,
        _ => 25.0,
    };
    let mut canvas = Canvas::new(480.0, 12.0 + row * count + 48.0);
    let longest = timing.classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * 7.8 + 16.0).clamp(56.0, 150.0);
    let frame = Frame {
        left,
        top: 10.0,
        ..Frame::new(&canvas, Scale::new(Spread::Even, low, high), Scale::new(Spread::Even, 0.0, 1.0))
    };
    let unit = number::time_unit(high);
    frame.columns(&mut canvas);
    frame.horizontal(&mut canvas, &format!("time for one call ({})", unit.name), Labels::Unit(unit.worth));
    for (index, class) in timing.classes.iter().enumerate() {
        let middle = frame.top + row * (index as f64 + 0.5) + 1.0;
        let name = fit(&class.name, left - 12.0);
        canvas.text((left - 8.0, middle + 4.5), name, Anchor::End, Ink::Text);
        violin(&mut canvas, &frame, class, (middle, row * 0.46), timing.classes.len() < 10);
    }
    Some(canvas)
}

fn violin(canvas: &mut Canvas, frame: &Frame, class: &Class, (middle, half): Point, ringed: bool) {
    let start = kernel::quantile(class, 0.001).unwrap_or(frame.x.low()).max(frame.x.low());
    let points = kernel::density(class, frame.x.low(), frame.x.high());
    let peak = points.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max);
    let body: Vec<_> = points.iter().filter(|point| point.1 / peak > 0.004 || (point.0 - start).abs() < 1e-9).collect();
    let side = |sign: f64| body.iter().map(move |point| (frame.x(point.0), middle + sign * half * point.1 / peak));
    let outline: Vec<_> = side(-1.0).chain(side(1.0).rev()).collect();
    if outline.len() > 2 {
        canvas.area(&outline, Ink::Blue, 3);
        if ringed {
            let mut ring = outline;
            ring.push(ring[0]);
            canvas.line(&ring, Ink::Blue, 1.0);
        }
    }
    let [low, center, high] = [0.25, 0.5, 0.75].map(|at| kernel::quantile(class, at));
    if let (Some(low), Some(high)) = (low, high) {
        canvas.rectangle((frame.x(low), middle - 3.0), (frame.x(high), middle + 3.0), Ink::Blue, 10);
    }
    if let Some(center) = center {
        let x = frame.x(center);
        canvas.line(&[(x, middle - 7.0), (x, middle + 7.0)], Ink::Text, 2.0);
    }
}

/// If there are more than seven classes, only the two classes of the pair with the worst result have a color.
pub(super) fn densities(timing: &Timing, worst: Option<(&str, &str)>) -> Option<Canvas> {
    let (low, high) = kernel::range(&timing.classes)?;
    let few = timing.classes.len() <= SERIES.len();
    let inks = inks(timing, worst, few);
    let named: Vec<_> = timing.classes.iter().zip(&inks).filter(|(_, ink)| **ink != Ink::Slate).collect();
    let rows = legend_rows(&named);
    let mut canvas = Canvas::new(480.0, 262.0 + 19.0 * rows as f64);
    let curves: Vec<_> = timing.classes.iter().map(|class| kernel::density(class, low, high)).collect();
    let peak = curves.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let frame = Frame {
        left: 16.0,
        top: 10.0 + 19.0 * rows as f64,
        ..Frame::new(&canvas, Scale::new(Spread::Even, low, high), Scale::new(Spread::Even, 0.0, peak * 1.05))
    };
    let unit = number::time_unit(high);
    frame.columns(&mut canvas);
    frame.horizontal(&mut canvas, &format!("time for one call ({})", unit.name), Labels::Unit(unit.worth));
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by_key(|&index| inks[index] != Ink::Slate);
    for index in order {
        let points: Vec<_> = curves[index].iter().map(|point| frame.at(point.0, point.1)).collect();
        canvas.line(&points, inks[index], if inks[index] == Ink::Slate { 0.8 } else { 1.8 });
        if let Some(median) = kernel::quantile(&timing.classes[index], 0.5).filter(|_| inks[index] != Ink::Slate) {
            let x = frame.x(median);
            canvas.dashed(&[(x, frame.bottom), (x, frame.top)], inks[index], 1.2);
        }
    }
    legend(&mut canvas, &named);
    Some(canvas)
}

fn inks(timing: &Timing, worst: Option<(&str, &str)>, few: bool) -> Vec<Ink> {
    let choose = |(index, class): (usize, &Class)| match worst {
        _ if few => SERIES[index % SERIES.len()],
        Some((a, _)) if class.name == a => Ink::Blue,
        Some((_, b)) if class.name == b => Ink::Vermillion,
        _ => Ink::Slate,
    };
    timing.classes.iter().enumerate().map(choose).collect()
}

const COLUMN: f64 = 156.0;

fn legend_rows(named: &[(&Class, &Ink)]) -> usize {
    named.len().div_ceil(3).max(1)
}

fn legend(canvas: &mut Canvas, named: &[(&Class, &Ink)]) {
    for (index, (class, ink)) in named.iter().enumerate() {
        let (x, y) = (COLUMN * (index % 3) as f64, 14.0 + 19.0 * (index / 3) as f64);
        canvas.line(&[(x, y - 4.0), (x + 14.0, y - 4.0)], **ink, 3.0);
        canvas.text((x + 20.0, y), fit(&class.name, COLUMN - 26.0), Anchor::Start, Ink::Text);
    }
}
