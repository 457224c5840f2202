//! What the project has promised itself, held against what was measured. Timing never fails the run: it only shows here.

mod base64;
mod ct;
mod pad;

use crate::race::Outcome;
use serde::Serialize;

/// A target and how it came out.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// What was to be reached.
    pub target: String,
    /// Whether it was; none if the cells did not run.
    pub met: Option<bool>,
    /// The figures it was judged by.
    pub measured: String,
}

/// All targets of all sections.
pub fn judge(outcomes: &[Outcome]) -> Vec<Verdict> {
    let mut verdicts = ct::judge(outcomes);
    verdicts.extend(base64::judge(outcomes));
    verdicts.extend(pad::judge(outcomes));
    verdicts
}

/// The outcome of this cell.
fn find<'a>(outcomes: &'a [Outcome], section: &str, cell: &str) -> Option<&'a Outcome> {
    outcomes.iter().find(|outcome| outcome.section == section && outcome.cell == cell)
}

/// `value` must not exceed `limit`.
fn at_most(target: impl Into<String>, value: Option<f64>, limit: f64, unit: &str) -> Verdict {
    let met = value.map(|value| value <= limit);
    Verdict { target: target.into(), met, measured: value.map_or(String::new(), |value| format!("{value:.3}{unit}")) }
}

/// `value` must reach `limit`.
fn at_least(target: impl Into<String>, value: Option<f64>, limit: f64, unit: &str) -> Verdict {
    Verdict { met: value.map(|value| value >= limit), ..at_most(target, value, limit, unit) }
}
