//! Measures chunks of age files beside AWS-LC alone: `cargo bench -p deadpan-bench --bench seal_chunks`.
#![allow(clippy::print_stdout)]

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use deadpan_lab::{Silent, Target, clock, speed};
use deadpan_seal::age::ChunkCipher;

const KEY: [u8; 32] = [7; 32];
const DATA: usize = 64 << 10;
const TAG: usize = 16;

fn main() {
    let key = || LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &KEY).expect("a key"));
    let nonce = || Nonce::assume_unique_for_key([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let chunks = || ChunkCipher::new(&KEY).expect("a key");
    let mut sealed = vec![0; DATA + TAG];
    chunks().seal(0, true, &[3; DATA], &mut sealed).expect("sealed");
    let (mut one, mut other, mut third, mut fourth) = (sealed.clone(), sealed.clone(), vec![0; DATA], vec![0; DATA]);
    let (mut sealing, mut opening, aws_seals, aws_opens) = (chunks(), chunks(), key(), key());
    let mut targets = [
        Target::new("seal: Deadpan", DATA, move |data: &[u8]| sealing.seal(0, true, data, &mut one).is_ok()),
        Target::new("seal: AWS-LC", DATA, move |data: &[u8]| {
            let (output, tag) = other.split_at_mut(DATA);
            aws_seals.seal_out_of_place_scatter(nonce(), Aad::empty(), data, output, &[], tag).is_ok()
        }),
        Target::new("open: Deadpan", DATA + TAG, move |sealed: &[u8]| {
            opening.open(0, true, sealed, &mut third).is_ok()
        }),
        Target::new("open: AWS-LC", DATA + TAG, move |sealed: &[u8]| {
            let (input, tag) = sealed.split_at(DATA);
            aws_opens.open_separate_gather(nonce(), Aad::empty(), input, tag, &mut fourth).is_ok()
        }),
    ]
    .map(|target| {
        let sealed = sealed.clone();
        target.class("a valid chunk", move |_, input| input.copy_from_slice(&sealed[..input.len()]))
    });
    println!("GB/s, with the bounds of the 95 % interval of the median");
    let (clock, options) = (clock::best(), speed::Options::brief());
    for target in &mut targets {
        let time = speed::estimate(target, 0, &*clock, &options, &mut Silent).median;
        let [value, lower, upper] = [time.estimate, time.upper, time.lower].map(|time| DATA as f64 / time);
        println!("{:14} {value:6.2}   {lower:6.2} to {upper:6.2}", target.name());
    }
}
