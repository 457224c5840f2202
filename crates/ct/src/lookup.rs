//! A table lookup that reads every entry.

use crate::{Choice, CtAssign, CtEq, CtOption};

/// Returns the entry at a secret `index`, or no value if the table has no such entry.
///
/// The function reads every entry in order, so that neither the cache nor the time reveals the index. May leak: the
/// length of the table.
///
/// ```
/// let squares = [0_u32, 1, 4, 9, 16, 25];
/// assert_eq!(deadpan_ct::lookup(&squares, 4).declassify(), Some(16));
/// assert_eq!(deadpan_ct::lookup(&squares, 6).declassify(), None);
/// ```
#[inline]
pub fn lookup<T: CtAssign + Clone + Default>(table: &[T], index: usize) -> CtOption<T> {
    let mut found = T::default();
    let mut known = Choice::FALSE;
    for (position, entry) in table.iter().enumerate() {
        let here = position.ct_eq(&index);
        found.ct_assign(entry, here);
        known |= here;
    }
    CtOption::new(found, known)
}
