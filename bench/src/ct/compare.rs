//! Measurements that compare integers: equal, zero, less, greater, at most, and a comparison that is followed by a
//! selection.

use super::pairs::{Integer, Ordered, Pairs};
use crate::cells::Role::{ConstantTime, Ours, Plain};
use crate::cells::{Cell, Cells};
use deadpan_lab::Random;

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    equality::<u8>(bench);
    equality::<u32>(bench);
    equality::<u64>(bench);
    equality::<u128>(bench);
    equality::<i64>(bench);
    order::<u8>(bench);
    order::<u32>(bench);
    order::<u64>(bench);
    order::<u128>(bench);
}

fn equality<T: Integer>(bench: &mut Cells<'_>) {
    let pairs = Pairs::<T>::new(&mut Random::new(1));
    pairs.cell(bench, "eq", |cell| equal(cell, &pairs));
    pairs.cell(bench, "is zero", |cell| zero(cell, &pairs));
    pairs.cell(bench, "eq, then select", |cell| equal_select(cell, &pairs));
}

fn order<T: Ordered>(bench: &mut Cells<'_>) {
    let pairs = Pairs::<T>::new(&mut Random::new(1));
    pairs.cell(bench, "lt", |cell| less(cell, &pairs));
    pairs.cell(bench, "gt", |cell| greater(cell, &pairs));
    pairs.cell(bench, "le", |cell| at_most(cell, &pairs));
}

fn equal<'a, T: Integer>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a == b;
    pairs.compare(cell, ("deadpan", Ours), right, |a, b| deadpan_ct::CtEq::ct_eq(&a, &b).mask());
    pairs.compare(cell, ("subtle", ConstantTime), right, |a, b| subtle::ConstantTimeEq::ct_eq(&a, &b).unwrap_u8());
    pairs.compare(cell, ("ctutils", ConstantTime), right, |a, b| ctutils::CtEq::ct_eq(&a, &b).to_u8());
    pairs.compare(cell, ("cmov", ConstantTime), right, |a, b| {
        let mut answer = 0;
        a.cmoveq(&b, 1, &mut answer);
        answer
    });
    pairs.compare(cell, ("plain ==", Plain), right, |a, b| a == b);
}

fn zero<'a, T: Integer>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>) {
    let (right, zero) = (|a, _| a == T::default(), T::default());
    pairs.compare(cell, ("deadpan", Ours), right, |a, _| a.ct_is_zero().mask());
    pairs.compare(cell, ("subtle", ConstantTime), right, move |a, _| {
        subtle::ConstantTimeEq::ct_eq(&a, &zero).unwrap_u8()
    });
    pairs.compare(cell, ("ctutils", ConstantTime), right, move |a, _| ctutils::CtEq::ct_eq(&a, &zero).to_u8());
    pairs.compare(cell, ("cmov", ConstantTime), right, move |a, _| {
        let mut answer = 0;
        a.cmoveq(&zero, 1, &mut answer);
        answer
    });
    pairs.compare(cell, ("plain ==", Plain), right, move |a, _| a == zero);
}

fn less<'a, T: Ordered>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a < b;
    pairs.compare(cell, ("deadpan", Ours), right, |a, b| deadpan_ct::CtOrd::ct_lt(&a, &b).mask());
    pairs.compare(cell, ("subtle", ConstantTime), right, |a, b| subtle::ConstantTimeLess::ct_lt(&a, &b).unwrap_u8());
    pairs.compare(cell, ("ctutils", ConstantTime), right, |a, b| ctutils::CtLt::ct_lt(&a, &b).to_u8());
    pairs.compare(cell, ("plain <", Plain), right, |a, b| a < b);
}

fn greater<'a, T: Ordered>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a > b;
    pairs.compare(cell, ("deadpan", Ours), right, |a, b| deadpan_ct::CtOrd::ct_gt(&a, &b).mask());
    pairs.compare(cell, ("subtle", ConstantTime), right, |a, b| subtle::ConstantTimeGreater::ct_gt(&a, &b).unwrap_u8());
    pairs.compare(cell, ("ctutils", ConstantTime), right, |a, b| ctutils::CtGt::ct_gt(&a, &b).to_u8());
    pairs.compare(cell, ("plain >", Plain), right, |a, b| a > b);
}

/// The other libraries have no operation *at most*, so the benchmark uses *not greater*, as users of these libraries
/// do.
fn at_most<'a, T: Ordered>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a <= b;
    pairs.compare(cell, ("deadpan", Ours), right, |a, b| deadpan_ct::CtOrd::ct_le(&a, &b).mask());
    pairs.compare(cell, ("subtle !gt", ConstantTime), right, |a, b| {
        (!subtle::ConstantTimeGreater::ct_gt(&a, &b)).unwrap_u8()
    });
    pairs.compare(cell, ("ctutils !gt", ConstantTime), right, |a, b| (!ctutils::CtGt::ct_gt(&a, &b)).to_u8());
    pairs.compare(cell, ("plain <=", Plain), right, |a, b| a <= b);
}

/// Each library makes the choice and uses it in a selection, so the time includes all optimization barriers of the
/// library.
fn equal_select<'a, T: Integer>(cell: &mut Cell<'a>, pairs: &'a Pairs<T>) {
    let other = T::cut(0x5a5a_5a5a_5a5a_5a5a);
    let right = move |a, b| if a == b { other } else { b };
    pairs.compute(cell, ("deadpan", Ours), right, move |a, b| deadpan_ct::CtEq::ct_eq(&a, &b).select(other, b));
    pairs.compute(cell, ("subtle", ConstantTime), right, move |a, b| {
        T::conditional_select(&b, &other, subtle::ConstantTimeEq::ct_eq(&a, &b))
    });
    pairs.compute(cell, ("ctutils", ConstantTime), right, move |a, b| {
        ctutils::CtSelect::ct_select(&b, &other, ctutils::CtEq::ct_eq(&a, &b))
    });
    pairs.compute(cell, ("cmov", ConstantTime), right, move |a, b| {
        let (mut answer, mut picked) = (0, b);
        a.cmoveq(&b, 1, &mut answer);
        picked.cmovnz(&other, answer);
        picked
    });
    pairs.compute(cell, ("plain if", Plain), right, right);
}
