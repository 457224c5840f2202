//! Reading keeps its memory limit. In a file of its own, because the allocator counts for all tests of a program.

mod pictures;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use jpeg_encoder::SamplingFactor;
use png::{BitDepth, ColorType};

use deadpan_picture::{Error, Limits, Orientation, read};
use pictures::{ALPHA, JpegKind, JpegPicture, PngPicture, exif, riff, smooth, webp_lossless, webp_parts};

/// Counts the bytes that are allocated, and remembers the most.
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

    // The system shrinks and moves large blocks without a copy.
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

/// What decoders hold beside the memory that is counted: tables and buffers.
const BESIDE: usize = 1 << 20;

/// Reads under a limit. Returns the most memory that this took, and the result.
fn measured(file: &[u8], limits: &Limits) -> (usize, Result<(), Error>) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = read(Cursor::new(file), Orientation::Apply, limits);
    (MOST.load(Ordering::Relaxed) - before, result.map(drop))
}

/// Finds the least limit under which each file is read, and looks at the memory that this and lower limits take.
#[test]
fn memory_stays_below_the_limit() {
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
        // The estimate is not far above what decoding takes.
        assert!(read > 0, "{name} needs more than {} bytes", 35 << 20);
    }
}
