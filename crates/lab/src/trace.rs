//! For several secret inputs, records what the processor executes, and compares the recordings. A recording contains
//! the address of each instruction and the address of each memory access, in order.
//!
//! Use traces to *block* a change: if two traces differ, the code leaks at a known source line. No statistics are
//! necessary. A trace covers all instructions that the program executes, including AVX-512 and VAES. Valgrind hides
//! AVX-512 and VAES from the program. A trace does not show times that depend on the value of an operand, except for
//! the instructions that the trace lists ([`record::VariableLatency`]). A trace does not cover other threads. Of the
//! kernel's work, a trace contains only the arguments of system calls. Two different addresses are a difference even if
//! they lie in the same cache line.
//!
//! Traces need x86-64 Linux or AArch64 Linux. On other systems, under Valgrind and under an emulator of single
//! programs, the lab skips the trace, and the result contains the reason ([`unavailable`]). A trace runs tens of
//! millions of instructions per second on x86-64, and far fewer on AArch64, where the lab stops the process before each
//! instruction. The lab records a call at least nine times.
//!
//! On AArch64, the lab carries out exclusive loads and stores (`ldxr`, `stxr`) itself, because single-stepping would
//! make every exclusive store fail. The lab knows no instructions of SVE and SME that access memory, and skips the
//! trace of a function that executes one.
//!
//! # Processes
//! The function never runs in the caller's process, so the changes that the function makes in memory are lost. The
//! function first runs without a trace in a copy of the caller's process, once with each input. During these calls, the
//! function can do work that only its first call needs. Each recorded call then runs in a copy of this second process,
//! so the heap, the counters and the caches are the same at the start of each recorded call. The trace compares only
//! the recorded calls, which run after the first calls. Actions that the function performs only in its first calls,
//! such as filling a cache, are not part of the trace. The trace is skipped if a call ends its process, panics or does
//! not return. The processes have only one thread, so the trace is also skipped if the function starts a thread or
//! waits for a thread.
//!
//! ```
//! use deadpan_lab::{Target, trace};
//!
//! let mut target = Target::new("mask", 16, |input| input.iter().fold(0, |all, byte| all | byte))
//!     .fixed("zeroes", &[0; 16])
//!     .class("random", |random, input| random.fill(input));
//! # if trace::unavailable().is_some() { return }
//! let trace = trace::assert_equal(&mut target, 1);
//! assert!(trace.equal);
//! ```
//!
//! [`start`] and [`stop`] limit the comparison to a part of the function.

#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
mod aarch64;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
mod compare;
mod controls;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod decode;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod listing;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
mod optimization;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
mod place;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
mod recording;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
mod system;

use crate::clock::Clock;
use crate::random::Random;
use crate::record;
pub use crate::taint::control;
use crate::target::{Run, Slots, Target};
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
use aarch64::{decode, listing};
pub use controls::controls;
#[cfg(feature = "harness")]
pub(crate) use controls::long;

/// The maximum number of instructions of one call that a trace compares. If a call had more instructions, the result
/// states this.
pub const LIMIT: u64 = 10_000_000_000;

/// The minimum number of inputs for each outcome.
const INPUTS: usize = 8;

/// Compares the traces of a function for these inputs. The lab copies each input into the same buffer.
///
/// If the same input leads to different traces, `skipped` states this reason, and the result contains no statement
/// about the secrets. The usual cause is a random number. A trace does not include threads that ran before this call.
///
/// # Panics
/// Panics if there are fewer than two inputs or inputs of different lengths. `run` must not call `compare`.
pub fn compare(secrets: &[Vec<u8>], run: &mut dyn FnMut(&mut [u8])) -> record::Trace {
    compare_named(secrets, &|index| format!("input {}", index + 1), &mut TracedFunction(run), &|| false)
}

/// Compares the traces of a target, separately for each outcome. Each outcome gets at least eight inputs. If an outcome
/// has several classes, the inputs come from these classes in turn.
pub fn target(target: &mut Target, seed: u64) -> record::Trace {
    target_until(target, seed, &|| false)
}

/// Compares the traces of a target. If `stopped` returns true, the trace ends early and is reported as skipped.
pub(crate) fn target_until(target: &mut Target, seed: u64, stopped: &dyn Fn() -> bool) -> record::Trace {
    let mut random = Random::with_same_public(seed);
    let mut outcomes: Vec<String> = target.classes().iter().map(|class| class.outcome().to_owned()).collect();
    outcomes.sort();
    outcomes.dedup();
    if outcomes.is_empty() {
        return skipped("there are no classes of inputs");
    }
    let mut all = record::Trace { equal: true, ..record::Trace::default() };
    let mut single = Vec::new();
    for outcome in outcomes {
        let classes: Vec<usize> =
            (0..target.classes().len()).filter(|&index| target.classes()[index].outcome() == outcome).collect();
        let names: Vec<String> = classes.iter().map(|&index| target.classes()[index].name().to_owned()).collect();
        let mut secrets = Vec::new();
        for index in 0..INPUTS.max(2 * classes.len()) {
            let mut input = vec![0; target.length()];
            target.fill(classes[index % classes.len()], &mut random, &mut input);
            secrets.push(input);
        }
        if secrets.iter().all(|secret| *secret == secrets[0]) {
            // An outcome may have only one possible input. The trace of a single input cannot be compared.
            single.push(format!("{} has one input only", names.join(", ")));
            continue;
        }
        let name = |index: usize| format!("input {} ({})", index + 1, names[index % names.len()]);
        let trace = compare_named(&secrets, &name, target.run(), stopped);
        merge(&mut all, trace);
    }
    if all.secrets == 0 && all.skipped.is_none() {
        all.skipped = single.drain(..).next();
    }
    all.notes.extend(single.into_iter().map(|single| format!("{single}, which was not compared")));
    all
}

/// Describes the leak that a trace has found: two traces that differ, or an instruction whose time depends on a secret
/// operand. Returns `None` if no leak was found. [`record::Trace::skipped`] states whether the lab compared anything.
#[must_use]
pub fn leaks(trace: &record::Trace) -> Option<String> {
    if let Some(divergence) = &trace.divergence {
        return Some(divergence.clone());
    }
    let slow = trace.variable_latency.iter().find(|instruction| instruction.secret)?;
    let (instruction, place) = (&slow.instruction, &slow.place);
    Some(format!(
        "the operands of `{instruction}` in {place} depend on the secret; on many processors, its time depends on its \
         operands"
    ))
}

/// Returns whether the traces take different paths through the code. Returns false if the traces only access different
/// memory.
#[cfg(feature = "harness")]
pub(crate) fn branches(trace: &record::Trace) -> bool {
    trace.divergence.as_deref().is_some_and(|text| text.contains(": the first "))
}

/// Calls [`target`] in a test. Panics if the trace found a leak, or if the lab could not compare the traces completely.
///
/// # Panics
/// Panics if the traces differ, if an instruction's time depends on the secret, or if the lab skipped the trace.
#[track_caller]
pub fn assert_equal(target: &mut Target, seed: u64) -> record::Trace {
    assert_equal_or_skipped(target, seed, &[])
}

/// Calls [`target`] in a test. Panics if there is a finding. If `may_skip` contains the target's name, this target does
/// not cause a panic when its trace is skipped. If the trace of a target in `may_skip` is skipped, the field `skipped`
/// of the result states the reason.
///
/// A test that also runs on systems without traces should check [`unavailable`] first.
///
/// # Panics
/// Panics if the traces differ, if an instruction's time depends on the secret, or if the trace of a target outside
/// `may_skip` was skipped.
#[track_caller]
pub fn assert_equal_or_skipped(target: &mut Target, seed: u64, may_skip: &[&str]) -> record::Trace {
    let trace = self::target(target, seed);
    if let Some(leak) = leaks(&trace) {
        panic!("{} leaks: {leak}", target.name());
    }
    if let Some(reason) = &trace.skipped
        && !may_skip.contains(&target.name())
    {
        panic!("the traces of {} were not compared: {reason}", target.name());
    }
    trace
}

/// The reason for skipping a trace in which nothing was recorded.
pub(crate) const UNSUPPORTED: &str = "this machine does not support traces";

/// Returns whether a trace is missing because this machine does not support traces.
#[cfg(feature = "harness")]
pub(crate) fn unsupported(trace: &record::Trace) -> bool {
    trace.skipped.as_deref().is_some_and(|reason| Some(reason) == unavailable() || reason == UNSUPPORTED)
}

/// Returns the reason why this system does not support traces, or `None` if the system supports traces.
#[must_use]
pub fn unavailable() -> Option<&'static str> {
    if crate::taint::running() {
        Some("traces do not work under Valgrind")
    } else if crate::emulation::of_programs() {
        Some(crate::emulation::NO_TRACES)
    } else if cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")) {
        None
    } else {
        Some("traces need x86-64 Linux or AArch64 Linux")
    }
}

/// Marks the start of the part to compare. A trace does not compare the instructions before the first start mark.
///
/// The mark is an instruction without effect. Code in other languages can also contain the mark instruction.
/// docs/measuring.md shows the instruction for C.
#[inline(always)]
pub fn start() {
    crate::imp::mark::start();
}

/// Marks the end of the part to compare. Another [`start`] begins another part to compare.
#[inline(always)]
pub fn stop() {
    crate::imp::mark::stop();
}

/// Lets [`compare`] call a function whose input needs no preparation.
struct TracedFunction<'f>(&'f mut dyn FnMut(&mut [u8]));

impl Run for TracedFunction<'_> {
    fn sample(&mut self, _clock: &dyn Clock, _slots: &mut Slots<'_>) {}

    fn many(&mut self, _clock: &dyn Clock, _input: &mut [u8], _calls: u64) -> u64 {
        0
    }

    fn once(&mut self, input: &mut [u8]) {
        (self.0)(input);
    }

    fn changes(&self) -> bool {
        true
    }
}

fn compare_named(
    secrets: &[Vec<u8>],
    name: &dyn Fn(usize) -> String,
    run: &mut dyn Run,
    stopped: &dyn Fn() -> bool,
) -> record::Trace {
    assert!(secrets.len() > 1, "a comparison needs at least two inputs");
    assert!(
        secrets.iter().all(|secret| secret.len() == secrets[0].len()),
        "all inputs of a comparison must have the same length"
    );
    if let Some(reason) = unavailable() {
        return skipped(reason);
    }
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
    return compare::compare(secrets, name, run, stopped);
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
    {
        let _ = (name, run, stopped);
        skipped("traces need x86-64 Linux or AArch64 Linux")
    }
}

#[cfg(all(feature = "harness", any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
pub(crate) use crate::imp::{
    fork::threads,
    step::{host::more_threads, process::any_child},
};

/// Returns an arbitrary number of threads. On systems without traces, nothing depends on this number.
#[cfg(all(feature = "harness", not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))))]
pub(crate) fn threads() -> usize {
    1
}

#[cfg(all(feature = "harness", not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))))]
pub(crate) fn more_threads(_count: usize) -> bool {
    false
}

#[cfg(all(feature = "harness", not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))))]
pub(crate) fn any_child() -> bool {
    false
}

fn skipped(reason: &str) -> record::Trace {
    record::Trace { skipped: Some(reason.to_owned()), ..record::Trace::default() }
}

fn merge(all: &mut record::Trace, other: record::Trace) {
    all.secrets += other.secrets;
    all.instructions = all.instructions.max(other.instructions);
    all.equal &= other.equal;
    all.divergence = all.divergence.take().or(other.divergence);
    all.skipped = all.skipped.take().or(other.skipped);
    all.unoptimized = all.unoptimized.take().or(other.unoptimized);
    for note in other.notes {
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
    all.recorded += other.recorded;
    all.seconds += other.seconds;
    merge_rows(&mut all.variable_latency, other.variable_latency);
    merge_rows(&mut all.masked, other.masked);
    all.instruction_sets.extend(other.instruction_sets);
    all.instruction_sets.sort();
    all.instruction_sets.dedup();
}

fn merge_rows(all: &mut Vec<record::VariableLatency>, others: Vec<record::VariableLatency>) {
    for row in others {
        match all.iter_mut().find(|known| known.instruction == row.instruction && known.place == row.place) {
            Some(known) => {
                known.count = known.count.max(row.count);
                known.secret |= row.secret;
            }
            None => all.push(row),
        }
    }
}
