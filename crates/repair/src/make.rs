//! Makes a sidecar. The file is read once, in columns: each thread takes some adjacent columns, and reads their part of
//! each row.

use crate::check::MOST_THREADS;
use crate::code::Encoder;
use crate::grid::{Grid, Percent};
use crate::header::Header;
use crate::mark::{MARK, Mark};
use crate::positions::{ReadAt, WriteAt, read_full_at};
use crate::threads::Pieces;
use crate::whole::{HASH, Whole};
use crate::{Error, Work};

/// The memory that making, checking and repairing take at most together with all threads, in bytes, whatever the
/// lengths of the files are.
pub const MEMORY: usize = 240 << 20;

/// The memory for the code.
pub(crate) const CODE: usize = 128 << 20;
/// Most bytes that a thread reads of a row at once.
const WIDEST: usize = 256 << 10;
/// A thread that reads less than this of a row at once waits for the disk too often.
const NARROWEST: usize = 64 << 10;

/// Makes the sidecar of a file with this length. The sidecar must be empty. Returns the length of the sidecar.
///
/// # Errors
/// [`Error::TooLong`] if the file is longer than 16 TiB, [`Error::Shrank`] if it is shorter than `length`, and errors
/// of reading and writing.
pub fn make(
    file: &(impl ReadAt + ?Sized),
    length: u64,
    sidecar: &(impl WriteAt + ?Sized),
    percent: Percent,
    work: &Work<'_>,
) -> Result<u64, Error> {
    let grid = Grid::choose(length, percent)?;
    sidecar.set_length(grid.sidecar_length()).map_err(Error::Write)?;
    let shape = ColumnsShape::new(&grid, work.threads());
    let count = grid.row_length().div_ceil(shape.width as u64);
    let results = (Whole::new(&grid), Table::new(&grid));
    let (whole, mut table) = Pieces::run(count, shape.threads, work, results, |pieces| {
        let mut columns = Columns::new(&grid, shape.width);
        while let Some(number) = pieces.take()? {
            columns.make(number * shape.width as u64, file, sidecar, work)?;
            let mut written = Ok(());
            pieces.hand_in(number, |(whole, table)| {
                columns.hash(whole);
                written = columns.note(table, sidecar);
            });
            written?;
        }
        Ok(())
    })?;
    table.flush(sidecar)?;
    let header = Header { grid, hash: whole.finish() }.to_bytes();
    for position in grid.headers() {
        sidecar.write_all_at(&header, position).map_err(Error::Write)?;
    }
    Ok(grid.sidecar_length())
}

/// The number of threads, and the number of bytes that each of them reads of a row at once.
#[derive(Clone, Copy, Debug)]
struct ColumnsShape {
    threads: usize,
    width: usize,
}

impl ColumnsShape {
    fn new(grid: &Grid, threads: usize) -> Self {
        let block = grid.block();
        let fitting = |threads: usize| CODE / Encoder::memory(grid, 1).max(1) / threads;
        let threads = (1..=threads.min(MOST_THREADS)).rev().find(|threads| fitting(*threads) >= NARROWEST).unwrap_or(1);
        // Short rows are divided among the threads.
        let share = (grid.row_length().div_ceil(2 * threads as u64) as usize).next_multiple_of(block);
        let width = fitting(threads).min(WIDEST) / block * block;
        Self { threads, width: width.min(share).max(block) }
    }
}

/// Adjacent columns, which one thread makes.
struct Columns<'a> {
    grid: &'a Grid,
    encoder: Encoder,
    row: Vec<u8>,
    /// The number of columns now.
    count: usize,
    /// The marks of all blocks, row by row. Recovery rows come last.
    marks: Vec<u8>,
    /// The hashes of the blocks of all data rows.
    hashes: Vec<u8>,
    /// The number of blocks of each data row, which is less at the end of the file.
    blocks: Vec<usize>,
}

impl<'a> Columns<'a> {
    fn new(grid: &'a Grid, width: usize) -> Self {
        let (encoder, row) = (Encoder::new(grid, width), vec![0; width]);
        Self { grid, encoder, row, count: 0, marks: Vec::new(), hashes: Vec::new(), blocks: Vec::new() }
    }

    /// Makes the adjacent columns that begin at byte `offset` of each row.
    fn make(
        &mut self,
        offset: u64,
        file: &(impl ReadAt + ?Sized),
        sidecar: &(impl WriteAt + ?Sized),
        work: &Work<'_>,
    ) -> Result<(), Error> {
        let grid = self.grid;
        let width = (grid.row_length() - offset).min(self.row.len() as u64) as usize;
        self.count = width / grid.block();
        self.encoder.begin(width);
        self.marks.clear();
        self.hashes.clear();
        self.blocks.clear();
        for row in 0..u64::from(grid.rows) {
            let bytes = &mut self.row[..width];
            let begin = row * grid.row_length() + offset;
            let present = grid.length.saturating_sub(begin).min(width as u64) as usize;
            let read = read_full_at(file, &mut bytes[..present], begin).map_err(Error::Read)?;
            if read < present {
                return Err(Error::Shrank);
            }
            bytes[present..].fill(0);
            let blocks = present.div_ceil(grid.block());
            for block in bytes.chunks_exact(grid.block()).take(blocks) {
                let hash = blake3::hash(block);
                self.marks.extend(Mark::new(block, &hash).0);
                self.hashes.extend(hash.as_bytes());
            }
            self.marks.resize(self.marks.len() + (self.count - blocks) * MARK, 0);
            self.blocks.push(blocks);
            self.encoder.add(bytes);
            work.add(present as u64);
        }
        self.encoder.finish(|row, bytes| {
            for block in bytes.chunks_exact(grid.block()) {
                self.marks.extend(Mark::new(block, &blake3::hash(block)).0);
            }
            sidecar.write_all_at(bytes, grid.recovery_row(row) + offset).map_err(Error::Write)
        })
    }

    /// Adds the hashes of all blocks to the hash of the file.
    fn hash(&self, whole: &mut Whole) {
        let mut hashes = &self.hashes[..];
        for (row, blocks) in self.blocks.iter().enumerate() {
            let (now, later) = hashes.split_at(blocks * HASH);
            whole.add(row, now);
            hashes = later;
        }
    }

    /// Adds the marks of all blocks to the table.
    fn note(&self, table: &mut Table, sidecar: &(impl WriteAt + ?Sized)) -> Result<(), Error> {
        for (row, marks) in table.rows.iter_mut().zip(self.marks.chunks_exact(self.count * MARK)) {
            row.extend(marks);
        }
        table.columns += self.count as u64;
        if table.columns as usize * table.rows.len() * MARK >= Table::ENOUGH { table.flush(sidecar) } else { Ok(()) }
    }
}

/// The marks of columns that were made but not written. The marks of one row are written together.
struct Table {
    grid: Grid,
    rows: Vec<Vec<u8>>,
    /// The first column that is not written.
    first: u64,
    columns: u64,
}

impl Table {
    /// When there are so many bytes of marks, they are written.
    const ENOUGH: usize = 4 << 20;

    fn new(grid: &Grid) -> Self {
        let rows = usize::from(grid.rows) + usize::from(grid.recovery);
        Self { grid: *grid, rows: vec![Vec::new(); rows], first: 0, columns: 0 }
    }

    /// Writes the marks into both tables.
    fn flush(&mut self, sidecar: &(impl WriteAt + ?Sized)) -> Result<(), Error> {
        for table in [self.grid.first_table(), self.grid.second_table()] {
            for (row, marks) in self.rows.iter().enumerate() {
                let place = row as u64 * u64::from(self.grid.columns) + self.first;
                sidecar.write_all_at(marks, table + place * MARK as u64).map_err(Error::Write)?;
            }
        }
        self.first += self.columns;
        self.columns = 0;
        self.rows.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::Batch;

    /// The memory of all threads, computed for files of every length up to the longest.
    #[test]
    fn the_memory_is_bounded() {
        for length in (0..=44).map(|power| 1u64 << power).chain([100 << 30, 300 << 30, 3 << 40]) {
            for percent in [1, 10, 30, 100] {
                for threads in [1, 2, 16, 256] {
                    let grid = Grid::choose(length, Percent::new(percent).unwrap()).unwrap();
                    let shape = ColumnsShape::new(&grid, threads);
                    assert!(shape.width > 0 && shape.width.is_multiple_of(grid.block()));
                    let hashes = shape.width / grid.block() * usize::from(grid.rows) * HASH;
                    let making = (Encoder::memory(&grid, shape.width) + shape.width + 2 * hashes) * shape.threads;
                    let making = making + 2 * Table::ENOUGH;
                    let whole = size_of::<blake3::Hasher>() * usize::from(grid.rows);
                    assert!(making + whole <= MEMORY, "{length} {percent} {threads}: {making} {shape:?}");
                    // A report has a bit for each block and a number for each column; the moved blocks have a limit.
                    let report = (grid.blocks() + grid.recovery_blocks()) / 8 + 4 * u64::from(grid.columns);
                    let fixing = Batch::memory(&grid, threads) + report as usize + crate::moved::MEMORY;
                    assert!(fixing + whole <= MEMORY, "{length} {percent} {threads}: {fixing}");
                }
            }
        }
    }
}
