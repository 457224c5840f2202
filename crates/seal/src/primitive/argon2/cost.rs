//! The cost parameters of Argon2id.

use std::fmt;

use crate::Error;

/// The cost of checking one passphrase, given by Argon2id's parameters. `Display` shows the memory and the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The memory, in KiB.
    pub memory: u32,
    /// The number of passes over the memory.
    pub passes: u32,
    /// The number of lanes. Different cores can fill different lanes at the same time.
    pub lanes: u32,
}

impl Default for Cost {
    /// Returns a cost of 256 MiB of memory, three passes and four lanes. With the default parameters, the hash takes a
    /// tenth to a quarter of a second on two cores.
    fn default() -> Self {
        Self { memory: 256 << 10, passes: 3, lanes: 4 }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, unit) = match self.memory {
            kib if kib % (1 << 20) == 0 => (kib >> 20, "GiB"),
            kib if kib % (1 << 10) == 0 => (kib >> 10, "MiB"),
            kib => (kib, "KiB"),
        };
        let passes = if self.passes == 1 { "pass" } else { "passes" };
        write!(f, "{size} {unit} of memory and {} {passes}", self.passes)
    }
}

impl Cost {
    /// Checks that the cost is within the bounds of the format: at most 4 GiB of memory, and a few minutes of work.
    pub(crate) fn check(self) -> Result<(), Error> {
        let Self { memory, passes, lanes } = self;
        if !(1..=64).contains(&lanes) || memory < 8 * lanes || passes == 0 {
            return Err(Error::Header("the passphrase's parameters"));
        }
        if memory > 4 << 20 || passes > 64 || u64::from(memory) * u64::from(passes) > 16 << 20 {
            return Err(Error::Limit("memory or time for the passphrase"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_allowed_and_the_excessive_is_not() {
        assert!(Cost::default().check().is_ok());
        let cost = |memory, passes, lanes| Cost { memory, passes, lanes }.check();
        assert!(cost(4 << 20, 4, 64).is_ok());
        assert!(matches!(cost(1 << 30, 1, 1), Err(Error::Limit(_))), "1 TiB");
        assert!(matches!(cost(4 << 20, 5, 1), Err(Error::Limit(_))));
        assert!(matches!(cost(64, 65, 1), Err(Error::Limit(_))));
        assert!(matches!(cost(u32::MAX, u32::MAX, u32::MAX), Err(Error::Header(_))));
        assert!(matches!(cost(8, 0, 1), Err(Error::Header(_))));
        assert!(matches!(cost(15, 1, 2), Err(Error::Header(_))));
    }

    #[test]
    fn costs_are_shown_in_the_largest_unit() {
        let shown = |memory, passes| Cost { memory, passes, lanes: 4 }.to_string();
        assert_eq!(shown(4 << 20, 4), "4 GiB of memory and 4 passes");
        assert_eq!(shown(256 << 10, 1), "256 MiB of memory and 1 pass");
        assert_eq!(shown(8, 64), "8 KiB of memory and 64 passes");
    }
}
