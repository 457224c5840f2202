//! One table of whole workloads: rows of rates, and what they come to beside the figures to beat.

use serde::{Deserialize, Serialize};

/// Whole workloads on sets of given sizes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generations {
    /// What all sizes were multiplied by.
    pub scale: f64,
    /// What was worked on.
    pub sets: Vec<SetFacts>,
    /// In the order of the table. Rows of one set, contents, workload and operation stand together.
    pub rows: Vec<GenerationRow>,
    /// Beside the figures to beat.
    pub targets: Vec<TargetVerdict>,
    /// What was left out, and why; what else a reader must know.
    pub notes: Vec<String>,
}

/// One set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SetFacts {
    /// Its letter.
    pub name: String,
    /// In words.
    pub what: String,
    /// Bytes in it.
    pub bytes: u64,
}

/// One way to do one operation on one set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerationRow {
    /// The letter of the set; empty where the workload has none.
    pub set: String,
    /// `zero`, `random`; empty where there are none.
    pub contents: String,
    /// `file, key`.
    pub workload: String,
    /// `seal`, `open`.
    pub operation: String,
    /// `one core`, `all cores`, or another program.
    pub variant: String,
    /// What it is here for.
    pub role: Role,
    /// What it does, with places in braces.
    pub command: String,
    /// `MiB/s`, `Mop/s`.
    pub unit: String,
    /// The amount of work: bytes, or operations.
    pub amount: f64,
    /// Seconds of each round, in their order.
    pub seconds: Vec<f64>,
    /// The median rate.
    pub rate: Option<f64>,
    /// The rate of the fastest round, which took the least time.
    pub fastest: Option<f64>,
    /// The least time in seconds.
    pub minimum: Option<f64>,
    /// The median rate as a multiple of the first row's.
    pub ratio: Option<f64>,
    /// The median of user and system time together, of whole programs.
    pub processor_seconds: Option<f64>,
    /// The largest resident memory over all rounds, in bytes, where it is above what the measuring process itself holds.
    pub peak_memory: Option<u64>,
    /// How many rounds there are.
    pub rounds: usize,
    /// Why there is no figure.
    pub skipped: Option<String>,
}

/// What a row is here for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What is measured.
    #[default]
    Own,
    /// The least that has to be done with these bytes: nothing that does more can be much faster.
    Limit,
    /// What a user would run instead.
    Peer,
}

/// One figure to beat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetVerdict {
    /// As in the rows.
    pub workload: String,
    /// As in the rows.
    pub operation: String,
    /// As in the rows.
    pub set: String,
    /// The contents that were slower, which count.
    pub contents: String,
    /// The figure to beat.
    pub beat: f64,
    /// What is wanted.
    pub wanted: f64,
    /// What was measured.
    pub rate: Option<f64>,
    /// The rate as a multiple of each limit's.
    pub limits: Vec<BesideLimit>,
    /// What it comes to.
    pub outcome: TargetOutcome,
    /// In words.
    pub reason: String,
}

/// A rate beside a limit's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BesideLimit {
    /// The limit.
    pub name: String,
    /// The rate over the limit's rate.
    pub ratio: f64,
}

/// What a target comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetOutcome {
    /// As fast as wanted.
    Met,
    /// Not as fast as wanted, but nearly as fast as this machine moves the bytes at all.
    AtLimit,
    /// Neither.
    Missed,
    /// Not measured.
    Skipped,
}

impl TargetOutcome {
    /// In words.
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
