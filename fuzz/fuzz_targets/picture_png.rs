//! Any bytes as the deflate blocks of a PNG picture, with the right checksums. If this project's readers accept the
//! picture, the crate `png` also accepts it and returns the same pixels.
//!
//! Input: width, height, whether the picture is gray, and the blocks.
#![no_main]

use std::io::Cursor;

use crc_fast::{CrcAlgorithm, checksum};
use libfuzzer_sys::fuzz_target;

use deadpan_picture::{Limits, Orientation, read};

const LIMITS: Limits = Limits { pixels: 1 << 16, bytes: 1 << 24, free: 1 << 24, per_byte: 0, scans: 0 };

fuzz_target!(|data: &[u8]| {
    let Some(([width, height, gray], blocks)) = data.split_first_chunk() else { return };
    let color = if gray % 2 == 1 { 0 } else { 2 };
    let header = [&[0, 0, 0, *width, 0, 0, 0, *height][..], &[8, color, 0, 0, 0]].concat();
    // Decoders do not compare the checksum at the end.
    let stream = [&[0x78, 0x01][..], blocks, &[0; 4]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, contents) in [(b"IHDR", &header), (b"IDAT", &stream), (b"IEND", &Vec::new())] {
        let chunk = [kind, contents.as_slice()].concat();
        file.extend((contents.len() as u32).to_be_bytes());
        file.extend(&chunk);
        file.extend((checksum(CrcAlgorithm::Crc32IsoHdlc, &chunk) as u32).to_be_bytes());
    }
    let Ok(ours) = read(Cursor::new(&file), Orientation::Ignore, &LIMITS) else { return };
    let mut reader = png::Decoder::new(Cursor::new(&file)).read_info().expect("we read it");
    let mut theirs = vec![0; reader.output_buffer_size().expect("a small picture")];
    reader.next_frame(&mut theirs).expect("we read it");
    assert_eq!(ours.pixels.samples, theirs, "other pixels than png");
});
