//! Lossless WebP, as `cwebp` 1.2.4 writes it with several options: our decoder returns the same pixels as `image-webp`.
//! The pictures in `data/lossless` are scenes, noise, palettes of all sizes and repetitions.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use image_webp::WebPDecoder;

use crate::pictures::{riff, webp_parts};
use deadpan_picture::{Error, FileFormat, Limits, Orientation, read};

fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lossless")).expect("the folder");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

fn ours(file: &[u8]) -> Result<Vec<u8>, Error> {
    let decoded = read(Cursor::new(file), Orientation::Ignore, &Limits::default())?;
    assert_eq!(decoded.source, FileFormat::WebPLossless);
    Ok(decoded.pixels.samples)
}

fn theirs(file: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).ok()?;
    let mut samples = vec![0; decoder.output_buffer_size()?];
    decoder.read_image(&mut samples).ok()?;
    assert!(!decoder.has_alpha());
    Some(samples)
}

#[test]
fn our_decoder_sees_the_pixels_that_image_webp_sees() {
    let files = files();
    assert!(files.len() >= 14);
    for (path, file) in files {
        let samples = ours(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(Some(samples) == theirs(&file), "{}", path.display());
    }
}

/// The container of a cut frame is complete, so only the decoder of the frame can notice that the frame was cut.
#[test]
fn a_cut_frame_is_noticed_at_every_length() {
    for (path, file) in files() {
        let frame = webp_parts(&file).remove(0).1;
        let step = (frame.len() / 60).max(1);
        // Each cut removes more than 8 bytes, because frames from `cwebp` may end with bits that are not needed.
        for length in (5..frame.len().saturating_sub(8)).step_by(step) {
            let cut = riff(None, &[(b"VP8L", &frame[..length])]);
            let result = ours(&cut);
            assert!(matches!(result, Err(Error::Cut(_))), "{} cut to {length}: {result:?}", path.display());
        }
    }
}

/// One wrong bit causes an error or wrong pixels. Decoding a damaged frame stays within its limits for memory and time.
#[test]
fn damaged_frames_do_no_harm() {
    let (mut errors, mut pictures) = (0, 0);
    for (path, file) in files() {
        let step = (file.len() / 100).max(1);
        for at in (25..file.len()).step_by(step) {
            for bit in [0, 3, 7] {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                match ours(&damaged) {
                    Ok(samples) => {
                        pictures += 1;
                        assert_eq!(samples.len(), ours(&file).expect("a picture").len(), "{}", path.display());
                    }
                    Err(Error::Cut(_) | Error::Damaged { .. } | Error::TooMuchMemory { .. }) => errors += 1,
                    Err(error) => panic!("{}: {error}", path.display()),
                }
            }
        }
    }
    assert!(errors > 100 && pictures > 100, "{errors} errors, {pictures} pictures");
}
