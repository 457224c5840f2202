//! The bits are made before the measurement begins. The bits are made before the clock starts.

use super::LANES;
use crate::barrier::hide_ref;
use deadpan_ct::Choice;
use deadpan_lab::Random;

/// The same random bits, in the type of each library.
pub struct Choices {
    /// The bits.
    pub plain: Box<[bool; LANES]>,
    /// The secret bits as choices of deadpan-ct: machine words.
    pub ours: Box<[Choice; LANES]>,
    /// The secret bits as choices of subtle: bytes.
    pub subtle: Box<[subtle::Choice; LANES]>,
    /// The secret bits as choices of ctutils: bytes.
    pub ctutils: Box<[ctutils::Choice; LANES]>,
    /// The secret bits as conditions of cmov: bytes.
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
