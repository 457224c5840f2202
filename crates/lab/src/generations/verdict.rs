//! Compares measured rates with target rates and with limits. A limit is the rate of a program that does only the
//! minimum of work for the same bytes.

use crate::record::{BesideLimit, GenerationRow, Role, TargetOutcome, TargetVerdict};
use crate::speed::workload::{ALL_CORES, Workload};

/// A program meets a target if its measured rate is at least the target rate times this factor.
pub const WANTED: f64 = 1.5;
/// A program reaches a limit if its measured rate is at least the limit's rate times this factor. If the program's rate
/// is above the limit's rate divided by this factor, the measured rate of the limit is too low. A limit whose measured
/// rate is too low is evidence only if the program reaches all other limits too.
pub const AT_LIMIT: f64 = 0.9;

/// Returns a verdict for each target rate and each set. Each verdict is about the rate on all cores, with the kind of
/// contents (zeros or random bytes) that has the lower rate.
#[must_use]
pub fn judge(workloads: &[Workload], rows: &[GenerationRow]) -> Vec<TargetVerdict> {
    let mut verdicts: Vec<TargetVerdict> = Vec::new();
    for row in rows.iter().filter(|row| row.role == Role::Own && row.variant == ALL_CORES) {
        let workload = workloads.iter().find(|workload| workload.name == row.workload);
        let operation =
            workload.and_then(|workload| workload.operations.iter().find(|operation| operation.name == row.operation));
        let Some(beat) = operation.and_then(|operation| operation.beat) else { continue };
        let verdict = verdict(row, rows, beat);
        match verdicts.iter_mut().find(|other| same_target(other, &verdict)) {
            Some(other) if slower(&verdict, other) => *other = verdict,
            Some(_) => {}
            None => verdicts.push(verdict),
        }
    }
    verdicts
}

fn same_target(one: &TargetVerdict, other: &TargetVerdict) -> bool {
    one.workload == other.workload && one.operation == other.operation && one.set == other.set
}

/// A rate that was not measured is treated as zero.
fn slower(one: &TargetVerdict, other: &TargetVerdict) -> bool {
    one.rate.unwrap_or(0.0) < other.rate.unwrap_or(0.0)
}

fn verdict(row: &GenerationRow, rows: &[GenerationRow], beat: f64) -> TargetVerdict {
    let limits = limits(row, rows);
    let beyond_all = limits.iter().all(|limit| limit.ratio >= AT_LIMIT);
    let is_reached = |limit: &&BesideLimit| limit.ratio >= AT_LIMIT && (beyond_all || limit.ratio <= 1.0 / AT_LIMIT);
    let mut reached = limits.iter().filter(is_reached).map(|limit| limit.name.as_str());
    let beside: Vec<String> = limits.iter().map(|limit| format!("{:.2} × {}", limit.ratio, limit.name)).collect();
    let beside = if beside.is_empty() { "no limit was measured".to_owned() } else { beside.join(", ") };
    let (outcome, reason) = match (row.rate, reached.next()) {
        (None, _) => (TargetOutcome::Skipped, row.skipped.clone().unwrap_or_else(|| "not measured".to_owned())),
        (Some(rate), _) if rate >= WANTED * beat => {
            (TargetOutcome::Met, format!("{:.2} × the target; {beside}", rate / beat))
        }
        (Some(rate), Some(limit)) => {
            (TargetOutcome::AtLimit, format!("the limit is {limit}: {beside}; {:.2} × the target", rate / beat))
        }
        (Some(rate), None) => (TargetOutcome::Missed, format!("{:.2} × the target; {beside}", rate / beat)),
    };
    TargetVerdict {
        workload: row.workload.clone(),
        operation: row.operation.clone(),
        set: row.set.clone(),
        contents: row.contents.clone(),
        beat,
        wanted: WANTED * beat,
        rate: row.rate,
        limits,
        outcome,
        reason,
    }
}

/// For each limit that was measured in the same rounds, returns the rate of `row` divided by the rate of the limit. The
/// slowest limit comes last.
fn limits(row: &GenerationRow, rows: &[GenerationRow]) -> Vec<BesideLimit> {
    let beside = |other: &&GenerationRow| {
        other.role == Role::Limit
            && other.workload == row.workload
            && other.operation == row.operation
            && other.set == row.set
            && other.contents == row.contents
    };
    let ratio =
        |limit: &GenerationRow| Some(BesideLimit { name: limit.variant.clone(), ratio: row.rate? / limit.rate? });
    let mut limits: Vec<BesideLimit> = rows.iter().filter(beside).filter_map(ratio).collect();
    limits.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed::workload::{Action, Operation, Subject, Way};

    fn workloads() -> Vec<Workload> {
        vec![Workload::new(
            "file, key",
            Subject::File,
            vec![Operation::new("seal").beat(1000.0), Operation::new("open")],
            vec![Way::own([Action::Run("{self}"), Action::Run("{self}")])],
        )]
    }

    fn row(variant: &str, role: Role, contents: &str, rate: Option<f64>) -> GenerationRow {
        GenerationRow {
            set: "A".to_owned(),
            contents: contents.to_owned(),
            workload: "file, key".to_owned(),
            operation: "seal".to_owned(),
            variant: variant.to_owned(),
            role,
            rate,
            skipped: rate.is_none().then(|| "this build has no such command".to_owned()),
            ..GenerationRow::default()
        }
    }

    fn outcome(own: Option<f64>, limits: &[(&str, f64)]) -> TargetVerdict {
        let mut rows = vec![row("one core", Role::Own, "zero", Some(9e9)), row("all cores", Role::Own, "zero", own)];
        rows.extend(limits.iter().map(|(name, rate)| row(name, Role::Limit, "zero", Some(*rate))));
        rows.push(row("age", Role::Peer, "zero", Some(1.0)));
        let mut verdicts = judge(&workloads(), &rows);
        assert_eq!(verdicts.len(), 1);
        verdicts.remove(0)
    }

    #[test]
    fn a_target_is_met_at_one_and_a_half_times_its_rate_whatever_the_limits() {
        assert_eq!(outcome(Some(1500.0), &[]).outcome, TargetOutcome::Met);
        assert_eq!(outcome(Some(1500.0), &[("cp", 9000.0)]).outcome, TargetOutcome::Met);
        assert_eq!(outcome(Some(1499.9), &[("cp", 9000.0)]).outcome, TargetOutcome::Missed);
    }

    #[test]
    fn a_rate_within_a_tenth_of_a_limit_is_at_the_limit_and_names_it() {
        let found = outcome(Some(900.0), &[("cp", 1000.0), ("plain write", 1800.0)]);
        assert_eq!(found.outcome, TargetOutcome::AtLimit);
        assert_eq!(found.reason, "the limit is cp: 0.50 × plain write, 0.90 × cp; 0.90 × the target");
        assert_eq!(outcome(Some(899.0), &[("cp", 1000.0), ("plain write", 1800.0)]).outcome, TargetOutcome::Missed);
    }

    /// Other load on the machine can slow down a program while the rate of a limit is measured. If a program is faster
    /// than a limit whose rate was measured too low, the comparison with this limit proves nothing.
    #[test]
    fn a_limit_that_is_exceeded_does_not_count_while_another_is_not_reached() {
        assert_eq!(outcome(Some(900.0), &[("cp", 1200.0), ("plain write", 500.0)]).outcome, TargetOutcome::Missed);
        let found = outcome(Some(900.0), &[("cp", 600.0), ("plain write", 500.0)]);
        assert_eq!(found.outcome, TargetOutcome::AtLimit);
        assert!(found.reason.starts_with("the limit is cp: 1.50 × cp, 1.80 × plain write"), "{}", found.reason);
    }

    #[test]
    fn without_limits_a_target_is_met_or_missed() {
        let found = outcome(Some(1200.0), &[]);
        assert_eq!((found.outcome, found.wanted), (TargetOutcome::Missed, 1500.0));
        assert_eq!(found.reason, "1.20 × the target; no limit was measured");
    }

    #[test]
    fn an_operation_that_was_not_measured_is_skipped_with_its_reason() {
        let found = outcome(None, &[("cp", 1000.0)]);
        assert_eq!((found.outcome, found.reason.as_str()), (TargetOutcome::Skipped, "this build has no such command"));
        assert!(found.limits.is_empty());
    }

    #[test]
    fn the_slower_contents_count_and_an_operation_without_target_is_not_judged() {
        let mut open = row("all cores", Role::Own, "zero", Some(1.0));
        open.operation = "open".to_owned();
        let rows = [
            row("all cores", Role::Own, "zero", Some(1600.0)),
            row("all cores", Role::Own, "random", Some(1400.0)),
            open,
        ];
        let verdicts = judge(&workloads(), &rows);
        assert_eq!(verdicts.len(), 1);
        assert_eq!((verdicts[0].contents.as_str(), verdicts[0].outcome), ("random", TargetOutcome::Missed));
    }
}
