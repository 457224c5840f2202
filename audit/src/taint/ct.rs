//! Tests `deadpan-ct` on choices, slices, arrays, options and tables.

use core::fmt::Debug;

use crate::secret::{bytes, hide, hide_array, hide_one, lengths, show, show_array, show_one};
use crate::tally::Tally;
use deadpan_ct::imp::Plain;
use deadpan_ct::{Choice, CtAssign, CtEq, CtOption, CtOrd, CtSelect, CtZero, Wipe, Wiped, declassify, lookup};

pub(crate) fn run(tally: &mut Tally) {
    choices(tally);
    for length in lengths() {
        slices(tally, &bytes(length, 1), &bytes(length, 2));
        order(tally, length);
        wiping(tally, length);
        let wide = |seed| {
            bytes(8 * length, seed).as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<_>>()
        };
        slices(tally, &wide(3), &wide(4));
    }
    arrays(tally, bytes(1, 1).try_into().unwrap_or([0; 1]));
    arrays(tally, bytes(16, 1).try_into().unwrap_or([0; 16]));
    arrays(tally, bytes(32, 1).try_into().unwrap_or([0; 32]));
    arrays(tally, bytes(33, 1).try_into().unwrap_or([0; 33]));
    arrays(tally, bytes(255, 1).try_into().unwrap_or([0; 255]));
    arrays(tally, bytes(300, 1).try_into().unwrap_or([0; 300]));
    arrays(tally, [1_u128, u128::MAX, 3]);
    arrays(tally, [-1_i16, i16::MIN, 3, 4, 5]);
    options(tally);
    tables(tally);
}

fn choice(bit: u8) -> Choice {
    Choice::from_bit(hide_one(bit))
}

fn choices(tally: &mut Tally) {
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (x, y) = (choice(a), choice(b));
        let mut name = |what, result: Choice, expected: u8| {
            tally.case(format_args!("choice {what} of {a} and {b}"), || result.declassify() == (expected == 1));
        };
        name("and", x & y, a & b);
        name("or", x | y, a | b);
        name("xor", x ^ y, a ^ b);
        name("not", !x, 1 - a);
        name("ct_eq", x.ct_eq(&y), u8::from(a == b));
        name("ct_ne", x.ct_ne(&y), a ^ b);
        name("from_bit of bit", Choice::from_bit(x.bit()), a);
        name("from_bit of mask", Choice::from_bit(x.mask() as u8), a);
        name("select of choices", choice(1).select(x, y), a);
        name("ct_select of pairs", <(Choice, u8)>::ct_select(choice(0), (x, 1), (y, 2)).0, b);
        let (mut all, mut any, mut odd) = (x, x, x);
        all &= y;
        any |= y;
        odd ^= y;
        name("and in place", all, a & b);
        name("or in place", any, a | b);
        name("xor in place", odd, a ^ b);
        let (mut left, mut right) = ((x, 7_u32), (y, 8_u32));
        left.ct_swap(&mut right, choice(1));
        name("ct_swap", left.0, b);
        left.ct_assign(&(choice(1), 9), choice(0));
        name("ct_assign", left.0, b);
    }
    tally.case(format_args!("choice, printed"), || format!("{:?}", choice(1)) == "Choice(..)");
    tally.case(format_args!("declassify"), || declassify(hide_one(5_usize)) == 5);
    tally.case(format_args!("from_public"), || Choice::from_public(true).declassify() && Choice::TRUE.declassify());
}

/// Tests slices that are equal, slices that differ everywhere, and slices that differ only at one end.
fn slices<T>(tally: &mut Tally, a: &[T], b: &[T])
where
    T: Plain + Clone + Copy + PartialEq + Default + Debug + CtEq + CtZero + CtAssign,
    [T]: Wipe,
{
    let name = format!("slices of {} {}", a.len(), core::any::type_name::<T>());
    let (x, y) = (hide(a), hide(b));
    tally.case(format_args!("ct_eq of {name}"), || x.ct_eq(&y).declassify() == (a == b));
    tally.case(format_args!("ct_eq of equal {name}"), || x.ct_eq(&hide(a)).declassify());
    tally.case(format_args!("ct_ne of {name}"), || x.ct_ne(&y).declassify() == (a != b));
    for place in [0, a.len().wrapping_sub(1)] {
        let mut near = a.to_vec();
        if let Some(item) = near.get_mut(place) {
            *item = b[place];
        }
        tally.case(format_args!("ct_eq at {place} of {name}"), || x.ct_eq(&hide(&near)).declassify() == (a == near));
    }
    tally.case(format_args!("ct_is_zero of {name}"), || {
        x.ct_is_zero().declassify() == a.iter().all(|item| *item == T::default())
    });
    tally.case(format_args!("ct_is_zero of zero {name}"), || {
        hide(&vec![T::default(); a.len()]).ct_is_zero().declassify()
    });
    tally.case(format_args!("ct_is_nonzero of {name}"), || {
        x.ct_is_nonzero().declassify() == a.iter().any(|item| *item != T::default())
    });
    for bit in [0, 1] {
        tally.case(format_args!("ct_assign {bit} of {name}"), || {
            let mut target = x.clone();
            target.ct_assign(&y, choice(bit));
            show(&target) == if bit == 1 { b } else { a }
        });
        tally.case(format_args!("ct_swap {bit} of {name}"), || {
            let (mut left, mut right) = (x.clone(), y.clone());
            left.ct_swap(&mut right, choice(bit));
            let expected = if bit == 1 { (b, a) } else { (a, b) };
            (show(&left), show(&right)) == (expected.0.to_vec(), expected.1.to_vec())
        });
    }
}

fn order(tally: &mut Tally, length: usize) {
    let a = bytes(length, 5);
    for (place, change) in [(0, 1), (length / 2, 0xff), (length.wrapping_sub(1), 0x80), (length, 0)] {
        let mut b = a.clone();
        b.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= change);
        let (x, y) = (hide(&a), hide(&b));
        tally.case(format_args!("ct_lt of {length} bytes"), || x.ct_lt(&y).declassify() == (a < b));
        tally.case(format_args!("ct_ge of {length} bytes"), || x.ct_ge(&y).declassify() == (a >= b));
        let shorter = &y[..length / 2];
        tally.case(format_args!("ct_le of {length} bytes and half of them"), || {
            x.ct_le(shorter).declassify() == (a[..] <= b[..length / 2])
        });
        tally.case(format_args!("ct_gt of {length} bytes and half of them"), || {
            x.ct_gt(shorter).declassify() == (a[..] > b[..length / 2])
        });
    }
    let numbers = [a.iter().map(|byte| u32::from(*byte) << 13).collect::<Vec<_>>(), vec![0x10_0000; length]];
    let [x, y] = [hide(&numbers[0]), hide(&numbers[1])];
    tally.case(format_args!("ct_lt of {length} numbers"), || x.ct_lt(&y).declassify() == (numbers[0] < numbers[1]));
}

fn wiping(tally: &mut Tally, length: usize) {
    // Wiped memory is public, so the test need not mark the result as public.
    tally.case(format_args!("wipe of {length} bytes"), || {
        let mut secret = hide(&bytes(length, 6));
        secret.as_mut_slice().wipe();
        secret.iter().all(|byte| *byte == 0)
    });
    tally.case(format_args!("wipe of a vector of {length}"), || {
        let mut secret = hide(&bytes(length, 6));
        secret.wipe();
        secret.is_empty()
    });
    tally.case(format_args!("Wiped of {length} bytes"), || {
        let mut wiped = Wiped::new(hide(&bytes(length, 6)));
        wiped.push(hide_one(1));
        let copy = wiped.clone();
        copy.len() == length + 1 && format!("{copy:?}") == "Wiped(..)"
    });
}

fn arrays<T, const N: usize>(tally: &mut Tally, a: [T; N])
where
    T: Plain + Copy + PartialEq + PartialOrd + Default + Debug + CtEq + CtZero + CtOrd + CtAssign,
    [T; N]: Wipe,
{
    let name = format!("arrays of {N} {}", core::any::type_name::<T>());
    let mut b = a;
    b[N - 1] = T::default();
    let (x, y) = (hide_array(a), hide_array(b));
    tally.case(format_args!("ct_eq of {name}"), || x.ct_eq(&y).declassify() == (a == b));
    tally.case(format_args!("ct_eq of equal {name}"), || x.ct_eq(&hide_array(a)).declassify());
    tally.case(format_args!("ct_is_zero of {name}"), || {
        !x.ct_is_zero().declassify() && hide_array([T::default(); N]).ct_is_zero().declassify()
    });
    tally.case(format_args!("ct_lt of {name}"), || {
        x.ct_lt(&y).declassify() == (a < b) && y.ct_lt(&x).declassify() == (b < a)
    });
    for bit in [0, 1] {
        let (picked, other) = if bit == 1 { (b, a) } else { (a, b) };
        tally.case(format_args!("select {bit} of {name}"), || show_array(choice(bit).select(y, x)) == picked);
        tally.case(format_args!("ct_swap {bit} of {name}"), || {
            let (mut left, mut right) = (x, y);
            left.ct_swap(&mut right, choice(bit));
            show_array(left) == picked && show_array(right) == other
        });
        tally.case(format_args!("comparing, then assigning {bit} of {name}"), || {
            let mut target = x;
            target.ct_assign(&y, hide_array(if bit == 1 { a } else { b }).ct_eq(&x));
            show_array(target) == if bit == 1 || a == b { b } else { a }
        });
    }
    tally.case(format_args!("wipe of {name}"), || {
        let mut wiped = x;
        wiped.wipe();
        wiped == [T::default(); N]
    });
}

fn options(tally: &mut Tally) {
    for bit in [0, 1] {
        let make = |value: u32| CtOption::new(hide_one(value), choice(bit));
        let expected = |value: u32| (bit == 1).then_some(value);
        tally.case(format_args!("declassify of an option {bit}"), || make(5).declassify().map(show_one) == expected(5));
        tally.case(format_args!("is_some {bit}"), || make(5).is_some().declassify() == (bit == 1));
        tally.case(format_args!("is_none {bit}"), || make(5).is_none().declassify() == (bit == 0));
        tally.case(format_args!("map {bit}"), || {
            make(5).map(|value| value * 3).declassify().map(show_one) == expected(15)
        });
        let odd = |value: u32| CtOption::new(value, Choice::from_bit(value as u8));
        tally.case(format_args!("and_then {bit}"), || make(5).and_then(odd).declassify().map(show_one) == expected(5));
        tally.case(format_args!("filter {bit}"), || make(5).filter(choice(0)).declassify().is_none());
        tally.case(format_args!("into_parts {bit}"), || make(5).into_parts().1.declassify() == (bit == 1));
        tally.case(format_args!("unwrap_or {bit}"), || show_one(make(5).unwrap_or(6)) == if bit == 1 { 5 } else { 6 });
        let other = CtOption::new(hide_one(7), choice(1));
        tally
            .case(format_args!("or {bit}"), || make(5).or(other).declassify().map(show_one) == expected(5).or(Some(7)));
        tally.case(format_args!("select of options {bit}"), || {
            choice(bit).select(make(5), other).declassify().map(show_one) == expected(5).or(Some(7))
        });
        tally.case(format_args!("ct_eq of options {bit}"), || {
            make(5).ct_eq(&make(5)).declassify() && !make(5).ct_eq(&other).declassify()
        });
        tally.case(format_args!("ct_assign and ct_swap of options {bit}"), || {
            let (mut left, mut right) = (make(5), other);
            left.ct_swap(&mut right, choice(1));
            right.ct_assign(&left, choice(0));
            left.declassify().map(show_one) == Some(7) && right.declassify().map(show_one) == expected(5)
        });
        tally.case(format_args!("option {bit}, printed"), || format!("{:?}", make(5)) == "CtOption(..)");
    }
}

fn tables(tally: &mut Tally) {
    let table: [u32; 40] = core::array::from_fn(|place| (place * place) as u32);
    let rows: [[u64; 8]; 16] = core::array::from_fn(|place| [place as u64; 8]);
    let secret_rows = rows.map(hide_array);
    for index in (0..=41).chain([usize::MAX]) {
        let secret = hide_one(index);
        tally.case(format_args!("lookup of {index}"), || {
            lookup(&table, secret).declassify().map(show_one) == table.get(index).copied()
        });
        tally.case(format_args!("lookup of row {index}"), || {
            lookup(&secret_rows, secret).declassify().map(show_array) == rows.get(index).copied()
        });
    }
}
