//! The results of a pair when its measurement ends.

use super::MOST_PAIRS;
use crate::record::{Found, Interval, Look, Pair, Verdict};
use crate::timing::judge::{self, Facts};

#[derive(Clone, Debug)]
pub(crate) struct PairOutcome {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// The share of the calls to which the bound applies.
    pub(crate) bound_up_to: f64,
    /// The p-value of the pair, corrected for the number of evaluations.
    pub(crate) p: f64,
    pub(crate) p_holm: f64,
    /// The p-value of the test on fresh data, if this test confirmed a difference.
    pub(crate) confirmed: Option<f64>,
    /// The statistic of the finding.
    pub(crate) found: Option<Found>,
    pub(crate) batches: usize,
    /// The measuring time for each pair in seconds, including the pair's share of the controls.
    pub(crate) seconds_per_pair: f64,
    pub(crate) facts: Facts,
    pub(crate) mde_ns: f64,
    pub(crate) more_pairs: Option<u64>,
    pub(crate) funnel: Vec<Look>,
    pub(crate) series: Vec<f64>,
    pub(crate) autocorrelation: Vec<f64>,
    pub(crate) ecdf: Vec<[f64; 2]>,
    /// The measuring time in seconds.
    pub(crate) seconds: f64,
    pub(crate) processor_seconds: f64,
    /// The difference of each statistic, followed by the difference of the raw mean. Each difference has its own 99 %
    /// interval.
    pub(crate) single: Vec<Option<Interval>>,
    /// The times in which the difference was first found, if the intervals come from a repeated measurement.
    pub(crate) earlier: [Vec<f32>; 2],
    /// All times from which the intervals were computed, if the settings keep these times.
    pub(crate) times: [Vec<f32>; 2],
}

impl PairOutcome {
    pub(crate) fn with_funnel(mut self, funnel: Vec<Look>) -> Self {
        self.funnel = funnel;
        self
    }

    /// Computes the verdict again, for a run that found no difference, from statistics of at most the share `up_to` of
    /// the calls.
    pub(crate) fn rest_on(mut self, up_to: f64) -> Self {
        (self.verdict, self.reason) = judge::verdict(Verdict::NoLeakAbove, String::new(), &self.facts, up_to);
        self.bound_up_to = judge::body(up_to);
        self.with_more(up_to)
    }

    /// Adds to the outcome the estimated number of additional pairs after which an inconclusive outcome would be
    /// decided.
    pub(crate) fn with_more(mut self, up_to: f64) -> Self {
        let open = self.verdict == Verdict::Inconclusive;
        self.more_pairs = open.then(|| judge::more_pairs(&self.facts, up_to)).flatten();
        self
    }

    pub(crate) fn bound(&self) -> f64 {
        judge::bounds(&self.facts, self.bound_up_to)[0]
    }

    /// Returns the record of the pair. `delta_ns` is the threshold.
    pub(crate) fn into_record(self, a: String, b: String, delta_ns: f64) -> Pair {
        let [bound_ns, tail_bound_ns] = judge::bounds(&self.facts, self.bound_up_to);
        // The amount of data doubles from one evaluation to the next.
        let most = MOST_PAIRS as u64 - self.facts.pairs.min(MOST_PAIRS) as u64;
        let has_room = |&more: &u64| more.max(self.facts.pairs as u64) <= most;
        let more_seconds = self.more_pairs.filter(has_room).map(|more| more as f64 * self.seconds_per_pair);
        let mut pair = Pair {
            a,
            b,
            verdict: self.verdict,
            reason: self.reason,
            p: self.p,
            p_holm: self.p_holm,
            confirmed: self.confirmed,
            found: self.found,
            batches: self.batches,
            bound_ns,
            bound_up_to: self.bound_up_to,
            // The second bound must not be smaller than the first bound.
            tail_bound_ns: tail_bound_ns.max(bound_ns),
            effects: self.facts.effects,
            raw_mean: self.facts.raw_mean,
            mde_ns: self.mde_ns,
            more_pairs: self.more_pairs,
            more_seconds,
            controls: self.facts.controls,
            funnel: self.funnel,
            series: self.series,
            autocorrelation: self.autocorrelation,
            ecdf: self.ecdf,
            seconds: self.seconds,
            times: self.times,
            raw: None,
        };
        if pair.reason.is_empty() {
            pair.reason = pair.sentence(delta_ns);
        }
        pair
    }
}
