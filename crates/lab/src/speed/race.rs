//! Compares the speed of two functions, which run alternately in the same rounds.
//!
//! Each round runs three lanes (series of calls) in a random order and then in the reverse order, such as `A B C C B A`
//! or `B C A A C B`. Lanes A and C run the first function, and lane B runs the second function. In a round, each lane
//! (a series of calls) runs twice, symmetrically around the middle, so a steady change of the machine's speed cancels
//! in the ratios of the lanes. The order is random. If two lanes run the same function, each of them is equally likely
//! to be faster, with any kind of noise. The ratio of C to A shows how much the time of equal code varies on this
//! machine. The race reports a difference only if it is more than twice this variation. The race reports two functions
//! as the same only if this variation is inside the margin.

use std::time::Duration;

use crate::clock::Clock;
use crate::distribution::quantile;
use crate::random::Random;
use crate::record::{Comparison, Contestant, Interval, Outcome};
use crate::speed::verdict::Evidence;
use crate::speed::{sign, window};
use crate::target::Target;
use crate::target::buffer::Buffer;
use crate::watch::Watch;

/// Settings for a race.
#[derive(Clone, Copy, Debug)]
pub struct RaceOptions {
    /// The approximate duration of a leg. A leg is one timed series of calls. This time must be far longer than a
    /// reading of the clock, and far shorter than a time slice of the scheduler.
    pub leg: Duration,
    /// The race ends after this time, even if the outcome is inconclusive.
    pub limit: Duration,
    /// If the whole interval of the ratio differs from one by at most this margin, the functions are reported as
    /// equally fast.
    pub margin: f64,
    /// The probability that the interval does not contain the true ratio, over all evaluations of the data.
    pub alpha: f64,
    /// The seed for the inputs and for the order of the lanes.
    pub seed: u64,
}

impl Default for RaceOptions {
    fn default() -> Self {
        Self { leg: Duration::from_micros(60), limit: Duration::from_secs(1), margin: 0.005, alpha: 0.01, seed: 1 }
    }
}

/// The race evaluates the data for the first time after at least this number of rounds.
const FIRST_LOOK: usize = 128;

/// Minimum number of rounds. The number is large enough for computing an interval. These rounds run even if the time is
/// over or `watch` stops the race.
const FEWEST: usize = 12;

/// Number of warm-up rounds.
const WARM: usize = 8;

/// Maximum number of rounds.
const MOST: usize = 1 << 16;

/// The function that each lane (a series of calls) runs: lanes A and C run the first function, and lane B runs the
/// second function.
const FUNCTION: [usize; 3] = [0, 1, 0];

/// The operations of the two functions that a race uses.
trait Duel {
    /// Prepares a round. Not timed.
    fn prepare(&mut self, random: &mut Random);

    /// Makes `calls` calls of the first or the second function and returns the ticks.
    fn leg(&mut self, function: usize, calls: u64) -> u64;
}

/// Races two functions. The argument of each function is the number of times that it must do its work.
///
/// The caller should prepare the data that both functions need, and use the same memory for both. The race calls `a`
/// twice as often as `b`. The code of the two functions has different addresses. The addresses alone can make the times
/// of *identical* code differ, in the worst case by a third. If a small difference matters, call one function with two
/// different arguments, or compare the results of several builds.
///
/// In the result, the names of the two functions are empty. The caller sets the names.
///
/// ```
/// use std::hint::black_box;
///
/// use deadpan_lab::{Silent, clock, speed};
///
/// fn work(steps: u64) -> u64 {
///     (0..steps).fold(1, |sum, step| black_box(sum ^ step))
/// }
/// let mut less = |iterations| (0..iterations).for_each(|_| drop(black_box(work(1000))));
/// let mut more = |iterations| (0..iterations).for_each(|_| drop(black_box(work(1500))));
/// let options = speed::RaceOptions::default();
/// let comparison = speed::race(&mut less, &mut more, &*clock::best(), &options, &mut Silent);
/// println!("{:?}: {} × the time", comparison.outcome, comparison.ratio.estimate);
/// ```
pub fn race(
    a: &mut dyn FnMut(u64),
    b: &mut dyn FnMut(u64),
    clock: &dyn Clock,
    options: &RaceOptions,
    watch: &mut dyn Watch,
) -> Comparison {
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

/// Races two targets. The inputs of each target come from the class with the given index. The result has times per
/// call.
///
/// Each round has fresh inputs. The inputs of both targets come from the same random numbers. Both targets use the same
/// buffer in turn. The buffer moves between rounds. The code of the two functions has different addresses. The
/// addresses alone can make the times of identical code differ, in the worst case by a third.
///
/// # Panics
/// Panics if a target has no class with the given index.
pub fn race_targets(
    a: (&mut Target, usize),
    b: (&mut Target, usize),
    clock: &dyn Clock,
    options: &RaceOptions,
    watch: &mut dyn Watch,
) -> Comparison {
    let names = [a.0.name().to_owned(), b.0.name().to_owned()];
    let most = window::most(a.0, a.1).min(window::most(b.0, b.1));
    let inputs = [vec![0; a.0.length()], vec![0; b.0.length()]];
    let mut targets = Targets { targets: [a, b], inputs, buffer: Buffer::new(), clock };
    let mut comparison = run(&mut targets, most, clock, options, watch);
    [comparison.a.name, comparison.b.name] = names;
    comparison
}

struct Targets<'t> {
    targets: [(&'t mut Target, usize); 2],
    inputs: [Vec<u8>; 2],
    buffer: Buffer,
    clock: &'t dyn Clock,
}

impl Duel for Targets<'_> {
    fn prepare(&mut self, random: &mut Random) {
        let seed = random.bits();
        for ((target, class), input) in self.targets.iter_mut().zip(&mut self.inputs) {
            target.fill(*class, &mut Random::new(seed), input);
        }
        self.buffer.relocate(Buffer::LINE, random);
    }

    fn leg(&mut self, function: usize, calls: u64) -> u64 {
        window::ticks(self.targets[function].0, self.clock, &self.inputs[function], &mut self.buffer, calls)
    }
}

/// The measurements so far. For each round and lane, `lanes` contains the ticks of one call, averaged over two legs
/// (timed series of calls).
struct Rounds {
    lanes: [Vec<f64>; 3],
    /// For each function, the ticks of one call in the shortest timed series of calls.
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
    // The first rounds warm up the machine and show how long a round takes.
    let started = clock.stop();
    while rounds.len() < WARM && (rounds.len() < 1 || since(clock, started) < limit / 20.0) {
        round(duel, calls, &mut rounds, &mut random);
    }
    let each = (since(clock, started) / rounds.len() as f64).max(1.0);
    rounds = Rounds::new();
    let looks = looks((limit / each) as usize);
    let alpha = options.alpha / looks.len() as f64;

    let mut settled = Evidence::default();
    for &look in &looks {
        while rounds.len() < look && (rounds.len() < FEWEST || !(watch.stopped() || since(clock, begin) > limit)) {
            round(duel, calls, &mut rounds, &mut random);
        }
        watch.progress("race", rounds.len() as u64, looks[looks.len() - 1] as u64);
        settled = settle(&rounds, alpha, options.margin);
        if settled.outcome() != Outcome::Inconclusive || rounds.len() < look {
            break;
        }
    }
    report(rounds, settled, clock)
}

fn since(clock: &dyn Clock, begin: u64) -> f64 {
    clock.stop().wrapping_sub(begin) as f64
}

/// Returns the ratio with its interval, and the noise. The noise is the difference between the two lanes that run the
/// first function.
fn settle(rounds: &Rounds, alpha: f64, margin: f64) -> Evidence {
    let same = sign::interval(&rounds.ratios(2, 0), alpha);
    let ratio = sign::interval(&rounds.ratios(1, 0), alpha);
    let ratio = Interval { lower: ratio.lower.exp(), estimate: ratio.estimate.exp(), upper: ratio.upper.exp() };
    Evidence { ratio, noise: same.reach(), margin }
}

/// Returns the numbers of rounds at which the race evaluates the data. Each number is twice the previous number. The
/// last number is the number of rounds that fit into the time.
fn looks(most: usize) -> Vec<usize> {
    let mut looks = vec![most.clamp(FEWEST, MOST)];
    while looks[0] >= 2 * FIRST_LOOK {
        looks.insert(0, looks[0].div_ceil(2));
    }
    looks
}

/// Returns the number of calls in a leg (a timed series of calls), for each function. Functions with similar times make
/// the same number of calls, so that the constant time of a timed series of calls cancels in the ratio. If one function
/// takes at least four times as long as the other, each function makes as many calls as fit into the intended time of a
/// series.
fn calibrate(duel: &mut dyn Duel, most: u64, leg: f64, random: &mut Random) -> [u64; 2] {
    let mut single = |function| {
        let mut calls = 1_u64;
        loop {
            duel.prepare(random);
            // The code uses the shorter time of two timed series of calls, because the caches are warm in the second
            // series.
            let ticks = duel.leg(function, calls).min(duel.leg(function, calls)).max(1) as f64;
            if ticks >= leg / 4.0 || calls >= most.min(1 << 40) {
                return ticks / calls as f64;
            }
            calls = (calls * 2).min(most);
        }
    };
    let times = [single(0), single(1)];
    let calls = |time: f64| ((leg / time).round() as u64).clamp(1, most);
    if times[0] < 4.0 * times[1] && times[1] < 4.0 * times[0] {
        [calls((times[0] * times[1]).sqrt()); 2]
    } else {
        times.map(calls)
    }
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

fn report(rounds: Rounds, evidence: Evidence, clock: &dyn Clock) -> Comparison {
    let seconds = 1.0 / clock.hertz();
    let contestant = |lane: usize| Contestant {
        wall: quartiles(&rounds.lanes[lane]).scaled(seconds),
        wall_minimum: rounds.least[lane] * seconds,
        ..Contestant::default()
    };
    Comparison {
        a: contestant(0),
        b: contestant(1),
        ratio: evidence.ratio,
        margin: evidence.margin,
        noise: evidence.noise,
        rounds: rounds.len(),
        outcome: evidence.outcome(),
        further_rounds: evidence.further(rounds.len()),
        yardstick: None,
        ratios: rounds.ratios(1, 0).into_iter().map(f64::exp).collect(),
    }
}

pub(crate) fn quartiles(values: &[f64]) -> Interval {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [lower, estimate, upper] = [0.25, 0.5, 0.75].map(|at| quantile(&sorted, at));
    Interval { lower, estimate, upper }
}
