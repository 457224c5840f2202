//! Draws the charts of a record, as SVG.

mod canvas;
mod forest;
mod kernel;
mod names;
mod palette;
mod quantiles;
mod scale;
mod spread;
mod svg;
mod trend;
mod violin;

pub(super) use kernel::quantile;
pub(super) use palette::style;

use super::{Detail, rank, words};
use crate::record::{Calibration, Comparison, Interval, Record, Speed, Timing, Verdict};
use canvas::Canvas;

/// The kind of a chart.
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
    /// Returns whether the chart summarizes many functions or runs.
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

/// A chart with its texts.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The name of the chart's file without the extension, for example
    /// `security.base64.encoding.uppercase.regression`.
    pub name: String,
    /// The title: the name of the measured function, or the names of the two compared functions or programs.
    pub title: String,
    /// The subtitle: the quantity that the chart shows. The subtitle is part of the chart's file; pages do not show it.
    pub subtitle: String,
    /// The caption in a page.
    pub(super) caption: String,
    pub(super) plot: Plot,
    /// The position of the chart's function or comparison in the record.
    pub(super) index: usize,
    canvas: Canvas,
}

impl Chart {
    /// Returns the chart as an SVG file. The colors of the chart follow the reader's light or dark theme. Every browser
    /// can show SVG. To convert the file to PNG, use a converter such as `rsvg-convert`.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::file(&self.canvas, &self.title, &self.subtitle)
    }

    /// Returns the name of the chart's file, for a Markdown page with separate picture files.
    pub(super) fn file(&self) -> String {
        format!("{}.svg", self.name)
    }

    /// Returns whether a Markdown page with this amount of detail contains the chart.
    pub(super) fn belongs(&self, record: &Record, detail: Detail) -> bool {
        let notable = || record.timing.get(self.index).is_some_and(|timing| timing.verdict != Verdict::NoLeakAbove);
        match detail {
            Detail::Full => true,
            Detail::Main => self.plot.is_overview() || matches!(self.plot, Plot::Quantiles | Plot::Violin) && notable(),
            Detail::Brief => self.plot.is_overview(),
        }
    }

    /// Returns the chart as an SVG element for an HTML page.
    pub(super) fn inline(&self) -> String {
        svg::inline(&self.canvas, &format!("{}. {}", self.title, self.subtitle))
    }
}

/// Returns all charts of a record. The names of the charts are unique.
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

/// Returns all charts of a record, except the charts of timing targets. A page shows the charts of each timing target
/// in the section of the target.
pub(super) fn beside_timing(record: &Record, earlier: &[Record]) -> Vec<Chart> {
    let mut charts = of_speeds(record);
    charts.extend(
        record.comparisons.iter().enumerate().filter_map(|(index, comparison)| of_comparison(comparison, index)),
    );
    charts.extend(of_history(record, earlier));
    charts.extend(record.calibration.as_ref().and_then(of_calibration));
    charts
}

/// The large charts show the most notable pair of classes.
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
        add(
            Plot::Quantiles,
            &both,
            quantiles::quantiles(pair),
            title(),
            pair_chart("difference by quantile"),
            QUANTILES,
        );
        add(Plot::Violin, "all", violin::violins(timing), target(), "time of one call by class".to_owned(), VIOLIN);
        add(
            Plot::Pairs,
            "all",
            forest::pairs(&ranked),
            target(),
            "all pairs of classes, the most notable first".to_owned(),
            PAIRS,
        );
        let worst = Some((pair.a.as_str(), pair.b.as_str()));
        add(
            Plot::Density,
            "all",
            violin::densities(timing, worst),
            target(),
            "time of one call, all classes".to_owned(),
            DENSITY,
        );
        add(
            Plot::Ecdf,
            &both,
            spread::ecdf(pair, kernel::range(&timing.classes)),
            title(),
            pair_chart("difference of the distribution functions"),
            ECDF,
        );
        add(Plot::Funnel, &both, spread::funnel(pair, delta), title(), pair_chart("the interval at each look"), FUNNEL);
        add(Plot::Series, &both, spread::series(pair, delta), title(), pair_chart("the difference over time"), SERIES);
        let canvas = spread::autocorrelation(pair);
        add(
            Plot::Autocorrelation,
            &both,
            canvas,
            target(),
            pair_chart("correlation of successive batches"),
            AUTOCORRELATION,
        );
    } else {
        add(Plot::Violin, "all", violin::violins(timing), target(), "time of one call by class".to_owned(), VIOLIN);
    }
    // The page shows the charts of the classes side by side, so all of them have the same scale.
    let reach = trend::reach(timing.classes.iter().filter_map(|class| class.estimates.as_ref()));
    let named = |name: &str| ranked.first().is_some_and(|pair| pair.a == name || pair.b == name);
    for (at, class) in timing.classes.iter().enumerate() {
        // With many classes, only some classes have a regression chart, because dozens of charts would make the page
        // large. The tables have the estimates of all classes.
        if timing.classes.len() > REGRESSIONS && !named(&class.name) {
            continue;
        }
        let canvas = class.estimates.as_ref().and_then(|estimates| trend::regression(estimates, reach));
        if let Some(canvas) = canvas {
            let name = format!("{prefix}.{}.{}", names::slug(&class.name), Plot::Regression.name());
            let subtitle = format!("{}: time over the number of calls", class.name);
            charts.push(Chart {
                name,
                title: target(),
                subtitle,
                caption: String::new(),
                plot: Plot::Regression,
                index: at,
                canvas,
            });
        }
    }
    charts
}

/// If a target has more classes than this, only the two classes of the most notable pair have a regression chart.
const REGRESSIONS: usize = 8;

const QUANTILES: &str = "Difference by quantile, for the most notable pair. Dots: the estimates, with the band that \
    holds at all quantiles together. Shaded green: where the band shows no leak. The fastest calls are on \
    the left, the slowest on the right.";
const VIOLIN: &str =
    "Time of one call by class. Bar: the middle half of the calls; line: the median. The slowest calls are not shown.";
const PAIRS: &str = "All pairs of classes, the most notable first. Dot and line: the difference with its interval; \
    shaded green: within the threshold. Above zero, the class named first is slower.";
const DENSITY: &str = "Distribution of the times of all classes. Dashed: the medians.";
const ECDF: &str = "Difference of the distribution functions. Above zero, more calls of the second class than of the \
    first take at most this time.";
const FUNNEL: &str = "The estimate and its interval at each look. The interval narrows with the number of batches.";
const SERIES: &str = "The difference over time. A step or a slope shows that the machine changed during the run.";
const AUTOCORRELATION: &str = "Correlation between the times of batches, by their distance. Dashed: 95\u{a0}% of the \
    values for independent batches lie within. The test is valid in either case.";

fn of_speeds(record: &Record) -> Vec<Chart> {
    let mut charts = Vec::new();
    let mut families: Vec<&str> = record.speed.iter().map(family).collect();
    families.dedup();
    families.sort_unstable();
    families.dedup();
    for (index, family_name) in families.into_iter().enumerate() {
        let members: Vec<&Speed> = record.speed.iter().filter(|speed| family(speed) == family_name).collect();
        if let Some(canvas) = forest::throughput(&members, &record.speed) {
            charts.push(Chart {
                name: format!("speed.{}.all.throughput", names::slug(family_name)),
                title: family_name.to_owned(),
                subtitle: "bytes per second by function and size".to_owned(),
                caption: format!("{family_name}: bytes per second by function and size."),
                plot: Plot::Throughput,
                index,
                canvas,
            });
        }
    }
    for (index, speed) in record.speed.iter().enumerate() {
        if let Some(canvas) = trend::regression(&speed.estimates, trend::reach([&speed.estimates])) {
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
        caption: format!(
            "{b} against {a}, round by round. Red: the median with its interval; shaded green: the margin within which \
             both are the same."
        ),
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
            let subtitle = "rate over runs, this run last".to_owned();
            let caption = format!("{title} over {} runs, this run last.", rates.len());
            charts.push(Chart { name, title, subtitle, caption, plot: Plot::History, index: 0, canvas });
        }
    };
    for baseline in &record.baselines {
        let find = |run: &&Record| {
            let same = run.baselines.iter().find(|other| other.name == baseline.name && other.unit == baseline.unit)?;
            Some((run.started.clone(), same.rate))
        };
        let rates = runs.iter().filter_map(find).collect();
        add(
            format!("speed.{}.baseline.history", names::slug(&baseline.name)),
            baseline.name.clone(),
            &baseline.unit,
            rates,
        );
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
        caption:
            "How often an injected delay was found, by its size. Bars: exact 95\u{a0}% intervals; dashed: nine of \
            ten runs."
                .to_owned(),
        plot: Plot::Power,
        index: 0,
        canvas: trend::power(&calibration.levels)?,
    })
}
