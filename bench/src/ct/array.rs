//! Arrays of 16 and 32 bytes, the lengths of blocks and keys. The compiler knows the length of these arrays.

use std::cell::RefCell;

use cmov::{Cmov, CmovEq};
use subtle::ConditionallySelectable;

use super::choices::Choices;
use super::{LANES, each};
use crate::barrier::{Register, hide_mut, hide_ref, sink_ref};
use crate::cells::Role::{self, ConstantTime, Ours, Plain, Yardstick};
use crate::cells::{Cell, Cells};
use deadpan_lab::Random;

/// Pairs of arrays. Half of the pairs are equal. The other pairs differ in one byte.
struct Arrays<const N: usize> {
    left: Box<[[u8; N]; LANES]>,
    right: Box<[[u8; N]; LANES]>,
    /// The target arrays of assignments.
    target: RefCell<Box<[[u8; N]; LANES]>>,
}

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    cells::<16>(bench);
    cells::<32>(bench);
}

fn cells<const N: usize>(bench: &mut Cells<'_>) {
    let mut random = Random::new(3);
    let choices = Choices::new(&mut random);
    let left: [[u8; N]; LANES] = std::array::from_fn(|_| std::array::from_fn(|_| random.bits() as u8));
    let mut right = left;
    for array in &mut right {
        let place = random.bits() as usize;
        array[place / 2 % N] ^= (place & 1) as u8;
    }
    let target = RefCell::new(Box::new(left));
    let arrays = Arrays { left: Box::new(left), right: Box::new(right), target };
    for (operation, enter) in [("eq", 0), ("assign", 1), ("select", 2)] {
        let name = format!("{operation} [u8; {N}]");
        if bench.wants("ct", &name) {
            let mut cell = Cell::new("ct", name, None);
            match enter {
                0 => arrays.equal(&mut cell),
                1 => arrays.assign(&mut cell, &choices),
                _ => arrays.select(&mut cell, &choices),
            }
            arrays.alone(&mut cell);
            bench.run(cell);
        }
    }
}

impl<const N: usize> Arrays<N> {
    fn equal<'a>(&'a self, cell: &mut Cell<'a>) {
        self.compare(cell, ("deadpan", Ours), |a, b| deadpan_ct::CtEq::ct_eq(a, b).mask());
        self.compare(cell, ("subtle", ConstantTime), |a, b| {
            subtle::ConstantTimeEq::ct_eq(a.as_slice(), b.as_slice()).unwrap_u8()
        });
        self.compare(cell, ("ctutils", ConstantTime), |a, b| ctutils::CtEq::ct_eq(a, b).to_u8());
        self.compare(cell, ("cmov", ConstantTime), |a, b| {
            let mut answer = 0;
            a.cmoveq(b, 1, &mut answer);
            answer
        });
        self.compare(cell, ("constant_time_eq", ConstantTime), constant_time_eq::constant_time_eq_n);
        self.compare(cell, ("plain ==", Plain), |a, b| a == b);
    }

    fn assign<'a>(&'a self, cell: &mut Cell<'a>, choices: &'a Choices) {
        let bits = &*choices.plain;
        self.write(cell, ("deadpan", Ours), &choices.ours, bits, deadpan_ct::CtAssign::ct_assign);
        self.write(cell, ("subtle", ConstantTime), &choices.subtle, bits, |to, from, yes| {
            to.conditional_assign(from, yes)
        });
        self.write(cell, ("ctutils", ConstantTime), &choices.ctutils, bits, |to, from, yes| {
            ctutils::CtAssign::ct_assign(to, from, yes);
        });
        self.write(cell, ("cmov", ConstantTime), &choices.cmov, bits, |to, from, yes| to.cmovnz(from, yes));
        self.write(cell, ("plain if", Plain), &choices.plain, bits, |to, from, yes| {
            if yes {
                *to = *from;
            }
        });
    }

    /// Adds to the cell an operation that returns a new array. The array is stored to memory.
    fn select<'a>(&'a self, cell: &mut Cell<'a>, choices: &'a Choices) {
        let bits = &*choices.plain;
        self.pick(cell, ("deadpan", Ours), &choices.ours, bits, |a, b, yes| yes.select(*a, *b));
        self.pick(cell, ("subtle", ConstantTime), &choices.subtle, bits, |a, b, yes| {
            <[u8; N]>::conditional_select(b, a, yes)
        });
        self.pick(cell, ("ctutils", ConstantTime), &choices.ctutils, bits, |a, b, yes| {
            ctutils::CtSelect::ct_select(b, a, yes)
        });
        self.pick(cell, ("cmov", ConstantTime), &choices.cmov, bits, |a, b, yes| {
            let mut picked = *b;
            picked.cmovnz(a, yes);
            picked
        });
        self.pick(cell, ("plain if", Plain), &choices.plain, bits, |a, b, yes| if yes { *a } else { *b });
    }

    fn compare<'a, R: Register>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        operation: impl Fn(&[u8; N], &[u8; N]) -> R + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let correct = left.iter().zip(right).all(|(a, b)| (operation(a, b) != R::default()) == (a == b));
        cell.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| operation(hide_ref(&left[lane]), hide_ref(&right[lane])).sink());
        });
    }

    fn write<'a, C: Copy>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        choices: &'a [C; LANES],
        bits: &[bool; LANES],
        operation: impl Fn(&mut [u8; N], &[u8; N], C) + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let correct = (0..LANES).all(|lane| {
            let mut target = left[lane];
            operation(&mut target, &right[lane], choices[lane]);
            target == if bits[lane] { right[lane] } else { left[lane] }
        });
        cell.enter(name, role, LANES, correct, move |turns| {
            let target = &mut **self.target.borrow_mut();
            each(turns, |lane| operation(hide_mut(&mut target[lane]), hide_ref(&right[lane]), choices[lane]));
        });
    }

    fn pick<'a, C: Copy>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        choices: &'a [C; LANES],
        bits: &[bool; LANES],
        operation: impl Fn(&[u8; N], &[u8; N], C) -> [u8; N] + 'a,
    ) {
        let (left, right) = (&*self.left, &*self.right);
        let expected = |lane: usize| if bits[lane] { left[lane] } else { right[lane] };
        let correct = (0..LANES).all(|lane| operation(&left[lane], &right[lane], choices[lane]) == expected(lane));
        cell.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| sink_ref(&operation(hide_ref(&left[lane]), hide_ref(&right[lane]), choices[lane])));
        });
    }

    fn alone<'a>(&'a self, cell: &mut Cell<'a>) {
        let (left, right) = (&*self.left, &*self.right);
        cell.enter("loop alone", Yardstick, LANES, true, move |turns| {
            each(turns, |lane| sink_ref(&(hide_ref(&left[lane]), hide_ref(&right[lane]))));
        });
    }
}
