//! What a call leaves in another order than it found it, brought back into one: else the same input would be handled at other addresses each
//! time, and traces could not be compared. None of it depends on a secret, and all of it happens behind the function that is measured.

use deadpan_seal::Secret;
use deadpan_seal::floe::{Cipher, Message, OVERHEAD, Parameters};
use std::hint::black_box;
use std::sync::Arc;

/// AWS-LC keeps the last errors of each thread in a ring of so many.
const RING: usize = 16;
/// Slots for secrets on a page: more than any call uses.
const SLOTS: usize = 32;
/// Blocks of each size that glibc hands out again first, the last one before the others. What a call uses beyond them moves about.
const BLOCKS: usize = 7;

/// Goes once around AWS-LC's ring of errors, of which the call has made `made`.
pub(super) fn errors(made: usize) -> impl FnMut() {
    let (message, _) = Message::start(Parameters::default(), &[0; 32], b"").expect("random bytes");
    let mut cipher = Cipher::new(Arc::new(message));
    let mut wrong = [0; OVERHEAD];
    wrong[3] = OVERHEAD as u8;
    move || {
        for _ in made..RING {
            assert!(black_box(cipher.open(0, true, &wrong, &mut [])).is_err(), "a tag of zeros");
        }
    }
}

/// Sorts the free slots for secrets.
pub(super) fn slots() {
    let mut slots: [Secret; SLOTS] = std::array::from_fn(|_| Secret::zeroed(1));
    slots.sort_unstable_by_key(|slot| slot.as_ptr());
}

/// Sorts the free blocks of memory, size by size.
pub(super) fn heap() {
    for size in (16..=1024).step_by(16) {
        let mut blocks: [Vec<u8>; BLOCKS] = std::array::from_fn(|_| black_box(Vec::with_capacity(size)));
        blocks.sort_unstable_by_key(|block| block.as_ptr());
    }
}
