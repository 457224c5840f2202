//! SHA-512 on x86-64. The code computes the message schedule of two blocks at once in 32-byte registers, and the rounds
//! in ordinary registers.
//!
//! The schedule of a block does not depend on the blocks before it. The code therefore computes the schedule of two
//! blocks while it computes the rounds of the first block. The processor has separate units for vectors and for
//! ordinary registers.

use std::arch::asm;
use std::arch::x86_64::*;

use super::DIGEST;
use deadpan_ct::Wiped;
use deadpan_ct::cpu::{Level, level};

/// The number of bytes in one block, and in the two blocks that are processed at once.
const BLOCK: usize = 128;
const PAIR: usize = 2 * BLOCK;
/// The number of bytes in the last block that hold the length of the message.
const LENGTH: usize = 16;
const ROUNDS: usize = 80;

/// The initial hash value (section 5.3.5).
#[rustfmt::skip]
const BEGIN: [u64; 8] = [
    0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
];

/// The constants of the rounds (section 4.2.3).
#[rustfmt::skip] // It would give each number a line.
const K: [u64; ROUNDS] = [
    0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
];

/// The sums of the schedule and the round constants: first the sums for one block, then the sums for the other block.
type Sums = Wiped<[u64; 2 * ROUNDS]>;

/// The instructions that the compression function uses. A value of this type proves that the CPU has these
/// instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sha512Compress {
    has_avx512: bool,
}

impl Sha512Compress {
    /// Returns the fastest back end for this CPU, or `None` if the CPU supports no back end.
    pub(super) fn new() -> Option<Self> {
        Self::avx512().or_else(Self::avx2)
    }

    pub(super) fn avx2() -> Option<Self> {
        let has_bmi = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        (level() >= Level::Avx2 && has_bmi).then_some(Self { has_avx512: false })
    }

    pub(super) fn avx512() -> Option<Self> {
        Self::avx2().filter(|_| level() >= Level::Avx512).map(|_| Self { has_avx512: true })
    }

    /// If `both` is set, hashes both blocks of each pair, otherwise only the first block.
    fn run(self, state: &mut [u64; 8], sums: &mut Sums, pairs: &[[u8; PAIR]], both: bool) {
        if self.has_avx512 {
            // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
            unsafe { avx512(state, sums, pairs, both) }
        } else {
            // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
            unsafe { avx2(state, sums, pairs, both) }
        }
    }
}

/// A message that is being hashed.
pub(crate) struct Sha512Message {
    compress: Sha512Compress,
    state: Wiped<[u64; 8]>,
    /// The bytes that do not yet fill two blocks, and the number of these bytes.
    rest: Wiped<[u8; PAIR]>,
    filled: usize,
    length: u128,
    sums: Sums,
}

impl Sha512Message {
    pub(super) fn new(compress: Sha512Compress) -> Self {
        let (state, rest, sums) = (Wiped::new(BEGIN), Wiped::new([0; PAIR]), Wiped::new([0; 2 * ROUNDS]));
        Self { compress, state, rest, filled: 0, length: 0, sums }
    }

    /// Adds data to the message. May leak: the length of the data.
    pub(super) fn update(&mut self, mut data: &[u8]) {
        self.length += data.len() as u128;
        if self.filled > 0 {
            let (start, rest) = data.split_at(data.len().min(PAIR - self.filled));
            self.rest[self.filled..self.filled + start.len()].copy_from_slice(start);
            self.filled += start.len();
            data = rest;
            if self.filled < PAIR {
                return;
            }
            self.compress.run(&mut self.state, &mut self.sums, &[*self.rest], true);
        }
        let (pairs, rest) = data.as_chunks();
        self.compress.run(&mut self.state, &mut self.sums, pairs, true);
        self.rest[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// Returns the digest. May leak: the length of the message.
    pub(super) fn finish(mut self) -> [u8; DIGEST] {
        // The padding follows the message: a one bit, zero bits, and the length in bits (section 5.1.2).
        let mut end = Wiped::new([0; 2 * PAIR]);
        end[..self.filled].copy_from_slice(&self.rest[..self.filled]);
        end[self.filled] = 0x80;
        let length = (self.filled + 1 + LENGTH).next_multiple_of(BLOCK);
        end[length - LENGTH..length].copy_from_slice(&(8 * self.length).to_be_bytes());
        let (pairs, _) = end.as_chunks();
        let whole = length / PAIR;
        self.compress.run(&mut self.state, &mut self.sums, &pairs[..whole], true);
        if length > whole * PAIR {
            self.compress.run(&mut self.state, &mut self.sums, &pairs[whole..=whole], false);
        }
        let mut digest = [0; DIGEST];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(*self.state) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

/// Computes one round (section 6.4.2). `sums[first + round]` is the sum of the schedule and the constant for the round.
/// `bc` is b ^ c. The majority of a, b and c is ((a ^ b) & (b ^ c)) ^ b. The code keeps the value a ^ b for the next
/// round, because a ^ b is then the value b ^ c. The macro fixes the order of the instructions in assembly, because
/// compilers choose a slower order.
macro_rules! round {
    (
        $a:ident $b:ident $d:ident $e:ident $f:ident $g:ident $h:ident $bc:ident
        $sums:ident $first:ident $round:expr
    ) => {
        // SAFETY: the assembly reads one of the sixteen sums that begin at `first`, and changes only its operands.
        unsafe { asm!(
            "add {h}, qword ptr [{sums} + {offset}]",
            "rorx {x}, {e}, 14",
            "rorx {y}, {e}, 18",
            "andn {z}, {e}, {g}",
            "xor {x}, {y}",
            "rorx {y}, {e}, 41",
            "add {h}, {z}",
            "mov {z}, {f}",
            "and {z}, {e}",
            "xor {x}, {y}",
            "add {h}, {z}",
            "add {h}, {x}",
            "add {d}, {h}",
            "rorx {x}, {a}, 28",
            "rorx {y}, {a}, 34",
            "mov {ab}, {a}",
            "xor {ab}, {b}",
            "xor {x}, {y}",
            "rorx {y}, {a}, 39",
            "and {bc}, {ab}",
            "xor {x}, {y}",
            "xor {bc}, {b}",
            "add {h}, {bc}",
            "add {h}, {x}",
            sums = in(reg) $sums.as_ptr().wrapping_add($first),
            offset = const 8 * ($round),
            a = in(reg) $a,
            b = in(reg) $b,
            d = inout(reg) $d,
            e = in(reg) $e,
            f = in(reg) $f,
            g = in(reg) $g,
            h = inout(reg) $h,
            bc = inout(reg) $bc => _,
            ab = out(reg) $bc,
            x = out(reg) _,
            y = out(reg) _,
            z = out(reg) _,
            options(pure, readonly, nostack),
        ) }
    };
}

/// Computes eight of the sixteen rounds, beginning with the round `from`. After eight rounds, each of the words a to h
/// is in its original variable again. `bc` is the value b ^ c of the first round. The sums of the sixteen rounds begin
/// at `first`. The macro calls `step` after every second round.
macro_rules! rounds {
    (
        $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident $bc:ident
        $words:ident $sums:ident $first:ident $step:ident $from:literal
    ) => {
        round!($a $b $d $e $f $g $h $bc $sums $first $from);
        round!($h $a $c $d $e $f $g $bc $sums $first $from + 1);
        $step(&mut $words, $sums, $from / 2);
        round!($g $h $b $c $d $e $f $bc $sums $first $from + 2);
        round!($f $g $a $b $c $d $e $bc $sums $first $from + 3);
        $step(&mut $words, $sums, ($from + 2) / 2);
        round!($e $f $h $a $b $c $d $bc $sums $first $from + 4);
        round!($d $e $g $h $a $b $c $bc $sums $first $from + 5);
        $step(&mut $words, $sums, ($from + 4) / 2);
        round!($c $d $f $g $h $a $b $bc $sums $first $from + 6);
        round!($b $c $e $f $g $h $a $bc $sums $first $from + 7);
        $step(&mut $words, $sums, ($from + 6) / 2);
    };
}

/// Makes a function for CPUs with the given instructions. If `both` is set, the function hashes both blocks of each
/// pair, otherwise only the first block.
macro_rules! back_end {
    ($name:ident, $instructions:literal) => {
        // SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
        #[target_feature(enable = $instructions)]
        fn $name(state: &mut [u64; 8], sums: &mut Sums, pairs: &[[u8; PAIR]], both: bool) {
            for pair in pairs {
                let mut words = load(pair);
                for (number, words) in words.iter().enumerate() {
                    store(sums, 2 * number, *words);
                }
                for block in 0..if both { 2 } else { 1 } {
                    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
                    let mut bc = b ^ c;
                    for sixteen in 0..ROUNDS / 16 {
                        let next = 16 * (sixteen + 1);
                        let first = block * ROUNDS + 16 * sixteen;
                        if block == 0 && next < ROUNDS {
                            let step = |words: &mut [__m256i; 8], sums: &mut Sums, number: usize| {
                                extend(words, number);
                                store(sums, next + 2 * number, words[number]);
                            };
                            rounds!(a b c d e f g h bc words sums first step 0);
                            rounds!(a b c d e f g h bc words sums first step 8);
                        } else {
                            let step = |_: &mut [__m256i; 8], _: &mut Sums, _: usize| ();
                            rounds!(a b c d e f g h bc words sums first step 0);
                            rounds!(a b c d e f g h bc words sums first step 8);
                        }
                    }
                    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                        *word = word.wrapping_add(new);
                    }
                }
            }
        }
    };
}

back_end!(avx2, "avx2,bmi1,bmi2");
// With AVX-512, the compiler replaces two shifts and an `or` by one rotation.
back_end!(avx512, "avx2,bmi1,bmi2,avx512f,avx512vl");

/// Returns the words of two blocks. Each register holds two words of the first block, and the two words at the same
/// positions in the second block.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx2")]
fn load(pair: &[u8; PAIR]) -> [__m256i; 8] {
    let order = _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607));
    let mut words = [_mm256_setzero_si256(); 8];
    for (number, words) in words.iter_mut().enumerate() {
        let at = |block: usize| pair[block * BLOCK + 16 * number..][..16].as_ptr().cast();
        // SAFETY: each pointer points to sixteen bytes.
        let (one, other) = unsafe { (_mm_loadu_si128(at(0)), _mm_loadu_si128(at(1))) };
        *words = _mm256_shuffle_epi8(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one), other), order);
    }
    words
}

/// Replaces the words 2 `number` and 2 `number` + 1 of the last sixteen words by the next two words of the schedule
/// (section 6.4.2, step 1).
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx2")]
fn extend(words: &mut [__m256i; 8], number: usize) {
    let [zero, one, four, five, seven] = [0, 1, 4, 5, 7].map(|later| words[(number + later) % 8]);
    let (second, tenth) = (_mm256_alignr_epi8::<8>(one, zero), _mm256_alignr_epi8::<8>(five, four));
    let small = mix(rotate::<1, 63>(second), rotate::<8, 56>(second), _mm256_srli_epi64::<7>(second));
    let large = mix(rotate::<19, 45>(seven), rotate::<61, 3>(seven), _mm256_srli_epi64::<6>(seven));
    words[number] = _mm256_add_epi64(_mm256_add_epi64(zero, tenth), _mm256_add_epi64(small, large));
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx2")]
fn rotate<const RIGHT: i32, const LEFT: i32>(words: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_srli_epi64::<RIGHT>(words), _mm256_slli_epi64::<LEFT>(words))
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx2")]
fn mix(one: __m256i, other: __m256i, third: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_xor_si256(one, other), third)
}

/// Stores the sums of two words of each block, for the rounds `round` and `round` + 1.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx2")]
fn store(sums: &mut Sums, round: usize, words: __m256i) {
    let constants = _mm256_broadcastsi128_si256(_mm_set_epi64x(K[round + 1].cast_signed(), K[round].cast_signed()));
    let all = _mm256_add_epi64(words, constants);
    let halves = [_mm256_castsi256_si128(all), _mm256_extracti128_si256::<1>(all)];
    for (block, half) in halves.into_iter().enumerate() {
        let at = sums[block * ROUNDS + round..][..2].as_mut_ptr().cast();
        // SAFETY: `at` points to two words of eight bytes.
        unsafe { _mm_storeu_si128(at, half) };
    }
}
