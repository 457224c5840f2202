//! The hash of a whole file, from the hashes of its blocks.

use blake3::Hasher;

use crate::grid::Grid;

/// The length of a block's hash.
pub(crate) const HASH: usize = 32;

/// Computes the hash of a file. Takes the rows in any order, and the blocks of each row from left to right.
pub(crate) struct Whole {
    grid: Grid,
    rows: Vec<Hasher>,
}

impl Whole {
    pub(crate) fn new(grid: &Grid) -> Self {
        Self { grid: *grid, rows: vec![Hasher::new(); grid.rows.into()] }
    }

    /// Adds the hashes of the next blocks of a row. Places without a block have no hash.
    pub(crate) fn add(&mut self, row: usize, hashes: &[u8]) {
        self.rows[row].update(hashes);
    }

    /// Adds the hashes of consecutive blocks of the file, which begin with the block `first`.
    pub(crate) fn add_run(&mut self, first: u64, mut hashes: &[u8]) {
        let columns = u64::from(self.grid.columns);
        let mut block = first;
        while !hashes.is_empty() {
            let in_row = (columns - block % columns).min((hashes.len() / HASH) as u64);
            let (now, later) = hashes.split_at(in_row as usize * HASH);
            self.add((block / columns) as usize, now);
            (block, hashes) = (block + in_row, later);
        }
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        let mut hasher = Hasher::new();
        let Grid { length, block, columns, .. } = self.grid;
        hasher.update(&length.to_be_bytes()).update(&block.to_be_bytes()).update(&columns.to_be_bytes());
        for row in self.rows {
            hasher.update(row.finalize().as_bytes());
        }
        hasher.finalize().into()
    }
}
