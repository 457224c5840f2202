//! The cost that a caller accepts for a passphrase.

use crate::{Cost, Error};

/// The maximum memory and the maximum time for checking one passphrase of a file.
///
/// The cost is stored in the file, so the writer of the file chooses the cost. A limit prevents a hostile file from
/// keeping the reader busy: see [`Passphrase::with_max_cost`] and [`Session::with_max_cost`]. The default allows ten
/// times the memory and ten times the work of [`Cost::default`].
///
/// ```
/// use deadpan_seal::{Cost, Error, MaxCost, Passphrase, Recipient, open, seal};
///
/// let passphrase = Passphrase::new(b"correct horse");
/// let cost = Cost { memory: 1 << 10, passes: 2, lanes: 1 };
/// let sealed = seal(Recipient::Passphrase(passphrase.clone(), cost), b"data")?;
///
/// let careful = passphrase.with_max_cost(MaxCost::new(1 << 10, 1));
/// assert!(matches!(open(&careful, &sealed), Err(Error::TooCostly(asked)) if asked == cost));
/// assert_eq!(open(&careful.with_max_cost(MaxCost::default()), &sealed)?, b"data");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
///
/// [`Passphrase::with_max_cost`]: crate::Passphrase::with_max_cost
/// [`Session::with_max_cost`]: crate::Session::with_max_cost
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxCost {
    /// The greatest memory, in KiB.
    memory: u32,
    /// The maximum work: the number of KiB, multiplied by the number of passes.
    work: u64,
}

impl MaxCost {
    /// Returns a limit that allows `memory` KiB of memory, and as much work as `passes` passes over that memory. A file
    /// that uses less memory may request more passes.
    #[must_use]
    pub const fn new(memory: u32, passes: u32) -> Self {
        Self { memory, work: memory as u64 * passes as u64 }
    }

    /// Returns whether a file may request this cost. The number of lanes has no limit here, because lanes only divide
    /// the work among cores.
    #[must_use]
    pub const fn allows(self, cost: Cost) -> bool {
        cost.memory <= self.memory && cost.memory as u64 * cost.passes as u64 <= self.work
    }

    /// Refuses a cost that is not allowed.
    pub(crate) fn check(self, cost: Cost) -> Result<(), Error> {
        if self.allows(cost) { Ok(()) } else { Err(Error::TooCostly(cost)) }
    }
}

impl Default for MaxCost {
    /// Returns a limit that allows 2.5 GiB of memory and three passes over it: ten times the memory of
    /// [`Cost::default`].
    fn default() -> Self {
        Self::new(10 * (256 << 10), 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u32 = 1 << 20;

    fn cost(memory: u32, passes: u32) -> Cost {
        Cost { memory, passes, lanes: 4 }
    }

    #[test]
    fn the_default_is_ten_times_what_sealing_takes() {
        let own = Cost::default();
        let max = MaxCost::default();
        assert!(max.allows(own));
        assert!(max.allows(cost(10 * own.memory, own.passes)) && max.allows(cost(own.memory, 10 * own.passes)));
        assert!(!max.allows(cost(10 * own.memory + 1, 1)) && !max.allows(cost(own.memory, 10 * own.passes + 1)));
        // This limit allows the first recommendation of RFC 9106, but not the highest cost that the format can store.
        assert!(max.allows(cost(2 * GIB, 1)) && !max.allows(cost(4 * GIB, 4)));
    }

    #[test]
    fn memory_and_work_are_both_bounded() {
        let max = MaxCost::new(GIB, 2);
        assert!(max.allows(cost(GIB, 2)) && max.allows(cost(GIB / 2, 4)) && max.allows(cost(8, 64)));
        assert!(!max.allows(cost(GIB, 3)) && !max.allows(cost(GIB + 1, 1)) && !max.allows(cost(GIB / 2, 5)));
        assert!(!MaxCost::new(0, 0).allows(cost(8, 1)));
        assert!(MaxCost::new(u32::MAX, u32::MAX).allows(cost(u32::MAX, u32::MAX)), "nothing overflows");
    }
}
