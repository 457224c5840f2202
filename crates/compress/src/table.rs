//! The seek table after the frames, in a skippable frame of Zstandard's seekable format.

use crate::Flaw;
use crate::frame::{FRAME, MAGIC, longest, shortest};

/// The magic number of the skippable frame that holds the table.
pub(crate) const SKIPPABLE: [u8; 4] = 0x184d_2a5e_u32.to_le_bytes();

/// The magic number at the end of the table.
const END: [u8; 4] = 0x8f92_eab1_u32.to_le_bytes();

const _: () = assert!(SKIPPABLE[0] != MAGIC[0]);

/// The number of bytes before the first line of the table, in a line, and after the last line.
pub(crate) const HEAD: usize = 8;
const LINE: usize = 8;
pub(crate) const FOOT: usize = 9;

/// The most frames that a table can have. Their data are 64 TiB.
pub(crate) const MOST: usize = 1 << 24;

/// The lengths of all frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The stored length of each frame.
    stored: Vec<u32>,
    /// The length of the data in the last frame.
    last: u32,
}

impl Table {
    /// Adds a frame. Returns false if the table is full, or if the frame before this one was short.
    pub(crate) fn push(&mut self, stored: usize, length: usize) -> bool {
        let follows = self.stored.is_empty() || self.last as usize == FRAME;
        let fits = follows
            && self.stored.len() < MOST
            && (1..=FRAME).contains(&length)
            && (shortest(length)..=longest(length)).contains(&stored);
        if fits {
            self.stored.push(stored as u32);
            self.last = length as u32;
        }
        fits
    }

    /// Returns the number of frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.stored.len() as u64
    }

    /// Returns the length of the data.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.frames().saturating_sub(1) * FRAME as u64 + u64::from(self.last)
    }

    /// Returns the number of stored bytes, with the table itself.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.stored.iter().map(|&stored| u64::from(stored)).sum::<u64>() + Self::bytes_for(self.stored.len())
    }

    pub(crate) fn bytes_for(frames: usize) -> u64 {
        (HEAD + LINE * frames + FOOT) as u64
    }

    /// Returns the stored lengths of the frames, in order.
    pub(crate) fn stored_lengths(&self) -> &[u32] {
        &self.stored
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + LINE * self.stored.len() + FOOT);
        bytes.extend(SKIPPABLE);
        bytes.extend(((LINE * self.stored.len() + FOOT) as u32).to_le_bytes());
        for (frame, stored) in self.stored.iter().enumerate() {
            let length = if frame + 1 == self.stored.len() { self.last } else { FRAME as u32 };
            bytes.extend(stored.to_le_bytes());
            bytes.extend(length.to_le_bytes());
        }
        bytes.extend((self.stored.len() as u32).to_le_bytes());
        bytes.push(0);
        bytes.extend(END);
        bytes
    }

    /// Reads the number of frames from the last bytes of a table.
    pub(crate) fn frames_in(foot: &[u8; FOOT]) -> Result<usize, Flaw> {
        let [a, b, c, d, 0, end @ ..] = *foot else { return Err(Flaw::Table) };
        let frames = u32::from_le_bytes([a, b, c, d]) as usize;
        if end == END && frames <= MOST { Ok(frames) } else { Err(Flaw::Table) }
    }

    /// Reads a whole table.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        let (rest, foot) = bytes.split_last_chunk::<FOOT>().ok_or(Flaw::Table)?;
        let frames = Self::frames_in(foot)?;
        let (head, lines) = rest.split_first_chunk::<HEAD>().ok_or(Flaw::Table)?;
        let length = ((LINE * frames + FOOT) as u32).to_le_bytes();
        if head[..4] != SKIPPABLE || head[4..] != length || lines.len() != LINE * frames {
            return Err(Flaw::Table);
        }
        let mut table = Self { stored: Vec::with_capacity(frames), last: 0 };
        for line in lines.as_chunks::<LINE>().0 {
            let [a, b, c, d, e, f, g, h] = *line;
            let (stored, length) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
            if !table.push(stored as usize, length as usize) {
                return Err(Flaw::Table);
            }
        }
        Ok(table)
    }
}
