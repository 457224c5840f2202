//! Tests that reading does not exceed its memory limit.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Cursor;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use jpeg_encoder::SamplingFactor;
use png::{BitDepth, ColorType};

use crate::pictures::{
    ALPHA, JpegKind, JpegPicture, PngPicture, chunk, exif, riff, smooth, webp_empty, webp_groups, webp_lossless,
    webp_parts,
};
use deadpan_picture::{Error, Limits, Orientation, read};

/// Counts the bytes that are allocated, and records the maximum.
struct Counter;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "an allocator that counts")]
// SAFETY: the system's allocator does all the work, with the arguments of the caller.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(block, layout) }
    }

    // The system's allocator can shrink or move a large block without copying it.
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let now = NOW.fetch_add(size, Ordering::Relaxed) + size - layout.size();
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }
}

#[global_allocator]
static COUNTER: Counter = Counter;

/// The memory of decoders that is not counted: tables and buffers.
const BESIDE: usize = 1 << 20;

/// Reads a picture under a limit. Returns the maximum memory that reading took, and the result.
fn measured(file: &[u8], limits: &Limits) -> (usize, Result<(), Error>) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = read(Cursor::new(file), Orientation::Apply, limits);
    (MOST.load(Ordering::Relaxed) - before, result.map(drop))
}

/// Runs a test in a separate process, because the allocator counts for the whole process. Returns whether the caller is
/// in the separate process.
fn in_own_process(test: &str) -> bool {
    const OWN: &str = "DEADPAN_READ_MEMORY";
    if std::env::var_os(OWN).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args(["--exact", &format!("read_memory::{test}")]).env(OWN, "1").output();
    let output = output.expect("it runs");
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && out.contains("1 passed"), "{out}{error}");
    false
}

/// Finds the smallest memory limit under which each file is read, and checks that reading takes no more memory than
/// this limit or a smaller limit allows.
#[test]
fn memory_stays_below_the_limit() {
    if !in_own_process("memory_stays_below_the_limit") {
        return;
    }
    let (width, height) = (1200, 900);
    let samples = smooth(width, height, 3);
    let rgba: Vec<u8> = samples.chunks(3).flat_map(|pixel| [pixel, &[255]].concat()).collect();
    let png = |color, depth, interlaced| PngPicture { color, depth, interlaced, width, height };
    let jpeg = |kind, progressive| JpegPicture {
        kind,
        progressive,
        sampling: SamplingFactor::F_1_1,
        restarts: false,
        width: 1200,
        height: 900,
    };
    let lossless = webp_lossless(&rgba, width, height, image_webp::ColorType::Rgba8);
    let frame = webp_parts(&lossless).remove(0).1;
    let files = [
        ("png", png(ColorType::Rgb, BitDepth::Eight, false).file()),
        ("png rgba 16 interlaced", png(ColorType::Rgba, BitDepth::Sixteen, true).file()),
        ("png turned", png(ColorType::Rgb, BitDepth::Eight, false).file_with(&[(b"eXIf", &exif(6))])),
        ("png long text", png(ColorType::Rgb, BitDepth::Eight, false).file_with(&[(b"zTXt", &vec![7; 40 << 20])])),
        ("png long profile", png(ColorType::Rgb, BitDepth::Eight, false).file_with(&[(b"iCCP", &vec![7; 40 << 20])])),
        ("webp", lossless),
        ("webp long metadata", {
            let long = vec![7; 40 << 20];
            let chunks: [(&[u8; 4], &[u8]); 4] =
                [(b"ICCP", &long), (b"VP8L", &frame), (b"EXIF", &long), (b"XMP ", &long)];
            riff(Some((ALPHA, width, height)), &chunks)
        }),
        ("jpeg", jpeg(JpegKind::YCbCr, false).file(&samples, None)),
        ("jpeg progressive", jpeg(JpegKind::YCbCr, true).file(&samples, None)),
        ("jpeg inks", jpeg(JpegKind::Ycck, true).file(&samples, Some(&exif(8)))),
    ];
    for (name, file) in files {
        let mut read = 0;
        for bytes in (0..36).map(|step| step << 20) {
            let (most, result) = measured(&file, &Limits { bytes, ..Limits::default() });
            assert!(most <= bytes as usize + BESIDE, "{name}: {most} bytes at a limit of {bytes}");
            match result {
                Ok(()) => read += 1,
                Err(Error::TooMuchMemory { limit }) => assert!(limit == bytes && read == 0, "{name}: {bytes}"),
                Err(error) => panic!("{name}: {error}"),
            }
        }
        // Decoding must succeed at some limit: the estimated memory is not far above the memory that decoding takes.
        assert!(read > 0, "{name} needs more than {} bytes", 35 << 20);
    }
}

fn png_of(width: u32, height: u32, [depth, color, interlaced]: [u8; 3], chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, color, 0, 0, interlaced]].concat();
    let all = [(b"IHDR", &*head)].into_iter().chain(chunks.iter().copied()).chain([(b"IEND", &[][..])]);
    [b"\x89PNG\r\n\x1a\n".to_vec()].into_iter().chain(all.map(|(name, data)| chunk(name, data))).flatten().collect()
}

/// Returns a zlib stream of 32 MiB of zeros. The stream has about 32 KiB.
fn zeros() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 8192, 4095);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_compression(png::Compression::High);
    encoder.write_header().unwrap().write_image_data(&vec![0; 8192 * 4095]).unwrap();
    let mut rest = &file[8..];
    let mut stream = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (data, after) = after.split_at(4 + u32::from_be_bytes(*length) as usize);
        stream.extend(data.strip_prefix(b"IDAT").unwrap_or_default());
        rest = &after[4..];
    }
    assert!(stream.len() < 100_000, "{}", stream.len());
    stream
}

/// Returns a JPEG file whose frame header states another size.
fn jpeg_of(width: u16, height: u16, kind: JpegKind, progressive: bool, restarts: bool) -> Vec<u8> {
    let sampling = SamplingFactor::F_1_1;
    let picture = JpegPicture { kind, progressive, sampling, restarts, width: 16, height: 16 };
    let mut file = picture.file(&smooth(16, 16, picture.channels()), None);
    let frame = [0xff, if progressive { 0xc2 } else { 0xc0 }];
    let at = file.windows(2).position(|pair| pair == frame).unwrap() + 5;
    file[at..][..4].copy_from_slice(&[height.to_be_bytes(), width.to_be_bytes()].concat());
    file
}

/// With the default limits, the memory for reading a short file is in proportion to the file's length.
#[test]
fn memory_is_in_proportion_to_the_file() {
    if !in_own_process("memory_is_in_proportion_to_the_file") {
        return;
    }
    let zeros = zeros();
    let gray = [8, 0, 0];
    let text = [b"a\0\0".to_vec(), zeros.clone()].concat();
    let lossy = |width: u16, height: u16| {
        let sides = [width.to_le_bytes(), height.to_le_bytes()].concat();
        [&[0x10, 2, 0, 0x9d, 0x01, 0x2a], &*sides, &[0; 30]].concat()
    };
    let (wide, huge) = (lossy(16_383, 16_383), lossy(3000, 3000));
    let mut files = vec![
        ("webp of 34 bytes", webp_empty(16_384, 16_384)),
        ("webp of 34 bytes that is read", webp_empty(3800, 3800)),
        ("webp with loss", riff(None, &[(b"VP8 ", &wide)])),
        ("webp with loss that is begun", riff(None, &[(b"VP8 ", &huge)])),
        (
            "webp with an alpha plane",
            riff(Some((ALPHA, 3000, 3000)), &[(b"ALPH", &[1, 0x88, 0x88, 8]), (b"VP8 ", &huge)]),
        ),
        ("webp with a huge canvas", riff(Some((0, 1 << 24, 1 << 24)), &[(b"VP8 ", &lossy(1, 1))])),
        ("png without data", png_of(16_384, 16_384, [8, 2, 0], &[(b"IDAT", &[])])),
        ("png interlaced", png_of(16_384, 16_384, [16, 6, 1], &[(b"IDAT", &zeros)])),
        ("png of one bit", png_of(16_384, 16_384, [1, 0, 0], &[(b"IDAT", &zeros)])),
        ("png with a long row", png_of(1 << 28, 1, gray, &[(b"IDAT", &zeros)])),
        ("png with a long column", png_of(1, 1 << 28, gray, &[(b"IDAT", &zeros)])),
        ("png that inflates to more than its pixels", png_of(1, 1, gray, &[(b"IDAT", &zeros)])),
        ("png with a text", png_of(1, 1, gray, &[(b"zTXt", &text), (b"iTXt", &text), (b"IDAT", &zeros)])),
        ("png with a profile", png_of(1, 1, gray, &[(b"iCCP", &text), (b"IDAT", &zeros)])),
        ("png with many texts", {
            let texts = vec![(b"tEXt", &b"a\0b"[..]); 100_000];
            png_of(1, 1, gray, &[&texts[..], &[(b"IDAT", &zeros)]].concat())
        }),
        ("png animated", png_of(9000, 9000, gray, &[(b"acTL", &[0, 0, 255, 255, 0, 0, 0, 0]), (b"IDAT", &zeros)])),
    ];
    for (kind, progressive, restarts) in [
        (JpegKind::Gray, false, false),
        (JpegKind::YCbCr, false, true),
        (JpegKind::YCbCr, true, false),
        (JpegKind::Ycck, true, true),
    ] {
        files.push(("jpeg of 65 535 pixels a side", jpeg_of(65_535, 65_535, kind, progressive, restarts)));
        files.push(("jpeg below the most pixels", jpeg_of(65_535, 4000, kind, progressive, restarts)));
        files.push(("jpeg that is begun", jpeg_of(1800, 1800, kind, progressive, restarts)));
    }
    let scans = jpeg_of(2000, 1000, JpegKind::YCbCr, true, false);
    let (scan, end) = (scans.windows(2).rposition(|pair| pair == [0xff, 0xda]).unwrap(), scans.len() - 2);
    files.push(("jpeg of 3000 scans", [&scans[..end], &scans[scan..end].repeat(3000), &scans[end..]].concat()));
    let limits = Limits::default();
    for (name, file) in files {
        let (most, result) = measured(&file, &limits);
        let allowed = limits.free as usize + limits.per_byte as usize * file.len().min(1 << 16) + BESIDE;
        assert!(most <= allowed, "{name}: {most} bytes for a file of {}: {result:?}", file.len());
        match (name, result) {
            ("webp of 34 bytes that is read", result) => assert!(result.is_ok() && most > 45_000_000, "{name}: {most}"),
            (_, Ok(())) => {}
            (_, Err(error)) => {
                assert!(!matches!(error, Error::Read(_)), "{name}: {error}")
            }
        }
    }
}

/// A lossless WebP picture may have a group of codes for each 16 pixels, with tables that are 500 times as long as
/// their description in the file.
#[test]
fn tables_of_many_groups_count_as_memory() {
    if !in_own_process("tables_of_many_groups_count_as_memory") {
        return;
    }
    let file = webp_groups(64, 1);
    let mut refused = 0;
    for (free, per_byte) in [(0, 0), (0, 400), (1 << 20, 400), (16 << 20, 100), (64 << 20, 512)] {
        let limits = Limits { free, per_byte, ..Limits::default() };
        let (most, result) = measured(&file, &limits);
        let allowed = free as usize + per_byte as usize * file.len() + BESIDE;
        assert!(most <= allowed, "{most} bytes for a file of {}, not {allowed}: {result:?}", file.len());
        match result {
            Ok(()) => assert_eq!(limits, Limits::default(), "{most}"),
            Err(Error::Disproportionate { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(refused, 4);
    let (most, result) = measured(&file, &Limits { bytes: 16 << 20, ..Limits::default() });
    assert!(most <= (16 << 20) + BESIDE && matches!(result, Err(Error::TooMuchMemory { .. })), "{most}: {result:?}");
}

/// The file describes 8161 groups, but only 256 groups have pixels.
#[test]
fn groups_without_pixels_take_no_memory() {
    if !in_own_process("groups_without_pixels_take_no_memory") {
        return;
    }
    let file = webp_groups(4, 32);
    assert!(file.len() > 100_000, "{}", file.len());
    let (most, result) = measured(&file, &Limits { free: 6 << 20, per_byte: 0, ..Limits::default() });
    assert!(result.is_ok() && most < 6 << 20, "{most}: {result:?}");
}
