//! How hard to compress.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A level of compression from 1 to 19. Higher levels take longer and save more. Data of every level are expanded at
/// about the same speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u8);

/// A level below 1 or above 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a level of compression is a number from 1 to 19")]
pub struct NoLevel;

impl Level {
    /// The highest level. Zstandard's levels above 19 need more memory to expand.
    pub const HIGHEST: u8 = 19;

    /// Checks a level.
    ///
    /// # Errors
    /// [`NoLevel`] if the level is not from 1 to 19.
    pub fn new(level: u8) -> Result<Self, NoLevel> {
        if (1..=Self::HIGHEST).contains(&level) { Ok(Self(level)) } else { Err(NoLevel) }
    }

    /// Returns the number of the level.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }
}

/// Level 3, which is also the default of `zstd`.
impl Default for Level {
    fn default() -> Self {
        Self(3)
    }
}

impl FromStr for Level {
    type Err = NoLevel;

    fn from_str(text: &str) -> Result<Self, NoLevel> {
        text.parse().map_err(|_| NoLevel).and_then(Self::new)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_from_1_to_19() {
        assert_eq!(["1", "19"].map(|it| it.parse::<Level>().map(Level::number)), [Ok(1), Ok(19)]);
        for wrong in ["0", "20", "256", "-1", "", "3 ", "x"] {
            assert_eq!(wrong.parse::<Level>(), Err(NoLevel), "{wrong}");
        }
    }
}
