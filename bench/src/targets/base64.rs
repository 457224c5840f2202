//! The targets of `deadpan-base64`.

use super::{Verdict, at_least, find};
use crate::race::Outcome;

/// Returns all targets. A factor is the peer's time divided by ours.
pub fn judge(outcomes: &[Outcome]) -> Vec<Verdict> {
    let factor = |cell: &str, peer| {
        find(outcomes, "base64", cell).and_then(|outcome| outcome.lane("", peer)).map(|lane| 1.0 / lane.ratio)
    };
    let mut verdicts = vec![
        at_least("base64: encoding 16 KiB at least 30 x base64ct", factor("encode 16 KiB", "base64ct"), 30.0, " x"),
        at_least("base64: decoding 16 KiB at least 90 x base64ct", factor("decode 16 KiB", "base64ct"), 90.0, " x"),
    ];
    for (size, limit) in
        [("16 B", 1.3), ("64 B", 1.3), ("256 B", 1.3), ("16 KiB", 1.0), ("1 MiB", 1.0), ("64 MiB", 1.0)]
    {
        for (cell, doing) in [("encode", "encoding"), ("decode", "decoding")] {
            let target = format!("base64: {doing} {size} at least {limit:.1} x base64-turbo");
            verdicts.push(at_least(target, factor(&format!("{cell} {size}"), "base64-turbo"), limit, " x"));
        }
    }
    for (cell, doing) in [("encode", "encoding"), ("decode", "decoding")] {
        let target = format!("base64: {doing} 16 KiB with AVX2 at least 1.8 x base64-simd");
        verdicts.push(at_least(target, factor(&format!("{cell} 16 KiB, avx2"), "base64-simd"), 1.8, " x"));
    }
    verdicts
}
