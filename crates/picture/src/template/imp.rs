//! The kernels, which embed and extract the values of a block of lines. Only this module has `unsafe` code.
//!
//! All back ends give the same results. One test function compares all back ends with the reference.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod avx512;
#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
mod neon;
mod portable;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
mod tables;

use super::LINE;
use super::places::{Choice, Table};
use super::shares::Walk;

/// The maximum number of lines in a block.
pub(super) const LINES: usize = 512;
/// A kernel may read or overwrite this number of bytes after the values of a block.
const SLACK: usize = LINE;

/// The values of a block of lines, without gaps between the values. The values fill each byte from its lowest bit to
/// its highest bit.
pub(super) type Values = [u8; LINES * LINE / 2 + 1 + SLACK];

/// The samples of a line.
pub(super) type Line = [u8; LINE];

/// The position in the values that a kernel has reached.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// The number of bits of a value.
    pub(super) bits: usize,
    /// The number of the bit where the next value begins.
    pub(super) at: usize,
    /// Gives the number of values for each of the next lines.
    pub(super) walk: Walk,
}

/// The data that embedding needs besides the values.
#[derive(Clone, Copy)]
pub(super) struct Ways<'a> {
    /// The place of each value.
    pub(super) table: &'a Table,
    /// The value of each place.
    #[cfg_attr(
        any(not(any(target_arch = "x86_64", target_arch = "aarch64")), deadpan_portable),
        allow(dead_code, reason = "only the kernels with vectors use it")
    )]
    pub(super) inverses: &'a Table,
    /// The permutation for each line.
    pub(super) choices: &'a [Choice],
    /// A random bit for each sample.
    pub(super) signs: &'a [[u8; LINE / 8]],
}

/// The changes that embedding made in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The sum of the squared differences.
    pub(super) squares: u64,
    /// The number of samples that changed.
    pub(super) changed: u64,
}

/// A level of instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Portable code, which the compiler vectorizes if the target allows it.
    #[cfg_attr(
        all(target_arch = "aarch64", not(deadpan_portable)),
        allow(dead_code, reason = "every AArch64 CPU has the next level")
    )]
    Portable,
    /// 16-byte vectors with tables of 64 bytes.
    #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
    Neon,
    /// 32-byte vectors.
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    Avx2,
    /// 64-byte vectors with full byte permutations: Ice Lake, Zen 4 and later.
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    Avx512,
}

impl Level {
    /// All levels, lowest first.
    #[cfg(test)]
    pub(super) const ALL: &'static [Self] = &[
        Self::Portable,
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        Self::Neon,
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Self::Avx2,
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Self::Avx512,
    ];

    /// The standard library detects the CPU's features only once.
    pub(super) fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
            Self::Neon => true,
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"),
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("popcnt")
            }
        }
    }

    /// Returns the highest level of this CPU.
    pub(super) fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        for level in [Self::Avx512, Self::Avx2] {
            if level.is_available() {
                return level;
            }
        }
        cfg_select! {
            all(target_arch = "aarch64", not(deadpan_portable)) => { Self::Neon }
            _ => { Self::Portable }
        }
    }
}

/// Embeds values into the lines.
///
/// # Panics
///
/// Panics if the CPU does not have the level, or if there are too few choices, signs or values for the lines.
pub(super) fn embed(level: Level, lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    assert!(level.is_available(), "the CPU has this level");
    assert!(lines.len() <= LINES && course.at < 8 && (1..=4).contains(&course.bits));
    assert!(ways.choices.len() == lines.len() && ways.signs.len() == lines.len());
    match level {
        Level::Portable => portable::embed(lines, values, course, ways),
        // SAFETY: every AArch64 CPU has the level.
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        Level::Neon => unsafe { neon::embed(lines, values, course, ways) },
        // SAFETY: the CPU has the level.
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Level::Avx2 => unsafe { avx2::embed(lines, values, course, ways) },
        // SAFETY: the CPU has the level. The values begin in the first byte and belong to at most `LINES` lines, each
        // with at most 64 values of 4 bits. So all values lie before the last `SLACK` bytes.
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Level::Avx512 => unsafe { avx512::embed(lines, values, course, ways) },
    }
}

/// Extracts the values of the lines. The bits of `values` before the first value do not change. Bits after the last
/// value may be overwritten.
///
/// # Panics
///
/// Panics if the CPU does not have the level, or if there are too few choices for the lines.
pub(super) fn extract(
    level: Level,
    lines: &[Line],
    values: &mut Values,
    course: &mut Course,
    table: &Table,
    choices: &[Choice],
) {
    assert!(level.is_available(), "the CPU has this level");
    assert!(lines.len() <= LINES && course.at < 8 && (1..=4).contains(&course.bits));
    assert!(choices.len() == lines.len());
    match level {
        Level::Portable => portable::extract(lines, values, course, table, choices),
        // SAFETY: every AArch64 CPU has the level.
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        Level::Neon => unsafe { neon::extract(lines, values, course, table, choices) },
        // SAFETY: the CPU has the level.
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Level::Avx2 => unsafe { avx2::extract(lines, values, course, table, choices) },
        // SAFETY: the CPU has the level. The values begin in the first byte and belong to at most `LINES` lines, each
        // with at most 64 values of 4 bits. So all values lie before the last `SLACK` bytes.
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Level::Avx512 => unsafe { avx512::extract(lines, values, course, table, choices) },
    }
}
