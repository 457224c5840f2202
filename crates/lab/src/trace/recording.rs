//! The recording of a call: a running hash over all instructions and addresses, a part in detail, and how often each
//! instruction ran.

use iced_x86::InstructionInfoFactory;

use super::decode::{Decoded, decode};
use crate::imp::step::{Registers, Step};

/// Maximum number of different instructions.
pub(super) const ENTRIES: usize = 1 << 16;
const SLOTS: usize = 2 * ENTRIES;
/// Maximum number of words that are kept in detail.
const LOG: usize = 1 << 16;
/// Number of instructions between two intermediate hashes.
pub(super) const INTERVAL: u64 = 1 << 13;

/// An instruction that ran.
pub(super) struct Entry {
    pub(super) address: u64,
    pub(super) decoded: Decoded,
    words: usize,
}

/// How often an instruction ran, and a hash of its operands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) times: u64,
    /// A hash over the operands of all executions, for an instruction whose time depends on them.
    pub(super) operands: u64,
}

/// One traced call.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) hash: u64,
    pub(super) instructions: u64,
    /// The addresses of instructions, each followed by the addresses of its memory accesses.
    pub(super) log: Vec<u64>,
    /// The index of the first instruction in the log.
    pub(super) from: u64,
    full: bool,
    /// The hash after each [`INTERVAL`] instructions.
    pub(super) hashes: Vec<u64>,
    pub(super) counts: Vec<Count>,
    /// Whether the call had more instructions than the limit.
    pub(super) cut: bool,
}

/// Records a call and decodes each instruction that runs for the first time. All memory is allocated at the start, for
/// two reasons: a signal handler must not allocate, and allocations between two calls could move what the traced
/// function allocates.
pub(super) struct Recorder {
    pub(super) entries: Vec<Entry>,
    slots: Vec<u32>,
    factory: InstructionInfoFactory,
    pub(super) now: Recording,
    limit: u64,
    /// Whether there were more different instructions than entries.
    pub(super) crowded: bool,
}

impl Recording {
    fn with_room(limit: u64) -> Self {
        Self {
            log: Vec::with_capacity(LOG),
            hashes: Vec::with_capacity((limit / INTERVAL) as usize + 1),
            counts: Vec::with_capacity(ENTRIES),
            ..Self::default()
        }
    }

    fn begin(&mut self, entries: usize, from: u64) {
        (self.hash, self.instructions, self.from, self.full, self.cut) = (0, 0, from, false, false);
        self.log.clear();
        self.hashes.clear();
        self.counts.clear();
        self.counts.resize(entries, Count::default());
    }

    /// Returns whether both calls had the same trace.
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.hash, self.instructions) == (other.hash, other.instructions)
    }

    /// Returns how often an instruction ran.
    pub(super) fn count(&self, entry: usize) -> Count {
        self.counts.get(entry).copied().unwrap_or_default()
    }

    fn word(&mut self, word: u64, kept: bool) {
        self.hash = mix(self.hash, word);
        if kept {
            self.log.push(word);
        }
    }
}

/// Adds a word to a hash. For a given hash, different words give different hashes. For a given word, different hashes
/// give different hashes. Traces that differ therefore have equal hashes only by chance.
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1)
}

impl Recorder {
    pub(super) fn new(limit: u64) -> (Self, Recording) {
        let mut factory = InstructionInfoFactory::new();
        // The decoder allocates its tables when it decodes the first instruction.
        decode(&mut factory, mix as *const () as u64);
        let entries = Vec::with_capacity(ENTRIES);
        let now = Recording::with_room(limit);
        let recorder = Self { entries, slots: vec![0; SLOTS], factory, now, limit, crowded: false };
        (recorder, Recording::with_room(limit))
    }

    pub(super) fn begin(&mut self, from: u64) {
        self.crowded = false;
        self.now.begin(self.entries.len(), from);
    }

    /// Returns the entry of an instruction.
    pub(super) fn entry(&self, address: u64) -> Option<&Entry> {
        let slot = self.slot(address);
        self.entries.get((self.slots[slot] as usize).checked_sub(1)?)
    }

    /// Returns the number of words that follow an instruction in the log.
    pub(super) fn words(&self, address: u64) -> usize {
        self.entry(address).map_or(0, |entry| entry.words)
    }

    /// Returns the slot of the entry, or the free slot for a new one. There are always free slots.
    fn slot(&self, address: u64) -> usize {
        let mut slot = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS;
        while let Some(entry) = (self.slots[slot] as usize).checked_sub(1) {
            if self.entries[entry].address == address {
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    /// Returns the index of the instruction's entry, which is created if necessary. Returns `None` if all entries are
    /// in use.
    fn find(&mut self, address: u64) -> Option<usize> {
        let slot = self.slot(address);
        if self.slots[slot] == 0 {
            if self.entries.len() == ENTRIES {
                self.crowded = true;
                return None;
            }
            let decoded = decode(&mut self.factory, address);
            self.entries.push(Entry { address, words: decoded.words(), decoded });
            self.now.counts.push(Count::default());
            self.slots[slot] = self.entries.len() as u32;
        }
        Some(self.slots[slot] as usize - 1)
    }
}

impl Step for Recorder {
    fn step(&mut self, registers: &Registers<'_>) -> bool {
        if self.now.instructions == self.limit {
            self.now.cut = true;
            return false;
        }
        let address = registers.rip();
        let index = self.find(address);
        let now = &mut self.now;
        let entry = index.and_then(|index| self.entries.get(index));
        let words = entry.map_or(0, |entry| entry.words);
        now.full |= now.log.len() + 1 + words > LOG;
        let kept = now.instructions >= now.from && !now.full;
        now.word(address, kept);
        if let Some(entry) = entry {
            entry.decoded.addresses(registers, |word| now.word(word, kept));
        }
        if let Some((index, entry)) = index.zip(entry)
            && let Some(count) = now.counts.get_mut(index)
        {
            count.times += 1;
            for source in entry.decoded.latency.iter().flatten().flatten() {
                for word in 0..source.words() {
                    count.operands = mix(count.operands, source.word(registers, word));
                }
            }
        }
        now.instructions += 1;
        if now.instructions.is_multiple_of(INTERVAL) {
            now.hashes.push(now.hash);
        }
        true
    }
}
