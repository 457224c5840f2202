//! Timing verdicts on a mock clock, with several kinds of noise.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use deadpan_lab::clock::Mock;
use deadpan_lab::record::{Timing, Verdict};
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Random, Silent, Target, Watch};

/// Measures a target on a mock clock. The duration of a call in ticks is `time(first byte of the input, random, number
/// of calls so far)`.
fn simulate(step: u32, settings: &Settings, time: impl Fn(u8, &mut Random, u64) -> f64 + 'static) -> Timing {
    let clock = Mock::new(step);
    let inner = clock.clone();
    let random = Rc::new(RefCell::new((Random::new(settings.seed ^ 0xabcd), 0_u64)));
    let mut target = Target::new("mock", 1, move |input| {
        let (random, calls) = &mut *random.borrow_mut();
        *calls += 1;
        inner.advance(time(input[0], random, *calls));
    })
    .fixed("a", &[0])
    .fixed("b", &[1]);
    timing::run(&mut target, settings, &clock, &mut Silent)
}

fn settings(seed: u64) -> Settings {
    Settings { looks: 4, delta_ns: Some(1.0), seed, ..Settings::default() }
}

fn verdicts(
    runs: u64,
    settings: impl Fn(u64) -> Settings,
    time: impl Fn(u8, &mut Random, u64) -> f64 + Copy + 'static,
) -> Vec<Timing> {
    (0..runs).map(|seed| simulate(1, &settings(seed), time)).collect()
}

fn count(reports: &[Timing], verdict: Verdict) -> usize {
    reports.iter().filter(|report| report.verdict == verdict).count()
}

fn heavy(random: &mut Random) -> f64 {
    if random.below(100) == 0 { random.fraction().powi(4) * 20_000.0 } else { 0.0 }
}

#[test]
fn a_shift_beyond_delta_is_a_leak_and_its_size_is_in_the_interval() {
    for report in verdicts(20, settings, |class, random, _| {
        100.0 + 8.0 * random.normal().abs() + 5.0 * f64::from(class) + heavy(random)
    }) {
        assert_eq!(report.verdict, Verdict::Leak, "{}", report.pairs[0].reason);
        let pair = &report.pairs[0];
        assert!(pair.effects[3].difference.covers(5.0), "{:?}", pair.effects[3]);
        assert!(pair.confirmed.is_some() && pair.controls.delay.passed && pair.controls.leak.passed);
    }
}

#[test]
fn without_a_difference_there_is_no_leak_and_a_bound_below_delta() {
    let reports = verdicts(60, settings, |_, random, _| {
        100.0 + 6.0 * random.normal().abs() + if random.below(8) == 0 { heavy(random) } else { 0.0 }
    });
    assert!(
        count(&reports, Verdict::NoLeakAbove) >= 57,
        "{:?}",
        reports.iter().map(|report| &report.pairs[0].reason).collect::<Vec<_>>()
    );
    assert!(
        reports
            .iter()
            .filter(|report| report.verdict == Verdict::NoLeakAbove)
            .all(|report| report.pairs[0].bound_ns <= 1.0)
    );
}

#[test]
fn drift_and_correlated_noise_raise_no_alarm() {
    let full = |seed| Settings { stop_early: false, alpha: 0.05, looks: 3, ..settings(seed) };
    let reports = verdicts(200, full, |_, random, calls| {
        let calls = calls as f64;
        100.0 + 40.0 * (calls / 3000.0).sin() + calls / 500.0 + 3.0 * random.normal()
    });
    // The test expects that 5 % of 200 comparisons report a difference by chance. The limit is four standard deviations
    // above the expected number of false reports.
    let rejected = reports.iter().filter(|report| report.pairs[0].p <= 0.05).count();
    assert!(rejected <= 10 + 13, "{rejected}");
    assert_eq!(count(&reports, Verdict::Leak), 0);
}

#[test]
fn a_delay_on_one_call_in_two_hundred_is_found() {
    let strict = |seed| Settings { delta_ns: Some(0.0), looks: 6, ..settings(seed) };
    let reports = verdicts(20, strict, |class, random, _| {
        let rare = if class == 1 && random.below(200) == 0 { 133.0 } else { 0.0 };
        100.0 + 6.0 * random.normal().abs() + rare + 0.1 * heavy(random)
    });
    assert!(count(&reports, Verdict::Leak) >= 19, "{}", count(&reports, Verdict::Leak));
}

#[test]
fn a_difference_below_delta_is_reported_and_no_leak() {
    for report in verdicts(10, settings, |class, random, _| 100.0 + 3.0 * random.normal() + 0.4 * f64::from(class)) {
        assert_eq!(report.verdict, Verdict::BelowThreshold, "{}", report.pairs[0].reason);
        let pair = &report.pairs[0];
        assert!(
            pair.reason.contains("it is below the threshold of 1 ns: “b” is slower than “a” by 0."),
            "{}",
            pair.reason
        );
    }
}

/// Quantiles up to 99 % do not show a leak in one of a thousand calls, although the means differ by ten times the
/// threshold.
#[test]
fn ten_microseconds_in_one_call_of_a_thousand_are_a_leak() {
    let usual = |seed| Settings { looks: 7, ..settings(seed) };
    let reports = verdicts(10, usual, |class, random, _| {
        let rare = if class == 1 && random.below(1000) == 0 { 10_000.0 } else { 0.0 };
        100.0 + 6.0 * random.normal().abs() + rare
    });
    assert!(count(&reports, Verdict::Leak) >= 9, "{:?}", reports.iter().map(|it| it.verdict).collect::<Vec<_>>());
    for pair in reports.iter().map(|report| &report.pairs[0]).filter(|pair| pair.verdict == Verdict::Leak) {
        let found = pair.found.as_ref().expect("a finding");
        assert!(found.second && found.what.contains("99.9 %"), "{}", pair.reason);
        let rare = ["mean of all calls", "99.9 % quantile"].iter().any(|name| pair.reason.contains(name));
        assert!(rare && pair.reason.starts_with("“b” is slower than “a” by"), "{}", pair.reason);
    }
}

#[test]
fn a_clock_with_steps_of_ten_ticks_finds_a_difference_of_two_ticks() {
    for seed in 0..10 {
        let report = simulate(10, &settings(seed), |class, random, _| 103.0 + random.normal() + 2.0 * f64::from(class));
        assert_eq!(report.verdict, Verdict::Leak, "{}", report.pairs[0].reason);
        let difference = report.pairs[0].effects[0].difference;
        assert!((difference.estimate - 2.0).abs() < 0.7, "{difference:?}");
    }
}

#[test]
fn a_run_that_is_too_short_is_inconclusive_and_says_how_many_more_pairs_are_needed() {
    let few = |seed| Settings { looks: 1, time_limit: Duration::from_micros(1), ..settings(seed) };
    for report in verdicts(5, few, |_, random, _| 1000.0 + 400.0 * random.normal().abs()) {
        let pair = &report.pairs[0];
        assert_eq!(pair.verdict, Verdict::Inconclusive);
        assert!(pair.more_pairs.is_some_and(|pairs| pairs > 4096) && pair.mde_ns > 1.0, "{pair:?}");
    }
}

#[test]
fn calls_that_are_much_shorter_than_a_clock_step_are_unmeasurable() {
    let report = simulate(1_000_000, &settings(1), |_, _, _| 0.001);
    assert_eq!(report.verdict, Verdict::Unmeasurable);
    assert_eq!(report.verdict.exit_code(false), 31);
}

#[test]
fn an_interrupted_run_is_inconclusive() {
    struct Impatient;
    impl Watch for Impatient {
        fn progress(&mut self, _: &str, _: u64, _: u64) {}
        fn stopped(&self) -> bool {
            true
        }
    }
    let clock = Mock::new(1);
    let inner = clock.clone();
    let mut target = Target::new("mock", 1, move |_| inner.advance(100.0)).fixed("a", &[0]).fixed("b", &[1]);
    let report = timing::run(&mut target, &settings(1), &clock, &mut Impatient);
    assert_eq!((report.verdict, report.pairs[0].reason.as_str()), (Verdict::Inconclusive, "interrupted"));
}

#[test]
fn a_seed_repeats_a_run() {
    let time = |_: u8, random: &mut Random, _: u64| 100.0 + 5.0 * random.normal();
    let [one, two] = [simulate(1, &settings(9), time), simulate(1, &settings(9), time)];
    assert_eq!(
        serde_json::to_string(&one.pairs[0].effects).unwrap(),
        serde_json::to_string(&two.pairs[0].effects).unwrap()
    );
}

#[test]
fn of_three_classes_only_the_pairs_with_the_slow_class_are_leaks() {
    let clock = Mock::new(1);
    let inner = clock.clone();
    let noise = RefCell::new(Random::new(4));
    let mut target = Target::new("mock", 1, move |input| {
        inner.advance(100.0 + 4.0 * noise.borrow_mut().normal() + if input[0] == 2 { 6.0 } else { 0.0 });
    })
    .fixed("a", &[0])
    .fixed("b", &[1])
    .fixed("c", &[2]);
    let report = timing::run(&mut target, &settings(3), &clock, &mut Silent);
    let verdicts: Vec<_> = report.pairs.iter().map(|pair| (pair.a.as_str(), pair.b.as_str(), pair.verdict)).collect();
    assert_eq!(verdicts, [("a", "b", Verdict::NoLeakAbove), ("a", "c", Verdict::Leak), ("b", "c", Verdict::Leak)]);
    assert!(report.pairs.iter().all(|pair| pair.p_holm >= pair.p));
}

#[test]
fn an_input_that_is_changed_in_place_is_a_fresh_copy_for_every_call() {
    let clock = Mock::new(1);
    let inner = clock.clone();
    let mut target = Target::in_place("mock", 4, move |input: &mut [u8]| {
        assert_eq!(input, [1, 2, 3, 4]);
        input.fill(0);
        inner.advance(3.0);
    })
    .fixed("a", &[1, 2, 3, 4])
    .fixed("b", &[1, 2, 3, 4]);
    let report = timing::run(&mut target, &Settings { looks: 1, ..settings(2) }, &clock, &mut Silent);
    assert!(report.repeats >= 17, "{}", report.repeats);
}

#[test]
fn more_data_are_taken_where_the_intervals_are_too_wide() {
    // With the usual amount of data, a debug build on a busy machine would need minutes.
    let few = |seed| Settings { looks: 1, time_limit: Duration::from_secs(3600), ..settings(seed) };
    for report in verdicts(3, few, |_, random, _| 1000.0 + 100.0 * random.normal().abs()) {
        let pair = &report.pairs[0];
        assert!(pair.verdict == Verdict::NoLeakAbove && pair.batches > 16, "{}", pair.reason);
    }
}

#[test]
fn every_interval_covers_a_shift_by_parts_of_a_clock_step() {
    for shift in [3.0, 7.0, 10.0, 20.0, 50.0] {
        for seed in 0..4 {
            let report = simulate(10, &settings(seed), move |class, random, _| {
                103.3 + random.normal().abs() + shift * f64::from(class)
            });
            assert_eq!(report.verdict, Verdict::Leak);
            for effect in &report.pairs[0].effects {
                assert!(effect.difference.covers(shift), "{shift}: {effect:?}");
            }
        }
    }
}

#[test]
fn two_modes_that_do_not_depend_on_the_class_are_no_leak() {
    let usual = |seed| Settings { seed, ..Settings::default() };
    for report in verdicts(5, usual, |_, random, _| [100.0, 200.0][(random.bits() & 1) as usize] + random.normal()) {
        let pair = &report.pairs[0];
        assert_eq!(pair.verdict, Verdict::NoLeakAbove, "{}", pair.reason);
        let gap = pair.effects.iter().find(|effect| effect.gap_ns.is_some()).expect("a gap at the median");
        assert!(gap.quantile.is_none() && gap.name == "gap at the 50 % quantile", "{gap:?}");
    }
}

#[test]
fn two_modes_of_which_one_class_prefers_one_are_a_leak() {
    let usual = |seed| Settings { seed, ..Settings::default() };
    let modes = |class: u8, random: &mut Random, _: u64| {
        let slow = random.fraction() < 0.5 + 0.04 * f64::from(class);
        (if slow { 200.0 } else { 100.0 }) + random.normal()
    };
    for report in verdicts(5, usual, modes) {
        assert_eq!(report.verdict, Verdict::Leak, "{}", report.pairs[0].reason);
    }
}

#[test]
fn a_leak_at_some_addresses_of_the_buffer_is_found_wherever_the_program_puts_it() {
    for seed in 0..5 {
        let clock = Mock::new(1);
        let inner = clock.clone();
        let noise = RefCell::new(Random::new(seed));
        let mut target = Target::new("mock", 64, move |input| {
            let odd = input.as_ptr().addr() % 32 == 16;
            inner.advance(100.0 + noise.borrow_mut().normal() + if odd { 4.0 * f64::from(input[0]) } else { 0.0 });
        })
        .fixed("a", &[0; 64])
        .fixed("b", &[1; 64]);
        let report = timing::run(&mut target, &settings(seed), &clock, &mut Silent);
        assert_eq!(report.verdict, Verdict::Leak, "{}", report.pairs[0].reason);
    }
}

#[test]
fn a_threshold_may_be_a_share_of_the_call() {
    let share = |seed| Settings { delta_ns: None, delta_share: Some(0.01), ..settings(seed) };
    for report in verdicts(2, share, |_, random, _| 2000.0 + random.normal()) {
        assert!((report.design.delta_ns - 20.0).abs() < 0.1, "{}", report.design.delta_ns);
    }
}
