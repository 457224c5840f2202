//! Tests one function for leaks: first by its traces, then by the clock. Prints one line, as `verdict.py` does. Returns
//! 10 for a leak, 0 if no difference was found, and another exit code of the lab in all other cases.
//!
//! ```no_run
//! use deadpan_lab::Target;
//!
//! fn main() -> std::process::ExitCode {
//!     known_leaks_judge::judge(
//!         Target::new("sum", 8, |input| input.iter().map(|&byte| u32::from(byte)).sum::<u32>())
//!             .fixed("zeroes", &[0; 8])
//!             .class("random", |random, input| random.fill(input)),
//!     )
//! }
//! ```

use std::process::ExitCode;
use std::time::Instant;

use deadpan_lab::record::{Pair, Verdict};
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Silent, Target, clock, trace};

/// Tests the target by its traces, and by the clock if the traces are equal and the target has at least two classes.
pub fn judge(mut target: Target) -> ExitCode {
    let begin = Instant::now();
    let traced = trace::target(&mut target, 1);
    if let Some(leak) = trace::leaks(&traced) {
        println!("LEAK by trace in {:.2} s: {leak}", begin.elapsed().as_secs_f64());
        return ExitCode::from(Verdict::Leak.exit_code(false));
    }
    let equal = match &traced.skipped {
        None => format!("no difference in {} traces of {} instructions", traced.secrets, traced.instructions),
        Some(reason) => format!("no trace ({reason})"),
    };
    if target.pairs().is_empty() {
        println!("{equal}, {:.1} s", begin.elapsed().as_secs_f64());
        let verdict = if traced.skipped.is_some() { Verdict::Inconclusive } else { Verdict::NoLeakAbove };
        return ExitCode::from(verdict.exit_code(false));
    }
    let begin = Instant::now();
    let settings = Settings::quick();
    let timing = timing::run(&mut target, &settings, &*clock::best(), &mut Silent);
    let elapsed = begin.elapsed().as_secs_f64();
    if let Some(pair) = timing.pairs.iter().find(|pair| pair.verdict == Verdict::Leak) {
        println!("LEAK by clock in {elapsed:.1} s: {} / {}: {}; {equal}", pair.a, pair.b, pair.reason);
        return ExitCode::from(Verdict::Leak.exit_code(false));
    }
    let equal_times = |pair: &Pair| pair.p_holm > settings.alpha && pair.mde_ns.is_finite();
    let measured = !matches!(timing.verdict, Verdict::Invalid | Verdict::Unmeasurable);
    if measured && timing.pairs.iter().all(equal_times) {
        // `equal_times` ignores the bound for the slowest calls, because this bound can remain wide on a busy machine.
        let found = timing.pairs.iter().map(|pair| pair.mde_ns).fold(0.0, f64::max);
        println!("{equal}; no difference by clock in {elapsed:.1} s; a shift of {found:.1} ns would have been found");
        return ExitCode::SUCCESS;
    }
    println!("{equal}; by clock {} in {elapsed:.1} s", timing.verdict);
    ExitCode::from(timing.verdict.exit_code(false))
}
