//! Reading pictures of all kinds, through the public API.

use std::collections::HashSet;
use std::io::Cursor;

use jpeg_encoder::SamplingFactor;
use png::{BitDepth, ColorType};

use crate::pictures::{
    ALPHA, ANIMATION, EXIF, JpegKind, JpegPicture, PngPicture, SIZES, chunk, distance, exif, riff, smooth, webp_empty,
    webp_lossless, webp_parts,
};
use deadpan_picture::{Channels, Decoded, Error, FileFormat, Header, Limits, Note, Orientation, Pixels, probe};

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
        // If the colors were wrong, the distance between the samples would be thousands.
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
const LOSSY: &[u8] = include_bytes!("../data/lossy.webp");

#[test]
fn webp_of_all_kinds() {
    let samples = smooth(16, 12, 3);
    let with_alpha = |alpha: u8| samples.chunks(3).flat_map(|pixel| [pixel, &[alpha]].concat()).collect::<Vec<u8>>();
    let plain = webp_lossless(&samples, 16, 12, image_webp::ColorType::Rgb8);
    let opaque = webp_lossless(&with_alpha(255), 16, 12, image_webp::ColorType::Rgba8);
    let clear = webp_lossless(&with_alpha(254), 16, 12, image_webp::ColorType::Rgba8);
    let frame = |file: &[u8]| webp_parts(file).remove(0).1;
    let lossy = frame(LOSSY);
    // The first byte states how alpha is stored. The uncompressed plane follows.
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

/// If there is no extended header, `image-webp` 0.2.4 reads a width or height of 16 384 pixels as 0.
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
fn long_chunks_are_named_as_the_reason() {
    let png = PngPicture { width: 16, height: 12, ..RGB }.file_with(&[(b"eXIf", &vec![0; 17 << 20])]);
    let error = read(&png).unwrap_err();
    assert_eq!(error.to_string(), "the PNG file has a chunk that is too long, which is not supported");
}

#[test]
fn limits_say_which_files_are_in_proportion() {
    let limits = Limits { bytes: 1 << 20, free: 1000, per_byte: 10, ..Limits::default() };
    assert!(limits.allow(1000, 0) && limits.allow(1100, 10) && limits.allow(1 << 20, 1 << 20));
    assert!(!limits.allow(1001, 0) && !limits.allow(1101, 10) && !limits.allow((1 << 20) + 1, 1 << 20));
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
    // The orientations give different pictures, and both places of EXIF data in a PNG file give the same picture.
    assert_eq!(shown_pictures.len(), 3 * 8);
}

/// The crate `png` panics at palettes of another length.
#[test]
fn png_palettes_of_another_length_are_refused() {
    let png = PngPicture {
        color: png::ColorType::Indexed,
        depth: png::BitDepth::Eight,
        interlaced: false,
        width: 5,
        height: 3,
    };
    let file = png.file();
    let at = file.windows(4).position(|name| name == b"PLTE").expect("a palette") - 4;
    for length in [0, 1, 2, 512, 766, 767, 769, 771, 1000] {
        let mut damaged = file.clone();
        damaged.splice(at..at + 12 + 768, chunk(b"PLTE", &vec![7; length]));
        assert!(read(&damaged).is_err(), "{length}");
    }
    assert!(read(&file).is_ok());
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
    for file in [&b""[..], b"G", b"GIF88a", b"\x89PNG", b"RIFF\0\0\0\0WAVE", b"\xff\xd8", b"BM", &[0; 100]] {
        assert!(matches!(read(file), Err(Error::NotAPicture)), "{file:?}");
        assert!(matches!(probe(Cursor::new(file)), Err(Error::NotAPicture)), "{file:?}");
    }
}

#[test]
fn pictures_of_other_formats_are_named() {
    for (file, name) in [
        (&b"GIF89a\x01\0\x01\0\x80\0"[..], "GIF"),
        (b"GIF87a", "GIF"),
        (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0", "BMP"),
        (b"II*\0\x08\0\0\0", "TIFF"),
        (b"MM\0*\0\0\0\x08", "TIFF"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0", "HEIC"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "AVIF"),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL"),
        (b"\xff\x0a\xfa\x1f", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
    ] {
        for error in [read(file).unwrap_err(), probe(Cursor::new(file)).unwrap_err()] {
            assert!(matches!(error, Error::OtherFormat(found) if found == name), "{name}: {error}");
        }
    }
}

/// A baseline or progressive picture of 16 × 12.
fn small_jpeg(progressive: bool) -> Vec<u8> {
    let sampling = SamplingFactor::F_1_1;
    let kind = JpegKind::YCbCr;
    let jpeg = JpegPicture { kind, progressive, sampling, restarts: false, width: 16, height: 12 };
    jpeg.file(&smooth(16, 12, 3), None)
}

/// Returns the offset of the marker at the beginning of the last segment of this kind.
fn last_marker(file: &[u8], kind: u8) -> usize {
    file.windows(2).rposition(|pair| pair == [0xff, kind]).unwrap()
}

#[test]
fn jpeg_of_many_scans_is_refused() {
    for progressive in [false, true] {
        let file = small_jpeg(progressive);
        let scans = file.windows(2).filter(|pair| *pair == [0xff, 0xda]).count();
        let (scan, end) = (last_marker(&file, 0xda), file.len() - 2);
        let with = |scans| [&file[..end], &file[scan..end].repeat(scans), &file[end..]].concat();
        let most = Limits::default().scans;
        assert_eq!(read(&with(0)).unwrap().pixels.samples, read(&file).unwrap().pixels.samples);
        // A repeated scan is an error or changes the picture. But this test is only about the number of scans.
        let many =
            |file: Vec<u8>| matches!(read(&file), Err(error) if error.to_string().contains("more than 100 scans"));
        assert!(!many(with(most - scans)));
        assert!(many(with(most - scans + 1)));
        assert!(many(with(3000)));
        let few = Limits { scans: scans - 1, ..Limits::default() };
        let error = deadpan_picture::read(Cursor::new(&file), Orientation::Apply, &few);
        assert!(error.is_err_and(|error| error.to_string().contains("scans")));
    }
}

#[test]
fn jpeg_metadata_between_scans_and_data_after_the_end_change_nothing() {
    for progressive in [false, true] {
        let file = small_jpeg(progressive);
        let expected = read(&file).unwrap();
        let comment = [&b"\xff\xfe\xff\xff"[..], &[0xd9; 65_533]].concat();
        let profile = [&b"\xff\xe2\xff\xff"[..], &[0xda; 65_533]].concat();
        let (scan, end) = (last_marker(&file, 0xda), file.len() - 2);
        for at in [scan, end] {
            let file = [&file[..at], &comment, b"\xff\xff", &profile[1..], &file[at..], b"\xff\xd8 and more"].concat();
            assert_eq!(read(&file).unwrap(), expected, "{progressive} {at}");
        }
    }
}

#[test]
fn data_far_longer_than_the_pixels_are_refused() {
    let jpeg = small_jpeg(false);
    let end = jpeg.len() - 2;
    let long = vec![0; 2 << 20];
    let lossy = webp_parts(LOSSY).remove(0).1;
    let plane = [&[0][..], &[255; 16 * 12], &long].concat();
    for file in [
        [&jpeg[..end], &long, &jpeg[end..]].concat(),
        riff(None, &[(b"VP8 ", &[&*lossy, &long].concat())]),
        riff(Some((ALPHA, 16, 12)), &[(b"ALPH", &plane), (b"VP8 ", &lossy)]),
    ] {
        let error = read(&file).unwrap_err().to_string();
        assert!(error.ends_with("file is damaged: it has more data than its pixels need"), "{error}");
    }
}

/// A flipped byte causes errors in all decoders. The messages of the decoders often contain names of their types, which
/// must not appear in our messages.
#[test]
fn errors_are_in_plain_words() {
    let plain = [
        "its pixels cannot be decoded",
        "which is not supported",
        "ends too early",
        "is animated",
        "has transparent pixels",
        "the limit of",
        "not a PNG, WebP or JPEG picture",
        "of memory, which is out of proportion to its file of",
        "it has ",
        "its ",
        "one of its ",
        " pixels",
        "color type ",
    ];
    let mut errors = HashSet::new();
    for mut file in small_files() {
        for at in 0..file.len() {
            let byte = file[at];
            for flipped in [byte ^ 1, !byte, 0, 0xff] {
                file[at] = flipped;
                if let Err(error) = read(&file) {
                    errors.insert(error.to_string());
                }
            }
            file[at] = byte;
        }
    }
    assert!(errors.len() > 10, "{errors:?}");
    for error in errors {
        assert!(plain.iter().any(|words| error.contains(words)), "{error}");
        let ours = error.replace("IHDR", "").replace("JPEG", "").replace("PNG", "").replace("WebP", "");
        assert!(!ours.contains(['(', '"', '`', '_']), "{error}");
    }
}

/// A drawing or photograph that has only one color is accepted, unless the picture is far larger than the pictures of
/// cameras.
#[test]
fn flat_pictures_are_read() {
    let (width, height) = (4000, 3000);
    let mut files = vec![webp_empty(width, height)];
    for (color, depth, side) in [
        (ColorType::Rgb, BitDepth::Eight, 1),
        (ColorType::Grayscale, BitDepth::One, 2),
        (ColorType::Grayscale, BitDepth::Eight, 1),
    ] {
        let (width, height) = (width * side, height * side);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.set_compression(png::Compression::High);
        let row = (width as usize * color.samples() * depth as usize).div_ceil(8);
        encoder.write_header().unwrap().write_image_data(&vec![255; row * height as usize]).unwrap();
        files.push(file);
    }
    for file in files {
        let pixels = read(&file).unwrap().pixels;
        assert!(pixels.samples.iter().all(|sample| *sample == pixels.samples[0]));
        let most = file.len() as u64;
        assert!(pixels.samples.len() as u64 > 512 * most, "{most} bytes");
    }
}

#[test]
fn a_caller_decides_what_is_out_of_proportion() {
    let file = webp_empty(1000, 1000);
    let strict = Limits { free: 0, ..Limits::default() };
    let error = deadpan_picture::read(Cursor::new(&file), Orientation::Apply, &strict).unwrap_err();
    assert!(matches!(error, Error::Disproportionate { memory: 7_000_000, length: 34 }), "{error}");
    let text = "reading the picture takes 7 MiB of memory, which is out of proportion to its file of 34 bytes";
    assert_eq!(error.to_string(), text);
    for limits in [Limits::default(), Limits { per_byte: u64::MAX, ..strict }, Limits { free: 7_100_000, ..strict }] {
        assert!(deadpan_picture::read(Cursor::new(&file), Orientation::Apply, &limits).is_ok());
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
    let limits = Limits { pixels: 1 << 16, bytes: 1 << 22, ..Limits::default() };
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
