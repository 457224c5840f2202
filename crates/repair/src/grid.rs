//! The grid of blocks into which a file is cut, and the places of everything in its sidecar.

use std::str::FromStr;

use crate::Error;
use crate::mark::MARK;

/// The shortest block: a sector of an old disk.
pub(crate) const SHORTEST: u32 = 512;
/// The longest block.
pub(crate) const LONGEST: u32 = 1 << 16;
/// The longest block that is chosen as long as there are fewer than [`MOST_BLOCKS`] blocks. Longer blocks are hashed
/// faster, but a damaged sector costs a whole block.
const USUAL: u32 = 1 << 14;
/// The maximum number of blocks of a file. A set of all blocks then takes 32 MiB.
pub(crate) const MOST_BLOCKS: u64 = 1 << 28;
/// The number of places in a code word. Data rows and recovery rows, rounded up to a power of two, have at most so many
/// places.
pub(crate) const PLACES: usize = 1024;

/// How much recovery data a sidecar has, in hundredths of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(u8);

impl Percent {
    /// Takes a percentage from 1 to 100.
    ///
    /// # Errors
    /// [`Error::Percent`] for another number.
    pub fn new(percent: u8) -> Result<Self, Error> {
        if (1..=100).contains(&percent) { Ok(Self(percent)) } else { Err(Error::Percent) }
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for Percent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse().map_err(|_| Error::Percent).and_then(Self::new)
    }
}

/// Returns the length of the sidecar of a file with this length.
///
/// # Errors
/// [`Error::TooLong`] if the file is longer than 16 TiB.
pub fn sidecar_length(length: u64, percent: Percent) -> Result<u64, Error> {
    Grid::choose(length, percent).map(|grid| grid.sidecar_length())
}

/// The grid of a file: `rows` data rows and `recovery` recovery rows with `columns` blocks of `block` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) length: u64,
    pub(crate) block: u32,
    pub(crate) columns: u32,
    pub(crate) rows: u16,
    pub(crate) recovery: u16,
}

impl Grid {
    /// Chooses the grid for a new sidecar.
    pub(crate) fn choose(length: u64, percent: Percent) -> Result<Self, Error> {
        if length == 0 {
            return Ok(Self { length, block: SHORTEST, columns: 0, rows: 0, recovery: 0 });
        }
        let mut block = SHORTEST;
        while block < USUAL && length.div_ceil(u64::from(block) * 2) >= 1024
            || block < LONGEST && length.div_ceil(block.into()) > MOST_BLOCKS
        {
            block *= 2;
        }
        let blocks = length.div_ceil(block.into());
        if blocks > MOST_BLOCKS {
            return Err(Error::TooLong);
        }
        let lost = (blocks * u64::from(percent.get())).div_ceil(100) + 1;
        let grid = (0..10).find_map(|power| {
            let width = 1 << power;
            let columns = blocks.div_ceil(PLACES as u64 - width);
            let rows = blocks.div_ceil(columns);
            let recovery = lost.div_ceil(columns).min(rows);
            let grid = Self { length, block, columns: columns as u32, rows: rows as u16, recovery: recovery as u16 };
            (recovery <= width).then_some(grid)
        });
        grid.filter(Self::is_valid).ok_or(Error::TooLong)
    }

    /// Whether the grid keeps the limits of the format.
    pub(crate) fn is_valid(&self) -> bool {
        let Self { length, block, columns, rows, recovery } = *self;
        if !block.is_power_of_two() || !(SHORTEST..=LONGEST).contains(&block) {
            return false;
        }
        let (blocks, columns, rows) = (length.div_ceil(block.into()), u64::from(columns), u64::from(rows));
        if blocks == 0 {
            return columns == 0 && rows == 0 && recovery == 0;
        }
        blocks <= MOST_BLOCKS
            && (1..=blocks).contains(&columns)
            && rows > 0
            && (rows - 1) * columns < blocks
            && blocks <= rows * columns
            && recovery > 0
            && u64::from(recovery) <= rows
            && rows as usize + usize::from(recovery).next_power_of_two() <= PLACES
    }

    /// The length of a block.
    pub(crate) fn block(&self) -> usize {
        self.block as usize
    }

    /// The number of blocks of the file.
    pub(crate) fn blocks(&self) -> u64 {
        self.length.div_ceil(self.block.into())
    }

    /// The length of a row, in bytes.
    pub(crate) fn row_length(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.block)
    }

    /// The number of recovery blocks.
    pub(crate) fn recovery_blocks(&self) -> u64 {
        u64::from(self.recovery) * u64::from(self.columns)
    }

    /// The number of places for data blocks, with the places in the last row that have no block.
    pub(crate) fn places(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    /// The number of bytes of the file in a block, which is less than a whole block for the last block.
    pub(crate) fn bytes_of(&self, block: u64) -> usize {
        (self.length - block * u64::from(self.block)).min(self.block.into()) as usize
    }

    /// The length of a table, with its padding.
    pub(crate) fn table_length(&self) -> u64 {
        ((self.places() + self.recovery_blocks()) * MARK as u64).next_multiple_of(self.block.into())
    }

    /// The number of recovery rows before the header in the middle.
    fn first_rows(&self) -> u64 {
        u64::from(self.recovery.div_ceil(2))
    }

    /// The offset of the first table in the sidecar.
    pub(crate) fn first_table(&self) -> u64 {
        self.block.into()
    }

    /// The offset of the second table in the sidecar.
    pub(crate) fn second_table(&self) -> u64 {
        self.sidecar_length() - u64::from(self.block) - self.table_length()
    }

    /// The offset of a recovery row in the sidecar.
    pub(crate) fn recovery_row(&self, row: u64) -> u64 {
        let header = if row < self.first_rows() { 0 } else { u64::from(self.block) };
        self.first_table() + self.table_length() + row * self.row_length() + header
    }

    /// The offsets of the headers in the sidecar.
    pub(crate) fn headers(&self) -> [u64; 3] {
        let middle = self.first_table() + self.table_length() + self.first_rows() * self.row_length();
        [0, middle, self.sidecar_length() - u64::from(self.block)]
    }

    /// The length of the sidecar.
    pub(crate) fn sidecar_length(&self) -> u64 {
        3 * u64::from(self.block) + 2 * self.table_length() + u64::from(self.recovery) * self.row_length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths() -> impl Iterator<Item = u64> {
        let around = |power: u32| [-1, 0, 1].map(|by| (1u64 << power).saturating_add_signed(by));
        (0..44).flat_map(around).chain([1_000_000, 100 << 30, 16 << 40])
    }

    #[test]
    fn every_length_and_percentage_has_a_valid_grid() {
        for length in lengths() {
            for percent in 1..=100 {
                let grid = Grid::choose(length, Percent(percent)).unwrap();
                assert!(grid.is_valid(), "{length} {percent} {grid:?}");
                // A burst of the percentage, anywhere, takes at most so many consecutive blocks.
                let burst = (u128::from(length) * u128::from(percent) / 100) as u64;
                let lost = (burst.saturating_sub(2) / u64::from(grid.block) + 2).min(grid.blocks());
                assert!(lost <= grid.recovery_blocks(), "{length} {percent} {grid:?}");
                let [first, middle, last] = grid.headers();
                assert!(length == 0 || first < middle && middle < last);
                assert_eq!(last + u64::from(grid.block), grid.sidecar_length());
            }
        }
        assert!(matches!(Grid::choose((16 << 40) + 1, Percent(10)), Err(Error::TooLong)));
        assert!(matches!(Grid::choose(u64::MAX, Percent(100)), Err(Error::TooLong)));
    }

    #[test]
    fn a_sidecar_is_hardly_longer_than_its_percentage() {
        for length in [64 << 20, 1 << 30, 100 << 30, 16u64 << 40] {
            for percent in [1, 5, 10, 20, 50, 100] {
                let sidecar = sidecar_length(length, Percent(percent)).unwrap();
                let hundredths = sidecar as f64 / length as f64 * 100.0;
                assert!(hundredths < f64::from(percent) + 0.8, "{length} {percent}: {hundredths}");
            }
        }
    }

    #[test]
    fn grids_beyond_the_limits_are_refused() {
        let grid = Grid::choose(10 << 20, Percent(10)).unwrap();
        assert!(grid.is_valid());
        for wrong in [
            Grid { block: 0, ..grid },
            Grid { block: 256, ..grid },
            Grid { block: 1 << 17, ..grid },
            Grid { block: 3 << 12, ..grid },
            Grid { columns: 0, ..grid },
            Grid { columns: u32::MAX, ..grid },
            Grid { columns: grid.columns - 1, ..grid },
            Grid { columns: grid.blocks() as u32 + 1, rows: 1, recovery: 1, ..grid },
            Grid { rows: 0, ..grid },
            Grid { rows: u16::MAX, ..grid },
            Grid { recovery: 0, ..grid },
            Grid { recovery: u16::MAX, ..grid },
            Grid { recovery: 512, ..grid },
            Grid { length: 0, ..grid },
            Grid { length: u64::MAX, ..grid },
        ] {
            assert!(!wrong.is_valid(), "{wrong:?}");
        }
    }
}
