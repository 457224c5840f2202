//! Stores the speeds of earlier runs in a directory, one JSON file for each target and size, and compares new runs with
//! them.
//!
//! Use a baseline (a stored speed) to notice a change of some percent between two days. To detect a smaller change,
//! compare both versions in one race, because the speed of the machine itself changes between runs by an unknown
//! amount. Every stored run adds its median to the history. From the history, the module estimates how much the results
//! of runs differ, and widens the interval of the change accordingly. If the history has fewer than five runs, the
//! spread is unknown, and the interval includes only the noise within the two runs. If the spread is unknown, the
//! margin must be larger than the true spread between runs. The usual margin is [`MARGIN`]. A baseline is useful only
//! if no other programs use the machine. If other programs compete for the processor, the median can change by half or
//! more, and the cause of a reported change may not be the code.
//!
//! ```
//! use deadpan_lab::record::{Estimates, Interval, Outcome};
//! use deadpan_lab::speed::baseline;
//!
//! let directory = std::env::temp_dir().join(format!("deadpan-lab-doc-{}", std::process::id()));
//! let run = |ns: f64| Estimates {
//!     median: Interval { lower: ns * 0.999, estimate: ns, upper: ns * 1.001 },
//!     points: (1..50).map(|calls| [f64::from(calls), f64::from(calls) * ns]).collect(),
//!     ..Estimates::default()
//! };
//! baseline::store(&directory, "sum", "64 B", &run(100.0))?;
//! let stored = baseline::load(&directory, "sum", "64 B")?.expect("it was stored");
//! assert_eq!(baseline::change(&stored, &run(100.5), baseline::MARGIN).outcome, Outcome::Same);
//! assert_eq!(baseline::change(&stored, &run(110.0), baseline::MARGIN).outcome, Outcome::Slower);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::disk;
use crate::distribution::{mad, median, normal_cdf, normal_quantile};
use crate::machine;
use crate::random::Random;
use crate::record::{Change, Estimates, Interval};
use crate::speed::bootstrap::{self, DRAWS};
use crate::speed::verdict::Evidence;

/// The default margin. A change that is smaller than the margin is reported as no change, even if the intervals of the
/// two runs are narrow. Two runs of one program that are minutes apart easily differ by 2 %.
pub const MARGIN: f64 = 0.02;

const HISTORY: usize = 50;

/// The stored speeds of a target with inputs of one size.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stored {
    /// The name of the target.
    pub target: String,
    /// The size of the input, as text.
    pub size: String,
    /// The time at which the last run was stored.
    pub since: String,
    /// The figures of the last run.
    pub estimates: Estimates,
    /// The medians of all runs, each with the time of the run. The oldest run comes first.
    pub history: Vec<(String, f64)>,
}

/// Stores a run as the baseline and appends its median to the history. Creates the directory if it does not exist.
///
/// # Errors
/// Returns an error if the directory or the file cannot be written, or if an existing file cannot be read.
pub fn store(directory: &Path, target: &str, size: &str, estimates: &Estimates) -> io::Result<()> {
    let mut history = load(directory, target, size)?.map(|stored| stored.history).unwrap_or_default();
    let since = machine::now();
    history.push((since.clone(), estimates.median.estimate));
    history.drain(..history.len().saturating_sub(HISTORY));
    let stored =
        Stored { target: target.to_owned(), size: size.to_owned(), since, estimates: estimates.clone(), history };
    let path = path(directory, target, size);
    disk::make_folder(directory).map_err(|error| named(directory, &error))?;
    disk::write(&path, &serde_json::to_vec(&stored).map_err(io::Error::other)?).map_err(|error| named(&path, &error))
}

/// Loads the stored baseline. Returns `None` if no baseline is stored.
///
/// # Errors
/// Returns an error if the file exists but cannot be read or is not a baseline.
pub fn load(directory: &Path, target: &str, size: &str) -> io::Result<Option<Stored>> {
    let path = path(directory, target, size);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| named(&path, &error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(&path, &error)),
    }
}

/// Compares a run with a stored run. The result has the ratio of the medians with a 95 % interval. The interval
/// contains the noise within both runs and, if the history has at least five runs, the spread of the history.
///
/// The outcome is `Same` if the whole interval lies inside `margin`. The outcome is `Faster` or `Slower` if the whole
/// interval is outside the margin, on one side. Otherwise the outcome is `Inconclusive`.
#[must_use]
pub fn change(stored: &Stored, new: &Estimates, margin: f64) -> Change {
    let mut random = Random::new(1);
    let (mut old, mut now) = (medians(&stored.estimates, &mut random), medians(new, &mut random));
    let middle = (new.median.estimate / stored.estimates.median.estimate).ln();
    // The history's spread affects both runs, so the variance contains the square of the spread twice.
    let variance = spread(&mut old).powi(2) + spread(&mut now).powi(2) + 2.0 * between(&stored.history).powi(2);
    let reach = normal_quantile(0.975) * variance.sqrt();
    let ratio = Interval { lower: (middle - reach).exp(), estimate: middle.exp(), upper: (middle + reach).exp() };
    let p = if variance > 0.0 {
        2.0 * normal_cdf(-(middle / variance.sqrt()).abs())
    } else {
        f64::from(u8::from(middle == 0.0))
    };
    let outcome = Evidence { ratio, noise: 0.0, margin }.outcome();
    Change { since: stored.since.clone(), ratio, p, margin, outcome }
}

/// Resamples the series in blocks. For each resampled median, returns the logarithm of the ratio of this median to the
/// estimate.
fn medians(estimates: &Estimates, random: &mut Random) -> Vec<f64> {
    let series: Vec<f64> = estimates.points.iter().map(|[calls, time]| time / calls).collect();
    if series.is_empty() {
        return Vec::new();
    }
    let block = bootstrap::block_length(&series);
    let center = estimates.median.estimate.ln();
    let factor = bootstrap::widening(series.len(), block);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    (0..DRAWS)
        .map(|_| {
            bootstrap::draw(&mut indices, series.len(), block, random);
            values.clear();
            values.extend(indices.iter().map(|&index| series[index]));
            factor * (median(&mut values).ln() - center)
        })
        .collect()
}

/// Returns the root mean square of the values, or zero if there are no values.
fn spread(values: &mut [f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// Returns the standard deviation of the logarithms of a history's medians. If the history has fewer than five runs,
/// returns zero.
fn between(history: &[(String, f64)]) -> f64 {
    let mut logarithms: Vec<f64> =
        history.iter().map(|(_, median)| median.ln()).filter(|value| value.is_finite()).collect();
    // The factor 1.4826 converts the median absolute deviation of a normal distribution to its standard deviation.
    if logarithms.len() < 5 { 0.0 } else { 1.4826 * mad(&mut logarithms) }
}

/// Returns the path of the file for a target and a size. In the file name, dashes replace all characters except
/// letters, digits, `.` and `_`. This replacement can make two names equal, so the file name also contains a checksum
/// of the original names.
fn path(directory: &Path, target: &str, size: &str) -> PathBuf {
    let plain = |text: &str| {
        text.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '_', "-")
    };
    // The checksum is FNV-1a, because FNV-1a gives the same result in all versions of Rust.
    let sum = [target, "\0", size]
        .concat()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    directory.join(format!("{}.{}.{:08x}.json", plain(target), plain(size), sum as u32))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::speed::estimate::estimates;

    fn run(ns: f64, noise: f64, seed: u64) -> Estimates {
        let mut random = Random::new(seed);
        let points = (1..=100)
            .map(|calls| [f64::from(calls), f64::from(calls) * ns * (1.0 + noise * random.normal())])
            .collect();
        estimates(points, &mut random)
    }

    fn stored(estimates: Estimates) -> Stored {
        Stored { since: "then".to_owned(), estimates, ..Stored::default() }
    }

    #[test]
    fn a_change_is_distinguished_from_noise() {
        let old = stored(run(100.0, 0.01, 1));
        let same = change(&old, &run(100.0, 0.01, 2), MARGIN);
        assert!(same.outcome == Outcome::Same && same.ratio.covers(1.0) && same.p > 0.01, "{same:?}");
        let slower = change(&old, &run(107.0, 0.01, 3), MARGIN);
        assert!(slower.outcome == Outcome::Slower && slower.p < 1e-6 && slower.ratio.covers(1.07), "{slower:?}");
        assert_eq!(change(&old, &run(90.0, 0.01, 4), MARGIN).outcome, Outcome::Faster);
    }

    #[test]
    fn noisy_runs_are_inconclusive() {
        let change = change(&stored(run(100.0, 0.5, 5)), &run(106.0, 0.5, 6), MARGIN);
        assert!((change.margin, change.outcome) == (MARGIN, Outcome::Inconclusive), "{change:?}");
    }

    #[test]
    fn a_history_that_jumps_widens_the_interval() {
        let mut old = stored(run(100.0, 0.001, 7));
        old.history = [100.0, 104.0, 97.0, 108.0, 95.0].map(|median| (String::new(), median)).to_vec();
        let change = change(&old, &run(108.0, 0.001, 8), MARGIN);
        assert!(change.outcome == Outcome::Inconclusive && change.ratio.lower < 0.95, "{change:?}");
        assert!(change.p > 0.05, "{change:?}");
    }

    #[test]
    fn names_that_differ_in_special_characters_have_different_files() {
        let directory = Path::new("d");
        assert_ne!(path(directory, "a/b", "1"), path(directory, "a:b", "1"));
        assert_ne!(path(directory, "a", "b1"), path(directory, "ab", "1"));
        assert!(path(directory, "../x", "1 KiB").parent() == Some(directory));
    }
}
