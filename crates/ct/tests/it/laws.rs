//! Compares every operation with the plain operator: for all values of bytes, and by property tests for other types.

use std::fmt::Debug;

use proptest::prelude::*;

use deadpan_ct::{Choice, CtAssign, CtEq, CtOption, CtOrd, CtSelect, CtSign, CtZero, declassify, lookup};

fn pair_laws<T>(a: T, b: T)
where
    T: CtEq + CtOrd + CtZero + CtSelect + CtAssign + Ord + Default + Copy + Debug,
{
    let laws = [
        ("eq", a.ct_eq(&b), a == b),
        ("ne", a.ct_ne(&b), a != b),
        ("lt", a.ct_lt(&b), a < b),
        ("le", a.ct_le(&b), a <= b),
        ("gt", a.ct_gt(&b), a > b),
        ("ge", a.ct_ge(&b), a >= b),
        ("is_zero", a.ct_is_zero(), a == T::default()),
        ("is_nonzero", a.ct_is_nonzero(), a != T::default()),
    ];
    for (name, choice, expected) in laws {
        assert_eq!(choice.declassify(), expected, "{name} of {a:?} and {b:?}");
        // The arithmetic gives wrong results if a mask contains both ones and zeros.
        assert_eq!(choice.mask(), if expected { -1 } else { 0 }, "{name} of {a:?} and {b:?}");
        moves(choice, expected, a, b);
    }
    moves(Choice::TRUE, true, a, b);
    moves(Choice::FALSE, false, a, b);
}

fn moves<T: CtSelect + CtAssign + Copy + PartialEq + Debug>(choice: Choice, yes: bool, a: T, b: T) {
    assert_eq!(choice.select(a, b), if yes { a } else { b });
    let mut target = b;
    target.ct_assign(&a, choice);
    assert_eq!(target, if yes { a } else { b });
    let (mut left, mut right) = (a, b);
    left.ct_swap(&mut right, choice);
    assert_eq!((left, right), if yes { (b, a) } else { (a, b) });
}

#[test]
fn all_pairs_of_bytes() {
    for (a, b) in (0..=255_u8).flat_map(|a| (0..=255_u8).map(move |b| (a, b))) {
        pair_laws(a, b);
        pair_laws(a.cast_signed(), b.cast_signed());
    }
    for byte in i8::MIN..=i8::MAX {
        assert_eq!(byte.ct_is_negative().declassify(), byte < 0);
    }
}

macro_rules! wide {
    ($($name:ident: $int:ty, $signed:ty;)*) => { $(
        proptest! {
            #[test]
            fn $name(a in any::<$int>(), b in any::<$int>(), shift in 0..<$int>::BITS) {
                // Random words differ in most bits. The test therefore also uses equal values, values that differ in
                // one bit, and extreme values.
                let [next, before, top] = [a.wrapping_add(1), a.wrapping_sub(1), 1 << (<$int>::BITS - 1)];
                let edges = [a, b, 0, 1, <$int>::MAX, top, a ^ (1 << shift), next, before];
                for x in edges {
                    for y in edges {
                        pair_laws(x, y);
                        pair_laws(x.cast_signed(), y.cast_signed());
                    }
                    prop_assert_eq!(x.cast_signed().ct_is_negative().declassify(), x.cast_signed() < 0);
                }
            }
        }
    )* };
}

wide! {
    u16_pairs: u16, i16;
    u32_pairs: u32, i32;
    u64_pairs: u64, i64;
    u128_pairs: u128, i128;
    usize_pairs: usize, isize;
}

#[test]
fn choices_combine_like_bits() {
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (x, y) = (Choice::from_bit(a), Choice::from_bit(b));
        assert_eq!((x & y).bit(), a & b);
        assert_eq!((x | y).bit(), a | b);
        assert_eq!((x ^ y).bit(), a ^ b);
        assert_eq!((!x).bit(), 1 - a);
        assert_eq!(x.ct_eq(&y).bit(), u8::from(a == b));
        assert_eq!(x.select(y, !y).bit(), if a == 1 { b } else { 1 - b });
        let mut z = x;
        z &= y;
        z |= x;
        z ^= y;
        assert_eq!(z.bit(), ((a & b) | a) ^ b);
        moves_choice(x, y, a == 1);
    }
    assert_eq!(Choice::from_bit(0xfe).bit(), 0, "only the lowest bit counts");
    assert_eq!(Choice::from_bit(0xff).mask(), -1);
    assert_eq!(Choice::from_public(3 > 2).bit(), 1);
    assert_eq!(format!("{:?}", Choice::TRUE), "Choice(..)");
    assert_eq!(declassify(17), 17);
}

fn moves_choice(choice: Choice, other: Choice, yes: bool) {
    let (mut left, mut right) = (Choice::TRUE, other);
    left.ct_swap(&mut right, choice);
    assert_eq!(left.bit(), if yes { other.bit() } else { 1 });
    let mut target = Choice::FALSE;
    target.ct_assign(&Choice::TRUE, choice);
    assert_eq!(target.bit(), u8::from(yes));
}

proptest! {
    #[test]
    fn slices_compare_like_slices(
        a in proptest::collection::vec(any::<u8>(), 0..300),
        b in proptest::collection::vec(any::<u8>(), 0..300),
        at in any::<prop::sample::Index>(),
    ) {
        let mut near = a.clone();
        if !near.is_empty() {
            let at = at.index(near.len());
            near[at] ^= 1 << (at % 8);
        }
        let prefix = &a[..at.index(a.len() + 1)];
        for (x, y) in [(&*a, &*b), (&a, &a), (&a, &near), (&near, &a), (&a, prefix), (prefix, &a)] {
            prop_assert_eq!(x.ct_eq(y).declassify(), x == y);
            prop_assert_eq!(x.ct_ne(y).declassify(), x != y);
            prop_assert_eq!(x.ct_lt(y).declassify(), x < y);
            prop_assert_eq!(x.ct_le(y).declassify(), x <= y);
            prop_assert_eq!(x.ct_gt(y).declassify(), x > y);
            prop_assert_eq!(x.ct_ge(y).declassify(), x >= y);
        }
        let mut zeros = vec![0; a.len()];
        prop_assert!(zeros.ct_is_zero().declassify());
        if !zeros.is_empty() {
            let at = at.index(zeros.len());
            zeros[at] = 1 << (at % 8);
            prop_assert!(zeros.ct_is_nonzero().declassify());
        }
    }

    #[test]
    fn wider_items_too(
        a in proptest::collection::vec(any::<i32>(), 0..70),
        b in proptest::collection::vec(-2..2_i32, 0..5),
        c in proptest::collection::vec(-2..2_i32, 0..5),
        yes in 0..=1_u8,
    ) {
        prop_assert_eq!(b.ct_lt(&c).declassify(), b < c);
        prop_assert_eq!(b.ct_eq(&c).declassify(), b == c);
        let choice = Choice::from_bit(yes);
        let other: Vec<i32> = a.iter().map(|item| !item).collect();
        let (mut left, mut right) = (a.clone(), other.clone());
        left.ct_swap(&mut right, choice);
        prop_assert_eq!((&left, &right), if yes == 1 { (&other, &a) } else { (&a, &other) });
        let mut target = a.clone();
        target.ct_assign(&other, choice);
        prop_assert_eq!(&target, if yes == 1 { &other } else { &a });
    }

    #[test]
    fn arrays_and_nested_ones(a in any::<[[u16; 3]; 5]>(), b in any::<[[u16; 3]; 5]>(), yes in 0..=1_u8) {
        let choice = Choice::from_bit(yes);
        moves(choice, yes == 1, a, b);
        prop_assert_eq!(a.ct_eq(&b).declassify(), a == b);
        prop_assert!(a.ct_eq(&a).declassify());
        prop_assert_eq!(a.ct_lt(&b).declassify(), a < b);
        prop_assert_eq!(a.ct_is_zero().declassify(), a == [[0; 3]; 5]);
        moves(choice, yes == 1, (a, 7_u8), (b, 9));
    }

    #[test]
    fn lookups_find_the_entry(table in proptest::collection::vec(any::<u64>(), 0..40), index in 0..50_usize) {
        prop_assert_eq!(lookup(&table, index).declassify(), table.get(index).copied());
        prop_assert_eq!(lookup(&table, usize::MAX - index).declassify(), None);
        let rows: Vec<[u32; 4]> = table.iter().map(|item| [*item as u32; 4]).collect();
        prop_assert_eq!(lookup(&rows, index).declassify(), rows.get(index).copied());
    }
}

#[test]
fn options_behave_like_options() {
    for (a, b) in [(None, None), (None, Some(5_u32)), (Some(3), None), (Some(3), Some(5)), (Some(3), Some(3))] {
        let secret = |option: Option<u32>| CtOption::new(option.unwrap_or(77), Choice::from_public(option.is_some()));
        let (x, y) = (secret(a), secret(b));
        assert_eq!(x.is_some().declassify(), a.is_some());
        assert_eq!(x.is_none().declassify(), a.is_none());
        assert_eq!(x.map(|value| value + 1).declassify(), a.map(|value| value + 1));
        assert_eq!(x.and_then(|_| y).declassify(), a.and(b));
        assert_eq!(x.or(y).declassify(), a.or(b));
        assert_eq!(x.unwrap_or(9), a.unwrap_or(9));
        assert_eq!(x.filter(Choice::FALSE).declassify(), None);
        assert_eq!(x.filter(Choice::TRUE).declassify(), a);
        assert_eq!(x.ct_eq(&y).declassify(), a == b);
        assert_eq!(Choice::TRUE.select(x, y).declassify(), a);
        assert_eq!(Choice::FALSE.select(x, y).declassify(), b);
        let (mut left, mut right) = (x, y);
        left.ct_swap(&mut right, Choice::TRUE);
        assert_eq!((left.declassify(), right.declassify()), (b, a));
        let mut target = x;
        target.ct_assign(&y, Choice::TRUE);
        assert_eq!(target.declassify(), b);
        assert_eq!(x.into_parts().1.declassify(), a.is_some());
        assert_eq!(format!("{x:?}"), "CtOption(..)");
    }
}

#[test]
#[should_panic(expected = "slices to assign differ in length")]
fn assigning_another_length_is_refused() {
    [0_u8; 3][..].ct_assign(&[0; 2], Choice::FALSE);
}

#[test]
#[should_panic(expected = "slices to swap differ in length")]
fn swapping_another_length_is_refused() {
    [0_u8; 3][..].ct_swap(&mut [0; 2], Choice::FALSE);
}
