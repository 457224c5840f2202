//! An open sidecar: its marks and its recovery blocks.

use std::io;

use crate::grid::Grid;
use crate::header::Header;
use crate::mark::{MARK, Mark};
use crate::positions::{ReadAt, is_bad_sector, read_full_at};
use crate::{Error, check, fix};
use crate::{Report, Work, WriteAt};

/// An open sidecar, which may be damaged.
#[derive(Debug)]
pub struct Sidecar<R> {
    source: R,
    length: u64,
    pub(crate) header: Header,
}

impl<R: ReadAt> Sidecar<R> {
    /// Opens a sidecar with this length. One of its three headers must be whole.
    ///
    /// # Errors
    /// [`Error::NotSidecar`] if there is no valid header, [`Error::Newer`] if the sidecar has a newer version, and
    /// [`Error::ReadSidecar`].
    pub fn open(source: R, length: u64) -> Result<Self, Error> {
        let header = Header::find(&source, length)?;
        Ok(Self { source, length, header })
    }

    /// Returns the length that the file had when the sidecar was made.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.grid().length
    }

    /// Returns the length of the sidecar itself.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the whole file and the whole sidecar, and reports what is damaged. If more of the file is damaged than the
    /// recovery data can restore, also looks for blocks that have moved, because bytes were lost or added.
    ///
    /// Sectors that the disk cannot read count as damage.
    ///
    /// # Errors
    /// [`Error::TooMuch`] if the file and the sidecar together are shorter than the original file, so that nothing
    /// could restore it. Otherwise errors of reading.
    pub fn check(&self, file: &(impl ReadAt + ?Sized), length: u64, work: &Work<'_>) -> Result<Report, Error> {
        check::check(self, file, length, work)
    }

    /// Writes the original file to `output`, which must be empty. `report` is the result of
    /// [`check`](Self::check). Reads all that was written again, and compares its hash with that of the original file.
    ///
    /// # Errors
    /// [`Error::TooMuch`] if the recovery data are not enough. [`Error::Contradiction`] if the output does not have the
    /// right hash. Otherwise errors of reading and writing. After an error, the output is not the original file.
    pub fn fix(
        &self,
        file: &(impl ReadAt + ?Sized),
        report: &Report,
        output: &(impl WriteAt + ?Sized),
        work: &Work<'_>,
    ) -> Result<(), Error> {
        fix::fix(self, file, report, output, work)
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.header.grid
    }

    /// How far the end of the sidecar has moved, because bytes of it were lost or added.
    fn shift(&self) -> i64 {
        self.length.wrapping_sub(self.grid().sidecar_length()) as i64
    }

    /// Reads at a place that counts from the beginning, or from the end if `from_end` is set. Zeros replace what is
    /// missing or cannot be read.
    fn read(&self, buffer: &mut [u8], place: u64, from_end: bool) -> Result<(), Error> {
        let position = if from_end { place.checked_add_signed(self.shift()) } else { Some(place) };
        let read = match position {
            Some(position) => read_full_at(&self.source, buffer, position),
            None => Ok(0),
        };
        let read = lenient(read)?;
        buffer[read..].fill(0);
        Ok(())
    }

    /// Reads marks from the first or the second table. `place` is the place of the first one in the grid.
    pub(crate) fn marks(&self, second: bool, place: u64, marks: &mut [u8]) -> Result<(), Error> {
        let grid = self.grid();
        let table = if second { grid.second_table() } else { grid.first_table() };
        self.read(marks, table + place * MARK as u64, second)
    }

    /// Returns the marks of one place from both tables.
    pub(crate) fn both_marks(&self, place: u64) -> Result<[Mark; 2], Error> {
        let mut marks = [0; 2 * MARK];
        let (first, second) = marks.split_at_mut(MARK);
        self.marks(false, place, first)?;
        self.marks(true, place, second)?;
        Ok([Mark::from_slice(first), Mark::from_slice(second)])
    }

    /// Reads a recovery block. Returns whether it is whole: whether it matches one of its marks, at its place from the
    /// beginning or from the end.
    pub(crate) fn recovery_block(&self, row: u64, column: u64, block: &mut [u8]) -> Result<bool, Error> {
        let grid = self.grid();
        let marks = self.both_marks(grid.places() + row * u64::from(grid.columns) + column)?;
        let place = grid.recovery_row(row) + column * u64::from(grid.block);
        for from_end in [false, true] {
            self.read(block, place, from_end)?;
            if marks.iter().any(|mark| mark.fits(block)) {
                return Ok(true);
            }
            if self.shift() == 0 {
                break;
            }
        }
        Ok(false)
    }

    /// Reads adjacent recovery blocks of a row at their place from the beginning.
    pub(crate) fn recovery_run(&self, row: u64, column: u64, blocks: &mut [u8]) -> Result<(), Error> {
        let grid = self.grid();
        self.read(blocks, grid.recovery_row(row) + column * u64::from(grid.block), false)
    }

    /// Returns how many of the three headers are damaged.
    pub(crate) fn damaged_headers(&self) -> Result<u32, Error> {
        let mut damaged = 0;
        for place in self.grid().headers() {
            let mut bytes = [0; crate::header::HEADER];
            self.read(&mut bytes, place, false)?;
            damaged += u32::from(bytes != self.header.to_bytes());
        }
        Ok(damaged)
    }
}

/// Treats sectors that the disk cannot read as missing.
pub(crate) fn lenient(read: io::Result<usize>) -> Result<usize, Error> {
    match read {
        Err(error) if is_bad_sector(&error) => Ok(0),
        read => read.map_err(Error::ReadSidecar),
    }
}
