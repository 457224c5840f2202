//! Records one call after another and finds the instruction at which two traces differ.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::decode::Kind;
use super::recording::{ENTRIES, INTERVAL, Recorder, Recording};
use super::{LIMIT, UNSUPPORTED, decode, listing, optimization, place, skipped, system};
use crate::imp::step::call::Stage;
use crate::imp::step::host::{self, WarmUp};
use crate::imp::step::process::{End, Order, Template};
use crate::imp::step::signal;
use crate::imp::step::{Engine, Step, Stop, Trap};
use crate::plural::plural;
use crate::random::{Random, fresh_seed};
use crate::record::{Trace, VariableLatency};
use crate::target::Run;

/// If the traces of two inputs differ, each of the two inputs is recorded again at least this number of times.
const REPEATS: usize = 8;

/// The reason for skipping the trace of a function that opens a process's memory as a file.
const MEMORY: &str = "the function opens the memory of a process as a file, and can change its code unseen";

/// The point at which two traces differ.
pub(super) enum Parting {
    /// After the same instructions, the next instructions of the two traces differ. `None` means that the call returns.
    Path { index: u64, last: Option<u64>, next: [Option<u64>; 2] },
    /// An instruction accesses different addresses in the two traces. An address of zero means that the access does not
    /// happen.
    Memory { index: u64, instruction: u64, addresses: [u64; 2] },
    /// The traces differ in an operand that affects which bytes an instruction accesses.
    Operand { index: u64, instruction: u64, values: [u64; 2] },
    /// The traces differ in a word of a system call ([`super::system::words`]).
    System { index: u64, instruction: u64, number: u64, word: usize, values: [u64; 2] },
    /// The traces differ at a later instruction, outside the part that was recorded in detail.
    After(u64),
}

struct Session {
    template: Template,
    recorder: Recorder,
    /// Whether the trace uses single-stepping with the trap flag, because the code cannot be copied.
    trap: bool,
    now: Recording,
    reference: Recording,
    /// The number of instructions in all recordings, and the time of all recordings.
    recorded: u64,
    seconds: f64,
    /// For each recorded instruction, whether its operands differ between calls. This information matters for
    /// instructions whose time depends on their operands.
    operands: Vec<Operands>,
}

/// Whether the operands of an instruction differ between calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Same,
    /// The operands differ between secrets.
    Secret,
    /// The operands differ between calls with the same secret.
    Restless,
}

/// The result of a comparison: the traces are equal, or the trace of the input with this index differs, or the traces
/// cannot be compared for the given reason.
enum InputOutcome {
    Equal,
    Differs(usize, Parting),
    Unclear(String),
}

/// Compares the traces in a new process. The comparison ends early if `stopped` returns true.
pub(super) fn compare(
    secrets: &[Vec<u8>],
    name: &dyn Fn(usize) -> String,
    run: &mut dyn Run,
    stopped: &dyn Fn() -> bool,
) -> Trace {
    let mut apart = || {
        host::apart(stopped, &mut |warm_up| {
            let trace = inside(secrets, name, run, warm_up).unwrap_or_else(|reason| skipped(&reason));
            serde_json::to_vec(&trace).unwrap_or_default()
        })
    };
    let result = match apart() {
        // The new process may have blocked because another thread held a lock, so the code tries once more.
        Err(End::Stuck) => apart(),
        result => result,
    };
    match result.map(|bytes| serde_json::from_slice(&bytes)) {
        Ok(Ok(trace)) => trace,
        Ok(Err(error)) => skipped(&format!("the result of the trace cannot be read: {error}")),
        Err(end) => skipped(&ended(end)),
    }
}

/// Runs the function once with each input, and then compares the traces.
fn inside(
    secrets: &[Vec<u8>],
    name: &dyn Fn(usize) -> String,
    run: &mut dyn Run,
    warm_up: &mut WarmUp,
) -> Result<Trace, String> {
    let mut buffer = secrets[0].clone();
    let mut stage = Stage::new().ok_or("the system refuses the memory for a trace")?;
    for secret in [&secrets[0], &secrets[0]].into_iter().chain(secrets) {
        warm_up.call();
        buffer.copy_from_slice(secret);
        let call = AssertUnwindSafe(|| {
            run.prepare(&buffer);
            stage.call(&mut |input| run.once(input), &mut buffer);
        });
        catch_unwind(call).map_err(|panic| format!("the function panicked: {}", message(&*panic)))?;
    }
    if let Some(others) = warm_up.end() {
        return Err(format!("the function has {others} that run on between calls; a trace follows one thread only"));
    }
    if host::opens_memory() {
        return Err(MEMORY.to_owned());
    }
    let session = Session::new(secrets, &mut stage, run, &mut buffer);
    Ok(session.ok_or("the system refuses to start a process for a trace")?.trace(secrets.len(), name))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Describes why a recording ended early. In messages, the text follows the target's name.
fn reason(stop: Stop) -> String {
    match stop {
        Stop::Limit => format!("only the first {LIMIT} instructions of the call were recorded"),
        Stop::Crowded => "the function has too many different instructions".to_owned(),
        Stop::Thread => "the function starts a thread; a trace follows one thread only".to_owned(),
        Stop::Process => "the function starts a process; a trace follows one process only".to_owned(),
        Stop::Code => "the function makes memory executable; a trace follows the code that exists before".to_owned(),
        Stop::Written(address) => format!(
            "the function runs code that it can change, at {address:#x}; a trace follows code in read-only memory"
        ),
        Stop::Changed(address) => format!("the function changes code while it runs, in {}", place::source(address)),
        Stop::Wake => "the function wakes another thread; a trace follows one thread only".to_owned(),
        Stop::Call(number) => {
            format!("the function makes system call {}, whose arguments the lab cannot compare", system::named(number))
        }
        Stop::Memory => MEMORY.to_owned(),
        Stop::Signal => "the function gets a signal; a trace does not follow signal handlers".to_owned(),
        Stop::Instruction(address) => format!("a trace cannot follow {}", place::instruction_at(address)),
        #[cfg(target_arch = "x86_64")]
        Stop::Far(address) => format!("there is no room for a copy of the code near {}", place::source(address)),
        #[cfg(target_arch = "aarch64")]
        Stop::Refused => "the system refuses to single-step a process (ptrace)".to_owned(),
        Stop::Panic => "the function panicked in the process in which it was traced".to_owned(),
        Stop::Escape => "the function left the traced code, by a signal handler for example".to_owned(),
    }
}

fn ended(end: End) -> String {
    let process = "the process in which it was traced";
    match end {
        End::Done | End::Refused => "the system refuses to start a process for a trace".to_owned(),
        End::Signal(signal) => format!("the function was killed by signal {signal} in {process}"),
        End::Exited(code) => format!("the function ended {process}, with exit code {code}"),
        End::Stuck => format!("the function waited too long in {process}, which has no other threads"),
        End::Slow(limit) => format!("the function did not end within {} s", limit.as_secs()),
        End::Stopped => "interrupted".to_owned(),
    }
}

impl Session {
    fn new(secrets: &[Vec<u8>], stage: &mut Stage, run: &mut dyn Run, buffer: &mut [u8]) -> Option<Self> {
        let mut recorder = Recorder::new(LIMIT)?;
        let (mut engine, mut trap) = (Engine::new(), Trap::new()?);
        let missing = engine.is_none();
        let progress = recorder.progress();
        let template = Template::start(&progress, &mut |order| {
            buffer.copy_from_slice(&secrets[order.input]);
            // The preparation of the input is not part of the trace.
            run.prepare(buffer);
            let run = &mut |input: &mut [u8]| run.once(input);
            let engine = engine.as_mut().filter(|_| !order.trap);
            signal::block(engine.is_none());
            let result = match engine {
                Some(engine) => engine.record(&mut recorder, stage, run, buffer),
                None => trap.record(&mut recorder, stage, run, buffer),
            };
            let after = || match recorder.changed() {
                Some(address) => Err(Stop::Changed(address)),
                None if signal::waits() => Err(Stop::Signal),
                None => Ok(()),
            };
            result.and_then(|()| after()).map_err(|stop| recorder.stop(stop)).is_ok()
        })?;
        let (now, reference) = (Recording::default(), Recording::default());
        let operands = vec![Operands::Same; ENTRIES];
        Some(Self { template, recorder, trap: missing, now, reference, recorded: 0, seconds: 0.0, operands })
    }

    fn trace(&mut self, secrets: usize, name: &dyn Fn(usize) -> String) -> Trace {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
        let mut outcome = self.search(secrets);
        #[cfg(target_arch = "x86_64")]
        if !self.trap && matches!(self.recorder.stopped(), Some(Stop::Instruction(_) | Stop::Far(_))) {
            self.trap = true;
            outcome = self.search(secrets);
        }
        let mut trace = Trace { secrets, instructions: self.reference.instructions, ..Trace::default() };
        match outcome {
            Ok(InputOutcome::Equal) => {
                trace.equal = true;
                trace.skipped = self.reference.cut.then(|| reason(Stop::Limit));
            }
            Ok(InputOutcome::Differs(other, parting)) => {
                let (place, advice) = (place::parting(&parting), place::advice(&parting));
                trace.divergence =
                    Some(format!("the traces of {} and {} differ {place}{advice}", name(0), name(other)));
            }
            Ok(InputOutcome::Unclear(reason)) | Err(reason) => trace.skipped = Some(reason),
        }
        if self.reference.marked {
            trace.notes.push("marks in the code limit the comparison to a part of the call".to_owned());
        }
        (trace.masked, trace.variable_latency) = self.variable_latency();
        trace.notes.extend(masks(&trace.masked));
        if trace.equal && !trace.variable_latency.iter().any(|instruction| instruction.secret) {
            trace.equal = self.restless().is_none();
            trace.skipped = self.restless().or(trace.skipped);
        }
        trace.instruction_sets = self.instruction_sets();
        trace.unoptimized = optimization::missing(self.recorder.blocks(&self.reference));
        (trace.recorded, trace.seconds) = (self.recorded, self.seconds);
        trace
    }

    fn search(&mut self, secrets: usize) -> Result<InputOutcome, String> {
        self.record(0, 0)?;
        self.keep();
        if self.reference.instructions == 0 {
            return Ok(InputOutcome::Unclear(UNSUPPORTED.to_owned()));
        }
        for _ in 0..if self.reference.varies { REPEATS } else { 1 } {
            self.record(0, 0)?;
            if !self.now.same(&self.reference) {
                return self.unclear(0);
            }
            self.note_operands(Operands::Restless);
        }
        for index in 1..secrets {
            self.record(index, 0)?;
            self.note_operands(Operands::Secret);
            if !self.now.same(&self.reference) {
                return self.confirm(index);
            }
        }
        Ok(InputOutcome::Equal)
    }

    /// Records a call. If there is no recording, the error states the reason.
    fn record(&mut self, input: usize, from: u64) -> Result<(), String> {
        self.recorder.begin(from);
        let before = Instant::now();
        let end = self.template.call(Order { input, trap: self.trap });
        let stopped = self.recorder.stopped();
        match (stopped, end) {
            (None, End::Done) | (Some(Stop::Limit), _) => self.now = self.recorder.recording(),
            (Some(stop), _) => return Err(reason(stop)),
            (None, end @ End::Signal(_)) => return Err(format!("{}, where no signal handlers run", ended(end))),
            (None, end) => return Err(ended(end)),
        }
        self.seconds += before.elapsed().as_secs_f64();
        self.recorded += self.now.instructions;
        Ok(())
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.now, &mut self.reference);
    }

    /// If the traces of the first input and of another input differ, records more calls with these two inputs. If one
    /// input gives several different traces, the input is not the cause of the difference. The order of the recordings
    /// is random, because some values, for example process numbers, change in a fixed order.
    fn confirm(&mut self, other: usize) -> Result<InputOutcome, String> {
        let (mut random, mut left) = (Random::new(fresh_seed()), [REPEATS; 2]);
        let theirs = std::mem::take(&mut self.now);
        while left != [0; 2] {
            let which = random.bits() as usize & 1;
            left[which] = left[which].saturating_sub(1);
            self.record([0, other][which], 0)?;
            if which == 0 && !self.now.same(&self.reference) {
                return self.unclear(0);
            }
            if which == 1 && !self.now.same(&theirs) {
                self.reference = theirs;
                return self.unclear(other);
            }
        }
        self.now = theirs;
        Ok(InputOutcome::Differs(other, self.part(0, other)?))
    }

    /// Returns an outcome with a text that describes where the last two recordings differ. Both recordings have the
    /// same input.
    fn unclear(&mut self, input: usize) -> Result<InputOutcome, String> {
        let parting = place::parting(&self.part(input, input)?);
        Ok(InputOutcome::Unclear(format!("the same input gives traces that differ {parting}")))
    }

    /// Returns the point at which the last two recordings differ. If this point lies outside the part that was recorded
    /// in detail, the function records both calls again, with details around this point.
    fn part(&mut self, first: usize, other: usize) -> Result<Parting, String> {
        if let Some(parting) = self.walk() {
            return Ok(parting);
        }
        let (a, b) = (&self.reference.hashes, &self.now.hashes);
        let from = a.iter().zip(b).take_while(|(a, b)| a == b).count() as u64 * INTERVAL;
        self.record(first, from)?;
        self.keep();
        self.record(other, from)?;
        Ok(self.walk().unwrap_or(Parting::After(from)))
    }

    fn walk(&self) -> Option<Parting> {
        let (a, b) = (&self.reference.log, &self.now.log);
        let (mut place, mut index, mut last) = (0, self.reference.from, None);
        loop {
            let next = [a.get(place).copied(), b.get(place).copied()];
            if next == [None, None] {
                return None;
            }
            let (true, Some(instruction)) = (next[0] == next[1], next[0]) else {
                return Some(Parting::Path { index, last, next });
            };
            for word in 0..self.recorder.words(instruction) {
                let values = [*a.get(place + 1 + word)?, *b.get(place + 1 + word)?];
                if values[0] != values[1] {
                    let decoded = self.recorder.entry(instruction)?.decoded;
                    return Some(if decoded.kind == Kind::System {
                        Parting::System { index, instruction, number: a[place + 1], word, values }
                    } else if decoded.is_address(word) {
                        Parting::Memory { index, instruction, addresses: values }
                    } else {
                        Parting::Operand { index, instruction, values }
                    });
                }
            }
            place += 1 + self.recorder.words(instruction);
            index += 1;
            last = Some(instruction);
        }
    }

    fn note_operands(&mut self, differ: Operands) {
        for (index, operands) in self.operands.iter_mut().enumerate().take(self.recorder.entries.len()) {
            let (a, b) = (self.reference.count(index), self.now.count(index));
            // If the two calls followed different paths, the instruction may have been executed with other values. If
            // the paths differ, the lab reports the different paths instead of the operands.
            if *operands == Operands::Same && a.times == b.times && a.operands != b.operands {
                *operands = differ;
            }
        }
    }

    /// Searches for an instruction whose time depends on its operands, but whose operands cannot be compared. Returns
    /// the reason. These operands differ between calls with the same input, so the trace cannot show a difference
    /// between secrets. For example, a random mask that hides the dividend does not hide a secret divisor.
    fn restless(&self) -> Option<String> {
        let mut entries = self.recorder.entries.iter().zip(&self.operands);
        let (entry, _) =
            entries.find(|(entry, operands)| **operands == Operands::Restless && !decode::is_masked(entry.address))?;
        let (mnemonic, place) = (listing::mnemonic(entry.address), place::source(entry.address));
        Some(format!("the operands of `{mnemonic}` in {place} differ between calls with one input"))
    }

    /// Returns the masked loads and stores, and the instructions whose time depends on their operands.
    fn variable_latency(&self) -> (Vec<VariableLatency>, Vec<VariableLatency>) {
        let (mut masked, mut slow) = (Vec::<VariableLatency>::new(), Vec::<VariableLatency>::new());
        for (index, entry) in self.recorder.entries.iter().enumerate() {
            let count = self.reference.count(index).times;
            if count == 0 || entry.decoded.latency.is_none() {
                continue;
            }
            let (instruction, place, secret) = (
                listing::mnemonic(entry.address),
                place::source(entry.address),
                self.operands[index] == Operands::Secret,
            );
            let all = if decode::is_masked(entry.address) { &mut masked } else { &mut slow };
            match all.iter_mut().find(|known| known.instruction == instruction && known.place == place) {
                Some(known) => {
                    known.count += count;
                    known.secret |= secret;
                }
                None => all.push(VariableLatency { instruction, place, count, secret }),
            }
        }
        (masked, slow)
    }

    fn instruction_sets(&self) -> Vec<String> {
        let ran = |(index, _): &(usize, _)| self.reference.count(*index).times + self.now.count(*index).times > 0;
        let entries = self.recorder.entries.iter().enumerate().filter(ran);
        entries
            .flat_map(|(_, entry)| listing::instruction_sets(entry.address))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

/// Returns a note if masks differ between inputs, because the traces do not compare masks.
fn masks(accesses: &[VariableLatency]) -> Option<String> {
    let mut differing = accesses.iter().filter(|access| access.secret);
    let first = differing.next()?;
    let more = match differing.count() {
        0 => String::new(),
        more => format!(" and {more} more masked {}", plural(more as u64, "instruction", "instructions")),
    };
    Some(format!(
        "the input decides which bytes are accessed by `{}` in {}{more}; the traces compare only the addresses",
        first.instruction, first.place
    ))
}
