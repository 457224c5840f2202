//! The taint test. The test calls every public function with its secrets marked as undefined memory. Valgrind's
//! memcheck then reports each jump and each address that depends on a secret. The test runs the same optimized code as
//! the released programs.
//!
//! ```text
//! RUSTFLAGS="--cfg deadpan_test" cargo build --profile dist --package deadpan-audit --bin taint
//! DEADPAN_CPU=ssse3 valgrind --error-limit=no target/dist/taint
//! ```
//!
//! Valgrind hides AVX-512 from programs, so this test reaches at most the level `avx2`; `cargo xtask asm` covers
//! AVX-512. The last cases are known leaks. Valgrind must report each of these known leaks, because a test that reports
//! nothing could be broken.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[cfg(deadpan_test)]
mod base64;
#[cfg(deadpan_test)]
mod control;
#[cfg(deadpan_test)]
mod ct;
#[cfg(deadpan_test)]
mod hex;
#[cfg(deadpan_test)]
mod number;
#[cfg(deadpan_test)]
mod pad;
#[cfg(deadpan_test)]
mod pem;
#[cfg(deadpan_test)]
mod plain;
#[cfg(deadpan_test)]
mod secret;
#[cfg(deadpan_test)]
mod stream;
#[cfg(deadpan_test)]
mod symbol;
#[cfg(deadpan_test)]
mod tally;

use std::process::ExitCode;

const HINT: &str = "the taint test sees nothing unless it runs under Valgrind, in the test configuration
hint: RUSTFLAGS=\"--cfg deadpan_test\" cargo build --profile dist --package deadpan-audit --bin taint
hint: valgrind --error-limit=no target/dist/taint";

#[cfg(not(deadpan_test))]
fn main() -> ExitCode {
    eprintln!("{HINT}");
    ExitCode::from(2)
}

#[cfg(deadpan_test)]
fn main() -> ExitCode {
    if !deadpan_ct::imp::valgrind::running() {
        eprintln!("{HINT}");
        return ExitCode::from(2);
    }
    println!("level {}", deadpan_ct::cpu::level().name());
    let mut tally = tally::Tally::default();
    number::run(&mut tally);
    ct::run(&mut tally);
    base64::run(&mut tally);
    symbol::run(&mut tally);
    stream::run(&mut tally);
    hex::run(&mut tally);
    pem::run(&mut tally);
    pad::run(&mut tally);
    println!("documented disclosures and known leaks: the next reports are expected");
    pad::run_disclosing(&mut tally);
    control::run(&mut tally);
    tally.finish()
}
