//! Measures how fast a function or a program is, and whether its speed changed.
//!
//! | Question | Answered by |
//! |---|---|
//! | how long does one call take? | [`estimate`] |
//! | did that change since the last run? | [`baseline::change`]: coarse, because the machine changes between runs |
//! | which of two functions is faster? | [`race`], [`race_targets`]: interleaved calls, detect 1 % on a noisy machine |
//! | which of two programs is faster? | [`program::compare`] |
//! | how do many functions stand beside each other? | [`field::Field`] |
//! | how do whole workloads stand beside other programs? | [`workload::measure`] |
//! | what are the highest rates of this machine? | [`baselines`] |
//!
//! The intervals of a run describe only this run. To find out whether a change made code faster, run a race: a
//! comparison of the two versions. In a race, both versions run under the same load, at the same clock rate and with
//! the same buffer.
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
pub mod field;
pub mod program;
mod race;
mod rates;
mod selftest;
mod sign;
mod verdict;
mod window;
pub mod workload;

pub use estimate::{Options, estimate};
pub use race::{RaceOptions, race, race_targets};
pub use rates::baselines;
pub use selftest::{selftest_change, selftest_same};
