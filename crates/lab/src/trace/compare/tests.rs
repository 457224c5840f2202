//! Tests that both engines record the same trace.
#![allow(clippy::print_stderr)]

use std::hint::black_box;
use std::time::Instant;

use super::super::TracedFunction;
use super::*;
use crate::imp::step::unusual;
use crate::taint::control::{self, CONTROLS};

fn sink<R>(result: R) {
    let _ = black_box(result);
}

fn both(input: &[u8], run: &mut dyn FnMut(&mut [u8])) -> [Recording; 2] {
    let secrets = [input.to_vec()];
    let mut buffer = input.to_vec();
    let mut stage = Stage::new().expect("memory");
    stage.call(run, &mut buffer);
    let mut session = Session::new(&secrets, &mut stage, &mut TracedFunction(run), &mut buffer).expect("a process");
    assert!(!session.trap, "the engine that copies code must run here");
    [false, true].map(|trap| {
        session.trap = trap;
        session.record(0, 0).expect("a recording");
        std::mem::take(&mut session.now)
    })
}

fn assert_same(name: &str, input: &[u8], run: &mut dyn FnMut(&mut [u8])) {
    let [blocks, trap] = both(input, run);
    if let Some(place) =
        (0..blocks.log.len().max(trap.log.len())).find(|&place| blocks.log.get(place) != trap.log.get(place))
    {
        for at in place.saturating_sub(8)..place + 3 {
            eprintln!("{at}: {:x?} {:x?}", blocks.log.get(at), trap.log.get(at));
        }
        let last = trap.log[..place].iter().rev().find(|word| **word > 0x5000_0000_0000 && **word < 0x6000_0000_0000);
        panic!("{name}: word {place}, after {}", last.map(|last| place::instruction_at(*last)).unwrap_or_default());
    }
    assert!(trap.instructions > 10, "{name}");
    assert_eq!((blocks.instructions, blocks.hash), (trap.instructions, trap.hash), "{name}");
    assert_eq!(blocks.hashes, trap.hashes, "{name}");
    assert_eq!(blocks.counts, trap.counts, "{name}");
}

#[test]
fn both_engines_record_the_controls_alike() {
    for control in &CONTROLS {
        let input = control.input(1, &mut crate::random::Random::new(1));
        assert_same(control.name, &input, &mut |input| sink((control.run)(input)));
    }
}

#[test]
fn both_engines_record_the_standard_library_alike() {
    assert_same("allocation", &[1; 3000], &mut |input| {
        let parts: Vec<Vec<u8>> = (1..9).map(|part| control::copy(&[&*input, &[0; 100][..part]].concat())).collect();
        black_box(parts);
    });
    assert_same("text", &[7; 8], &mut |input| sink(format!("{input:?} {:.3} {:>9x}", 1.5 / 7.0, 77)));
    assert_same("map", &[7; 64], &mut |input| {
        let map: std::collections::HashMap<_, _> = input.iter().enumerate().collect();
        black_box(map.len());
    });
    assert_same("compare", &[3; 5000], &mut |input| {
        let (a, b) = input.split_at(2500);
        black_box(a == b);
    });
    assert_same("panic", &[3; 4], &mut |input| {
        let caught = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(input[0])));
        black_box(caught.is_err());
    });
    // Code that reads the time takes a path that depends on the time.
    let clock = || both(&[3; 4], &mut |_| sink(Instant::now())).map(|recording| recording.log);
    assert!((0..20).map(|_| clock()).any(|[blocks, trap]| blocks == trap), "clock");
    use sha2::Digest;
    assert_same("hash", &[3; 400], &mut |input| sink(sha2::Sha256::digest(&*input)));
}

#[test]
fn both_engines_record_unusual_instructions_alike() {
    let memory = unusual::memory();
    for (name, case) in unusual::CASES {
        assert_same(name, &[1; 8], &mut |_| case(memory));
    }
}

#[test]
fn a_caller_can_stop_an_endless_function() {
    let before = Instant::now();
    let stopped = || before.elapsed().as_millis() > 300;
    let secrets = vec![vec![1], vec![2]];
    let found = compare(&secrets, &|_| String::new(), &mut TracedFunction(&mut |_| while black_box(true) {}), &stopped);
    assert_eq!(found.skipped.as_deref(), Some("interrupted"));
    assert!(before.elapsed().as_secs() < 3, "{:?}", before.elapsed());
}

#[test]
#[ignore = "prints speeds"]
fn speed() {
    let [mut seconds, mut steps] = [[0.0; 2]; 2];
    let mut run = |input: &mut [u8]| {
        use sha2::Digest;
        let mut sum = [0_u8; 32];
        for _ in 0..200 {
            let digest = sha2::Sha512::digest([&sum[..], input].concat());
            sum.copy_from_slice(&digest[..32]);
            black_box(format!("{sum:?}"));
        }
        black_box(sum);
    };
    let secrets = [vec![1; 1000]];
    let mut buffer = secrets[0].clone();
    let mut stage = Stage::new().expect("memory");
    let mut session =
        Session::new(&secrets, &mut stage, &mut TracedFunction(&mut run), &mut buffer).expect("a process");
    for (engine, trap) in [(0, false), (1, true), (0, false)] {
        session.trap = trap;
        let before = Instant::now();
        session.record(0, 0).expect("a recording");
        (seconds[engine], steps[engine]) = (before.elapsed().as_secs_f64(), session.now.instructions as f64);
    }
    eprintln!(
        "{} instructions, {:.2} and {:.3} million a second",
        steps[0],
        steps[0] / seconds[0] / 1e6,
        steps[1] / seconds[1] / 1e6
    );
}
