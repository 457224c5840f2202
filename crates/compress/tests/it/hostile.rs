//! Stored bytes that nobody's compressor wrote.

use std::io::{Cursor, Read};

use proptest::prelude::*;

use crate::{compress, dense, expand, flaw, words, write};
use deadpan_compress::{FRAME, Flaw, SeekExpander};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Adds a seek table to frames with these stored lengths and lengths of data.
fn with_table(frames: &[u8], lines: &[(usize, usize)]) -> Vec<u8> {
    let mut stored = frames.to_vec();
    stored.extend([0x5e, 0x2a, 0x4d, 0x18]);
    stored.extend((8 * lines.len() as u32 + 9).to_le_bytes());
    for (stored_length, length) in lines {
        stored.extend((*stored_length as u32).to_le_bytes());
        stored.extend((*length as u32).to_le_bytes());
    }
    stored.extend((lines.len() as u32).to_le_bytes());
    stored.extend([0, 0xb1, 0xea, 0x92, 0x8f]);
    stored
}

/// A frame that states `stated` bytes, and has these blocks, each of a type, a size and bytes.
fn frame(stated: u32, blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut frame = [&MAGIC[..], &[0xa0], &stated.to_le_bytes()].concat();
    for (number, (kind, size, bytes)) in blocks.iter().enumerate() {
        let is_last = u32::from(number + 1 == blocks.len());
        frame.extend_from_slice(&(size << 3 | kind << 1 | is_last).to_le_bytes()[..3]);
        frame.extend_from_slice(bytes);
    }
    frame
}

/// Checks that both readers refuse one frame with a matching table, and that the reader of streams names the flaw.
fn refused(frame: &[u8], length: usize, expected: Flaw) {
    let stored = with_table(frame, &[(frame.len(), length)]);
    assert_eq!(flaw(&expand(&stored, 1).unwrap_err()), Some(expected), "{frame:02x?}");
    let read = SeekExpander::new(Cursor::new(&stored)).and_then(|mut reader| reader.read_to_end(&mut Vec::new()));
    assert!(flaw(&read.unwrap_err()).is_some());
}

#[test]
fn frames_made_by_hand_are_read() {
    let raw = frame(3, &[(0, 3, b"abc")]);
    assert_eq!(expand(&with_table(&raw, &[(raw.len(), 3)]), 1).unwrap(), b"abc");
    let runs = frame(5, &[(1, 4, b"x"), (0, 1, b"y")]);
    assert_eq!(expand(&with_table(&runs, &[(runs.len(), 5)]), 1).unwrap(), b"xxxxy");
    assert_eq!(expand(&with_table(b"", &[]), 1).unwrap(), b"");
}

#[test]
fn lies_about_the_length_are_refused() {
    // A bomb: one byte of a run stands for 128 KiB.
    let bomb: Vec<(u32, u32, &[u8])> = vec![(1, 128 << 10, b"x"); 100];
    refused(&frame(1000, &bomb), 1000, Flaw::Contents(0));
    refused(&frame(1000, &[(1, 999, b"x")]), 1000, Flaw::Contents(0));
    refused(&frame(1000, &[(1, 1001, b"x")]), 1000, Flaw::Contents(0));
    refused(&frame(0, &[(0, 0, b"")]), 0, Flaw::Header(0));
    refused(&frame(FRAME as u32 + 1, &bomb), FRAME, Flaw::Header(0));
    refused(&frame(u32::MAX, &bomb), FRAME, Flaw::Header(0));
    // A block may hold 128 KiB, and a frame may be only a little longer than its data.
    refused(&frame(FRAME as u32, &[(1, (128 << 10) + 1, b"x")]), FRAME, Flaw::Blocks(0));
    refused(&frame(10, &vec![(1, 0, &b"x"[..]); 100]), 10, Flaw::Blocks(0));
    refused(&frame(10, &[(3, 10, b"0123456789")]), 10, Flaw::Blocks(0));
}

#[test]
fn what_the_format_does_not_have_is_refused() {
    let [a, b, c, d] = MAGIC;
    for (header, why) in [
        (&[a, b, c, d, 0xa1, 1, 3, 0, 0, 0][..], "a dictionary"),
        (&[a, b, c, d, 0xa4, 3, 0, 0, 0], "a checksum"),
        (&[a, b, c, d, 0xa8, 3, 0, 0, 0], "a reserved bit"),
        (&[a, b, c, d, 0x00, 0x58], "no length"),
        (&[0x27, b, c, d, 0xa0, 3, 0, 0, 0], "an old format"),
        (&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0], "a skippable frame"),
    ] {
        let frame = [header, &[3 << 3 | 1, 0, 0], b"abc"].concat();
        let stored = with_table(&frame, &[(frame.len(), 3)]);
        assert_eq!(flaw(&expand(&stored, 1).unwrap_err()), Some(Flaw::Header(0)), "{why}");
        let read = SeekExpander::new(Cursor::new(&stored)).and_then(|mut it| it.read_to_end(&mut Vec::new()));
        assert!(flaw(&read.unwrap_err()).is_some(), "{why}");
    }
    // A window of 4 MiB, and a larger one.
    let window = |window| [&MAGIC[..], &[0x80, window, 3, 0, 0, 0, 3 << 3 | 1, 0, 0], b"abc"].concat();
    let allowed = window(12 << 3);
    assert_eq!(expand(&with_table(&allowed, &[(allowed.len(), 3)]), 1).unwrap(), b"abc");
    refused(&window(12 << 3 | 1), 3, Flaw::Header(0));
    refused(&window(31 << 3), 3, Flaw::Header(0));
    // A compressed block that refers to nothing.
    refused(&frame(3, &[(2, 3, b"abc")]), 3, Flaw::Contents(0));
}

#[test]
fn a_frame_before_the_last_must_be_full() {
    let short = frame(3, &[(0, 3, b"abc")]);
    let stored = with_table(&[&short[..], &short].concat(), &[(short.len(), 3), (short.len(), 3)]);
    assert_eq!(flaw(&expand(&stored, 1).unwrap_err()), Some(Flaw::Short(0)));
    assert_eq!(SeekExpander::new(Cursor::new(&stored)).err().as_ref().and_then(flaw), Some(Flaw::Table));
}

#[test]
fn a_table_of_other_frames_is_refused() {
    let data = words(FRAME + 1000);
    let stored = compress(&data, 3, 1);
    let end = stored.len() - 17 - 16;
    let lengths = |at: usize| u32::from_le_bytes(stored[end + at..end + at + 4].try_into().unwrap()) as usize;
    let (first, second) = (lengths(8), lengths(16));
    assert_eq!((first + second, lengths(12), lengths(20)), (end, FRAME, 1000));
    let with = |lines: &[(usize, usize)]| with_table(&stored[..end], lines);
    assert!(with(&[(first, FRAME), (second, 1000)]) == stored);
    for (lines, why) in [
        (&[(first, FRAME), (second, 999)][..], Flaw::OtherFrames),
        (&[(first - 1, FRAME), (second + 1, 1000)], Flaw::OtherFrames),
        (&[(first, FRAME - 1), (second, 1000)], Flaw::Table),
        (&[(first, FRAME), (second, 0)], Flaw::Table),
        (&[(first, FRAME), (second, FRAME + 1)], Flaw::Table),
    ] {
        let stored = with(lines);
        assert_eq!(flaw(&expand(&stored, 1).unwrap_err()), Some(why), "{lines:?}");
        let read = SeekExpander::new(Cursor::new(&stored)).and_then(|mut it| it.read_to_end(&mut Vec::new()));
        assert!(flaw(&read.unwrap_err()).is_some(), "{lines:?}");
    }
    // Lengths of data that so short a frame cannot have.
    let lies = with_table(b"", &[(0, FRAME), (0, FRAME)]);
    assert_eq!(SeekExpander::new(Cursor::new(&lies)).err().as_ref().and_then(flaw), Some(Flaw::Table));
    // A table with fewer or more lines than there are frames.
    for lines in [&[][..], &[(first + second, FRAME)], &[(first, FRAME), (second, FRAME), (0, 1000)]] {
        let stored = with(lines);
        assert!(flaw(&expand(&stored, 1).unwrap_err()).is_some(), "{lines:?}");
        let read = SeekExpander::new(Cursor::new(&stored)).and_then(|mut it| it.read_to_end(&mut Vec::new()));
        assert!(read.is_err(), "{lines:?}");
    }
}

/// The memory for a table follows from the length of the input, and not from what the table states.
#[test]
fn a_table_that_claims_to_be_long_is_refused_first() {
    for frames in [1 << 24, (1 << 24) + 1, u32::MAX] {
        let mut stored = with_table(b"", &[]);
        let end = stored.len() - 9;
        stored[end..end + 4].copy_from_slice(&frames.to_le_bytes());
        assert_eq!(SeekExpander::new(Cursor::new(&stored)).err().as_ref().and_then(flaw), Some(Flaw::Table));
        assert_eq!(flaw(&expand(&stored, 1).unwrap_err()), Some(Flaw::Table));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed bytes never panic, and both readers agree about what they give.
    #[test]
    fn mutants_are_read_alike_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
        piece in 1..9000_usize,
    ) {
        let data = [words(3000), dense(100), words(50_000)].concat();
        let mut stored = compress(&data, 1, 1);
        for (at, byte) in changes {
            let at = at.index(stored.len());
            stored[at] = byte;
        }
        if cuts {
            stored.truncate(cut.index(stored.len()));
        }
        let mut random = Vec::new();
        let read = SeekExpander::new(Cursor::new(&stored)).and_then(|mut it| it.read_to_end(&mut random));
        let written = write(&stored, piece, 2);
        match expand(&stored, 1) {
            Ok(streamed) => {
                prop_assert!(read.is_ok() && random == streamed);
                prop_assert!(written.is_ok_and(|written| written == streamed));
            }
            Err(error) => {
                prop_assert!(read.is_err() && flaw(&error).is_some());
                prop_assert_eq!(written.err().as_ref().and_then(flaw), flaw(&error));
            }
        }
    }
}
