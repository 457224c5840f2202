//! A temporary driver: `deadpan [part of a target's name] [seed]` times the targets and prints a line for each.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

mod lab;

use deadpan_lab::record::Verdict;
use deadpan_lab::{Silent, clock, timing};
use std::collections::BTreeMap;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let part = arguments.next().unwrap_or_default();
    let seed = arguments.next().and_then(|seed| seed.parse().ok());
    let clock = clock::best();
    let begin = Instant::now();
    for mut target in lab::targets::timing() {
        if !target.name().contains(&part) {
            continue;
        }
        let mut settings = timing::Settings::default();
        settings.seed = seed.unwrap_or(settings.seed);
        let start = Instant::now();
        let report = timing::run(&mut target, &settings, &*clock, &mut Silent);
        let most = |of: fn(&deadpan_lab::record::Pair) -> f64| report.pairs.iter().map(of).fold(0.0, f64::max);
        let middle = report.classes[0].quantiles.iter().find(|quantile| quantile.at == 0.5).map_or(f64::NAN, |quantile| quantile.ns);
        let mut verdicts = BTreeMap::<_, usize>::new();
        for pair in &report.pairs {
            *verdicts.entry(pair.verdict.name()).or_default() += 1;
        }
        println!(
            "{:13} {:28} X {:7.3} tail {:8.3} call {:8.2} ns x{:<3} Δ {:.3} {:5.1} s {verdicts:?}",
            report.verdict.name(),
            report.target,
            most(|pair| pair.bound_ns),
            most(|pair| pair.tail_bound_ns),
            middle,
            report.repeats,
            report.design.delta_ns,
            start.elapsed().as_secs_f64()
        );
        for pair in report.pairs.iter().filter(|pair| pair.verdict != Verdict::NoLeakAbove) {
            println!("    {} {} / {}: {} (batches {})", pair.verdict, pair.a, pair.b, pair.reason, pair.batches);
        }
    }
    println!("{:.1} s in all", begin.elapsed().as_secs_f64());
}
