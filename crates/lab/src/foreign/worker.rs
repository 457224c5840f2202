//! A worker is a program that measures functions of another language in its own process. This module also contains the
//! targets of a worker.

use std::cell::{Cell, RefCell};
use std::convert::identity;
use std::fmt;
use std::io::Read;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::class::{self, ForeignClass};
use super::connection::{Connection, Fault};
use super::hello::{self, Entry, Hello};
use super::pace::{self, Pace, WorkerClock};
use super::{Abi, Error};
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Run, Slots, Target};
use crate::watch::Watch;

/// The number of the first request. The lab sends the bytes of this number before the lab reads the worker's first
/// message.
const FIRST: u32 = 1;
/// A request with this number instead of a target's number measures without a call.
pub(super) const NO_CALL: u32 = u32::MAX;
/// Maximum number of measurements in one warm-up request.
const WARM: usize = 512;
/// Maximum number of bytes of one request.
const REQUEST: usize = 1 << 20;

/// A running worker: a program that measures functions of another language in its own process.
pub struct Worker {
    shared: Rc<Shared>,
}

/// The data that a worker, its clock and its targets share.
pub(super) struct Shared {
    pub(super) hello: Hello,
    connection: RefCell<Connection>,
    /// The first error of the worker. After an error, the lab sends no more requests.
    fault: RefCell<Option<Error>>,
    number: Cell<u32>,
    pub(super) pace: Cell<Pace>,
    request: RefCell<Vec<u8>>,
}

pub(super) struct Request<'r> {
    pub(super) target: u32,
    pub(super) repeats: u32,
    /// For each measurement, the number of iterations of the worker's delay loop before the measurement.
    pub(super) before: &'r [u32],
    /// For each measurement, the number of iterations of the delay loop inside the measurement. The slice `within` is
    /// empty if the measurements contain no delay.
    pub(super) within: &'r [u32],
    /// Length of an input.
    pub(super) length: usize,
    pub(super) inputs: &'r [u8],
}

impl Worker {
    /// Starts a command line through `sh`, reads the worker's first message, and measures its clock. Each answer of the
    /// worker must come within `limit`.
    ///
    /// # Errors
    /// Fails if the command does not start, if the worker ends or does not answer in time, or if the worker breaks the
    /// protocol.
    pub fn start(command: &str, limit: Duration) -> Result<Self, Error> {
        let mut connection = Connection::start(command, limit)?;
        let hello = connection.within("at its start", |input, output| {
            // If the lab did not send these bytes, a program that only prints its input would wait for the lab, and the
            // lab would wait for this program. The result of the write is ignored, because the read below fails if the
            // program has ended.
            let _ = input.write_all(&FIRST.to_le_bytes()).and_then(|()| input.flush());
            greeting(output)
        })?;
        let shared = Rc::new(Shared {
            hello,
            connection: RefCell::new(connection),
            fault: RefCell::new(None),
            number: Cell::new(FIRST - 1),
            pace: Cell::new(Pace::default()),
            request: RefCell::new(Vec::new()),
        });
        let pace = pace::measure(&shared)?;
        shared.pace.set(pace);
        Ok(Self { shared })
    }

    /// The worker's description of itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.shared.hello
    }

    /// Returns the worker's clock. The lab must measure the worker's targets with this clock.
    #[must_use]
    pub fn clock(&self) -> WorkerClock {
        WorkerClock::new(Rc::clone(&self.shared))
    }

    /// Returns the smallest time difference, in nanoseconds, that the lab reports as a leak for this worker. This
    /// threshold is half of an iteration of the worker's delay loop, but at least one nanosecond. A run tests itself
    /// with added delays, and the shortest possible delay is one iteration.
    #[must_use]
    pub fn delta_ns(&self) -> f64 {
        let pace = self.shared.pace.get();
        (pace.turn_ticks * 1e9 / self.shared.hello.hertz / 2.0).max(1.0).ceil()
    }

    /// Returns the worker's functions as targets. If `classes` is not empty, the targets have these classes instead of
    /// the classes that the worker states.
    ///
    /// # Errors
    /// Fails if a class does not suit the parts of an input.
    pub fn targets(&self, classes: &[ForeignClass]) -> Result<Vec<Target>, Error> {
        let entries = self.shared.hello.targets.iter().enumerate();
        entries.map(|(index, entry)| self.target(index, entry, classes)).collect()
    }

    /// Returns the argument description of the first target. This description is necessary to read a class from a file.
    #[must_use]
    pub fn abi(&self) -> &Abi {
        &self.shared.hello.targets[0].abi
    }

    fn target(&self, index: usize, entry: &Entry, classes: &[ForeignClass]) -> Result<Target, Error> {
        let run = Remote { shared: Rc::clone(&self.shared), index: index as u32, sent: (0, 0.0) };
        let target = Target::from_run(&entry.name, entry.abi.length(), run);
        class::add(target, &entry.abi, if classes.is_empty() { &entry.classes } else { classes })
    }

    /// Makes the warm-up calls that the worker requests. The inputs come from all classes in random order.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Worker::check`].
    pub fn warm_up(&self, target: &mut Target, seed: u64) -> Result<(), Error> {
        let named = |entry: &Entry| entry.name == target.name();
        let index = self.shared.hello.targets.iter().position(named).unwrap_or(0) as u32;
        let (mut random, length) = (Random::new(seed), target.length());
        let classes = target.classes().len().max(1) as u64;
        let most = (REQUEST / length).clamp(1, WARM);
        let (mut inputs, mut ticks) = (vec![0; most * length], vec![0; most]);
        let all = self.shared.hello.warm_up as usize;
        let (mut left, begin) = (all, Instant::now());
        while left > 0 && self.shared.fault.borrow().is_none() {
            let count = left.min(most);
            left -= count;
            for input in inputs.chunks_exact_mut(length).take(count) {
                target.fill(random.below(classes) as usize, &mut random, input);
            }
            let before: Vec<u32> = (0..count).map(|_| random.below(8) as u32).collect();
            let inputs = &inputs[..count * length];
            let request = Request { target: index, repeats: 1, before: &before, within: &[], length, inputs };
            self.shared.try_exchange(&request, &mut ticks[..count]);
            let (limit, made) = (self.shared.connection.borrow().limit(), all - left);
            if begin.elapsed() > limit && left > 0 {
                let why = format!(
                    "{made} of the {all} calls of its warm-up took longer than {} s; a slow target needs fewer calls",
                    limit.as_secs_f64()
                );
                self.check()?;
                return self
                    .shared
                    .connection
                    .borrow_mut()
                    .within("while it warmed up", |_, _| Err(Fault::Broken(why)));
            }
        }
        self.check()
    }

    /// Returns the error that ended the worker, if there was an error. All times after the error are zero.
    ///
    /// # Errors
    /// Fails if the worker ended, did not answer in time or broke the protocol.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(fault) = self.shared.fault.borrow_mut().take() { Err(fault) } else { Ok(()) }
    }

    pub(super) fn pace(&self) -> Pace {
        self.shared.pace.get()
    }

    /// Returns a watch that stops a run if `watch` stops the run or the worker fails.
    pub fn watch<'w>(&self, watch: &'w mut dyn Watch) -> Guarded<'w> {
        Guarded { shared: Rc::clone(&self.shared), watch }
    }

    /// Closes the worker's standard input. Returns the exit status if the worker ends soon after the input is closed.
    pub(super) fn close(&self) -> Option<ExitStatus> {
        self.shared.connection.borrow_mut().close()
    }

    pub(super) fn exchange(&self, request: &Request<'_>, ticks: &mut [u64]) -> Result<(), Error> {
        self.shared.exchange(request, ticks)
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker").field("hello", &self.shared.hello).finish_non_exhaustive()
    }
}

impl Shared {
    /// Sends a request and reads the measured times, in ticks, from the answer.
    pub(super) fn exchange(&self, request: &Request<'_>, ticks: &mut [u64]) -> Result<(), Error> {
        let number = self.number.get().wrapping_add(1);
        self.number.set(number);
        let mut bytes = self.request.borrow_mut();
        bytes.clear();
        for word in [number, request.target, request.repeats, ticks.len() as u32, request.length as u32] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for (slot, before) in request.before.iter().enumerate() {
            bytes.extend_from_slice(&before.to_le_bytes());
            bytes.extend_from_slice(&request.within.get(slot).copied().unwrap_or(0).to_le_bytes());
            bytes.extend_from_slice(&request.inputs[slot * request.length..][..request.length]);
        }
        let sent = if number == FIRST { size_of_val(&number) } else { 0 };
        let begin = Instant::now();
        self.connection.borrow_mut().within("while it was measuring", |input, output| {
            input.write_all(&bytes[sent..])?;
            input.flush()?;
            answer(output, number, ticks)
        })?;
        self.plausible(begin.elapsed(), ticks)
    }

    /// Checks that the sum of the measured times is not longer than the exchange with the worker.
    fn plausible(&self, elapsed: Duration, ticks: &[u64]) -> Result<(), Error> {
        let seconds = |decode: fn(u64) -> u64| {
            ticks.iter().fold(0, |sum: u64, &ticks| sum.saturating_add(decode(ticks))) as f64 / self.hello.hertz
        };
        let possible = 1.05 * elapsed.as_secs_f64() + 0.01;
        let counted = seconds(identity);
        if counted <= possible {
            return Ok(());
        }
        let bytes: Vec<u8> = ticks.iter().flat_map(|ticks| ticks.to_le_bytes()).collect();
        let why = match printed(&bytes) {
            Some(text) => mixed(text),
            None if seconds(u64::swap_bytes) <= possible => "its times are not little endian".to_owned(),
            None => format!(
                "its clock counted {counted:.3} s of calls during {:.3} s; is `hertz` right, and is the first reading \
                 subtracted from the second{PRINTS}",
                elapsed.as_secs_f64()
            ),
        };
        self.connection.borrow_mut().within("while it was measuring", |_, _| Err(Fault::Broken(why)))
    }

    /// Like [`Shared::exchange`], but stores the first error. The ticks are zero after an error.
    pub(super) fn try_exchange(&self, request: &Request<'_>, ticks: &mut [u64]) {
        ticks.fill(0);
        if self.fault.borrow().is_some() {
            return;
        }
        if let Err(error) = self.exchange(request, ticks) {
            ticks.fill(0);
            *self.fault.borrow_mut() = Some(error);
        }
    }
}

/// Reads the worker's first message.
fn greeting(output: &mut dyn Read) -> Result<Hello, Fault> {
    let mut magic = [0; 4];
    output.read_exact(&mut magic)?;
    if magic == FIRST.to_le_bytes() {
        return Err(Fault::Broken("it sends its input back instead of a first message".to_owned()));
    }
    if magic != *hello::MAGIC {
        let mut more = vec![0; 60];
        let count = output.read(&mut more).unwrap_or(0);
        let text = String::from_utf8_lossy(&[&magic[..], &more[..count]].concat()).into_owned();
        return Err(Fault::Broken(format!("its first bytes are not `DPWK`, but {text:?}")));
    }
    let version = word(output)?;
    if version == hello::VERSION.swap_bytes() {
        return Err(Fault::Broken("the numbers in its first message are not little endian".to_owned()));
    }
    if version != hello::VERSION {
        return Err(Fault::Version(version));
    }
    let length = word(output)?;
    if length > hello::LONGEST {
        return Err(Fault::Broken(format!("its first message has {length} bytes; are they little endian?")));
    }
    let mut text = vec![0; length as usize];
    output.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| Fault::Broken("its first message is not UTF-8".to_owned()))?;
    Hello::parse(&text).map_err(Fault::Broken)
}

/// Reads the answer to a request.
fn answer(output: &mut dyn Read, number: u32, ticks: &mut [u64]) -> Result<(), Fault> {
    let (found, slots) = (word(output)?, word(output)?);
    let head = [found.to_le_bytes(), slots.to_le_bytes()].concat();
    if found != number || slots as usize != ticks.len() {
        return Err(Fault::Broken(match printed(&head) {
            Some(text) => mixed(text),
            None if (found, slots) == (number.swap_bytes(), (ticks.len() as u32).swap_bytes()) => {
                "the numbers in its answer are not little endian".to_owned()
            }
            None if found == number => format!("it answered {slots} of {} measurements{PRINTS}", ticks.len()),
            None => format!("its answer has the number {found} instead of the request's number {number}{PRINTS}"),
        }));
    }
    let mut bytes = vec![0; 8 * ticks.len()];
    output.read_exact(&mut bytes)?;
    for (ticks, bytes) in ticks.iter_mut().zip(bytes.as_chunks().0) {
        *ticks = u64::from_le_bytes(*bytes);
    }
    Ok(())
}

/// A text that names a likely reason for an invalid answer.
const PRINTS: &str = "; does a target print to standard output?";

/// Returns the first printable text in the bytes of an answer. A text has at least four printable characters in a row,
/// because the bytes of a number hardly ever have so many.
fn printed(bytes: &[u8]) -> Option<&str> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let text = bytes.split(|byte| !plain(byte)).find(|part| part.len() >= 4)?;
    str::from_utf8(&text[..text.len().min(40)]).ok()
}

fn mixed(text: &str) -> String {
    format!(
        "its answer has the text {text:?} in it; a worker and its targets must print to standard error, because \
         standard output has the answers"
    )
}

fn word(output: &mut dyn Read) -> Result<u32, Fault> {
    let mut bytes = [0; 4];
    output.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// A function in a worker's process.
struct Remote {
    shared: Rc<Shared>,
    index: u32,
    /// The number of measurements so far, and the total time in seconds that their requests took in addition to the
    /// measured calls. Large inputs take long to send.
    sent: (usize, f64),
}

impl Run for Remote {
    fn sample(&mut self, _clock: &dyn Clock, slots: &mut Slots<'_>) {
        let request = Request {
            target: self.index,
            repeats: slots.repeats as u32,
            before: &slots.dither[..slots.ticks.len()],
            within: slots.delays,
            length: slots.length,
            inputs: slots.inputs,
        };
        let begin = Instant::now();
        self.shared.try_exchange(&request, slots.ticks);
        let calls = slots.ticks.iter().sum::<u64>() as f64 / self.shared.hello.hertz;
        self.sent.0 += slots.ticks.len();
        self.sent.1 += (begin.elapsed().as_secs_f64() - calls).max(0.0);
    }

    fn preparation(&self) -> f64 {
        self.sent.1 / self.sent.0.max(1) as f64
    }

    fn many(&mut self, _clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64 {
        let (mut ticks, repeats) = ([0], u32::try_from(calls).unwrap_or(u32::MAX));
        let length = input.len();
        let request = Request { target: self.index, repeats, before: &[1], within: &[], length, inputs: input };
        self.shared.try_exchange(&request, &mut ticks);
        ticks[0]
    }

    fn once(&mut self, input: &mut [u8]) {
        let length = input.len();
        let request = Request { target: self.index, repeats: 1, before: &[1], within: &[], length, inputs: input };
        self.shared.try_exchange(&request, &mut [0]);
    }

    fn changes(&self) -> bool {
        false
    }
}

/// A watch that also stops a run when a worker fails.
pub struct Guarded<'w> {
    shared: Rc<Shared>,
    watch: &'w mut dyn Watch,
}

impl Watch for Guarded<'_> {
    fn progress(&mut self, what: &str, done: u64, of: u64) {
        self.watch.progress(what, done, of);
    }

    fn stopped(&self) -> bool {
        self.watch.stopped() || self.shared.fault.borrow().is_some()
    }
}

impl fmt::Debug for Guarded<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Guarded").finish_non_exhaustive()
    }
}
