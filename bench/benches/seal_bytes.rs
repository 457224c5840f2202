//! Seals and opens bytes in memory, and files, with a key, a passphrase and a session: `cargo bench -p deadpan-bench
//! --bench seal_bytes [-- MiB [ROUNDS]]`. `MiB` is the size of the longest message. To measure one core, put `taskset
//! -c 0` before the command.
//!
//! "New" memory is what [`deadpan_seal::seal`] and [`deadpan_seal::open`] return: the system has to clear it first.
//! "Again" is memory that was used before. The files are in the folder for temporary files, and each output is a new
//! file. A passphrase costs one Argon2id per call, a session one Argon2id before all rounds. Each round runs every case
//! once. The table shows the medians.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::time::Instant;

use deadpan_seal::{
    Cost, Header, Identity, Kem, Opened, Passphrase, PrivateKey, Recipient, Sealing, Session, Work, random,
};

struct Way {
    name: &'static str,
    recipient: Recipient,
    identity: Identity,
}

fn ways() -> [Way; 3] {
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let passphrase = Passphrase::new(b"straight face");
    let session = Session::new(&passphrase, Cost::default()).expect("a session");
    [
        Way { name: "key", recipient: key.public().into(), identity: Identity::from(&key) },
        Way { name: "session", recipient: Recipient::from(&session), identity: Identity::from(&session) },
        Way { name: "passphrase", recipient: Recipient::from(&passphrase), identity: Identity::from(&passphrase) },
    ]
}

impl Way {
    fn sealing(&self) -> Sealing {
        Sealing::to(vec![self.recipient.clone()]).expect("a recipient")
    }

    fn open(&self, sealed: impl Read) -> Opened {
        let header = Header::read(sealed).expect("a header");
        header.open(std::slice::from_ref(&self.identity)).expect("opened")
    }
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let most = arguments.first().copied().unwrap_or(64) << 20;
    let rounds = arguments.get(1).copied().unwrap_or(9);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("MiB/s of plain data, median of {rounds} rounds, on {cores} cores");
    table("bytes", ["seal, new", "seal, again", "open, new", "open, again"], most, |way, length| {
        bytes(way, length, rounds)
    });
    table("a file", ["seal", "open"], most, |way, length| files(way, length, rounds));
}

/// Prints a line for each length and way. `measure` returns the times of each kind.
fn table<const N: usize>(what: &str, kinds: [&str; N], most: usize, measure: impl Fn(&Way, usize) -> [Vec<f64>; N]) {
    println!("\n{what:12}{:>10}{}", "bytes", kinds.map(|kind| format!("{kind:>14}")).concat());
    for length in [1 << 10, 1 << 20, most] {
        for way in ways() {
            let rate = |mut times: Vec<f64>| {
                times.sort_by(f64::total_cmp);
                length as f64 / f64::from(1 << 20) / times[times.len() / 2]
            };
            let rates = measure(&way, length).map(|times| format!("{:>14.3}", rate(times)));
            println!("{:12}{length:>10}{}", way.name, rates.concat());
        }
    }
}

fn bytes(way: &Way, length: usize, rounds: usize) -> [Vec<f64>; 4] {
    let plain = random_bytes(length);
    let sealing = way.sealing();
    let open = |mut sealed: &[u8]| way.open(&mut sealed).open(sealed).expect("opened");
    let open_into = |sealed: &[u8], plain: &mut [u8]| {
        let opened = way.open(&mut &*sealed);
        opened.open_into(&sealed, sealed.len() as u64, plain, &Work::default()).expect("opened");
    };
    let mut sealed = sealing.seal(&plain).expect("sealed");
    let mut opened = open(&sealed);
    assert!(opened == plain, "it does not come back");
    let mut times: [Vec<f64>; 4] = Default::default();
    // A short message is measured many times, because one call is shorter than the clock can measure. A call with a
    // passphrase always takes long enough.
    let often = if way.name == "passphrase" { 1 } else { ((4 << 20) / length).clamp(1, 500) };
    for _ in 0..rounds {
        let mut time = |kind: usize, work: &mut dyn FnMut()| {
            let begin = Instant::now();
            (0..often).for_each(|_| work());
            times[kind].push(begin.elapsed().as_secs_f64() / often as f64);
        };
        time(0, &mut || drop(sealing.seal(&plain).expect("sealed")));
        time(1, &mut || {
            sealing.seal_into(&plain, &mut sealed, &Work::default()).expect("sealed");
        });
        time(2, &mut || drop(open(&sealed)));
        time(3, &mut || {
            open_into(&sealed, &mut opened);
        });
        assert!(opened == plain, "it does not come back");
    }
    times
}

fn files(way: &Way, length: usize, rounds: usize) -> [Vec<f64>; 2] {
    let plain = random_bytes(length);
    let sealing = way.sealing();
    let mut input = new_file();
    input.write_all(&plain).expect("written");
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..rounds {
        let (sealed, output) = (new_file(), new_file());
        let begin = Instant::now();
        sealing.seal_file(&input, &sealed, &Work::default()).expect("sealed");
        let between = Instant::now();
        way.open(&sealed).open_file(&sealed, &output, &Work::default()).expect("opened");
        times[0].push((between - begin).as_secs_f64());
        times[1].push(between.elapsed().as_secs_f64());
        assert!(contents(output) == plain, "it does not come back");
    }
    times
}

fn random_bytes(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random::fill(&mut bytes).expect("random bytes");
    bytes
}

fn new_file() -> File {
    tempfile::tempfile().expect("a file")
}

fn contents(mut file: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().expect("a file");
    file.read_to_end(&mut bytes).expect("read");
    bytes
}
