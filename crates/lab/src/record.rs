//! What a run leaves behind: one JSON document, from which every table and picture is drawn.
//!
//! Times are in nanoseconds per call unless a name says otherwise.

mod generations;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use generations::{BesideLimit, GenerationRow, Generations, Role, SetFacts, TargetOutcome, TargetVerdict};

/// The form of these documents; a change that readers must know about raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of the lab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What measured.
    pub tool: Tool,
    /// Where it was measured.
    pub machine: Machine,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether it was ended before everything was measured.
    #[serde(default)]
    pub interrupted: bool,
    /// The command that reproduces it.
    pub command: String,
    /// Timing verdicts.
    #[serde(default)]
    pub timing: Vec<Timing>,
    /// Speeds.
    #[serde(default)]
    pub speed: Vec<Speed>,
    /// Two things against each other.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// What the machine can do at most.
    #[serde(default)]
    pub baselines: Vec<Baseline>,
    /// Whole workloads on sets of given sizes.
    #[serde(default)]
    pub generations: Option<Generations>,
    /// The error rates that the verdicts rest on.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// What the selftest found.
    #[serde(default)]
    pub selftest: Vec<Check>,
}

/// What measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tool {
    /// The package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of the sources, where they are under git.
    pub revision: Option<String>,
    /// The digest of the program that was measured.
    pub binary_sha256: Option<String>,
}

/// Where it was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name, family and model.
    pub cpu: String,
    /// The instruction set, `x86_64`.
    pub architecture: String,
    /// The operating system and its kernel.
    pub system: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// The hypervisor, where one shows itself.
    pub hypervisor: Option<String>,
    /// The load average over one minute when the run began.
    pub load: Option<f64>,
    /// The clock that was read.
    pub clock: ClockFacts,
}

/// The clock that was read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClockFacts {
    /// `rdtsc`, `cntvct_el0`, `system`.
    pub name: String,
    /// Ticks in a second.
    pub hertz: f64,
    /// The smallest step the clock makes, in nanoseconds.
    pub step_ns: f64,
    /// What reading it twice takes, in nanoseconds.
    pub overhead_ns: f64,
}

/// A number with its 95 % interval, or with the level that stands beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower bound.
    pub lower: f64,
    /// The estimate.
    pub estimate: f64,
    /// The upper bound.
    pub upper: f64,
}

impl Interval {
    /// Whether `value` lies inside.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Both bounds and the estimate, times `factor`, which is positive.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { lower: self.lower * factor, estimate: self.estimate * factor, upper: self.upper * factor }
    }

    /// The bound that is further from zero, without its sign.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }
}

/// What a timing run says. The order is that of severity for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// No difference was found, and one above the stated bound would have shown.
    NoLeakAbove,
    /// A real difference, smaller than what was asked for.
    BelowThreshold,
    /// Too fast for the clock to see.
    Unmeasurable,
    /// Neither a leak nor its absence could be shown.
    Inconclusive,
    /// A control failed: nothing may be said.
    Invalid,
    /// A difference that was found, found again on fresh data, and is beyond the threshold.
    Leak,
}

impl Verdict {
    /// The exit code that stands for it.
    #[must_use]
    pub fn exit_code(self, strict: bool) -> u8 {
        match self {
            Self::NoLeakAbove => 0,
            Self::BelowThreshold if strict => 11,
            Self::BelowThreshold => 0,
            Self::Leak => 10,
            Self::Inconclusive => 20,
            Self::Invalid => 30,
            Self::Unmeasurable => 31,
        }
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoLeakAbove => "NO_LEAK_ABOVE",
            Self::BelowThreshold => "BELOW_THRESHOLD",
            Self::Unmeasurable => "UNMEASURABLE",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Invalid => "INVALID",
            Self::Leak => "LEAK",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// One target's timing verdicts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// The target, from the general to the special, with dots: `base64.encoding`.
    pub target: String,
    /// Bytes of input.
    pub length: usize,
    /// How often one measurement calls the function on the same input.
    pub repeats: u32,
    /// How it was decided.
    pub design: Design,
    /// Each class by itself.
    pub classes: Vec<Class>,
    /// Each pair of classes that was compared.
    pub pairs: Vec<Pair>,
    /// What the single-stepped trace showed.
    pub trace: Option<Trace>,
    /// The most severe of the pairs' verdicts.
    pub verdict: Verdict,
}

/// How a verdict was come to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Design {
    /// Pairs in a batch, the unit of inference.
    pub pairs_per_batch: usize,
    /// The sizes, in batches, at which the data were looked at.
    pub looks: Vec<usize>,
    /// The chance of a false alarm, over all looks and all pairs of classes of this target.
    pub alpha: f64,
    /// The difference that counts as a leak, in nanoseconds per call.
    pub delta_ns: f64,
    /// The seed of order and inputs.
    pub seed: u64,
}

/// One class of inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// How many measurements stand behind the quantiles and the histogram.
    pub samples: u64,
    /// The clock's overhead is taken off.
    pub quantiles: Vec<Quantile>,
    /// Of the same measurements, between their 0.1 and 99 % quantiles.
    pub histogram: Histogram,
    /// Time per call by regression over the number of calls.
    pub estimates: Option<Estimates>,
}

/// One quantile.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quantile {
    /// In 0..1.
    pub at: f64,
    /// Nanoseconds per call.
    pub ns: f64,
}

/// Counts in steps of equal width.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// Where the first step begins.
    pub start_ns: f64,
    /// How wide each is.
    pub step_ns: f64,
    /// How many measurements fell into each.
    pub counts: Vec<u64>,
}

/// What readers know from a measurement report, each with its 95 % interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Estimates {
    /// Of time over iterations.
    pub slope: Interval,
    /// Of time per call.
    pub mean: Interval,
    /// Of time per call.
    pub median: Interval,
    /// The median absolute deviation from the median.
    pub mad: Interval,
    /// How much of the variation the line explains, in 0..1.
    pub r_squared: f64,
    /// Measurements that lie beyond the outer fences (three quartile ranges); they are in all figures.
    pub outliers: usize,
    /// How long was run before measuring, in seconds.
    pub warm_up_seconds: f64,
    /// Each measurement: calls, nanoseconds for all of them.
    pub points: Vec<[f64; 2]>,
}

/// Two classes against each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The first class.
    pub a: String,
    /// The second. Differences are second minus first.
    pub b: String,
    /// What it comes to.
    pub verdict: Verdict,
    /// In words.
    pub reason: String,
    /// Of the test, over all looks.
    pub p: f64,
    /// After Holm's correction over the pairs of this target.
    pub p_holm: f64,
    /// The p-value on fresh data, where a finding repeated there.
    #[serde(default)]
    pub confirmed: Option<f64>,
    /// Batches that were measured.
    pub batches: usize,
    /// The statistics, with intervals that hold together at 1 − α.
    pub effects: Vec<Effect>,
    /// The raw mean, with its own wide interval.
    pub raw_mean: Interval,
    /// No difference above this, up to the 95 % quantile.
    pub bound_ns: f64,
    /// The same for the slowest calls, up to the 99.9 % quantile.
    pub tail_bound_ns: f64,
    /// The smallest shift that would have been found nine times in ten.
    pub mde_ns: f64,
    /// How many more pairs of calls would settle it.
    pub more_pairs: Option<u64>,
    /// The controls that ran between the measurements.
    pub controls: Controls,
    /// What was known at each look.
    pub funnel: Vec<Look>,
    /// The difference of the winsorised mean, group by group, in order of time.
    pub series: Vec<f64>,
    /// Correlation of the times of successive batches, lag 1 upwards.
    pub autocorrelation: Vec<f64>,
    /// The difference of the distribution functions: nanoseconds, second minus first.
    pub ecdf: Vec<[f64; 2]>,
    /// Seconds of measuring, controls included.
    pub seconds: f64,
    /// Every single time in ticks of the clock, first class and second, in order of measuring, where they were to be kept. Not in the JSON.
    #[serde(skip)]
    pub times: [Vec<u32>; 2],
    /// The file that holds them: 32 bits each, little-endian, a time of the first class and one of the second in turn.
    #[serde(default)]
    pub raw: Option<String>,
}

/// One statistic's difference.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Effect {
    /// `mean to p90`, `p50`.
    pub name: String,
    /// For a quantile, which one.
    pub quantile: Option<f64>,
    /// The difference, second class minus first, per call.
    pub difference: Interval,
    /// What counts as a leak in this statistic.
    pub tolerance_ns: f64,
}

/// What ran between the measurements to show that they can be trusted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Controls {
    /// One class against itself: must not be found.
    pub same: Control,
    /// The target with a delay added: must be found.
    pub delay: Control,
    /// A function of like cost that leaks: must be found.
    pub leak: Control,
}

/// One control.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Control {
    /// Of the test.
    pub p: f64,
    /// The difference it showed.
    pub difference: Interval,
    /// Whether it came out as it must.
    pub passed: bool,
    /// How large the difference was meant to be; zero where that is not laid down.
    pub meant_ns: f64,
}

/// The state at one look.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Look {
    /// Batches so far.
    pub batches: usize,
    /// Of this look alone.
    pub p: f64,
    /// The winsorised mean's difference.
    pub difference: Interval,
}

/// What the single-stepped trace showed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// Inputs whose traces were compared.
    pub secrets: usize,
    /// Instructions in one trace.
    pub instructions: u64,
    /// Whether instruction addresses and memory addresses were the same, in order.
    pub equal: bool,
    /// Where the first two traces part, as a source line.
    pub divergence: Option<String>,
    /// Instructions that ran whose time depends on their operands, with how often.
    pub variable_latency: Vec<VariableLatency>,
    /// Masked loads and stores that ran. Their masks choose bytes at one address, and may differ between secrets.
    #[serde(default)]
    pub masked: Vec<VariableLatency>,
    /// Instruction sets that ran: `AVX512`, `VAES`.
    pub instruction_sets: Vec<String>,
    /// Why there is no trace.
    pub skipped: Option<String>,
}

/// An instruction whose time depends on its operands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct VariableLatency {
    /// The instruction: `div`.
    pub instruction: String,
    /// Where it stands.
    pub place: String,
    /// How often it ran.
    pub count: u64,
    /// Whether its operands differed between secrets.
    pub secret: bool,
}

/// One speed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// The target, with dots.
    pub target: String,
    /// What the input is: `16 KiB`.
    pub size: String,
    /// Bytes for one call.
    pub bytes: u64,
    /// Time for one call.
    pub estimates: Estimates,
    /// Bytes in a second.
    pub bytes_per_second: Interval,
    /// Against the stored baseline.
    pub change: Option<Change>,
    /// The time as a multiple of the yardstick's, in the same run: `memcpy`.
    pub yardstick: Option<Yardstick>,
}

/// Against an earlier run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Change {
    /// When the baseline was measured.
    pub since: String,
    /// New time over old time.
    pub ratio: Interval,
    /// Of no change.
    pub p: f64,
    /// Changes inside this are noise.
    pub margin: f64,
    /// What it comes to.
    pub outcome: Outcome,
}

/// What the time was measured against.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Yardstick {
    /// Its name.
    pub name: String,
    /// Time over the yardstick's time.
    pub ratio: Interval,
}

/// The outcome of a comparison of speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No difference beyond the margin.
    Same,
    /// The second (the new one) takes less time.
    Faster,
    /// It takes more.
    Slower,
}

/// Two functions or two programs against each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The first.
    pub a: Contestant,
    /// The second.
    pub b: Contestant,
    /// Time of the second over time of the first: the median of the rounds' ratios, 99 % interval.
    pub ratio: Interval,
    /// Ratios within this of one count as the same.
    pub margin: f64,
    /// Rounds of A B B A.
    pub rounds: usize,
    /// Whether and how they differ.
    pub outcome: Outcome,
    /// Something well known, timed in the same series.
    pub yardstick: Option<Contestant>,
    /// The rounds' ratios in order.
    pub ratios: Vec<f64>,
}

/// One side of a comparison. Seconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Contestant {
    /// A name or a command line.
    pub name: String,
    /// Wall-clock time: lower quartile, median, upper quartile.
    pub wall: Interval,
    /// The least wall-clock time.
    pub wall_minimum: f64,
    /// Time on processors in user mode, likewise; programs only.
    pub user: Option<Interval>,
    /// In the kernel.
    pub system: Option<Interval>,
    /// The largest resident memory in bytes.
    pub peak_memory: Option<u64>,
    /// Bytes in a second, where the amount of data is known.
    pub bytes_per_second: Option<f64>,
}

/// What the machine can do.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Baseline {
    /// `memcpy`, `file read`, `integer`.
    pub name: String,
    /// Per second.
    pub rate: Interval,
    /// `bytes`, `operations`.
    pub unit: String,
}

/// How often the lab errs on this machine, measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Calibration {
    /// When.
    pub started: String,
    /// On what.
    pub cpu: String,
    /// With which program.
    pub binary_sha256: Option<String>,
    /// The α that was asked for.
    pub alpha: f64,
    /// By cost of the target.
    pub levels: Vec<CalibrationLevel>,
}

/// At one cost of the target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CalibrationLevel {
    /// What one call takes.
    pub cost_ns: f64,
    /// Runs in which nothing leaked.
    pub runs: u64,
    /// How many of them the test rejected.
    pub rejected: u64,
    /// How many ended as LEAK.
    pub leaks: u64,
    /// The rate of rejections with its exact 95 % interval (Clopper and Pearson).
    pub rate: Interval,
    /// Delays that were injected, and how often they were found.
    pub power: Vec<Power>,
}

/// One point of the power curve.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Power {
    /// The delay in nanoseconds, as measured.
    pub delay_ns: f64,
    /// Runs.
    pub runs: u64,
    /// Runs that found it.
    pub found: u64,
    /// The rate with its exact 95 % interval.
    pub rate: Interval,
}

/// One point of the selftest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// What must hold.
    pub what: String,
    /// How many runs.
    pub runs: u64,
    /// In how many it was so.
    pub found: u64,
    /// The rate with its exact 95 % interval.
    pub rate: Interval,
    /// The bar in words: `at most 1.5 %`.
    pub wanted: String,
    /// More about it.
    pub detail: String,
    /// Whether the bar was met; none where it was skipped.
    pub passed: Option<bool>,
}
