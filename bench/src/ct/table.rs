//! Compares a lookup at a secret index, which reads the whole table, with a plain index, which leaks through the cache.

use ctutils::CtLookup;
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::{LANES, each};
use crate::barrier::{Register, hide_ref, sink_ref};
use crate::cells::Role::{self, ConstantTime, Ours, Plain, Yardstick};
use crate::cells::{Cell, Cells};
use deadpan_lab::Random;

/// A type of table entries for which all libraries have a selection.
trait Entry: Copy + Default + PartialEq + deadpan_ct::CtAssign + ConditionallySelectable + ctutils::CtAssign {}
impl Entry for u8 {}
impl Entry for u32 {}
impl Entry for [u64; 8] {}

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    let mut random = Random::new(5);
    cell::<u32, 16>(bench, "lookup, 16 x u32", &mut random, |random| random.bits() as u32);
    cell::<u8, 256>(bench, "lookup, 256 x u8", &mut random, |random| random.bits() as u8);
    cell::<[u64; 8], 16>(bench, "lookup, 16 x [u64; 8]", &mut random, |random| std::array::from_fn(|_| random.bits()));
}

/// Measures lookups with indices inside the table. The benchmark passes the entry to `sink` in memory. The benchmark
/// does not check whether the lookup found an entry.
fn cell<T: Entry, const N: usize>(
    bench: &mut Cells<'_>,
    name: &str,
    random: &mut Random,
    mut entry: impl FnMut(&mut Random) -> T,
) {
    if !bench.wants("ct", name) {
        return;
    }
    let table: [T; N] = std::array::from_fn(|_| entry(random));
    let indices: [usize; LANES] = std::array::from_fn(|_| random.bits() as usize % N);
    let mut cell = Cell::new("ct", name, None);
    let lookups = Table { table: &table, indices: &indices };
    lookups.enter(&mut cell, ("deadpan", Ours), |table, index| deadpan_ct::lookup(table, index).into_parts().0);
    lookups.enter(&mut cell, ("subtle, a loop", ConstantTime), |table, index| {
        let mut found = T::default();
        for (position, entry) in table.iter().enumerate() {
            found.conditional_assign(entry, (position as u64).ct_eq(&(index as u64)));
        }
        found
    });
    lookups.enter(&mut cell, ("ctutils", ConstantTime), |table, index| *table.ct_lookup(index).as_inner_unchecked());
    lookups.enter(&mut cell, ("plain index", Plain), |table, index| table[index]);
    cell.enter("loop alone", Yardstick, LANES, true, |turns| {
        let fixed = table[0];
        each(turns, |lane| {
            let _ = hide_ref(&table);
            indices[lane].sink();
            sink_ref(&fixed);
        });
    });
    bench.run(cell);
}

struct Table<'a, T, const N: usize> {
    table: &'a [T; N],
    indices: &'a [usize; LANES],
}

impl<'a, T: Entry, const N: usize> Table<'a, T, N> {
    fn enter(&self, cell: &mut Cell<'a>, (name, role): (&str, Role), operation: impl Fn(&[T; N], usize) -> T + 'a) {
        let (table, indices) = (self.table, self.indices);
        let correct = (0..N).all(|index| operation(table, index) == table[index]);
        cell.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| sink_ref(&operation(hide_ref(table), indices[lane].hide())));
        });
    }
}
