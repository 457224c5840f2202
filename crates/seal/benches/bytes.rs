//! Bytes in memory, sealed and opened with a key, a passphrase and a session: `cargo bench -p deadpan-seal --bench bytes [-- MiB [ROUNDS]]`, MiB being
//! how long the last of the messages is. For one core, put `taskset -c 0` before it.
//!
//! "New" memory is what [`deadpan_seal::seal`] and [`deadpan_seal::open`] return: the system has to clear it first. "Again" is memory that was used
//! before. A passphrase costs one Argon2id each time, a session one before all rounds. In each round all of them run once; shown is the median.
#![allow(clippy::print_stdout)]

use deadpan_seal::{Cost, Header, Identity, Kem, Passphrase, PrivateKey, Recipient, Sealing, Session, random};
use std::time::Instant;

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

/// What is measured of a way and a message.
const KINDS: [&str; 4] = ["seal, new", "seal, again", "open, new", "open, again"];

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let most = arguments.first().copied().unwrap_or(64) << 20;
    let rounds = arguments.get(1).copied().unwrap_or(9);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("MiB/s of plain data, median of {rounds} rounds, on {cores} cores");
    println!("{:12}{:>10}{:>14}{:>14}{:>14}{:>14}", "", "bytes", KINDS[0], KINDS[1], KINDS[2], KINDS[3]);
    for length in [1 << 10, 1 << 20, most] {
        for way in ways() {
            measure(&way, length, rounds);
        }
    }
}

fn measure(way: &Way, length: usize, rounds: usize) {
    let mut plain = vec![0; length];
    random::fill(&mut plain).expect("random bytes");
    let sealing = Sealing::to(vec![way.recipient.clone()]).expect("a recipient");
    let open = |sealed: &[u8], onto: &mut Vec<u8>| {
        let mut rest = sealed;
        let header = Header::read(&mut rest).expect("a header");
        header.open(std::slice::from_ref(&way.identity)).and_then(|opened| opened.bytes_onto(rest, onto)).expect("opened");
    };
    let (mut sealed, mut opened) = (sealing.bytes(&plain).expect("sealed"), Vec::new());
    open(&sealed, &mut opened);
    assert!(opened == plain, "it does not come back");
    let mut times: [Vec<f64>; 4] = Default::default();
    // Short messages often, so that the clock sees them; a passphrase is long in any case.
    let often = if way.name == "passphrase" { 1 } else { ((4 << 20) / length).clamp(1, 500) };
    for _ in 0..rounds {
        let mut time = |kind: usize, work: &mut dyn FnMut()| {
            let begin = Instant::now();
            (0..often).for_each(|_| work());
            times[kind].push(begin.elapsed().as_secs_f64() / often as f64);
        };
        time(0, &mut || drop(sealing.bytes(&plain).expect("sealed")));
        time(1, &mut || {
            sealed.clear();
            sealing.bytes_onto(&plain, &mut sealed).expect("sealed");
        });
        time(2, &mut || open(&sealed, &mut Vec::new()));
        time(3, &mut || {
            opened.clear();
            open(&sealed, &mut opened);
        });
        assert!(opened == plain, "it does not come back");
    }
    let rate = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        length as f64 / f64::from(1 << 20) / times[times.len() / 2]
    };
    let rates = times.each_mut().map(rate);
    println!("{:12}{length:>10}{:>14.2}{:>14.2}{:>14.2}{:>14.2}", way.name, rates[0], rates[1], rates[2], rates[3]);
}
