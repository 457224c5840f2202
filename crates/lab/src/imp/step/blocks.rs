//! Runs a copy of a function's code. The copy consists of blocks, and each block ends at a jump. Each block first
//! reserves a record in a log, and then writes each address that the block accesses to this record. When the log is
//! full, [`StepBlocks::ran`] reads the log. This method is many times faster than single-stepping, which needs one
//! signal for each instruction.
//!
//! The stack contains return addresses of the original code, so that unwinding works, and code that reads its own stack
//! works too. Therefore each copied call, return and indirect jump searches a table for the copy of its target. The
//! copied code has the same registers, flags and stack contents as the original code, including the 128 bytes below the
//! stack pointer. All other data is in the GS segment ([`state`]), which programs for Linux do not use.
//!
//! The engine records two kinds of instructions one at a time, from the saved registers: instructions whose addresses
//! depend not only on general registers, and instructions whose time depends on operands.

mod cache;
mod emit;
pub(super) mod run;
mod state;
mod translate;

use super::call::{Function, Stage, Start};
use super::process::end;
use super::registers::{FLAGS, Layout, RIP};
use super::shared::Array;
use super::{StepBlocks, Stop};
use cache::Cache;
use state::{ENGINE, RESUME, Request, State, TARGET};

/// The maximum number of copied blocks. The same limit applies to the number of instructions that are recorded one at a
/// time.
const PIECES: usize = 1 << 18;
const SLOTS: usize = 2 * PIECES;
/// The positions, within the saved registers, of the registers that an instruction with a `rep` prefix changes.
const RDI: usize = 8;
const RSI: usize = 9;
const RCX: usize = 14;
/// The direction flag.
const BACKWARD: u64 = 1 << 10;

/// A copied block, or an instruction that is recorded from the saved registers.
#[derive(Clone, Copy)]
struct Piece {
    address: u64,
    copy: u64,
}

/// A copied jump whose target was not copied yet.
#[derive(Clone, Copy)]
struct Link {
    site: u64,
    target: u64,
}

/// An instruction that is recorded from the saved registers.
#[derive(Clone, Copy)]
struct Slow {
    address: u64,
    resume: u64,
    /// The size of an element in bytes, if the instruction repeats without a condition. If an instruction repeats
    /// without a condition, the engine records all its repetitions at once.
    repeats: Option<u8>,
    /// A mask of the bits of RCX that contain the count.
    count: u64,
}

/// The copied code and its data. The processes of all calls share the copied code.
pub(crate) struct Engine {
    state: State,
    caches: Vec<Cache>,
    pieces: Array<Piece>,
    slots: Array<u32>,
    links: Array<Link>,
    slow: Array<Slow>,
    /// For each block, the address at which its copy starts.
    starts: Array<u64>,
    /// For each cache, the number of used bytes.
    used: Array<usize>,
    layout: Layout,
    step: Option<std::ptr::NonNull<dyn StepBlocks>>,
    end: u64,
    ended: bool,
}

impl Engine {
    /// Returns `None` if the processor lacks SSE 4.2 or XSAVE, or the system refuses executable memory.
    pub(crate) fn new() -> Option<Box<Self>> {
        if !(is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("xsave")) {
            return None;
        }
        let caches = Cache::all()?;
        Some(Box::new(Self {
            state: State::new(run::exit as *const () as usize, run::lookup as *const () as usize)?,
            used: Array::filled(0, caches.len())?,
            caches,
            pieces: Array::new(PIECES)?,
            slots: Array::filled(0, SLOTS)?,
            links: Array::new(4 * PIECES)?,
            slow: Array::new(PIECES)?,
            starts: Array::new(PIECES)?,
            layout: Layout::default(),
            step: None,
            end: 0,
            ended: false,
        }))
    }

    /// Calls the function and reports its instructions to `step`. This method runs in the process of the traced call,
    /// and the process ends if the recording ends early.
    pub(crate) fn record(
        &mut self,
        step: &mut (dyn StepBlocks + 'static),
        stage: &mut Stage,
        run: &mut Function<'_>,
        input: &mut [u8],
    ) -> Result<(), Stop> {
        const SET_GS: i32 = 0x1001;
        self.layout = Layout::detect();
        self.step = Some(std::ptr::NonNull::from(step));
        for (cache, used) in self.caches.iter_mut().zip(self.used.iter()) {
            cache.set_used(*used);
        }
        let engine = &raw mut *self;
        // SAFETY: the engine lives longer than the call. While copied code runs, only `on_request` uses the engine and
        // the recorder. On x86-64 Linux, no other code of a program uses GS.
        let (panic, ended) = unsafe {
            (*engine).state.set(ENGINE, engine.expose_provenance() as u64);
            if libc::syscall(libc::SYS_arch_prctl, SET_GS, (*engine).state.base()) != 0 {
                return Err(Stop::Escape);
            }
            let panic = stage.enter(run, input, Start::Copy, &raw mut (*engine).end);
            (panic, (*engine).ended)
        };
        match (panic, ended) {
            (_, false) => Err(Stop::Escape),
            (Some(_), true) => Err(Stop::Panic),
            (None, true) => Ok(()),
        }
    }

    fn serve(&mut self, step: &mut dyn StepBlocks) -> Result<(), Stop> {
        let (request, number) = self.state.request();
        let resume = match request {
            Request::Full => {
                self.flush(step);
                self.starts[number]
            }
            Request::Find => {
                let target = self.state.get(TARGET);
                if target == self.end {
                    self.flush(step);
                    self.ended = true;
                    target
                } else {
                    let copy = self.copy(target, step)?;
                    self.state.remember(target, copy);
                    copy
                }
            }
            Request::Link => {
                let Link { site, target } = self.links[number];
                let copy = self.copy(target, step)?;
                self.caches.iter_mut().filter(|cache| cache.contains(site)).for_each(|cache| cache.link(site, copy));
                copy
            }
            Request::Slow => {
                self.flush(step);
                let slow = self.slow[number];
                self.slow_step(slow, step);
                slow.resume
            }
        };
        self.state.set(RESUME, resume);
        Ok(())
    }

    fn flush(&mut self, step: &mut dyn StepBlocks) {
        if !self.state.flush(|log| step.ran(log)) {
            end();
        }
    }

    fn slow_step(&mut self, slow: Slow, step: &mut dyn StepBlocks) {
        self.state.set_register(RIP, slow.address);
        let before = [RDI, RSI, RCX].map(|index| (index, self.state.register(index)));
        let count = before[2].1 & slow.count;
        let rounds = if slow.repeats.is_some() { count.max(1) } else { 1 };
        let back = self.state.register(FLAGS) & BACKWARD != 0;
        for round in 0..rounds {
            if let Some(size) = slow.repeats {
                let distance = round.wrapping_mul(size.into());
                let moved = |from: u64| if back { from.wrapping_sub(distance) } else { from.wrapping_add(distance) };
                self.state.set_register(RDI, moved(before[0].1));
                self.state.set_register(RSI, moved(before[1].1));
                self.state.set_register(RCX, count - round);
            }
            if !step.step(&self.state.registers(self.layout)) {
                end();
            }
        }
        for (index, word) in before {
            self.state.set_register(index, word);
        }
    }

    /// Returns the copy of the code at `address`, and creates this copy if necessary.
    fn copy(&mut self, address: u64, step: &mut dyn StepBlocks) -> Result<u64, Stop> {
        match self.find(address) {
            Some(piece) => Ok(piece.copy),
            None => self.translate(address, step),
        }
    }

    fn find(&self, address: u64) -> Option<Piece> {
        let piece = (self.slots[self.slot(address)] as usize).checked_sub(1)?;
        Some(self.pieces[piece])
    }

    /// Returns the table slot of the copy for `address`, or a free slot if the code at `address` was not copied yet.
    /// There are always free slots.
    fn slot(&self, address: u64) -> usize {
        let mut slot = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS;
        while let Some(piece) = (self.slots[slot] as usize).checked_sub(1) {
            if self.pieces[piece].address == address {
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
        slot
    }
}

/// Handles a request from the copied code to the engine. [`run::exit`] calls this function on a separate stack.
///
/// # Safety
/// `engine` must be the engine whose copied code runs.
unsafe extern "C" fn on_request(engine: *mut Engine) {
    // SAFETY: the copied code waits, so nothing else uses the engine and the recorder.
    let (engine, step) = unsafe {
        let engine = &mut *engine;
        let Some(mut step) = engine.step else { end() };
        (engine, step.as_mut())
    };
    if let Err(stop) = engine.serve(step) {
        engine.flush(step);
        step.stop(stop);
        end();
    }
}
