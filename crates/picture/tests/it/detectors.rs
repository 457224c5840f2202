//! The three detectors of replacement do not find templates at one bit in each sample, but find low-bit replacement.
//! The detectors of changes by ±1 find some of the templates.
//!
//! `scripts/bench detectors` measures the same with more covers, more bits, and real photographs.

use crate::photograph::{Camera, photograph};
use deadpan_picture::analysis::{self, Findings};
use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
use deadpan_picture::{Label, Pixels};

const COVERS: usize = 120;

#[test]
fn detectors_find_replacement_and_no_template_at_one_bit() {
    // These covers have no white areas: in white areas, samples can change in one direction only, and the detectors
    // find templates.
    let seeds = (0..).filter(|&seed| !Camera::new(seed).overexposed).take(COVERS);
    let covers: Vec<Pixels> = seeds.map(|seed| photograph(256, 192, seed)).collect();
    let templates: Vec<Pixels> = (0..).zip(&covers).map(|(seed, cover)| hide(cover, seed)).collect();
    let replaced: Vec<Pixels> = (0..).zip(&covers).map(|(seed, cover)| replace(cover, seed)).collect();
    for (name, score) in DETECTORS {
        let [covers, templates, replaced] = [&covers, &templates, &replaced].map(|pictures| {
            let scores = pictures.iter().map(|picture| score(&analysis::examine(picture)));
            scores.collect::<Vec<f64>>()
        });
        let mut sorted = covers;
        sorted.sort_by(f64::total_cmp);
        // The scores of 6 of 120 covers, 5 %, are above the threshold.
        let threshold = sorted[COVERS - 1 - COVERS / 20];
        let alarms = |scores: &[f64]| scores.iter().filter(|&&score| score > threshold).count();
        let (templates, replaced) = (alarms(&templates), alarms(&replaced));
        // If two changes are equally small, random bits decide, so the results vary. In 20 runs, RS found 5 to 10
        // templates, with a variance of 2.5, and the other detectors found fewer. By Bennett's inequality, a detector
        // finds more than 24 templates in at most 1 of 10⁸ runs.
        assert!(templates <= COVERS / 5, "{name} finds {templates} templates");
        assert!(replaced >= COVERS * 9 / 10, "{name} finds {replaced} pictures with replaced bits");
    }
}

#[test]
fn templates_lower_the_ratios_of_hcf_com() {
    let seeds = (0..).filter(|&seed| !Camera::new(seed).overexposed).take(COVERS / 2);
    let covers: Vec<Pixels> = seeds.map(|seed| photograph(256, 192, seed)).collect();
    for (name, ratio, least) in [
        ("HCF-COM", analysis::hcf_com as fn(&Pixels) -> Option<f64>, 0.55),
        ("HCF-COM of neighbors", analysis::adjacency_hcf_com, 0.7),
    ] {
        let before: Vec<f64> = covers.iter().map(|cover| ratio(cover).unwrap()).collect();
        let after: Vec<f64> = (0..).zip(&covers).map(|(seed, cover)| ratio(&hide(cover, seed)).unwrap()).collect();
        let lower = after.iter().map(|after| before.iter().filter(|&before| after < before).count()).sum::<usize>();
        // The area under the curve. A value of 0.5 means guessing.
        let area = lower as f64 / before.len().pow(2) as f64;
        assert!(area > least, "{name}: {area}");
    }
}

/// A detector's name, and its score. A higher score means that a picture is more suspicious.
type Detector = (&'static str, fn(&Findings) -> f64);

const DETECTORS: [Detector; 3] = [
    ("chi-square", |findings| -findings.chi_square.ratio().unwrap()),
    ("RS", |findings| findings.rs.unwrap()),
    ("sample pairs", |findings| findings.sample_pairs.unwrap()),
];

/// Fills a template completely, with one bit in each sample.
fn hide(cover: &Pixels, seed: u64) -> Pixels {
    let mut random = Random(seed);
    let bits = Bits::new(1).unwrap();
    let hiding =
        Hiding { bits, order: Order::Keyed, set_key: [seed as u8; 32], doors: vec![Secret::recipient(b"a key")] };
    let room = template::capacity(cover.samples.len() as u64, bits, hiding.doors.len());
    let part: Vec<u8> = (0..room).map(|_| random.next() as u8).collect();
    let label = Label {
        set: [9; 16],
        index: 0,
        count: 1,
        spares: 0,
        length: room as u32,
        offset: 0,
        total: room,
        checksum: random.next(),
    };
    let mut result = cover.clone();
    let distortion = template::embed(&mut result, &label, &part, &hiding, &Seed([seed as u8; 24]), 1).unwrap();
    assert!(distortion.psnr() > 51.0);
    result
}

/// Replaces the low bits of all samples by random bits.
fn replace(cover: &Pixels, seed: u64) -> Pixels {
    let mut random = Random(seed);
    let mut result = cover.clone();
    result.samples.iter_mut().for_each(|sample| *sample = *sample & !1 | random.next() as u8 & 1);
    result
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
