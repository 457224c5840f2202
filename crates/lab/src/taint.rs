//! Tells Valgrind's memcheck which bytes are secret. Memcheck then reports each jump and each address that depends on a
//! secret.
//!
//! Use this module together with traces, because it finds leaks that traces may miss. Memcheck follows how the program
//! uses the secret, so one input is enough. Memcheck also finds leaks that the few inputs of a trace may miss by
//! chance. Memcheck hides AVX-512, VAES, VPCLMULQDQ, GFNI and SHA from the program and does not check code that uses
//! these instruction sets. [`covered`] lists the remaining instruction sets. Memcheck does not report a secret operand
//! of a division.
//!
//! If the program does not run under Valgrind, the functions of this module have no effect. Run the program as
//! `valgrind --error-limit=no --error-exitcode=9 ./program`. Without `--error-limit=no`, memcheck stops counting after
//! a thousand different places.
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
use crate::target::Target;
use control::{CONTROLS, ControlResult, ControlSeen};

/// Marks the bytes as secret.
pub fn poison(bytes: &mut [u8]) {
    valgrind::poison(bytes);
}

/// Marks the bytes as public, for example a result that may be shown.
pub fn declassify(bytes: &[u8]) {
    valgrind::declassify(bytes);
}

/// Marks a value as public and returns the value. For example, the value is a `bool` that is true if an input was
/// valid. The value must be a number or a `bool`. If the value contains a pointer, the memory behind the pointer stays
/// secret.
#[inline(always)]
#[must_use]
pub fn declassify_value<T: Copy>(value: T) -> T {
    valgrind::declassify_value(value)
}

/// Returns whether this process runs under Valgrind.
#[must_use]
pub fn running() -> bool {
    valgrind::running()
}

/// Returns the number of errors that Valgrind has reported in this process.
#[must_use]
pub fn errors() -> u64 {
    valgrind::errors()
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaintOutcome {
    /// The number of times that a jump or an address depended on the secret.
    pub errors: u64,
    /// The reason why the check did not take place, or `None` if the check took place.
    pub skipped: Option<String>,
}

/// Runs a function on a secret input and drops its result. After the call, the input is public again.
pub fn check<R>(input: &mut [u8], run: impl FnOnce(&mut [u8]) -> R) -> TaintOutcome {
    let before = errors();
    poison(input);
    drop(std::hint::black_box(run(input)));
    declassify(input);
    let skipped = (!running()).then(|| "the program does not run under Valgrind".to_owned());
    TaintOutcome { errors: errors() - before, skipped }
}

/// The number of inputs that [`target`] checks for each class.
const INPUTS: u64 = 2;

/// Checks a target with inputs of all its classes. All bytes of an input are secret, except bytes that the function
/// passes to [`declassify`].
///
/// For a prepared target, the lab makes inputs from secret random numbers, so all values that `prepare` computes from
/// these numbers are secret. `prepare` must use [`declassify_value`] to make the lengths and the other public parts
/// public. Memcheck does not check the code of `prepare` itself.
pub fn target(target: &mut Target, seed: u64) -> TaintOutcome {
    let mut random = Random::new(seed);
    let mut all =
        TaintOutcome { errors: 0, skipped: (!running()).then(|| "the program does not run under Valgrind".to_owned()) };
    let mut input = vec![0; target.length()];
    for turn in 0..target.classes().len() as u64 * INPUTS {
        target.fill((turn / INPUTS) as usize, &mut random, &mut input);
        let secret = target.secret();
        let run = target.run();
        poison(&mut input[secret.clone()]);
        // The user's functions that create an input may use the secret in any way, so memcheck must not report errors
        // of these functions.
        valgrind::quietly(|| run.prepare(&input));
        let before = errors();
        run.once(&mut input);
        all.errors += errors() - before;
        declassify(&input);
    }
    all
}

/// Returns the instruction sets that this process can use. The taint checks include code for these instruction sets.
/// Valgrind hides some of the processor's instruction sets.
#[must_use]
pub fn covered() -> Vec<&'static str> {
    instruction_sets().into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

/// Returns the instruction sets that this process cannot use. The taint checks do not include code for these
/// instruction sets.
#[must_use]
pub fn hidden() -> Vec<&'static str> {
    instruction_sets().into_iter().filter(|(_, there)| !there).map(|(name, _)| name).collect()
}

/// Runs the taint check on control functions, some of which leak. If the program does not run under Valgrind, each
/// result states that the check was skipped.
#[must_use]
pub fn controls() -> Vec<ControlResult> {
    let mut random = Random::new(1);
    let mut results = Vec::new();
    for control in &CONTROLS {
        let mut ran = true;
        let outcome = check(&mut control.input(1, &mut random), |input| ran = (control.run)(input));
        let skipped = if ran { outcome.skipped } else { Some(control.missing("Valgrind's processor")) };
        let detail = skipped.clone().unwrap_or_else(|| errors_counted(outcome.errors));
        results.push(ControlResult {
            name: control.name,
            layer: "taint",
            must_be_caught: control.seen == ControlSeen::TraceAndTaint,
            caught: skipped.is_none().then_some(outcome.errors > 0),
            detail,
        });
    }
    results
}

fn errors_counted(errors: u64) -> String {
    format!("{errors} {}", if errors == 1 { "error" } else { "errors" })
}

#[cfg(target_arch = "x86_64")]
fn instruction_sets() -> Vec<(&'static str, bool)> {
    macro_rules! sets {
        ($($name:literal $feature:tt),*) => { vec![$(($name, is_x86_feature_detected!($feature))),*] };
    }
    sets![
        "SSE2" "sse2", "SSSE3" "ssse3", "SSE4.1" "sse4.1", "SSE4.2" "sse4.2", "POPCNT" "popcnt", "AES" "aes",
        "PCLMULQDQ" "pclmulqdq", "AVX" "avx", "F16C" "f16c", "FMA" "fma", "BMI1" "bmi1", "BMI2" "bmi2", "ADX" "adx",
        "AVX2" "avx2", "SHA" "sha", "GFNI" "gfni", "VAES" "vaes", "VPCLMULQDQ" "vpclmulqdq", "AVX512F" "avx512f",
        "AVX512BW" "avx512bw", "AVX512DQ" "avx512dq", "AVX512VL" "avx512vl", "AVX512IFMA" "avx512ifma",
        "AVX512VBMI" "avx512vbmi", "AVX512VBMI2" "avx512vbmi2"
    ]
}

#[cfg(target_arch = "aarch64")]
fn instruction_sets() -> Vec<(&'static str, bool)> {
    macro_rules! sets {
        ($($name:literal $feature:tt),*) => {
            vec![$(($name, std::arch::is_aarch64_feature_detected!($feature))),*]
        };
    }
    sets![
        "NEON" "neon", "AES" "aes", "PMULL" "pmull", "SHA2" "sha2", "SHA3" "sha3", "CRC" "crc", "LSE" "lse",
        "DotProd" "dotprod", "FP16" "fp16", "DIT" "dit", "SVE" "sve"
    ]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn instruction_sets() -> Vec<(&'static str, bool)> {
    Vec::new()
}
