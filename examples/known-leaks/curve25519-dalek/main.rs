//! Subtracts two secret scalars modulo the order of the group.

use std::process::ExitCode;

use curve25519_dalek::Scalar;

use deadpan_lab::Target;

fn main() -> ExitCode {
    known_leaks_judge::judge(
        Target::new("scalar subtraction", 64, |input| {
            let scalar = |bytes: &[u8]| Scalar::from_bytes_mod_order(bytes.try_into().expect("32 bytes"));
            scalar(&input[..32]) - scalar(&input[32..])
        })
        .class("random", |random, input| random.fill(input))
        .class("equal", |random, input| {
            random.fill(&mut input[..32]);
            input.copy_within(..32, 32);
        }),
    )
}
