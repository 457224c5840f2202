//! Reading any bytes as a picture: it never panics, obeys the limits, and agrees with the header that `probe` returns.
//! A picture that was turned upright has the same pixels as the stored picture, in another order. The search for the
//! label of a carrier in the pixels never panics.
//!
//! Input: a file.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;

use deadpan_picture::carrier::Finding;
use deadpan_picture::{Header, Limits, Orientation, probe, read};

fuzz_target!(|data: &[u8]| {
    let limits = Limits { pixels: 1 << 16, bytes: 1 << 22, ..Limits::default() };
    let header = probe(Cursor::new(data));
    let stored = read(Cursor::new(data), Orientation::Ignore, &limits);
    let shown = read(Cursor::new(data), Orientation::Apply, &limits);
    let Ok(stored) = stored else {
        assert!(shown.is_err(), "only upright");
        return;
    };
    let pixels = &stored.pixels;
    let (width, height, channels) = (pixels.width, pixels.height, pixels.channels);
    assert_eq!(header.expect("a header"), Header { format: stored.source, width, height, channels });
    let count = u64::from(width) * u64::from(height);
    assert!((1..=limits.pixels).contains(&count), "{count} pixels");
    assert_eq!(pixels.samples.len() as u64, count * channels.count() as u64);
    let _ = Finding::in_pixels(pixels);
    // Turning a picture upright needs memory, which the limits may not allow.
    if let Ok(mut shown) = shown {
        let mut stored = stored.pixels.samples;
        stored.sort_unstable();
        shown.pixels.samples.sort_unstable();
        assert_eq!(shown.pixels.samples, stored, "other samples");
    }
});
