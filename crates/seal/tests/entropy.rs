//! Tests that AWS-LC's own generator, which signing with ML-DSA and sealing to RSA use, starts without delay. Built
//! without `AWS_LC_SYS_NO_JITTER_ENTROPY` (see .cargo/config.toml), it gathers jitter before its first byte, for tens
//! of milliseconds, which would slow down each short run of the program.
#![cfg(target_os = "linux")]

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time in milliseconds, which other programs do not lengthen much.
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
