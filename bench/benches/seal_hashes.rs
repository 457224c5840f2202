//! Measures the hashes that signatures need, beside other libraries: `cargo bench -p deadpan-bench --bench
//! seal_hashes`.
//!
//! A leaf of a signed file is the BLAKE3 hash of 16 bytes, the 65 504 bytes of a segment, and zeros: 64 whole chunks.
//! "Fields and data one by one" is what that costs without the zeros, and when BLAKE3 gets the 16 bytes first.
#![allow(clippy::print_stdout)]

use aws_lc_rs::digest::{SHA512, digest};
use sha2::{Digest, Sha512};

use deadpan_lab::{Silent, Target, clock, speed};
use deadpan_seal::sign::{Hash, Hasher};

const SEGMENT: usize = 65_504;
const FILE: usize = 1 << 20;

fn main() {
    let mut targets = [
        target("BLAKE3: 64 whole chunks", 64 << 10, |data| *blake3::hash(data).as_bytes()),
        target("BLAKE3: fields and data one by one", SEGMENT, |data| {
            *blake3::Hasher::new().update(&[7; 16]).update(data).finalize().as_bytes()
        }),
        target("SHA-512: Deadpan", FILE, |data| {
            let mut hasher = Hasher::new(Hash::Sha512);
            data.chunks(1 << 16).for_each(|piece| hasher.update(piece));
            hasher.finish()
        }),
        target("SHA-512: AWS-LC", FILE, |data| digest(&SHA512, data).as_ref().to_vec()),
        target("SHA-512: sha2", FILE, |data| Sha512::digest(data).to_vec()),
    ];
    println!("GB/s, with the bounds of the 95 % interval of the median");
    let (clock, options) = (clock::best(), speed::Options::brief());
    for (target, length) in &mut targets {
        let time = speed::estimate(target, 0, &*clock, &options, &mut Silent).median;
        let [value, lower, upper] = [time.estimate, time.upper, time.lower].map(|time| *length as f64 / time);
        println!("{:36} {value:6.2}   {lower:6.2} to {upper:6.2}", target.name());
    }
}

fn target<R: 'static>(name: &str, length: usize, function: impl Fn(&[u8]) -> R + 'static) -> (Target, usize) {
    let target = Target::new(name, length, move |data: &[u8]| function(data));
    (target.class("any", |random, input| random.fill(input)), length)
}
