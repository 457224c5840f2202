//! Secret bits in the type of each library. The bits are made before the clock starts.

use super::LANES;
use crate::barrier::hide_ref;
use deadpan_ct::Choice;
use deadpan_lab::Random;

/// The same random bits, in the type of each library.
pub struct Choices {
    /// The bits.
    pub plain: Box<[bool; LANES]>,
    /// The choices of deadpan-ct, which are machine words.
    pub ours: Box<[Choice; LANES]>,
    /// The choices of subtle, which are bytes.
    pub subtle: Box<[subtle::Choice; LANES]>,
    /// The choices of ctutils, which are bytes.
    pub ctutils: Box<[ctutils::Choice; LANES]>,
    /// The conditions of cmov, which are bytes.
    pub cmov: Box<[u8; LANES]>,
}

impl Choices {
    /// Draws random bits.
    pub fn new(random: &mut Random) -> Self {
        let plain: [bool; LANES] = std::array::from_fn(|_| random.bits() & 1 == 1);
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
