//! Control functions. Each control function leaks in exactly one way, or does not leak. The lab uses control functions
//! to test whether traces and taint checks report exactly the leaks that they must report.

use std::hint::black_box;

use crate::imp::control as vector;
use crate::random::Random;

/// The result of one layer of tests for one control function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResult {
    /// The control's name.
    pub name: &'static str,
    /// The layer: `trace`, `division` or `taint`.
    pub layer: &'static str,
    /// Whether this layer must report the control function as a leak. If this field is false, the layer must not report
    /// the control function: the function does not leak, or leaks in a way that this layer does not detect.
    pub must_be_caught: bool,
    /// Whether the layer reported the control function as a leak. `None` if the control function could not run on this
    /// machine.
    pub caught: Option<bool>,
    /// The leak that the layer reported, or the reason why the control function could not run.
    pub detail: String,
}

impl ControlResult {
    /// Returns whether the layer correctly reported, or correctly did not report, the control function. Returns `None`
    /// if the control function could not run on this machine.
    #[must_use]
    pub fn passed(&self) -> Option<bool> {
        self.caught.map(|caught| caught == self.must_be_caught)
    }
}

/// The layers that must report a control function as a leak.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlSeen {
    Nowhere,
    Division,
    /// Only traces must report the control function, because Valgrind does not support the function's instructions.
    #[cfg_attr(not(feature = "trace"), allow(dead_code))]
    Trace,
    TraceAndTaint,
}

pub(crate) struct Control {
    pub(crate) name: &'static str,
    pub(crate) seen: ControlSeen,
    needs: &'static str,
    length: usize,
    fill: fn(usize, &mut Random, &mut [u8]),
    /// Runs the control. Returns false if the processor lacks the instructions that the control function needs.
    pub(crate) run: fn(&mut [u8]) -> bool,
}

impl Control {
    /// Returns an input that depends on the number `index`. Only several inputs together show the leak.
    pub(crate) fn input(&self, index: usize, random: &mut Random) -> Vec<u8> {
        let mut input = vec![0; self.length];
        (self.fill)(index, random, &mut input);
        input
    }

    /// Returns a text that explains why the control function could not run on `processor`.
    pub(crate) fn missing(&self, processor: &str) -> String {
        format!("{processor} does not have {}", self.needs)
    }
}

pub(crate) const CONTROLS: [Control; 8] = [
    Control {
        name: "early exit",
        seen: ControlSeen::TraceAndTaint,
        needs: "",
        length: 256,
        fill: halves,
        run: |input| sink(early_exit(input)),
    },
    Control {
        name: "secret index",
        seen: ControlSeen::TraceAndTaint,
        needs: "",
        length: 8,
        fill: any,
        run: |input| sink(lookup(input[0])),
    },
    Control {
        name: "gather",
        seen: ControlSeen::TraceAndTaint,
        needs: "AVX2",
        length: 8,
        fill: any,
        run: |input| ran(gather(input)),
    },
    Control {
        name: "early exit, AVX-512",
        seen: ControlSeen::Trace,
        needs: "AVX-512",
        length: 256,
        fill: halves,
        run: |input| ran(early_exit_512(input)),
    },
    Control {
        name: "secret division",
        seen: ControlSeen::Division,
        needs: "",
        length: 8,
        fill: any,
        run: |input| sink(divide(input)),
    },
    Control {
        name: "branch-free compare",
        seen: ControlSeen::Nowhere,
        needs: "",
        length: 256,
        fill: halves,
        run: |input| sink(equal(input)),
    },
    Control {
        name: "copy on the heap",
        seen: ControlSeen::Nowhere,
        needs: "",
        length: 64,
        fill: any,
        run: |input| sink(copy(input)),
    },
    Control {
        name: "AES, 512 bits",
        seen: ControlSeen::Nowhere,
        needs: "VAES",
        length: 64,
        fill: any,
        run: |input| ran(aes_512(input)),
    },
];

/// Compares the two halves of the input and stops at the first difference.
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

/// Compares the two halves of the input in blocks of 64 bytes with AVX-512, and stops at the first difference. Returns
/// `None` if the processor lacks AVX-512.
#[must_use]
pub fn early_exit_512(input: &[u8]) -> Option<bool> {
    let (left, right) = input.split_at(input.len() / 2);
    vector::early_exit512(left, right)
}

/// Reads an entry of a 256-byte table at a secret index. The whole table fits into the first-level cache.
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

/// Reads eight table entries at secret indexes with one instruction. Returns `None` if the processor lacks AVX2.
#[must_use]
pub fn gather(secret: &[u8]) -> Option<u32> {
    static TABLE: [u32; 256] = [0x0101_0101; 256];
    vector::gather(black_box(&TABLE), secret)
}

/// Divides by a secret. All divisors are so large that the processor cannot use its faster method for small divisors.
#[inline(never)]
#[must_use]
pub fn divide(secret: &[u8]) -> u64 {
    let secret = secret.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let divisor = std::num::NonZero::<u64>::MIN | (1 << 40) | secret;
    black_box(u64::MAX - 58) / divisor
}

/// Compares the two halves of the input without a branch on their bytes.
#[inline(never)]
#[must_use]
pub fn equal(input: &[u8]) -> u8 {
    let (left, right) = input.split_at(input.len() / 2);
    left.iter().zip(right).fold(0, |all, (left, right)| black_box(all | (left ^ right)))
}

/// Encrypts 64 bytes with four AES rounds, in place. Returns `None` if the processor lacks AVX-512 or VAES.
pub fn aes_512(input: &mut [u8]) -> Option<()> {
    vector::aes512(input)
}

/// Copies the input to the heap and doubles each byte.
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

/// Fills the input so that its two halves differ in one byte. The position of that byte depends on `index`.
fn halves(index: usize, random: &mut Random, input: &mut [u8]) {
    let (left, right) = input.split_at_mut(input.len() / 2);
    random.fill(left);
    right.copy_from_slice(left);
    right[(index * 16 + 5) % right.len()] ^= 1 << (index % 8);
}
