//! Secret bits in the type of each library, made before the clock starts.

use super::LANES;
use crate::barrier::hide_ref;
use crate::random::Random;
use deadpan_ct::Choice;

/// The same random bits for everybody.
pub struct Choices {
    /// What they are.
    pub plain: Box<[bool; LANES]>,
    /// For deadpan-ct: a machine word each.
    pub ours: Box<[Choice; LANES]>,
    /// For subtle: a byte each.
    pub subtle: Box<[subtle::Choice; LANES]>,
    /// For ctutils: a byte each.
    pub ctutils: Box<[ctutils::Choice; LANES]>,
    /// For cmov: a byte each.
    pub cmov: Box<[u8; LANES]>,
}

impl Choices {
    /// New random bits.
    pub fn new(random: &mut Random) -> Self {
        let plain: [bool; LANES] = std::array::from_fn(|_| random.next() & 1 == 1);
        let bits = *hide_ref(&plain.map(u8::from));
        Self {
            plain: Box::new(plain),
            ours: Box::new(bits.map(Choice::from_bit)),
            subtle: Box::new(bits.map(subtle::Choice::from)),
            ctutils: Box::new(bits.map(ctutils::Choice::from_u8_lsb)),
            cmov: Box::new(bits),
        }
    }
}
