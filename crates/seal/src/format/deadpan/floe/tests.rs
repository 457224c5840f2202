//! Tests that compare FLOE with the known answers of other implementations, and tests that open what this module has
//! sealed.

mod damage;
mod failed;
mod fresh;
mod known;

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::*;
use crate::primitive::entropy::Entropy;

const KEY: [u8; 32] = [0; 32];
const AAD: &[u8] = b"This is AAD";

fn message() -> Message {
    Message::start(Parameters::with_segment(64).expect("long enough"), &KEY, AAD).expect("a message").0
}

fn small() -> (Vec<u8>, Vec<u8>) {
    let parameters = Parameters::with_segment(40).expect("long enough");
    let data: Vec<u8> = (0..29).collect();
    (seal(parameters, &KEY, AAD, &data).expect("sealed"), data)
}

/// Returns lengths near the ends of segments and near the segments at which the key changes.
fn sizes(data: usize) -> Vec<usize> {
    let around = |n: usize| [n.saturating_sub(1), n, n + 1];
    let mut sizes: Vec<usize> =
        [0, data, 2 * data, 4 * data, 5 * data, 8 * data].into_iter().flat_map(around).collect();
    sizes.dedup();
    sizes
}

#[test]
fn all_ways_in_and_out_agree() {
    for segment in [33, 40, 64, 4096, 256 << 10] {
        let parameters = Parameters::with_segment(segment).expect("long enough").with_rotation(2);
        for size in sizes(segment as usize - OVERHEAD) {
            let data: Vec<u8> = (0..size).map(|i| ((i * 31) >> 3) as u8).collect();
            let start = || Message::start_with(parameters, &KEY, AAD, Entropy::Fixed(1)).expect("a message");
            let (message, header) = start();
            let mut sealed = header.to_vec();
            message.seal_onto(&data, &mut sealed).expect("sealed");
            assert_eq!(sealed.len() as u64, HEADER as u64 + message.segments_for(size as u64).expect("short").sealed());

            for step in [1, 7, data.len() / 3 + 1, data.len() + 1] {
                if size / step > 100_000 {
                    continue;
                }
                let (message, header) = start();
                let mut writer = Writer::new(Arc::new(message), header.to_vec());
                data.chunks(step).for_each(|piece| writer.write_all(piece).expect("written"));
                assert!(
                    writer.finish().expect("finished") == sealed,
                    "{size} bytes in segments of {segment}, {step} at a time"
                );
            }

            let message = Arc::new(Message::resume_with_rotation(&KEY, AAD, &sealed[..HEADER], 2).expect("the header"));
            let mut again = Vec::new();
            Reader::new(message.clone(), &sealed[HEADER..]).read_to_end(&mut again).expect("opened");
            assert!(again == data, "{size} bytes in segments of {segment}");
            let mut anywhere = SeekReader::new(message, std::io::Cursor::new(&sealed), HEADER as u64).expect("the end");
            assert_eq!(anywhere.length(), size as u64);
            for begin in [size, size * 2 / 3, size / 3, 0] {
                let mut rest = Vec::new();
                anywhere.seek(SeekFrom::Start(begin as u64)).expect("a place");
                anywhere.read_to_end(&mut rest).expect("opened");
                assert!(rest == data[begin..], "from {begin} of {size} bytes");
            }
        }
    }
}
