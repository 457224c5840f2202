//! Tests the measurement of speed through the public interface, on a mock clock and with real programs.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use deadpan_lab::clock::{self, Mock};
use deadpan_lab::record::{Check, Outcome};
use deadpan_lab::speed::program::{self, Program, compare};
use deadpan_lab::speed::{self, RaceOptions, baseline};
use deadpan_lab::{Random, Silent, Target, Watch};

/// A simulated noisy machine on a mock clock. The speed of the machine varies and drifts, and calls are interrupted.
struct Machine {
    clock: Mock,
    random: Random,
    spell: f64,
    drift: f64,
}

impl Machine {
    fn new(clock: &Mock, seed: u64) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { clock: clock.clone(), random: Random::new(seed), spell: 0.0, drift: 0.0 }))
    }

    /// Simulates work that takes `nanoseconds` on a quiet machine, by advancing the clock.
    fn work(&mut self, nanoseconds: f64) {
        self.spell = 0.95 * self.spell + 0.01 * self.random.normal();
        self.drift += 1e-6;
        let interrupted = if self.random.below(50) == 0 { 1.0 + 5.0 * self.random.fraction() } else { 1.0 };
        let noise = 0.01 * self.random.normal();
        self.clock.advance(nanoseconds * (1.0 + self.spell.abs() + self.drift + noise.abs()) * interrupted);
    }
}

/// Runs `runs` races on noisy machines. The second function takes `factor` times as long as the first function. Returns
/// how many races ended with each result: the functions are the same, the functions differ, or the race is
/// inconclusive.
fn outcomes(runs: u64, factor: f64) -> [u64; 3] {
    let mut counts = [0; 3];
    for run in 0..runs {
        let clock = Mock::new(10);
        let machine = Machine::new(&clock, 1000 + run);
        let mut a = |calls: u64| machine.borrow_mut().work(1000.0 * calls as f64);
        let mut b = |calls: u64| machine.borrow_mut().work(1000.0 * factor * calls as f64);
        let options = RaceOptions { seed: run, ..RaceOptions::default() };
        let found = speed::race(&mut a, &mut b, &clock, &options, &mut Silent);
        assert_eq!(found.outcome == Outcome::Inconclusive, found.further_rounds.is_some(), "{found:?}");
        counts[match found.outcome {
            Outcome::Same => 0,
            Outcome::Faster | Outcome::Slower => 1,
            Outcome::Inconclusive => 2,
        }] += 1;
    }
    counts
}

#[test]
fn equal_functions_are_the_same_on_a_noisy_machine() {
    let found = outcomes(300, 1.0);
    assert!(found[0] >= 297, "{found:?}");
}

#[test]
fn one_percent_is_found_on_a_noisy_machine() {
    let found = outcomes(100, 1.01);
    assert!(found[1] >= 95, "{found:?}");
}

#[test]
fn a_difference_within_the_margin_is_the_same() {
    let found = outcomes(100, 1.003);
    assert!(found[1] <= 1 && found[0] >= 50, "{found:?}");
}

/// The ratio is equal to the margin, so neither "the same" nor "different" is right. The number of races that report
/// "the same" or "different" must not exceed the number that the error rate allows.
#[test]
fn a_difference_as_large_as_the_margin_is_inconclusive() {
    let found = outcomes(100, 1.005);
    assert!(found[2] >= 97, "{found:?}");
}

/// Regression: a race that was too short for any result reported that the functions were the same.
#[test]
fn a_race_without_time_is_inconclusive() {
    let clock = Mock::new(1);
    let machine = Machine::new(&clock, 5);
    let mut work = |calls: u64| machine.borrow_mut().work(1000.0 * calls as f64);
    let mut other = |calls: u64| machine.borrow_mut().work(1004.0 * calls as f64);
    let options = RaceOptions { limit: std::time::Duration::from_millis(4), ..RaceOptions::default() };
    let found = speed::race(&mut work, &mut other, &clock, &options, &mut Silent);
    assert_eq!((found.outcome, found.margin), (Outcome::Inconclusive, 0.005), "{found:?}");
    assert!(found.further_rounds.is_some_and(|rounds| rounds > 10), "{found:?}");
}

#[test]
fn a_race_returns_the_ratio() {
    let clock = Mock::new(1);
    let (mut a, mut b) = (|calls| clock.advance(500.0 * calls as f64), |calls| clock.advance(2000.0 * calls as f64));
    let found = speed::race(&mut a, &mut b, &clock, &RaceOptions::default(), &mut Silent);
    assert!((found.ratio.estimate - 4.0).abs() < 1e-3 && found.outcome == Outcome::Slower, "{:?}", found.ratio);
    assert!((found.a.wall.estimate / 5e-7 - 1.0).abs() < 1e-3 && (found.b.wall_minimum / 2e-6 - 1.0).abs() < 1e-3);
    assert_eq!(found.ratios.len(), found.rounds);
}

#[test]
fn the_targets_of_a_race_get_the_same_input_at_the_same_address() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let clock = Mock::new(1);
    let target = |name, time: f64| {
        let (clock, seen) = (clock.clone(), seen.clone());
        Target::new(name, 16, move |input: &[u8]| {
            clock.advance(time);
            seen.borrow_mut().push((input.as_ptr().addr(), input.to_vec()));
        })
        .class("random", |random, input| random.fill(input))
    };
    let (mut a, mut b) = (target("quick", 20_000.0), target("slow", 30_000.0));
    let options = RaceOptions { leg: std::time::Duration::from_micros(1), ..RaceOptions::default() };
    let found = speed::race_targets((&mut a, 0), (&mut b, 0), &clock, &options, &mut Silent);
    assert_eq!((found.a.name.as_str(), found.b.name.as_str(), found.outcome), ("quick", "slow", Outcome::Slower));
    let calls = seen.borrow();
    let rounds = &calls[calls.len() % 6..];
    assert!(rounds.chunks(6).all(|round| round.iter().all(|call| *call == round[0])));
    assert!(rounds.chunks(6).any(|round| round[0].0 != rounds[0].0), "the buffer never moves");
}

struct Stop;

impl Watch for Stop {
    fn progress(&mut self, _what: &str, _done: u64, _of: u64) {}

    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn a_stopped_race_returns_the_rounds_so_far() {
    let clock = Mock::new(1);
    let (mut a, mut b) = (|calls| clock.advance(500.0 * calls as f64), |calls| clock.advance(501.0 * calls as f64));
    let found = speed::race(&mut a, &mut b, &clock, &RaceOptions::default(), &mut Stop);
    assert!(found.rounds >= 8 && found.rounds < 100, "{}", found.rounds);
    assert!(found.ratio.lower.is_finite() && found.a.wall_minimum > 0.0);
}

/// Calls `measure` with the lengths 1, 2, 4 and so on until the result is right. Other programs and other tests disturb
/// the measured times, but the effect of this disturbance decreases if the work takes longer.
fn at_some_length<T: std::fmt::Debug>(measure: impl Fn(u32) -> T, is_right: impl Fn(&T) -> bool) {
    let mut wrong = Vec::new();
    for power in 0..8 {
        let found = measure(1 << power);
        if is_right(&found) {
            return;
        }
        wrong.push(found);
    }
    panic!("{wrong:?}");
}

#[test]
fn a_longer_sleep_is_slower() {
    let measure = |length: u32| {
        let seconds = 0.01 * f64::from(length);
        let sleep = |seconds: f64| Program::new("sleep", ["sleep".to_owned(), seconds.to_string()]);
        let (short, long, yardstick) =
            (sleep(seconds), sleep(2.0 * seconds).bytes(1000), Program::new("true", ["true"]));
        let many = program::Options { rounds: 24, ..options() };
        let found = compare(&short, &long, Some(&yardstick), &many, &mut Silent).unwrap();
        assert!(found.a.wall_minimum >= seconds && found.b.bytes_per_second.unwrap() <= 500.0 / seconds, "{found:?}");
        found
    };
    at_some_length(measure, |found| {
        let ratio = &found.ratio;
        found.outcome == Outcome::Slower
            && ratio.lower > 1.1
            && ratio.upper < 2.5
            && found.yardstick.as_ref().unwrap().wall.estimate < found.a.wall.estimate
    });
}

#[test]
fn sleeping_is_no_user_time() {
    let measure = |length: u32| {
        let asleep = Program::new("asleep", ["sleep".to_owned(), (0.02 * f64::from(length)).to_string()]);
        let busy = Program::shell("busy", format!("i=0; while [ $i -lt {} ]; do i=$((i+1)); done", 30_000 * length));
        let found = compare(&asleep, &busy, None, &options(), &mut Silent).unwrap();
        (found.a.user.unwrap().estimate, found.b.user.unwrap().estimate, found.a.wall_minimum)
    };
    at_some_length(measure, |&(asleep, busy, wall)| asleep < wall / 2.0 && busy > 2.0 * asleep);
}

fn options() -> program::Options {
    program::Options { rounds: 8, sync: false, ..program::Options::default() }
}

#[test]
fn peak_memory_is_measured_in_a_process_without_other_tests() {
    let program = std::env::current_exe().unwrap();
    let test = "speed::peak_memory_of_the_parent_does_not_count";
    let output = std::process::Command::new(program).args(["--ignored", "--exact", test]).output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}

/// Regression: the lab reported the parent process's current memory and peak memory as memory of the child process.
#[test]
#[ignore = "other tests allocate at the same time; the test above runs this one alone"]
fn peak_memory_of_the_parent_does_not_count() {
    let held = vec![1_u8; 64 << 20];
    std::hint::black_box(&held);
    drop(held);
    let small = Program::new("small", ["true"]);
    let large = Program::shell("large", "head -c 30000000 /dev/zero | tail -c 30000000");
    let found = compare(&small, &large, None, &options(), &mut Silent).unwrap();
    assert!(found.a.peak_memory.is_none_or(|peak| peak < 16 << 20), "{:?}", found.a.peak_memory);
    assert!(found.b.peak_memory.is_some_and(|peak| (28 << 20..90 << 20).contains(&peak)), "{:?}", found.b.peak_memory);
}

#[test]
fn the_prepare_command_runs_before_each_run() {
    let path = std::env::temp_dir().join(format!("deadpan-lab-prepare-{}", std::process::id()));
    let shown = path.display();
    let once = Program::shell("once", format!("test ! -e {shown} && : > {shown}")).prepare(format!("rm -f {shown}"));
    let found = compare(&once, &Program::new("true", ["true"]), None, &options(), &mut Silent);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found.unwrap().rounds, 8);
}

#[test]
fn errors_name_the_command_and_show_its_standard_error() {
    let good = Program::new("true", ["true"]);
    let error = |program: Program| compare(&good, &program, None, &options(), &mut Silent).unwrap_err().to_string();
    let missing = error(Program::new("missing", ["deadpan-no-such-program", "x"]));
    assert!(
        missing.starts_with("cannot start `deadpan-no-such-program x`: ") && !missing.contains("hint"),
        "{missing}"
    );
    let failed = error(Program::shell("failing", "echo first >&2; echo no such thing >&2; exit 3"));
    assert_eq!(
        failed,
        "`echo first >&2; echo no such thing >&2; exit 3` failed (exit status: 3); its standard error ends \
         with:\nfirst\nno such thing"
    );
    let quiet = error(Program::new("quiet", ["false"]));
    assert_eq!(quiet, "`false` failed (exit status: 1) and wrote nothing to its standard error");
}

#[test]
fn a_comparison_can_be_stopped() {
    let program = Program::new("true", ["true"]);
    assert!(matches!(compare(&program, &program, None, &options(), &mut Stop), Err(program::Error::Stopped)));
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("deadpan-lab-{name}-{}", std::process::id())))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_stored_baseline_is_loaded_with_its_history() {
    let directory = Directory::new("stored");
    let mut target =
        Target::new("sum", 64, |input| input.iter().map(|&byte| u64::from(byte)).sum::<u64>()).fixed("zeros", &[0; 64]);
    let run = speed::estimate(&mut target, 0, &*clock::best(), &speed::Options::brief(), &mut Silent);
    assert!(baseline::load(&directory.0, "sum", "64 B").unwrap().is_none());
    baseline::store(&directory.0, "sum", "64 B", &run).unwrap();
    baseline::store(&directory.0, "sum", "64 B", &run).unwrap();
    let stored = baseline::load(&directory.0, "sum", "64 B").unwrap().unwrap();
    assert_eq!((stored.history.len(), stored.estimates.points.len()), (2, run.points.len()));
    // The decimal numbers in the file are rounded.
    assert!((stored.estimates.median.estimate / run.median.estimate - 1.0).abs() < 1e-12);
    assert_eq!(std::fs::read_dir(&directory.0).unwrap().count(), 1);
}

#[test]
fn the_error_for_a_damaged_baseline_names_its_file() {
    let directory = Directory::new("broken");
    let mut target = Target::new("t", 1, |input| input[0]).fixed("zero", &[0]);
    let run = speed::estimate(&mut target, 0, &*clock::best(), &speed::Options::brief(), &mut Silent);
    baseline::store(&directory.0, "t", "1 B", &run).unwrap();
    let path = std::fs::read_dir(&directory.0).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&path, "{").unwrap();
    let error = baseline::load(&directory.0, "t", "1 B").unwrap_err().to_string();
    assert!(error.contains(".json: "), "{error}");
}

#[test]
fn the_selftest_counts_runs_and_differences() {
    let options = RaceOptions::default();
    let Check { runs, found, passed, .. } = speed::selftest_same(3, &*clock::best(), &options, &mut Silent);
    assert_eq!((runs, found <= 3, passed.is_some()), (3, true, true));
    let none = speed::selftest_change(0, &*clock::best(), &options, &mut Silent);
    assert_eq!((none.runs, none.passed), (0, None));
}

/// Checks the limits of the selftest. The test takes minutes, and passes only in an optimized build.
#[test]
#[ignore = "takes minutes"]
fn the_selftest_of_races_passes() {
    let (clock, options) = (clock::best(), RaceOptions::default());
    for check in [
        speed::selftest_same(100, &*clock, &options, &mut Silent),
        speed::selftest_change(100, &*clock, &options, &mut Silent),
    ] {
        assert_eq!(check.passed, Some(true), "{check:?}");
    }
}

#[test]
#[ignore = "writes 256 MiB six times"]
fn rates_of_the_machine_are_plausible() {
    let found = speed::baselines(&*clock::best(), &std::env::temp_dir()).unwrap();
    for baseline in &found {
        assert!(baseline.rate.lower > 1e6 && baseline.rate.upper < 1e13, "{baseline:?}");
    }
    assert_eq!(found.len(), 8);
}
