//! The functions that leak.

use std::hint::black_box;

use crate::cases::{Case, LONG, SIDE, differing, equal, memcmp};
use deadpan_lab::Random;

pub fn all() -> [Case; 4] {
    [
        Case {
            name: "early-exit",
            what: "comparison of 32 bytes that ends at the first difference, equal against random",
            leaks: true,
            length: 2 * SIDE,
            run: |input| to_the_first(&input[..SIDE], &input[SIDE..]),
            fill: [equal, |random, input| random.fill(input)],
        },
        Case {
            name: "memcmp-place",
            what: "`memcmp` of 1024 bytes, difference in byte 1000 against 1023",
            leaks: true,
            length: 2 * LONG,
            run: memcmp,
            fill: [differing::<1000>, differing::<1023>],
        },
        Case {
            name: "rare-turn",
            what: "a comparison of 31 bytes, with one more byte in 0.5 % of the calls of one class",
            leaks: true,
            length: 2 * SIDE + 1,
            run: |input| {
                let turns = SIDE - 1 + usize::from(input[2 * SIDE]);
                to_the_first(&input[..turns], &input[SIDE..SIDE + turns])
            },
            fill: [|random, input| flagged(random, input, false), |random, input| flagged(random, input, true)],
        },
        Case {
            name: "denormal",
            what: "four multiplications, normal against denormal numbers",
            leaks: true,
            length: 8,
            run: multiply,
            fill: [
                |random, input| input.copy_from_slice(&(1.0 + random.fraction()).to_le_bytes()),
                |random, input| input.copy_from_slice(&f64::from_bits(random.bits() >> 12 | 1).to_le_bytes()),
            ],
        },
    ]
}

fn to_the_first(left: &[u8], right: &[u8]) -> u64 {
    left.iter().zip(right).all(|(left, right)| black_box(left) == right).into()
}

fn flagged(random: &mut Random, input: &mut [u8], rarely: bool) {
    equal(random, &mut input[..2 * SIDE]);
    input[2 * SIDE] = u8::from(rarely & (random.below(200) == 0));
}

fn multiply(input: &[u8]) -> u64 {
    let number = f64::from_le_bytes(std::array::from_fn(|index| input[index]));
    (0..4).fold(0.0, |sum, _| sum + black_box(number) * black_box(0.5)).to_bits()
}
