//! What is damaged in a file and in its sidecar.

use crate::Error;
use crate::bits::Bits;
use crate::grid::Grid;
use crate::moved::Moved;

/// What [`Sidecar::check`](crate::Sidecar::check) has found.
#[derive(Debug)]
pub struct Report {
    pub(crate) grid: Grid,
    pub(crate) file_length: u64,
    /// Whether the file has the hash of the original file.
    pub(crate) is_whole: bool,
    /// The blocks that are neither at their place nor elsewhere.
    pub(crate) missing: Bits,
    /// The blocks that were found elsewhere, in order.
    pub(crate) moved: Vec<Moved>,
    /// The damaged recovery blocks, row by row.
    pub(crate) recovery: Bits,
    /// How many headers and marks of the sidecar are damaged.
    pub(crate) damaged_parts: u64,
    /// Whether the sidecar has the right length.
    pub(crate) is_right_length: bool,
}

impl Report {
    /// Whether the file is the original file.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether the sidecar has no damage.
    #[must_use]
    pub fn is_sidecar_whole(&self) -> bool {
        self.recovery.is_empty() && self.damaged_parts == 0 && self.is_right_length
    }

    /// Returns the length of the original file.
    #[must_use]
    pub fn original_length(&self) -> u64 {
        self.grid.length
    }

    /// Returns the length of the checked file.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.file_length
    }

    /// Returns the ranges of the original file whose bytes are missing, in whole blocks: the first byte, and the first
    /// byte after the range.
    pub fn missing(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let block = u64::from(self.grid.block);
        self.missing.runs().map(move |(begin, end)| (begin * block, (end * block).min(self.grid.length)))
    }

    /// Returns the number of bytes of the original file that are missing.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        self.missing().map(|(begin, end)| end - begin).sum()
    }

    /// Returns the number of bytes of the original file that were found at another place than before.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        let block = u64::from(self.grid.block);
        self.moved.iter().map(|moved| (moved.end * block).min(self.grid.length) - moved.begin * block).sum()
    }

    /// Returns the number of bytes of recovery data that are whole.
    #[must_use]
    pub fn recovery_bytes(&self) -> u64 {
        (self.grid.recovery_blocks() - self.recovery.count()) * u64::from(self.grid.block)
    }

    /// Returns the number of bytes of recovery data that are damaged.
    #[must_use]
    pub fn damaged_recovery_bytes(&self) -> u64 {
        self.recovery.count() * u64::from(self.grid.block)
    }

    /// Whether the original file can be made.
    ///
    /// # Errors
    /// [`Error::Foreign`] if no block of the original file was found, and [`Error::TooMuch`] if too few were found.
    pub fn fixable(&self) -> Result<(), Error> {
        if self.is_whole || self.is_each_column_fixable() {
            return Ok(());
        }
        // If no recovery block fits either, the tables are damaged.
        let has_recovery = self.recovery.count() < self.grid.recovery_blocks();
        if self.missing.count() == self.grid.blocks() && has_recovery && self.file_length > 0 {
            return Err(Error::Foreign);
        }
        Err(Error::TooMuch { missing: self.missing_bytes(), available: self.recovery_bytes() })
    }

    fn is_each_column_fixable(&self) -> bool {
        let columns = u64::from(self.grid.columns);
        let mut missing = vec![0u16; columns as usize];
        self.missing.iter().for_each(|block| missing[(block % columns) as usize] += 1);
        let mut damaged = vec![0u16; columns as usize];
        self.recovery.iter().for_each(|block| damaged[(block % columns) as usize] += 1);
        missing.iter().zip(&damaged).all(|(missing, damaged)| missing + damaged <= self.grid.recovery || *missing == 0)
    }

    /// Returns how far a block has moved in the file, or `None` if it is missing.
    pub(crate) fn shift_of(&self, block: u64) -> Option<i64> {
        if self.missing.has(block) {
            return None;
        }
        let after = self.moved.partition_point(|moved| moved.begin <= block);
        let moved = after.checked_sub(1).map(|at| &self.moved[at]).filter(|moved| block < moved.end);
        Some(moved.map_or(0, |moved| moved.shift))
    }
}
