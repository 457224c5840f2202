//! Puts random data into covers.

use deadpan_lab::Random;
use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
use deadpan_picture::{Error, Label, Pixels};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// A template changes each sample to the nearest number that has the wanted low bits. A key determines which
    /// samples a template changes.
    Template,
    /// Replacement overwrites the low bits of as many random samples as a template would change.
    Replacement,
}

impl Way {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Template, Self::Replacement];
}

/// Hides data in a copy of a cover: `bits` is the number of bits in each sample, and `share` is a percentage of the
/// capacity.
pub fn embed(cover: &Pixels, way: Way, bits: u8, share: u32, seed: u64) -> Result<Pixels, Error> {
    let mut result = cover.clone();
    let random = &mut Random::new(seed ^ u64::from(bits) << 32 ^ u64::from(share) << 40);
    match way {
        Way::Template => hide(&mut result, bits, share, random)?,
        Way::Replacement => replace(&mut result, bits, share, random),
    }
    Ok(result)
}

fn hide(picture: &mut Pixels, bits: u8, share: u32, random: &mut Random) -> Result<(), Error> {
    let bits = Bits::new(bits).expect("1 to 4 bits");
    let hiding = Hiding { bits, order: Order::Keyed, set_key: bytes(random), doors: vec![Secret::recipient(b"a key")] };
    let room = template::capacity(picture.samples.len() as u64, bits, hiding.doors.len());
    let length = (room * u64::from(share) / 100) as usize;
    let part: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
    let label = Label {
        set: bytes(random),
        index: 0,
        count: 1,
        spares: 0,
        length: length as u32,
        offset: 0,
        total: length as u64,
        checksum: random.bits(),
    };
    template::embed(picture, &label, &part, &hiding, &Seed(bytes(random)), 1)?;
    Ok(())
}

fn replace(picture: &mut Pixels, bits: u8, share: u32, random: &mut Random) {
    let mask = (1_u8 << bits) - 1;
    for sample in &mut picture.samples {
        if random.bits() % 100 < u64::from(share) {
            *sample = *sample & !mask | random.bits() as u8 & mask;
        }
    }
}

fn bytes<const N: usize>(random: &mut Random) -> [u8; N] {
    std::array::from_fn(|_| random.bits() as u8)
}
