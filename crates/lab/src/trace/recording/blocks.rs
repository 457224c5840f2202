//! The blocks of a call that the engine `blocks` has recorded. All instructions of a block always run together.

use super::{INTERVAL, Recorder, Recording, mix};
use crate::imp::step::shared::Array;
use crate::imp::step::{Part, Plan, Ran, StepBlocks, Stop};

/// Instructions that are always executed together.
#[derive(Clone, Copy)]
pub(super) struct Block {
    first: usize,
    parts: usize,
    instructions: u64,
    times: u64,
}

/// All blocks, and their words.
pub(super) struct Blocks {
    all: Array<Block>,
    parts: Array<Part>,
}

impl Blocks {
    pub(super) fn new(capacity: usize) -> Option<Self> {
        Some(Self { all: Array::new(capacity)?, parts: Array::new(4 * capacity)? })
    }

    /// Sets the number of times that each block ran to zero.
    pub(super) fn clear(&mut self) {
        self.all.iter_mut().for_each(|block| block.times = 0);
    }

    /// Returns how often each block ran.
    pub(super) fn times(&self) -> Vec<u64> {
        self.all.iter().map(|block| block.times).collect()
    }

    /// Calls `each` with the number of each instruction of each block that ran, and with how often the block ran.
    pub(super) fn executed(&self, mut each: impl FnMut(u32, u64)) {
        for block in self.all.iter().filter(|block| block.times > 0) {
            self.parts(block).iter().filter_map(|part| part.entry).for_each(|entry| each(entry, block.times));
        }
    }

    fn parts(&self, block: &Block) -> &[Part] {
        &self.parts[block.first..block.first + block.parts]
    }
}

impl Recorder {
    /// Returns each block, and how often the block was executed in this recording.
    pub(in crate::trace) fn blocks(&self, recording: &Recording) -> impl Iterator<Item = (Vec<u64>, u64)> {
        let address = |part: &Part| part.entry.map(|_| part.value);
        let addresses = move |block| self.blocks.parts(block).iter().filter_map(address).collect();
        self.blocks.all.iter().map(addresses).zip(recording.blocks.iter().copied())
    }

    /// Records the instructions of a block one by one. Recording one by one is necessary if the recording may need
    /// details of the block, or if the block may reach an intermediate hash or the limit. Returns false at the limit.
    fn one_by_one(&mut self, block: Block, ran: &Ran) -> bool {
        let mut words = ran.words.iter();
        let mut kept = false;
        for index in block.first..block.first + block.parts {
            let part = self.blocks.parts[index];
            if let Some(entry) = part.entry {
                if index > block.first {
                    self.finish_instruction();
                }
                match self.next(self.entries[entry as usize].words) {
                    Some(detail) => kept = detail,
                    None => return false,
                }
            }
            let logged = if part.logged { words.next().copied().unwrap_or(0) } else { 0 };
            self.word(part.value.wrapping_add(logged), kept);
        }
        self.finish_instruction();
        true
    }
}

impl StepBlocks for Recorder {
    fn plan(&mut self, address: u64) -> Result<Plan, Stop> {
        let index = self.find(address)?;
        Ok(Plan { entry: index as u32, simple: self.entries[index].decoded.simple() })
    }

    fn add(&mut self, parts: &[Part]) -> Option<u32> {
        let Blocks { all, parts: known } = &mut self.blocks;
        let first = known.len();
        if known.room() < parts.len() || all.room() == 0 {
            return None;
        }
        for part in parts {
            known.push(*part);
        }
        let instructions = parts.iter().filter(|part| part.entry.is_some()).count() as u64;
        all.push(Block { first, parts: parts.len(), instructions, times: 0 });
        Some(all.len() as u32 - 1)
    }

    fn ran(&mut self, log: &[Ran]) -> bool {
        self.live.progress += log.len() as u64;
        if self.live.off {
            return true;
        }
        for ran in log {
            let block = &mut self.blocks.all[ran.block as usize];
            block.times += 1;
            let block = *block;
            let live = &*self.live;
            let detail = !live.full && live.instructions + block.instructions > live.from;
            let left = (INTERVAL - live.instructions % INTERVAL).min(self.limit - live.instructions);
            if detail || block.instructions >= left {
                if !self.one_by_one(block, ran) {
                    return false;
                }
                continue;
            }
            let mut hash = live.hash;
            let mut words = ran.words.iter();
            for part in self.blocks.parts(&block) {
                let logged = if part.logged { words.next().copied().unwrap_or(0) } else { 0 };
                hash = mix(hash, part.value.wrapping_add(logged));
            }
            self.live.hash = hash;
            self.live.instructions += block.instructions;
        }
        true
    }
}
