//! A lookup at a secret index that reads the whole table, beside a plain index, which leaks through the cache.

use ctutils::CtLookup;
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::{LANES, each};
use crate::barrier::{Register, hide_ref, sink_ref};
use crate::bench::Bench;
use crate::race::Race;
use crate::race::Role::{self, ConstantTime, Leaks, Loop, Ours};
use crate::random::Random;

/// An entry type that all libraries can select.
trait Entry: Copy + Default + PartialEq + deadpan_ct::CtAssign + ConditionallySelectable + ctutils::CtAssign {}
impl Entry for u8 {}
impl Entry for u32 {}
impl Entry for [u64; 8] {}

/// Measures every cell.
pub fn run(bench: &mut Bench<'_>) {
    let mut random = Random::new(5);
    cell::<u32, 16>(bench, "lookup, 16 x u32", &mut random, |random| random.next() as u32);
    cell::<u8, 256>(bench, "lookup, 256 x u8", &mut random, |random| random.next() as u8);
    cell::<[u64; 8], 16>(bench, "lookup, 16 x [u64; 8]", &mut random, |random| std::array::from_fn(|_| random.next()));
}

/// Measures lookups with indices inside the table. The entry is sunk in memory, and its presence is not checked.
fn cell<T: Entry, const N: usize>(
    bench: &mut Bench<'_>,
    name: &str,
    random: &mut Random,
    mut entry: impl FnMut(&mut Random) -> T,
) {
    if !bench.wants(name) {
        return;
    }
    let table: [T; N] = std::array::from_fn(|_| entry(random));
    let indices: [usize; LANES] = std::array::from_fn(|_| random.next() as usize % N);
    let mut race = Race::new("ct", name, None);
    let cell = Table { table: &table, indices: &indices };
    cell.enter(&mut race, ("deadpan", Ours), |table, index| deadpan_ct::lookup(table, index).into_parts().0);
    cell.enter(&mut race, ("subtle, a loop", ConstantTime), |table, index| {
        let mut found = T::default();
        for (position, entry) in table.iter().enumerate() {
            found.conditional_assign(entry, (position as u64).ct_eq(&(index as u64)));
        }
        found
    });
    cell.enter(&mut race, ("ctutils", ConstantTime), |table, index| *table.ct_lookup(index).as_inner_unchecked());
    cell.enter(&mut race, ("plain index", Leaks), |table, index| table[index]);
    race.enter("loop alone", Loop, LANES, true, |turns| {
        let fixed = table[0];
        each(turns, |lane| {
            let _ = hide_ref(&table);
            indices[lane].sink();
            sink_ref(&fixed);
        });
    });
    bench.run(race);
}

struct Table<'a, T, const N: usize> {
    table: &'a [T; N],
    indices: &'a [usize; LANES],
}

impl<'a, T: Entry, const N: usize> Table<'a, T, N> {
    fn enter(&self, race: &mut Race<'a>, (name, role): (&str, Role), operation: impl Fn(&[T; N], usize) -> T + 'a) {
        let (table, indices) = (self.table, self.indices);
        let correct = (0..N).all(|index| operation(table, index) == table[index]);
        race.enter(name, role, LANES, correct, move |turns| {
            each(turns, |lane| sink_ref(&operation(hide_ref(table), indices[lane].hide())));
        });
    }
}
