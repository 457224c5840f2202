//! The table of whole workloads: rows with rates, and the comparison of these rates with the target rates.

use serde::{Deserialize, Serialize};

use super::Yardstick;

/// The results of whole workloads on data sets of given sizes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generations {
    /// The factor by which all sizes were multiplied.
    pub scale: f64,
    /// The sets that were chosen.
    pub sets: Vec<SetFacts>,
    /// The rows, in the order of the table. Rows with the same set, contents, workload and operation are adjacent.
    pub rows: Vec<GenerationRow>,
    /// The comparisons of measured rates with target rates.
    pub targets: Vec<TargetVerdict>,
    /// Notes about sets that were not measured, and about conditions that affect the figures.
    pub notes: Vec<String>,
    /// The title of the page. The table of generations has an empty title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The facts that a reader of the page has to know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The comparison with each goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalVerdict>,
}

/// The result of comparing the measured rows with one goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// The goal in words: `seal: at most 0.80 × cp`.
    pub goal: String,
    /// The number of rows that meet the goal.
    pub met: usize,
    /// The number of measured rows to which the goal applies.
    pub of: usize,
    /// Whether all rows to which the goal applies meet the goal.
    pub outcome: TargetOutcome,
    /// The rows that miss the goal. If no row misses the goal, the field contains the row that is closest to missing
    /// the goal.
    pub measured: String,
}

/// One set of the table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SetFacts {
    /// The letter of the set.
    pub name: String,
    /// The description of the set, for example `a file of 300 MiB`.
    pub what: String,
    /// The number of bytes in the set.
    pub bytes: u64,
}

/// The measurement of one variant of one operation on one set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerationRow {
    /// The letter of the data set, or an empty string for workloads without a set.
    pub set: String,
    /// The contents, `zero` or `random`; empty for workloads without input.
    pub contents: String,
    /// The name of the workload, for example `file, key`.
    pub workload: String,
    /// The name of the operation, for example `seal`.
    pub operation: String,
    /// The name of the variant: The name of the variant: `one core`, `all cores`, or the name of a limit or of another
    /// program.
    pub variant: String,
    /// The role of the variant.
    pub role: Role,
    /// The command that was run. Words in braces replace the paths.
    pub command: String,
    /// The unit of the rate: `MiB/s` or `Mop/s`.
    pub unit: String,
    /// The amount of work: bytes, or operations.
    pub amount: f64,
    /// The seconds that each round took, in order.
    pub seconds: Vec<f64>,
    /// The median rate.
    pub rate: Option<f64>,
    /// The rate of the fastest round.
    pub fastest: Option<f64>,
    /// The time of the fastest round in seconds.
    pub minimum: Option<f64>,
    /// The median rate relative to the median rate of the first row of the same operation.
    pub ratio: Option<f64>,
    /// The median of the processor time in seconds. The time includes user mode and the operating system's kernel. A
    /// row for a kernel (a function that is timed alone) has no processor time.
    pub processor_seconds: Option<f64>,
    /// The largest resident memory over all rounds, in bytes. `None` if the measuring process itself has more resident
    /// memory.
    pub peak_memory: Option<u64>,
    /// The number of rounds.
    pub rounds: usize,
    /// The reason why the row has no figures.
    pub skipped: Option<String>,
    /// The time of this row divided by the time of the yardstick variant in the same rounds, if the table has a
    /// yardstick variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Yardstick>,
}

/// The role of a variant in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The program whose speed the table measures.
    #[default]
    Own,
    /// A limit: a program that does only the minimum of work for the same bytes, such as `cp`. A program that does more
    /// work on the same bytes cannot be much faster than a limit.
    Limit,
    /// Another program for the same purpose.
    Peer,
}

/// The comparison of a measured rate with a target rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetVerdict {
    /// The name of the workload.
    pub workload: String,
    /// The name of the operation.
    pub operation: String,
    /// The letter of the set.
    pub set: String,
    /// The contents with the lower rate. The kind of contents to which the verdict applies.
    pub contents: String,
    /// The target rate.
    pub beat: f64,
    /// The rate that is needed to meet the target.
    pub wanted: f64,
    /// The measured rate.
    pub rate: Option<f64>,
    /// The rate relative to each limit.
    pub limits: Vec<BesideLimit>,
    /// Whether the target was met.
    pub outcome: TargetOutcome,
    /// The reason for the outcome, in words.
    pub reason: String,
}

/// A rate relative to the rate of a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BesideLimit {
    /// The name of the limit.
    pub name: String,
    /// The rate divided by the rate of the limit.
    pub ratio: f64,
}

/// The result of comparing a measured rate with a target rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetOutcome {
    /// The target was met.
    Met,
    /// The program missed the target rate, but its rate is close to the rate of a limit.
    AtLimit,
    /// The program missed the target rate and reached no limit.
    Missed,
    /// The operation was not measured.
    Skipped,
}

impl TargetOutcome {
    /// Returns the outcome in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::AtLimit => "at the limit",
            Self::Missed => "missed",
            Self::Skipped => "skipped",
        }
    }
}
