//! The scores of all covers, without data and with data.

use std::collections::BTreeMap;

use crate::embed::{self, Way};
use crate::statistic::{Rate, area, threshold};
use deadpan_picture::{Error, Pixels, analysis};

/// The shares of the room that are filled, in percent.
pub const SHARES: [u32; 4] = [1, 5, 20, 100];
/// The detectors, in the order of the scores.
pub const DETECTORS: [&str; 3] = ["chi-square", "RS", "sample pairs"];

/// How data were put into a cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Treatment {
    /// The way.
    pub way: Way,
    /// Bits a sample.
    pub bits: u8,
    /// The filled share of the room, in percent.
    pub share: u32,
}

/// The results of one detector for one kind of picture.
pub struct Outcome {
    /// The alarms.
    pub rate: Rate,
    /// The area under the curve.
    pub area: f64,
}

/// All scores. A higher score is more suspicious.
#[derive(Default)]
pub struct Study {
    kinds: Vec<&'static str>,
    covers: Vec<[f64; 3]>,
    treated: BTreeMap<Treatment, Vec<[f64; 3]>>,
    /// The lowest peak signal-to-noise ratio of each treatment.
    pub psnr: BTreeMap<Treatment, f64>,
}

impl Study {
    /// Examines a cover without data and with data in all ways.
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

    /// Returns the kinds of covers and their numbers.
    pub fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        self.kinds.iter().for_each(|kind| *kinds.entry(*kind).or_insert(0) += 1);
        kinds
    }

    /// Returns the outcome of a detector. `kind` selects the covers, also for the threshold.
    pub fn outcome(&self, detector: usize, treatment: Treatment, kind: Option<&str>) -> Outcome {
        let covers = self.select(&self.covers, detector, kind);
        let treated = self.select(&self.treated[&treatment], detector, kind);
        Outcome { rate: Rate::of(&treated, threshold(&covers)), area: area(&covers, &treated) }
    }

    /// Returns the alarms of a detector in covers without data, its threshold, and the median of the scores.
    pub fn covers(&self, detector: usize, kind: Option<&str>) -> (Rate, f64, f64) {
        let covers = self.select(&self.covers, detector, kind);
        let threshold = threshold(&covers);
        (Rate::of(&covers, threshold), threshold, median(&covers))
    }

    fn select(&self, scores: &[[f64; 3]], detector: usize, kind: Option<&str>) -> Vec<f64> {
        let counted = scores.iter().zip(&self.kinds).filter(|(_, this)| kind.is_none_or(|kind| kind == **this));
        counted.map(|(scores, _)| scores[detector]).collect()
    }
}

/// Returns the scores of the three detectors. Equal pairs of values give a low chi-square statistic, so its sign is
/// turned. A picture in which a detector finds nothing to judge is not suspicious.
fn scores(picture: &Pixels) -> [f64; 3] {
    let findings = analysis::examine(picture);
    let chi_square = findings.chi_square.ratio().map(|ratio| -ratio);
    [chi_square, findings.rs, findings.sample_pairs].map(|score| score.unwrap_or(f64::NEG_INFINITY))
}

fn median(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
