use super::*;
use crate::record::{Control, Controls, Design, Effect, Interval, Quantile, VariableLatency};

fn spaced(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ")
}

fn sample(verdict: Verdict) -> Pair {
    let effect = |name: &str, quantile, estimate| Effect {
        name: name.into(),
        quantile,
        up_to: quantile.unwrap_or(0.9),
        gap_ns: None,
        difference: Interval { lower: estimate - 0.2, estimate, upper: estimate + 0.2 },
        tolerance_ns: 0.5,
    };
    Pair {
        a: "zeros".into(),
        b: "random".into(),
        verdict,
        reason: "the control for one class against itself fired".into(),
        p: 0.00001,
        p_holm: 0.00002,
        confirmed: Some(0.000_2),
        found: None,
        batches: 1024,
        effects: vec![
            effect("mean of the fastest 90 %", None, 4.0),
            effect("p50", Some(0.5), 6.25),
            effect("99.9 % quantile", Some(0.999), 80.0),
        ],
        raw_mean: Interval::default(),
        bound_ns: 0.3,
        bound_up_to: 0.95,
        tail_bound_ns: 12.0,
        mde_ns: 0.21,
        more_pairs: Some(1_200_000),
        more_seconds: Some(31.4),
        controls: Controls::default(),
        funnel: vec![],
        series: vec![],
        autocorrelation: vec![],
        ecdf: vec![],
        times: Default::default(),
        raw: None,
        seconds: 1.0,
    }
}

fn timing(verdicts: &[Verdict]) -> Timing {
    let class = |name: &str, ns: f64| Class {
        name: name.into(),
        samples: 1000,
        quantiles: vec![Quantile { at: 0.5, ns }],
        histogram: Default::default(),
        estimates: None,
    };
    Timing {
        target: "base64.encoding".into(),
        length: 64,
        repeats: 1,
        design: Design { delta_ns: 0.5, alpha: 0.01, pairs_per_batch: 256, looks: vec![16, 32, 64], seed: 7 },
        classes: vec![class("zeros", 41.2), class("ones", 41.3), class("random", 41.5)],
        pairs: verdicts.iter().map(|verdict| sample(*verdict)).collect(),
        trace: None,
        verdict: verdicts.iter().copied().max().unwrap(),
    }
}

#[test]
fn a_tally_counts_pairs_and_traces_the_worst_first() {
    let trace =
        |equal, skipped: Option<&str>| Some(Trace { equal, skipped: skipped.map(str::to_owned), ..Trace::default() });
    let mut timings = [
        timing(&[Verdict::NoLeakAbove; 2]),
        timing(&[Verdict::Leak, Verdict::NoLeakAbove]),
        timing(&[Verdict::Inconclusive]),
    ];
    assert_eq!(tally(&timings), "3 targets, 5 pairs of classes: 1 LEAK, 1 INCONCLUSIVE, 3 NO_LEAK_ABOVE.");
    (timings[0].trace, timings[1].trace, timings[2].trace) =
        (trace(true, None), trace(false, None), trace(false, Some("not here")));
    assert!(tally(&timings).ends_with(" The traces of 1 target are equal, those of 1 differ."), "{}", tally(&timings));
}

#[test]
fn only_the_label_of_no_leak_above_has_a_bound() {
    assert_eq!(spaced(&label(Verdict::NoLeakAbove, Some(0.3))), "NO_LEAK_ABOVE(0.3 ns)");
    assert_eq!(label(Verdict::Leak, Some(0.3)), "LEAK");
}

#[test]
fn targets_sum_up_their_pairs() {
    use Verdict::{Invalid, Leak, NoLeakAbove};
    assert_eq!(
        spaced(&target(&timing(&[NoLeakAbove; 3]))),
        "The calls of all classes take 41.2 to 41.5 ns (medians). No pair differs by more than 0.3 ns for \
         95 % of the calls, while a shift of 0.21 ns would have been found nine times in ten."
    );
    let text = target(&timing(&[NoLeakAbove, Leak, NoLeakAbove]));
    assert!(text.starts_with("1 of 3 pairs of classes has this verdict."), "{text}");
    assert!(target(&timing(&[Leak, Leak])).starts_with("All 2 pairs of classes have this verdict."));
    assert!(
        classes(&timing(&[NoLeakAbove, NoLeakAbove, NoLeakAbove, Invalid]))
            .contains("None of the 3 pairs that could be judged")
    );
}

#[test]
fn a_trace_is_described_by_its_instruction_sets_and_slow_instructions() {
    let equal = Trace {
        secrets: 8,
        instructions: 1234,
        equal: true,
        instruction_sets: vec!["VAES".into(), "AVX512".into()],
        ..Trace::default()
    };
    assert_eq!(
        spaced(&trace(&equal)),
        "The traces of 8 inputs are equal: 1234 instructions, the same addresses of code and data in \
         the same order. The code executed VAES and AVX512 instructions. No executed instruction has a time that \
         depends on its operands."
    );
    let slow = VariableLatency { instruction: "div".into(), place: "tag.rs:7".into(), count: 3, secret: true };
    let parted =
        Trace { secrets: 8, divergence: Some("tag.rs:12".into()), variable_latency: vec![slow], ..Trace::default() };
    let text = trace(&parted);
    assert!(
        text.contains("are not all equal: tag.rs:12.")
            && text.contains("div ran 3 times at tag.rs:7; its operands differ"),
        "{text}"
    );
    assert_eq!(
        trace(&Trace { skipped: Some("not x86-64.".into()), ..Trace::default() }),
        "There is no trace: not x86-64."
    );
}

#[test]
fn counts_agree_with_their_nouns() {
    let one = Trace { secrets: 1, instructions: 1, equal: true, ..Trace::default() };
    assert!(trace(&one).contains("of 1 input are equal: 1 instruction,"), "{}", trace(&one));
    let mut small = timing(&[Verdict::NoLeakAbove]);
    small.length = 1;
    small.design = Design { pairs_per_batch: 1, looks: vec![1], ..Design::default() };
    let text = design(&small);
    assert!(text.starts_with("Input of 1 byte. Batches of 1 pair, looked at after 1 batch;"), "{text}");
}

#[test]
fn failed_controls_are_named() {
    let good = Control { passed: true, meant_ns: 2.0, ..Control::default() };
    let mut one = sample(Verdict::NoLeakAbove);
    one.controls = Controls { same: good.clone(), delay: good.clone(), leak: good.clone() };
    assert!(controls(&one).starts_with("The controls passed"));
    one.controls.same.passed = false;
    one.controls.leak.passed = false;
    assert_eq!(
        controls(&one),
        "The controls failed: a difference between one class and itself was found and a known leak was missed."
    );
}

#[test]
fn no_sentence_claims_constant_time_or_security() {
    for verdict in Verdict::ALL {
        let text = format!("{}{}{}", sample(verdict).words(0.5), meaning(verdict), label(verdict, None)).to_lowercase();
        assert!(
            !text.contains("constant-time") && !text.contains("constant time") && !text.contains("secure"),
            "{text}"
        );
    }
}
