//! Tests the methods on synthetic pictures whose rate is known.

use super::*;
use crate::{Channels, Error};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a sum of uniform numbers with mean 0 and variance 1, which is nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Smooth waves with a little noise.
fn waves(channels: Channels, seed: u64) -> Pixels {
    let (width, height) = (320, 240);
    let mut random = Random(seed);
    let samples = (0..width * height * channels.count() as u32).map(|at| {
        let (channel, pixel) = (at % channels.count() as u32, at / channels.count() as u32);
        let (x, y) = (f64::from(pixel % width), f64::from(pixel / width));
        let wave = (x / 31.0 + f64::from(channel)).sin() * 45.0 + (y / 23.0 + x / 57.0).cos() * 40.0;
        (128.0 + wave + 1.5 * random.normal()).round().clamp(0.0, 255.0) as u8
    });
    let samples = samples.collect();
    Pixels { width, height, channels, samples }
}

/// Returns areas with few levels and little noise, like a photograph after strong compression.
fn areas(channels: Channels, seed: u64) -> Pixels {
    let (width, height) = (320, 240);
    let mut random = Random(seed);
    let levels: Vec<u8> = (0..20 * 15 * 3).map(|_| 20 + (random.next() % 12) as u8 * 18).collect();
    let samples = (0..width * height * channels.count() as u32).map(|at| {
        let (channel, pixel) = (at % channels.count() as u32, at / channels.count() as u32);
        let (x, y) = (pixel % width / 16, pixel / width / 16);
        let level = levels[((y * 20 + x) * 3 + channel) as usize];
        (f64::from(level) + 0.4 * random.normal()).round() as u8
    });
    Pixels { width, height, channels, samples: samples.collect() }
}

/// Replaces the low bits by random bits, in the share `rate` of the samples.
fn replace(cover: &Pixels, rate: f64, seed: u64) -> Pixels {
    let mut random = Random(seed);
    let mut result = cover.clone();
    for sample in &mut result.samples {
        if random.unit() < rate {
            *sample = *sample & !1 | (random.next() >> 63) as u8;
        }
    }
    result
}

/// Changes the low bits to random bits by adding ±1, in the share `rate` of the samples.
fn match_bits(cover: &Pixels, rate: f64, seed: u64) -> Pixels {
    let mut random = Random(seed);
    let mut result = cover.clone();
    for sample in &mut result.samples {
        if random.unit() < rate && random.next() >> 63 == 1 {
            *sample = if random.next() >> 63 == 1 { *sample + 1 } else { *sample - 1 };
        }
    }
    result
}

#[test]
fn rs_and_sample_pairs_estimate_the_rate_of_replacement() {
    for channels in [Channels::Gray, Channels::Rgb] {
        for (seed, rate) in [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9].into_iter().enumerate() {
            let picture = replace(&waves(channels, seed as u64), rate, 77 + seed as u64);
            let findings = examine(&picture);
            for (name, found) in [("rs", findings.rs), ("sample pairs", findings.sample_pairs)] {
                let found = found.unwrap();
                assert!((found - rate).abs() < 0.05, "{name} at {rate}, {channels:?}: {found}");
            }
        }
    }
}

#[test]
fn rs_and_sample_pairs_estimate_full_replacement() {
    // At the rate 1, both methods have their largest errors: the equation of sample pairs has a double root, and the
    // root of RS analysis is infinite.
    for seed in 0..4 {
        let findings = examine(&replace(&waves(Channels::Rgb, seed), 1.0, 40 + seed));
        let (rs, pairs) = (findings.rs.unwrap(), findings.sample_pairs.unwrap());
        assert!((0.8..1.6).contains(&rs), "{rs}");
        assert!((0.85..1.15).contains(&pairs), "{pairs}");
    }
}

#[test]
fn rs_and_sample_pairs_find_nothing_after_matching() {
    for rate in [0.2, 1.0] {
        let findings = examine(&match_bits(&waves(Channels::Rgb, 5), rate, 6));
        for (name, found) in [("rs", findings.rs), ("sample pairs", findings.sample_pairs)] {
            assert!(found.unwrap().abs() < 0.03, "{name} at {rate}: {found:?}");
        }
    }
}

#[test]
fn hcf_com_falls_with_the_rate_of_matching() {
    for channels in [Channels::Gray, Channels::Rgb] {
        for seed in 0..4 {
            let cover = areas(channels, seed);
            for (name, method) in [("hcf-com", hcf_com as fn(&Pixels) -> Option<f64>), ("adjacency", adjacency_hcf_com)]
            {
                let ratio = |rate| method(&match_bits(&cover, rate, 50 + seed)).unwrap();
                let [without, half, full] = [0.0, 0.5, 1.0].map(ratio);
                assert!((0.9..1.1).contains(&without), "{name}: {without}");
                assert!(half < without - 0.05 && full < half - 0.03, "{name}: {without} {half} {full}");
            }
        }
    }
}

#[test]
fn chi_square_sees_full_replacement_only() {
    // In this cover, only every third value occurs, as after a change of contrast. So the two values of a pair are not
    // equally frequent in the cover.
    let mut cover = waves(Channels::Rgb, 8);
    cover.samples.iter_mut().for_each(|sample| *sample = *sample / 3 * 3);
    let before = chi_square(&cover);
    assert!(before.p < 1e-9 && before.ratio().unwrap() > 50.0, "{before:?}");
    let replaced = chi_square(&replace(&cover, 1.0, 9));
    assert!(replaced.p > 0.999 && (replaced.ratio().unwrap() - 0.5).abs() < 0.2, "{replaced:?}");
    let half = chi_square(&replace(&cover, 0.5, 9));
    assert!(half.p < 1e-9 && half.statistic < before.statistic / 2.0, "{half:?}");
}

#[test]
fn the_curve_falls_where_the_data_end() {
    let mut picture = waves(Channels::Rgb, 10);
    picture.samples.iter_mut().for_each(|sample| *sample = *sample / 3 * 3);
    let replaced = replace(&picture, 1.0, 11);
    let end = picture.samples.len() * 2 / 5;
    picture.samples[..end].copy_from_slice(&replaced.samples[..end]);
    let curve = chi_square_curve(&picture, 10);
    assert_eq!(curve.len(), 10);
    assert!(curve[..4].iter().all(|step| step.p > 0.99), "{curve:?}");
    assert!(curve[4..].iter().all(|step| step.p < 0.01), "{curve:?}");
    assert_eq!(curve[9], chi_square(&picture));
}

#[test]
fn flat_and_tiny_pictures_give_no_alarm() {
    for (width, height) in [(0, 0), (1, 1), (3, 1), (1, 9), (4, 1), (64, 64)] {
        for channels in [Channels::Gray, Channels::Rgb] {
            let samples = vec![7; (width * height) as usize * channels.count()];
            let findings = examine(&Pixels { width, height, channels, samples });
            assert!(findings.chi_square.p < 0.5, "{width} × {height}: {findings:?}");
            assert!(findings.rs.is_none_or(|rate| rate.abs() < 1e-9), "{width} × {height}: {findings:?}");
            assert!(findings.sample_pairs.is_none_or(|rate| rate.abs() < 1e-9), "{width} × {height}: {findings:?}");
            for ratio in [findings.hcf_com, findings.adjacency_hcf_com] {
                assert!(ratio.is_none_or(|ratio| (ratio - 1.0).abs() < 1e-9), "{width} × {height}: {findings:?}");
            }
            assert_eq!(findings.hcf_com.is_some(), width > 1 && height > 1);
            assert_eq!(findings.adjacency_hcf_com.is_some(), width > 3 && height > 1);
        }
    }
}

#[test]
fn a_comparison_counts_what_changed() {
    let cover = Pixels { width: 2, height: 2, channels: Channels::Rgb, samples: vec![100; 12] };
    let mut result = cover.clone();
    assert_eq!(compare(&cover, &result).unwrap().psnr(), f64::INFINITY);
    result.samples[..5].copy_from_slice(&[101, 98, 100, 99, 101]);
    let comparison = compare(&cover, &result).unwrap();
    assert_eq!([-2, -1, 0, 1, 256].map(|difference| comparison.count(difference)), [1, 1, 8, 2, 0]);
    assert_eq!((comparison.largest(), comparison.changed_pixels()), (2, 0.5));
    assert!((comparison.changed() - 4.0 / 12.0).abs() < 1e-12);
    assert!((comparison.psnr() - 10.0 * (65025.0_f64 * 12.0 / 7.0).log10()).abs() < 1e-9);
    assert_eq!(difference(&cover, &result, 100).unwrap().samples[..6], [100, 200, 0, 100, 100, 0]);
}

#[test]
fn extreme_differences_are_counted_and_drawn() {
    let picture = |samples| Pixels { width: 2, height: 1, channels: Channels::Gray, samples };
    let (cover, result) = (picture(vec![0, 255]), picture(vec![255, 0]));
    let comparison = compare(&cover, &result).unwrap();
    assert_eq!([-255, 0, 255].map(|difference| comparison.count(difference)), [1, 0, 1]);
    assert_eq!((comparison.psnr(), comparison.largest()), (0.0, 255));
    assert_eq!(difference(&cover, &result, 32).unwrap().samples, [255, 255]);
}

#[test]
fn clipped_samples_are_0_or_255() {
    let samples = vec![0, 1, 254, 255, 255, 7, 8, 9];
    assert_eq!(clipped(&Pixels { width: 4, height: 2, channels: Channels::Gray, samples }), 3.0 / 8.0);
    assert_eq!(clipped(&Pixels { width: 0, height: 0, channels: Channels::Gray, samples: Vec::new() }), 0.0);
}

#[test]
fn gray_is_compared_with_colors() {
    let gray = Pixels { width: 2, height: 1, channels: Channels::Gray, samples: vec![10, 20] };
    let colors = Pixels { width: 2, height: 1, channels: Channels::Rgb, samples: vec![10, 10, 10, 20, 21, 20] };
    for (cover, result, sign) in [(&gray, &colors, 1), (&colors, &gray, -1)] {
        let comparison = compare(cover, result).unwrap();
        assert_eq!((comparison.count(sign), comparison.count(0)), (1, 5));
        assert_eq!(difference(cover, result, 9).unwrap().samples, [0, 0, 0, 0, 9, 0]);
    }
}

#[test]
fn different_sizes_are_refused() {
    let picture = |width, height| Pixels { width, height, channels: Channels::Gray, samples: vec![0; 6] };
    let error = compare(&picture(3, 2), &picture(2, 3)).unwrap_err();
    assert!(matches!(error, Error::Sizes { cover: (3, 2), result: (2, 3) }));
    assert_eq!(error.to_string(), "the pictures have different sizes: 3 × 2 and 2 × 3 pixels");
    assert!(difference(&picture(3, 2), &picture(2, 3), 1).is_err());
}
