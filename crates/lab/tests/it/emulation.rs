//! Tests that the lab measures no times and runs no traces under an emulator. These tests run only in programs for
//! AArch64 that another architecture emulates.
#![cfg(all(feature = "harness", feature = "trace", target_arch = "aarch64", target_os = "linux"))]

use std::fs;

use clap::Parser;

use deadpan_lab::harness::{self, Caller, Command, Suite};
use deadpan_lab::record::Verdict;
use deadpan_lab::speed::workload::Offer;
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Silent, Target, clock, trace};

/// The command line of the lab.
#[derive(Parser)]
struct Lab {
    #[command(subcommand)]
    command: Command,
}

/// Returns whether the kernel has another architecture than this program. If not, the function prints that the test is
/// skipped.
fn emulated() -> bool {
    let emulated = fs::read_to_string("/proc/sys/kernel/arch").is_ok_and(|name| name.trim() != "aarch64");
    if !emulated {
        crate::skipped("no emulator runs this program");
    }
    emulated
}

fn parity() -> Target {
    Target::new("parity", 32, |input| input.iter().fold(0, |sum, byte| sum ^ byte))
        .fixed("zeros", &[0; 32])
        .fixed("ones", &[1; 32])
}

#[test]
fn commands_that_measure_times_are_refused_under_an_emulator() {
    if !emulated() {
        return;
    }
    let suite = Suite {
        name: "test",
        version: "0",
        caller: Caller::Program("lab"),
        timing: || vec![parity()],
        honest: Vec::new,
        speed: Vec::new,
        generations: Offer::default,
    };
    for line in [
        "timing",
        "speed",
        "speed --table generations",
        "calibrate",
        "compare true true",
        "selftest --only timing",
        "selftest --only workers --only code",
    ] {
        let command = Lab::parse_from(["lab"].into_iter().chain(line.split(' '))).command;
        assert_eq!(harness::number(harness::run(&command, &suite)), 31, "{line}");
    }
}

#[test]
fn a_clock_of_this_machine_gives_no_verdict_under_an_emulator() {
    if !emulated() {
        return;
    }
    for clock in [clock::best(), Box::new(clock::System::new())] {
        let report = timing::run(&mut parity(), &Settings::quick(), &*clock, &mut Silent);
        assert_eq!(report.verdict, Verdict::Unmeasurable);
        let reason = &report.pairs[0].reason;
        assert!(reason.starts_with("an emulator runs this program"), "{reason}");
    }
}

#[test]
fn traces_are_skipped_with_the_reason_under_an_emulator() {
    if !emulated() {
        return;
    }
    let reason = trace::unavailable().expect("a reason");
    assert!(reason.contains("do not work under an emulator"), "{reason}");
    let found = trace::compare(&[vec![0; 8], vec![1; 8]], &mut |input: &mut [u8]| input.fill(0));
    assert_eq!((found.equal, found.skipped.as_deref()), (false, Some(reason)));
}
