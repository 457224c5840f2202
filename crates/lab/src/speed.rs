//! How fast it is, and whether that changed.
//!
//! | Question | Answered by |
//! |---|---|
//! | how long does one call take? | [`estimate`] |
//! | did that change since the last run? | [`baseline::change`]: coarse, two runs differ by more than their own noise |
//! | which of two functions is faster? | [`race`], [`race_targets`]: paired and interleaved, sees 1 % on a noisy machine |
//! | which of two programs? | [`program::compare`] |
//! | what could this machine do at most? | [`baselines`] |
//!
//! Figures of one run are precise about that run only. Whoever wants to know whether a change made code faster races the two: then both
//! meet the same neighbours, the same clock rate and the same addresses.
//!
//! ```
//! use deadpan_lab::{Silent, Target, clock, speed};
//!
//! let mut target = Target::new("sum", 64, |input| input.iter().map(|&byte| u64::from(byte)).sum::<u64>())
//!     .class("random", |random, input| random.fill(input));
//! let options = speed::Options { samples: 20, ..speed::Options::brief() };
//! let estimates = speed::estimate(&mut target, 0, &*clock::best(), &options, &mut Silent);
//! assert!(estimates.median.lower > 0.0 && estimates.points.len() == 20);
//! ```

pub mod baseline;
mod bootstrap;
mod estimate;
pub mod program;
mod race;
mod rates;
mod selftest;
mod sign;
mod window;

pub use estimate::{Options, estimate};
pub use race::{RaceOptions, race, race_targets};
pub use rates::baselines;
pub use selftest::{selftest_change, selftest_same};
