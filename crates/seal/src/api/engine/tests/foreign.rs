//! Tests with segment lengths that the program does not write. With these segment lengths, the data of a segment can
//! begin at any offset in a page, and a page can contain many segments.

use super::agree::open_in_all_ways;
use super::*;
use crate::format::deadpan::padding::Padded;
use crate::tests::foreign::Foreign;

/// Returns lengths of data. Returns lengths of data that end near the end of one of the first segments, at each offset
/// in a page, or near the end of a batch.
fn lengths(segment: u32) -> Vec<usize> {
    let data = segment as usize - 32;
    let counts: &[usize] = if data < 10_000 { &[0, 1, 2, 3, 127, 128, 129] } else { &[0, 1, 2] };
    let around = |count: &usize| [(count * data).saturating_sub(1), count * data, count * data + 1];
    let mut lengths: Vec<usize> = counts.iter().flat_map(around).collect();
    lengths.dedup();
    lengths
}

fn padded(data: &[u8]) -> Vec<u8> {
    let mut padded = Vec::new();
    Padded::new(data).read_to_end(&mut padded).expect("memory can be read");
    padded
}

/// Opens the data in memory, as a stream, and with positioned reads on many threads. All data are random, so that no
/// two segments are equal.
fn check(foreign: Foreign, data: &[u8], threads: &[usize]) {
    let sealed = if foreign.padded { foreign.seal(&padded(data)) } else { foreign.seal(data) };
    threads.iter().for_each(|threads| open_in_all_ways(&sealed, data, *threads));
}

const SEGMENTS: [u32; 7] = [4096, 4097, 4128, 5000, 8224, 1 << 20, 16 << 20];

#[test]
fn segments_of_any_length_open_in_all_ways() {
    for segment in SEGMENTS {
        for length in lengths(segment) {
            let threads: &[usize] = if length > 1_000_000 { &[2] } else { &[1, 2, 5] };
            for padded in [false, true] {
                check(Foreign { segment, padded, empty_last: false, ..Foreign::default() }, &sample(length), threads);
            }
        }
    }
}

/// The engine starts a second thread at 4 MiB of data and a fifth thread at 16 MiB. With several threads, batches begin
/// and end at any segment.
#[test]
fn batches_of_any_segments_meet() {
    for segment in SEGMENTS {
        let data = sample(17 << 20);
        let full = segment as usize - 32;
        let whole = &data[..((9 << 20) / full).max(1) * full];
        check(Foreign { segment, padded: false, empty_last: false, ..Foreign::default() }, &data, &[5]);
        check(Foreign { segment, padded: true, empty_last: false, ..Foreign::default() }, &data[..5_000_001], &[2]);
        check(Foreign { segment, padded: false, empty_last: true, ..Foreign::default() }, whole, &[2, 5]);
    }
}

#[test]
fn an_empty_last_segment_opens_in_all_ways() {
    for segment in SEGMENTS {
        let full = segment as usize - 32;
        for count in if full < 1_000_000 { &[1, 2, 128, 129][..] } else { &[1] } {
            check(
                Foreign { segment, padded: false, empty_last: true, ..Foreign::default() },
                &sample(count * full),
                &[1, 2, 5],
            );
            // Padded data have a Padmé length. Only some Padmé lengths are a whole number of segments.
            let hidden = deadpan_pad::padme((count * full) as u64).filter(|length| *length == (count * full) as u64);
            if let Some(length) = hidden {
                check(
                    Foreign { segment, padded: true, empty_last: true, ..Foreign::default() },
                    &sample(length as usize - 1),
                    &[1, 5],
                );
            }
        }
    }
}
