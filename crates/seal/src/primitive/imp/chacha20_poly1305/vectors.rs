//! ChaCha20-Poly1305 on registers of 64 bytes. The code processes one kibibyte at a time.
//!
//! Sixteen registers hold the state of sixteen blocks of ChaCha20, and each register holds one word of every block.
//! Eight lanes compute the sum of Poly1305, and each lane adds every eighth block. The code interleaves Poly1305 with
//! rounds of ChaCha20, because the processor can execute instructions of both algorithms at the same time.

use std::arch::x86_64::*;
use std::array;

use super::poly1305::{self, HIGH, LOW, Limbs, PAD, multiply};
use super::{KEY, NONCE, TAG};
use deadpan_ct::Wiped;
use deadpan_ct::cpu::{Level, level};

/// The number of bytes in a register, which is also the number of bytes in a block of ChaCha20.
const REGISTER: usize = 64;
/// The number of registers in a state, words in a block, and blocks in a piece of 1 KiB.
const WORDS: usize = 16;
/// The number of bytes in a piece, the unit that the code seals or opens at once.
const PIECE: usize = WORDS * REGISTER;
const DOUBLE_ROUNDS: usize = 10;

/// Poly1305 adds a group of blocks at once: the number of blocks in a group, and the number of bytes in a group.
const LANES: usize = 8;
const GROUP: usize = LANES * TAG;
/// The number of groups of blocks in a piece of 1 KiB, and the number of groups between two reductions.
const GROUPS: usize = PIECE / GROUP;
const LAZY: usize = 4;

type Piece = [u8; PIECE];
/// The words of a block before the first round.
type Initial = Wiped<[u32; WORDS]>;

/// Divides the input and the output into pieces of 1 KiB. Returns `None` if the lengths are not multiples of 1 KiB.
pub(super) fn pieces<'a>(input: &'a [u8], output: &'a mut [u8]) -> Option<(&'a [Piece], &'a mut [Piece])> {
    let ((input, []), (output, [])) = (input.as_chunks(), output.as_chunks_mut()) else { return None };
    // The counter has 32 bits, and the first block of the keystream is used for the key of Poly1305.
    let counts = input.len() == output.len() && input.len() < 1 << 28;
    counts.then_some((input, output))
}

/// A proof that the CPU has AVX-512 with VBMI2 and IFMA.
#[derive(Clone, Copy)]
pub(super) struct Vectors(());

impl Vectors {
    pub(super) fn new() -> Option<Self> {
        (level() >= Level::Avx512 && is_x86_feature_detected!("avx512ifma")).then_some(Self(()))
    }

    /// Seals pieces, and returns the tag.
    pub(super) fn seal(self, key: &[u8; KEY], nonce: &[u8; NONCE], data: &[Piece], output: &mut [Piece]) -> [u8; TAG] {
        // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
        unsafe { seal(key, nonce, data, output) }
    }

    /// Opens pieces of sealed data, and returns the tag that these data must have.
    pub(super) fn open(self, key: &[u8; KEY], nonce: &[u8; NONCE], sealed: &[Piece], data: &mut [Piece]) -> [u8; TAG] {
        // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
        unsafe { open(key, nonce, sealed, data) }
    }
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
fn seal(key: &[u8; KEY], nonce: &[u8; NONCE], data: &[Piece], output: &mut [Piece]) -> [u8; TAG] {
    let initial = initial(key, nonce);
    let poly1305 = poly1305::Poly1305Key::new(&block(&initial));
    let mut sum = Sum::new(&poly1305);
    for (number, data) in data.iter().enumerate() {
        // While the code computes the keystream of this piece, it adds up the previous piece for Poly1305.
        let stream = match number.checked_sub(1) {
            None => keystream(&initial, number, |_| ()),
            Some(before) => keystream(&initial, number, |round| sum.step(round, &output[before])),
        };
        add(stream, data, &mut output[number]);
    }
    if let Some(last) = output.last() {
        (0..GROUPS).for_each(|step| sum.step(step, last));
    }
    poly1305.tag(&sum.limbs(&poly1305), output.len() * PIECE)
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
fn open(key: &[u8; KEY], nonce: &[u8; NONCE], sealed: &[Piece], data: &mut [Piece]) -> [u8; TAG] {
    let initial = initial(key, nonce);
    let poly1305 = poly1305::Poly1305Key::new(&block(&initial));
    let mut sum = Sum::new(&poly1305);
    for (number, (sealed, data)) in sealed.iter().zip(data).enumerate() {
        let stream = keystream(&initial, number, |round| sum.step(round, sealed));
        add(stream, sealed, data);
    }
    poly1305.tag(&sum.limbs(&poly1305), sealed.len() * PIECE)
}

/// Returns the words of the first block before its rounds (RFC 8439, section 2.3).
fn initial(key: &[u8; KEY], nonce: &[u8; NONCE]) -> Initial {
    let mut initial = Wiped::new([0; WORDS]);
    initial[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    let bytes = key.as_chunks().0.iter().chain(nonce.as_chunks().0);
    // Word 12 is the counter.
    for (word, bytes) in (4..12).chain(13..WORDS).zip(bytes) {
        initial[word] = u32::from_le_bytes(*bytes);
    }
    initial
}

/// The indexes of the words in each quarter round of a double round.
const COLUMNS: [[usize; 4]; 4] = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]];
const DIAGONALS: [[usize; 4]; 4] = [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];

/// Returns the first block of the keystream. The key of Poly1305 is made from this block.
fn block(initial: &Initial) -> Wiped<[u32; WORDS]> {
    let mut words = initial.clone();
    for _ in 0..DOUBLE_ROUNDS {
        for [a, b, c, d] in COLUMNS.into_iter().chain(DIAGONALS) {
            for [first, second] in [[16, 12], [8, 7]] {
                words[a] = words[a].wrapping_add(words[b]);
                words[d] = (words[d] ^ words[a]).rotate_left(first);
                words[c] = words[c].wrapping_add(words[d]);
                words[b] = (words[b] ^ words[c]).rotate_left(second);
            }
        }
    }
    for (word, initial) in words.iter_mut().zip(**initial) {
        *word = word.wrapping_add(initial);
    }
    words
}

/// Returns the keystream of a piece. Each register holds one word of all blocks. Calls `step` in each double round.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
#[inline]
fn keystream(initial: &Initial, piece: usize, mut step: impl FnMut(usize)) -> [__m512i; WORDS] {
    let all = |word: u32| _mm512_set1_epi32(word.cast_signed());
    let lanes = _mm512_set_epi32(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
    let counters = _mm512_add_epi32(all((piece * WORDS) as u32), lanes);
    let initial = |word: usize| if word == 12 { counters } else { all(initial[word]) };
    let mut words: [__m512i; WORDS] = array::from_fn(initial);
    macro_rules! quarters {
        ($quarters:expr) => {
            quarters!($quarters, 16, 12);
            quarters!($quarters, 8, 7);
        };
        // Four quarter rounds are computed together step by step, so that four chains of operations run in parallel.
        ($quarters:expr, $first:literal, $second:literal) => {
            for [a, b, _, _] in $quarters {
                words[a] = _mm512_add_epi32(words[a], words[b]);
            }
            for [a, _, _, d] in $quarters {
                words[d] = _mm512_rol_epi32::<$first>(_mm512_xor_si512(words[d], words[a]));
            }
            for [_, _, c, d] in $quarters {
                words[c] = _mm512_add_epi32(words[c], words[d]);
            }
            for [_, b, c, _] in $quarters {
                words[b] = _mm512_rol_epi32::<$second>(_mm512_xor_si512(words[b], words[c]));
            }
        };
    }
    for round in 0..DOUBLE_ROUNDS {
        quarters!(COLUMNS);
        step(round);
        quarters!(DIAGONALS);
    }
    array::from_fn(|word| _mm512_add_epi32(words[word], initial(word)))
}

/// Adds a keystream to a piece by exclusive or.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
#[inline]
fn add(stream: [__m512i; WORDS], input: &Piece, output: &mut Piece) {
    let stream = blocks(stream);
    let registers = input.as_chunks::<REGISTER>().0.iter().zip(output.as_chunks_mut::<REGISTER>().0);
    for (stream, (input, output)) in stream.into_iter().zip(registers) {
        let sum = _mm512_xor_si512(stream, load(input));
        // SAFETY: the output is as long as the register, and the store needs no alignment.
        unsafe { _mm512_storeu_si512(output.as_mut_ptr().cast(), sum) };
    }
}

/// Rearranges the registers. At first, each register holds one word of all blocks. Afterwards, each register holds all
/// words of one block.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
#[inline]
fn blocks(words: [__m512i; WORDS]) -> [__m512i; WORDS] {
    // Four registers each hold one word of every block. After this step, quarter `i` of register `j` holds the words of
    // block 4 `i` + `j`.
    let fours: [[__m512i; 4]; 4] = array::from_fn(|four| {
        let [a, b, c, d] = *words[4 * four..].first_chunk().expect("sixteen words");
        let (low_ab, low_cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        let (high_ab, high_cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(low_ab, low_cd),
            _mm512_unpackhi_epi64(low_ab, low_cd),
            _mm512_unpacklo_epi64(high_ab, high_cd),
            _mm512_unpackhi_epi64(high_ab, high_cd),
        ]
    });
    let mut blocks = [_mm512_setzero_si512(); WORDS];
    for place in 0..4 {
        let [a, b, c, d] = fours.map(|four| four[place]);
        // `lower` combines the quarters 0 and 1 of both registers, and `upper` combines the quarters 2 and 3.
        let lower = |x, y| _mm512_shuffle_i32x4::<0b01_00_01_00>(x, y);
        let upper = |x, y| _mm512_shuffle_i32x4::<0b11_10_11_10>(x, y);
        // `even` combines the quarters 0 and 2 of both registers, and `odd` combines the quarters 1 and 3.
        let even = |x, y| _mm512_shuffle_i32x4::<0b10_00_10_00>(x, y);
        let odd = |x, y| _mm512_shuffle_i32x4::<0b11_01_11_01>(x, y);
        blocks[place] = even(lower(a, b), lower(c, d));
        blocks[4 + place] = odd(lower(a, b), lower(c, d));
        blocks[8 + place] = even(upper(a, b), upper(c, d));
        blocks[12 + place] = odd(upper(a, b), upper(c, d));
    }
    blocks
}

/// The sum of Poly1305 in eight lanes.
///
/// The simple method multiplies the sum by the eighth power of the point and reduces the sum after each group. This
/// code instead multiplies four groups by four different powers, adds the products, and reduces the sum once.
struct Sum {
    sum: [__m512i; 3],
    /// The sums of the products of limbs: `low` sums the lower 52 bits of the products, and `high` sums the upper bits
    /// of the products.
    low: [__m512i; 3],
    high: [__m512i; 3],
    powers: Wiped<[u64; 5 * LAZY]>,
}

impl Sum {
    // SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
    #[inline]
    fn new(key: &poly1305::Poly1305Key) -> Self {
        let zero = [_mm512_setzero_si512(); 3];
        let mut powers = Wiped::new([0; 5 * LAZY]);
        let (step, mut power) = (key.power(LANES), [1, 0, 0]);
        // The previous sum is multiplied by r^32, because four groups of eight blocks follow. The first three groups
        // are multiplied by r^24, r^16 and r^8.
        for place in powers.as_chunks_mut().0.iter_mut().rev() {
            power = multiply(&power, step);
            *place = [power[0], power[1], power[2], 20 * power[1], 20 * power[2]];
        }
        Self { sum: zero, low: zero, high: zero, powers }
    }

    /// Executes one step for a piece. The steps 0 to 7 process all groups of blocks in the piece. Further steps do
    /// nothing.
    // SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
    #[inline]
    fn step(&mut self, step: usize, piece: &Piece) {
        let groups = piece.as_chunks::<GROUP>().0;
        if step >= groups.len() {
            return;
        }
        if step.is_multiple_of(LAZY) {
            [self.low, self.high] = [[_mm512_setzero_si512(); 3]; 2];
            self.multiply(0, self.sum);
        } else {
            self.multiply(step % LAZY, limbs(&groups[step - 1]));
        }
        if step % LAZY == LAZY - 1 {
            // The last group of every four groups is added without a multiplication.
            let last = limbs(&groups[step]);
            self.low = array::from_fn(|limb| _mm512_add_epi64(self.low[limb], last[limb]));
            self.reduce();
        }
    }

    /// Adds the product of a number and one of the powers to the sums of products.
    // SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
    #[inline]
    fn multiply(&mut self, power: usize, number: [__m512i; 3]) {
        let powers = self.powers.as_chunks().0[power];
        let [a, b, c, above_b, above_c] = powers.map(|limb: u64| _mm512_set1_epi64(limb.cast_signed()));
        let [x, y, z] = number;
        let products = [[(y, above_c), (z, above_b), (x, a)], [(z, above_c), (y, a), (x, b)], [(z, a), (y, b), (x, c)]];
        for (limb, products) in products.into_iter().enumerate() {
            for (one, other) in products {
                self.low[limb] = _mm512_madd52lo_epu64(self.low[limb], one, other);
                self.high[limb] = _mm512_madd52hi_epu64(self.high[limb], one, other);
            }
        }
    }

    /// Reduces the sums of products to limbs. The bits that do not fit into the third limb are multiplied by five and
    /// added to the first limb.
    // SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
    #[inline]
    fn reduce(&mut self) {
        let sum = |one, other| _mm512_add_epi64(one, other);
        let low = |limb| _mm512_and_si512(limb, _mm512_set1_epi64(LOW.cast_signed()));
        let ([first, second, third], high) = (self.low, self.high);
        let second = sum(second, sum(_mm512_srli_epi64::<44>(first), _mm512_slli_epi64::<8>(high[0])));
        let third = sum(third, sum(_mm512_srli_epi64::<44>(second), _mm512_slli_epi64::<8>(high[1])));
        let above = sum(_mm512_srli_epi64::<42>(third), _mm512_slli_epi64::<10>(high[2]));
        let first = sum(low(first), sum(above, _mm512_slli_epi64::<2>(above)));
        let third = _mm512_and_si512(third, _mm512_set1_epi64(HIGH.cast_signed()));
        self.sum = [low(first), sum(low(second), _mm512_srli_epi64::<44>(first)), third];
    }

    /// Multiplies each lane by its power of the point, and returns the sum of all lanes.
    // SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
    fn limbs(&self, key: &poly1305::Poly1305Key) -> Limbs {
        let mut lanes = Wiped::new([0; 3 * LANES]);
        for (lanes, register) in lanes.as_chunks_mut::<LANES>().0.iter_mut().zip(self.sum) {
            // SAFETY: the lanes are as long as the register, and the store needs no alignment.
            unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), register) };
        }
        let mut sum = [0; 3];
        for lane in 0..LANES {
            let block = lane / 2 + lane % 2 * (LANES / 2);
            let product = multiply(&array::from_fn(|limb| lanes[limb * LANES + lane]), key.power(LANES - block));
            sum = array::from_fn(|limb| sum[limb] + product[limb]);
        }
        sum
    }
}

/// Returns the limbs of eight blocks. The lanes hold the blocks in the order 0, 4, 1, 5, 2, 6, 3, 7.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
#[inline]
fn limbs(group: &[u8; GROUP]) -> [__m512i; 3] {
    let [one, other] = [0, 1].map(|register| load(&group.as_chunks().0[register]));
    let (lower, upper) = (_mm512_unpacklo_epi64(one, other), _mm512_unpackhi_epi64(one, other));
    let low = |limb| _mm512_and_si512(limb, _mm512_set1_epi64(LOW.cast_signed()));
    let pad = _mm512_set1_epi64(PAD.cast_signed());
    let third = _mm512_or_si512(_mm512_srli_epi64::<24>(upper), pad);
    [low(lower), low(_mm512_shrdi_epi64::<44>(lower, upper)), third]
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma")]
#[inline]
fn load(bytes: &[u8; REGISTER]) -> __m512i {
    // SAFETY: the bytes are as long as the register, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
