//! The project's targets, compared with the measurements. A missed target does not fail the run.

mod base64;
mod ct;
mod pad;

use serde::Serialize;

use crate::race::Outcome;

/// A target and its result.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// The target, in words.
    pub target: String,
    /// Whether the target was met, or none if the cells did not run.
    pub met: Option<bool>,
    /// The measured figures.
    pub measured: String,
}

/// Returns all targets of all sections.
pub fn judge(outcomes: &[Outcome]) -> Vec<Verdict> {
    let mut verdicts = ct::judge(outcomes);
    verdicts.extend(base64::judge(outcomes));
    verdicts.extend(pad::judge(outcomes));
    verdicts
}

/// Returns the outcome of this cell.
fn find<'a>(outcomes: &'a [Outcome], section: &str, cell: &str) -> Option<&'a Outcome> {
    outcomes.iter().find(|outcome| outcome.section == section && outcome.cell == cell)
}

/// Makes a target: `value` must not exceed `limit`.
fn at_most(target: impl Into<String>, value: Option<f64>, limit: f64, unit: &str) -> Verdict {
    let met = value.map(|value| value <= limit);
    Verdict { target: target.into(), met, measured: value.map_or(String::new(), |value| format!("{value:.3}{unit}")) }
}

/// Makes a target: `value` must reach `limit`.
fn at_least(target: impl Into<String>, value: Option<f64>, limit: f64, unit: &str) -> Verdict {
    Verdict { met: value.map(|value| value >= limit), ..at_most(target, value, limit, unit) }
}
