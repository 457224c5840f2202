//! The CPU's instruction sets, as levels from the lowest to the highest. The lowest level is portable code. The code
//! detects the level only once.
//!
//! In the test configuration (`--cfg deadpan_test`) the environment variable `DEADPAN_CPU` lowers the level to
//! `portable`, `sse2`, `ssse3`, `avx2` or `avx512`, so that tests can run every back end. Release builds ignore this
//! variable.

use core::sync::atomic::{AtomicU8, Ordering};

/// A level of the ladder. A CPU that supports a level supports all lower levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// Arithmetic on ordinary registers. The compiler may vectorize this code if the target allows it.
    Portable = 1,
    /// 16-byte vectors, which every x86-64 CPU supports.
    Sse2,
    /// 16-byte vectors with byte shuffles.
    Ssse3,
    /// 32-byte vectors.
    Avx2,
    /// 64-byte vectors with masks and permutations of single bytes (AVX-512 F, BW, VL, VBMI, VBMI2, and also BMI2,
    /// POPCNT). Ice Lake, Zen 4 and later CPUs support this level.
    Avx512,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 5] = [Self::Portable, Self::Sse2, Self::Ssse3, Self::Avx2, Self::Avx512];

    /// Returns the level's name, in the form that `DEADPAN_CPU` accepts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Sse2 => "sse2",
            Self::Ssse3 => "ssse3",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// Returns the highest level of this CPU.
#[inline(always)]
#[must_use]
pub fn level() -> Level {
    let known = KNOWN.load(Ordering::Relaxed);
    // The code checks for AVX-512 separately, so that this usual case costs one comparison and no jump table.
    if known == Level::Avx512 as u8 {
        return Level::Avx512;
    }
    match known {
        4 => Level::Avx2,
        3 => Level::Ssse3,
        2 => Level::Sse2,
        1 => Level::Portable,
        _ => remember(),
    }
}

/// The detected level, or zero before the first call. If two threads detect the level at the same time, both find the
/// same level.
static KNOWN: AtomicU8 = AtomicU8::new(0);

#[cold]
#[inline(never)]
fn remember() -> Level {
    #[cfg(deadpan_test)]
    let level = detect().min(ceiling());
    #[cfg(not(deadpan_test))]
    let level = detect();
    KNOWN.store(level as u8, Ordering::Relaxed);
    level
}

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
fn detect() -> Level {
    cpufeatures::new!(has_ssse3, "ssse3");
    cpufeatures::new!(has_avx2, "avx2");
    cpufeatures::new!(has_avx512, "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "bmi2", "popcnt");
    if has_avx512::get() && has_avx2::get() {
        Level::Avx512
    } else if has_avx2::get() {
        Level::Avx2
    } else if has_ssse3::get() {
        Level::Ssse3
    } else {
        Level::Sse2
    }
}

#[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
fn detect() -> Level {
    Level::Portable
}

/// Returns the level that the variable `DEADPAN_CPU` sets, or the highest level if the variable is not set.
#[cfg(deadpan_test)]
fn ceiling() -> Level {
    let Ok(wanted) = std::env::var("DEADPAN_CPU") else { return Level::Avx512 };
    let found = Level::ALL.into_iter().find(|level| level.name() == wanted);
    found.unwrap_or_else(|| panic!("DEADPAN_CPU={wanted} is not one of portable, sse2, ssse3, avx2, avx512"))
}
