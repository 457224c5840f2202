//! Marks secrets for Valgrind's memcheck, which reports every jump and every address that depends on one.
//!
//! Choose it beside the module `trace`: memcheck follows the secret itself, so one input is enough, and it finds what a
//! few inputs happen not to show. It does not see code for AVX-512, VAES, VPCLMULQDQ, GFNI and SHA, which it hides from the program
//! ([`covered`] says what is left), and it has nothing against a secret operand of a division.
//!
//! Outside of Valgrind all marks do nothing. Run the program as `valgrind --error-limit=no --error-exitcode=9 ./program`: without the first
//! option memcheck stops counting after a thousand different places.
//!
//! ```
//! use deadpan_lab::taint;
//!
//! let outcome = taint::check(&mut [7; 16], |input| input.iter().fold(0, |all, byte| all | byte));
//! assert_eq!(outcome.errors, 0);
//! assert_eq!(outcome.skipped.is_some(), !taint::running());
//! ```

pub mod control;

use crate::imp::valgrind;
use crate::random::Random;
use control::{CONTROLS, ControlResult, Seen};

/// From here on the bytes are secret.
pub fn poison(bytes: &mut [u8]) {
    valgrind::poison(bytes);
}

/// From here on the bytes are public: a result that everyone may see.
pub fn declassify(bytes: &[u8]) {
    valgrind::declassify(bytes);
}

/// From here on this value is public: whether something was valid, say. Plain numbers and truth values only; what a pointer points to
/// stays as it was.
#[inline(always)]
#[must_use]
pub fn declassify_value<T: Copy>(value: T) -> T {
    valgrind::declassify_value(value)
}

/// Whether this runs under Valgrind.
#[must_use]
pub fn running() -> bool {
    valgrind::running()
}

/// How many errors Valgrind has seen in this process.
#[must_use]
pub fn errors() -> u64 {
    valgrind::errors()
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Jumps and addresses that depend on the secret, each time they were met.
    pub errors: u64,
    /// Why nothing was checked.
    pub skipped: Option<String>,
}

/// Runs a function on a secret input. Its result is dropped unseen; the input is public again afterwards.
pub fn check<R>(input: &mut [u8], run: impl FnOnce(&mut [u8]) -> R) -> Outcome {
    let before = errors();
    poison(input);
    drop(std::hint::black_box(run(input)));
    declassify(input);
    let skipped = (!running()).then(|| "not under Valgrind".to_owned());
    Outcome { errors: errors() - before, skipped }
}

/// The instruction sets that this process sees, so that code for them can run. Under Valgrind these are fewer than the processor has.
#[must_use]
pub fn covered() -> Vec<&'static str> {
    instruction_sets().into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

/// The instruction sets that this process does not see: code for them has not been checked.
#[must_use]
pub fn hidden() -> Vec<&'static str> {
    instruction_sets().into_iter().filter(|(_, there)| !there).map(|(name, _)| name).collect()
}

/// Checks functions that leak and functions that do not. Skipped unless under Valgrind.
#[must_use]
pub fn controls() -> Vec<ControlResult> {
    let mut random = Random::new(1);
    let mut results = Vec::new();
    for control in &CONTROLS {
        let mut ran = true;
        let outcome = check(&mut control.input(1, &mut random), |input| ran = (control.run)(input));
        let skipped = if ran { outcome.skipped } else { Some(control.missing()) };
        let detail = skipped.clone().unwrap_or_else(|| format!("{} errors", outcome.errors));
        results.push(ControlResult {
            name: control.name,
            layer: "taint",
            must_be_caught: control.seen == Seen::TraceAndTaint,
            caught: skipped.is_none().then_some(outcome.errors > 0),
            detail,
        });
    }
    results
}

#[cfg(target_arch = "x86_64")]
fn instruction_sets() -> Vec<(&'static str, bool)> {
    macro_rules! sets {
        ($($name:literal $feature:tt),*) => { vec![$(($name, is_x86_feature_detected!($feature))),*] };
    }
    sets![
        "SSE2" "sse2", "SSSE3" "ssse3", "SSE4.1" "sse4.1", "SSE4.2" "sse4.2", "POPCNT" "popcnt", "AES" "aes", "PCLMULQDQ" "pclmulqdq",
        "AVX" "avx", "F16C" "f16c", "FMA" "fma", "BMI1" "bmi1", "BMI2" "bmi2", "ADX" "adx", "AVX2" "avx2", "SHA" "sha", "GFNI" "gfni",
        "VAES" "vaes", "VPCLMULQDQ" "vpclmulqdq", "AVX512F" "avx512f", "AVX512BW" "avx512bw", "AVX512DQ" "avx512dq", "AVX512VL" "avx512vl",
        "AVX512IFMA" "avx512ifma", "AVX512VBMI" "avx512vbmi", "AVX512VBMI2" "avx512vbmi2"
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn instruction_sets() -> Vec<(&'static str, bool)> {
    Vec::new()
}
