//! Tests that open only one range of the data.

use std::io;
use std::sync::Mutex;

use super::*;
use crate::ReadAt;

/// An input in memory that records which of its bytes were read.
struct Watching<'a>(&'a [u8], Mutex<Vec<(u64, usize)>>);

impl ReadAt for Watching<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.1.lock().expect("a lock").push((position, buffer.len()));
        self.0.read_at(buffer, position)
    }
}

fn excerpt(opened: &Opened, sealed: &[u8], range: std::ops::Range<u64>) -> Result<Vec<u8>, Error> {
    let mut data = vec![0; range.end.saturating_sub(range.start).min(4 << 20) as usize];
    opened.read_range(&sealed, sealed.len() as u64, range, &mut Vec::new(), &mut data).map(|()| data)
}

fn open(sealed: &[u8], key: &PrivateKey) -> Opened {
    Header::read(sealed).and_then(|header| header.open(&[key.into()])).expect("opened")
}

#[test]
fn every_range_is_that_of_the_data() {
    let (private, public) = key(Kem::X25519);
    for (format, full) in [(Format::Deadpan, (256 << 10) - 32), (Format::Age, 64 << 10)] {
        let data: Vec<u8> = (0..3 * full as u32 + 5).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let sealing = Sealing::to(vec![public.clone()]).and_then(|it| it.format(format)).expect("recipients");
        let sealed = sealing.seal(&data).expect("sealed");
        let opened = open(&sealed, &private);
        let places = [0, 1, full - 1, full, full + 1, 2 * full, 3 * full - 1, 3 * full, 3 * full + 4, 3 * full + 5];
        for (i, begin) in places.into_iter().enumerate() {
            for end in &places[i..] {
                let found = excerpt(&opened, &sealed, begin as u64..*end as u64).expect("opened");
                assert!(found == data[begin..*end], "{format:?} {begin} {end}");
            }
        }
        let behind = data.len() as u64 + 1;
        for range in [0..behind, behind..8, u64::MAX - 1..u64::MAX] {
            assert!(matches!(excerpt(&opened, &sealed, range), Err(Error::Invalid(_))));
        }
    }
}

#[test]
fn one_read_brings_all_segments_and_no_others() {
    let (private, public) = key(Kem::X25519);
    let sealed = Sealing::to(vec![public]).and_then(|it| it.seal(&vec![7; 2_000_000])).expect("sealed");
    let opened = open(&sealed, &private);
    let watching = Watching(&sealed, Mutex::default());
    let (mut between, mut data) = (Vec::new(), vec![0; 400_000]);
    opened.read_range(&watching, sealed.len() as u64, 300_000..700_000, &mut between, &mut data).expect("opened");
    let begin = opened.header_length() + floe::HEADER as u64;
    let reads = watching.1.into_inner().expect("a lock");
    assert!(reads.iter().all(|(position, length)| *position < begin || *length == 2 << 18), "{reads:?}");
    assert_eq!(reads.last(), Some(&(begin + (1 << 18), 2 << 18)));

    let mut changed = sealed.clone();
    changed[begin as usize + (3 << 18) + 40] ^= 1;
    assert!(excerpt(&opened, &changed, 300_000..700_000).is_ok(), "the damage is elsewhere");
    assert!(matches!(excerpt(&opened, &changed, 300_000..800_000), Err(Error::Segment { segment: 3 })));
    // If a file was cut off after the range, the whole range is still there. A range in the last segment of the
    // shortened file does not open, because this segment is not marked as the last segment.
    let cut = &sealed[..begin as usize + (4 << 18)];
    assert!(excerpt(&opened, cut, 300_000..700_000).is_ok());
    assert!(matches!(excerpt(&opened, cut, 800_000..800_001), Err(Error::Segment { segment: 3 } | Error::Truncated)));
}

#[test]
fn a_buffer_is_filled_again_and_holds_no_data_after_a_failure() {
    let (private, public) = key(Kem::X25519);
    let data: Vec<u8> = (0..2_000_000_u32).map(|i| (i >> 7) as u8 | 1).collect();
    let mut sealed = Sealing::to(vec![public]).and_then(|it| it.seal(&data)).expect("sealed");
    let opened = open(&sealed, &private);
    let mut between = Vec::new();
    for (begin, end) in [(0, 700_000), (1_900_000, 2_000_000), (300_000, 300_001), (5, 5), (10, 1_000_000)] {
        let mut found = vec![0xff; end - begin];
        let length = sealed.len() as u64;
        let range = begin as u64..end as u64;
        opened.read_range(&&sealed[..], length, range.clone(), &mut between, &mut found).expect("opened");
        assert_eq!(found, data[begin..end]);
        for wrong in [&mut vec![3; end - begin + 1][..], &mut vec![3; (end - begin).saturating_sub(1)]] {
            let refused = opened.read_range(&&sealed[..], length, range.clone(), &mut between, wrong);
            let is_right = wrong.len() == end - begin;
            assert!(is_right || matches!(refused, Err(Error::Invalid(_))) && wrong.iter().all(|byte| *byte == 0));
        }
    }
    let begin = opened.header_length() + floe::HEADER as u64;
    sealed[begin as usize + (2 << 18) + 40] ^= 1;
    let mut found = vec![0; 700_000];
    let damaged = opened.read_range(&&sealed[..], sealed.len() as u64, 100_000..800_000, &mut between, &mut found);
    assert!(matches!(damaged, Err(Error::Segment { segment: 2 })));
    assert!(found.iter().all(|byte| *byte == 0), "what was opened before the damage is wiped");
}

#[test]
fn what_needs_its_end_has_no_excerpts() {
    let (private, public) = key(Kem::X25519);
    let hidden =
        Sealing::to(vec![public.clone()]).expect("recipients").hide_length(true).seal(b"data").expect("sealed");
    let signer = crate::key::sign::SigningKey::generate(crate::key::sign::Scheme::Ed25519).expect("a key");
    let signed = Sealing::to(vec![public]).and_then(|it| it.sign(signer.into())?.seal(b"data")).expect("sealed");
    for sealed in [hidden, signed] {
        assert!(matches!(excerpt(&open(&sealed, &private), &sealed, 0..1), Err(Error::Invalid(_))));
    }
}
