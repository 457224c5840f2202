//! Runs a function in single steps, for several secrets, and compares what the processor did: each instruction's address and each address
//! in memory, in order.
//!
//! Choose it to *block* a change: where two traces differ, the code leaks, and the source line is known; no statistics are involved. It sees
//! the program as it is, with AVX-512 and VAES, which Valgrind hides from it. What it does not see: a time that depends on an operand at
//! the same address, but for the instructions that it lists ([`record::VariableLatency`]); what the kernel
//! does; other threads. Two addresses that differ within one cache line count as different.
//!
//! Needs x86-64 Linux; elsewhere, and under Valgrind, the result says that it was skipped. Every instruction costs a signal, so
//! microseconds, and a call is recorded nine times or more: long functions take patience.
//!
//! ```
//! use deadpan_lab::{Target, trace};
//!
//! let mut target = Target::new("mask", 16, |input| input.iter().fold(0, |all, byte| all | byte))
//!     .fixed("zeroes", &[0; 16])
//!     .class("random", |random, input| random.fill(input));
//! let trace = trace::assert_equal(&mut target, 1);
//! assert!(trace.equal || trace.skipped.is_some());
//! ```

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod compare;
mod controls;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod decode;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod place;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod recording;

use crate::random::Random;
use crate::record;
pub use crate::taint::control;
use crate::target::Target;
pub use controls::controls;

/// Instructions of one call, at most. Of a longer call only the first so many are compared, and the result says so.
pub const LIMIT: u64 = 100_000_000;

/// Inputs for each outcome, at least.
const INPUTS: usize = 8;

/// Compares the traces of a function for these inputs. Each is copied into the same buffer.
///
/// Before that, each runs once or twice in full speed, so that caches of the program itself settle. If the same input gives different
/// traces — memory that is allocated at another place each time, a table that grows — then `skipped` says so, and nothing is said about
/// the secrets.
///
/// # Panics
/// If there are fewer than two inputs, or inputs of different lengths. If `run` panics; and in it, `compare` must not be called.
pub fn compare(secrets: &[Vec<u8>], run: &mut dyn FnMut(&mut [u8])) -> record::Trace {
    compare_named(secrets, &|index| format!("input {}", index + 1), run)
}

/// Compares the traces of a target, outcome by outcome: for each, eight inputs or more, of all its classes in turn.
pub fn target(target: &mut Target, seed: u64) -> record::Trace {
    let mut random = Random::new(seed);
    let mut outcomes: Vec<String> = target.classes().iter().map(|class| class.outcome().to_owned()).collect();
    outcomes.sort();
    outcomes.dedup();
    if outcomes.is_empty() {
        return skipped("there are no classes of inputs");
    }
    let mut all = record::Trace { equal: true, ..record::Trace::default() };
    for outcome in outcomes {
        let classes: Vec<usize> = (0..target.classes().len()).filter(|&index| target.classes()[index].outcome() == outcome).collect();
        let names: Vec<String> = classes.iter().map(|&index| target.classes()[index].name().to_owned()).collect();
        let mut secrets = Vec::new();
        for index in 0..INPUTS.max(2 * classes.len()) {
            let mut input = vec![0; target.length()];
            target.fill(classes[index % classes.len()], &mut random, &mut input);
            secrets.push(input);
        }
        if secrets.iter().all(|secret| *secret == secrets[0]) {
            // One input may be all there is of an outcome; alone it shows nothing.
            merge(
                &mut all,
                record::Trace {
                    equal: true,
                    skipped: Some(format!("{} has one input only", names.join(", "))),
                    ..record::Trace::default()
                },
            );
            continue;
        }
        let name = |index: usize| format!("input {} ({})", index + 1, names[index % names.len()]);
        let trace = compare_named(&secrets, &name, &mut |input| target.call(input));
        merge(&mut all, trace);
    }
    all
}

/// The finding in words: two traces that part, or an instruction whose time depends on a secret operand. None if there is none; whether
/// anything was compared at all, [`record::Trace::skipped`] says.
#[must_use]
pub fn leaks(trace: &record::Trace) -> Option<String> {
    if let Some(divergence) = &trace.divergence {
        return Some(divergence.clone());
    }
    let slow = trace.variable_latency.iter().find(|instruction| instruction.secret)?;
    Some(format!("`{}` in {} takes a time that depends on the secret", slow.instruction, slow.place))
}

/// For tests: [`target`], and a panic in words if there is a finding. The caller may look whether the trace was skipped.
///
/// # Panics
/// If the traces differ, or an instruction's time depends on the secret.
#[track_caller]
pub fn assert_equal(target: &mut Target, seed: u64) -> record::Trace {
    let trace = self::target(target, seed);
    if let Some(leak) = leaks(&trace) {
        panic!("{} leaks: {leak}", target.name());
    }
    trace
}

fn compare_named(secrets: &[Vec<u8>], name: &dyn Fn(usize) -> String, run: &mut dyn FnMut(&mut [u8])) -> record::Trace {
    assert!(secrets.len() > 1, "one input alone shows nothing");
    assert!(secrets.iter().all(|secret| secret.len() == secrets[0].len()), "inputs of different lengths");
    if crate::taint::running() {
        return skipped("Valgrind does not step");
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    return compare::compare(secrets, name, run);
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        let _ = (name, run);
        skipped("stepping needs x86-64 Linux")
    }
}

fn skipped(reason: &str) -> record::Trace {
    record::Trace { skipped: Some(reason.to_owned()), ..record::Trace::default() }
}

/// Adds the traces of another outcome.
fn merge(all: &mut record::Trace, other: record::Trace) {
    all.secrets += other.secrets;
    all.instructions = all.instructions.max(other.instructions);
    all.equal &= other.equal;
    all.divergence = all.divergence.take().or(other.divergence);
    all.skipped = all.skipped.take().or(other.skipped);
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
