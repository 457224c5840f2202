//! The tools. Each tool is used as its documentation shows.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::OnceLock;

use dudect_bencher::ctbench::{BenchMetadata, BenchName, BenchOpts, run_benches_console};
use dudect_bencher::{BenchRng, Class, CtRunner};
use tacet::{AttackerModel, InputPair, Outcome, TimingOracle};

use crate::cases::Case;
use deadpan_lab::record::Verdict;
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Random, Silent, Target, clock};

pub struct Tool {
    pub name: &'static str,
    pub what: &'static str,
    /// Measures the case and returns `leak`, `small` (a real difference below the threshold), `none` or `undecided`,
    /// or `printed` if the tool has printed its statistic instead.
    pub run: fn(Case) -> &'static str,
}

pub const ALL: &[Tool] = &[
    Tool { name: "lab", what: "`deadpan_lab::timing::run` with default settings", run: lab },
    Tool {
        name: "tacet-adjacent",
        what: "`tacet` 0.4.2 with `AdjacentNetwork` (100 ns), the preset of its README's quick start",
        run: |case| with_tacet(case, AttackerModel::AdjacentNetwork),
    },
    Tool {
        name: "tacet-shared",
        what: "`tacet` 0.4.2 with `SharedHardware` (0.4 ns)",
        run: |case| with_tacet(case, AttackerModel::SharedHardware),
    },
    Tool {
        name: "dudect-bencher",
        what: "`dudect-bencher` 0.7.0, 100 000 inputs, the class by a coin as in its README; a leak is a t beyond ±5",
        run: with_dudect,
    },
];

fn lab(case: Case) -> &'static str {
    let mut target =
        Target::new(case.name, case.length, case.run).class("first", case.fill[0]).class("second", case.fill[1]);
    match timing::run(&mut target, &Settings::default(), &*clock::best(), &mut Silent).verdict {
        Verdict::Leak => "leak",
        Verdict::BelowThreshold => "small",
        Verdict::NoLeakAbove => "none",
        Verdict::Unmeasurable | Verdict::Inconclusive | Verdict::Invalid => "undecided",
    }
}

fn with_tacet(case: Case, model: AttackerModel) -> &'static str {
    // The inputs are arrays, because the README of `tacet` uses arrays.
    match case.length {
        8 => tacet_of::<8>(case, model),
        32 => tacet_of::<32>(case, model),
        64 => tacet_of::<64>(case, model),
        65 => tacet_of::<65>(case, model),
        2048 => tacet_of::<2048>(case, model),
        length => unreachable!("no case has {length} bytes"),
    }
}

fn tacet_of<const LENGTH: usize>(case: Case, model: AttackerModel) -> &'static str {
    let random = RefCell::new(Random::from_time());
    let input = |class: usize| {
        let random = &random;
        move || {
            let mut input = [0; LENGTH];
            (case.fill[class])(&mut random.borrow_mut(), &mut input);
            input
        }
    };
    let inputs = InputPair::new(input(0), input(1));
    let outcome = TimingOracle::for_attacker(model).test(inputs, |input: &[u8; LENGTH]| {
        black_box((case.run)(input));
    });
    match outcome {
        Outcome::Fail { .. } => "leak",
        Outcome::Pass { .. } => "none",
        Outcome::Inconclusive { .. } | Outcome::Unmeasurable { .. } | Outcome::Research(_) => "undecided",
    }
}

/// The case for [`bench_case`]. The case is stored in a static, because a function pointer carries no data.
static CASE: OnceLock<Case> = OnceLock::new();

fn with_dudect(case: Case) -> &'static str {
    let case = CASE.get_or_init(|| case);
    let bench = BenchMetadata { name: BenchName(case.name), seed: None, benchfn: bench_case };
    match run_benches_console(BenchOpts::default(), vec![bench]) {
        Ok(()) => "printed",
        Err(_) => "undecided",
    }
}

fn bench_case(runner: &mut CtRunner, _: &mut BenchRng) {
    let Some(case) = CASE.get() else { return };
    let mut random = Random::from_time();
    let mut inputs = Vec::new();
    let mut classes = Vec::new();
    for _ in 0..100_000 {
        let mut input = vec![0; case.length];
        if random.bits() & 1 == 0 {
            (case.fill[0])(&mut random, &mut input);
            classes.push(Class::Left);
        } else {
            (case.fill[1])(&mut random, &mut input);
            classes.push(Class::Right);
        }
        inputs.push(input);
    }
    for (class, input) in classes.into_iter().zip(inputs) {
        runner.run_one(class, || (case.run)(&input));
    }
}
