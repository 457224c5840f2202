//! The scores of all cover pictures, without data and with data.

use std::collections::BTreeMap;

use crate::embed::{self, Way};
use crate::statistic::{Rate, area, threshold};
use deadpan_picture::{Error, Pixels, analysis};

/// The shares of a cover's capacity that are filled, in percent.
pub const SHARES: [u32; 4] = [1, 5, 20, 100];
/// The detectors, in the order of the scores.
pub const DETECTORS: [&str; 5] = ["chi-square", "RS", "sample pairs", "HCF-COM", "HCF-COM of neighbors"];
/// The number of detectors that look for replaced low bits. The detectors of replaced low bits come first in
/// [`DETECTORS`].
pub const OF_REPLACEMENT: usize = 3;

type Scores = [f64; DETECTORS.len()];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Treatment {
    /// The way of changing samples.
    pub way: Way,
    /// The number of bits in each sample.
    pub bits: u8,
    /// The share of the cover's capacity that contains data, in percent.
    pub share: u32,
}

/// The results of one detector for one kind of picture.
pub struct Outcome {
    /// The rate of alarms.
    pub rate: Rate,
    /// The area under the curve of the detection rate over the false alarm rate.
    pub area: f64,
}

/// All scores. A higher score is more suspicious.
#[derive(Default)]
pub struct Study {
    kinds: Vec<&'static str>,
    covers: Vec<Scores>,
    treated: BTreeMap<Treatment, Vec<Scores>>,
    /// The lowest peak signal-to-noise ratio, for each treatment of the covers (each way of hiding data).
    pub psnr: BTreeMap<Treatment, f64>,
}

impl Study {
    /// Examines a cover without data, and then with data, once for every treatment.
    pub fn add(&mut self, kind: &'static str, cover: &Pixels, seed: u64) -> Result<(), Error> {
        self.kinds.push(kind);
        self.covers.push(scores(cover));
        for way in Way::ALL {
            for bits in 1..=4 {
                for share in SHARES {
                    let treatment = Treatment { way, bits, share };
                    let result = embed::embed(cover, way, bits, share, seed)?;
                    self.treated.entry(treatment).or_default().push(scores(&result));
                    let psnr = self.psnr.entry(treatment).or_insert(f64::INFINITY);
                    *psnr = psnr.min(analysis::compare(cover, &result)?.psnr());
                }
            }
        }
        Ok(())
    }

    pub fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        self.kinds.iter().for_each(|kind| *kinds.entry(*kind).or_insert(0) += 1);
        kinds
    }

    /// Returns the outcome of a detector. If `kind` is not `None`, the outcome and the threshold are computed only from
    /// covers of this kind.
    pub fn outcome(&self, detector: usize, treatment: Treatment, kind: Option<&str>) -> Outcome {
        let covers = self.select(&self.covers, detector, kind);
        let treated = self.select(&self.treated[&treatment], detector, kind);
        Outcome { rate: Rate::of(&treated, threshold(&covers)), area: area(&covers, &treated) }
    }

    /// Returns the detector's number of alarms in covers without data, its threshold, and the median of its scores.
    pub fn covers(&self, detector: usize, kind: Option<&str>) -> (Rate, f64, f64) {
        let covers = self.select(&self.covers, detector, kind);
        let threshold = threshold(&covers);
        (Rate::of(&covers, threshold), threshold, median(&covers))
    }

    fn select(&self, scores: &[Scores], detector: usize, kind: Option<&str>) -> Vec<f64> {
        let counted = scores.iter().zip(&self.kinds).filter(|(_, this)| kind.is_none_or(|kind| kind == **this));
        counted.map(|(scores, _)| scores[detector]).collect()
    }
}

/// Low scores of chi-square and HCF-COM are suspicious: equal pairs of values give a low chi-square statistic, and a
/// smooth histogram gives a low ratio of HCF-COM. The function therefore reverses the signs of these scores. If a
/// detector cannot evaluate a picture, the picture gets the least suspicious score.
fn scores(picture: &Pixels) -> Scores {
    let findings = analysis::examine(picture);
    let turned = |score: Option<f64>| score.map(|score| -score);
    let chi_square = turned(findings.chi_square.ratio());
    let (hcf_com, adjacency) = (turned(findings.hcf_com), turned(findings.adjacency_hcf_com));
    [chi_square, findings.rs, findings.sample_pairs, hcf_com, adjacency].map(|score| score.unwrap_or(f64::NEG_INFINITY))
}

fn median(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
