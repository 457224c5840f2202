//! Describes the measured numbers of a pair in sentences. A sentence claims only what the test and the intervals
//! support.

use super::{Effect, Interval, Pair, Verdict};
use crate::number::{SPACE, count, interval, percent, probability, seconds, span, time};
use crate::plural::plural;

impl Pair {
    /// Describes the result of the pair in one or more sentences. `delta_ns` is the threshold in nanoseconds.
    #[must_use]
    pub fn sentence(&self, delta_ns: f64) -> String {
        spaced(&self.words(delta_ns))
    }

    /// Returns the sentence. Special spaces keep a number and its unit on one line.
    pub(crate) fn words(&self, delta_ns: f64) -> String {
        match self.verdict {
            Verdict::NoLeakAbove => self.none(),
            Verdict::BelowThreshold => format!("{} {}", self.small(delta_ns), self.covered()),
            Verdict::Leak => self.leak(delta_ns),
            Verdict::Inconclusive => format!("{}{}", self.open(delta_ns), self.more()),
            Verdict::Invalid => {
                format!("The run shows nothing about {}: {}", self.both(), stopped(&self.reason))
            }
            Verdict::Unmeasurable => {
                let why = stopped(&self.reason);
                format!("{} cannot be compared: {why}", self.both())
            }
        }
    }

    /// Returns the largest share of the calls to which a bound applies.
    #[must_use]
    pub fn covered_up_to(&self) -> f64 {
        let quantiles = self.effects.iter().filter(|effect| effect.quantile.is_some() || effect.gap_ns.is_some());
        quantiles.map(|effect| effect.up_to.max(effect.quantile.unwrap_or(0.0))).fold(self.bound_up_to, f64::max)
    }

    /// Returns the name and the interval of the difference that best supports the verdict. The function considers only
    /// intervals that exclude zero. If the verdict is a leak, the function considers only intervals that are beyond the
    /// threshold. Of these intervals, the function selects the interval whose estimate is largest relative to its
    /// width. Returns `None` if no interval shows a difference.
    pub(crate) fn shown(&self, delta_ns: f64) -> Option<(&str, &Interval)> {
        let leak = self.verdict == Verdict::Leak;
        let least = if leak { delta_ns.max(0.0) } else { 0.0 };
        // The verdict "below the threshold" applies to most calls, so only statistics of most calls are considered.
        let usual = |effect: &&Effect| leak || effect.up_to <= self.bound_up_to;
        let effects = self.effects.iter().filter(usual).map(|effect| (effect.name.as_str(), &effect.difference));
        let raw = Some(("mean of all calls", &self.raw_mean)).filter(|_| leak);
        let surest = |(_, value): &(&str, &Interval)| value.estimate.abs() / (value.upper - value.lower).max(1e-12);
        effects
            .chain(raw)
            .filter(|(_, value)| value.lower > least || value.upper < -least)
            .max_by(|x, y| surest(x).total_cmp(&surest(y)))
    }

    /// Describes which class is slower, by how much, and in which statistic.
    pub(crate) fn slower(&self, (name, value): (&str, &Interval)) -> String {
        let (slow, fast, value) = if value.estimate < 0.0 {
            let turned = Interval { lower: -value.upper, estimate: -value.estimate, upper: -value.lower };
            (&self.a, &self.b, turned)
        } else {
            (&self.b, &self.a, *value)
        };
        format!("“{slow}” is slower than “{fast}” by {} in the {}", interval(&value), close(name))
    }

    fn both(&self) -> String {
        format!("“{}” and “{}”", self.a, self.b)
    }

    fn leak(&self, delta_ns: f64) -> String {
        let size = match self.shown(delta_ns) {
            Some(shown) if delta_ns > 0.0 => {
                format!("{}, more than the threshold of {}.", self.slower(shown), time(delta_ns))
            }
            Some(shown) => format!("{}.", self.slower(shown)),
            None => format!("{} differ, by an unknown amount.", self.both()),
        };
        format!("{size} {}", self.found())
    }

    /// Describes that the test found a difference. If the test found the difference again in new data, the text
    /// mentions this.
    fn found(&self) -> String {
        let what = self.found.as_ref().map_or_else(
            || "The test found a difference".to_owned(),
            |found| {
                let (more, other) = if found.second { (&self.b, &self.a) } else { (&self.a, &self.b) };
                format!("The test found that “{more}” has {} than “{other}”", close(&found.what))
            },
        );
        let again =
            self.confirmed.map_or_else(String::new, |p| format!(", and again in fresh data (p{SPACE}{})", equals(p)));
        format!("{what} (p{SPACE}{}){again}.", equals(self.p_holm))
    }

    fn small(&self, delta_ns: f64) -> String {
        let size = self.shown(delta_ns).map_or_else(
            || "no interval shows by itself how large it is.".to_owned(),
            |shown| format!("{}.", self.slower(shown)),
        );
        let below =
            format!("For {} of the calls it is below the threshold of {}", percent(self.bound_up_to), time(delta_ns));
        format!("{} {below}: {size}", self.found())
    }

    fn none(&self) -> String {
        format!("No difference between {} was found. {} {}", self.both(), self.covered(), self.detectable())
    }

    /// Describes how much the classes may differ, and for which share of the calls this bound holds.
    fn covered(&self) -> String {
        let most =
            format!("Any difference is at most {} for {} of the calls", time(self.bound_ns), percent(self.bound_up_to));
        let tail = self.covered_up_to();
        let slow = if tail > self.bound_up_to {
            format!(", and at most {} for {}", time(self.tail_bound_ns), percent(tail))
        } else {
            String::new()
        };
        format!("{most}{slow}; differences in fewer calls are not covered.")
    }

    fn detectable(&self) -> String {
        if self.mde_ns.is_finite() && self.mde_ns > 0.0 {
            format!("A shift of all calls by {} would have been found nine times in ten.", time(self.mde_ns))
        } else {
            "The size of a shift that would have been found is not known.".to_owned()
        }
    }

    fn open(&self, delta_ns: f64) -> String {
        // If the test confirmed a difference in new data, all statistics up to the 99 % quantile are relevant.
        let up_to = if self.confirmed.is_some() { 0.99 } else { self.bound_up_to };
        let deciding = self.effects.iter().filter(|effect| effect.up_to <= up_to);
        let over = |effect: &&Effect| effect.difference.reach() / effect.tolerance_ns.max(f64::MIN_POSITIVE);
        let widest = deciding.max_by(|x, y| over(x).total_cmp(&over(y))).map(|effect| {
            let (lowest, highest) = (effect.difference.lower, effect.difference.upper);
            let whole = if lowest >= 0.0 || highest <= 0.0 {
                let size = Interval {
                    lower: lowest.abs().min(highest.abs()),
                    estimate: 0.0,
                    upper: effect.difference.reach(),
                };
                format!("a difference of {}", span(&size))
            } else {
                format!("a difference of up to {}", time(effect.difference.reach()))
            };
            (format!("{whole} in the {}", close(&effect.name)), effect.tolerance_ns)
        });
        let wanted = |tolerance: f64| format!("the threshold there is {}", time(tolerance));
        match (self.confirmed.is_some(), widest) {
            (_, None) => format!("Too little was measured to compare {}.", self.both()),
            (true, Some((may, tolerance))) => format!(
                "{} Whether it exceeds the threshold of {} is open: {may} is possible; {}.",
                self.found(),
                time(delta_ns),
                wanted(tolerance)
            ),
            (false, Some((may, tolerance))) => format!(
                "No difference between {} was found, but {may} is not excluded; {}.",
                self.both(),
                wanted(tolerance)
            ),
        }
    }

    fn more(&self) -> String {
        let Some(pairs) = self.more_pairs.filter(|&pairs| pairs > 0) else { return String::new() };
        let noun = plural(pairs, "pair", "pairs");
        let time = self.more_seconds.map_or_else(
            || "more than a run takes".to_owned(),
            |needed| format!("about {} of measuring", seconds(needed.max(1.0).round())),
        );
        format!(" About {} more {noun} of calls would settle it: {time}.", count(round(pairs)))
    }
}

/// Rounds the number up, to a number with two significant digits, because the number is only an estimate.
fn round(value: u64) -> u64 {
    let unit = 10_u64.pow(value.max(1).ilog10().saturating_sub(1));
    value.div_ceil(unit).saturating_mul(unit)
}

/// Replaces the space in `90 %`, so that the number and the percent sign stay on one line.
fn close(name: &str) -> String {
    name.replace(" %", &format!("{SPACE}%"))
}

/// Returns a text with plain spaces, for a terminal or a file of data.
pub(crate) fn spaced(text: &str) -> String {
    text.replace([SPACE, '\u{202f}'], " ")
}

fn equals(p: f64) -> String {
    let text = probability(p);
    let text = if text.starts_with('<') { text } else { format!("= {text}") };
    text.replace(' ', &SPACE.to_string())
}

/// Adds a period to the end of a reason.
pub(crate) fn stopped(reason: &str) -> String {
    let reason = reason.trim().trim_end_matches('.');
    if reason.is_empty() { "no reason was recorded.".to_owned() } else { format!("{reason}.") }
}

#[cfg(test)]
mod tests;
