//! The memory that copied code accesses through the GS segment: saved registers, the log, and a table from addresses of
//! original code to addresses of copied code.

use super::super::memory::Mapping;
use super::super::registers::{NOTE, NOTE_MAGIC, VECTORS, WORDS};
use super::super::{Ran, registers};

/// The offsets of words. The copied code saves RAX and RCX in the first two words of this memory.
pub(super) const RAX: u32 = 0;
pub(super) const RCX: u32 = 8;
/// The position of the last record, as a negative offset from the end of the log.
pub(super) const LOG: u32 = 16;
/// The request of the copied code: a [`Request`] and a number.
pub(super) const REQUEST: u32 = 24;
/// For [`Request::Find`], the address in the original code at which the call must continue.
pub(super) const TARGET: u32 = 32;
/// The address at which the copied code continues after the engine has handled a request.
pub(super) const RESUME: u32 = 40;
/// The end of the stack that the engine uses while it handles requests.
pub(super) const STACK: u32 = 48;
/// The addresses of `run::exit` and `run::lookup`.
pub(super) const EXIT: u32 = 56;
pub(super) const LOOKUP: u32 = 64;
/// A word for `run::lookup`.
pub(super) const JUMP: u32 = 72;
/// The address of the engine.
pub(super) const ENGINE: u32 = 80;
/// The registers, in the order of `uc_mcontext`, and the XSAVE area.
pub(super) const REGISTERS: u32 = 0x100;
pub(super) const AREA: u32 = 0x1000;
/// Two tables with one word for each possible hash of a code address. The first table contains the negated address of
/// the original code. The second table contains the address of the copy.
pub(super) const KEYS: u32 = 0x1_0000;
pub(super) const COPIES: u32 = KEYS + HASHES as u32 * 8;
/// The end of the log.
pub(super) const LOG_END: u32 = COPIES + HASHES as u32 * 8 + RECORDS as u32 * RECORD;
const SIZE: usize = LOG_END as usize;

/// The number of possible hashes of a code address.
const HASHES: usize = 1 << 16;
/// The number of records in the log. The number of records is small, so that the log fills only a part of the
/// processor's second-level cache.
const RECORDS: usize = 512;
/// The size in bytes of a record.
pub(super) const RECORD: u32 = size_of::<Ran>() as u32;
/// If the log is empty, [`LOG`] has this value.
const EMPTY: i64 = -((RECORDS as i64 + 1) * RECORD as i64);

/// A request of the copied code. The lower 30 bits of the request's word contain a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// The log is full: empty the log and start this block again.
    Full = 0,
    /// Find the copy for [`TARGET`].
    Find = 1,
    /// Find or create the copy of the target of the jump with this number, and make the jump lead to the copy.
    Link = 2,
    /// Record the instruction with this number from the saved registers.
    Slow = 3,
}

impl Request {
    /// Returns the word for a request.
    pub(super) fn word(self, number: u32) -> u32 {
        (self as u32) << 30 | number
    }
}

pub(super) struct State {
    memory: Mapping,
    _stack: Mapping,
}

impl State {
    pub(super) fn new(exit: usize, lookup: usize) -> Option<Self> {
        const ENGINE_STACK: usize = 256 << 10;
        let stack = Mapping::new(ENGINE_STACK)?;
        let top = stack.start().addr() + ENGINE_STACK;
        let mut state = Self { memory: Mapping::new(SIZE)?, _stack: stack };
        state.set(LOG, EMPTY as u64);
        state.set(STACK, top as u64);
        state.set(EXIT, exit as u64);
        state.set(LOOKUP, lookup as u64);
        state.set(REGISTERS + 8 * VECTORS as u32, state.base() + u64::from(AREA));
        state.set(AREA + NOTE as u32, NOTE_MAGIC.into());
        state.set(AREA + NOTE as u32 + 8, super::run::COMPONENTS.into());
        Some(state)
    }

    /// Returns the address of the memory: this address is the base of GS while copied code runs.
    pub(super) fn base(&self) -> u64 {
        self.memory.start().expose_provenance() as u64
    }

    pub(super) fn get(&self, offset: u32) -> u64 {
        debug_assert!(offset as usize <= SIZE - 8);
        // SAFETY: all offsets are constants of this module or below the length of a table.
        unsafe { self.memory.start().add(offset as usize).cast::<u64>().read() }
    }

    pub(super) fn set(&mut self, offset: u32, word: u64) {
        debug_assert!(offset as usize <= SIZE - 8);
        // SAFETY: all offsets are constants of this module or below the length of a table.
        unsafe { self.memory.start().add(offset as usize).cast::<u64>().write(word) };
    }

    pub(super) fn register(&self, index: usize) -> u64 {
        self.get(REGISTERS + 8 * index.min(WORDS) as u32)
    }

    pub(super) fn set_register(&mut self, index: usize, word: u64) {
        self.set(REGISTERS + 8 * index.min(WORDS) as u32, word);
    }

    /// Returns the saved registers.
    pub(super) fn registers(&mut self, layout: registers::Layout) -> registers::Registers<'_> {
        // SAFETY: the state contains the saved words and the XSAVE area to which the word at `VECTORS` points.
        let mut registers =
            unsafe { registers::Registers::of_words(self.memory.start().add(REGISTERS as usize).cast()) };
        registers.layout = layout;
        registers
    }

    /// Returns the request and its number.
    pub(super) fn request(&self) -> (Request, usize) {
        let word = self.get(REQUEST) as u32;
        let request = match word >> 30 {
            0 => Request::Full,
            1 => Request::Find,
            2 => Request::Link,
            _ => Request::Slow,
        };
        (request, (word & 0x3fff_ffff) as usize)
    }

    /// Calls `each` with every record of the log, and then empties the log. Does nothing if the log is empty.
    pub(super) fn flush(&mut self, each: impl FnOnce(&[Ran]) -> bool) -> bool {
        let count = ((self.get(LOG) as i64 - EMPTY) / i64::from(RECORD)).clamp(0, RECORDS as i64) as usize;
        self.set(LOG, EMPTY as u64);
        // SAFETY: the copied code has written the last `count` records of the log.
        let log = unsafe {
            let from = self.memory.start().add(LOG_END as usize - RECORDS * RECORD as usize);
            std::slice::from_raw_parts(from.cast::<Ran>(), count)
        };
        count == 0 || each(log)
    }

    /// Stores the address of copied code in the tables, so that `run::lookup` finds the copy.
    pub(super) fn remember(&mut self, address: u64, copy: u64) {
        // SAFETY: the engine exists only if the processor has SSE 4.2.
        let hash = (unsafe { super::run::hash(address) } as usize % HASHES) as u32;
        self.set(KEYS + 8 * hash, address.wrapping_neg());
        self.set(COPIES + 8 * hash, copy);
    }
}
