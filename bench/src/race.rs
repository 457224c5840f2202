//! One cell of the benchmark: contestants that do the same work, timed interleaved.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::statistic::{median, minimum};

/// The number of the present round, for loops that exist at several places in the code.
static ROUND: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of the present round, which is the same for all contestants.
pub fn placement() -> usize {
    ROUND.load(Relaxed)
}

/// The time of a turn: far more than reading the clock takes, and far less than a time slice of the scheduler.
const TURN: Duration = Duration::from_micros(25);

/// The timing promise of a contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The crate under test.
    Ours,
    /// A peer that claims to run in constant time.
    ConstantTime,
    /// A peer that does not claim constant time.
    NoPromise,
    /// A contestant that is known to leak: plain operators, branches, early exits.
    Leaks,
    /// Other work of the same size, such as a copy, for comparison.
    Yardstick,
    /// The harness alone: loads and barriers, no call.
    Loop,
}

/// A contestant before its race: its name, and a function that runs a turn of a given number of rounds.
struct Entry<'a> {
    row: String,
    name: String,
    role: Role,
    calls: usize,
    correct: bool,
    turn: Box<dyn FnMut(usize) + 'a>,
}

/// A cell before it is measured.
pub struct Race<'a> {
    section: &'static str,
    cell: String,
    bytes: Option<usize>,
    entries: Vec<Entry<'a>>,
    before_round: Box<dyn FnMut() + 'a>,
}

/// The length of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The intended time of a race.
    pub time: Duration,
    /// The smallest number of rounds.
    pub least: usize,
    /// The largest number of rounds.
    pub most: usize,
}

/// A cell that has been measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The section: ct, base64 or pad.
    pub section: String,
    /// The name of the cell.
    pub cell: String,
    /// Bytes that one call works on, for cells with a throughput.
    pub bytes: Option<usize>,
    /// The number of interleaved rounds.
    pub rounds: usize,
    /// The median ratio of the first contestant to itself, which would be 1 on a quiet machine.
    pub echo: f64,
    /// The contestants, in the order they were entered.
    pub lanes: Vec<Lane>,
}

/// A contestant that has been measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lane {
    /// The variant of the cell. Lanes are compared with ours of the same row. Empty if there is only one row.
    pub row: String,
    /// The name of the contestant.
    pub name: String,
    /// Its timing promise.
    pub role: Role,
    /// Whether its results were right.
    pub correct: bool,
    /// Median time of a call, in nanoseconds.
    pub median: f64,
    /// Shortest time of a call, in nanoseconds.
    pub minimum: f64,
    /// The median over the rounds of our time divided by its time, which is 1 for ours.
    pub ratio: f64,
    /// The time of a call in each round.
    #[serde(skip)]
    pub times: Vec<f64>,
}

impl<'a> Race<'a> {
    /// Makes a cell without contestants. `bytes` is the number of bytes that one call works on, if a throughput is to
    /// be shown.
    pub fn new(section: &'static str, cell: impl Into<String>, bytes: Option<usize>) -> Self {
        Self { section, cell: cell.into(), bytes, entries: Vec::new(), before_round: Box::new(|| ()) }
    }

    /// Sets a function to run before each round, which is not timed.
    pub fn before_round(&mut self, action: impl FnMut() + 'a) {
        self.before_round = Box::new(action);
    }

    /// Adds a contestant. `turn(n)` makes `n * calls` calls; `correct` says that the results were checked and right.
    pub fn enter(&mut self, name: &str, role: Role, calls: usize, correct: bool, turn: impl FnMut(usize) + 'a) {
        self.enter_row("", name, role, calls, correct, turn);
    }

    /// Adds a contestant in one of several rows of the cell. `turn(n)` makes `n * calls` calls; `correct` says that the
    /// results were checked and right.
    pub fn enter_row(
        &mut self,
        row: &str,
        name: &str,
        role: Role,
        calls: usize,
        correct: bool,
        turn: impl FnMut(usize) + 'a,
    ) {
        let (row, name, turn) = (row.to_owned(), name.to_owned(), Box::new(turn));
        self.entries.push(Entry { row, name, role, calls, correct, turn });
    }

    /// Measures all contestants.
    pub fn run(mut self, effort: Effort) -> Outcome {
        let turns: Vec<usize> = self.entries.iter_mut().map(calibrate).collect();
        let round: f64 =
            self.entries.iter_mut().zip(&turns).map(|(entry, &n)| time(entry, n) * (n * entry.calls) as f64).sum();
        let rounds = (effort.time.as_nanos() as f64 / round) as usize;
        let rounds = rounds.clamp(effort.least, effort.most);

        // The last lane is the first contestant again: their difference is noise.
        let echo = self.entries.len();
        let mut times = vec![Vec::with_capacity(rounds); echo + 1];
        let mut order: Vec<usize> = (0..=echo).collect();
        let mut random = Random::new(self.cell.len() as u64);
        for round in 0..rounds {
            ROUND.store(round, Relaxed);
            random.shuffle(&mut order);
            (self.before_round)();
            for &lane in &order {
                let contestant = lane % echo;
                times[lane].push(time(&mut self.entries[contestant], turns[contestant]));
            }
        }
        self.outcome(rounds, times)
    }

    fn outcome(self, rounds: usize, mut times: Vec<Vec<f64>>) -> Outcome {
        let again = times.pop().unwrap_or_default();
        let echo = ratio(&times[0], &again);
        let ours: Vec<usize> = (0..times.len())
            .map(|lane| {
                let same = |entry: &Entry<'_>| entry.role == Role::Ours && entry.row == self.entries[lane].row;
                self.entries.iter().position(same).unwrap_or(lane)
            })
            .collect();
        let ratios: Vec<f64> = ours.iter().enumerate().map(|(lane, &ours)| ratio(&times[ours], &times[lane])).collect();
        let lanes = self.entries.into_iter().zip(times).zip(ratios).map(|((entry, times), ratio)| Lane {
            row: entry.row,
            name: entry.name,
            role: entry.role,
            correct: entry.correct,
            median: median(times.iter().copied()),
            minimum: minimum(times.iter().copied()),
            ratio,
            times,
        });
        let lanes = lanes.collect();
        Outcome { section: self.section.to_owned(), cell: self.cell, bytes: self.bytes, rounds, echo, lanes }
    }
}

impl Outcome {
    /// Returns the lane with this name and row.
    pub fn lane(&self, row: &str, name: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.row == row && lane.name == name)
    }
}

/// Returns the median over the rounds of one time divided by the other.
pub fn ratio(these: &[f64], those: &[f64]) -> f64 {
    median(these.iter().zip(those).map(|(this, that)| this / that))
}

/// Returns the nanoseconds per call of one turn.
fn time(entry: &mut Entry<'_>, turns: usize) -> f64 {
    let start = Instant::now();
    (entry.turn)(turns);
    start.elapsed().as_nanos() as f64 / (turns * entry.calls) as f64
}

/// Returns how often the turn has to be repeated to last [`TURN`]. Also warms up caches and predictors.
fn calibrate(entry: &mut Entry<'_>) -> usize {
    let mut turns = 1;
    loop {
        // The best of three counts, since a turn may be interrupted.
        let best = minimum((0..3).map(|_| time(entry, turns))) * (turns * entry.calls) as f64;
        if best * 4.0 >= TURN.as_nanos() as f64 {
            let wanted = TURN.as_nanos() as f64 / best * turns as f64;
            return (wanted.round() as usize).max(1);
        }
        turns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Effort, Race, Role};

    #[test]
    fn a_race_compares_with_ours_of_the_same_row() {
        let work = |loops: u64| move |turns| (0..turns as u64 * loops).for_each(crate::barrier::Register::sink);
        // Other programs can disturb so many rounds of a race that its ratio is wrong, but not in a hundred races.
        let found = (0..100).any(|_| {
            let mut race = Race::new("ct", "test", None);
            race.enter_row("short", "deadpan", Role::Ours, 1, true, work(1_000));
            race.enter_row("long", "deadpan", Role::Ours, 1, true, work(10_000));
            race.enter_row("long", "peer", Role::NoPromise, 1, true, work(20_000));
            let outcome = race.run(Effort { time: Duration::from_millis(5), least: 31, most: 31 });
            assert_eq!(outcome.rounds, 31);
            assert!(outcome.lane("short", "deadpan").unwrap().ratio == 1.0);
            let peer = outcome.lane("long", "peer").unwrap();
            assert!(peer.minimum <= peer.median);
            (0.3..0.8).contains(&peer.ratio)
        });
        assert!(found, "no race finds that the peer takes twice as long");
    }
}
