//! Runs the controls of the taint layer under Valgrind, if Valgrind is installed.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::process::Command;

use deadpan_lab::{Random, Target, taint};

const CHILD: &str = "DEADPAN_LAB_TAINT";

/// Another test in this file runs this test under Valgrind. If this test does not run under Valgrind, every control is
/// skipped.
#[test]
fn each_control_has_its_expected_outcome() {
    for result in taint::controls() {
        println!(
            "{}: caught {:?}, must be {}, passed {:?}: {}",
            result.name,
            result.caught,
            result.must_be_caught,
            result.passed(),
            result.detail
        );
        assert_ne!(result.passed(), Some(false), "{result:?}");
        assert_eq!(result.caught.is_none(), !taint::running() || result.detail.contains("does not have"), "{result:?}");
    }
    if std::env::var_os(CHILD).is_some() {
        assert!(taint::running());
        println!("covered: {}", taint::covered().join(" "));
        println!("hidden: {}", taint::hidden().join(" "));
        a_jump_on_a_declassified_value_is_no_error();
        targets_are_checked_with_inputs_of_all_classes();
    }
}

fn targets_are_checked_with_inputs_of_all_classes() {
    let errors = |target: &mut Target| {
        let outcome = taint::target(target, 1);
        assert_eq!(outcome.skipped, None);
        outcome.errors
    };
    let any = |key: &[u8]| key.iter().any(|&byte| black_box(byte) == 7);
    let sum = |key: &[u8]| key.iter().fold(0, |sum, byte| black_box(sum ^ byte));
    let bytes = |target: Target| target.class("random", |random, input| random.fill(input));
    assert!(errors(&mut bytes(Target::new("any", 16, any))) > 0);
    assert_eq!(errors(&mut bytes(Target::new("sum", 16, sum))), 0);
    // The preparation may branch on the secret. The length is public.
    let prepare = |random: &mut Random, _: &str| {
        let mut key = vec![0; taint::declassify_value(random.below(8)) as usize + 8];
        while black_box(key[0]) < 100 {
            random.fill(&mut key);
        }
        key
    };
    assert!(errors(&mut Target::prepared("any", ["random"], prepare, move |key| any(key))) > 0);
    assert_eq!(errors(&mut Target::prepared("sum", ["random"], prepare, move |key| sum(key))), 0);
    assert!(errors(&mut Target::prepared_in_place("any", ["random"], prepare, move |key| any(key))) > 0);
}

fn a_jump_on_a_declassified_value_is_no_error() {
    let decide = |public: fn(bool) -> bool| {
        move |input: &mut [u8]| {
            let secret = std::hint::black_box(input.iter().fold(0, |all, byte| all | byte)) == 0;
            if public(secret) { std::hint::black_box(1) } else { std::hint::black_box(2) }
        }
    };
    assert!(taint::check(&mut [7; 16], decide(std::hint::black_box)).errors > 0);
    assert_eq!(taint::check(&mut [7; 16], decide(taint::declassify_value)).errors, 0);
    let published = |input: &mut [u8]| {
        taint::declassify(input);
        if std::hint::black_box(input[0]) == 7 { std::hint::black_box(1) } else { std::hint::black_box(2) }
    };
    assert_eq!(taint::check(&mut [7; 16], published).errors, 0);
}

#[test]
fn controls_pass_under_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        crate::skipped("Valgrind is not installed");
        return;
    }
    let program = std::env::current_exe().expect("a program");
    let child = Command::new("valgrind")
        .args(["--quiet", "--error-limit=no"])
        .arg(program)
        .args(["--exact", "taint::each_control_has_its_expected_outcome", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("valgrind runs");
    let (out, notes) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{out}\n{notes}");
    for line in
        ["early exit: caught Some(true)", "secret index: caught Some(true)", "secret division: caught Some(false)"]
    {
        assert!(out.contains(line), "{line}\n{out}");
    }
    println!("{out}");
}
