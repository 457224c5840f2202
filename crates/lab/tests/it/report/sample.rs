//! Invented records of realistic size, with every verdict and every kind of result.

use deadpan_lab::record::*;

/// A random number generator that gives the same numbers in each run.
pub struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn call(&mut self, center: f64) -> f64 {
        let slow = if self.unit() < 0.03 { 6.0 * -self.unit().ln() } else { 0.0 };
        let other = if self.unit() < 0.25 { 0.9 } else { 0.0 };
        center + other + 0.25 * self.normal() + slow
    }
}

const CUTS: [f64; 11] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];

fn around(estimate: f64, half: f64) -> Interval {
    Interval { lower: estimate - half, estimate, upper: estimate + half }
}

fn estimates(dice: &mut Dice, ns: f64, step: f64) -> Estimates {
    let points = (1..=100)
        .map(|calls| f64::from(calls) * step)
        .map(|calls| [calls, calls * ns * (1.0 + 0.012 * dice.normal().abs())])
        .collect();
    Estimates {
        slope: around(ns * 1.008, ns * 0.002),
        mean: around(ns * 1.011, ns * 0.004),
        median: around(ns * 1.006, ns * 0.001),
        mad: around(ns * 0.006, ns * 0.001),
        r_squared: 0.9987,
        outliers: 3,
        warm_up_seconds: 0.5,
        points,
    }
}

fn class(dice: &mut Dice, name: &str, center: f64) -> Class {
    let mut calls: Vec<f64> = (0..4000).map(|_| dice.call(center)).collect();
    calls.sort_by(f64::total_cmp);
    let at = |share: f64| calls[((calls.len() - 1) as f64 * share) as usize];
    let quantiles = [0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.999]
        .map(|share| Quantile { at: share, ns: at(share) });
    let (start_ns, end) = (at(0.001), at(0.99));
    let step_ns = (end - start_ns) / 80.0;
    let mut counts = vec![0; 80];
    for call in &calls {
        if let Some(count) = counts.get_mut(((call - start_ns) / step_ns) as usize).filter(|_| *call >= start_ns) {
            *count += 1;
        }
    }
    let estimates = Some(estimates(dice, center, 1000.0));
    Class {
        name: name.into(),
        samples: 4000,
        quantiles: quantiles.to_vec(),
        histogram: Histogram { start_ns, step_ns, counts },
        estimates,
    }
}

fn controls(passed: bool) -> Controls {
    let control = |p, meant_ns, passed| Control { p, difference: around(meant_ns, 0.09), passed, meant_ns };
    Controls {
        same: control(0.42, 0.0, passed),
        delay: control(0.000_01, 1.0, true),
        leak: control(0.000_01, 0.0, true),
    }
}

fn pair(dice: &mut Dice, names: [&str; 2], verdict: Verdict, shift: f64, wide: f64) -> Pair {
    let difference = |dice: &mut Dice, at: f64| {
        let half = wide * (0.05 + 0.01 / (1.0 - at) + 0.002 / at);
        around(shift * (0.6 + 0.4 * at) + half * 0.3 * dice.normal(), half)
    };
    let mut effects: Vec<Effect> = [("mean of the fastest 90 %", 0.6, 0.9), ("mean of the fastest 99 %", 0.9, 0.99)]
        .map(|(name, at, up_to)| Effect {
            name: name.into(),
            quantile: None,
            up_to,
            gap_ns: None,
            difference: difference(dice, at),
            tolerance_ns: 0.5,
        })
        .to_vec();
    effects.extend(CUTS.map(|at| Effect {
        name: format!("{} % quantile", at * 100.0),
        quantile: Some(at),
        up_to: at,
        gap_ns: None,
        difference: difference(dice, at),
        tolerance_ns: 0.5 * (0.05 / (1.0 - at)).max(1.0),
    }));
    let funnel = (0..7).map(|look| 16usize << look).map(|batches| Look {
        batches,
        p: 0.3,
        difference: around(shift * 0.8, wide / (batches as f64).sqrt()),
    });
    let found = matches!(verdict, Verdict::Leak | Verdict::BelowThreshold);
    Pair {
        a: names[0].into(),
        b: names[1].into(),
        verdict,
        reason: if verdict == Verdict::Invalid {
            "one class against itself was found (p = 0.0004)".into()
        } else {
            String::new()
        },
        p: if found { 0.000_01 } else { 0.31 },
        p_holm: if found { 0.000_04 } else { 1.0 },
        confirmed: found.then_some(0.000_2),
        found: None,
        batches: 1024,
        raw_mean: around(shift, 4.0 * wide),
        bound_ns: shift.abs() + 0.25 * wide,
        bound_up_to: 0.95,
        tail_bound_ns: shift.abs() + 11.0 * wide,
        mde_ns: 0.18 * wide,
        more_pairs: (verdict == Verdict::Inconclusive).then_some(2_400_000),
        more_seconds: (verdict == Verdict::Inconclusive).then_some(41.0),
        controls: controls(verdict != Verdict::Invalid),
        funnel: funnel.collect(),
        series: (0..512).map(|_| shift * 0.8 + 0.4 * wide * dice.normal()).collect(),
        autocorrelation: (1..=30).map(|lag| 0.8 * (-f64::from(lag) / 9.0).exp() + 0.02 * dice.normal()).collect(),
        ecdf: (0..120)
            .map(|step| 40.0 + f64::from(step) * 0.05)
            .map(|ns| [ns, -shift * 0.05 * (-(ns - 41.5f64).powi(2)).exp() + 0.0006 * dice.normal()])
            .collect(),
        effects,
        times: Default::default(),
        raw: Some("base64.encoding.0.times".into()),
        seconds: 2.6,
    }
}

fn trace(equal: bool) -> Trace {
    Trace {
        secrets: 8,
        instructions: 1873,
        equal,
        divergence: (!equal).then(|| "tag.rs:41, in deadpan_ct::early_exit".into()),
        variable_latency: if equal {
            vec![]
        } else {
            vec![VariableLatency { instruction: "div".into(), place: "tag.rs:44".into(), count: 12, secret: true }]
        },
        instruction_sets: vec!["AVX512".into(), "VAES".into()],
        skipped: None,
        masked: Vec::new(),
        unoptimized: None,
        notes: Vec::new(),
        recorded: 9 * 1873,
        seconds: 0.01,
    }
}

fn timing(dice: &mut Dice, target: &str, classes: &[&str], verdict: Verdict, shift: f64, wide: f64) -> Timing {
    let shown = classes
        .iter()
        .enumerate()
        .map(|(index, name)| class(dice, name, 41.2 + if index == 1 { shift } else { 0.02 * index as f64 }))
        .collect();
    let mut pairs = Vec::new();
    for (index, a) in classes.iter().enumerate() {
        for b in &classes[index + 1..] {
            let first = pairs.is_empty();
            let usual = if verdict == Verdict::Invalid { verdict } else { Verdict::NoLeakAbove };
            pairs.push(pair(
                dice,
                [a, b],
                if first { verdict } else { usual },
                if first { shift } else { 0.01 },
                if first { wide } else { 1.0 },
            ));
        }
    }
    pairs.truncate(10);
    Timing {
        target: target.into(),
        length: 64,
        repeats: 4,
        design: Design {
            pairs_per_batch: 256,
            looks: (0..7).map(|look| 16 << look).collect(),
            alpha: 0.01,
            delta_ns: 0.5,
            seed: 20_260_104,
        },
        classes: shown,
        pairs,
        trace: Some(trace(verdict != Verdict::Leak)),
        verdict,
    }
}

const LETTERS: [&str; 5] = ["uppercase", "lowercase", "digits", "plus and slash", "random"];
const MANY: [&str; 15] = [
    "random",
    "zeros",
    "ones",
    "one bit",
    "all bits",
    "ascending",
    "descending",
    "uppercase",
    "lowercase",
    "digits",
    "first byte wrong",
    "last byte wrong",
    "every byte wrong",
    "valid padding",
    "<script>alert(1)</script>",
];

fn speed(dice: &mut Dice, target: &str, (size, bytes): (&str, u64), rate: f64, outcome: Option<Outcome>) -> Speed {
    let ns = bytes as f64 / rate * 1e9;
    let ratio = match outcome {
        Some(Outcome::Faster) => 0.93,
        Some(Outcome::Slower) => 1.06,
        _ => 1.001,
    };
    Speed {
        target: target.into(),
        size: size.into(),
        bytes,
        estimates: estimates(dice, ns, 20.0),
        bytes_per_second: around(rate, rate * 0.02),
        change: outcome.map(|outcome| Change {
            since: "2026-01-02T10:00:00Z".into(),
            ratio: around(ratio, 0.004),
            p: 0.0004,
            margin: 0.005,
            outcome,
        }),
        yardstick: Some(Yardstick { name: "memcpy".into(), ratio: around(24e9 / rate, 0.1) }),
    }
}

fn comparison(dice: &mut Dice, outcome: Outcome, ratio: f64) -> Comparison {
    let side = |name: &str, wall: f64| Contestant {
        name: name.into(),
        wall: around(wall, wall * 0.02),
        wall_minimum: wall * 0.97,
        user: Some(around(wall * 0.4, wall * 0.01)),
        system: Some(around(wall * 0.5, wall * 0.01)),
        peak_memory: Some(3_400_000),
        bytes_per_second: Some(1.0e9 / wall),
        ..Contestant::default()
    };
    Comparison {
        a: side("base64 --wrap=0 big.bin", 0.61),
        b: side("deadpan base64 big.bin", 0.61 * ratio),
        ratio: around(ratio, 0.004),
        margin: 0.005,
        noise: 0.002,
        rounds: 60,
        outcome,
        further_rounds: None,
        yardstick: Some(side("cp big.bin copy.bin", 0.3)),
        ratios: (0..60).map(|_| ratio + 0.012 * dice.normal()).collect(),
    }
}

fn calibration() -> Calibration {
    let level = |cost_ns: f64, rejected: u64, scale: f64| CalibrationLevel {
        cost_ns,
        runs: 1000,
        rejected,
        leaks: 0,
        rate: Interval {
            lower: rejected as f64 / 5000.0,
            estimate: rejected as f64 / 1000.0,
            upper: rejected as f64 / 333.0,
        },
        power: [0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
            .map(|delay| {
                let rate: f64 = 1.0 / (1.0 + (0.2 * scale / delay).powi(4));
                let found = (rate * 200.0) as u64;
                let rate = Interval {
                    lower: (rate - 0.06).max(0.0),
                    estimate: found as f64 / 200.0,
                    upper: (rate + 0.06).min(1.0),
                };
                Power { delay_ns: delay, runs: 200, found, rate }
            })
            .to_vec(),
    };
    Calibration {
        started: "2026-01-03T08:00:00Z".into(),
        cpu: "A made-up processor at 2.1 GHz".into(),
        binary_sha256: Some("3f".repeat(32)),
        alpha: 0.01,
        levels: vec![level(40.0, 3, 0.7), level(400.0, 7, 1.4), level(4000.0, 5, 3.0)],
    }
}

fn selftest() -> Vec<Check> {
    let check = |what: &str, runs, found, wanted: &str, passed| Check {
        what: what.into(),
        runs,
        found,
        rate: Interval {
            lower: 0.001,
            estimate: if runs == 0 { 0.0 } else { found as f64 / runs as f64 },
            upper: 0.018,
        },
        wanted: wanted.into(),
        detail: if runs == 0 { "no hardware clock here".into() } else { String::new() },
        passed,
    };
    vec![
        check("A function against itself is called a leak", 300, 2, "at most 1.5 %", Some(true)),
        check("An early-exit comparison is found", 100, 97, "at least 99 %", Some(false)),
        check("The counter of the processor is read", 0, 0, "always", None),
    ]
}

pub fn bare() -> Record {
    Record {
        schema_version: SCHEMA_VERSION,
        tool: Tool {
            name: "deadpan-lab".into(),
            version: "0.1.0".into(),
            revision: Some("b01a908".into()),
            binary_sha256: Some("9a0c".repeat(16)),
        },
        machine: Machine {
            cpu: "A made-up processor at 2.1 GHz, family 6, model 143".into(),
            architecture: "x86_64".into(),
            system: "Linux 6.1".into(),
            processors: 2,
            hypervisor: Some("KVM".into()),
            load: Some(0.42),
            clock: ClockFacts { name: "rdtsc".into(), hertz: 2.1e9, step_ns: 0.952, overhead_ns: 14.3 },
        },
        started: "2026-01-04T12:34:56Z".into(),
        seconds: 754.0,
        command: "cargo bench --bench lab -- --alpha 0.01".into(),
        ..Record::default()
    }
}

pub fn full() -> Record {
    let dice = &mut Dice(7);
    let mut record = bare();
    record.timing = vec![
        timing(dice, "base64.encoding", &LETTERS, Verdict::NoLeakAbove, 0.02, 1.0),
        timing(dice, "ct.early_exit", &["first byte wrong", "last byte wrong"], Verdict::Leak, 6.2, 1.2),
        timing(dice, "pad.unpad", &MANY, Verdict::BelowThreshold, 0.3, 0.6),
        timing(dice, "base64.decoding", &LETTERS, Verdict::Inconclusive, 0.1, 5.0),
        timing(dice, "pad.length", &["zeros", "random", "one & only"], Verdict::Invalid, 0.8, 2.0),
        timing(dice, "ct.select", &["zeros", "random"], Verdict::Unmeasurable, 0.0, 0.3),
    ];
    record.timing[0].trace.as_mut().unwrap().instruction_sets.clear();
    record.timing[5].trace =
        Some(Trace { skipped: Some("the machine does not let a process step itself".into()), ..Trace::default() });
    for (target, rate) in [("base64.encoding", 16.3e9), ("base64.decoding", 11.2e9), ("pad.unpad", 22.0e9)] {
        for (index, size) in [("64 B", 64), ("16 KiB", 16384), ("1 MiB", 1 << 20)].into_iter().enumerate() {
            let outcome =
                [None, Some(Outcome::Same), Some(if rate > 2e10 { Outcome::Slower } else { Outcome::Faster })][index];
            record.speed.push(speed(dice, target, size, rate * [0.2, 1.0, 0.8][index], outcome));
        }
    }
    record.comparisons = vec![
        comparison(dice, Outcome::Faster, 0.31),
        comparison(dice, Outcome::Same, 1.001),
        comparison(dice, Outcome::Slower, 1.04),
    ];
    record.baselines = [("memcpy", "bytes", 24.1e9), ("file read", "bytes", 3.2e9), ("integer", "operations", 8.1e9)]
        .map(|(name, unit, rate)| Baseline { name: name.into(), rate: around(rate, rate * 0.01), unit: unit.into() })
        .to_vec();
    record.calibration = Some(calibration());
    record.selftest = selftest();
    record
}

/// Returns a record with about the same number of targets as this project.
pub fn large() -> Record {
    let dice = &mut Dice(11);
    let mut record = bare();
    record.timing = (0..90)
        .map(|index| timing(dice, &format!("base64.part{index}.encoding"), &LETTERS, Verdict::NoLeakAbove, 0.02, 1.0))
        .collect();
    record
}

/// Returns the records of eight earlier runs with the same targets.
pub fn earlier() -> Vec<Record> {
    let dice = &mut Dice(5);
    (1..=8)
        .map(|day| {
            let mut record = full();
            record.started = format!("2025-12-{:02}T12:00:00Z", 10 + day);
            for baseline in &mut record.baselines {
                baseline.rate = baseline.rate.scaled(1.0 + 0.02 * dice.normal());
            }
            for speed in &mut record.speed {
                speed.bytes_per_second = speed.bytes_per_second.scaled(1.0 + 0.02 * dice.normal());
            }
            record
        })
        .collect()
}
