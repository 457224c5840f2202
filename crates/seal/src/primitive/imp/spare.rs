//! Uninitialized memory (the room) at the end of a vector. Several threads initialize this memory piece by piece.
//! Clearing all of this memory in advance, on one thread, would take as long as sealing.

use std::mem::MaybeUninit;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::huge;

pub(crate) struct Spare<'a> {
    vector: &'a mut Vec<u8>,
    length: usize,
    /// The number of bytes that the threads have cleared.
    cleared: AtomicUsize,
}

/// A piece of the room. Each piece has one owner.
pub(crate) struct Piece<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    cleared: &'a AtomicUsize,
}

impl<'a> Spare<'a> {
    /// Makes room for `length` more bytes.
    pub(crate) fn new(vector: &'a mut Vec<u8>, length: usize) -> Self {
        vector.reserve(length);
        huge::advise(&mut vector.spare_capacity_mut()[..length]);
        Self { vector, length, cleared: AtomicUsize::new(0) }
    }

    /// Divides the uninitialized room into pieces of `size` bytes. The last piece may be shorter.
    pub(crate) fn pieces(&mut self, size: usize) -> impl Iterator<Item = Piece<'_>> + Send {
        let Self { vector, length, cleared } = self;
        *cleared.get_mut() = 0;
        let cleared = &*cleared;
        vector.spare_capacity_mut()[..*length].chunks_mut(size).map(move |memory| Piece { memory, cleared })
    }

    /// Makes the room part of the vector.
    ///
    /// # Panics
    /// Panics if a piece was not cleared.
    pub(crate) fn keep(self) {
        assert_eq!(self.cleared.into_inner(), self.length, "every piece was cleared");
        // SAFETY: `new` reserved the room. The bytes of each piece are counted once, after all bytes of the piece were
        // written, and the pieces of one division do not overlap. The count equals the length of the reserved room, so
        // all bytes of the room are initialized. The threads that wrote the bytes have ended their borrows, because
        // otherwise `self` could not be moved.
        unsafe { self.vector.set_len(self.vector.len() + self.length) };
    }
}

impl<'a> Piece<'a> {
    /// Clears the piece. Clears the piece by writing zeros, and returns the bytes of the piece.
    pub(crate) fn clear(self) -> &'a mut [u8] {
        self.memory.fill(MaybeUninit::new(0));
        self.cleared.fetch_add(self.memory.len(), Ordering::Relaxed);
        // SAFETY: all bytes were just written, they are borrowed for as long as the slice is borrowed, and an
        // initialized byte has the same layout as an uninitialized byte.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.memory.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_and_the_rest_is_what_the_pieces_were_given() {
        for length in [0, 1, 99, 100, 101, 9 << 20] {
            let mut vector = vec![7; 5];
            let mut spare = Spare::new(&mut vector, length);
            spare.pieces(100).enumerate().for_each(|(i, piece)| piece.clear().fill(i as u8));
            spare.keep();
            assert_eq!((vector.len(), &vector[..5]), (length + 5, &[7; 5][..]));
            assert!(
                vector[5..].chunks(100).enumerate().all(|(i, piece)| piece.iter().all(|byte| *byte == i as u8)),
                "{length}"
            );
        }
    }

    #[test]
    fn nothing_is_kept_that_was_not_cleared() {
        let mut vector = vec![7; 5];
        let _ = Spare::new(&mut vector, 100);
        assert_eq!(vector, [7; 5]);
        let kept = std::panic::catch_unwind(|| {
            let mut vector = Vec::new();
            let mut spare = Spare::new(&mut vector, 300);
            spare.pieces(100).skip(1).for_each(|piece| {
                piece.clear();
            });
            spare.keep();
        });
        assert!(kept.is_err());
    }
}
