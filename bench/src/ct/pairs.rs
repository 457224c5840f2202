//! Pairs of integers, and the timed loop over them.

use super::choices::Choices;
use super::{LANES, each};
use crate::barrier::Register;
use crate::bench::Bench;
use crate::race::{Race, Role};
use crate::random::Random;

/// An integer type that all libraries support.
pub trait Integer:
    Register
    + Ord
    + deadpan_ct::CtOrd
    + deadpan_ct::CtZero
    + deadpan_ct::CtSelect
    + deadpan_ct::CtAssign
    + subtle::ConstantTimeEq
    + subtle::ConditionallySelectable
    + ctutils::CtEq
    + ctutils::CtSelect
    + ctutils::CtAssign
    + cmov::Cmov
    + cmov::CmovEq
{
    /// The name of the type, as in the names of the cells.
    const NAME: &'static str;
}

macro_rules! integers {
    ($($int:ident)*) => { $( impl Integer for $int { const NAME: &'static str = stringify!($int); } )* };
}

integers!(u8 u32 u64 u128 i64);

/// An integer type for which all libraries compare order. The peers compare unsigned types only.
pub trait Ordered: Integer + subtle::ConstantTimeLess + ctutils::CtLt + ctutils::CtGt {}

impl<T: Integer + subtle::ConstantTimeLess + ctutils::CtLt + ctutils::CtGt> Ordered for T {}

/// Pairs of operands in random order. Half of the pairs are equal, and an eighth are zero.
pub struct Pairs<T> {
    left: Box<[T; LANES]>,
    right: Box<[T; LANES]>,
}

impl<T: Integer> Pairs<T> {
    /// Draws random pairs.
    pub fn new(random: &mut Random) -> Self {
        let left: [T; LANES] =
            std::array::from_fn(|_| if random.next().is_multiple_of(8) { T::default() } else { T::cut(random.wide()) });
        let right = left.map(|left| if random.next() & 1 == 0 { left } else { T::cut(random.wide()) });
        Self { left: Box::new(left), right: Box::new(right) }
    }

    /// Measures one cell. `enter` enters all contestants but the empty loop.
    pub fn cell<'a>(&'a self, bench: &mut Bench<'_>, operation: &str, enter: impl FnOnce(&mut Race<'a>)) {
        let name = format!("{operation} {}", T::NAME);
        if !bench.wants(&name) {
            return;
        }
        let mut race = Race::new("ct", name, None);
        enter(&mut race);
        let (left, right) = (&*self.left, &*self.right);
        race.enter("loop alone", Role::Loop, LANES, true, move |turns| {
            each(turns, |lane| {
                right[lane].sink();
                left[lane].sink();
            });
        });
        bench.run(race);
    }

    /// Enters a comparison. Its answer is *yes* if it is not zero.
    pub fn compare<'a, R: Register>(
        &'a self,
        race: &mut Race<'a>,
        (name, role): (&str, Role),
        expected: impl Fn(T, T) -> bool,
        operation: impl Fn(T, T) -> R + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let correct = left.iter().zip(right).all(|(&a, &b)| (operation(a, b) != R::default()) == expected(a, b));
        race.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(left[lane].hide(), right[lane].hide()).sink());
        });
    }

    /// Enters an operation that returns one or two integers of the type.
    pub fn compute<'a, R: Register>(
        &'a self,
        race: &mut Race<'a>,
        (name, role): (&str, Role),
        expected: impl Fn(T, T) -> R,
        operation: impl Fn(T, T) -> R + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let correct = left.iter().zip(right).all(|(&a, &b)| operation(a, b) == expected(a, b));
        race.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(left[lane].hide(), right[lane].hide()).sink());
        });
    }

    /// Enters an operation that takes a secret choice.
    pub fn choose<'a, C: Copy, R: Register>(
        &'a self,
        race: &mut Race<'a>,
        (name, role): (&str, Role),
        (choices, bits): (&'a [C; LANES], &Choices),
        expected: impl Fn(T, T, bool) -> R,
        operation: impl Fn(T, T, C) -> R + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let right_answer = |lane| {
            operation(left[lane], right[lane], choices[lane]) == expected(left[lane], right[lane], bits.plain[lane])
        };
        let correct = (0..LANES).all(right_answer);
        race.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(left[lane].hide(), right[lane].hide(), choices[lane]).sink());
        });
    }
}
