//! The charts of a record: drawn once, written as SVG and as PNG.

mod canvas;
mod forest;
mod kernel;
mod names;
mod palette;
mod png;
mod quantiles;
mod scale;
mod spread;
mod svg;
mod trend;
mod violin;

pub(super) use kernel::quantile;
pub(super) use palette::style;

use super::{Detail, Error, rank, words};
use crate::record::{Calibration, Comparison, Interval, Record, Speed, Timing, Verdict};
use canvas::Canvas;

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plot {
    Quantiles,
    Violin,
    Pairs,
    Density,
    Ecdf,
    Funnel,
    Series,
    Autocorrelation,
    Regression,
    Throughput,
    Ratios,
    History,
    Power,
}

impl Plot {
    /// Whether it shows many things at once.
    fn is_overview(self) -> bool {
        matches!(self, Self::Throughput | Self::Power)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Quantiles => "quantiles",
            Self::Violin => "violin",
            Self::Pairs => "pairs",
            Self::Density => "density",
            Self::Ecdf => "ecdf",
            Self::Funnel => "funnel",
            Self::Series => "series",
            Self::Autocorrelation => "autocorrelation",
            Self::Regression => "regression",
            Self::Throughput => "throughput",
            Self::Ratios => "ratios",
            Self::History => "history",
            Self::Power => "power",
        }
    }
}

/// One chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its file's name without the ending: `security.base64.encoding.uppercase.regression`.
    pub name: String,
    /// What it is of.
    pub title: String,
    /// What it shows, for those who see the picture alone.
    pub subtitle: String,
    /// How to read it, for a page that has its title elsewhere.
    pub(super) caption: String,
    pub(super) plot: Plot,
    /// Which of several things of its kind, by position.
    pub(super) index: usize,
    canvas: Canvas,
}

impl Chart {
    /// As an SVG file, which follows the reader's theme.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::file(&self.canvas, &self.title, &self.subtitle)
    }

    /// As a PNG file on white.
    ///
    /// # Errors
    ///
    /// Where the picture cannot be packed.
    pub fn png(&self) -> Result<Vec<u8>, Error> {
        png::encode(&self.canvas, &self.title, &self.subtitle)
    }

    /// Whether it goes beside a page of this detail.
    pub(super) fn belongs(&self, record: &Record, detail: Detail) -> bool {
        let notable = || record.timing.get(self.index).is_some_and(|timing| timing.verdict != Verdict::NoLeakAbove);
        match detail {
            Detail::Full => true,
            Detail::Main => self.plot.is_overview() || matches!(self.plot, Plot::Quantiles | Plot::Violin) && notable(),
            Detail::Brief => self.plot.is_overview(),
        }
    }

    /// For the inside of a page.
    pub(super) fn inline(&self) -> String {
        svg::inline(&self.canvas, &format!("{}. {}", self.title, self.subtitle))
    }
}

/// Everything that can be drawn of a record, under names that are not given twice.
pub(super) fn of_record(record: &Record, earlier: &[Record]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (index, timing) in record.timing.iter().enumerate() {
        let twice = record.timing.iter().filter(|other| other.target == timing.target).count() > 1;
        charts.extend(of_timing(timing, index, twice));
    }
    charts.extend(beside_timing(record, earlier));
    names::make_unique(&mut charts);
    charts
}

/// All charts but those of timing targets, which a page draws target by target.
pub(super) fn beside_timing(record: &Record, earlier: &[Record]) -> Vec<Chart> {
    let mut charts = of_speeds(record);
    charts.extend(record.comparisons.iter().enumerate().filter_map(|(index, comparison)| of_comparison(comparison, index)));
    charts.extend(of_history(record, earlier));
    charts.extend(record.calibration.as_ref().and_then(of_calibration));
    charts
}

/// A timing target's charts. The big ones show its most notable pair.
pub(super) fn of_timing(timing: &Timing, index: usize, with_length: bool) -> Vec<Chart> {
    let length = if with_length { format!(".{}-bytes", timing.length) } else { String::new() };
    let prefix = format!("security.{}{length}", names::dotted(&timing.target));
    let ranked = rank::pairs(timing);
    let mut charts = Vec::new();
    let mut add = |plot: Plot, what: &str, canvas: Option<Canvas>, title: String, subtitle: String, caption: &str| {
        if let Some(canvas) = canvas {
            let name = format!("{prefix}.{}.{}", names::slug(what), plot.name());
            charts.push(Chart { name, title, subtitle, caption: caption.to_owned(), plot, index, canvas });
        }
    };
    let target = || timing.target.clone();
    if let Some(pair) = ranked.first() {
        let both = format!("{}-{}", pair.a, pair.b);
        let versus = format!("{} against {}", pair.b, pair.a);
        let title = || format!("{}: {}", timing.target, words::label(pair.verdict, Some(pair.bound_ns)));
        let pair_chart = |what: &str| format!("{versus}: {what}");
        let delta = timing.design.delta_ns;
        add(Plot::Quantiles, &both, quantiles::quantiles(pair), title(), pair_chart("difference by quantile"), QUANTILES);
        add(Plot::Violin, "all", violin::violins(timing), target(), "time of one call by class".to_owned(), VIOLIN);
        add(Plot::Pairs, "all", forest::pairs(&ranked), target(), "all pairs of classes, the most notable first".to_owned(), PAIRS);
        let worst = Some((pair.a.as_str(), pair.b.as_str()));
        add(Plot::Density, "all", violin::densities(timing, worst), target(), "time of one call, all classes".to_owned(), DENSITY);
        add(Plot::Ecdf, &both, spread::ecdf(pair), title(), pair_chart("difference of the distribution functions"), ECDF);
        add(Plot::Funnel, &both, spread::funnel(pair, delta), title(), pair_chart("the interval at each look"), FUNNEL);
        add(Plot::Series, &both, spread::series(pair, delta), title(), pair_chart("the difference over time"), SERIES);
        let canvas = spread::autocorrelation(pair);
        add(Plot::Autocorrelation, &both, canvas, target(), pair_chart("correlation of successive batches"), AUTOCORRELATION);
    } else {
        add(Plot::Violin, "all", violin::violins(timing), target(), "time of one call by class".to_owned(), VIOLIN);
    }
    let named = |name: &str| ranked.first().is_some_and(|pair| pair.a == name || pair.b == name);
    for (at, class) in timing.classes.iter().enumerate() {
        // Dozens of straight lines say little and weigh much; the tables have them all.
        if timing.classes.len() > REGRESSIONS && !named(&class.name) {
            continue;
        }
        let canvas = class.estimates.as_ref().and_then(trend::regression);
        if let Some(canvas) = canvas {
            let name = format!("{prefix}.{}.{}", names::slug(&class.name), Plot::Regression.name());
            let subtitle = format!("{}: time over the number of calls", class.name);
            charts.push(Chart { name, title: target(), subtitle, caption: String::new(), plot: Plot::Regression, index: at, canvas });
        }
    }
    charts
}

/// Of more classes than this, only those of the most notable pair have a regression chart.
const REGRESSIONS: usize = 8;

const QUANTILES: &str = "Difference by quantile, for the most notable pair: dots with the band that holds at all quantiles together. \
    Shaded green: what does not count as a leak. Left are the fastest calls, right the slowest.";
const VIOLIN: &str = "Time of one call by class. Bar: the middle half; line: the median. Cut off beyond the slowest twentieth.";
const PAIRS: &str = "All pairs of classes, the most notable first: difference and interval; shaded: what does not count as a leak.";
const DENSITY: &str = "All classes over one another, each with its median.";
const ECDF: &str = "Difference of the distribution functions: above zero, the second class has more calls that are at least this fast.";
const FUNNEL: &str = "The interval at each look. It narrows as batches come in.";
const SERIES: &str = "The difference over time. Steps or slopes would show a machine that changed meanwhile.";
const AUTOCORRELATION: &str = "How much a batch's time tells of those after it. Dashed: what chance gives. The test holds in either case.";

fn of_speeds(record: &Record) -> Vec<Chart> {
    let mut charts = Vec::new();
    let mut families: Vec<&str> = record.speed.iter().map(family).collect();
    families.dedup();
    families.sort_unstable();
    families.dedup();
    for (index, family_name) in families.into_iter().enumerate() {
        let members: Vec<&Speed> = record.speed.iter().filter(|speed| family(speed) == family_name).collect();
        if let Some(canvas) = forest::throughput(&members) {
            charts.push(Chart {
                name: format!("speed.{}.all.throughput", names::slug(family_name)),
                title: family_name.to_owned(),
                subtitle: "bytes in a second by function and size".to_owned(),
                caption: format!("{family_name}: bytes in a second by function and size."),
                plot: Plot::Throughput,
                index,
                canvas,
            });
        }
    }
    for (index, speed) in record.speed.iter().enumerate() {
        if let Some(canvas) = trend::regression(&speed.estimates) {
            charts.push(Chart {
                name: format!("speed.{}.{}.regression", names::dotted(&speed.target), names::slug(&speed.size)),
                title: speed.target.clone(),
                subtitle: format!("{}: time over the number of calls", speed.size),
                caption: format!("{}, {}", speed.target, speed.size),
                plot: Plot::Regression,
                index,
                canvas,
            });
        }
    }
    charts
}

fn family(speed: &Speed) -> &str {
    speed.target.split('.').next().unwrap_or_default()
}

fn of_comparison(comparison: &Comparison, index: usize) -> Option<Chart> {
    let (a, b) = (&comparison.a.name, &comparison.b.name);
    Some(Chart {
        name: format!("speed.{}-{}.ratios", names::slug(a), names::slug(b)),
        title: format!("{b} against {a}"),
        subtitle: "change of time, round by round".to_owned(),
        caption: format!("{b} against {a}, round by round. Red: the median with its interval; shaded green: what counts as the same."),
        plot: Plot::Ratios,
        index,
        canvas: trend::ratios(comparison)?,
    })
}

fn of_history(record: &Record, earlier: &[Record]) -> Vec<Chart> {
    let runs: Vec<&Record> = earlier.iter().chain([record]).collect();
    let mut charts = Vec::new();
    let mut add = |name: String, title: String, kind: &str, rates: Vec<(String, Interval)>| {
        if let Some(canvas) = trend::history(&rates, kind) {
            let subtitle = "rate over runs, this one last".to_owned();
            let caption = format!("{title} over {} runs, this one last.", rates.len());
            charts.push(Chart { name, title, subtitle, caption, plot: Plot::History, index: 0, canvas });
        }
    };
    for baseline in &record.baselines {
        let find = |run: &&Record| {
            let same = run.baselines.iter().find(|other| other.name == baseline.name && other.unit == baseline.unit)?;
            Some((run.started.clone(), same.rate))
        };
        let rates = runs.iter().filter_map(find).collect();
        add(format!("speed.{}.baseline.history", names::slug(&baseline.name)), baseline.name.clone(), &baseline.unit, rates);
    }
    for speed in &record.speed {
        let find = |run: &&Record| {
            let same = run.speed.iter().find(|other| other.target == speed.target && other.size == speed.size)?;
            Some((run.started.clone(), same.bytes_per_second))
        };
        let rates = runs.iter().filter_map(find).collect();
        let name = format!("speed.{}.{}.history", names::dotted(&speed.target), names::slug(&speed.size));
        add(name, format!("{}, {}", speed.target, speed.size), "bytes", rates);
    }
    charts
}

fn of_calibration(calibration: &Calibration) -> Option<Chart> {
    Some(Chart {
        name: "security.calibration.power".to_owned(),
        title: "Power".to_owned(),
        subtitle: "how often an injected delay was found, by its size".to_owned(),
        caption: "How often an injected delay was found, by its size; bars: exact 95\u{a0}% intervals; dashed: nine times in ten."
            .to_owned(),
        plot: Plot::Power,
        index: 0,
        canvas: trend::power(&calibration.levels)?,
    })
}
