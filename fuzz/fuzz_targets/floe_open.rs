//! Opening any bytes as a FLOE message: all ways of opening give the same result, and return only data that was sealed.
//!
//! Input: the kind of message, the sizes of the pieces, the length of the segments. The kind determines the rest of the
//! input: a message that is used unchanged; segments for a valid header; or changes to a message, followed by the data
//! that the target seals before the changes.
#![no_main]

use std::io::{Cursor, Read, Seek, SeekFrom};

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::{Cuts, Input, Pieces, change};
use deadpan_seal::floe::{self, HEADER, Message, OVERHEAD, Parameters, Reader, SeekReader};

const KEY: [u8; 32] = [7; 32];
const ABOUT: &[u8] = b"fuzz";

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let kind = input.byte();
    let cuts = Cuts::new(&mut input);
    let length = OVERHEAD + 1 + input.place() % 5000;
    let parameters = Parameters::with_segment(length as u32).expect("room for a byte");
    match kind % 4 {
        0 => assert_refused(input.rest(), b"", length, &cuts),
        1 => {
            let (_, header) = Message::start(parameters, &KEY, ABOUT).expect("a message");
            assert_refused(&[&header[..], input.rest()].concat(), b"", length, &cuts);
        }
        _ => {
            let mut changes = input.clone();
            input.0 = input.0.get(16..).unwrap_or_default();
            let data = input.bytes();
            let sealed = floe::seal(parameters, &KEY, ABOUT, &data).expect("sealed");
            assert_opens(&sealed, &data, length, &cuts);
            let mut changed = sealed.clone();
            change(&mut changes, &mut changed, HEADER, length);
            if changed != sealed {
                assert_refused(&changed, &data, length, &cuts);
            }
        }
    }
});

/// Reads a reader in pieces. Returns the bytes, and whether the reader reached the end.
fn read(mut reader: impl Read, cuts: &Cuts) -> (Vec<u8>, bool) {
    let (mut found, mut piece) = (Vec::new(), [0; 8200]);
    for size in cuts.sizes() {
        match reader.read(&mut piece[..size]) {
            Ok(0) => return (found, true),
            Ok(count) => found.extend_from_slice(&piece[..count]),
            Err(_) => {
                assert!(reader.read(&mut piece).is_err(), "a reader forgets an error");
                return (found, false);
            }
        }
    }
    unreachable!("the sizes go on for ever")
}

fn assert_opens(sealed: &[u8], data: &[u8], length: usize, cuts: &Cuts) {
    assert_eq!(floe::open(&KEY, ABOUT, sealed).expect("unchanged"), data, "open");
    let (header, segments) = sealed.split_at(HEADER);
    let message = Message::resume(&KEY, ABOUT, header).expect("unchanged");
    assert_eq!(read(Reader::new(&message, Pieces::new(cuts, segments)), cuts), (data.to_vec(), true), "Reader");

    // Reads pieces with seeks, from the end of the data to the beginning.
    let mut seek = SeekReader::new(&message, Cursor::new(sealed), HEADER as u64).expect("unchanged");
    assert_eq!(seek.length(), data.len() as u64);
    let mut end = data.len();
    for size in cuts.sizes().take(50) {
        let begin = end.saturating_sub(size);
        let mut piece = vec![0; end - begin];
        seek.seek(SeekFrom::Start(begin as u64)).expect("inside");
        seek.read_exact(&mut piece).expect("unchanged");
        assert_eq!(piece, data[begin..end], "SeekReader at {begin}");
        end = begin;
    }
    seek.rewind().expect("the start");
    assert_eq!(read(seek, cuts), (data.to_vec(), true), "SeekReader");

    // Opens each segment alone, from the last segment to the first segment.
    let layout = message.segments_in(segments.len() as u64).expect("unchanged");
    let mut cipher = message.cipher();
    for number in (0..layout.count()).rev() {
        let begin = layout.sealed_at(number) as usize;
        let sealed = &segments[begin..segments.len().min(begin + length)];
        let mut piece = vec![0; layout.data_in(number)];
        cipher.open(number, layout.is_last(number), sealed, &mut piece).expect("unchanged");
        assert_eq!(piece, data[layout.data_at(number) as usize..][..piece.len()], "segment {number}");
        assert!(cipher.open(number, !layout.is_last(number), sealed, &mut piece).is_err(), "an end that is none");
        assert!(cipher.open(number + 1, layout.is_last(number), sealed, &mut piece).is_err(), "another place");
    }
    assert!(Message::resume(&KEY, b"other", header).is_err() && Message::resume(&[8; 32], ABOUT, header).is_err());
}

/// Checks that every way of opening refuses `sealed`, which no sealing function made. A reader may return whole
/// segments of `data` before it returns its error.
fn assert_refused(sealed: &[u8], data: &[u8], length: usize, cuts: &Cuts) {
    assert!(floe::open(&KEY, ABOUT, sealed).is_err(), "open");
    let Some((header, segments)) = sealed.split_at_checked(HEADER) else { return };
    let Ok(message) = Message::resume(&KEY, ABOUT, header) else { return };
    let mut found = b"before".to_vec();
    assert!(message.open_onto(segments, &mut found).is_err(), "open_onto");
    assert_eq!(found, b"before", "what a failure leaves");

    let (found, ended) = read(Reader::new(&message, Pieces::new(cuts, segments)), cuts);
    assert!(!ended && data.starts_with(&found), "Reader");
    assert_eq!(found.len() % (length - OVERHEAD), 0, "Reader: part of a segment");
    let Ok(seek) = SeekReader::new(&message, Cursor::new(sealed), HEADER as u64) else { return };
    let (found, ended) = read(seek, cuts);
    assert!(!ended && data.starts_with(&found), "SeekReader");
}
