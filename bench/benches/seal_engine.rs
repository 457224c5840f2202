//! Seals and opens files through the engine, beside `cp`: `cargo bench -p deadpan-bench --bench seal_engine -- FOLDER
//! [MiB [ROUNDS [THREADS]]]`.
//!
//! Each round runs every case once, in a new order. Between runs the benchmark removes the output and waits until the
//! disk is idle, since pending writes make a run two to five times slower. The table shows the least and the median
//! time, the rate, and the median of the ratios to `cp` in the same round.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use deadpan_seal::{Header, Identity, Kem, PrivateKey, Recipient, Sealing, Work};

const KINDS: [&str; 3] = ["cp", "seal", "open"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let Some(folder) = arguments.first().map(PathBuf::from) else {
        println!("skipped: no folder was given");
        return;
    };
    let number = |at: usize, other: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(other);
    let (megabytes, rounds, threads) = (number(1, 1024), number(2, 7), number(3, 0));
    let plain = folder.join("deadpan-bench.plain");
    let sealed = folder.join("deadpan-bench.sealed");
    let output = folder.join("deadpan-bench.output");
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let sealing = Sealing::to(vec![Recipient::Key(key.public().clone())]).expect("a recipient");
    let work = Work { threads, ..Work::default() };
    fill(&plain, megabytes);
    let seal = |output: &Path| sealing.seal_file(&open(&plain), &create(output), &work).expect("sealed");
    seal(&sealed);
    rest();
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..rounds {
        for step in 0..3 {
            let kind = (round + step) % 3;
            let begin = Instant::now();
            match KINDS[kind] {
                "cp" => assert!(Command::new("cp").args([&plain, &output]).status().expect("cp").success()),
                "seal" => {
                    seal(&output);
                }
                _ => {
                    let input = open(&sealed);
                    let opened = Header::read(&input)
                        .and_then(|header| header.open(&[Identity::Key(key.clone())]))
                        .expect("the key");
                    opened.open_file(&input, &create(&output), &work).expect("opened");
                }
            }
            times[kind].push(begin.elapsed().as_secs_f64());
            std::fs::remove_file(&output).expect("it is there");
            rest();
        }
    }
    println!("{megabytes} MiB, {rounds} rounds");
    for (kind, name) in KINDS.iter().enumerate() {
        let ratios = times[kind].iter().zip(&times[0]).map(|(time, cp)| time / cp).collect();
        let least = times[kind].iter().copied().fold(f64::MAX, f64::min);
        let middle = median(times[kind].clone());
        let rate = megabytes as f64 * 1.048_576 / 1000.0 / middle;
        println!(
            "{name:5} least {least:7.3} s   median {middle:7.3} s   {rate:5.2} GB/s   {:5.2} × cp",
            median(ratios)
        );
    }
    [plain, sealed].iter().for_each(|path| std::fs::remove_file(path).expect("it is there"));
}

fn open(path: &Path) -> File {
    File::open(path).expect("it is there")
}

fn create(path: &Path) -> File {
    File::options().read(true).write(true).create_new(true).open(path).expect("room in the folder")
}

/// Fills a file with data that do not repeat, so that no disk or file system can compress them.
fn fill(path: &Path, megabytes: usize) {
    let mut file = create(path);
    let mut state = 1_u64;
    let mut block = vec![0; 1 << 20];
    for _ in 0..megabytes {
        for word in block.chunks_exact_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block).expect("room in the folder");
    }
}

fn rest() {
    let _ = Command::new("sync").status();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
