//! What a recording keeps: a running hash over everything, the first part in detail, and how often each instruction ran.

use iced_x86::InstructionInfoFactory;

use super::decode::{Decoded, decode};
use crate::imp::step::{Registers, Step};

/// Different instructions, at most.
pub(super) const ENTRIES: usize = 1 << 16;
const SLOTS: usize = 2 * ENTRIES;
/// Words kept in detail.
const LOG: usize = 1 << 16;
/// Instructions between two intermediate hashes, so many at most.
pub(super) const INTERVAL: u64 = 1 << 13;

/// An instruction that ran.
pub(super) struct Entry {
    pub(super) address: u64,
    pub(super) decoded: Decoded,
    words: usize,
}

/// How often an instruction ran, and on which operands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) times: u64,
    /// Over the operands of each time, for an instruction whose time depends on them.
    pub(super) operands: u64,
}

/// One traced call.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) hash: u64,
    pub(super) instructions: u64,
    /// Instruction addresses, each with the addresses in memory behind it.
    pub(super) log: Vec<u64>,
    /// The instruction with which the log begins.
    pub(super) from: u64,
    full: bool,
    /// The hash after every [`INTERVAL`].
    pub(super) hashes: Vec<u64>,
    pub(super) counts: Vec<Count>,
    /// The call was longer than the limit.
    pub(super) cut: bool,
}

/// Records, and decodes what it meets for the first time. All memory is there from the beginning, for two reasons: a signal handler must
/// not allocate, and what is allocated between two calls could move what the traced function allocates.
pub(super) struct Recorder {
    pub(super) entries: Vec<Entry>,
    slots: Vec<u32>,
    factory: InstructionInfoFactory,
    pub(super) now: Recording,
    limit: u64,
    /// There was an instruction without room.
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

    /// Whether both calls did the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.hash, self.instructions) == (other.hash, other.instructions)
    }

    /// How often an instruction ran.
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

/// For a given hash, different words give different hashes, and the other way round: what has parted stays apart but for chance.
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1)
}

impl Recorder {
    pub(super) fn new(limit: u64) -> (Self, Recording) {
        let mut factory = InstructionInfoFactory::new();
        // The decoder builds its tables with the first instruction.
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

    /// The entry of an instruction.
    pub(super) fn entry(&self, address: u64) -> Option<&Entry> {
        let slot = self.slot(address);
        self.entries.get((self.slots[slot] as usize).checked_sub(1)?)
    }

    /// How many words stand behind an instruction in the log.
    pub(super) fn words(&self, address: u64) -> usize {
        self.entry(address).map_or(0, |entry| entry.words)
    }

    /// Where the entry is, or would be. There are always free slots.
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

    /// The entry's index, made if need be.
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
