//! The targets for constant-time operations. Claim: the time depends on the length of a slice, but neither on the
//! operands nor on the secret choice.

mod number;

use std::array;
use std::hint::black_box;

use super::size::SIZES;
use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd, CtSign, CtZero, lookup};
use deadpan_lab::harness::SizedTarget;
use deadpan_lab::{Random, Target};
use number::Number;

/// Number of entries in a table.
const ENTRIES: usize = 16;
/// The lengths of slices in bytes, with the names of their targets. The first length is the length of a key, and the
/// second length is longer than any register.
const SLICES: [(usize, &str); 2] = [(32, "slice"), (1024, "slice.1KiB")];

type Fill1 = fn(&mut Random, &mut [u8]);
type Fill2 = fn(&mut Random, &mut [u8], &mut [u8]);

/// Classes of one value. Each function gets a buffer that was filled with random bytes.
const SINGLES: [(&str, Fill1); 5] = [
    ("ones", |_, value| value.fill(0xff)),
    ("zeros", |_, value| value.fill(0)),
    ("one bit set", |random, value| {
        value.fill(0);
        flip(random, value);
    }),
    ("one bit clear", |random, value| {
        value.fill(0xff);
        flip(random, value);
    }),
    ("random", |_, _| {}),
];

/// Classes of two values. Each function gets buffers that were filled with random bytes.
const COUPLES: [(&str, Fill2); 5] = [
    ("equal ones", |_, a, b| {
        a.fill(0xff);
        b.fill(0xff);
    }),
    ("equal zeros", |_, a, b| {
        a.fill(0);
        b.fill(0);
    }),
    ("one bit different", |random, a, b| {
        b.copy_from_slice(a);
        flip(random, b);
    }),
    ("all bits different", |_, a, b| a.iter().zip(b).for_each(|(a, b)| *b = !*a)),
    ("random", |_, _, _| {}),
];

/// Classes in which the two values differ at the first or at the last position where a comparison could stop.
const ENDS: [(&str, Fill2); 2] = [
    ("first byte different", |_, a, b| {
        b.copy_from_slice(a);
        b[0] ^= 0xff;
    }),
    ("last byte different", |_, a, b| {
        b.copy_from_slice(a);
        b[a.len() - 1] ^= 0xff;
    }),
];

fn flip(random: &mut Random, value: &mut [u8]) {
    let bit = random.below(8 * value.len() as u64) as usize;
    value[bit / 8] ^= 1 << (bit % 8);
}

pub(super) fn timing() -> Vec<Target> {
    let numbers = [number::<u8>(), number::<u32>(), number::<u64>(), number::<u128>()];
    let signs = [sign::<i8>(), sign::<i32>(), sign::<i64>(), sign::<i128>()];
    let slices = SLICES.into_iter().flat_map(|(bytes, name)| slice(bytes, name));
    numbers.into_iter().flatten().chain(signs).chain(slices).chain(array()).collect()
}

fn number<T: Number>() -> Vec<Target> {
    vec![
        double("eq", |a: T, b| a.ct_eq(&b)),
        double("ne", |a: T, b| a.ct_ne(&b)),
        double("lt", |a: T, b| a.ct_lt(&b)),
        double("le", |a: T, b| a.ct_le(&b)),
        double("gt", |a: T, b| a.ct_gt(&b)),
        double("ge", |a: T, b| a.ct_ge(&b)),
        single("is_zero", |value: T| value.ct_is_zero()),
        single("is_nonzero", |value: T| value.ct_is_nonzero()),
        chosen("select", |a: T, b, choice| choice.select(a, b)),
        chosen("assign", |mut a: T, b, choice| {
            a.ct_assign(&b, choice);
            a
        }),
        chosen("swap", |mut a: T, mut b, choice| {
            a.ct_swap(&mut b, choice);
            (a, b)
        }),
        table::<T>(),
    ]
}

fn sign<T: Number + CtSign>() -> Target {
    single("is_negative", |value: T| value.ct_is_negative())
}

fn single<T: Number, R: 'static>(operation: &str, function: impl Fn(T) -> R + 'static) -> Target {
    with_singles(Target::new(format!("ct.{operation}.{}", T::NAME), T::SIZE, move |input| function(T::read(input))))
}

fn double<T: Number, R: 'static>(operation: &str, function: impl Fn(T, T) -> R + 'static) -> Target {
    let run = move |input: &[u8]| function(T::read(input), T::read(&input[T::SIZE..]));
    with_couples(Target::new(format!("ct.{operation}.{}", T::NAME), 2 * T::SIZE, run), T::SIZE, COUPLES)
}

fn chosen<T: Number, R: 'static>(operation: &str, function: impl Fn(T, T, Choice) -> R + 'static) -> Target {
    let run =
        move |input: &[u8]| function(T::read(input), T::read(&input[T::SIZE..]), Choice::from_bit(input[2 * T::SIZE]));
    with_choices(with_couples(
        Target::new(format!("ct.{operation}.{}", T::NAME), 2 * T::SIZE + 1, run),
        T::SIZE,
        COUPLES,
    ))
}

/// Returns the target for a lookup at a secret index. The table is secret as well.
fn table<T: Number>() -> Target {
    let run = |input: &[u8]| {
        let entries: [T; ENTRIES] = array::from_fn(|index| T::read(&input[index * T::SIZE..]));
        lookup(&entries, usize::from(input[ENTRIES * T::SIZE]))
    };
    let at = |first: usize, count: usize| {
        move |random: &mut Random, input: &mut [u8]| {
            random.fill(input);
            input[ENTRIES * T::SIZE] = (first + random.below(count as u64) as usize) as u8;
        }
    };
    Target::new(format!("ct.lookup.{}", T::NAME), ENTRIES * T::SIZE + 1, run)
        .class("first entry", at(0, 1))
        .class("last entry", at(ENTRIES - 1, 1))
        .class("any entry", at(0, ENTRIES))
        .class("beyond", at(ENTRIES, 256 - ENTRIES))
}

fn slice(bytes: usize, name: &str) -> Vec<Target> {
    let couples = |target| with_couples(with_couples(target, bytes, COUPLES), bytes, ENDS);
    vec![
        couples(Target::new(format!("ct.eq.{name}"), 2 * bytes, move |input| input[..bytes].ct_eq(&input[bytes..]))),
        couples(Target::new(format!("ct.lt.{name}"), 2 * bytes, move |input| input[..bytes].ct_lt(&input[bytes..]))),
        with_singles(Target::new(format!("ct.is_zero.{name}"), bytes, CtZero::ct_is_zero)),
        with_choices(couples(assign(format!("ct.assign.{name}"), bytes))),
        with_choices(couples(Target::in_place(format!("ct.swap.{name}"), 2 * bytes + 1, move |input| {
            let (a, b, choice) = parts(input, bytes);
            a.ct_swap(b, choice);
        }))),
    ]
}

fn assign(name: impl Into<String>, bytes: usize) -> Target {
    Target::in_place(name, 2 * bytes + 1, move |input| {
        let (a, b, choice) = parts(input, bytes);
        a.ct_assign(b, choice);
    })
}

/// Returns the targets for arrays. The machine code for arrays differs from the code for slices, because the compiler
/// knows the length of an array.
fn array() -> [Target; 2] {
    const BYTES: usize = 32;
    let arrays = |input: &mut [u8]| -> ([u8; BYTES], [u8; BYTES], Choice) {
        let (a, b, choice) = parts(input, BYTES);
        (array::from_fn(|place| a[place]), array::from_fn(|place| b[place]), choice)
    };
    let assign = Target::in_place("ct.assign.array", 2 * BYTES + 1, move |input| {
        let (mut a, b, choice) = arrays(input);
        a.ct_assign(&b, choice);
        a
    });
    let swap = Target::in_place("ct.swap.array", 2 * BYTES + 1, move |input| {
        let (mut a, mut b, choice) = arrays(input);
        a.ct_swap(&mut b, choice);
        (a, b)
    });
    [assign, swap].map(|target| with_choices(with_couples(target, BYTES, COUPLES)))
}

fn parts(input: &mut [u8], bytes: usize) -> (&mut [u8], &mut [u8], Choice) {
    let choice = Choice::from_bit(input[2 * bytes]);
    let (a, b) = input[..2 * bytes].split_at_mut(bytes);
    (a, b, choice)
}

fn with_singles(target: Target) -> Target {
    SINGLES.into_iter().fold(target, |target, (name, fill)| {
        target.class(name, move |random, input| {
            random.fill(input);
            fill(random, input);
        })
    })
}

/// Adds classes of inputs with two values of `bytes` bytes each. The rest of the input is random.
fn with_couples(target: Target, bytes: usize, couples: impl IntoIterator<Item = (&'static str, Fill2)>) -> Target {
    couples.into_iter().fold(target, |target, (name, fill)| {
        target.class(name, move |random, input| {
            random.fill(input);
            let (a, b) = input[..2 * bytes].split_at_mut(bytes);
            fill(random, a, b);
        })
    })
}

/// Adds a class for each value of the choice (0 or 1), with random operands.
fn with_choices(target: Target) -> Target {
    [("no", 0), ("yes", 1)].into_iter().fold(target, |target, (name, choice)| {
        target.class(name, move |random, input| {
            random.fill(input);
            *input.last_mut().expect("a choice") = choice;
        })
    })
}

pub(super) fn speed() -> Vec<SizedTarget> {
    let both = |(bytes, size): (usize, &'static str)| {
        let eq = Target::new("ct.eq", 2 * bytes, move |input| input[..bytes].ct_eq(&input[bytes..]));
        let mut output = vec![0; bytes];
        let assign = Target::new("ct.assign", bytes, move |input| {
            let choice = Choice::from_bit(input[0]);
            black_box(output.as_mut_slice()).ct_assign(input, choice);
        });
        [eq, assign].map(|target| {
            let target = target.class("random", |random, input| random.fill(input));
            SizedTarget { target, bytes: bytes as u64, size: size.to_owned() }
        })
    };
    SIZES.into_iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests;
