//! Two functions against each other, paired and interleaved.
//!
//! A round is a palindrome of three lanes in random order, `A B C C B A` or `B C A A C B` …, where lane C runs the first function again.
//! All lanes have the same middle in time, so that a steady drift falls out of their ratios; and as chance alone decides who stands where,
//! lanes that do the same differ by a fair coin, whatever the machine does. The ratio of C to A shows what this machine makes of no
//! difference at all: twice that is the least that counts as one.

use std::time::Duration;

use crate::clock::Clock;
use crate::distribution::quantile;
use crate::random::Random;
use crate::record::{Comparison, Contestant, Interval, Outcome};
use crate::speed::{sign, window};
use crate::target::Target;
use crate::watch::Watch;

/// How to race.
#[derive(Clone, Copy, Debug)]
pub struct RaceOptions {
    /// One leg takes about so long: far above what reading the clock costs, far below a time slice of the scheduler.
    pub leg: Duration,
    /// Stop after so long, even if nothing is settled.
    pub limit: Duration,
    /// Ratios that differ from one by less than this count as the same.
    pub margin: f64,
    /// The chance that the interval misses, over all looks.
    pub alpha: f64,
    /// The seed of order and inputs.
    pub seed: u64,
}

impl Default for RaceOptions {
    fn default() -> Self {
        Self { leg: Duration::from_micros(60), limit: Duration::from_secs(1), margin: 0.005, alpha: 0.01, seed: 1 }
    }
}

/// The fewest rounds before the first look.
const FIRST_LOOK: usize = 128;

/// The fewest rounds, however long they take and whoever wants to stop: enough for an interval.
const FEWEST: usize = 12;

/// Rounds to warm up.
const WARM: usize = 8;

/// The most rounds.
const MOST: usize = 1 << 16;

/// The first function, the second, the first again.
const FUNCTION: [usize; 3] = [0, 1, 0];

/// What a race needs of its contestants.
trait Duel {
    /// Off the clock, before each round.
    fn prepare(&mut self, random: &mut Random);

    /// The ticks of so many calls of the first or the second.
    fn leg(&mut self, function: usize, calls: u64) -> u64;
}

/// Races two functions, which are told how many iterations to make.
///
/// What both need should be prepared by the caller and be the same memory for both; `a` is called twice as often as `b`. Two pieces of code
/// stand at different places, which alone makes *identical* code differ, by as much as a third in the worst case: where a small difference
/// matters, call one function with two arguments, or let several builds vote.
///
/// The contestants of the result have no names; give them some.
///
/// ```
/// use std::hint::black_box;
///
/// use deadpan_lab::record::Outcome;
/// use deadpan_lab::{Silent, clock, speed};
///
/// fn work(steps: u64) -> u64 {
///     (0..steps).fold(1, |sum, step| black_box(sum ^ step))
/// }
/// let mut less = |iterations| (0..iterations).for_each(|_| drop(black_box(work(1000))));
/// let mut more = |iterations| (0..iterations).for_each(|_| drop(black_box(work(1500))));
/// let options = speed::RaceOptions::default();
/// let comparison = speed::race(&mut less, &mut more, &*clock::best(), &options, &mut Silent);
/// assert_eq!(comparison.outcome, Outcome::Slower);
/// ```
pub fn race(a: &mut dyn FnMut(u64), b: &mut dyn FnMut(u64), clock: &dyn Clock, options: &RaceOptions, watch: &mut dyn Watch) -> Comparison {
    run(&mut Functions { functions: [a, b], clock }, u64::MAX, clock, options, watch)
}

struct Functions<'f> {
    functions: [&'f mut dyn FnMut(u64); 2],
    clock: &'f dyn Clock,
}

impl Duel for Functions<'_> {
    fn prepare(&mut self, _random: &mut Random) {}

    fn leg(&mut self, function: usize, calls: u64) -> u64 {
        let begin = self.clock.start();
        (self.functions[function])(calls);
        self.clock.stop().wrapping_sub(begin)
    }
}

/// Races two targets, each on inputs of the class with the given index, per call.
///
/// Each round has fresh inputs, drawn from the same random numbers for both, in one buffer that both use in turn and that moves from round
/// to round. What [`race`] says of the places of code holds here too.
///
/// # Panics
/// If there are no such classes.
pub fn race_targets(
    a: (&mut Target, usize),
    b: (&mut Target, usize),
    clock: &dyn Clock,
    options: &RaceOptions,
    watch: &mut dyn Watch,
) -> Comparison {
    let names = [a.0.name().to_owned(), b.0.name().to_owned()];
    let most = window::most(a.0).min(window::most(b.0));
    let inputs = [vec![0; a.0.length()], vec![0; b.0.length()]];
    let mut targets = Targets { targets: [a, b], inputs, buffer: window::Buffer::new(), clock };
    let mut comparison = run(&mut targets, most, clock, options, watch);
    [comparison.a.name, comparison.b.name] = names;
    comparison
}

struct Targets<'t> {
    targets: [(&'t mut Target, usize); 2],
    inputs: [Vec<u8>; 2],
    buffer: window::Buffer,
    clock: &'t dyn Clock,
}

impl Duel for Targets<'_> {
    fn prepare(&mut self, random: &mut Random) {
        let seed = random.bits();
        for ((target, class), input) in self.targets.iter_mut().zip(&mut self.inputs) {
            target.fill(*class, &mut Random::new(seed), input);
        }
        self.buffer.relocate(random);
    }

    fn leg(&mut self, function: usize, calls: u64) -> u64 {
        window::ticks(self.targets[function].0, self.clock, &self.inputs[function], &mut self.buffer, calls)
    }
}

/// What was measured so far: per round the ticks of one call, as the mean of both legs, of each lane.
struct Rounds {
    lanes: [Vec<f64>; 3],
    /// The shortest leg of each function, per call.
    least: [f64; 2],
}

impl Rounds {
    fn new() -> Self {
        Self { lanes: Default::default(), least: [f64::INFINITY; 2] }
    }

    fn len(&self) -> usize {
        self.lanes[0].len()
    }

    fn ratios(&self, over: usize, under: usize) -> Vec<f64> {
        self.lanes[over].iter().zip(&self.lanes[under]).map(|(over, under)| (over / under).ln()).collect()
    }
}

fn run(duel: &mut dyn Duel, most: u64, clock: &dyn Clock, options: &RaceOptions, watch: &mut dyn Watch) -> Comparison {
    let mut random = Random::new(options.seed);
    let begin = clock.start();
    let limit = options.limit.as_secs_f64() * clock.hertz();
    let calls = calibrate(duel, most, options.leg.as_secs_f64() * clock.hertz(), &mut random);

    let mut rounds = Rounds::new();
    // The first rounds only show how long one takes; they warm up as well.
    let started = clock.stop();
    while rounds.len() < WARM && (rounds.len() < 1 || since(clock, started) < limit / 20.0) {
        round(duel, calls, &mut rounds, &mut random);
    }
    let each = (since(clock, started) / rounds.len() as f64).max(1.0);
    rounds = Rounds::new();
    let looks = looks((limit / each) as usize);
    let alpha = options.alpha / looks.len() as f64;

    let mut settled = (Interval::default(), options.margin);
    for &look in &looks {
        while rounds.len() < look && (rounds.len() < FEWEST || !(watch.stopped() || since(clock, begin) > limit)) {
            round(duel, calls, &mut rounds, &mut random);
        }
        watch.progress("race", rounds.len() as u64, looks[looks.len() - 1] as u64);
        settled = settle(&rounds, alpha, options.margin);
        let (ratio, margin) = settled;
        // Sure that they differ; or that they do not, with a band that is no excuse for it.
        let decided = outcome(ratio, margin) != Outcome::Same || (margin <= options.margin && inside(ratio, margin));
        if decided || rounds.len() < look {
            break;
        }
    }
    report(rounds, settled, clock)
}

fn since(clock: &dyn Clock, begin: u64) -> f64 {
    clock.stop().wrapping_sub(begin) as f64
}

/// The ratio with its interval, and the margin.
fn settle(rounds: &Rounds, alpha: f64, margin: f64) -> (Interval, f64) {
    let same = sign::interval(&rounds.ratios(2, 0), alpha);
    let ratio = sign::interval(&rounds.ratios(1, 0), alpha);
    let ratio = Interval { lower: ratio.lower.exp(), estimate: ratio.estimate.exp(), upper: ratio.upper.exp() };
    (ratio, margin.max(2.0 * same.reach()))
}

/// Whether the interval lies wholly beyond the margin, and where. A margin is a ratio: half as fast is as far as twice as fast.
pub(crate) fn outcome(ratio: Interval, margin: f64) -> Outcome {
    if ratio.lower > 1.0 + margin {
        Outcome::Slower
    } else if ratio.upper < 1.0 / (1.0 + margin) {
        Outcome::Faster
    } else {
        Outcome::Same
    }
}

fn inside(ratio: Interval, margin: f64) -> bool {
    ratio.upper < 1.0 + margin && ratio.lower > 1.0 / (1.0 + margin)
}

/// The numbers of rounds at which to look: doubling, up to as many as fit into the time.
fn looks(most: usize) -> Vec<usize> {
    let mut looks = vec![most.clamp(FEWEST, MOST)];
    while looks[0] >= 2 * FIRST_LOOK {
        looks.insert(0, looks[0].div_ceil(2));
    }
    looks
}

/// How many calls each function makes in a leg. Functions that take nearly the same get the same number, so that what a leg costs besides
/// its calls falls out; where one takes four times as long as the other, or more, each gets legs of full length.
fn calibrate(duel: &mut dyn Duel, most: u64, leg: f64, random: &mut Random) -> [u64; 2] {
    let mut single = |function| {
        let mut calls = 1_u64;
        loop {
            duel.prepare(random);
            // The second time, everything has been seen once.
            let ticks = duel.leg(function, calls).min(duel.leg(function, calls)).max(1) as f64;
            if ticks >= leg / 4.0 || calls >= most.min(1 << 40) {
                return ticks / calls as f64;
            }
            calls = (calls * 2).min(most);
        }
    };
    let times = [single(0), single(1)];
    let calls = |time: f64| ((leg / time).round() as u64).clamp(1, most);
    if times[0] < 4.0 * times[1] && times[1] < 4.0 * times[0] { [calls((times[0] * times[1]).sqrt()); 2] } else { times.map(calls) }
}

fn round(duel: &mut dyn Duel, calls: [u64; 2], rounds: &mut Rounds, random: &mut Random) {
    let mut order = [0, 1, 2];
    random.shuffle(&mut order);
    duel.prepare(random);
    let mut sums = [0.0; 3];
    for lane in order.into_iter().chain(order.into_iter().rev()) {
        let function = FUNCTION[lane];
        let time = duel.leg(function, calls[function]).max(1) as f64 / calls[function] as f64;
        rounds.least[function] = rounds.least[function].min(time);
        sums[lane] += time / 2.0;
    }
    for (lane, sum) in rounds.lanes.iter_mut().zip(sums) {
        lane.push(sum);
    }
}

fn report(rounds: Rounds, (ratio, margin): (Interval, f64), clock: &dyn Clock) -> Comparison {
    let seconds = 1.0 / clock.hertz();
    let contestant = |lane: usize| Contestant {
        wall: quartiles(&rounds.lanes[lane]).scaled(seconds),
        wall_minimum: rounds.least[lane] * seconds,
        ..Contestant::default()
    };
    Comparison {
        a: contestant(0),
        b: contestant(1),
        ratio,
        margin,
        rounds: rounds.len(),
        outcome: outcome(ratio, margin),
        yardstick: None,
        ratios: rounds.ratios(1, 0).into_iter().map(f64::exp).collect(),
    }
}

/// Lower quartile, median, upper quartile.
pub(crate) fn quartiles(values: &[f64]) -> Interval {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [lower, estimate, upper] = [0.25, 0.5, 0.75].map(|at| quantile(&sorted, at));
    Interval { lower, estimate, upper }
}
