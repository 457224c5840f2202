//! Comparing integers: equal, zero, less, greater, at most, and a comparison whose answer is used.

use super::pairs::{Integer, Ordered, Pairs};
use crate::bench::Bench;
use crate::race::Race;
use crate::race::Role::{ConstantTime, NoPromise, Ours};
use crate::random::Random;

/// Measures every cell.
pub fn run(bench: &mut Bench<'_>) {
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

fn equality<T: Integer>(bench: &mut Bench<'_>) {
    let pairs = Pairs::<T>::new(&mut Random::new(1));
    pairs.cell(bench, "eq", |race| equal(race, &pairs));
    pairs.cell(bench, "is zero", |race| zero(race, &pairs));
    pairs.cell(bench, "eq, then select", |race| equal_select(race, &pairs));
}

fn order<T: Ordered>(bench: &mut Bench<'_>) {
    let pairs = Pairs::<T>::new(&mut Random::new(1));
    pairs.cell(bench, "lt", |race| less(race, &pairs));
    pairs.cell(bench, "gt", |race| greater(race, &pairs));
    pairs.cell(bench, "le", |race| at_most(race, &pairs));
}

fn equal<'a, T: Integer>(race: &mut Race<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a == b;
    pairs.compare(race, ("deadpan", Ours), right, |a, b| deadpan_ct::CtEq::ct_eq(&a, &b).mask());
    pairs.compare(race, ("subtle", ConstantTime), right, |a, b| subtle::ConstantTimeEq::ct_eq(&a, &b).unwrap_u8());
    pairs.compare(race, ("ctutils", ConstantTime), right, |a, b| ctutils::CtEq::ct_eq(&a, &b).to_u8());
    pairs.compare(race, ("cmov", ConstantTime), right, |a, b| {
        let mut answer = 0;
        a.cmoveq(&b, 1, &mut answer);
        answer
    });
    pairs.compare(race, ("plain ==", NoPromise), right, |a, b| a == b);
}

fn zero<'a, T: Integer>(race: &mut Race<'a>, pairs: &'a Pairs<T>) {
    let (right, zero) = (|a, _| a == T::default(), T::default());
    pairs.compare(race, ("deadpan", Ours), right, |a, _| a.ct_is_zero().mask());
    pairs.compare(race, ("subtle", ConstantTime), right, move |a, _| {
        subtle::ConstantTimeEq::ct_eq(&a, &zero).unwrap_u8()
    });
    pairs.compare(race, ("ctutils", ConstantTime), right, move |a, _| ctutils::CtEq::ct_eq(&a, &zero).to_u8());
    pairs.compare(race, ("cmov", ConstantTime), right, move |a, _| {
        let mut answer = 0;
        a.cmoveq(&zero, 1, &mut answer);
        answer
    });
    pairs.compare(race, ("plain ==", NoPromise), right, move |a, _| a == zero);
}

fn less<'a, T: Ordered>(race: &mut Race<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a < b;
    pairs.compare(race, ("deadpan", Ours), right, |a, b| deadpan_ct::CtOrd::ct_lt(&a, &b).mask());
    pairs.compare(race, ("subtle", ConstantTime), right, |a, b| subtle::ConstantTimeLess::ct_lt(&a, &b).unwrap_u8());
    pairs.compare(race, ("ctutils", ConstantTime), right, |a, b| ctutils::CtLt::ct_lt(&a, &b).to_u8());
    pairs.compare(race, ("plain <", NoPromise), right, |a, b| a < b);
}

fn greater<'a, T: Ordered>(race: &mut Race<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a > b;
    pairs.compare(race, ("deadpan", Ours), right, |a, b| deadpan_ct::CtOrd::ct_gt(&a, &b).mask());
    pairs.compare(race, ("subtle", ConstantTime), right, |a, b| subtle::ConstantTimeGreater::ct_gt(&a, &b).unwrap_u8());
    pairs.compare(race, ("ctutils", ConstantTime), right, |a, b| ctutils::CtGt::ct_gt(&a, &b).to_u8());
    pairs.compare(race, ("plain >", NoPromise), right, |a, b| a > b);
}

/// The peers have no *at most*: their users write *not greater*.
fn at_most<'a, T: Ordered>(race: &mut Race<'a>, pairs: &'a Pairs<T>) {
    let right = |a, b| a <= b;
    pairs.compare(race, ("deadpan", Ours), right, |a, b| deadpan_ct::CtOrd::ct_le(&a, &b).mask());
    pairs.compare(race, ("subtle !gt", ConstantTime), right, |a, b| {
        (!subtle::ConstantTimeGreater::ct_gt(&a, &b)).unwrap_u8()
    });
    pairs.compare(race, ("ctutils !gt", ConstantTime), right, |a, b| (!ctutils::CtGt::ct_gt(&a, &b)).to_u8());
    pairs.compare(race, ("plain <=", NoPromise), right, |a, b| a <= b);
}

/// The choice is made and used inside the library, so that the time includes all barriers.
fn equal_select<'a, T: Integer>(race: &mut Race<'a>, pairs: &'a Pairs<T>) {
    let other = T::cut(0x5a5a_5a5a_5a5a_5a5a);
    let right = move |a, b| if a == b { other } else { b };
    pairs.compute(race, ("deadpan", Ours), right, move |a, b| deadpan_ct::CtEq::ct_eq(&a, &b).select(other, b));
    pairs.compute(race, ("subtle", ConstantTime), right, move |a, b| {
        T::conditional_select(&b, &other, subtle::ConstantTimeEq::ct_eq(&a, &b))
    });
    pairs.compute(race, ("ctutils", ConstantTime), right, move |a, b| {
        ctutils::CtSelect::ct_select(&b, &other, ctutils::CtEq::ct_eq(&a, &b))
    });
    pairs.compute(race, ("cmov", ConstantTime), right, move |a, b| {
        let (mut answer, mut picked) = (0, b);
        a.cmoveq(&b, 1, &mut answer);
        picked.cmovnz(&other, answer);
        picked
    });
    pairs.compute(race, ("plain if", NoPromise), right, right);
}
