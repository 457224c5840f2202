//! Reading pictures of all kinds, through the public API.

mod pictures;

use std::collections::HashSet;
use std::io::Cursor;

use jpeg_encoder::SamplingFactor;
use png::{BitDepth, ColorType};

use deadpan_picture::{Channels, Decoded, Error, FileFormat, Header, Limits, Note, Orientation, Pixels, probe};
use pictures::{
    ALPHA, ANIMATION, EXIF, JpegKind, JpegPicture, PngPicture, SIZES, chunk, distance, exif, riff, smooth,
    webp_lossless, webp_parts,
};

fn read(file: &[u8]) -> Result<Decoded, Error> {
    deadpan_picture::read(Cursor::new(file), Orientation::Apply, &Limits::default())
}

#[test]
fn png_of_all_color_types_depths_and_interlacings() {
    let mut pictures = 0;
    for picture in PngPicture::all() {
        let file = picture.file();
        let PngPicture { width, height, color, depth, .. } = picture;
        let channels = picture.channels();
        let header = Header { format: FileFormat::Png, width, height, channels };
        assert_eq!(probe(Cursor::new(&file)).unwrap(), header, "{picture:?}");
        let Decoded { pixels, source, notes } = read(&file).unwrap_or_else(|error| panic!("{picture:?}: {error}"));
        assert_eq!((pixels.width, pixels.height, pixels.channels), (width, height, channels), "{picture:?}");
        assert_eq!(pixels.samples, picture.shown(), "{picture:?}");
        let mut expected = Vec::new();
        if depth == BitDepth::Sixteen {
            expected.push(Note::SixteenBits);
        }
        if matches!(color, ColorType::GrayscaleAlpha | ColorType::Rgba) {
            expected.push(Note::OpaqueAlpha);
        }
        assert_eq!((source, notes), (FileFormat::Png, expected), "{picture:?}");
        pictures += 1;
    }
    assert_eq!(pictures, 15 * 2 * SIZES.len());
}

#[test]
fn jpeg_of_all_colors_and_samplings() {
    let mut pictures = 0;
    for picture in JpegPicture::all() {
        let (width, height) = (u32::from(picture.width), u32::from(picture.height));
        let samples = smooth(width, height, picture.channels());
        let file = picture.file(&samples, None);
        let Decoded { pixels, source, notes } = read(&file).unwrap_or_else(|error| panic!("{picture:?}: {error}"));
        let header = probe(Cursor::new(&file)).unwrap();
        assert_eq!((header.width, header.height, header.channels), (width, height, pixels.channels), "{picture:?}");
        assert_eq!((header.format, source), (FileFormat::Jpeg, FileFormat::Jpeg));
        assert_eq!((pixels.width, pixels.height), (width, height), "{picture:?}");
        // Wrong colors would be thousands.
        let distance = distance(&pixels.samples, &samples);
        assert!(distance < 40.0, "{picture:?}: {distance}");
        let inks = matches!(picture.kind, JpegKind::AdobeCmyk | JpegKind::PlainCmyk | JpegKind::Ycck);
        assert_eq!(notes, if inks { vec![Note::Inks] } else { vec![] }, "{picture:?}");
        pictures += 1;
    }
    assert_eq!(pictures, 6 * 2 * 5 * 6);
}

const RGB: PngPicture =
    PngPicture { color: ColorType::Rgb, depth: BitDepth::Eight, interlaced: false, width: 9, height: 5 };

/// A lossy picture of 16 × 12, written by `cwebp -q 80` 1.2.4 from `smooth(16, 12, 3)`.
const LOSSY: &[u8] = include_bytes!("data/lossy.webp");

#[test]
fn webp_of_all_kinds() {
    let samples = smooth(16, 12, 3);
    let with_alpha = |alpha: u8| samples.chunks(3).flat_map(|pixel| [pixel, &[alpha]].concat()).collect::<Vec<u8>>();
    let plain = webp_lossless(&samples, 16, 12, image_webp::ColorType::Rgb8);
    let opaque = webp_lossless(&with_alpha(255), 16, 12, image_webp::ColorType::Rgba8);
    let clear = webp_lossless(&with_alpha(254), 16, 12, image_webp::ColorType::Rgba8);
    let frame = |file: &[u8]| webp_parts(file).remove(0).1;
    let lossy = frame(LOSSY);
    // One byte that says how alpha is stored, then the plane as it is.
    let plane = |alpha: u8| [&[0][..], &[alpha; 16 * 12]].concat();
    let extended = |flags| Some((flags, 16, 12));
    let metadata: [(&[u8; 4], &[u8]); 3] = [(b"ICCP", &[7; 131]), (b"XMP ", &[9; 70_001]), (b"odd ", &[1; 3])];

    let mut lossless = vec![(plain.clone(), false), (opaque.clone(), true)];
    for (file, alpha) in [(&plain, false), (&opaque, true)] {
        let [icc, xmp, odd] = metadata;
        let frame = frame(file);
        lossless.push((riff(extended(if alpha { ALPHA } else { 0 }), &[icc, odd, (b"VP8L", &frame), xmp]), alpha));
    }
    for (file, alpha) in lossless {
        let Decoded { pixels, source, notes } = read(&file).unwrap();
        assert_eq!((source, &pixels.samples), (FileFormat::WebPLossless, &samples));
        assert_eq!(notes, if alpha { vec![Note::OpaqueAlpha] } else { vec![] });
        let header = Header { format: source, width: 16, height: 12, channels: Channels::Rgb };
        assert_eq!(probe(Cursor::new(&file)).unwrap(), header);
    }
    for (file, notes) in [
        (LOSSY.to_vec(), vec![]),
        (riff(extended(0), &[metadata[0], (b"VP8 ", &lossy), metadata[1]]), vec![]),
        (riff(extended(ALPHA), &[(b"ALPH", &plane(255)), (b"VP8 ", &lossy)]), vec![Note::OpaqueAlpha]),
    ] {
        let decoded = read(&file).unwrap();
        assert_eq!((decoded.source, decoded.notes), (FileFormat::WebPLossy, notes));
        assert!(distance(&decoded.pixels.samples, &samples) < 40.0);
        assert_eq!(probe(Cursor::new(&file)).unwrap().format, FileFormat::WebPLossy);
    }
    let animated = riff(extended(ANIMATION), &[(b"ANIM", &[0; 6]), (b"ANMF", &[0; 40])]);
    assert!(matches!(read(&animated), Err(Error::Animated)));
    assert!(matches!(read(&clear), Err(Error::Transparent)));
    let clear = riff(extended(ALPHA), &[(b"ALPH", &plane(254)), (b"VP8 ", &lossy)]);
    assert!(matches!(read(&clear), Err(Error::Transparent)));
    let other_size = riff(Some((0, 17, 12)), &[(b"VP8 ", &lossy)]);
    assert!(matches!(read(&other_size), Err(Error::Damaged { .. })));
    assert!(matches!(read(&riff(extended(0), &metadata)), Err(Error::Damaged { .. })));
}

/// `image-webp` 0.2.4 takes a side of 16 384 for 0 if there is no extended header.
#[test]
fn webp_of_16384_pixels_a_side() {
    for (width, height) in [(16_384, 2), (2, 16_384), (16_383, 1)] {
        let samples = smooth(width, height, 3);
        let file = webp_lossless(&samples, width, height, image_webp::ColorType::Rgb8);
        let pixels = read(&file).unwrap().pixels;
        assert_eq!((pixels.width, pixels.height, pixels.samples), (width, height, samples));
    }
}

#[test]
fn exif_orientation_is_applied_to_covers_only() {
    let samples = smooth(16, 12, 3);
    let mut shown_pictures = HashSet::new();
    for orientation in 1..=8 {
        let exif = exif(orientation);
        let jpeg = JpegPicture {
            kind: JpegKind::YCbCr,
            progressive: false,
            sampling: SamplingFactor::F_1_1,
            restarts: false,
            width: 16,
            height: 12,
        };
        let frame = webp_parts(LOSSY).remove(0).1;
        let png = PngPicture { width: 16, height: 12, ..RGB };
        let after = [&png.file()[..png.file().len() - 12], &chunk(b"eXIf", &exif), &chunk(b"IEND", &[])].concat();
        for file in [
            jpeg.file(&samples, Some(&exif)),
            riff(Some((EXIF, 16, 12)), &[(b"VP8 ", &frame), (b"EXIF", &exif)]),
            png.file_with(&[(b"eXIf", &exif)]),
            after,
        ] {
            let stored = deadpan_picture::read(Cursor::new(&file), Orientation::Ignore, &Limits::default()).unwrap();
            assert_eq!((stored.pixels.width, stored.pixels.height), (16, 12));
            assert_eq!(stored.notes, []);
            let shown = read(&file).unwrap();
            let turned = orientation > 1;
            assert_eq!(shown.notes, if turned { vec![Note::TurnedUpright] } else { vec![] });
            assert_eq!(shown.pixels != stored.pixels, turned);
            let sides = if orientation > 4 { (12, 16) } else { (16, 12) };
            assert_eq!((shown.pixels.width, shown.pixels.height), sides);
            shown_pictures.insert((shown.source.to_string(), shown.pixels.samples));
        }
    }
    // Each orientation differs, and both places in a PNG file give the same.
    assert_eq!(shown_pictures.len(), 3 * 8);
}

#[test]
fn png_transparency_and_animation_are_refused() {
    let gray = PngPicture { color: ColorType::Grayscale, ..RGB };
    let palette = PngPicture { color: ColorType::Indexed, depth: BitDepth::Four, ..RGB };
    let [a, b, c] = *RGB.shown().first_chunk().unwrap();
    for file in [
        RGB.file_with(&[(b"tRNS", &[0, a, 0, b, 0, c])]),
        gray.file_with(&[(b"tRNS", &[0, gray.shown()[0]])]),
        palette.file_with(&[(b"tRNS", &[0; 16])]),
    ] {
        assert!(matches!(read(&file), Err(Error::Transparent)));
    }
    // A transparent color that no pixel has leaves all pixels opaque.
    let unused = RGB.file_with(&[(b"tRNS", &[1, 0, 1, 0, 1, 0])]);
    assert_eq!(read(&unused).unwrap().pixels.samples, RGB.shown());
    let animated = RGB.file_with(&[(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0])]);
    assert!(matches!(read(&animated), Err(Error::Animated)));
}

#[test]
fn gamma_and_profiles_change_no_sample() {
    let chunks: [(&[u8; 4], &[u8]); 4] =
        [(b"gAMA", &[0, 0, 0x27, 0x10]), (b"sBIT", &[3, 3, 3]), (b"iCCP", &[7; 99]), (b"cHRM", &[9; 32])];
    assert_eq!(read(&RGB.file_with(&chunks)).unwrap().pixels.samples, RGB.shown());
}

#[test]
fn other_files_are_no_pictures() {
    for file in [&b""[..], b"G", b"GIF89a", b"\x89PNG", b"RIFF\0\0\0\0WAVE", b"\xff\xd8", b"BM", &[0; 100]] {
        assert!(matches!(read(file), Err(Error::NotAPicture)), "{file:?}");
        assert!(matches!(probe(Cursor::new(file)), Err(Error::NotAPicture)), "{file:?}");
    }
}

#[test]
fn sizes_are_checked_before_memory_is_allocated() {
    let mut png = RGB.file();
    for (width, height) in [(u32::MAX >> 1, u32::MAX >> 1), (1 << 14, (1 << 14) + 1)] {
        let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
        png.splice(8..33, chunk(b"IHDR", &head));
        assert!(matches!(read(&png), Err(Error::TooManyPixels { limit: 0x1000_0000, .. })));
    }
    for (width, height) in [(0, 5_u32), (5, 0), (1 << 31, 1), (u32::MAX, 1)] {
        let head = [&u32::to_be_bytes(width)[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
        png.splice(8..33, chunk(b"IHDR", &head));
        assert!(matches!(read(&png), Err(Error::Damaged { .. })), "{width} × {height}");
        assert!(matches!(probe(Cursor::new(&png)), Err(Error::Damaged { .. })));
    }
    let few = Limits { pixels: 44, ..Limits::default() };
    let error = deadpan_picture::read(Cursor::new(RGB.file()), Orientation::Apply, &few).unwrap_err();
    assert_eq!(error.to_string(), "9 × 5 pixels are more than the limit of 44");
}

fn small_files() -> Vec<Vec<u8>> {
    let samples = smooth(16, 12, 3);
    let jpeg = |progressive, kind| {
        let sampling = SamplingFactor::F_2_2;
        JpegPicture { kind, progressive, sampling, restarts: progressive, width: 16, height: 12 }
    };
    vec![
        RGB.file(),
        PngPicture { interlaced: true, color: ColorType::Indexed, ..RGB }.file_with(&[(b"eXIf", &exif(6)[..40])]),
        LOSSY.to_vec(),
        riff(Some((0, 16, 12)), &[(b"EXIF", &exif(6)[..40]), (b"VP8 ", &webp_parts(LOSSY)[0].1)]),
        webp_lossless(&samples, 16, 12, image_webp::ColorType::Rgb8),
        jpeg(false, JpegKind::YCbCr).file(&samples, Some(&exif(6)[..40])),
        jpeg(true, JpegKind::Ycck).file(&samples, None),
    ]
}

#[test]
fn files_that_are_cut_anywhere_are_refused() {
    for file in small_files() {
        let whole = read(&file).unwrap();
        for end in 0..file.len() {
            match read(&file[..end]) {
                Err(Error::NotAPicture) => assert!(end < 12, "{end}"),
                Err(Error::Cut(format)) => assert_eq!(format.to_string(), whole.source.to_string()),
                other => panic!("{} bytes of {}: {other:?}", end, file.len()),
            }
        }
    }
}

#[test]
fn files_with_a_flipped_byte_do_no_harm() {
    let limits = Limits { pixels: 1 << 16, bytes: 1 << 22 };
    for mut file in small_files() {
        for at in 0..file.len() {
            let byte = file[at];
            for flipped in [byte ^ 1, byte ^ 0x80, !byte, 0, 0xff] {
                file[at] = flipped;
                let _ = probe(Cursor::new(&file));
                if let Ok(decoded) = deadpan_picture::read(Cursor::new(&file), Orientation::Apply, &limits) {
                    let Pixels { width, height, channels, samples } = decoded.pixels;
                    assert_eq!(samples.len(), width as usize * height as usize * channels.count());
                }
            }
            file[at] = byte;
        }
    }
}
