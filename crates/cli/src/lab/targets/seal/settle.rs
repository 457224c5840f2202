//! Restores the order of free memory and of AWS-LC's errors after a call. Otherwise each call would process the same
//! input at other addresses, and traces could not be compared. The order does not depend on a secret, and it is
//! restored outside of the measured function.

use std::hint::black_box;
use std::sync::Arc;

use deadpan_seal::Secret;
use deadpan_seal::floe::{Cipher, Message, OVERHEAD, Parameters};

/// Number of errors in the ring that AWS-LC keeps for each thread.
const RING: usize = 16;
/// Number of slots for secrets to sort, which is more than any call uses.
const SLOTS: usize = 32;
/// Number of freed blocks of each size that glibc reuses first, in reverse order. If a call uses more blocks, their
/// addresses differ between calls.
const BLOCKS: usize = 7;

/// Returns a function that adds errors until AWS-LC's ring is back at its start, if a call has added `made` errors.
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

/// Sorts the free slots for secrets by address.
pub(super) fn slots() {
    let mut slots: [Secret; SLOTS] = std::array::from_fn(|_| Secret::zeroed(1));
    slots.sort_unstable_by_key(|slot| slot.as_ptr());
}

/// Sorts the free blocks of memory of each size by address.
pub(super) fn heap() {
    for size in (16..=1024).step_by(16) {
        let mut blocks: [Vec<u8>; BLOCKS] = std::array::from_fn(|_| black_box(Vec::with_capacity(size)));
        blocks.sort_unstable_by_key(|block| block.as_ptr());
    }
}
