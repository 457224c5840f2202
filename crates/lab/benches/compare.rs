//! An example of a benchmark in another crate, run with `cargo bench -p deadpan-lab`. The first function compares every
//! byte. The second function stops at the first difference, so its verdict is LEAK.

use std::hint::black_box;
use std::process::ExitCode;

use deadpan_lab::{Random, Target, harness};

fn equal(random: &mut Random, input: &mut [u8]) {
    random.fill(&mut input[..32]);
    input.copy_within(..32, 32);
}

fn main() -> ExitCode {
    harness::main(|| {
        vec![
            Target::new("to the end", 64, |input| {
                input[..32].iter().zip(&input[32..]).fold(0, |all, (a, b)| all | (a ^ b))
            })
            .class("equal", equal)
            .class("random", Random::fill),
            Target::new("to the first difference", 64, |input| {
                input[..32].iter().zip(&input[32..]).all(|(a, b)| black_box(a) == b)
            })
            .class("equal", equal)
            .class("random", Random::fill),
        ]
    })
}
