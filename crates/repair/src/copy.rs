//! Copies the whole blocks of a damaged file into the output.

use crate::check::{MOST_THREADS, Runs};
use crate::positions::{ReadAt, WriteAt, read_full_at};
use crate::threads::Pieces;
use crate::{Error, Report, Work};

/// Copies all blocks that are not missing to their places. Zeros are not written, so that a sparse file stays sparse.
pub(crate) fn copy(
    file: &(impl ReadAt + ?Sized),
    report: &Report,
    output: &(impl WriteAt + ?Sized),
    work: &Work<'_>,
) -> Result<(), Error> {
    let grid = &report.grid;
    let size = u64::from(grid.block);
    let runs = Runs::new(grid);
    Pieces::run(runs.count(), work.threads().min(MOST_THREADS), work, (), |pieces| {
        let mut bytes = vec![0; 0];
        while let Some(number) = pieces.take()? {
            let (first, count) = runs.get(number);
            let mut begin = first;
            while begin < first + count {
                let shift = report.shift_of(begin);
                let end = (begin + 1..first + count).find(|block| report.shift_of(*block) != shift);
                let end = end.unwrap_or(first + count);
                if let Some(shift) = shift {
                    let place = begin * size;
                    bytes.resize(((end * size).min(grid.length) - place) as usize, 0);
                    let read = read_full_at(file, &mut bytes, place.wrapping_add_signed(shift)).map_err(Error::Read)?;
                    bytes[read..].fill(0);
                    if !is_zero(&bytes) {
                        output.write_all_at(&bytes, place).map_err(Error::Write)?;
                    }
                }
                begin = end;
            }
            work.add(count * size);
        }
        Ok(())
    })
}

/// Whether all bytes are zero.
fn is_zero(bytes: &[u8]) -> bool {
    let mut chunks = bytes.chunks(4096);
    chunks.all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}
