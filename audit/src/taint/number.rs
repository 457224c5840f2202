//! Tests `deadpan-ct` on numbers: every operation on every type.

use crate::secret::{hide_one, show_one};
use crate::tally::Tally;
use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd, CtSelect, CtSign, CtZero, Wipe};

macro_rules! numbers {
    ($tally:ident: $($int:ident)*) => { $(
        let (most, least) = (<$int>::MAX, <$int>::MIN);
        let interesting = [0, 1, 2, 3, 10, 100, most / 2, most / 2 + 1, most - 1, most, least, least + 1];
        for a in interesting {
            for b in interesting {
                pair!($tally, $int, a, b);
            }
            one!($tally, $int, a);
        }
    )* };
}

macro_rules! pair {
    ($tally:ident, $int:ident, $a:ident, $b:ident) => {
        let name = |what| format!("{} {what} of {} and {}", stringify!($int), $a, $b);
        let (x, y) = (hide_one($a), hide_one($b));
        $tally.case(format_args!("{}", name("ct_eq")), || x.ct_eq(&y).declassify() == ($a == $b));
        $tally.case(format_args!("{}", name("ct_ne")), || x.ct_ne(&y).declassify() == ($a != $b));
        $tally.case(format_args!("{}", name("ct_lt")), || x.ct_lt(&y).declassify() == ($a < $b));
        $tally.case(format_args!("{}", name("ct_gt")), || x.ct_gt(&y).declassify() == ($a > $b));
        $tally.case(format_args!("{}", name("ct_le")), || x.ct_le(&y).declassify() == ($a <= $b));
        $tally.case(format_args!("{}", name("ct_ge")), || x.ct_ge(&y).declassify() == ($a >= $b));
        for bit in [0_u8, 1] {
            let choice = Choice::from_bit(hide_one(bit));
            let picked = if bit == 1 { $a } else { $b };
            $tally.case(format_args!("{}", name("select")), || show_one(choice.select(x, y)) == picked);
            $tally.case(format_args!("{}", name("ct_select")), || show_one($int::ct_select(choice, x, y)) == picked);
            $tally.case(format_args!("{}", name("ct_assign")), || {
                let mut target = y;
                target.ct_assign(&x, choice);
                show_one(target) == picked
            });
            $tally.case(format_args!("{}", name("ct_swap")), || {
                let (mut left, mut right) = (y, x);
                left.ct_swap(&mut right, choice);
                (show_one(left), show_one(right)) == (picked, if bit == 1 { $b } else { $a })
            });
        }
        $tally.case(format_args!("{}", name("comparing, then choosing")), || {
            show_one(x.ct_lt(&y).select(x.wrapping_mul(3), y ^ x)) == if $a < $b { $a.wrapping_mul(3) } else { $b ^ $a }
        });
    };
}

macro_rules! one {
    ($tally:ident, $int:ident, $a:ident) => {
        let name = |what| format!("{} {what} of {}", stringify!($int), $a);
        let x = hide_one($a);
        $tally.case(format_args!("{}", name("ct_is_zero")), || x.ct_is_zero().declassify() == ($a == 0));
        $tally.case(format_args!("{}", name("ct_is_nonzero")), || x.ct_is_nonzero().declassify() == ($a != 0));
        $tally.case(format_args!("{}", name("wipe")), || {
            let mut wiped = x;
            wiped.wipe();
            // Wiped numbers are public, so the test need not mark the result as public.
            wiped == 0
        });
    };
}

macro_rules! signed {
    ($tally:ident: $($int:ident)*) => { $(
        for a in [0, 1, -1, <$int>::MAX, <$int>::MIN] {
            let x = hide_one(a);
            $tally.case(format_args!("{} ct_is_negative of {a}", stringify!($int)), || {
                x.ct_is_negative().declassify() == (a < 0)
            });
        }
    )* };
}

pub(crate) fn run(tally: &mut Tally) {
    unsigned_numbers(tally);
    signed_numbers(tally);
}

fn unsigned_numbers(tally: &mut Tally) {
    numbers!(tally: u8 u16 u32 u64 u128 usize);
}

fn signed_numbers(tally: &mut Tally) {
    numbers!(tally: i8 i16 i32 i64 i128 isize);
    signed!(tally: i8 i16 i32 i64 i128 isize);
}
