//! Tests a library's function with trial calls before the lab measures the function. The trial calls run in another
//! process, in which an inaccessible page precedes and follows the memory of each pointer. The trials often detect a
//! wrong description of the function's arguments, even if the function appears to work in ordinary memory.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Error;
use super::abi::{Abi, Argument, Kind};
use crate::imp::convention::RULES;
use crate::imp::fence::{self, Access, Call, DONE, Fenced, LEFT, Place, Side};
use crate::imp::fork::threads;
use crate::imp::library::Function;
use crate::imp::notes::{Notes, Phase};
use crate::imp::supervise::{End, signal_name};
use crate::random::Random;
use crate::target::Target;

/// The time limit for all trials of a function. After this time, the remaining trial calls do not take place.
const LIMIT: Duration = Duration::from_secs(20);
/// The lab repeats the trials with other inputs at most `ROUNDS` times, and only within the time `ENOUGH`.
const ROUNDS: usize = 4;
const ENOUGH: Duration = Duration::from_millis(50);

pub(super) struct Trial<'t> {
    pub(super) path: &'t Path,
    pub(super) symbol: &'t str,
    pub(super) function: &'t Function,
    /// The arguments. In `abi`, the parts of the arguments have the same positions as in an input of `target`.
    pub(super) abi: &'t Abi,
    pub(super) target: &'t mut Target,
}

/// The memory to which an argument points.
struct GuardedMemory {
    fenced: Fenced,
    access: Access,
    /// The argument as the description states it, for example `secret:32`.
    name: String,
}

impl Trial<'_> {
    /// Calls the function with inputs of each class. If the trials end early, returns the missing trials and the
    /// reason.
    pub(super) fn run(&mut self, notes: &Notes) -> Result<Option<String>, Error> {
        notes.enter(Phase::Trial);
        if threads() > 1 {
            return Ok(Some("the library starts threads, which a trial in another process would not have".to_owned()));
        }
        // If the length of an aligned part is not a multiple of 16, there is a gap between the part and the following
        // page.
        let memory = self.memory(Access::Read)?;
        let mut outcome = self.attempt(notes, &memory, &[Place::End, Place::Start])?;
        if matches!(outcome, TrialOutcome::Crash(_)) {
            outcome = self.attempt(notes, &memory, &[Place::AlignedEnd, Place::Start])?;
        }
        if matches!(outcome, TrialOutcome::Fine) && self.has_hideable_secrets() {
            let memory = self.memory(Access::None)?;
            if matches!(self.attempt(notes, &memory, &[Place::AlignedEnd])?, TrialOutcome::Fine) {
                outcome = TrialOutcome::Fault("it reads no byte of its secret parts".to_owned());
            }
        }
        notes.enter(Phase::Measurement);
        match outcome {
            TrialOutcome::Fine => Ok(None),
            TrialOutcome::Late => Ok(Some(format!("the function did not return within {} s", LIMIT.as_secs()))),
            TrialOutcome::Crash(why) | TrialOutcome::Fault(why) => Err(self.fault(why)),
        }
    }

    fn fault(&self, why: String) -> Error {
        Error::Function { path: self.path.to_owned(), symbol: self.symbol.to_owned(), why }
    }

    /// Returns true if the function receives secrets, and receives all of them through pointers.
    fn has_hideable_secrets(&self) -> bool {
        let kind = |wanted: Kind| {
            self.abi.arguments.iter().any(|argument| matches!(argument, Argument::Input(part) if part.kind == wanted))
        };
        (kind(Kind::Secret) || kind(Kind::Changed)) && !kind(Kind::Integer)
    }

    fn attempt(
        &mut self,
        notes: &Notes,
        memory: &[Option<GuardedMemory>],
        places: &[Place],
    ) -> Result<TrialOutcome, Error> {
        let (function, abi) = (self.function, self.abi);
        let (mut random, classes) = (Random::new(1), self.target.classes().len());
        let mut input = vec![0; self.target.length()];
        let (begin, mut turn) = (Instant::now(), 0);
        let target = &mut *self.target;
        let next = || {
            let each = classes * places.len();
            if turn == ROUNDS * each || turn >= each && begin.elapsed() > ENOUGH {
                return None;
            }
            let (class, place) = (turn / places.len() % classes, places[turn % places.len()]);
            turn += 1;
            target.fill(class, &mut random, &mut input);
            Some(Call { class, place, values: values(abi, memory, &input, place) })
        };
        let end = fence::attempt(notes, function, LIMIT, next)
            .map_err(|error| self.fault(format!("the system refuses a process for a trial: {error}")))?;
        Ok(self.judge(notes, memory, end))
    }

    /// Maps the memory of each pointer. `secret` states whether the function can read or write the secret parts. The
    /// function can write secret parts that it changes in place, except if `secret` is [`Access::None`]: then these
    /// parts are inaccessible too.
    fn memory(&self, secret: Access) -> Result<Vec<Option<GuardedMemory>>, Error> {
        let changed = if secret == Access::None { Access::None } else { Access::Write };
        let memory = |argument: &Argument| {
            let (kind, length, access) = match argument {
                Argument::Input(part) => match part.kind {
                    Kind::Secret => ("secret", part.length, secret),
                    Kind::Public => ("public", part.length, Access::Read),
                    Kind::Changed => ("inout", part.length, changed),
                    Kind::Integer => return Ok(None),
                },
                Argument::Output(length) => ("out", *length, Access::Write),
                Argument::Constant(_) => return Ok(None),
            };
            Ok(Some(GuardedMemory { fenced: Fenced::new(length)?, access, name: format!("{kind}:{length}") }))
        };
        let all: std::io::Result<_> = self.abi.arguments.iter().map(memory).collect();
        all.map_err(|error| self.fault(format!("no memory for a trial: {error}")))
    }

    fn judge(&self, notes: &Notes, memory: &[Option<GuardedMemory>], end: End) -> TrialOutcome {
        let class = self.target.classes().get(notes.trial_class()).map_or("", |class| class.name());
        let with = format!("called with an input of the class `{class}`");
        if notes.copied() {
            return TrialOutcome::Fault(format!(
                "{with}, it starts a process with `fork` and returns in both processes"
            ));
        }
        if let Some(rule) = notes.broken_rule() {
            return TrialOutcome::Fault(format!("{with}, {}", RULES[rule]));
        }
        match end {
            End::Exited(code) if code == i32::from(DONE) => TrialOutcome::Fine,
            End::Exited(code) if code == i32::from(LEFT) => {
                TrialOutcome::Fault(format!("{with}, it starts a process with `fork` and does not wait for its end"))
            }
            End::Late | End::Deaf => TrialOutcome::Late,
            End::Killed(signal) => match notes.fault().and_then(|fault| beyond(memory, fault)) {
                Some(why) => TrialOutcome::Fault(format!("{with}, it {why}")),
                None => TrialOutcome::Crash(format!("{with}, it was killed by {}", signal_name(signal))),
            },
            End::Stopped(signal) => TrialOutcome::Fault(format!("{with}, it was stopped by {}", signal_name(signal))),
            End::Exited(code) => TrialOutcome::Fault(format!("{with}, it ended the process with exit code {code}")),
            End::Complete(_) => TrialOutcome::Fine,
        }
    }
}

/// The result of a series of trials.
enum TrialOutcome {
    Fine,
    Late,
    /// The function accessed memory outside of all parts, or a signal ended the call. A function that needs aligned
    /// memory can also crash in this way.
    Crash(String),
    /// The function made an error that unaligned memory cannot explain.
    Fault(String),
}

/// Describes a failed access if the address is just outside a part, or if the function wrote to a read-only part.
fn beyond(memory: &[Option<GuardedMemory>], (address, wrote): (usize, bool)) -> Option<String> {
    let verb = if wrote { "writes" } else { "reads" };
    let (position, memory, side) = memory.iter().enumerate().find_map(|(position, memory)| {
        let memory = memory.as_ref()?;
        Some((position + 1, memory, memory.fenced.side(address)?))
    })?;
    let name = &memory.name;
    Some(match side {
        Side::Before => format!("{verb} before the first byte of argument {position}, `{name}`"),
        Side::Behind => format!("{verb} beyond the last byte of argument {position}, `{name}`"),
        Side::Inside => format!("writes to argument {position}, `{name}`, which is only to be read"),
    })
}

/// For each pointer, copies the bytes of its argument to guarded memory at `place`, and returns the values of the
/// arguments.
fn values(abi: &Abi, memory: &[Option<GuardedMemory>], input: &[u8], place: Place) -> [usize; 6] {
    let mut values = [0; 6];
    for ((value, argument), memory) in values.iter_mut().zip(&abi.arguments).zip(memory) {
        *value = match (argument, memory) {
            (Argument::Input(part), Some(memory)) => {
                memory.fenced.fill(&input[part.offset..part.offset + part.length], place, memory.access)
            }
            (Argument::Input(part), None) => {
                let mut bytes = [0; 8];
                bytes[..part.length].copy_from_slice(&input[part.offset..part.offset + part.length]);
                u64::from_le_bytes(bytes) as usize
            }
            (Argument::Output(length), Some(memory)) => memory.fenced.fill(&vec![0; *length], place, memory.access),
            (Argument::Output(_), None) => 0,
            (Argument::Constant(constant), _) => *constant as usize,
        };
    }
    values
}
