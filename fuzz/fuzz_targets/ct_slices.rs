//! Comparing, assigning, swapping, looking up and wiping slices of every integer type gives the same results as the
//! plain operators, and changes no other memory.
//!
//! Input: how to make the right slice from the left slice, a choice, an index, an offset, the number of repetitions of
//! the bytes, and then the bytes.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;

use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd, CtSelect, CtSign, CtZero, Wipe, Wiped, declassify, lookup};
use deadpan_fuzz::{Input, canaries, is_untouched};

trait Item: CtEq + CtOrd + CtAssign + CtSelect + CtZero + Ord + Copy + Default + Debug {}
impl<T: CtEq + CtOrd + CtAssign + CtSelect + CtZero + Ord + Copy + Default + Debug> Item for T {}

/// Runs all functions on two slices.
#[derive(Clone, Copy)]
struct Case {
    yes: bool,
    index: usize,
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let kind = input.byte();
    let case = Case { yes: input.byte() & 1 == 1, index: input.word() };
    let offset = usize::from(input.byte() % 64);
    let times = usize::from(input.byte() % 16) + 1;
    let left = input.rest().repeat(times);
    let right = other(kind, case.index, &left);
    bytes_in_place(&left, &right, case.yes, offset);
    slices(&left, &right, case);
    integers(&left, &right, case);
});

/// Makes the right slice from the left slice: equal, different in one bit, shorter, longer, in reverse order, or all
/// zeros.
fn other(kind: u8, index: usize, left: &[u8]) -> Vec<u8> {
    let mut right = left.to_vec();
    let place = index % left.len().max(1);
    match kind % 8 {
        0 => {}
        1 => right.truncate(place),
        2 => right.push(kind),
        3 => right.reverse(),
        4 => right.fill(0),
        _ => {
            if let Some(byte) = right.get_mut(place) {
                *byte ^= 1 << (kind >> 5);
            }
        }
    }
    right
}

/// Reads numbers of every width from the same bytes.
fn integers(left: &[u8], right: &[u8], case: Case) {
    macro_rules! widths {
        ($($int:ty)*) => { $( {
            let numbers = |bytes: &[u8]| -> Vec<$int> {
                bytes.as_chunks().0.iter().map(|chunk| <$int>::from_le_bytes(*chunk)).collect()
            };
            slices(&numbers(left), &numbers(right), case);
        } )* };
    }
    widths!(u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
    let signs = left.iter().all(|byte| byte.cast_signed().ct_is_negative().declassify() == (byte.cast_signed() < 0));
    assert!(signs, "ct_is_negative");
}

fn slices<T: Item>(left: &[T], right: &[T], case: Case) {
    compare(left, right);
    if let (Some(left), Some(right)) = (left.first(), right.first()) {
        compare(left, right);
        assert_eq!(left.ct_is_zero().declassify(), *left == T::default(), "ct_is_zero");
        let picked = Choice::from_public(case.yes).select(*left, *right);
        assert_eq!(picked, if case.yes { *left } else { *right }, "select");
    }
    arrays::<T, 1>(left, right, case);
    arrays::<T, 7>(left, right, case);
    arrays::<T, 32>(left, right, case);
    arrays::<T, 300>(left, right, case);
    assert_eq!(left.ct_is_zero().declassify(), left.iter().all(|item| *item == T::default()), "ct_is_zero of a slice");
    assert_eq!(
        left.ct_is_nonzero().declassify(),
        left.iter().any(|item| *item != T::default()),
        "ct_is_nonzero of a slice"
    );
    let found = lookup(left, case.index).declassify();
    assert_eq!(found, left.get(case.index).copied(), "lookup");
    let near = case.index % (left.len() + 1);
    assert_eq!(lookup(left, near).declassify(), left.get(near).copied(), "lookup");
    let common = left.len().min(right.len());
    assign_and_swap(&left[..common], &right[..common], case.yes);
}

fn arrays<T: Item, const N: usize>(left: &[T], right: &[T], case: Case) {
    let (Some(left), Some(right)) = (left.first_chunk::<N>(), right.first_chunk::<N>()) else { return };
    compare(left, right);
    let choice = Choice::from_public(case.yes);
    assert_eq!(left.ct_is_zero().declassify(), *left == [T::default(); N], "ct_is_zero of an array");
    assert_eq!(choice.select(*left, *right), if case.yes { *left } else { *right }, "select of arrays");
    let (mut a, mut b) = (*left, *right);
    a.ct_swap(&mut b, choice);
    assert_eq!((a, b), if case.yes { (*right, *left) } else { (*left, *right) }, "ct_swap of arrays");
    a.ct_assign(right, choice);
    assert_eq!(a, if case.yes { *right } else { *left }, "ct_assign of arrays");
}

fn compare<T: CtOrd + Ord + Debug + ?Sized>(left: &T, right: &T) {
    assert_eq!(left.ct_eq(right).declassify(), left == right, "{left:?} == {right:?}");
    assert_eq!(left.ct_ne(right).declassify(), left != right, "{left:?} != {right:?}");
    assert_eq!(left.ct_lt(right).declassify(), left < right, "{left:?} < {right:?}");
    assert_eq!(left.ct_gt(right).declassify(), left > right, "{left:?} > {right:?}");
    assert_eq!(left.ct_le(right).declassify(), left <= right, "{left:?} <= {right:?}");
    assert_eq!(left.ct_ge(right).declassify(), left >= right, "{left:?} >= {right:?}");
}

fn assign_and_swap<T: Item>(left: &[T], right: &[T], yes: bool) {
    let choice = Choice::from_public(yes);
    let mut target = left.to_vec();
    target.ct_assign(right, choice);
    assert_eq!(target, if yes { right } else { left }, "ct_assign");
    let (mut a, mut b) = (left.to_vec(), right.to_vec());
    a.ct_swap(&mut b, choice);
    assert_eq!((&*a, &*b), if yes { (right, left) } else { (left, right) }, "ct_swap");
}

/// Tests bytes at any alignment, with canaries around them.
fn bytes_in_place(left: &[u8], right: &[u8], yes: bool, offset: usize) {
    let length = left.len().min(right.len());
    let (left, right) = (&left[..length], &right[..length]);
    let choice = Choice::from_public(yes);
    let place = offset..offset + length;
    let surrounded = |bytes: &[u8]| {
        let mut room = canaries(length + 128);
        room[place.clone()].copy_from_slice(bytes);
        room
    };
    let check = |room: &[u8], expected: &[u8], what| {
        assert_eq!(&room[place.clone()], expected, "{what}");
        assert!(is_untouched(&room[..place.start]) && is_untouched(&room[place.end..]), "{what} wrote too far");
    };
    let (mut a, mut b) = (surrounded(left), surrounded(right));
    assert_eq!(a[place.clone()].ct_eq(&b[place.clone()]).declassify(), left == right, "ct_eq at {offset}");
    a[place.clone()].ct_swap(&mut b[place.clone()], choice);
    let (first, second) = if yes { (right, left) } else { (left, right) };
    check(&a, first, "ct_swap");
    check(&b, second, "ct_swap");
    a[place.clone()].ct_assign(left, choice);
    check(&a, left, "ct_assign");
    a[place.clone()].wipe();
    check(&a, &vec![0; length], "wipe");
    let mut wiped = Wiped::new(left.to_vec());
    wiped.wipe();
    assert_eq!((declassify(wiped.len()), wiped.capacity() >= length), (0, true), "wipe of a vector");
}
