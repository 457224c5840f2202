//! Seals and opens whole messages in memory, and reads parts of a large sealed file: `cargo bench -p deadpan-bench
//! --bench seal_whole [-- FOLDER]`.
//!
//! With a folder, the benchmark seals a file of 10 GB there once, and reads 4 KB from it 1000 times.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use deadpan_lab::{Silent, Target, clock, speed};
use deadpan_seal::{Header, Identity, Kem, Material, PrivateKey, Recipient, Sealing, Work};

fn main() {
    in_memory();
    match std::env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        Some(folder) => at_random(&PathBuf::from(folder)),
        None => println!("random reads of a 10 GB file: skipped, no folder was given"),
    }
}

fn target<R: 'static>(name: String, bytes: usize, mut function: impl FnMut(&[u8]) -> R + 'static) -> Target {
    Target::new(name, bytes, move |input| function(input)).class("random", |random, input| random.fill(input))
}

fn in_memory() {
    println!("median time of a call in µs, with the bounds of its 95 % interval, and the rate of plain data");
    let (clock, options) = (clock::best(), speed::Options::brief());
    for (size, name) in [(1 << 10, "1 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB"), (64 << 20, "64 MiB")] {
        let kinds: &[Kem] = if size == 1 << 10 { &Kem::ALL } else { &[Kem::XWing] };
        for mut target in kinds.iter().flat_map(|kem| round(*kem, size, name)) {
            let time = speed::estimate(&mut target, 0, &*clock, &options, &mut Silent).median;
            let [value, lower, upper] = [time.estimate, time.lower, time.upper].map(|nanoseconds| nanoseconds / 1000.0);
            println!(
                "{:44} {value:10.2}   {lower:10.2} to {upper:10.2}   {:6.2} GB/s",
                target.name(),
                size as f64 / value / 1000.0
            );
        }
    }
}

/// Seals to one key and opens from that key's seed, with a reused buffer.
fn round(kem: Kem, size: usize, name: &str) -> [Target; 2] {
    let key = PrivateKey::generate(kem).expect("a key");
    let Material::Seed(seed) = key.material() else { unreachable!("a generated key has a seed") };
    let seed = seed.clone();
    let sealing = Sealing::to(vec![Recipient::Key(key.public().clone())]).expect("a recipient");
    let sealed = sealing.seal(&vec![7; size]).expect("sealed");
    let (mut onto, mut plain) = (vec![0; sealed.len()], vec![0; size]);
    let seal = target(format!("seal {name} to {}", kem.name()), size, move |input| {
        sealing.seal_into(input, &mut onto, &Work::default()).expect("sealed");
    });
    // The input is not used, because the message to open was sealed before.
    let open = target(format!("open {name} with the seed of {}", kem.name()), 1, move |_| {
        let key = PrivateKey::from_seed(kem, &seed).expect("a key");
        let input = sealed.as_slice();
        let opened = Header::read(input).and_then(|header| header.open(&[Identity::Key(key)])).expect("the right key");
        let done = opened.open_into(&input, input.len() as u64, &mut plain, &Work::default()).expect("opened");
        assert_eq!(done.plain, size as u64);
    });
    [seal, open]
}

const READS: usize = 1000;
const READ: usize = 4096;

fn at_random(folder: &Path) {
    const LENGTH: u64 = 10_000_000_000;
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let path = folder.join("deadpan-bench-10GB.dpn");
    let create = || File::options().read(true).write(true).create(true).truncate(true).open(&path);
    let file = create().expect("room in the folder");
    let zeros = std::io::repeat(0).take(LENGTH);
    let sealing = Sealing::to(vec![Recipient::Key(key.public().clone())]).expect("a recipient");
    sealing.seal_stream(zeros, &file, &Work::default()).expect("sealed");
    let mut file = file;
    file.rewind().expect("a file");
    let header = Header::read(&file).expect("a header");
    let opened = header.open(&[Identity::Key(key)]).expect("the key");
    let mut reader = opened.seek_in(&file).expect("a payload");
    let mut state = 1_u64;
    let mut buffer = [0; READ];
    let mut times: Vec<f64> = (0..READS)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let begin = Instant::now();
            reader.seek(SeekFrom::Start((state >> 16) % (LENGTH - READ as u64))).expect("a place");
            reader.read_exact(&mut buffer).expect("opened");
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    assert_eq!(buffer, [0; READ]);
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / READS as f64;
    println!(
        "{READS} reads of {READ} bytes: mean {mean:.1} µs, median {:.1}, least {:.1}, most {:.1}",
        times[READS / 2],
        times[0],
        times[READS - 1]
    );
    std::fs::remove_file(&path).expect("it is there");
}
