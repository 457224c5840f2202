//! Times templates, one thread at a time: hiding and extracting at 1 to 4 bits, and writing and reading PNG and WebP.
//! `cargo bench -p deadpan-bench --bench picture_template [-- ROUNDS]`.
//!
//! The cover is 4000 × 3000 pixels of waves and noise, as a camera adds it. The figures are megabytes in a second of
//! CPU time of the thread, the best of all rounds, with buffers that were used before. Other programs on the machine
//! hardly change the figures. The speeds of files count samples: at 2 bits, a byte of data takes four samples.
#![allow(clippy::print_stdout)]

use std::io::Cursor;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
use deadpan_picture::{Channels, Compression, Format, Label, Limits, Orientation, Pixels, read_into, write};

const WIDTH: u32 = 4000;
const HEIGHT: u32 = 3000;

fn main() {
    // `cargo bench` adds `--bench` to the arguments.
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let cover = photograph();
    println!("{WIDTH} × {HEIGHT} pixels, {rounds} rounds; MB of data in a second of CPU time");
    println!("{:22} {:>9} {:>9} {:>9}", "", "embed", "extract", "PSNR");
    let mut full = cover.clone();
    for order in [Order::Keyed, Order::InOrder] {
        for bits in 1..=4 {
            let pixels = hide(&cover, bits, order, rounds);
            if (bits, order) == (2, Order::Keyed) {
                full = pixels;
            }
        }
    }
    println!();
    println!("MB of samples in a second of CPU time, and the length of the file; 2 bits, keyed, full");
    println!("{:22} {:>9} {:>9} {:>9}", "", "write", "read", "length");
    for (name, compression) in [("fast", Compression::Fast), ("stored", Compression::Stored)] {
        let encode = |out: &mut Vec<u8>| write(&full, Format::Png, compression, 1, out).expect("written");
        file(&format!("png {name}"), &full, rounds, encode, decode_ours);
    }
    for compression in [png::Compression::Fastest, png::Compression::Fast, png::Compression::NoCompression] {
        file(
            &format!("crate png {compression:?}"),
            &full,
            rounds,
            |out| encode_png(&full, compression, out),
            decode_png,
        );
    }
    let encode = |out: &mut Vec<u8>| write(&full, Format::WebP, Compression::Fast, 1, out).expect("written");
    file("webp", &full, rounds.min(2), encode, decode_webp);
}

/// Times embedding and extracting with a full cover, and returns the result.
fn hide(cover: &Pixels, bits: u8, order: Order, rounds: u32) -> Pixels {
    let bits = Bits::new(bits).expect("1 to 4");
    let length = template::capacity(cover.samples.len() as u64, bits, 1);
    let mut part = vec![0; length as usize];
    blake3::Hasher::new().update(b"part").finalize_xof().fill(&mut part);
    let label = Label {
        set: [1; 16],
        index: 0,
        count: 1,
        spares: 0,
        length: length as u32,
        offset: 0,
        total: length,
        checksum: 0,
    };
    let hiding = Hiding { bits, order, set_key: [2; 32], doors: vec![Secret::open()] };
    let (mut pixels, mut copy) = (cover.clone(), vec![1; part.len()]);
    let (mut embedding, mut extracting) = (Duration::MAX, Duration::MAX);
    let mut psnr = 0.0;
    for _ in 0..rounds {
        pixels.samples.copy_from_slice(&cover.samples);
        let seed = Seed::random().expect("random");
        embedding = embedding.min(time(|| {
            psnr = template::embed(&mut pixels, &label, &part, &hiding, &seed, 1).expect("room").psnr();
        }));
        extracting = extracting.min(time(|| {
            let found = template::find(&pixels, &[Secret::open()]).expect("found");
            template::extract(&pixels, &found, &mut copy, 1);
        }));
        assert!(copy == part, "what was hidden is not what was extracted");
    }
    let name = format!("{} bits, {order:?}", bits.get());
    println!("{name:22} {:9.0} {:9.0} {psnr:6.2} dB", speed(part.len(), embedding), speed(part.len(), extracting));
    pixels
}

/// Times writing and reading.
fn file(name: &str, pixels: &Pixels, rounds: u32, encode: impl Fn(&mut Vec<u8>), decode: impl Fn(&[u8], &mut Vec<u8>)) {
    let (mut file, mut samples) = (Vec::new(), vec![1; pixels.samples.len()]);
    let (mut writing, mut reading) = (Duration::MAX, Duration::MAX);
    for _ in 0..=rounds {
        file.clear();
        writing = writing.min(time(|| encode(&mut file)));
        reading = reading.min(time(|| decode(&file, &mut samples)));
        assert!(samples == pixels.samples, "what was written is not what was read");
    }
    let length = pixels.samples.len();
    let share = file.len() as f64 / length as f64 * 100.0;
    println!("{name:22} {:9.0} {:9.0} {share:7.1} %", speed(length, writing), speed(length, reading));
}

fn encode_png(pixels: &Pixels, compression: png::Compression, out: &mut Vec<u8>) {
    let mut encoder = png::Encoder::new(out, pixels.width, pixels.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(compression);
    let mut writer = encoder.write_header().expect("header");
    writer.write_image_data(&pixels.samples).expect("pixels");
}

fn decode_ours(file: &[u8], samples: &mut Vec<u8>) {
    let room = std::mem::take(samples);
    let read = read_into(Cursor::new(file), Orientation::Ignore, &Limits::default(), room);
    *samples = read.expect("pixels").pixels.samples;
}

#[allow(clippy::ptr_arg)] // The decoders have one type.
fn decode_png(file: &[u8], samples: &mut Vec<u8>) {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("header");
    reader.next_frame(samples).expect("pixels");
}

#[allow(clippy::ptr_arg)] // The decoders have one type.
fn decode_webp(file: &[u8], samples: &mut Vec<u8>) {
    image_webp::WebPDecoder::new(Cursor::new(file)).expect("header").read_image(samples).expect("pixels");
}

/// Returns waves of several lengths with noise, whose standard deviation is 2.5.
fn photograph() -> Pixels {
    let row = WIDTH as usize * 3;
    let mut noise = vec![[0_u8; 4]; row * HEIGHT as usize];
    blake3::Hasher::new().finalize_xof().fill(noise.as_flattened_mut());
    let sample = |(at, noise): (usize, &[u8; 4])| {
        let (x, y, channel) = ((at % row / 3) as f32, (at / row) as f32, (at % 3) as f32);
        let coarse = 60.0 * (x / 700.0 + channel).sin() * (y / 500.0).cos();
        let fine = 15.0 * (x * 0.05 + y * 0.03).sin() + 6.0 * (x * 0.9).sin() * (y * 0.7).sin();
        let noise = noise.iter().map(|&byte| f32::from(byte) - 127.5).sum::<f32>() / 148.0 * 2.5;
        (128.0 + coarse + fine + noise) as u8
    };
    let samples = noise.iter().enumerate().map(sample).collect();
    Pixels { width: WIDTH, height: HEIGHT, channels: Channels::Rgb, samples }
}

fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e6
}

/// Returns the CPU time of this thread.
fn time(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let before = now();
    work();
    now() - before
}
