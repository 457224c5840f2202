//! Cuts an input into pieces, and reads it piece by piece.

use std::io::{self, Read};

use crate::Input;

/// Sizes of pieces, used in turn. A size may be zero.
#[derive(Clone, Debug)]
pub struct Cuts(Vec<usize>);

impl Cuts {
    /// Takes up to seven sizes from the beginning of `input`. A size is at most two blocks of a stream, and is often
    /// small.
    pub fn new(input: &mut Input<'_>) -> Self {
        let count = input.byte() % 8;
        let sizes =
            (0..count).map(|_| if input.byte() & 1 == 0 { usize::from(input.byte()) } else { input.word() % 8200 });
        Self(sizes.collect())
    }

    /// Cuts `bytes` into pieces of these sizes, or into one piece if all sizes are zero.
    pub fn pieces<'a>(&self, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        if self.0.iter().any(|size| *size > 0) {
            for size in self.0.iter().cycle() {
                let (piece, rest) = bytes.split_at(bytes.len().min(*size));
                pieces.push(piece);
                bytes = rest;
                if bytes.is_empty() {
                    break;
                }
            }
        } else {
            pieces.push(bytes);
        }
        pieces
    }

    /// Returns the sizes that are not zero, repeated without end.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        let some: Vec<_> = self.0.iter().copied().filter(|size| *size > 0).collect();
        let some = if some.is_empty() { vec![100] } else { some };
        some.into_iter().cycle()
    }
}

/// A reader that returns at most one piece at a time, and fails with `Interrupted` if a piece is empty.
#[derive(Debug)]
pub struct Pieces<'a>(std::vec::IntoIter<&'a [u8]>);

impl<'a> Pieces<'a> {
    /// Makes a reader that reads `bytes` in pieces.
    #[must_use]
    pub fn new(cuts: &Cuts, bytes: &'a [u8]) -> Self {
        Self(cuts.pieces(bytes).into_iter())
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = self.0.as_mut_slice().first_mut() else { return Ok(0) };
        let count = piece.read(target)?;
        if piece.is_empty() {
            self.0.next();
        }
        if count == 0 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(count) }
    }
}
