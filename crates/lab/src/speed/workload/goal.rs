//! Goals for the figures of a table, and comparisons between two variants.
//!
//! The lab computes a ratio for each round, so that a slow change of speed between rounds does not affect the result.
//! The median of the ratios counts.

use std::ops::RangeInclusive;

use crate::distribution::median;
use crate::number::{short, time};
use crate::record::{GenerationRow, GoalVerdict, Interval, Role, TargetOutcome, Yardstick};
use crate::speed::sign;

const MIB: f64 = (1 << 20) as f64;
const ALL: RangeInclusive<u64> = 0..=u64::MAX;
/// The text of a verdict lists at most this many rows that miss the goal.
const SHOWN: usize = 3;

/// A bound for some rows of a table. By default, the bound applies to each operation in the variants of the measured
/// program.
#[derive(Clone, Debug)]
pub struct Goal {
    operation: &'static str,
    variant: &'static str,
    amounts: RangeInclusive<u64>,
    bound: Bound,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Times(f64, &'static str),
    Fastest(f64),
    Over(f64, &'static str),
    Seconds(f64),
    Rate(f64),
    Peak(f64),
    Alike(f64, &'static str, &'static str),
}

impl Goal {
    fn new(bound: Bound) -> Self {
        Self { operation: "", variant: "", amounts: ALL, bound }
    }

    /// Creates a goal: the time is at most `most` times the time of `variant`. `variant` may contain several names,
    /// separated by `|`. If `variant` contains several names, the bound refers to the slowest of these variants.
    #[must_use]
    pub fn times(most: f64, variant: &'static str) -> Self {
        Self::new(Bound::Times(most, variant))
    }

    /// Creates a goal: the time is at most `most` times the time of the fastest peer (another program).
    #[must_use]
    pub fn fastest_peer(most: f64) -> Self {
        Self::new(Bound::Fastest(most))
    }

    /// Creates a goal: the time is at most `most` seconds longer than the time of `variant`.
    #[must_use]
    pub fn over(most: f64, variant: &'static str) -> Self {
        Self::new(Bound::Over(most, variant))
    }

    /// At most this many seconds.
    #[must_use]
    pub fn seconds(most: f64) -> Self {
        Self::new(Bound::Seconds(most))
    }

    /// Creates a goal: the rate is at least `least`, in the unit of the rows.
    #[must_use]
    pub fn rate(least: f64) -> Self {
        Self::new(Bound::Rate(least))
    }

    /// At most this much memory in MiB.
    #[must_use]
    pub fn peak(most: f64) -> Self {
        Self::new(Bound::Peak(most))
    }

    /// Creates a goal for each operation whose name contains `part`. The time may differ by at most the share `within`
    /// from the time of another operation, whose name contains `other` instead of `part`.
    #[must_use]
    pub fn alike(within: f64, part: &'static str, other: &'static str) -> Self {
        Self::new(Bound::Alike(within, part, other)).in_part(part)
    }

    /// Restricts the goal to operations whose name contains `part`. This name consists of the names of the workload and
    /// of the operation: `file, seal`.
    #[must_use]
    pub fn in_part(self, part: &'static str) -> Self {
        Self { operation: part, ..self }
    }

    /// Restricts the goal to variants whose name contains `part`, and includes limits and peers.
    #[must_use]
    pub fn by(self, part: &'static str) -> Self {
        Self { variant: part, ..self }
    }

    /// Restricts the goal to rows whose amount of work lies in this range.
    #[must_use]
    pub fn at(self, amounts: RangeInclusive<u64>) -> Self {
        Self { amounts, ..self }
    }

    fn covers(&self, row: &GenerationRow) -> bool {
        let own = if self.variant.is_empty() { row.role == Role::Own } else { row.variant.contains(self.variant) };
        own && format!("{}, {}", row.workload, row.operation).contains(self.operation)
            && self.amounts.contains(&(row.amount as u64))
    }

    /// Returns the figure of a row that the goal compares with its bound. Returns `None` if the row or its reference
    /// row was not measured.
    fn measured(&self, row: &GenerationRow, rows: &[GenerationRow]) -> Option<f64> {
        row.rate?;
        let named =
            |name: &str| rows.iter().find(|other| same(other, row) && other.variant == name && has_times(other));
        match self.bound {
            Bound::Times(_, names) => {
                let others: Vec<&GenerationRow> = names.split('|').map(named).collect::<Option<_>>()?;
                let slowest = |round: usize| {
                    others.iter().filter_map(|other| other.seconds.get(round)).copied().fold(f64::NAN, f64::max)
                };
                let rounds = others.iter().map(|other| other.rounds).min()?;
                ratio(&row.seconds, &(0..rounds).map(slowest).collect::<Vec<f64>>())
            }
            Bound::Fastest(_) => {
                let peers =
                    rows.iter().filter(|other| same(other, row) && other.role == Role::Peer && has_times(other));
                let fastest = peers.min_by(|a, b| middle(a).total_cmp(&middle(b)))?;
                ratio(&row.seconds, &fastest.seconds)
            }
            Bound::Over(_, name) => {
                let mut more: Vec<f64> = row.seconds.iter().zip(&named(name)?.seconds).map(|(a, b)| a - b).collect();
                Some(median(&mut more))
            }
            Bound::Seconds(_) => Some(middle(row)),
            Bound::Rate(_) => row.rate,
            Bound::Peak(_) => Some(row.peak_memory? as f64 / MIB),
            Bound::Alike(_, part, other) => {
                let operation = row.operation.replace(part, other);
                let counterpart = rows.iter().find(|other| {
                    other.operation == operation && other.variant == row.variant && other.workload == row.workload
                })?;
                Some(ratio(&row.seconds, &counterpart.seconds)?.ln().abs().exp())
            }
        }
    }

    /// Returns how close a figure is to the bound of the goal. The result is 1 if the figure equals the bound, and
    /// larger than 1 if the figure misses the bound.
    fn beyond(&self, figure: f64) -> f64 {
        match self.bound {
            Bound::Rate(least) => least / figure,
            Bound::Alike(within, ..) => figure / (1.0 + within),
            Bound::Times(most, _)
            | Bound::Fastest(most)
            | Bound::Over(most, _)
            | Bound::Seconds(most)
            | Bound::Peak(most) => figure / most,
        }
    }

    fn words(&self, figure: f64) -> String {
        match self.bound {
            Bound::Times(_, names) => format!("{} × {}", short(figure), names.replace('|', " or ")),
            Bound::Fastest(_) => format!("{} × the fastest peer", short(figure)),
            Bound::Over(_, name) => format!("{} more than {name}", time(figure * 1e9)),
            Bound::Seconds(_) => time(figure * 1e9),
            Bound::Rate(_) => format!("{figure:.0} MiB/s"),
            Bound::Peak(_) => format!("{figure:.1} MiB"),
            Bound::Alike(_, part, other) => format!("{figure:.3} between {} and {}", bare(part), bare(other)),
        }
    }

    /// Describes the goal.
    fn title(&self, workload: &str) -> String {
        let of = [workload, self.variant, self.operation].map(bare);
        let of: Vec<&str> = of.into_iter().filter(|of| !of.is_empty()).collect();
        let limit = match self.bound {
            Bound::Rate(least) => format!("at least {}", self.words(least)),
            Bound::Alike(within, ..) => format!("at most {}", self.words(1.0 + within)),
            Bound::Times(most, _)
            | Bound::Fastest(most)
            | Bound::Over(most, _)
            | Bound::Seconds(most)
            | Bound::Peak(most) => format!("at most {}", self.words(most)),
        };
        format!("{}: {limit}", of.join(", "))
    }

    fn judge(&self, workload: &str, rows: &[GenerationRow]) -> GoalVerdict {
        let mut found: Vec<(f64, &GenerationRow)> = rows
            .iter()
            .filter(|row| self.covers(row))
            .filter_map(|row| Some((self.measured(row, rows)?, row)))
            .collect();
        found.sort_by(|(a, _), (b, _)| self.beyond(*b).total_cmp(&self.beyond(*a)));
        let missed = found.iter().take_while(|(figure, _)| self.beyond(*figure) > 1.0).count();
        let (outcome, shown) = match missed {
            _ if found.is_empty() => (TargetOutcome::Skipped, 0),
            0 => (TargetOutcome::Met, 1),
            missed => (TargetOutcome::Missed, missed.min(SHOWN)),
        };
        let mut measured: Vec<String> = found.iter().take(shown).map(|found| self.place(found)).collect();
        if missed > shown {
            measured.push(format!("and {} more", missed - shown));
        }
        GoalVerdict {
            goal: self.title(workload),
            met: found.len() - missed,
            of: found.len(),
            outcome,
            measured: if found.is_empty() { "not measured".to_owned() } else { measured.join("; ") },
        }
    }

    /// Names a figure and its row.
    fn place(&self, (figure, row): &(f64, &GenerationRow)) -> String {
        let of: Vec<&str> =
            [row.operation.as_str(), &row.variant, &row.set].into_iter().filter(|of| !of.is_empty()).collect();
        format!("{} ({})", self.words(*figure), of.join(", "))
    }
}

/// Compares the rows of one workload with its goals. A goal that applies to no measured row is skipped.
#[must_use]
pub fn judge(workload: &str, goals: &[Goal], rows: &[GenerationRow]) -> Vec<GoalVerdict> {
    goals.iter().map(|goal| goal.judge(workload, rows)).collect()
}

/// Divides the time of each row by the time of the variant `yardstick` in the same rounds, and stores this ratio with a
/// 95 % interval.
pub fn beside(rows: &mut [GenerationRow], yardstick: &str) {
    let yardsticks: Vec<GenerationRow> =
        rows.iter().filter(|row| row.variant == yardstick && has_times(row)).cloned().collect();
    for row in rows.iter_mut().filter(|row| row.variant != yardstick && has_times(row)) {
        let Some(other) = yardsticks.iter().find(|other| same(other, row)) else { continue };
        let logarithms: Vec<f64> = row.seconds.iter().zip(&other.seconds).map(|(a, b)| (a / b).ln()).collect();
        let Interval { lower, estimate, upper } = sign::interval(&logarithms, 0.05);
        let ratio = Interval { lower: lower.exp(), estimate: estimate.exp(), upper: upper.exp() };
        row.beside = Some(Yardstick { name: yardstick.to_owned(), ratio });
    }
}

/// Returns a part of a name without commas and spaces at its start and end.
fn bare(part: &str) -> &str {
    part.trim_matches([',', ' '])
}

fn same(one: &GenerationRow, other: &GenerationRow) -> bool {
    let place = |row: &GenerationRow| [&row.workload, &row.operation, &row.set, &row.contents].map(String::clone);
    place(one) == place(other)
}

fn has_times(row: &GenerationRow) -> bool {
    row.rate.is_some() && !row.seconds.is_empty()
}

fn middle(row: &GenerationRow) -> f64 {
    median(&mut row.seconds.clone())
}

fn ratio(these: &[f64], those: &[f64]) -> Option<f64> {
    let mut ratios: Vec<f64> = these.iter().zip(those).map(|(a, b)| a / b).collect();
    (!ratios.is_empty()).then(|| median(&mut ratios))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(operation: &str, variant: &str, role: Role, seconds: &[f64]) -> GenerationRow {
        GenerationRow {
            operation: operation.to_owned(),
            variant: variant.to_owned(),
            role,
            seconds: seconds.to_vec(),
            amount: 1e9,
            rate: Some(1e9 / MIB / median(&mut seconds.to_vec())),
            peak_memory: Some(12 << 20),
            rounds: seconds.len(),
            ..GenerationRow::default()
        }
    }

    fn rows() -> Vec<GenerationRow> {
        vec![
            row("seal, short", "ours", Role::Own, &[1.0, 2.0, 30.0]),
            row("seal, short", "cp", Role::Limit, &[2.0, 4.0, 10.0]),
            row("seal, short", "age", Role::Peer, &[3.0, 3.0, 3.0]),
            row("seal, long", "ours", Role::Own, &[1.1, 2.2, 33.0]),
            GenerationRow { rate: None, ..row("open", "ours", Role::Own, &[]) },
        ]
    }

    fn outcome(goal: Goal) -> (TargetOutcome, usize, usize) {
        let verdict = goal.judge("files", &rows());
        (verdict.outcome, verdict.met, verdict.of)
    }

    #[test]
    fn ratios_are_those_within_a_round() {
        let mut rows = rows();
        beside(&mut rows, "cp");
        let ratio = rows[0].beside.as_ref().unwrap().ratio;
        assert!((ratio.estimate - 0.5).abs() < 1e-12 && ratio.covers(0.5) && rows[1].beside.is_none(), "{ratio:?}");
        assert!(rows[3].beside.is_none(), "another operation");
    }

    #[test]
    fn each_bound_is_met_at_its_limit_and_missed_beyond_it() {
        use TargetOutcome::{Met, Missed, Skipped};
        for (goal, expected) in [
            (Goal::times(0.5, "cp"), (Met, 1, 1)),
            (Goal::times(0.49, "cp"), (Missed, 0, 1)),
            (Goal::times(0.5, "cp|age"), (Met, 1, 1)),
            (Goal::times(0.5, "tar"), (Skipped, 0, 0)),
            (Goal::fastest_peer(0.67), (Met, 1, 1)),
            (Goal::over(0.9, "ours").by("age"), (Missed, 0, 1)),
            (Goal::over(20.0, "cp"), (Met, 1, 1)),
            (Goal::seconds(2.1), (Missed, 1, 2)),
            (Goal::seconds(2.1).in_part("short"), (Met, 1, 1)),
            (Goal::seconds(2.1).in_part("open"), (Skipped, 0, 0)),
            (Goal::seconds(2.5).at(0..=9), (Skipped, 0, 0)),
            (Goal::seconds(2.9).by("age"), (Missed, 0, 1)),
            (Goal::rate(430.0), (Met, 2, 2)),
            (Goal::rate(440.0), (Missed, 1, 2)),
            (Goal::peak(12.0), (Met, 2, 2)),
            (Goal::alike(0.1, "long", "short"), (Met, 1, 1)),
            (Goal::alike(0.09, "short", "long"), (Missed, 0, 1)),
        ] {
            let what = format!("{goal:?}");
            assert_eq!(outcome(goal), expected, "{what}");
        }
    }

    #[test]
    fn a_verdict_names_its_goal_and_what_misses_it() {
        let verdict = Goal::times(0.4, "cp").in_part("short").judge("files", &rows());
        assert_eq!(verdict.goal, "files, short: at most 0.4 × cp");
        assert_eq!(verdict.measured, "0.5 × cp (seal, short, ours)");
    }
}
