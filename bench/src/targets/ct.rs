//! The targets of `deadpan-ct`.

use super::{Verdict, at_most, find};
use crate::race::{Outcome, Role};

/// Our time, divided by that of the best constant-time peer, may be this large.
const MARGIN: f64 = 1.05;

/// Returns all targets.
pub fn judge(outcomes: &[Outcome]) -> Vec<Verdict> {
    let median =
        |cell| find(outcomes, "ct", cell).and_then(|outcome| outcome.lane("", "deadpan")).map(|lane| lane.median);
    let memcmp = find(outcomes, "ct", "eq [u8], 1024 bytes").and_then(|outcome| outcome.lane("", "memcmp"));
    vec![
        best_peer(outcomes),
        at_most("ct: comparing 1024 bytes takes at most 1.1 x memcmp", memcmp.map(|lane| lane.ratio), 1.1, " x"),
        at_most(
            "ct: conditional assignment of 1024 bytes takes at most 32 ns",
            median("assign [u8], 1024 bytes"),
            32.0,
            " ns",
        ),
        at_most("ct: eq u64 takes at most 0.70 ns", median("eq u64"), 0.70, " ns"),
        at_most("ct: eq u128 takes at most 0.80 ns", median("eq u128"), 0.80, " ns"),
    ]
}

/// Makes the target that each cell is within the margin of its best constant-time peer. The result names the other
/// cells.
fn best_peer(outcomes: &[Outcome]) -> Verdict {
    let mut cells = 0;
    let mut behind = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.section == "ct") {
        let peers = outcome.lanes.iter().filter(|lane| lane.role == Role::ConstantTime);
        let Some(best) = peers.max_by(|a, b| a.ratio.total_cmp(&b.ratio)) else { continue };
        cells += 1;
        if best.ratio > MARGIN {
            let ours = outcome.lane("", "deadpan").map_or(f64::NAN, |lane| lane.median);
            let lost = ours - best.median;
            behind.push(format!("{} ({:.2} x {}, {lost:+.2} ns)", outcome.cell, best.ratio, best.name));
        }
    }
    let mut measured = format!("{} of {cells} cells", cells - behind.len());
    if !behind.is_empty() {
        measured += &format!("; behind in: {}", behind.join("; "));
    }
    let met = (cells > 0).then_some(behind.is_empty());
    Verdict { target: "ct: within 5 % of the best constant-time peer in every cell".into(), met, measured }
}
