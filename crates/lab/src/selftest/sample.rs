//! Functions that leak in a known way, and functions that do not.

use std::hint::black_box;

use crate::imp::spin::spin;
use crate::random::Random;
use crate::target::Target;

/// Bytes on each side of the comparisons.
const SIDE: usize = 32;

/// Creates a target whose two classes contain the same bytes.
pub(super) fn identical() -> Target {
    Target::new("identical", 2 * SIDE, |input| to_the_end(&input[..SIDE], &input[SIDE..]))
        .fixed("a", &[7; 2 * SIDE])
        .fixed("b", &[7; 2 * SIDE])
}

/// Creates a target that compares all bytes.
pub(super) fn whole() -> Target {
    Target::new("whole", 2 * SIDE, |input| to_the_end(&input[..SIDE], &input[SIDE..]))
        .class("equal", equal)
        .class("random", Random::fill)
}

/// Creates a target whose comparison ends at the first difference.
pub(super) fn early_exit() -> Target {
    Target::new("early exit", 2 * SIDE, |input| to_the_first(&input[..SIDE], &input[SIDE..]))
        .class("equal", equal)
        .class("random", Random::fill)
}

/// Creates a target whose loop makes one more iteration in one call in two hundred.
pub(super) fn rare_turn() -> Target {
    Target::new("rare turn", 2 * SIDE + 1, |input| {
        let turns = SIDE - 1 + usize::from(input[2 * SIDE]);
        to_the_first(&input[..turns], &input[SIDE..SIDE + turns])
    })
    .class("never", |random, input| flagged(random, input, false))
    .class("rarely", |random, input| flagged(random, input, true))
}

/// Creates a target that is delayed in one call in two hundred, by `turns` iterations of the delay loop.
pub(super) fn rare_delay(turns: u32) -> Target {
    Target::new("rare delay", 2 * SIDE + 1, move |input| {
        let equal = to_the_end(&input[..SIDE], &input[SIDE..2 * SIDE]);
        if input[2 * SIDE] != 0 {
            spin(turns);
        }
        equal
    })
    .class("never", |random, input| flagged(random, input, false))
    .class("rarely", |random, input| flagged(random, input, true))
}

fn equal(random: &mut Random, input: &mut [u8]) {
    let (left, right) = input.split_at_mut(SIDE);
    random.fill(left);
    right.copy_from_slice(left);
}

fn flagged(random: &mut Random, input: &mut [u8], rarely: bool) {
    equal(random, &mut input[..2 * SIDE]);
    input[2 * SIDE] = u8::from(rarely & (random.below(200) == 0));
}

fn to_the_first(left: &[u8], right: &[u8]) -> bool {
    left.iter().zip(right).all(|(left, right)| black_box(left) == right)
}

fn to_the_end(left: &[u8], right: &[u8]) -> bool {
    black_box(left.iter().zip(right).fold(0, |all, (left, right)| all | (left ^ right))) == 0
}
