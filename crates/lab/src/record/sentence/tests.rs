use super::*;
use crate::record::{Controls, Found};

const DELTA: f64 = 1.0;

/// Creates an effect with the usual tolerance. `up_to` is the quantile of the effect. For a mean, `up_to` is the share
/// of the calls.
fn effect(name: &str, up_to: f64, lower: f64, upper: f64) -> Effect {
    Effect {
        name: name.to_owned(),
        quantile: name.contains("quantile").then_some(up_to),
        up_to,
        gap_ns: name.contains("gap").then_some(96.0),
        difference: Interval { lower, estimate: (lower + upper) / 2.0, upper },
        tolerance_ns: DELTA * (0.05 / (1.0 - up_to)).max(1.0),
    }
}

fn mean(lower: f64, upper: f64) -> Effect {
    effect("mean of the fastest 90 %", 0.9, lower, upper)
}

fn median(lower: f64, upper: f64) -> Effect {
    effect("50 % quantile", 0.5, lower, upper)
}

fn slow(lower: f64, upper: f64) -> Effect {
    effect("99.9 % quantile", 0.999, lower, upper)
}

/// Creates a pair whose bounds are computed from its effects. If `found` is true, the pair also states that new data
/// confirmed the difference.
fn pair(verdict: Verdict, effects: Vec<Effect>) -> Pair {
    let reach = |tail: bool| {
        let part = effects.iter().filter(|effect| (effect.up_to > 0.95) == tail);
        part.map(|effect| effect.difference.reach()).fold(0.0, f64::max)
    };
    let found = matches!(verdict, Verdict::Leak | Verdict::BelowThreshold);
    Pair {
        a: "zeros".to_owned(),
        b: "random".to_owned(),
        verdict,
        reason: String::new(),
        p: 0.00001,
        p_holm: if found { 0.00002 } else { 0.3 },
        confirmed: found.then_some(0.0002),
        found: None,
        batches: 1024,
        bound_ns: reach(false),
        bound_up_to: 0.95,
        tail_bound_ns: reach(true),
        effects,
        raw_mean: Interval { lower: -4.0, estimate: 1.0, upper: 6.0 },
        mde_ns: 0.21,
        more_pairs: None,
        more_seconds: None,
        controls: Controls::default(),
        funnel: Vec::new(),
        series: Vec::new(),
        autocorrelation: Vec::new(),
        ecdf: Vec::new(),
        seconds: 1.0,
        times: Default::default(),
        raw: None,
    }
}

fn rare(pair: Pair) -> Pair {
    let what = "more calls beyond the 99.9 % quantile".to_owned();
    Pair { found: Some(Found { what, second: true }), ..pair }
}

const AGAIN: &str = "The test found a difference (p < 0.0001), and again in fresh data (p = 0.0002).";
const RARE: &str = "The test found that “random” has more calls beyond the 99.9 % quantile than “zeros” (p < 0.0001), \
    and again in fresh data (p = 0.0002).";

#[test]
fn every_form_of_a_sentence_claims_no_more_than_its_numbers() {
    use Verdict::{BelowThreshold, Inconclusive, Invalid, Leak, NoLeakAbove, Unmeasurable};
    let open = |effects| Pair { more_pairs: Some(1_234_567), more_seconds: Some(31.4), ..pair(Inconclusive, effects) };
    let found = |pair| Pair { p_holm: 0.00002, confirmed: Some(0.0002), ..pair };
    let table: Vec<(&str, Pair, f64, String)> = vec![
        (
            "no difference",
            pair(NoLeakAbove, vec![mean(-0.1, 0.2), median(-0.3, 0.1), slow(-12.0, 3.0)]),
            DELTA,
            "No difference between “zeros” and “random” was found. Any difference is at most 0.3 ns for 95 % of the \
             calls, and at most 12 ns for 99.9 %; differences in fewer calls are not covered. A shift of all calls by \
             0.21 ns would have been found nine times in ten."
                .to_owned(),
        ),
        (
            "no difference, for fewer calls and without the tail",
            Pair { bound_up_to: 0.9, mde_ns: f64::NAN, ..pair(NoLeakAbove, vec![mean(-0.1, 0.2)]) },
            DELTA,
            "No difference between “zeros” and “random” was found. Any difference is at most 0.2 ns for 90 % of the \
             calls; differences in fewer calls are not covered. The size of a shift that would have been found is not \
             known."
                .to_owned(),
        ),
        (
            "a difference below the threshold",
            pair(BelowThreshold, vec![mean(0.35, 0.45), median(0.1, 0.5), slow(-1.0, 20.0)]),
            DELTA,
            format!(
                "{AGAIN} For 95 % of the calls it is below the threshold of 1 ns: “random” is slower than “zeros” by \
                 0.4 ns (0.35 to 0.45) in the mean of the fastest 90 %. Any difference is at most 0.5 ns for 95 % of \
                 the calls, and at most 20 ns for 99.9 %; differences in fewer calls are not covered."
            ),
        ),
        (
            "a difference below the threshold that no interval shows",
            rare(pair(BelowThreshold, vec![mean(-0.1, 0.2), slow(-7.0, 800.0)])),
            DELTA,
            format!(
                "{RARE} For 95 % of the calls it is below the threshold of 1 ns: no interval shows by itself how \
                 large it is. Any difference is at most 0.2 ns for 95 % of the calls, and at most 800 ns for 99.9 %; \
                 differences in fewer calls are not covered."
            ),
        ),
        (
            "a leak, the surest of the intervals beyond the threshold",
            pair(Leak, vec![mean(3.9, 4.1), median(0.1, 0.2), slow(0.0, 160.0)]),
            DELTA,
            format!(
                "“random” is slower than “zeros” by 4 ns (3.9 to 4.1) in the mean of the fastest 90 %, more than the \
                 threshold of 1 ns. {AGAIN}"
            ),
        ),
        (
            "a leak of the first class",
            pair(Leak, vec![mean(-4.1, -3.9)]),
            DELTA,
            format!(
                "“zeros” is slower than “random” by 4 ns (3.9 to 4.1) in the mean of the fastest 90 %, more than the \
                 threshold of 1 ns. {AGAIN}"
            ),
        ),
        (
            "a leak in rare calls, whose other intervals lie inside the threshold",
            rare(pair(Leak, vec![mean(0.3, 0.32), median(-0.3, 0.1), slow(13.0, 9516.0)])),
            DELTA,
            format!(
                "“random” is slower than “zeros” by 4.76 µs (0.013 to 9.52) in the 99.9 % quantile, more than the \
                 threshold of 1 ns. {RARE}"
            ),
        ),
        (
            "a leak in the mean of all calls alone",
            Pair {
                raw_mean: Interval { lower: 6.0, estimate: 10.0, upper: 14.0 },
                ..rare(pair(Leak, vec![mean(-0.2, 0.2), slow(-1.0, 9000.0)]))
            },
            DELTA,
            format!(
                "“random” is slower than “zeros” by 10 ns (6 to 14) in the mean of all calls, more than the threshold \
                 of 1 ns. {RARE}"
            ),
        ),
        (
            "a leak in a gap",
            pair(Leak, vec![effect("gap at the 50 % quantile", 0.5, 2.0, 4.0)]),
            DELTA,
            format!(
                "“random” is slower than “zeros” by 3 ns (2 to 4) in the gap at the 50 % quantile, more than the \
                 threshold of 1 ns. {AGAIN}"
            ),
        ),
        (
            "any difference is a leak, and an interval shows it",
            pair(Leak, vec![mean(0.1, 0.3)]),
            0.0,
            format!("“random” is slower than “zeros” by 0.2 ns (0.1 to 0.3) in the mean of the fastest 90 %. {AGAIN}"),
        ),
        (
            "any difference is a leak, and no interval shows it",
            rare(pair(Leak, vec![mean(-0.1, 0.3)])),
            0.0,
            format!("“zeros” and “random” differ, by an unknown amount. {RARE}"),
        ),
        (
            "intervals that are too wide",
            open(vec![mean(-0.5, 4.0), median(-0.3, 0.1)]),
            DELTA,
            "No difference between “zeros” and “random” was found, but a difference of up to 4 ns in the mean of the \
             fastest 90 % is not excluded; the threshold there is 1 ns. About 1 300 000 more pairs of calls would \
             settle it: about 31 s of measuring."
                .to_owned(),
        ),
        (
            "a difference on both sides of the threshold, which no run settles",
            Pair { more_seconds: None, ..found(open(vec![mean(0.5, 1.5), slow(0.0, 99.0)])) },
            DELTA,
            format!(
                "{AGAIN} Whether it exceeds the threshold of 1 ns is open: a difference of 0.5 to 1.5 ns in the mean \
                 of the fastest 90 % is possible; the threshold there is 1 ns. About 1 300 000 more pairs of calls \
                 would settle it: more than a run takes."
            ),
        ),
        (
            "nothing was measured",
            pair(Inconclusive, Vec::new()),
            DELTA,
            "Too little was measured to compare “zeros” and “random”.".to_owned(),
        ),
        (
            "a failed control",
            Pair { reason: "the known leak was not found (p = 0.2)".to_owned(), ..pair(Invalid, Vec::new()) },
            DELTA,
            "The run shows nothing about “zeros” and “random”: the known leak was not found (p = 0.2).".to_owned(),
        ),
        (
            "a fast call",
            pair(Unmeasurable, Vec::new()),
            DELTA,
            "“zeros” and “random” cannot be compared: no reason was recorded.".to_owned(),
        ),
    ];
    for (case, pair, delta, text) in table {
        let sentence = pair.sentence(delta);
        assert_eq!(sentence, text, "{case}");
        // If the verdict is a leak, the whole interval must be beyond the threshold. An interval that contains zero
        // shows no difference.
        if let Some((_, shown)) = pair.shown(delta) {
            assert!(!shown.covers(0.0), "{case}");
            let nearest = shown.lower.abs().min(shown.upper.abs());
            assert!(pair.verdict != Verdict::Leak || nearest > delta, "{case}");
        }
        assert!(!sentence.contains("real difference") && !sentence.to_lowercase().contains("constant"), "{case}");
    }
}

#[test]
fn old_records_without_the_new_fields_still_have_sentences() {
    let mut json = serde_json::to_value(pair(Verdict::Leak, vec![mean(3.9, 4.1)])).unwrap();
    for field in ["found", "more_seconds"] {
        json.as_object_mut().unwrap().remove(field);
    }
    let pair: Pair = serde_json::from_value(json).unwrap();
    assert!(pair.sentence(DELTA).contains("slower than “zeros” by 4 ns"), "{}", pair.sentence(DELTA));
}
