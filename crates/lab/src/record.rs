//! The record of a run. A record of a run is one JSON document. The lab creates all tables and charts from records.
//!
//! Times are in nanoseconds per call, unless the name of a field says otherwise.

mod generations;
pub(crate) mod sentence;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use generations::{
    BesideLimit, GenerationRow, Generations, GoalVerdict, Role, SetFacts, TargetOutcome, TargetVerdict,
};

/// The version of the record's schema. The version increases if programs that read records must be changed because the
/// schema has changed.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of the lab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// The version of the schema. A record that this version of the crate writes contains [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The program that made the measurements.
    pub tool: Tool,
    /// The machine.
    pub machine: Machine,
    /// The time when the run began, in UTC and in the format of RFC 3339.
    pub started: String,
    /// The length of the run in seconds.
    pub seconds: f64,
    /// Whether the run was interrupted before all its measurements were complete.
    #[serde(default)]
    pub interrupted: bool,
    /// The command that repeats the run.
    pub command: String,
    /// Timing verdicts.
    #[serde(default)]
    pub timing: Vec<Timing>,
    /// Speeds.
    #[serde(default)]
    pub speed: Vec<Speed>,
    /// Comparisons of two functions or programs.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// The highest rates that the machine reaches for memory, files and arithmetic.
    #[serde(default)]
    pub baselines: Vec<Baseline>,
    /// The results of whole workloads on data sets of given sizes.
    #[serde(default)]
    pub generations: Option<Generations>,
    /// The lab's error rates on this machine.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// The results of the selftest.
    #[serde(default)]
    pub selftest: Vec<Check>,
}

/// The program that made the measurements.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tool {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// The git revision of the program's sources, if it is known.
    pub revision: Option<String>,
    /// The SHA-256 digest of the program's file.
    pub binary_sha256: Option<String>,
}

/// The machine on which the run took place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name, family and model.
    pub cpu: String,
    /// The instruction set, for example `x86_64`.
    pub architecture: String,
    /// The operating system and the version of its kernel.
    pub system: String,
    /// The number of processors that this process may use.
    pub processors: usize,
    /// The name of the hypervisor, if the processor reports one.
    pub hypervisor: Option<String>,
    /// The load average over one minute when the run began.
    pub load: Option<f64>,
    /// The clock that measured the times.
    pub clock: ClockFacts,
}

/// The properties of the clock that measured the times.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClockFacts {
    /// The clock's name: `rdtsc`, `cntvct_el0` or `system`, for example.
    pub name: String,
    /// The number of ticks per second.
    pub hertz: f64,
    /// The smallest step of the clock, in nanoseconds.
    pub step_ns: f64,
    /// The time between two consecutive readings of the clock, in nanoseconds.
    pub overhead_ns: f64,
}

/// An estimate with its interval. The confidence level is 95 %, unless the description of a field states another level.
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
    /// Returns whether `value` lies inside the interval or on a bound.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Returns the interval with both bounds and the estimate multiplied by `factor`. The factor must be positive.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { lower: self.lower * factor, estimate: self.estimate * factor, upper: self.upper * factor }
    }

    /// Returns the absolute value of the bound that is farther from zero.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }
}

/// The verdict about one or more pairs of classes. The variants are sorted from the least severe to the most severe
/// verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The test found no difference, and would probably have found a difference above the stated bound.
    NoLeakAbove,
    /// The classes really differ, but by less than the threshold.
    BelowThreshold,
    /// A call is so short that the clock cannot measure it.
    Unmeasurable,
    /// The run proves neither that there is a leak nor that there is no leak.
    Inconclusive,
    /// A control measurement failed, so the results of the run are invalid.
    Invalid,
    /// The test found a difference above the threshold, and found the same difference again in new data.
    Leak,
}

impl Verdict {
    /// All verdicts, in the order in which tables and guides list them.
    pub const ALL: [Self; 6] =
        [Self::NoLeakAbove, Self::BelowThreshold, Self::Leak, Self::Inconclusive, Self::Invalid, Self::Unmeasurable];

    /// Returns the exit code for this verdict. If `strict` is true, a difference below the threshold has a separate
    /// exit code.
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

    /// Returns the verdict's name in reports.
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

/// The timing verdicts about one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// The name of the target. The parts of the name are separated by dots, and the most general part comes first:
    /// `base64.encoding`.
    pub target: String,
    /// The length of an input in bytes. The length is zero for inputs that are prepared values instead of bytes.
    pub length: usize,
    /// The number of calls that one measurement makes on the same input.
    pub repeats: u32,
    /// The design of the measurement.
    pub design: Design,
    /// The times of each class.
    pub classes: Vec<Class>,
    /// The comparisons of all pairs of classes that the run compared.
    pub pairs: Vec<Pair>,
    /// The result of the trace.
    pub trace: Option<Trace>,
    /// The most severe verdict of all pairs.
    pub verdict: Verdict,
}

impl Timing {
    /// Returns whether the target appears to have been compiled without optimization.
    #[cfg(any(feature = "harness", feature = "report"))]
    pub(crate) fn unoptimized(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.unoptimized.is_some())
    }
}

/// The design of a measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Design {
    /// The number of pairs of calls in a batch. The statistics treat each batch as one observation.
    pub pairs_per_batch: usize,
    /// The numbers of batches at which the lab evaluated the data.
    pub looks: Vec<usize>,
    /// The probability of a false alarm for this target, over all evaluations and all pairs of classes.
    pub alpha: f64,
    /// The threshold in nanoseconds per call: a larger difference is a leak.
    pub delta_ns: f64,
    /// The seed for the order of the calls and for the inputs.
    pub seed: u64,
}

/// One class of inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Class {
    /// The class's name.
    pub name: String,
    /// The number of measurements from which the quantiles and the histogram were computed.
    pub samples: u64,
    /// The quantiles of the time of one call, without the clock's overhead.
    pub quantiles: Vec<Quantile>,
    /// The histogram of the same measurements, from their 0.1 % quantile to their 99 % quantile.
    pub histogram: Histogram,
    /// The time of one call, estimated from a regression of measured time over number of calls.
    pub estimates: Option<Estimates>,
}

/// One quantile.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quantile {
    /// The share of the measurements below the quantile, between 0 and 1.
    pub at: f64,
    /// The quantile in nanoseconds per call.
    pub ns: f64,
}

/// A histogram with bins of equal width.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// The start of the first bin.
    pub start_ns: f64,
    /// The width of each bin.
    pub step_ns: f64,
    /// The number of measurements in each bin.
    pub counts: Vec<u64>,
}

/// The time of one call, estimated in several ways. Each estimate has a 95 % interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Estimates {
    /// The slope of the regression line of time over number of calls.
    pub slope: Interval,
    /// The mean of the time per call.
    pub mean: Interval,
    /// The median of the time per call.
    pub median: Interval,
    /// The median absolute deviation from the median.
    pub mad: Interval,
    /// The share of the variation that the regression line explains, between 0 and 1.
    pub r_squared: f64,
    /// The number of measurements that are more than three interquartile ranges below the lower quartile or above the
    /// upper quartile. The estimates include them.
    pub outliers: usize,
    /// The time of the warm-up before the measurements, in seconds.
    pub warm_up_seconds: f64,
    /// The measurements. Each measurement has the number of calls, and the total time of these calls in nanoseconds.
    pub points: Vec<[f64; 2]>,
}

/// The comparison of two classes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The first class.
    pub a: String,
    /// The second class. Each difference is the value of the second class minus the value of the first class.
    pub b: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for the verdict, in words. See also [`Pair::sentence`].
    pub reason: String,
    /// The p-value of the test, corrected for all evaluations of the data.
    pub p: f64,
    /// The p-value after Holm's correction over the pairs of this target.
    pub p_holm: f64,
    /// The p-value in new data, if the test found the difference again in the new data.
    #[serde(default)]
    pub confirmed: Option<f64>,
    /// The statistic that differs, if the test found the difference again in new data.
    #[serde(default)]
    pub found: Option<Found>,
    /// The number of batches that were measured.
    pub batches: usize,
    /// The differences of the statistics. With probability 1 − α, all intervals together contain the true differences.
    pub effects: Vec<Effect>,
    /// The difference between the mean times of the two classes, over all calls. This interval is wide, because with
    /// probability 1 − α this interval and the intervals in `effects` are all correct.
    pub raw_mean: Interval,
    /// The bound on the difference between the classes, for quantiles up to `bound_up_to`. For these quantiles, the
    /// classes differ by at most this number of nanoseconds.
    pub bound_ns: f64,
    /// The share of the calls to which the bound applies. The share is 95 %. If the machine disturbed too many calls
    /// for a bound on 95 %, the share is 90 %.
    #[serde(default = "most_calls")]
    pub bound_up_to: f64,
    /// The bound on the difference of the classes, for quantiles up to 99.9 %. For these quantiles, the classes differ
    /// by at most this number of nanoseconds.
    pub tail_bound_ns: f64,
    /// If all times of one class shift by at least this amount, nine of ten runs of this size find the shift.
    pub mde_ns: f64,
    /// The approximate number of additional pairs of calls that an inconclusive result needs to become conclusive.
    pub more_pairs: Option<u64>,
    /// The measuring time of these additional pairs in seconds. The field is absent if a run cannot make so many
    /// additional pairs.
    #[serde(default)]
    pub more_seconds: Option<f64>,
    /// The controls that ran between the measurements.
    pub controls: Controls,
    /// The state at each look.
    pub funnel: Vec<Look>,
    /// The differences between the means of the fastest 90 % of the calls. The list has one difference for each group
    /// of successive batches, in the order of time.
    pub series: Vec<f64>,
    /// The autocorrelation of the batch times, for lag 1, 2 and so on.
    pub autocorrelation: Vec<f64>,
    /// The difference between the distribution functions of the two classes. Each point consists of a time in
    /// nanoseconds, and of the second class's distribution function minus the first class's function at this time.
    pub ecdf: Vec<[f64; 2]>,
    /// The measuring time in seconds, including the time of the controls.
    pub seconds: f64,
    /// All single times of the first class and of the second class, in the order of measurement. The times are in ticks
    /// of the clock, without the random delays. The lists are empty if the settings do not request single times. The
    /// JSON does not contain them.
    #[serde(skip)]
    pub times: [Vec<f32>; 2],
    /// The name of the file with all single times, if there is one. In the file, times of the first class and times of
    /// the second class alternate. Each time is a 32-bit floating-point number, little-endian.
    #[serde(default)]
    pub raw: Option<String>,
}

fn most_calls() -> f64 {
    0.95
}

/// The statistic in which the test found a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The property in which the classes differ, for example `more calls beyond the 99.9 % quantile`.
    pub what: String,
    /// Whether the second class (instead of the first class) has more of this property.
    pub second: bool,
}

/// The difference of two classes in one statistic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Effect {
    /// The statistic's name, for example `mean of the fastest 90 %` or `50 % quantile`.
    pub name: String,
    /// The quantile, between 0 and 1, if the statistic is a quantile.
    pub quantile: Option<f64>,
    /// The share of the calls, between 0 and 1, on which the statistic depends. The share begins at the fastest call.
    #[serde(default)]
    pub up_to: f64,
    /// If the quantile is in a gap between two groups of times, the width of the gap in nanoseconds. In a gap, the
    /// value of the quantile has no meaning. For a quantile in a gap, the difference is a product: the share of the
    /// calls that move from one group to the other, times the width of the gap. This product is the contribution of
    /// these calls to the mean.
    #[serde(default)]
    pub gap_ns: Option<f64>,
    /// The difference per call: the value of the second class minus the value of the first class.
    pub difference: Interval,
    /// The threshold for this statistic: a larger difference is a leak.
    pub tolerance_ns: f64,
}

/// The controls. The control measurements show whether the results of the other measurements can be trusted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Controls {
    /// The control measurement that compares one class with itself. In this comparison, the test must not find a
    /// difference.
    pub same: Control,
    /// The control measurement that adds a delay to the calls of the target. The test must find the delay.
    pub delay: Control,
    /// The control that measures a leaking function. The calls of the leaking function take about as long as the
    /// target's calls. The test must find the leak.
    pub leak: Control,
}

/// One control.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Control {
    /// The p-value of the test.
    pub p: f64,
    /// The difference that was measured.
    pub difference: Interval,
    /// Whether the control passed.
    pub passed: bool,
    /// The difference that the control adds on purpose. The value is zero if the added difference has no fixed size.
    pub meant_ns: f64,
}

/// The state of a run at one evaluation of the data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Look {
    /// The number of batches that had been measured at this evaluation.
    pub batches: usize,
    /// The p-value of the test at this evaluation, without a correction for the other evaluations.
    pub p: f64,
    /// The difference between the means of the fastest 90 % of the calls.
    pub difference: Interval,
}

/// The result of tracing one target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The number of inputs whose traces were compared.
    pub secrets: usize,
    /// The number of instructions in one trace.
    pub instructions: u64,
    /// Whether all traces have the same instruction addresses and memory addresses in the same order.
    pub equal: bool,
    /// The first place where two traces differ, with the source line.
    pub divergence: Option<String>,
    /// The executed instructions whose time depends on their operands, and how often each instruction was executed.
    pub variable_latency: Vec<VariableLatency>,
    /// The executed load and store instructions with a mask. The mask selects bytes at one address, and may be
    /// different for different secrets.
    #[serde(default)]
    pub masked: Vec<VariableLatency>,
    /// The instruction sets of executed instructions that some processors lack, for example `AVX512` and `VAES`.
    pub instruction_sets: Vec<String>,
    /// The reason why there is no trace, if there is no trace.
    pub skipped: Option<String>,
    /// If the call executed a function that was compiled without optimization, the name of this function. Optimized
    /// code from the same source may leak even if the code without optimization does not leak.
    #[serde(default)]
    pub unoptimized: Option<String>,
    /// Notes about everything that the comparison of traces does not cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The number of instructions in all recordings, including repeated recordings.
    #[serde(default)]
    pub recorded: u64,
    /// The time of all recordings in seconds.
    #[serde(default)]
    pub seconds: f64,
}

impl Trace {
    /// Returns a warning if code was compiled without optimization.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let function = self.unoptimized.as_ref()?;
        Some(format!(
            "NOT OPTIMIZED: {function} looks as if it was compiled without optimization: its values are on the stack \
             instead of in registers, as also with `volatile` variables. Optimized code may leak, whatever this trace \
             shows."
        ))
    }
}

/// An instruction whose time depends on its operands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct VariableLatency {
    /// The name of the instruction, for example `div`.
    pub instruction: String,
    /// The function and the source line of the instruction.
    pub place: String,
    /// The number of times that the instruction was executed.
    pub count: u64,
    /// Whether the operands of the instruction differed between secrets.
    pub secret: bool,
}

/// The speed of one target with inputs of one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// The target's name, with dots: `base64.encoding`.
    pub target: String,
    /// The size of the input, for example `16 KiB`.
    pub size: String,
    /// The number of bytes that one call processes.
    pub bytes: u64,
    /// The time of one call.
    pub estimates: Estimates,
    /// The number of bytes processed per second.
    pub bytes_per_second: Interval,
    /// The change since the stored baseline.
    pub change: Option<Change>,
    /// The target's time divided by the time of a reference function (a yardstick) in the same run, with inputs of the
    /// same size. An example of a yardstick is `memcpy`.
    pub yardstick: Option<Yardstick>,
}

/// The change since an earlier run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Change {
    /// The time when the baseline was measured.
    pub since: String,
    /// The new time divided by the old time.
    pub ratio: Interval,
    /// The p-value of the null hypothesis that the speed has not changed.
    pub p: f64,
    /// A relative change that is not larger than this margin is reported as no change.
    pub margin: f64,
    /// Whether the target became faster or slower. The interval of `ratio` determines the outcome.
    pub outcome: Outcome,
}

/// The comparison of a target with a yardstick (a reference function).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Yardstick {
    /// The yardstick's name.
    pub name: String,
    /// The time of the target divided by the time of the yardstick.
    pub ratio: Interval,
}

/// The result of comparing two speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The whole confidence interval of the ratio is inside the margin.
    Same,
    /// The second (or new) function or program takes less time: the whole confidence interval of the ratio is below the
    /// margin.
    Faster,
    /// The second (or new) function or program takes more time: the whole confidence interval of the ratio is above the
    /// margin.
    Slower,
    /// The measurement shows neither that the speeds differ nor that they are equal.
    Inconclusive,
}

/// The comparison of two functions or two programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The first function or program.
    pub a: Contestant,
    /// The second function or program.
    pub b: Contestant,
    /// The time of the second function or program divided by the time of the first: the median of all rounds, with its
    /// 99 % interval.
    pub ratio: Interval,
    /// If a ratio differs from 1 by at most this margin, the two times are reported as the same. The user chooses the
    /// margin. Noise does not widen the margin.
    pub margin: f64,
    /// The noise shows how much two measurements of the first function or program differ in the same rounds. For
    /// functions, the noise is the larger absolute value of the two bounds of the difference between two measurements
    /// of the first function. For programs, the noise is the standard error of a comparison of the first program with
    /// itself. A difference is significant only if it is more than twice the noise. The speeds are reported as equal
    /// only if the noise is smaller than the margin.
    #[serde(default)]
    pub noise: f64,
    /// The number of rounds. Each round runs A B B A.
    pub rounds: usize,
    /// Whether the second function or program takes the same time as the first, less time or more time. The interval of
    /// `ratio` determines the outcome.
    pub outcome: Outcome,
    /// The approximate number of additional rounds that an inconclusive outcome needs to become conclusive.
    #[serde(default)]
    pub further_rounds: Option<u64>,
    /// A well-known program that was timed in the same rounds, for comparison.
    pub yardstick: Option<Contestant>,
    /// The ratios of all rounds, in order.
    pub ratios: Vec<f64>,
}

/// One side of a comparison. Times are in seconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Contestant {
    /// The name of the function, or the command line of the program.
    pub name: String,
    /// The wall-clock time: lower quartile, median, upper quartile.
    pub wall: Interval,
    /// The shortest wall-clock time.
    pub wall_minimum: f64,
    /// The longest wall-clock time. Only programs have this value.
    #[serde(default)]
    pub wall_maximum: Option<f64>,
    /// The mean wall-clock time and its standard deviation. Only programs have these values.
    #[serde(default)]
    pub wall_mean: Option<[f64; 2]>,
    /// The processor time in user mode: lower quartile, median, upper quartile. Only programs have this value.
    pub user: Option<Interval>,
    /// The processor time in the kernel: lower quartile, median, upper quartile. Only programs have this value.
    pub system: Option<Interval>,
    /// The largest resident memory in bytes.
    pub peak_memory: Option<u64>,
    /// The number of bytes processed per second, if the amount of data is known.
    pub bytes_per_second: Option<f64>,
    /// The number of failed runs for each exit code of a program. The list does not contain exit code 0.
    #[serde(default)]
    pub failures: Vec<Failures>,
}

impl Contestant {
    /// Returns a text that states the number of failed runs among all `runs`, and their exit codes.
    #[cfg(any(feature = "harness", feature = "report"))]
    pub(crate) fn failed(&self, runs: u64) -> Option<String> {
        let failed: u64 = self.failures.iter().map(|failures| failures.runs).sum();
        match self.failures.as_slice() {
            [] => None,
            [one] if failed >= runs => Some(format!("every run ended with exit code {}", one.code)),
            all => {
                let each = |one: &Failures| format!("{} with exit code {}", one.runs, one.code);
                let each: Vec<String> = all.iter().map(each).collect();
                Some(format!("{failed} of {runs} runs failed: {}", each.join(", ")))
            }
        }
    }
}

/// The number of runs of a program that failed with this exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// The exit code.
    pub code: i32,
    /// The number of runs.
    pub runs: u64,
}

/// One of the highest rates that the machine reaches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Baseline {
    /// The name, for example `memcpy`, `file read` or `integer`.
    pub name: String,
    /// The rate in units per second.
    pub rate: Interval,
    /// The unit: `bytes` or `operations`.
    pub unit: String,
}

/// The error rates of the lab, measured on this machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Calibration {
    /// The time when the calibration began.
    pub started: String,
    /// The processor.
    pub cpu: String,
    /// The SHA-256 digest of the program that has these error rates.
    pub binary_sha256: Option<String>,
    /// The intended probability of a false alarm.
    pub alpha: f64,
    /// The error rates, one entry for each duration of a call.
    pub levels: Vec<CalibrationLevel>,
}

/// The error rates for one duration of a call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CalibrationLevel {
    /// The time of one call.
    pub cost_ns: f64,
    /// The number of runs without a leak.
    pub runs: u64,
    /// The number of runs without a leak in which the test still found a difference.
    pub rejected: u64,
    /// The number of runs without a leak whose verdict was still `LEAK`.
    pub leaks: u64,
    /// The share of `rejected` runs in all runs without a leak, with the exact 95 % interval (Clopper and Pearson).
    pub rate: Interval,
    /// The added delays, and the share of runs in which the test found each delay.
    pub power: Vec<Power>,
}

/// One point of the power curve.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Power {
    /// The measured delay in nanoseconds.
    pub delay_ns: f64,
    /// The number of runs with this delay.
    pub runs: u64,
    /// The number of runs that found the delay.
    pub found: u64,
    /// The share of runs in which the test found the delay, with the exact 95 % interval.
    pub rate: Interval,
}

/// One check of the selftest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// The statement that must hold.
    pub what: String,
    /// The number of runs.
    pub runs: u64,
    /// The number of counted runs. The field `what` contains the statement; the counted runs are the runs in which the
    /// statement was true, or the runs with errors.
    pub found: u64,
    /// The share of counted runs, with the exact 95 % interval.
    pub rate: Interval,
    /// The required share as text, for example `at most 1.5 %`.
    pub wanted: String,
    /// Details of the result.
    pub detail: String,
    /// Whether the check passed. `None` if the check was skipped or its result is undecided.
    pub passed: Option<bool>,
}
