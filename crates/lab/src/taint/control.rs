//! Functions that leak, each in one way, and functions that do not: what the layers must find, and what they must leave in peace.

use std::hint::black_box;

use crate::imp::control as vector;
use crate::random::Random;

/// What came of a control in one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResult {
    /// The function.
    pub name: &'static str,
    /// Which layer looked: `trace`, `division`, `taint`.
    pub layer: &'static str,
    /// Whether this layer claims to find it. If not, it must not be found: the function does not leak, or not in this layer's sense.
    pub must_be_caught: bool,
    /// Whether it was found; none if it could not run here.
    pub caught: Option<bool>,
    /// What was found, or why it could not run.
    pub detail: String,
}

impl ControlResult {
    /// Whether it came out as it must; none if it could not run here.
    #[must_use]
    pub fn passed(&self) -> Option<bool> {
        self.caught.map(|caught| caught == self.must_be_caught)
    }
}

/// Which layers see it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Nowhere,
    Division,
    /// Valgrind does not run its instructions.
    #[cfg_attr(not(feature = "trace"), allow(dead_code))]
    Trace,
    TraceAndTaint,
}

pub(crate) struct Control {
    pub(crate) name: &'static str,
    pub(crate) seen: Seen,
    needs: &'static str,
    length: usize,
    fill: fn(usize, &mut Random, &mut [u8]),
    /// Whether it could run.
    pub(crate) run: fn(&mut [u8]) -> bool,
}

impl Control {
    /// One of several inputs that show the leak.
    pub(crate) fn input(&self, index: usize, random: &mut Random) -> Vec<u8> {
        let mut input = vec![0; self.length];
        (self.fill)(index, random, &mut input);
        input
    }

    pub(crate) fn missing(&self) -> String {
        format!("this processor shows no {}", self.needs)
    }
}

pub(crate) const CONTROLS: [Control; 8] = [
    Control { name: "early exit", seen: Seen::TraceAndTaint, needs: "", length: 256, fill: halves, run: |input| sink(early_exit(input)) },
    Control { name: "secret index", seen: Seen::TraceAndTaint, needs: "", length: 8, fill: any, run: |input| sink(lookup(input[0])) },
    Control { name: "gather", seen: Seen::TraceAndTaint, needs: "AVX2", length: 8, fill: any, run: |input| ran(gather(input)) },
    Control {
        name: "early exit, AVX-512",
        seen: Seen::Trace,
        needs: "AVX-512",
        length: 256,
        fill: halves,
        run: |input| ran(early_exit_512(input)),
    },
    Control { name: "secret division", seen: Seen::Division, needs: "", length: 8, fill: any, run: |input| sink(divide(input)) },
    Control { name: "branch-free compare", seen: Seen::Nowhere, needs: "", length: 256, fill: halves, run: |input| sink(equal(input)) },
    Control { name: "copy on the heap", seen: Seen::Nowhere, needs: "", length: 64, fill: any, run: |input| sink(copy(input)) },
    Control { name: "AES, 512 bits", seen: Seen::Nowhere, needs: "VAES", length: 64, fill: any, run: |input| ran(aes_512(input)) },
];

/// Compares the two halves, and stops at the first difference.
#[inline(never)]
#[must_use]
pub fn early_exit(input: &[u8]) -> bool {
    let (left, right) = input.split_at(input.len() / 2);
    for (left, right) in left.iter().zip(right) {
        if black_box(*left) != *right {
            return false;
        }
    }
    true
}

/// The same in steps of 64 bytes, with AVX-512. None without it.
#[must_use]
pub fn early_exit_512(input: &[u8]) -> Option<bool> {
    let (left, right) = input.split_at(input.len() / 2);
    vector::early_exit512(left, right)
}

/// Reads a table of 256 bytes at a secret place. The table fits into the first cache as a whole.
#[inline(never)]
#[must_use]
pub fn lookup(secret: u8) -> u8 {
    static TABLE: [u8; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            table[index] = (index as u8).wrapping_mul(167) ^ 0x63;
            index += 1;
        }
        table
    };
    black_box(&TABLE)[usize::from(secret)]
}

/// Reads a table at eight secret places with one instruction. None without AVX2.
#[must_use]
pub fn gather(secret: &[u8]) -> Option<u32> {
    static TABLE: [u32; 256] = [0x0101_0101; 256];
    vector::gather(black_box(&TABLE), secret)
}

/// Divides by a secret. All of them are large, so that no shortcut for small numbers has a say.
#[inline(never)]
#[must_use]
pub fn divide(secret: &[u8]) -> u64 {
    let secret = secret.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let divisor = std::num::NonZero::<u64>::MIN | (1 << 40) | secret;
    black_box(u64::MAX - 58) / divisor
}

/// Compares the two halves without a branch.
#[inline(never)]
#[must_use]
pub fn equal(input: &[u8]) -> u8 {
    let (left, right) = input.split_at(input.len() / 2);
    left.iter().zip(right).fold(0, |all, (left, right)| black_box(all | (left ^ right)))
}

/// Four AES rounds over 64 bytes at once, in place. None without AVX-512 and VAES.
pub fn aes_512(input: &mut [u8]) -> Option<()> {
    vector::aes512(input)
}

/// Doubles each byte in memory of its own.
#[inline(never)]
#[must_use]
pub fn copy(input: &[u8]) -> Vec<u8> {
    let mut copy: Vec<u8> = black_box(input).to_vec();
    copy.iter_mut().for_each(|byte| *byte = byte.wrapping_add(*byte));
    copy
}

fn sink<R>(result: R) -> bool {
    drop(black_box(result));
    true
}

fn ran<R>(result: Option<R>) -> bool {
    result.map(sink).is_some()
}

fn any(_: usize, random: &mut Random, input: &mut [u8]) {
    random.fill(input);
}

/// Two halves that differ in one byte, each time elsewhere.
fn halves(index: usize, random: &mut Random, input: &mut [u8]) {
    let (left, right) = input.split_at_mut(input.len() / 2);
    random.fill(left);
    right.copy_from_slice(left);
    right[(index * 16 + 5) % right.len()] ^= 1 << (index % 8);
}
