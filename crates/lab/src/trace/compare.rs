//! Records one call after another and finds the instruction at which two traces differ.

use std::collections::BTreeSet;

use super::place;
use super::recording::{ENTRIES, INTERVAL, Recorder, Recording};
use super::{LIMIT, skipped};
use crate::imp::step::Stepper;
use crate::record::{Trace, VariableLatency};

/// The most calls with one input that are recorded until two in a row give the same trace.
const SETTLING: usize = 8;

/// The point at which two traces differ.
pub(super) enum Parting {
    /// The next instructions differ. `None` stands for the call's return.
    Path { index: u64, last: Option<u64>, next: [Option<u64>; 2] },
    /// An instruction accesses different addresses.
    Memory { index: u64, instruction: u64, addresses: [u64; 2] },
    /// The traces differ after this instruction, beyond the part that was kept in detail.
    After(u64),
}

struct Session<'r> {
    stepper: Stepper,
    recorder: Recorder,
    reference: Recording,
    buffer: Vec<u8>,
    run: &'r mut dyn FnMut(&mut [u8]),
    /// State for each entry whose instruction's time depends on its operands.
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

/// The result of a comparison: equal traces, the index of the input whose trace differs, or the reason why the traces
/// cannot be compared.
enum Outcome {
    Equal,
    Differs(usize, Parting),
    Unclear(String),
}

pub(super) fn compare(secrets: &[Vec<u8>], name: &dyn Fn(usize) -> String, run: &mut dyn FnMut(&mut [u8])) -> Trace {
    let Some(stepper) = Stepper::new() else {
        return skipped("the system refuses to install a signal handler");
    };
    let (recorder, reference) = Recorder::new(LIMIT);
    let operands = vec![Operands::Same; ENTRIES];
    let mut session = Session { stepper, recorder, reference, buffer: secrets[0].clone(), run, operands };
    let outcome = session.search(secrets);
    let mut trace = Trace { secrets: secrets.len(), instructions: session.reference.instructions, ..Trace::default() };
    match outcome {
        Outcome::Equal => {
            trace.equal = true;
            trace.skipped =
                session.reference.cut.then(|| format!("only the first {LIMIT} instructions of the call were compared"));
        }
        Outcome::Differs(other, parting) => {
            let (place, advice) = (place::parting(&parting), place::advice(&parting));
            trace.divergence = Some(format!("the traces of {} and {} differ {place}{advice}", name(0), name(other)));
        }
        Outcome::Unclear(reason) => trace.skipped = Some(reason),
    }
    (trace.masked, trace.variable_latency) = session.variable_latency();
    trace.instruction_sets = session.instruction_sets();
    trace
}

impl Session<'_> {
    /// Compares the traces of all inputs with that of the first. This function must not keep memory that it allocates,
    /// because the traced function would then get other addresses from the allocator.
    fn search(&mut self, secrets: &[Vec<u8>]) -> Outcome {
        let first = &secrets[0];
        for secret in [first, first].into_iter().chain(secrets) {
            self.buffer.copy_from_slice(secret);
            self.stepper.call(self.run, &mut self.buffer);
        }
        self.record(first, 0);
        self.keep();
        if self.reference.instructions == 0 {
            return Outcome::Unclear("this machine does not support single-stepping".to_owned());
        }
        if !self.settle(first) {
            let parting = self.part(first, first);
            return Outcome::Unclear(format!("the same input gives traces that differ {}", place::parting(&parting)));
        }
        self.note_operands(Operands::Restless);
        for (index, secret) in secrets.iter().enumerate().skip(1) {
            self.record(secret, 0);
            self.note_operands(Operands::Secret);
            if self.recorder.crowded {
                return Outcome::Unclear("too many different instructions".to_owned());
            }
            if !self.recorder.now.same(&self.reference) {
                match self.confirm(first, secret) {
                    Some(true) => return Outcome::Differs(index, self.part(first, secret)),
                    Some(false) => {}
                    None => {
                        let parting = place::parting(&self.part(first, first));
                        return Outcome::Unclear(format!(
                            "the same input sometimes gives traces that differ {parting}"
                        ));
                    }
                }
            }
        }
        Outcome::Equal
    }

    /// Records an input until two calls in a row give the same trace, which becomes the reference. Returns false if the
    /// last two calls still differ. An allocator that merges free memory late needs a few calls until it returns the
    /// same addresses each time.
    fn settle(&mut self, input: &[u8]) -> bool {
        for _ in 1..SETTLING {
            self.record(input, 0);
            if self.recorder.now.same(&self.reference) {
                return true;
            }
            self.keep();
        }
        self.record(input, 0);
        self.recorder.now.same(&self.reference)
    }

    fn record(&mut self, input: &[u8], from: u64) {
        self.buffer.copy_from_slice(input);
        self.recorder.begin(from);
        self.stepper.record(&mut self.recorder, self.run, &mut self.buffer);
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.recorder.now, &mut self.reference);
    }

    /// Returns whether the traces of the two inputs differ each time. Returns `None` if they differ only sometimes,
    /// because the input is then not the cause.
    fn confirm(&mut self, first: &[u8], other: &[u8]) -> Option<bool> {
        for _ in 0..3 {
            let before = (self.recorder.now.hash, self.recorder.now.instructions);
            self.record(first, 0);
            let steady = self.recorder.now.same(&self.reference);
            self.record(other, 0);
            if steady && before == (self.recorder.now.hash, self.recorder.now.instructions) {
                return Some(!self.recorder.now.same(&self.reference));
            }
        }
        None
    }

    /// Returns the point at which the last two recordings differ. If that point lies beyond the part in detail, both
    /// calls are recorded again with the detail around that point.
    fn part(&mut self, first: &[u8], other: &[u8]) -> Parting {
        if let Some(parting) = self.walk() {
            return parting;
        }
        let (a, b) = (&self.reference.hashes, &self.recorder.now.hashes);
        let from = a.iter().zip(b).take_while(|(a, b)| a == b).count() as u64 * INTERVAL;
        self.record(first, from);
        self.keep();
        self.record(other, from);
        self.walk().unwrap_or(Parting::After(from))
    }

    fn walk(&self) -> Option<Parting> {
        let (a, b) = (&self.reference.log, &self.recorder.now.log);
        let (mut place, mut index, mut last) = (0, self.reference.from, None);
        loop {
            let next = [a.get(place).copied(), b.get(place).copied()];
            if next == [None, None] {
                return None;
            }
            let (true, Some(instruction)) = (next[0] == next[1], next[0]) else {
                return Some(Parting::Path { index, last, next });
            };
            for word in place + 1..=place + self.recorder.words(instruction) {
                let addresses = [*a.get(word)?, *b.get(word)?];
                if addresses[0] != addresses[1] {
                    return Some(Parting::Memory { index, instruction, addresses });
                }
            }
            place += 1 + self.recorder.words(instruction);
            index += 1;
            last = Some(instruction);
        }
    }

    fn note_operands(&mut self, differ: Operands) {
        for (index, operands) in self.operands.iter_mut().enumerate().take(self.recorder.entries.len()) {
            let (a, b) = (self.reference.count(index), self.recorder.now.count(index));
            // On another path the instruction may have run on other values. The different path is then the finding.
            if *operands == Operands::Same && a.times == b.times && a.operands != b.operands {
                *operands = differ;
            }
        }
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
                place::mnemonic(entry.address),
                place::source(entry.address),
                self.operands[index] == Operands::Secret,
            );
            let all = if super::decode::mask(&super::decode::instruction(entry.address)).is_some() {
                &mut masked
            } else {
                &mut slow
            };
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
        let ran =
            |(index, _): &(usize, _)| self.reference.count(*index).times + self.recorder.now.count(*index).times > 0;
        let entries = self.recorder.entries.iter().enumerate().filter(ran);
        entries
            .flat_map(|(_, entry)| place::instruction_sets(entry.address))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }
}
