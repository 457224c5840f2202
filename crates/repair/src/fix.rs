//! Makes the original file from a damaged one.

use crate::check::{MOST_THREADS, hash};
use crate::code::Decoder;
use crate::copy::copy;
use crate::grid::Grid;
use crate::make::CODE;
use crate::positions::{ReadAt, WriteAt, read_full_at};
use crate::sidecar::Sidecar;
use crate::threads::Pieces;
use crate::{Error, Report, Work};

pub(crate) fn fix<R: ReadAt>(
    sidecar: &Sidecar<R>,
    file: &(impl ReadAt + ?Sized),
    report: &Report,
    output: &(impl WriteAt + ?Sized),
    work: &Work<'_>,
) -> Result<(), Error> {
    report.fixable()?;
    let grid = sidecar.grid();
    output.set_length(grid.length).map_err(Error::Write)?;
    copy(file, report, output, work)?;
    restore(sidecar, report, output, work)?;
    if hash(grid, output, work)? == sidecar.header.hash { Ok(()) } else { Err(Error::Contradiction) }
}

/// Restores the missing blocks of all columns in the output, which has all other blocks.
fn restore<R: ReadAt>(
    sidecar: &Sidecar<R>,
    report: &Report,
    output: &(impl WriteAt + ?Sized),
    work: &Work<'_>,
) -> Result<(), Error> {
    if report.missing.is_empty() {
        return Ok(());
    }
    let grid = sidecar.grid();
    let columns = u64::from(grid.columns);
    let mut is_damaged = vec![false; columns as usize];
    report.missing.iter().for_each(|block| is_damaged[(block % columns) as usize] = true);
    let shape = BatchShape::new(grid, work.threads());
    Pieces::run(columns.div_ceil(shape.columns), shape.threads, work, (), |pieces| {
        let mut batch = Batch::new(grid, shape.columns);
        while let Some(number) = pieces.take()? {
            let first = number * shape.columns;
            let count = shape.columns.min(columns - first);
            if is_damaged[first as usize..][..count as usize].contains(&true) {
                batch.restore(first, count, sidecar, report, output)?;
            }
            work.add(count * u64::from(grid.rows) * u64::from(grid.block));
        }
        Ok(())
    })
}

/// The number of threads, and the number of adjacent columns that each of them restores at once.
struct BatchShape {
    threads: usize,
    columns: u64,
}

impl BatchShape {
    /// The number of bytes that are read of a row at once, if the memory suffices.
    const WIDTH: usize = 64 << 10;

    fn new(grid: &Grid, threads: usize) -> Self {
        let column = Batch::column(grid);
        let threads = threads.min(MOST_THREADS).min(CODE / column).max(1);
        let fitting = (CODE / threads / column).min(Self::WIDTH / grid.block()) as u64;
        let share = u64::from(grid.columns).div_ceil(2 * threads as u64);
        Self { threads, columns: fitting.min(share).max(1) }
    }
}

/// Adjacent columns, which one thread restores.
pub(crate) struct Batch {
    grid: Grid,
    decoder: Decoder,
    /// The blocks of all places, column by column.
    blocks: Vec<u8>,
    /// The part of a row in these columns.
    row: Vec<u8>,
}

impl Batch {
    fn new(grid: &Grid, columns: u64) -> Self {
        let columns = columns as usize;
        let (blocks, row) = (vec![0; Self::column(grid) * columns], vec![0; grid.block() * columns]);
        Self { grid: *grid, decoder: Decoder::new(grid), blocks, row }
    }

    /// The memory for one column.
    fn column(grid: &Grid) -> usize {
        (usize::from(grid.recovery).next_power_of_two() + usize::from(grid.rows)) * grid.block()
    }

    /// The memory of all threads.
    #[cfg(test)]
    pub(crate) fn memory(grid: &Grid, threads: usize) -> usize {
        let shape = BatchShape::new(grid, threads);
        let batch = (Self::column(grid) + grid.block()) * shape.columns as usize;
        shape.threads * (batch + Decoder::memory(grid))
    }

    fn restore<R: ReadAt>(
        &mut self,
        first: u64,
        count: u64,
        sidecar: &Sidecar<R>,
        report: &Report,
        output: &(impl WriteAt + ?Sized),
    ) -> Result<(), Error> {
        let (grid, size) = (self.grid, self.grid.block());
        let column = Self::column(&grid);
        let columns = u64::from(grid.columns);
        for row in 0..usize::from(grid.rows) {
            let bytes = &mut self.row[..count as usize * size];
            let begin = (row as u64 * columns + first) * u64::from(grid.block);
            let present = grid.length.saturating_sub(begin).min(bytes.len() as u64) as usize;
            let read = read_full_at(output, &mut bytes[..present], begin).map_err(Error::Read)?;
            bytes[read..].fill(0);
            let place = self.decoder.place_of_row(row) * size;
            for (block, blocks) in bytes.chunks_exact(size).zip(self.blocks.chunks_exact_mut(column)) {
                blocks[place..place + size].copy_from_slice(block);
            }
        }
        let is_missing = |row: usize, at: u64| {
            let block = row as u64 * columns + first + at;
            block < grid.blocks() && report.missing.has(block)
        };
        for at in 0..count {
            let blocks = &mut self.blocks[at as usize * column..][..column];
            let mut present = vec![true; self.decoder.end()];
            present[..self.decoder.place_of_row(0)].fill(false);
            let mut missing = 0;
            for row in (0..usize::from(grid.rows)).filter(|row| is_missing(*row, at)) {
                present[self.decoder.place_of_row(row)] = false;
                missing += 1;
            }
            if missing == 0 {
                continue;
            }
            let mut row = 0;
            while missing > 0 {
                if row == grid.recovery {
                    // The sidecar has changed since it was checked.
                    return Err(Error::TooMuch { missing: report.missing_bytes(), available: report.recovery_bytes() });
                }
                let place = usize::from(row);
                let block = &mut blocks[place * size..][..size];
                if sidecar.recovery_block(row.into(), first + at, block)? {
                    present[place] = true;
                    missing -= 1;
                }
                row += 1;
            }
            self.decoder.set_present(&present);
            self.decoder.restore(blocks, size);
            for row in (0..usize::from(grid.rows)).filter(|row| is_missing(*row, at)) {
                let block = row as u64 * columns + first + at;
                let bytes = &blocks[self.decoder.place_of_row(row) * size..][..grid.bytes_of(block)];
                output.write_all_at(bytes, block * u64::from(grid.block)).map_err(Error::Write)?;
            }
        }
        Ok(())
    }
}
