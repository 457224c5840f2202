//! Tests targets with prepared inputs, and targets whose results are dropped after the clock has stopped.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Duration;

use deadpan_lab::clock::{self, Mock};
use deadpan_lab::record::Verdict;
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Random, Silent, Target, speed};

fn settings(seed: u64) -> Settings {
    Settings { looks: 4, delta_ns: Some(1.0), seed, ..Settings::default() }
}

struct Result(Mock, f64);

impl Drop for Result {
    fn drop(&mut self) {
        self.0.advance(self.1);
    }
}

/// Returns a function that takes 100 ticks and some noise. If `slow` is true, dropping the function's result takes 500
/// ticks.
fn costly(clock: &Mock) -> impl FnMut(bool) -> Result + 'static {
    let (clock, mut random) = (clock.clone(), Random::new(3));
    move |slow| {
        clock.advance(100.0 + 4.0 * random.normal().abs());
        Result(clock.clone(), if slow { 500.0 } else { 0.0 })
    }
}

#[test]
fn the_drop_of_a_result_is_not_timed() {
    let clock = Mock::new(1);
    let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| costly(&clock));
    let bytes = |target: Target| target.fixed("quick drop", &[0]).fixed("slow drop", &[1]);
    let classes = ["quick drop", "slow drop"];
    let prepare = |_: &mut Random, class: &str| class == "slow drop";
    let targets = [
        bytes(Target::new("reads", 1, move |input| a(input[0] == 1))),
        bytes(Target::in_place("changes", 1, move |input| b(input[0] == 1))),
        Target::prepared("prepared", classes, prepare, move |slow| c(*slow)),
        Target::prepared_in_place("prepared in place", classes, prepare, move |slow| d(*slow)),
    ];
    for mut target in targets {
        let report = timing::run(&mut target, &settings(1), &clock, &mut Silent);
        assert_eq!(report.verdict, Verdict::NoLeakAbove, "{}: {}", target.name(), report.pairs[0].reason);
        let estimates = speed::estimate(&mut target, 1, &clock, &speed::Options::brief(), &mut Silent);
        assert!((100.0..110.0).contains(&estimates.median.estimate), "{}: {:?}", target.name(), estimates.median);
    }
}

#[test]
fn inputs_of_any_length_are_prepared_outside_of_the_measurement() {
    let clock = Mock::new(1);
    for (other, verdict) in [(100, Verdict::NoLeakAbove), (108, Verdict::Leak)] {
        let (preparing, calling) = (clock.clone(), clock.clone());
        let noise = RefCell::new(Random::new(4));
        let mut target = Target::prepared(
            "sum",
            ["one length", "another"],
            move |random, class| {
                preparing.advance(if class == "another" { 5000.0 } else { 1000.0 });
                vec![random.bits(); if class == "another" { other } else { 100 }]
            },
            move |words| {
                calling.advance(words.len() as f64 + 3.0 * noise.borrow_mut().normal());
                words.iter().fold(0, |sum, word| sum ^ word)
            },
        );
        let report = timing::run(&mut target, &settings(5), &clock, &mut Silent);
        assert_eq!(report.verdict, verdict, "{}", report.pairs[0].reason);
        assert_eq!(report.length, 0);
    }
}

#[test]
fn the_inputs_of_all_classes_lie_at_the_same_addresses() {
    let clock = Mock::new(1);
    let inner = clock.clone();
    let places: Rc<RefCell<[BTreeSet<usize>; 2]>> = Rc::default();
    let seen = Rc::clone(&places);
    let mut target = Target::prepared(
        "place",
        ["a", "b"],
        |random, class| (usize::from(class == "b"), [random.bits(); 7]),
        move |key| {
            seen.borrow_mut()[key.0].insert((&raw const *key).addr());
            inner.advance(100.0);
        },
    );
    timing::run(&mut target, &Settings { looks: 3, ..settings(6) }, &clock, &mut Silent);
    let [a, b] = &*places.borrow();
    // Each batch uses one address for both classes, and all addresses lie in one page.
    assert_eq!(a, b);
    assert!(a.len() > 20 && a.last().unwrap() - a.first().unwrap() < 4096, "{a:?}");
}

#[test]
fn each_call_that_changes_its_input_gets_the_same_input() {
    let clock = Mock::new(1);
    let (inner, prepared) = (clock.clone(), Rc::new(RefCell::new(HashMap::<u64, u64>::new())));
    let known = Rc::clone(&prepared);
    let mut target = Target::prepared_in_place(
        "insert",
        ["a", "b"],
        move |random, _| {
            let number = random.bits();
            *known.borrow_mut().entry(number).or_default() += 1;
            HashMap::from([(0, number)])
        },
        move |map: &mut HashMap<u64, u64>| {
            assert_eq!(map.len(), 1);
            inner.advance(3.0);
            map.insert(1, 2)
        },
    );
    let report = timing::run(&mut target, &Settings { looks: 1, ..settings(2) }, &clock, &mut Silent);
    assert!(report.repeats >= 17, "{}", report.repeats);
    // The test counts only the inputs that were used for the final number of calls. The warm-up also makes inputs for
    // other numbers of calls.
    let measured = prepared.borrow().values().filter(|&&calls| calls == u64::from(report.repeats)).count();
    assert!(measured > 8000, "{measured} inputs were made for each of {} calls", report.repeats);
}

#[test]
fn prepared_targets_have_speeds_and_race() {
    let clock = Mock::new(1);
    let make = |ticks: f64| {
        let clock = clock.clone();
        Target::prepared(
            "t",
            ["one"],
            |random, _| vec![random.bits()],
            move |words| {
                clock.advance(ticks);
                words.clone()
            },
        )
    };
    let (mut slow, mut fast) = (make(120.0), make(100.0));
    let found = speed::estimate(&mut slow, 0, &clock, &speed::Options::brief(), &mut Silent);
    assert!((found.slope.estimate - 120.0).abs() < 1e-9, "{:?}", found.slope);
    let options = speed::RaceOptions { limit: Duration::from_millis(20), ..Default::default() };
    let race = speed::race_targets((&mut slow, 0), (&mut fast, 0), &clock, &options, &mut Silent);
    assert!((race.ratio.estimate - 100.0 / 120.0).abs() < 1e-9, "{:?}", race.ratio);
}

#[test]
#[should_panic(expected = "names all its classes at once")]
fn a_prepared_target_takes_no_classes_of_bytes() {
    let _ = Target::prepared("t", ["a"], |_, _| 0, |_| ()).class("b", |_, _| ());
}

#[test]
fn classes_keep_their_inputs_when_others_are_left_out() {
    let seen = Rc::new(RefCell::new(String::new()));
    let last = Rc::clone(&seen);
    let target = Target::prepared(
        "t",
        ["a", "b", "c"],
        |_, class| class.to_owned(),
        move |class: &String| {
            last.borrow_mut().clone_from(class);
        },
    );
    let mut target = target.outcome("b", "invalid").only(|name| name != "a");
    assert_eq!(target.classes()[0].outcome(), "invalid");
    let mut input = vec![0; target.length()];
    target.fill(1, &mut Random::new(1), &mut input);
    target.call(&mut input);
    assert_eq!(*seen.borrow(), "c");
}

#[test]
fn a_slow_function_has_batches_of_two_pairs_and_small_controls() {
    let clock = Mock::new(1);
    let (inner, calls) = (clock.clone(), Rc::new(Cell::new(0)));
    let counted = Rc::clone(&calls);
    let mut random = Random::new(1);
    let mut target = Target::new("slow", 1, move |_| {
        counted.set(counted.get() + 1);
        inner.advance(12e6 + 1e3 * random.normal());
    })
    .fixed("a", &[0])
    .fixed("b", &[1]);
    // The time limit counts real time, and the mock clock takes no real time. The run ends after the minimum number of
    // batches, which is between 12 and 16.
    let settings = Settings { time_limit: Duration::from_millis(1), looks: 1, ..Settings::default() };
    let report = timing::run(&mut target, &settings, &clock, &mut Silent);
    assert_eq!(report.design.pairs_per_batch, 2);
    // The warm-up makes about 40 calls. The choice of the cut points (the times to compare) takes at most 18 pairs of
    // calls. A round has 8 calls of this function, in addition to the calls of the known leak.
    assert!(calls.get() < 260, "{}", calls.get());
}

#[test]
fn a_slow_function_keeps_the_time_limit() {
    let call = Duration::from_millis(40);
    let calls = Rc::new(Cell::new(0_u64));
    let counted = Rc::clone(&calls);
    let mut target = Target::new("sleep", 1, move |_| {
        counted.set(counted.get() + 1);
        std::thread::sleep(call);
    })
    .fixed("a", &[0])
    .fixed("b", &[1]);
    let limit = Duration::from_secs(2);
    let settings = Settings { time_limit: limit, ..settings(1) };
    let report = timing::run(&mut target, &settings, &*clock::best(), &mut Silent);
    // The warm-up takes up to a second. A round has five parts of at most four calls each, and the controls make as
    // many calls as the function. A busy machine makes the run longer, but never makes more calls fit into the limit.
    let most = (limit + Duration::from_secs(1)).as_millis() / call.as_millis() + 24;
    assert!(u128::from(calls.get()) <= most, "{} calls, {most} expected", calls.get());
    assert_eq!((report.design.pairs_per_batch, report.verdict), (2, Verdict::Inconclusive));
}
