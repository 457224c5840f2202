//! Measures how often the verdicts of this crate are wrong on this machine. The lab stores the result and shows it
//! beside later verdicts.
//!
//! A calibration measures several functions, some with short calls and some with long calls. The rate of false alarms
//! comes from many runs of functions that do not leak. The power, which is the rate of detected leaks, comes from runs
//! with injected delays of several sizes.

use std::path::{Path, PathBuf};

use crate::clock::Clock;
use crate::disk;
use crate::distribution::{clopper_pearson, median};
use crate::imp::spin::spin;
use crate::random::Random;
use crate::record::{Calibration, CalibrationLevel, Machine, Power, Tool, Verdict};
use crate::target::Target;
use crate::timing::{self, Settings};
use crate::watch::{Silent, Steps, Watch};

/// The injected delays: each number is the average number of iterations that a delay adds to the delay loop of a call.
/// The smallest delay is shorter than the measurement noise. The largest delay is so long that a run detects it in the
/// first evaluation of the data.
const DELAYS: [f64; 7] = [0.007_812_5, 0.015_625, 0.031_25, 0.062_5, 0.25, 1.0, 4.0];

/// The size of a calibration.
#[derive(Clone, Debug)]
pub struct Options {
    /// The durations of a call, in iterations of the delay loop. An iteration takes about a cycle. All durations are
    /// long loops. In a short loop, the processor predicts the last iteration, so one more iteration would cause a
    /// misprediction.
    pub costs: Vec<u32>,
    /// For each duration of a call, the number of runs with a function that does not leak.
    pub nulls: u64,
    /// The injected delays: each number is the average number of iterations that a delay adds to the delay loop of a
    /// call. A delay of 0.5 adds one iteration to half of the calls.
    pub delays: Vec<f64>,
    /// The number of runs for each duration of a call and each delay.
    pub trials: u64,
    /// The settings of each timing run.
    pub settings: Settings,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            costs: vec![300, 1500, 6000],
            nulls: 1000,
            delays: DELAYS.to_vec(),
            trials: 40,
            settings: Settings::default(),
        }
    }
}

impl Options {
    /// Returns options for a short calibration, which makes about a tenth of the runs of a full calibration. The
    /// confidence intervals of a short calibration are about three times as wide as those of a full calibration.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            costs: vec![300, 1500],
            nulls: 60,
            delays: vec![0.03125, 0.25, 1.0],
            trials: 6,
            settings: Settings::quick(),
        }
    }
}

/// Runs a calibration on this machine and returns its result, which [`store`] can write to a file. If `watch` stops the
/// calibration, the result contains only the runs that were made so far.
pub fn run(options: &Options, machine: &Machine, tool: &Tool, clock: &dyn Clock, watch: &mut dyn Watch) -> Calibration {
    let each = options.nulls + options.trials * options.delays.len() as u64;
    let mut steps = Steps::new(watch, each * options.costs.len() as u64);
    let mut levels = Vec::new();
    for &cost in &options.costs {
        if steps.stopped() {
            break;
        }
        levels.push(level(cost, options, clock, &mut steps));
    }
    Calibration {
        started: crate::machine::now(),
        cpu: machine.cpu.clone(),
        binary_sha256: tool.binary_sha256.clone(),
        alpha: options.settings.alpha,
        levels,
    }
}

fn level(cost: u32, options: &Options, clock: &dyn Clock, steps: &mut Steps<'_>) -> CalibrationLevel {
    let mut random = Random::new(options.settings.seed ^ u64::from(cost));
    let mut level = CalibrationLevel::default();
    let mut costs = Vec::new();
    // Runs of functions that do not leak never stop early. Runs that never stop early evaluate the data more often than
    // an ordinary run, and therefore have more chances of a false alarm.
    let full = Settings { stop_early: false, ..options.settings.clone() };
    for _ in 0..options.nulls {
        if !steps.step(&format!("{cost} cycles, no leak")) {
            break;
        }
        let (scale, outcomes, _) = timing::measure(
            &mut spinner(cost, 0.0),
            &Settings { seed: random.bits(), ..full.clone() },
            clock,
            &mut Silent,
        );
        costs.push(scale.per_call(scale.call * scale.repeats as f64));
        level.runs += 1;
        level.rejected += u64::from(outcomes[0].p <= full.alpha);
        level.leaks += u64::from(outcomes[0].verdict == Verdict::Leak);
    }
    level.cost_ns = middle(&mut costs);
    level.rate = clopper_pearson(level.rejected, level.runs, 0.95);
    // Because the threshold is 0 here, a run is successful if it finds any real difference.
    let any = Settings { delta_ns: Some(0.0), ..options.settings.clone() };
    for &delay in &options.delays {
        let (mut power, mut seen) = (Power::default(), Vec::<f64>::new());
        for _ in 0..options.trials {
            if !steps.step(&format!("{cost} cycles, {delay} more")) {
                break;
            }
            let (_, outcomes, _) = timing::measure(
                &mut spinner(cost, delay),
                &Settings { seed: random.bits(), ..any.clone() },
                clock,
                &mut Silent,
            );
            power.runs += 1;
            power.found += u64::from(outcomes[0].confirmed.is_some());
            seen.extend(outcomes[0].facts.effects.first().map(|effect| effect.difference.estimate));
        }
        power.delay_ns = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
        power.rate = clopper_pearson(power.found, power.runs, 0.95);
        level.power.push(power);
    }
    level
}

fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() { 0.0 } else { median(values) }
}

/// Creates a target whose input contains the number of iterations of the delay loop that the target runs. On average,
/// an input of the class `with` has `delay` more iterations than an input of the class `without`.
fn spinner(cost: u32, delay: f64) -> Target {
    let turns = delay.max(1.0).round() as u32;
    let input = move |random: &mut Random, input: &mut [u8], share: f64| {
        let late = random.fraction() < share;
        input.copy_from_slice(&(cost + u32::from(late) * turns).to_le_bytes());
    };
    Target::new("delay", 4, |input| spin(u32::from_le_bytes([input[0], input[1], input[2], input[3]])))
        .class("without", move |random, bytes| input(random, bytes, 0.0))
        .class("with", move |random, bytes| input(random, bytes, delay.min(1.0)))
}

/// Returns the path of the file in `folder` that stores this processor's calibration.
fn file(folder: &Path, cpu: &str) -> PathBuf {
    let name: String =
        cpu.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    folder.join(format!("calibration-{name}.json"))
}

/// Stores a calibration for later runs on this processor.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn store(folder: &Path, calibration: &Calibration) -> std::io::Result<()> {
    disk::make_folder(folder)?;
    disk::write(&file(folder, &calibration.cpu), serde_json::to_string_pretty(calibration)?.as_bytes())
}

/// Loads the stored calibration of this processor, if there is one.
#[must_use]
pub fn load(folder: &Path, cpu: &str) -> Option<Calibration> {
    serde_json::from_str(&std::fs::read_to_string(file(folder, cpu)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_calibration_is_loaded_for_its_processor_only() {
        let folder = std::env::temp_dir().join(format!("deadpan-calibration-{}", std::process::id()));
        let calibration = Calibration { cpu: "A CPU, @ 3 GHz/x".to_owned(), alpha: 0.01, ..Calibration::default() };
        store(&folder, &calibration).unwrap();
        assert_eq!(load(&folder, "A CPU, @ 3 GHz/x").map(|found| found.alpha), Some(0.01));
        assert!(load(&folder, "another").is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_small_calibration_has_a_rate_and_a_power_for_every_cost() {
        let options = Options {
            costs: vec![400],
            nulls: 3,
            delays: vec![200.0],
            trials: 2,
            settings: Settings { looks: 1, ..Settings::quick() },
        };
        let machine = Machine::default();
        let calibration = run(&options, &machine, &Tool::default(), &*crate::clock::best(), &mut Silent);
        let level = &calibration.levels[0];
        assert_eq!((level.runs, level.power.len(), level.power[0].runs), (3, 1, 2));
        assert!(level.cost_ns > 10.0 && level.rate.upper > 0.5, "{level:?}");
    }
}
