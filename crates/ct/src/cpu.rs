//! The CPU's instruction sets, as levels from the lowest to the highest. The lowest level is portable code. The code
//! detects the level only once.
//!
//! In the test configuration (`--cfg deadpan_test`) the environment variable `DEADPAN_CPU` lowers the level to
//! `portable`, `sse2`, `ssse3`, `avx2` or `avx512`, or on AArch64 to `portable` or `neon`, so that tests can run every
//! back end. Release builds ignore this variable.

use core::sync::atomic::{AtomicU8, Ordering};

/// A level of the ladder. A CPU that supports a level supports all lower levels of its architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// Arithmetic on ordinary registers. The compiler may vectorize this code if the target allows it.
    Portable = 1,
    /// 16-byte vectors with byte shuffles, which every AArch64 CPU supports.
    Neon,
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
    /// All levels of this architecture, lowest first.
    pub const ALL: &[Self] = cfg_select! {
        all(target_arch = "x86_64", not(deadpan_portable)) => {
            &[Self::Portable, Self::Sse2, Self::Ssse3, Self::Avx2, Self::Avx512]
        }
        all(target_arch = "aarch64", not(deadpan_portable)) => { &[Self::Portable, Self::Neon] }
        _ => { &[Self::Portable] }
    };

    /// Returns the level's name, in the form that `DEADPAN_CPU` accepts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
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
        5 => Level::Avx2,
        4 => Level::Ssse3,
        3 => Level::Sse2,
        2 => Level::Neon,
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

#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
fn detect() -> Level {
    Level::Neon
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable))))]
fn detect() -> Level {
    Level::Portable
}

/// Returns the level that the variable `DEADPAN_CPU` sets, or the highest level if the variable is not set.
#[cfg(deadpan_test)]
fn ceiling() -> Level {
    let Ok(wanted) = std::env::var("DEADPAN_CPU") else { return Level::Avx512 };
    let found = Level::ALL.iter().copied().find(|level| level.name() == wanted);
    found.unwrap_or_else(|| {
        let names: std::vec::Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
        panic!("DEADPAN_CPU={wanted} is not one of {}", names.join(", "))
    })
}
