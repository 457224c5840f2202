//! Functions with a known leak, and functions that do not leak.

use std::cell::RefCell;
use std::hint::black_box;

use crate::clock::Mock;
use crate::imp::spin::spin;
use crate::random::Random;
use crate::target::Target;

/// The number of bytes in each of the two slices that a function compares.
const SIDE: usize = 32;

/// Creates a target whose two classes contain the same bytes.
pub(super) fn identical() -> Target {
    Target::new("identical", 2 * SIDE, |input| to_the_end(&input[..SIDE], &input[SIDE..]))
        .fixed("a", &[7; 2 * SIDE])
        .fixed("b", &[7; 2 * SIDE])
}

/// Creates a target that always compares all bytes.
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

/// Creates a target that runs `turns` iterations of the delay loop in one call in two hundred.
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

/// Creates a target that compares two slices of 1024 bytes by the comparison of the standard library. The slices differ
/// in one byte. The position of the byte that differs depends on the class.
pub(super) fn memcmp(first: usize, second: usize) -> Target {
    const SIDE: usize = 1024;
    let differing = |place: usize| {
        move |random: &mut Random, input: &mut [u8]| {
            let (left, right) = input.split_at_mut(SIDE);
            random.fill(left);
            right.copy_from_slice(left);
            right[place] ^= 1;
        }
    };
    Target::new("memcmp", 2 * SIDE, |input| input[..SIDE].cmp(&input[SIDE..]))
        .class("first place", differing(first))
        .class("second place", differing(second))
}

/// Creates a target that multiplies normal or denormal numbers.
pub(super) fn denormal() -> Target {
    Target::new("denormal", 8, |input| {
        let number = f64::from_le_bytes(std::array::from_fn(|index| input[index]));
        (0..4).fold(0.0, |sum, _| sum + black_box(number) * black_box(0.5))
    })
    .class("normal", |random, input| input.copy_from_slice(&(1.0 + random.fraction()).to_le_bytes()))
    .class("denormal", |random, input| {
        input.copy_from_slice(&f64::from_bits(random.bits() >> 12 | 1).to_le_bytes());
    })
}

/// Creates a target that takes about 80 ns and then calls `advance` with the factor 0 for the first class and 1 for the
/// second class.
pub(super) fn moved<C: 'static>(clock: C, advance: impl Fn(&C, f64) + 'static) -> Target {
    Target::new("moved", 1, move |input| {
        spin(300);
        advance(&clock, f64::from(input[0]));
    })
    .fixed("first", &[0])
    .fixed("second", &[1])
}

/// Creates a target that takes one of two times on a mock clock. The time does not depend on the class.
pub(super) fn bimodal(clock: Mock, seed: u64, modes: [f64; 2]) -> Target {
    simulated(clock, seed, move |_, random| modes[(random.bits() & 1) as usize] + 3.0 * random.normal())
}

/// Creates a target on a mock clock whose calls take `shift` nanoseconds longer for the second class. An interruption
/// delays one call in a hundred.
pub(super) fn shifted(clock: Mock, seed: u64, shift: f64) -> Target {
    simulated(clock, seed, move |class, random| {
        let pause = if random.below(100) == 0 { 5000.0 * random.fraction().powi(4) } else { 0.0 };
        103.3 + 2.0 * random.normal().abs() + shift * f64::from(class) + pause
    })
}

fn simulated(clock: Mock, seed: u64, time: impl Fn(u8, &mut Random) -> f64 + 'static) -> Target {
    let random = RefCell::new(Random::new(seed));
    Target::new("simulated", 1, move |input| clock.advance(time(input[0], &mut random.borrow_mut())))
        .fixed("first", &[0])
        .fixed("second", &[1])
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
