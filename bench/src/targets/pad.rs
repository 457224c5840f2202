//! The targets of `deadpan-pad`.

use super::{Verdict, at_most};
use crate::pad::INVALID;
use crate::race::{Lane, Outcome, Role, ratio};

/// Two times count as equal if their ratio differs from 1 by no more than this.
const SAME: f64 = 0.02;

/// Returns all targets.
pub fn judge(outcomes: &[Outcome]) -> Vec<Verdict> {
    let random = |cell: &str| cell.contains("iso10126") || cell.contains("arbitrary-tail");
    let pads = |cell: &str| cell.starts_with("pad_");
    vec![
        slowest(outcomes, "pad: pad_into and pad_last_block take at most 8 ns", 8.0, |cell| {
            pads(cell) && !random(cell)
        }),
        slowest(outcomes, "pad: with random bytes at most 12 ns", 12.0, |cell| pads(cell) && random(cell)),
        slowest(outcomes, "pad: unpad takes at most 4 ns", 4.0, |cell| cell.starts_with("unpad ")),
        apart(outcomes, "pad: 1 and 15 bytes of padding take the same time, within 2 %", "1 pad byte", "15 pad bytes"),
        apart(outcomes, "pad: valid and invalid take the same time, within 2 %", "8 pad bytes", INVALID),
    ]
}

/// Makes a target for our slowest row in the selected cells.
fn slowest(outcomes: &[Outcome], target: &str, limit: f64, counts: impl Fn(&str) -> bool) -> Verdict {
    let cells = outcomes.iter().filter(|outcome| outcome.section == "pad" && counts(&outcome.cell));
    let rows = cells.flat_map(|outcome| outcome.lanes.iter().map(move |lane| (outcome, lane)));
    let ours = rows.filter(|(_, lane)| lane.role == Role::Ours);
    let worst = ours.max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
    let mut verdict = at_most(target, worst.map(|(_, lane)| lane.median), limit, " ns");
    if let Some((outcome, lane)) = worst {
        verdict.measured += &format!(" ({}, {})", outcome.cell, lane.row);
    }
    verdict
}

/// Makes a target for the cell in which two of our rows differ most.
fn apart(outcomes: &[Outcome], target: &str, one: &str, other: &str) -> Verdict {
    let cells = outcomes.iter().filter(|outcome| outcome.section == "pad");
    let times = |lane: Option<&Lane>| lane.map(|lane| lane.times.clone());
    let pairs = cells.filter_map(|outcome| {
        let (one, other) = (times(outcome.lane(one, "deadpan"))?, times(outcome.lane(other, "deadpan"))?);
        Some((outcome, ratio(&one, &other)))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by(|(_, a), (_, b)| b.ln().abs().total_cmp(&a.ln().abs()));
    let mut verdict = at_most(target, pairs.first().map(|(_, ratio)| ratio.ln().abs().exp_m1()), SAME, "");
    if let Some((outcome, worst)) = pairs.first() {
        let off: Vec<_> = pairs.iter().filter(|(_, ratio)| ratio.ln().abs().exp_m1() > SAME).collect();
        verdict.measured = format!("worst ratio {worst:.3} ({})", outcome.cell);
        if !off.is_empty() {
            let names: Vec<_> = off.iter().map(|(outcome, ratio)| format!("{} ({ratio:.3})", outcome.cell)).collect();
            verdict.measured = format!("{} of {} cells apart: {}", off.len(), pairs.len(), names.join("; "));
        }
    }
    verdict
}
