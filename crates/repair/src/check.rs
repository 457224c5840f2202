//! Checks a file and its sidecar: compares all blocks with their marks.

use std::io;

use crate::bits::Bits;
use crate::grid::Grid;
use crate::mark::{MARK, Mark};
use crate::positions::{ReadAt, is_bad_sector, read_full_at};
use crate::sidecar::Sidecar;
use crate::threads::Pieces;
use crate::whole::Whole;
use crate::{Error, Report, Work, moved};

/// The number of bytes that a thread reads at once.
pub(crate) const PIECE: u64 = 1 << 20;
/// More threads than this would wait for memory and the disk.
pub(crate) const MOST_THREADS: usize = 16;

pub(crate) fn check<R: ReadAt>(
    sidecar: &Sidecar<R>,
    file: &(impl ReadAt + ?Sized),
    length: u64,
    work: &Work<'_>,
) -> Result<Report, Error> {
    let grid = *sidecar.grid();
    // The sets of blocks are in proportion to the length in the header, which anybody may have written.
    if grid.length > length.saturating_add(sidecar.length()) {
        return Err(Error::TooMuch { missing: grid.length - length, available: sidecar.length() });
    }
    let Blocks { whole, missing, unequal } = blocks(sidecar, file, length, work)?;
    let recovery = recovery(sidecar, work)?;
    let mut report = Report {
        grid,
        file_length: length,
        is_whole: length == grid.length && whole.finish() == sidecar.header.hash,
        missing,
        moved: Vec::new(),
        recovery: recovery.damaged,
        damaged_parts: unequal + recovery.unequal + u64::from(sidecar.damaged_headers()?),
        is_right_length: sidecar.length() == grid.sidecar_length(),
    };
    if report.is_whole {
        // The marks are damaged, and not the blocks.
        report.missing = Bits::new(grid.blocks());
    } else if report.fixable().is_err() {
        moved::find(sidecar, file, &mut report, work)?;
    }
    Ok(report)
}

/// What is known of the blocks of a file.
struct Blocks {
    whole: Whole,
    missing: Bits,
    /// The number of marks that differ between the two tables.
    unequal: u64,
}

fn blocks<R: ReadAt>(
    sidecar: &Sidecar<R>,
    file: &(impl ReadAt + ?Sized),
    length: u64,
    work: &Work<'_>,
) -> Result<Blocks, Error> {
    let grid = sidecar.grid();
    let blocks = Blocks { whole: Whole::new(grid), missing: Bits::new(grid.blocks()), unequal: 0 };
    let runs = Runs::new(grid);
    Pieces::run(runs.count(), work.threads().min(MOST_THREADS), work, blocks, |pieces| {
        let (mut bytes, mut hashes, mut marks) = (Vec::new(), Vec::new(), Marks::default());
        while let Some(number) = pieces.take()? {
            let (first, count) = runs.get(number);
            let unreadable = read_blocks(file, length, grid, first, count, &mut bytes).map_err(Error::Read)?;
            marks.read(sidecar, first, count)?;
            hashes.clear();
            let mut damaged = Vec::new();
            for (at, block) in bytes.chunks_exact(grid.block()).enumerate() {
                let hash = blake3::hash(block);
                hashes.extend(hash.as_bytes());
                let mark = Mark::new(block, &hash);
                if unreadable.contains(&at) || !marks.at(at).contains(&mark) {
                    damaged.push(first + at as u64);
                }
            }
            work.add(count * u64::from(grid.block));
            pieces.hand_in(number, |blocks| {
                blocks.whole.add_run(first, &hashes);
                blocks.unequal += marks.unequal();
                damaged.iter().for_each(|block| blocks.missing.insert(*block));
            });
        }
        Ok(())
    })
}

/// What is known of the recovery blocks of a sidecar.
struct Recovery {
    damaged: Bits,
    unequal: u64,
}

fn recovery<R: ReadAt>(sidecar: &Sidecar<R>, work: &Work<'_>) -> Result<Recovery, Error> {
    let grid = sidecar.grid();
    let columns = u64::from(grid.columns);
    // A run does not cross the end of a row.
    let per_run = Runs::new(grid).length.min(columns.max(1));
    let runs_of_row = columns.div_ceil(per_run);
    let count = u64::from(grid.recovery) * runs_of_row;
    let recovery = Recovery { damaged: Bits::new(grid.recovery_blocks()), unequal: 0 };
    Pieces::run(count, work.threads().min(MOST_THREADS), work, recovery, |pieces| {
        let (mut bytes, mut marks) = (Vec::new(), Marks::default());
        while let Some(number) = pieces.take()? {
            let (row, column) = (number / runs_of_row, number % runs_of_row * per_run);
            let count = per_run.min(columns - column);
            bytes.resize(count as usize * grid.block(), 0);
            sidecar.recovery_run(row, column, &mut bytes)?;
            let first = row * columns + column;
            marks.read(sidecar, grid.places() + first, count)?;
            let mut damaged = Vec::new();
            for (at, block) in bytes.chunks_exact_mut(grid.block()).enumerate() {
                let is_whole = marks.at(at).contains(&Mark::new(block, &blake3::hash(block)));
                // The slow way also looks at the place from the end.
                if !is_whole && !sidecar.recovery_block(row, column + at as u64, block)? {
                    damaged.push(first + at as u64);
                }
            }
            work.add(count * u64::from(grid.block));
            pieces.hand_in(number, |recovery| {
                recovery.unequal += marks.unequal();
                damaged.iter().for_each(|block| recovery.damaged.insert(*block));
            });
        }
        Ok(())
    })
}

/// Computes the hash of a file with the length of the grid.
pub(crate) fn hash(grid: &Grid, file: &(impl ReadAt + ?Sized), work: &Work<'_>) -> Result<[u8; 32], Error> {
    let runs = Runs::new(grid);
    let whole = Pieces::run(runs.count(), work.threads().min(MOST_THREADS), work, Whole::new(grid), |pieces| {
        let (mut bytes, mut hashes) = (Vec::new(), Vec::new());
        while let Some(number) = pieces.take()? {
            let (first, count) = runs.get(number);
            read_blocks(file, grid.length, grid, first, count, &mut bytes).map_err(Error::Read)?;
            hashes.clear();
            for block in bytes.chunks_exact(grid.block()) {
                hashes.extend(blake3::hash(block).as_bytes());
            }
            pieces.hand_in(number, |whole| whole.add_run(first, &hashes));
        }
        Ok(())
    });
    whole.map(Whole::finish)
}

/// The blocks of a file, in runs that a thread reads at once.
pub(crate) struct Runs {
    blocks: u64,
    length: u64,
}

impl Runs {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self { blocks: grid.blocks(), length: (PIECE / u64::from(grid.block)).max(1) }
    }

    pub(crate) fn count(&self) -> u64 {
        self.blocks.div_ceil(self.length)
    }

    /// Returns the first block of a run, and the number of its blocks.
    pub(crate) fn get(&self, number: u64) -> (u64, u64) {
        let first = number * self.length;
        (first, self.length.min(self.blocks - first))
    }
}

/// Reads consecutive blocks of a file that has `length` bytes now. Zeros replace what is missing. Returns which blocks
/// the disk cannot read, counted from the first one.
fn read_blocks(
    file: &(impl ReadAt + ?Sized),
    length: u64,
    grid: &Grid,
    first: u64,
    count: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<Vec<usize>> {
    bytes.resize(count as usize * grid.block(), 0);
    let begin = first * u64::from(grid.block);
    let present = length.min(grid.length).saturating_sub(begin).min(bytes.len() as u64) as usize;
    let mut unreadable = Vec::new();
    let read = match read_full_at(file, &mut bytes[..present], begin) {
        Err(error) if is_bad_sector(&error) => {
            for (at, block) in bytes[..present].chunks_mut(grid.block()).enumerate() {
                match read_full_at(file, block, begin + (at * grid.block()) as u64) {
                    Err(error) if is_bad_sector(&error) => {
                        block.fill(0);
                        unreadable.push(at);
                    }
                    read => _ = read?,
                }
            }
            present
        }
        read => read?,
    };
    bytes[read..].fill(0);
    Ok(unreadable)
}

/// Marks of consecutive places, from both tables.
#[derive(Default)]
struct Marks([Vec<u8>; 2]);

impl Marks {
    fn read<R: ReadAt>(&mut self, sidecar: &Sidecar<R>, first: u64, count: u64) -> Result<(), Error> {
        for (marks, second) in self.0.iter_mut().zip([false, true]) {
            marks.resize(count as usize * MARK, 0);
            sidecar.marks(second, first, marks)?;
        }
        Ok(())
    }

    fn at(&self, at: usize) -> [Mark; 2] {
        self.0.each_ref().map(|marks| Mark::from_slice(&marks[at * MARK..]))
    }

    /// The number of marks that differ between the two tables.
    fn unequal(&self) -> u64 {
        let [first, second] = &self.0;
        if first == second {
            return 0;
        }
        first.chunks_exact(MARK).zip(second.chunks_exact(MARK)).filter(|(first, second)| first != second).count() as u64
    }
}
