//! The opened data of a sealed file in blocks, of which the last ones that were read stay in memory.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::command::open::range::library;
use crate::place::input::Input;
use crate::tell::failure::{Exit, Failure};
use deadpan_ct::Wiped;
use deadpan_seal::{Cursor, Error, Opened, RangeReader, ReadAt};

/// The length of a block: the data of one segment, so that each segment is opened once.
pub const BLOCK: u64 = (1 << 18) - 32;

/// The most blocks in memory, which take 16 MiB. The system also keeps what it has read.
const MOST: usize = 64;

/// The input, as several readers share it.
pub struct SharedInput(Arc<Input>);

impl ReadAt for SharedInput {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.data.read_at(buffer, position)
    }
}

/// A reader of the opened data.
pub type DataReader = RangeReader<Cursor<SharedInput>>;

/// A part of the data.
pub struct Block {
    data: Wiped<Vec<u8>>,
    /// The ranges that are damaged, and why the first of them is.
    gaps: Vec<Range<usize>>,
    pub damage: Option<String>,
}

impl Block {
    /// The bytes in this range of the block; `None` if one of them is damaged or is behind the end of the data.
    pub fn part(&self, range: Range<usize>) -> Option<&[u8]> {
        let is_damaged = self.gaps.iter().any(|gap| gap.start < range.end && range.start < gap.end);
        self.data.get(range).filter(|_| !is_damaged)
    }
}

/// A place for a block. Its lock is held while the block is read, so that two threads do not read the same block.
type Slot = Arc<Mutex<Option<Arc<Block>>>>;

/// The blocks in memory.
#[derive(Default)]
struct Cache {
    slots: HashMap<u64, (Slot, u64)>,
    /// Buffers of blocks that are gone. Memory that the system has to hand out anew for each block costs time.
    spare: Vec<Wiped<Vec<u8>>>,
    /// Counts the uses, so that the slot that was not used for the longest time is known.
    uses: u64,
}

impl Cache {
    fn slot(&mut self, number: u64) -> Slot {
        self.uses += 1;
        if !self.slots.contains_key(&number)
            && self.slots.len() >= MOST
            && let Some(oldest) = self.slots.iter().min_by_key(|(_, (_, used))| *used).map(|(number, _)| *number)
        {
            let gone = self.slots.remove(&oldest).and_then(|(slot, _)| Arc::into_inner(slot)?.into_inner());
            self.spare.extend(gone.and_then(Arc::into_inner).map(|block| block.data));
        }
        let (slot, used) = self.slots.entry(number).or_default();
        *used = self.uses;
        Arc::clone(slot)
    }
}

/// The data of a sealed file, for several threads.
pub struct Blocks {
    input: Arc<Input>,
    opened: Opened,
    name: String,
    /// Readers that no thread uses at the moment.
    readers: Mutex<Vec<DataReader>>,
    cache: Mutex<Cache>,
    told: Mutex<HashSet<u64>>,
}

impl Blocks {
    pub fn new(input: Input, opened: Opened) -> Self {
        let name = input.shown();
        let (readers, cache, told) = Default::default();
        Self { input: Arc::new(input), opened, name, readers, cache, told }
    }

    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Returns a new reader of the data.
    pub fn reader(&self) -> Result<DataReader, Failure> {
        let length = self.input.length().unwrap_or(0);
        let cursor = Cursor::new(SharedInput(Arc::clone(&self.input)), length);
        self.opened.seek_in(cursor).map_err(|error| Failure::seal(&self.name, error))
    }

    /// Returns a block, from memory or from the file.
    ///
    /// # Errors
    /// If the file cannot be read. Damage is no error: the block knows which of its bytes are damaged.
    pub fn block(&self, number: u64) -> Result<Arc<Block>, Failure> {
        let slot = self.cache.lock().slot(number);
        let mut slot = slot.lock();
        if let Some(block) = &*slot {
            return Ok(Arc::clone(block));
        }
        let reader = self.readers.lock().pop();
        let mut reader = reader.map_or_else(|| self.reader(), Ok)?;
        let buffer = self.cache.lock().spare.pop().unwrap_or_else(|| Wiped::new(Vec::with_capacity(BLOCK as usize)));
        let block = read(&mut reader, number, buffer).map_err(|error| Failure::seal(&self.name, error))?;
        let block = Arc::new(block);
        self.readers.lock().push(reader);
        *slot = Some(Arc::clone(&block));
        Ok(block)
    }

    /// Records that damage is told. Returns how many places were told before, or `None` if this place was one of them.
    pub fn told(&self, place: u64) -> Option<usize> {
        let mut told = self.told.lock();
        let before = told.len();
        told.insert(place).then_some(before)
    }
}

/// Reads the data through the blocks.
pub struct BlockReader {
    blocks: Arc<Blocks>,
    position: u64,
    length: u64,
}

impl BlockReader {
    /// `length` is the length of the data.
    pub fn new(blocks: Arc<Blocks>, length: u64) -> Self {
        Self { blocks, position: 0, length }
    }
}

impl Read for BlockReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let within = (self.position % BLOCK) as usize;
        let room = self.length.saturating_sub(self.position).min(BLOCK - within as u64);
        let length = usize::try_from(room).map_or(buffer.len(), |room| room.min(buffer.len()));
        if length == 0 {
            return Ok(0);
        }
        let block = self.blocks.block(self.position / BLOCK).map_err(Failure::into_io)?;
        let Some(bytes) = block.part(within..within + length) else {
            let damage = block.damage.clone().unwrap_or_else(|| "the file has become shorter".into());
            return Err(Failure::new(Exit::Data, damage, "restore it from another copy").into_io());
        };
        buffer[..length].copy_from_slice(bytes);
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for BlockReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// Reads a block into this buffer. Goes on after a damaged segment.
fn read(reader: &mut DataReader, number: u64, mut data: Wiped<Vec<u8>>) -> Result<Block, Error> {
    let begin = number.saturating_mul(BLOCK);
    let length = reader.length().saturating_sub(begin).min(BLOCK) as usize;
    let (mut gaps, mut damage, mut at) = (Vec::new(), None, 0);
    data.resize(length, 0);
    while at < length {
        reader.seek(SeekFrom::Start(begin + at as u64)).map_err(library)?;
        at = match reader.read(&mut data[at..]).map_err(library) {
            Ok(0) => break,
            Ok(read) => at + read,
            Err(error @ (Error::Segment { .. } | Error::Truncated | Error::Compressed(_))) => {
                let end = (reader.skip_segment().max(begin + at as u64 + 1) - begin).min(length as u64) as usize;
                gaps.push(at..end);
                damage.get_or_insert_with(|| error.to_string());
                end
            }
            Err(error) => return Err(error),
        };
    }
    data.truncate(at);
    Ok(Block { data, gaps, damage })
}
