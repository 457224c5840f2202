//! Reads the opened data of a sealed file in blocks. The blocks that were used last stay in memory.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::command::open::range::library;
use crate::place::input::Input;
use crate::tell::failure::{Exit, Failure};
use deadpan_ct::Wiped;
use deadpan_seal::{Cursor, Error, Opened, RangeReader, ReadAt};

/// The length of a block. A segment holds this number of bytes of data, so each segment is opened once.
pub const BLOCK: u64 = (1 << 18) - 32;

/// The maximum number of blocks in memory. These blocks take 16 MiB.
const MOST: usize = 64;

/// The input, which several readers share.
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
    /// The damaged ranges of the block.
    gaps: Vec<Range<usize>>,
    /// The error for the first damaged range.
    pub damage: Option<String>,
}

impl Block {
    /// Returns the bytes of this range of the block. Returns `None` if one of these bytes is damaged, or if the data
    /// end before the range ends.
    pub fn part(&self, range: Range<usize>) -> Option<&[u8]> {
        let is_damaged = self.gaps.iter().any(|gap| gap.start < range.end && range.start < gap.end);
        self.data.get(range).filter(|_| !is_damaged)
    }
}

/// The place of a block in the cache. A thread holds the lock while it reads the block, so that no other thread reads
/// the same block.
type Slot = Arc<Mutex<Option<Arc<Block>>>>;

/// The blocks in memory.
#[derive(Default)]
struct Cache {
    slots: HashMap<u64, (Slot, u64)>,
    /// The buffers of blocks that left the cache. Using a buffer again is faster than getting new memory from the
    /// system.
    spare: Vec<Wiped<Vec<u8>>>,
    /// The number of uses so far. Each slot has the number of its last use. The slot with the smallest number leaves
    /// the cache first.
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

/// The data of a sealed file. Several threads can read the data at the same time.
pub struct Blocks {
    input: Arc<Input>,
    opened: Opened,
    name: String,
    /// Readers that no thread uses at the moment.
    readers: Mutex<Vec<DataReader>>,
    cache: Mutex<Cache>,
}

impl Blocks {
    pub fn new(input: Input, opened: Opened) -> Self {
        let name = input.shown();
        let (readers, cache) = Default::default();
        Self { input: Arc::new(input), opened, name, readers, cache }
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
}

/// A reader that reads the data from the blocks.
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

/// Reads a block into the buffer `data`. If a segment is damaged, skips the segment and reads the rest of the block.
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
