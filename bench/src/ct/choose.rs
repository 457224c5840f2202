//! Measurements that select, assign and swap integers by a secret choice.

use super::choices::Choices;
use super::pairs::{Integer, Pairs};
use crate::barrier::Register;
use crate::cells::Role::{ConstantTime, Ours, Plain};
use crate::cells::{Cell, Cells};
use deadpan_lab::Random;

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    cells::<u8>(bench);
    cells::<u32>(bench);
    cells::<u64>(bench);
    cells::<u128>(bench);
    cells::<i64>(bench);
}

fn cells<T: Integer>(bench: &mut Cells<'_>)
where
    (T, T): Register,
{
    let mut random = Random::new(2);
    let (pairs, choices) = (Pairs::<T>::new(&mut random), Choices::new(&mut random));
    pairs.cell(bench, "select", |cell| select(cell, &pairs, &choices));
    pairs.cell(bench, "assign", |cell| assign(cell, &pairs, &choices));
    pairs.cell(bench, "swap", |cell| swap(cell, &pairs, &choices));
}

fn select<'a, T: Integer>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>, choices: &'a Choices) {
    let right = |a, b, yes| if yes { a } else { b };
    pairs.choose(cell, ("deadpan", Ours), (&choices.ours, choices), right, |a, b, yes| yes.select(a, b));
    pairs.choose(cell, ("subtle", ConstantTime), (&choices.subtle, choices), right, |a, b, yes| {
        T::conditional_select(&b, &a, yes)
    });
    pairs.choose(cell, ("ctutils", ConstantTime), (&choices.ctutils, choices), right, |a, b, yes| {
        ctutils::CtSelect::ct_select(&b, &a, yes)
    });
    pairs.choose(cell, ("cmov", ConstantTime), (&choices.cmov, choices), right, |a, mut b, yes| {
        b.cmovnz(&a, yes);
        b
    });
    pairs.choose(cell, ("plain if", Plain), (&choices.plain, choices), right, right);
}

fn assign<'a, T: Integer>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>, choices: &'a Choices) {
    let right = |a, b, yes| if yes { b } else { a };
    pairs.choose(cell, ("deadpan", Ours), (&choices.ours, choices), right, |mut a, b, yes| {
        deadpan_ct::CtAssign::ct_assign(&mut a, &b, yes);
        a
    });
    pairs.choose(cell, ("subtle", ConstantTime), (&choices.subtle, choices), right, |mut a, b, yes| {
        a.conditional_assign(&b, yes);
        a
    });
    pairs.choose(cell, ("ctutils", ConstantTime), (&choices.ctutils, choices), right, |mut a, b, yes| {
        ctutils::CtAssign::ct_assign(&mut a, &b, yes);
        a
    });
    pairs.choose(cell, ("cmov", ConstantTime), (&choices.cmov, choices), right, |mut a, b, yes| {
        a.cmovnz(&b, yes);
        a
    });
    pairs.choose(cell, ("plain if", Plain), (&choices.plain, choices), right, right);
}

fn swap<'a, T: Integer>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>, choices: &'a Choices)
where
    (T, T): Register,
{
    let right = |a, b, yes| if yes { (b, a) } else { (a, b) };
    pairs.choose(cell, ("deadpan", Ours), (&choices.ours, choices), right, |mut a, mut b, yes| {
        deadpan_ct::CtAssign::ct_swap(&mut a, &mut b, yes);
        (a, b)
    });
    pairs.choose(cell, ("subtle", ConstantTime), (&choices.subtle, choices), right, |mut a, mut b, yes| {
        T::conditional_swap(&mut a, &mut b, yes);
        (a, b)
    });
    pairs.choose(cell, ("ctutils", ConstantTime), (&choices.ctutils, choices), right, |mut a, mut b, yes| {
        ctutils::CtSelect::ct_swap(&mut a, &mut b, yes);
        (a, b)
    });
    pairs.choose(cell, ("plain if", Plain), (&choices.plain, choices), right, right);
}
