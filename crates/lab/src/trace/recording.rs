//! The recording of a call. A recording contains a running hash over all instructions and addresses, the details of one
//! part of the call, and the number of times that each instruction ran.

#[cfg(target_arch = "x86_64")]
mod blocks;

use std::ops::Range;

use super::decode::{Decoded, Decoder, Kind};
use super::system;
use crate::imp::step::shared::{Array, Shared};
use crate::imp::step::{Registers, Step, Stop, code, unchanged};
#[cfg(target_arch = "x86_64")]
use blocks::Blocks;

/// Maximum number of different instructions.
pub(super) const ENTRIES: usize = 1 << 18;
const SLOTS: usize = 2 * ENTRIES;
/// The maximum number of words in the detailed part of a recording.
const LOG: usize = 1 << 16;
/// Number of instructions between two intermediate hashes.
pub(super) const INTERVAL: u64 = 1 << 13;

/// An instruction that ran.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) address: u64,
    pub(super) decoded: Decoded,
    words: usize,
    bytes: [u8; 15],
    length: usize,
}

/// How often an instruction ran, and a hash of its operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) times: u64,
    /// For an instruction whose time depends on its operands, a hash over the operands of all executions.
    pub(super) operands: u64,
}

/// One traced call.
#[derive(Clone, Default)]
pub(super) struct Recording {
    pub(super) hash: u64,
    pub(super) instructions: u64,
    /// The addresses of instructions, each followed by the addresses of its memory accesses.
    pub(super) log: Vec<u64>,
    /// The index of the first instruction whose details are in the log.
    pub(super) from: u64,
    /// The intermediate hashes, one after every [`INTERVAL`] instructions.
    pub(super) hashes: Vec<u64>,
    pub(super) counts: Vec<Count>,
    /// How often each block ran.
    #[cfg(target_arch = "x86_64")]
    blocks: Vec<u64>,
    /// Whether the call had more instructions than the limit.
    pub(super) cut: bool,
    /// Whether a start or stop instruction limited the recording to a part of the call.
    pub(super) marked: bool,
    /// Whether the call used a time, a random number, or another value that differs between calls.
    pub(super) varies: bool,
}

/// The part of a recording that changes with each instruction.
#[derive(Clone, Copy, Default)]
struct Live {
    hash: u64,
    instructions: u64,
    from: u64,
    full: bool,
    stop: Option<Stop>,
    /// Whether a stop instruction has switched the recording off.
    off: bool,
    /// Whether the call has executed a start or stop instruction.
    marked: bool,
    /// Whether the call made a system call whose result may differ between calls with the same input.
    varies: bool,
    /// A number that grows while the call runs.
    progress: u64,
}

/// Records a call and decodes each instruction that runs for the first time. The recorder allocates all its memory at
/// the start, because the heap must be the same at the start of each call. The memory is shared, because each call runs
/// in its own process.
pub(super) struct Recorder {
    pub(super) entries: Array<Entry>,
    slots: Array<u32>,
    decoder: Decoder,
    live: Shared<Live>,
    log: Array<u64>,
    hashes: Array<u64>,
    counts: Array<Count>,
    #[cfg(target_arch = "x86_64")]
    blocks: Blocks,
    fixed: Vec<Range<u64>>,
    limit: u64,
}

impl Recording {
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.hash, self.instructions) == (other.hash, other.instructions)
    }

    pub(super) fn count(&self, entry: usize) -> Count {
        self.counts.get(entry).copied().unwrap_or_default()
    }
}

/// Adds a word to a hash. For a given hash, different words give different results. For a given word, different hashes
/// give different results. Different traces therefore have equal hashes only by chance.
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1)
}

/// Returns the ranges of memory that contain code and that the program cannot change, neither directly nor through
/// another mapping of the same memory.
fn fixed() -> Option<Vec<Range<u64>>> {
    let range = |line: &str| {
        let mut words = line.split_whitespace();
        let (range, access) = (words.next()?, words.next()?);
        let writable = access.contains(['w', 's']) || line.contains("/memfd:");
        let (from, to) = range.split_once('-').filter(|_| access.contains('x') && !writable)?;
        Some(u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?)
    };
    Some(std::fs::read_to_string("/proc/self/maps").ok()?.lines().filter_map(range).collect())
}

impl Recorder {
    pub(super) fn new(limit: u64) -> Option<Self> {
        let mut decoder = Decoder::new();
        // The decoder may allocate tables when it decodes its first instruction, so one instruction is decoded here,
        // before any traced call.
        decoder.decode(mix as *const () as u64);
        Some(Self {
            entries: Array::new(ENTRIES)?,
            slots: Array::filled(0, SLOTS)?,
            decoder,
            live: Shared::new(Live::default())?,
            log: Array::new(LOG)?,
            hashes: Array::new((limit / INTERVAL) as usize + 1)?,
            counts: Array::new(ENTRIES)?,
            #[cfg(target_arch = "x86_64")]
            blocks: Blocks::new(ENTRIES)?,
            fixed: fixed()?,
            limit,
        })
    }

    /// Returns a function that reads the progress of the recording. The progress is a number that grows while the
    /// traced call runs.
    pub(super) fn progress(&self) -> impl Fn() -> u64 + use<> {
        let live = self.live.reader();
        move || live().progress
    }

    /// Begins a recording. The detailed part of the recording begins with the instruction number `from`.
    pub(super) fn begin(&mut self, from: u64) {
        *self.live = Live { from, ..Live::default() };
        self.clear();
    }

    fn clear(&mut self) {
        let entries = self.entries.len();
        self.log.clear();
        self.hashes.clear();
        self.counts.clear();
        self.counts.resize(entries, Count::default());
        #[cfg(target_arch = "x86_64")]
        self.blocks.clear();
    }

    /// If the recording ended early, returns the reason.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.live.stop
    }

    /// Returns a copy of the recording.
    pub(super) fn recording(&self) -> Recording {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
        let mut counts = self.counts.to_vec();
        #[cfg(target_arch = "x86_64")]
        self.blocks.executed(|entry, times| {
            if let Some(count) = counts.get_mut(entry as usize) {
                count.times += times;
            }
        });
        let varies = self.entries.iter().zip(&counts).any(|(entry, count)| entry.decoded.varies && count.times > 0);
        Recording {
            hash: self.live.hash,
            instructions: self.live.instructions,
            log: self.log.to_vec(),
            from: self.live.from,
            hashes: self.hashes.to_vec(),
            counts,
            #[cfg(target_arch = "x86_64")]
            blocks: self.blocks.times(),
            cut: self.live.stop == Some(Stop::Limit),
            marked: self.live.marked,
            varies: varies || self.live.varies,
        }
    }

    /// If an instruction has changed since it was decoded, returns its address.
    pub(super) fn changed(&self) -> Option<u64> {
        let changed = |entry: &&Entry| !unchanged(entry.address, &entry.bytes[..entry.length]);
        self.entries.iter().find(changed).map(|entry| entry.address)
    }

    /// Returns each group of neighboring instructions that were executed equally often, and how often.
    #[cfg(target_arch = "aarch64")]
    pub(super) fn blocks(&self, recording: &Recording) -> impl Iterator<Item = (Vec<u64>, u64)> {
        let mut entries: Vec<(u64, u64)> = self
            .entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (entry.address, recording.count(index).times))
            .collect();
        entries.sort_unstable();
        let mut blocks: Vec<(Vec<u64>, u64)> = Vec::new();
        for (address, times) in entries {
            match blocks.last_mut() {
                Some((block, same)) if *same == times && block.last().is_some_and(|last| last + 4 == address) => {
                    block.push(address);
                }
                _ => blocks.push((vec![address], times)),
            }
        }
        blocks.into_iter()
    }

    pub(super) fn entry(&self, address: u64) -> Option<&Entry> {
        let slot = self.slot(address);
        self.entries.get((self.slots[slot] as usize).checked_sub(1)?)
    }

    /// Returns the number of words (memory addresses) that follow the address of this instruction in the log.
    pub(super) fn words(&self, address: u64) -> usize {
        self.entry(address).map_or(0, |entry| entry.words)
    }

    /// Returns the slot of the entry for this address, or a free slot if there is no entry yet. There are always free
    /// slots.
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

    /// Returns the index of the instruction's entry, and creates the entry if necessary.
    fn find(&mut self, address: u64) -> Result<usize, Stop> {
        let slot = self.slot(address);
        if self.slots[slot] == 0 {
            if !self.fixed.iter().any(|range| range.contains(&address)) {
                return Err(Stop::Written(address));
            }
            let (decoded, length) = self.decoder.decode(address);
            if !self.fixed.iter().any(|range| range.contains(&(address + length as u64 - 1))) {
                return Err(Stop::Written(address));
            }
            let (bytes, _) = code(address, length > code(address, false).1);
            if !self.entries.push(Entry { address, words: decoded.words(), decoded, bytes, length }) {
                return Err(Stop::Crowded);
            }
            self.counts.push(Count::default());
            self.slots[slot] = self.entries.len() as u32;
        }
        Ok(self.slots[slot] as usize - 1)
    }

    /// Begins the recording of an instruction that accesses `words` addresses. Returns whether the recording must
    /// contain the addresses of this instruction in detail. Returns `None` if the limit is reached.
    fn next(&mut self, words: usize) -> Option<bool> {
        if self.live.instructions == self.limit {
            self.live.stop = Some(Stop::Limit);
            return None;
        }
        if self.live.instructions >= self.live.from && self.log.room() < 1 + words {
            self.live.full = true;
        }
        Some(self.live.instructions >= self.live.from && !self.live.full)
    }

    fn word(&mut self, word: u64, kept: bool) {
        self.live.hash = mix(self.live.hash, word);
        if kept {
            self.log.push(word);
        }
    }

    fn finish_instruction(&mut self) {
        self.live.instructions += 1;
        if self.live.instructions.is_multiple_of(INTERVAL) {
            let hash = self.live.hash;
            self.hashes.push(hash);
        }
    }

    fn mark(&mut self, kind: Kind) {
        if kind == Kind::Start && !self.live.marked {
            *self.live = Live { from: self.live.from, progress: self.live.progress, ..Live::default() };
            self.clear();
        }
        (self.live.marked, self.live.off) = (true, kind == Kind::Stop);
    }
}

impl Step for Recorder {
    fn step(&mut self, registers: &Registers<'_>) -> bool {
        self.live.progress += 1;
        let address = registers.pc();
        let index = match self.find(address) {
            Ok(index) => index,
            Err(stop) => {
                self.stop(stop);
                return false;
            }
        };
        let Entry { decoded, words, .. } = self.entries[index];
        match decoded.kind {
            Kind::Plain => {}
            Kind::Start | Kind::Stop => {
                self.mark(decoded.kind);
                return true;
            }
            Kind::Other => {
                self.stop(Stop::Instruction(address));
                return false;
            }
            Kind::System => {
                if let Some(stop) = system::refused(registers) {
                    self.stop(stop);
                    return false;
                }
                self.live.varies |= system::varies(registers) && !self.live.off;
            }
        }
        if self.live.off {
            return true;
        }
        let Some(kept) = self.next(words) else { return false };
        self.word(address, kept);
        decoded.addresses(registers, |word| self.word(word, kept));
        let count = &mut self.counts[index];
        count.times += 1;
        for source in decoded.latency.iter().flatten().flatten() {
            for word in 0..source.words() {
                count.operands = mix(count.operands, source.word(registers, word));
            }
        }
        self.finish_instruction();
        true
    }

    fn stop(&mut self, stop: Stop) {
        self.live.stop = Some(stop);
    }
}
