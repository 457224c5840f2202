//! Times our Argon2id and the crate `argon2`, at the default cost of sealing: `GLIBC_TUNABLES=glibc.malloc.hugetlb=1
//! cargo bench -p deadpan-bench --bench seal_argon2 [-- ROUNDS]`.
//!
//! The environment variable gives the crate `argon2` huge pages, which our code requests itself. Without huge pages
//! that crate takes about a third longer.
//!
//! Each round times one call of each implementation, in alternating order. "Ours" seals an empty message to a
//! passphrase, which takes the time of Argon2id and a few microseconds. The table shows the median and the minimum of
//! the wall-clock time and of the CPU time, and the median of the rounds' ratios. Other programs lengthen the
//! wall-clock time, but hardly the CPU time.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use rustix::time::{ClockId, clock_gettime};

use deadpan_seal::{Cost, Passphrase, open, seal};

const PASSPHRASE: &[u8] = b"straight face";

/// The milliseconds of one call: wall-clock time and CPU time.
type Times = [f64; 2];

fn main() {
    // `cargo bench` adds `--bench` to the arguments.
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(25);
    let Cost { memory, passes, lanes } = Cost::default();
    let passphrase = Passphrase::new(PASSPHRASE);
    let parameters = Params::new(memory, passes, lanes, Some(64)).expect("parameters");
    let theirs = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);

    let sealed = seal(&passphrase, b"").expect("sealed");
    assert!(open(&passphrase, &sealed).expect("opened").is_empty(), "what was sealed is not what was opened");

    let ours = || time(|| drop(seal(&passphrase, b"").expect("sealed")));
    let theirs = || {
        let mut hash = [0; 64];
        time(|| theirs.hash_password_into(PASSPHRASE, b"a salt of 16 b's", &mut hash).expect("hashed"))
    };
    let (mut all_ours, mut all_theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            all_ours.push(ours());
            all_theirs.push(theirs());
        } else {
            all_theirs.push(theirs());
            all_ours.push(ours());
        }
    }

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("Argon2id, {} MiB, {passes} passes, {lanes} lanes, on {cores} cores; {rounds} rounds", memory >> 10);
    println!("{:18} {:>9} {:>9} {:>9} {:>9} {:>7}", "milliseconds", "ours", "minimum", "crate", "minimum", "ratio");
    for (kind, name) in ["on the clock", "on all cores"].into_iter().enumerate() {
        let of = |all: &[Times]| sorted(all.iter().map(|times| times[kind]));
        let ratios = sorted(all_theirs.iter().zip(&all_ours).map(|(theirs, ours)| theirs[kind] / ours[kind]));
        let [ours, theirs] = [of(&all_ours), of(&all_theirs)];
        println!(
            "{name:18} {:9.1} {:9.1} {:9.1} {:9.1} {:6.2}×",
            median(&ours),
            ours[0],
            median(&theirs),
            theirs[0],
            median(&ratios)
        );
    }
}

fn time(call: impl FnOnce()) -> Times {
    let (clock, cores) = (Instant::now(), on_cores());
    call();
    [clock.elapsed(), on_cores() - cores].map(|time| time.as_secs_f64() * 1e3)
}

/// The CPU time of all threads of this process.
fn on_cores() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}
