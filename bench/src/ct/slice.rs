//! Operations on byte slices whose length the compiler does not know: comparing (also with `memcmp`), assigning and
//! swapping.
//!
//! The compared slices are equal, so that `memcmp` must also read them completely. Successive calls work on different
//! slices, so that no call waits for the stores of the previous call. The slices begin 0, 16, 32 and 48 bytes after the
//! start of a cache line, in turn, like memory from an allocator.

use std::cell::RefCell;

use cmov::{Cmov, CmovEq};
use subtle::ConditionallySelectable;

use super::choices::Choices;
use super::{LANES, each};
use crate::barrier::{Register, hide_bytes, hide_bytes_mut};
use crate::cells::Role::{self, ConstantTime, Ours, Plain, Yardstick};
use crate::cells::{Cell, Cells, bytes};
use deadpan_lab::Random;

/// Some lengths are short enough for inlined code, some are slightly longer, one is no power of two, and some are long.
const LENGTHS: [usize; 7] = [16, 32, 64, 100, 256, 1024, 4096];

/// The maximum total size of the left slices, and also of the right slices, so that they fit into the first-level
/// cache.
const SIDE: usize = 16 * 1024;

struct Slices {
    left: RefCell<Shelf>,
    right: RefCell<Shelf>,
    choices: Choices,
}

/// Several slices of one length.
struct Shelf {
    memory: Vec<u8>,
    length: usize,
    stride: usize,
    /// The number of slices minus one. The number of slices is a power of two.
    mask: usize,
    /// The offset of the first slice.
    start: usize,
}

impl Shelf {
    /// Makes copies of `bytes`. The first copy begins `past` bytes after the start of a page. Two `Shelf` values with
    /// different `past` have addresses with different low bits.
    fn new(bytes: &[u8], past: usize) -> Self {
        let length = bytes.len();
        let stride = length.next_multiple_of(16) + if length.is_multiple_of(64) { 16 } else { 0 };
        let count = (1 << (SIDE / length).ilog2()).min(LANES);
        let memory = vec![0; count * stride + 2 * 4096];
        let start = memory.as_ptr().align_offset(4096) + past;
        let mut shelf = Self { memory, length, stride, mask: count - 1, start };
        (0..count).for_each(|lane| shelf.slice_mut(lane).copy_from_slice(bytes));
        shelf
    }

    #[inline(always)]
    fn slice(&self, lane: usize) -> &[u8] {
        let from = self.start + (lane & self.mask) * self.stride;
        &self.memory[from..from + self.length]
    }

    #[inline(always)]
    fn slice_mut(&mut self, lane: usize) -> &mut [u8] {
        let from = self.start + (lane & self.mask) * self.stride;
        &mut self.memory[from..from + self.length]
    }
}

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    let mut random = Random::new(4);
    for operation in ["eq", "assign", "swap"] {
        for length in LENGTHS {
            let name = format!("{operation} [u8], {length} bytes");
            if !bench.wants("ct", &name) {
                continue;
            }
            let bytes = bytes(&mut random, length);
            let (left, right) = (RefCell::new(Shelf::new(&bytes, 0)), RefCell::new(Shelf::new(&bytes, 2048)));
            let slices = Slices { left, right, choices: Choices::new(&mut random) };
            let mut cell = Cell::new("ct", name, Some(length));
            match operation {
                "eq" => slices.equal(&mut cell),
                "assign" => slices.assign(&mut cell),
                _ => slices.swap(&mut cell),
            }
            slices.alone(&mut cell);
            bench.run(cell);
        }
    }
}

impl Slices {
    fn equal<'a>(&'a self, cell: &mut Cell<'a>) {
        self.compare(cell, ("deadpan", Ours), |a, b| deadpan_ct::CtEq::ct_eq(a, b).mask());
        self.compare(cell, ("subtle", ConstantTime), |a, b| subtle::ConstantTimeEq::ct_eq(a, b).unwrap_u8());
        self.compare(cell, ("ctutils", ConstantTime), |a, b| ctutils::CtEq::ct_eq(a, b).to_u8());
        self.compare(cell, ("cmov", ConstantTime), |a, b| {
            let mut answer = 0;
            a.cmoveq(b, 1, &mut answer);
            answer
        });
        self.compare(cell, ("constant_time_eq", ConstantTime), constant_time_eq::constant_time_eq);
        self.compare(cell, ("memcmp", Plain), |a, b| a == b);
    }

    fn assign<'a>(&'a self, cell: &mut Cell<'a>) {
        let right =
            |a: &[u8], b: &[u8], yes: bool| if yes { (b.to_vec(), b.to_vec()) } else { (a.to_vec(), b.to_vec()) };
        let choices = &self.choices;
        self.change(cell, ("deadpan", Ours), &choices.ours, right, |to, from, yes| {
            deadpan_ct::CtAssign::ct_assign(to, from, yes)
        });
        self.change(cell, ("subtle, byte by byte", ConstantTime), &choices.subtle, right, |to, from, yes| {
            to.iter_mut().zip(from).for_each(|(to, from)| to.conditional_assign(from, yes));
        });
        self.change(cell, ("ctutils", ConstantTime), &choices.ctutils, right, |to, from, yes| {
            ctutils::CtAssign::ct_assign(to, &*from, yes);
        });
        self.change(cell, ("cmov", ConstantTime), &choices.cmov, right, |to, from, yes| to.cmovnz(from, yes));
        self.change(cell, ("plain if + memcpy", Plain), &choices.plain, right, |to, from, yes| {
            if yes {
                to.copy_from_slice(from);
            }
        });
    }

    fn swap<'a>(&'a self, cell: &mut Cell<'a>) {
        let right =
            |a: &[u8], b: &[u8], yes: bool| if yes { (b.to_vec(), a.to_vec()) } else { (a.to_vec(), b.to_vec()) };
        let choices = &self.choices;
        self.change(cell, ("deadpan", Ours), &choices.ours, right, deadpan_ct::CtAssign::ct_swap);
        self.change(cell, ("subtle, byte by byte", ConstantTime), &choices.subtle, right, |a, b, yes| {
            a.iter_mut().zip(b).for_each(|(a, b)| u8::conditional_swap(a, b, yes));
        });
        self.change(cell, ("ctutils, byte by byte", ConstantTime), &choices.ctutils, right, |a, b, yes| {
            a.iter_mut().zip(b).for_each(|(a, b)| ctutils::CtSelect::ct_swap(a, b, yes));
        });
        self.change(cell, ("plain if + swap", Plain), &choices.plain, right, |a, b, yes| {
            if yes {
                a.swap_with_slice(b);
            }
        });
    }

    fn compare<'a, R: Register>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        operation: impl Fn(&[u8], &[u8]) -> R + 'a,
    ) {
        let yes = |a: &[u8], b: &[u8]| operation(a, b) != R::default();
        let same = self.left.borrow().slice(0).to_vec();
        let correct = yes(&same, self.right.borrow().slice(0))
            && (0..same.len()).all(|place| {
                let mut other = same.clone();
                other[place] ^= 0x80;
                !yes(&same, &other)
            });
        cell.enter(name, role, LANES, correct, move |turns| {
            let (left, right) = (self.left.borrow(), self.right.borrow());
            each(turns, |lane| operation(hide_bytes(left.slice(lane)), hide_bytes(right.slice(lane))).sink());
        });
    }

    fn change<'a, C: Copy>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        choices: &'a [C; LANES],
        expected: impl Fn(&[u8], &[u8], bool) -> (Vec<u8>, Vec<u8>),
        operation: impl Fn(&mut [u8], &mut [u8], C) + 'a,
    ) {
        let before = self.left.borrow().slice(0).to_vec();
        let correct = (0..8).all(|lane| {
            let other: Vec<u8> = before.iter().map(|byte| byte.wrapping_mul(3) ^ 0xa5).collect();
            let wanted = expected(&before, &other, self.choices.plain[lane]);
            let (mut a, mut b) = (before.clone(), other);
            operation(&mut a, &mut b, choices[lane]);
            (a, b) == wanted
        });
        cell.enter(name, role, LANES, correct, move |turns| {
            let (mut left, mut right) = (self.left.borrow_mut(), self.right.borrow_mut());
            each(turns, |lane| {
                operation(hide_bytes_mut(left.slice_mut(lane)), hide_bytes_mut(right.slice_mut(lane)), choices[lane])
            });
        });
    }

    fn alone<'a>(&'a self, cell: &mut Cell<'a>) {
        cell.enter("loop alone", Yardstick, LANES, true, move |turns| {
            let (left, right) = (self.left.borrow(), self.right.borrow());
            each(turns, |lane| {
                let _ = hide_bytes(left.slice(lane));
                let _ = hide_bytes(right.slice(lane));
            });
        });
    }
}
