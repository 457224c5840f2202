//! Tests that AWS-LC's own generator starts without delay. Signing with ML-DSA and sealing to RSA use this generator.
//! If AWS-LC is built without `AWS_LC_SYS_NO_JITTER_ENTROPY` (see .cargo/config.toml), the generator collects jitter
//! for tens of milliseconds before it returns its first byte. This delay of the generator slows down each short run of
//! the program.
#![cfg(target_os = "linux")]

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time of `work` in milliseconds. Other programs do not increase the CPU time much.
fn spent(work: impl FnOnce()) -> f64 {
    let now = || clock_gettime(ClockId::ProcessCPUTime);
    let begin = now();
    work();
    let end = now();
    (end.tv_sec - begin.tv_sec) as f64 * 1e3 + (end.tv_nsec - begin.tv_nsec) as f64 / 1e6
}

#[test]
fn no_run_pays_for_jitter() {
    let first = spent(|| aws_lc_rs::rand::fill(&mut [0]).expect("a random byte"));
    assert!(first < 8.0, "the first byte of AWS-LC's generator took {first} ms");
}
