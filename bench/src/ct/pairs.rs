//! Pairs of integers, and the timed loop over them.

use super::choices::Choices;
use super::{LANES, each};
use crate::barrier::Register;
use crate::cells::{Cell, Cells, Role};
use deadpan_lab::Random;

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
    /// The name of the type, which is a part of the names of the cells.
    const NAME: &'static str;
}

macro_rules! integers {
    ($($int:ident)*) => { $( impl Integer for $int { const NAME: &'static str = stringify!($int); } )* };
}

integers!(u8 u32 u64 u128 i64);

/// An integer type for which all libraries have order comparisons. The other libraries compare only unsigned types.
pub trait Ordered: Integer + subtle::ConstantTimeLess + ctutils::CtLt + ctutils::CtGt {}

impl<T: Integer + subtle::ConstantTimeLess + ctutils::CtLt + ctutils::CtGt> Ordered for T {}

fn wide(random: &mut Random) -> u128 {
    u128::from(random.bits()) << 64 | u128::from(random.bits())
}

/// Pairs of operands in random order. Half of the pairs are equal, and an eighth are zero.
pub struct Pairs<T> {
    left: Box<[T; LANES]>,
    right: Box<[T; LANES]>,
}

impl<T: Integer> Pairs<T> {
    /// Draws random pairs.
    pub fn new(random: &mut Random) -> Self {
        let left: [T; LANES] =
            std::array::from_fn(|_| if random.bits().is_multiple_of(8) { T::default() } else { T::cut(wide(random)) });
        let right = left.map(|left| if random.bits() & 1 == 0 { left } else { T::cut(wide(random)) });
        Self { left: Box::new(left), right: Box::new(right) }
    }

    /// Measures one cell. `enter` adds all functions to the cell, except the empty loop.
    pub fn cell<'a>(&'a self, bench: &mut Cells<'_>, operation: &str, enter: impl FnOnce(&mut Cell<'a>)) {
        let name = format!("{operation} {}", T::NAME);
        if !bench.wants("ct", &name) {
            return;
        }
        let mut cell = Cell::new("ct", name, None);
        enter(&mut cell);
        let (left, right) = (&*self.left, &*self.right);
        cell.enter("loop alone", Role::Yardstick, LANES, true, move |turns| {
            each(turns, |lane| {
                right[lane].sink();
                left[lane].sink();
            });
        });
        bench.run(cell);
    }

    /// Enters a comparison. If the comparison returns a number other than zero, the answer is *yes*.
    pub fn compare<'a, R: Register>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        expected: impl Fn(T, T) -> bool,
        operation: impl Fn(T, T) -> R + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let correct = left.iter().zip(right).all(|(&a, &b)| (operation(a, b) != R::default()) == expected(a, b));
        cell.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(left[lane].hide(), right[lane].hide()).sink());
        });
    }

    /// Adds to the cell an operation that returns one or two integers of the type.
    pub fn compute<'a, R: Register>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        expected: impl Fn(T, T) -> R,
        operation: impl Fn(T, T) -> R + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let correct = left.iter().zip(right).all(|(&a, &b)| operation(a, b) == expected(a, b));
        cell.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(left[lane].hide(), right[lane].hide()).sink());
        });
    }

    /// Adds to the cell an operation that takes a secret choice.
    pub fn choose<'a, C: Copy, R: Register>(
        &'a self,
        cell: &mut Cell<'a>,
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
        cell.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(left[lane].hide(), right[lane].hide(), choices[lane]).sink());
        });
    }
}
