//! Other decoders read the written pictures.

use std::io::Cursor;

use deadpan_picture::template::{Bits, Hiding, Order, Secret, Seed, embed, find};
use deadpan_picture::{
    Channels, Compression, Error, Format, Label, Limits, Orientation, Pixels, checksum, is_readable, read, write,
};

fn picture(kind: &str, width: u32, height: u32, channels: Channels) -> Pixels {
    let length = width as usize * height as usize * channels.count();
    let mut noise = vec![0; length];
    blake3::Hasher::new().update(kind.as_bytes()).finalize_xof().fill(&mut noise);
    let row = width as usize * channels.count();
    let sample = |(at, noise): (usize, u8)| match kind {
        "photograph" => ((at % row) / 40 + at / row / 3) as u8 ^ (noise % 8),
        "flat" if noise % 64 == 0 && at % 1000 < 100 => noise,
        "flat" => 200,
        "black" => 0,
        _ => noise,
    };
    Pixels { width, height, channels, samples: noise.into_iter().enumerate().map(sample).collect() }
}

fn written(pixels: &Pixels, format: Format, compression: Compression, threads: usize) -> Vec<u8> {
    let mut file = Vec::new();
    write(pixels, format, compression, threads, &mut file).expect("write");
    file
}

/// Decodes with the crate `png`, which compares all checksums.
fn decoded(file: &[u8]) -> Pixels {
    let mut options = png::DecodeOptions::default();
    options.set_ignore_checksums(false);
    let mut reader = png::Decoder::new_with_options(Cursor::new(file), options).read_info().expect("header");
    let mut samples = vec![0; reader.output_buffer_size().expect("size")];
    let info = reader.next_frame(&mut samples).expect("pixels");
    reader.finish().expect("end");
    assert_eq!(info.bit_depth, png::BitDepth::Eight);
    let channels = match info.color_type {
        png::ColorType::Grayscale => Channels::Gray,
        png::ColorType::Rgb => Channels::Rgb,
        other => panic!("{other:?}"),
    };
    Pixels { width: info.width, height: info.height, channels, samples }
}

#[test]
fn png_pictures_come_back() {
    // The sizes give pictures with one pixel, one row, rows longer than a stored block, exactly one band, and several
    // bands.
    let sizes = [(1, 1), (7, 1), (1, 9), (640, 480), (70_000, 9), (1023, 512), (1023, 513), (300_000, 3)];
    for (width, height) in sizes {
        for channels in [Channels::Gray, Channels::Rgb] {
            for kind in ["photograph", "flat", "black", "noise"] {
                let pixels = picture(kind, width, height, channels);
                for compression in [Compression::Fast, Compression::Stored] {
                    let file = written(&pixels, Format::Png, compression, 1);
                    let what = format!("{kind}, {width} × {height}, {channels:?}, {compression:?}");
                    assert!(decoded(&file) == pixels, "{what}");
                    assert_eq!(written(&pixels, Format::Png, compression, 3), file, "{what}");
                }
            }
        }
    }
}

#[test]
fn fast_png_pictures_are_smaller_where_they_can_be() {
    for (kind, share) in [("photograph", 0.5), ("flat", 0.05), ("black", 0.02), ("noise", 1.01)] {
        let pixels = picture(kind, 1000, 1000, Channels::Rgb);
        let length = written(&pixels, Format::Png, Compression::Fast, 1).len() as f64 / 3e6;
        assert!(length < share, "{kind}: {length}");
    }
}

#[test]
fn webp_pictures_come_back() {
    for (width, height) in [(1, 1), (7, 1), (1, 9), (640, 480), (16_383, 2)] {
        for kind in ["photograph", "flat", "noise"] {
            let pixels = picture(kind, width, height, Channels::Rgb);
            let file = written(&pixels, Format::WebP, Compression::Fast, 1);
            let mut decoder = image_webp::WebPDecoder::new(Cursor::new(&file)).expect("header");
            assert_eq!((decoder.dimensions(), decoder.has_alpha()), ((width, height), false));
            let mut samples = vec![0; decoder.output_buffer_size().expect("size")];
            decoder.read_image(&mut samples).expect("pixels");
            assert!(samples == pixels.samples, "{kind}, {width} × {height}");
        }
    }
}

/// An earlier version wrote a gray template as a WebP file without an error, and the hidden data were lost.
#[test]
fn a_gray_template_is_no_webp_and_one_of_three_channels_comes_back() {
    let part = b"the part";
    let (length, total) = (part.len() as u32, part.len() as u64);
    let label =
        Label { set: [1; 16], index: 0, count: 1, spares: 0, length, offset: 0, total, checksum: checksum(part) };
    let doors = vec![Secret::open()];
    let hiding = Hiding { bits: Bits::new(2).expect("bits"), order: Order::Keyed, set_key: [2; 32], doors };
    let mut gray = picture("photograph", 100, 100, Channels::Gray);
    let mut color = gray.clone().into_rgb();
    for pixels in [&mut gray, &mut color] {
        embed(pixels, &label, part, &hiding, &Seed::random().expect("random"), 1).expect("room");
    }
    for compression in [Compression::Fast, Compression::Stored] {
        let mut file = Vec::new();
        let result = write(&gray, Format::WebP, compression, 1, &mut file);
        assert!(matches!(result, Err(Error::GrayWebP)) && file.is_empty(), "{result:?}");
        let file = written(&color, Format::WebP, compression, 1);
        let back = read(Cursor::new(file), Orientation::Ignore, &Limits::default()).expect("a picture").pixels;
        assert!(back == color && find(&back, &[Secret::open()]).is_some_and(|found| found.label == label));
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let good = picture("flat", 3, 3, Channels::Rgb);
    let none = Pixels { width: 0, samples: vec![], ..good.clone() };
    let short = Pixels { height: 4, ..good.clone() };
    let wide = picture("flat", 16_385, 1, Channels::Gray);
    for (pixels, format) in [(&none, Format::Png), (&short, Format::Png), (&short, Format::WebP), (&wide, Format::WebP)]
    {
        let result = write(pixels, format, Compression::Fast, 1, &mut Vec::new());
        assert!(matches!(result, Err(Error::Size { .. })), "{result:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let pixels = picture("noise", 2000, 2000, Channels::Rgb);
    for format in [Format::Png, Format::WebP] {
        for room in [0, 10, 40, 100_000] {
            let mut room = &mut vec![0; room][..];
            let result = write(&pixels, format, Compression::Fast, 2, &mut room);
            assert!(matches!(result, Err(Error::Write(_))), "{result:?}");
        }
    }
}

/// Readers refuse compressed pictures that are nearly empty. Readers accept the same pictures without compression.
#[test]
fn readers_take_what_is_readable() {
    for (width, length, expected) in
        [(9000, 1 << 20, true), (9000, 10_000, false), (9000, 85_000_000, true), (9, 60, true)]
    {
        let pixels =
            Pixels { width, height: width, channels: Channels::Gray, samples: vec![0; (width * width) as usize] };
        assert_eq!(is_readable(&pixels, length), expected, "{width} {length}");
    }
    let pixels = Pixels { width: 9000, height: 9000, channels: Channels::Gray, samples: vec![0; 81_000_000] };
    for compression in [Compression::Fast, Compression::Stored] {
        let mut file = Vec::new();
        write(&pixels, Format::Png, compression, 2, &mut file).unwrap();
        let is_read = read(Cursor::new(&file), Orientation::Ignore, &Limits::default()).is_ok();
        assert_eq!(is_readable(&pixels, file.len() as u64), is_read, "{compression:?}");
    }
}
