//! Tests that `deadpan lab compare` makes only claims that follow from the interval of the ratio. If other tests ran at
//! the same time, the times of equal programs would differ too much, so these tests are a separate program.
#![cfg(unix)]
#![allow(dead_code, reason = "these tests use a part of the sandbox")]

#[path = "it/sandbox/mod.rs"]
mod sandbox;

use serde_json::Value;

use crate::sandbox::{Sandbox, skip};

/// Compares two command lines. Returns the exit code, all text and the comparison.
fn compare(a: &str, b: &str, options: &[&str]) -> (i32, String, Value) {
    let sandbox = Sandbox::new();
    let common = ["lab", "compare", a, b, "--json", "record.json"];
    let run = sandbox.run(&[&common[..], options].concat());
    let record: Value = serde_json::from_slice(&sandbox.read("record.json")).unwrap();
    let text = String::from_utf8_lossy(run.stdout()).into_owned() + &run.stderr();
    (run.code().unwrap(), text, record["comparisons"][0].clone())
}

/// Regression: an interval from 0.27 to 2.51 was called "the same within 57.5 %".
#[test]
fn times_that_scatter_are_inconclusive() {
    // The number of milliseconds is a random byte, so that the times of equal programs differ by a large factor.
    let random = "sleep 0.0$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')";
    let (code, text, found) = compare(random, random, &["--rounds", "8", "--time-limit", "0"]);
    assert!(text.contains("8 rounds of A B B A; margin 1.0 %"), "{text}");
    let bound = |name: &str| found["ratio"][name].as_f64().unwrap();
    let (lower, upper) = (bound("lower"), bound("upper"));
    // In one of a hundred runs, the interval lies beyond the margin although the programs are equal.
    if lower > 1.01 || upper < 0.99 {
        assert_eq!(code, 1, "{text}");
        return;
    }
    assert_eq!((code, &found["outcome"], &found["margin"]), (20, &"inconclusive".into(), &0.01.into()), "{text}");
    let further = found["further_rounds"].as_u64().unwrap();
    // The outcome is clear only if the ends of the interval are closer to the estimate than the border of the margin
    // is.
    let [lower, estimate, upper] = ["lower", "estimate", "upper"].map(|name| bound(name).ln());
    let (away, margin) = (estimate.abs(), 1.01_f64.ln());
    let reach = (upper - estimate).max(estimate - lower);
    let room = (away - margin).abs().max(margin.min(reach) / 2.0) / reach;
    assert!((further + 8) as f64 >= 8.0 / room.powi(2), "{text}");
    assert!(text.contains(&format!("about {further} more rounds would settle it")), "{text}");
    assert!(!text.contains("the same within"), "{text}");
}

#[test]
fn equal_programs_are_the_same() {
    // Other programs may run at the same time. The longer the programs sleep, the less other programs disturb the
    // comparison.
    for seconds in ["0.1", "0.4", "1.6"] {
        let sleep = format!("sleep {seconds}");
        let (code, text, found) = compare(&sleep, &sleep, &["--rounds", "8", "--time-limit", "40"]);
        let (lower, upper) = (found["ratio"]["lower"].as_f64().unwrap(), found["ratio"]["upper"].as_f64().unwrap());
        let inside = upper <= 1.01 && lower >= 1.0 / 1.01;
        assert_eq!(code == 0, inside && found["outcome"] == "same", "{text}");
        if code == 0 {
            assert!(text.contains("the same within 1.0 %"), "{text}");
            return;
        }
    }
    // A busy machine may disturb every comparison. How each comparison was told has been checked.
    skip("equal programs", "this machine is too busy, and the times of equal sleeps never agreed");
}

#[test]
fn a_longer_program_is_slower() {
    let (code, text, found) = compare("sleep 0.02", "sleep 0.2", &["--rounds", "8"]);
    assert_eq!((code, &found["outcome"]), (1, &"slower".into()), "{text}");
    assert!(text.contains("8 rounds of A B B A, and more until the result is settled, for at most 60 s"), "{text}");
}
