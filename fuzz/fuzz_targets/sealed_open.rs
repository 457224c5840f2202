//! Opening a sealed file: all ways of opening agree and return the data. For a changed file, opening returns nothing,
//! or only whole segments from the beginning of the file. Padding is removed only if its bytes are valid.
//!
//! Input: the function that writes the file and its options, the sizes of the pieces, changes to the file, and the
//! data.
#![no_main]

use std::io::{Cursor, Read, Seek, SeekFrom, Write};

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::reference::{padme::padme, sealed};
use deadpan_fuzz::{Cuts, Input, Pieces, change};
use deadpan_seal::floe::{self, OVERHEAD, Parameters};
use deadpan_seal::{Header, Identity, Opened, Recipient, Sealing, Work};

/// The length of the shortest segments that the format allows.
const SEGMENT: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let how = input.byte();
    let cuts = Cuts::new(&mut input);
    let mut changes = Input(input.0.get(..16).unwrap_or_default());
    input.0 = input.0.get(16..).unwrap_or_default();
    let padded = how & 4 != 0;
    let case = if how & 8 != 0 {
        Case::written(how, padded, &cuts, &input.bytes())
    } else {
        Case::put_together(&mut input, how, padded)
    };
    case.check(&cuts, how);

    let mut changed = case.file.clone();
    let header = Header::read(&changed[..]).expect("a header").length() as usize;
    change(&mut changes, &mut changed, header + floe::HEADER, SEGMENT);
    if changed != case.file {
        assert_nothing_else(&changed, &case.inside, &cuts);
    }
});

fn identity() -> [Identity; 1] {
    [Identity::Key(sealed::identity().clone())]
}

/// A file, the plaintext in its segments, and the data without padding. `data` is `None` if the padding is not valid.
struct Case {
    file: Vec<u8>,
    inside: Vec<u8>,
    data: Option<Vec<u8>>,
}

impl Case {
    /// Makes a file with the library, in one of four ways.
    fn written(how: u8, padded: bool, cuts: &Cuts, data: &[u8]) -> Self {
        let sealing = Sealing::to(vec![Recipient::Key(sealed::identity().public().clone())])
            .expect("a recipient")
            .hide_length(padded);
        let mut file = Vec::new();
        match how >> 4 & 3 {
            0 => file = sealing.seal(data).expect("sealed"),
            1 => {
                let mut writer = sealing.write_to(&mut file).expect("a header");
                cuts.pieces(data).into_iter().for_each(|piece| writer.write_all(piece).expect("memory"));
                writer.finish().expect("memory");
            }
            threads => {
                let work = Work { threads: threads.into(), ..Work::default() };
                let summary = sealing.seal_stream(Pieces::new(cuts, data), &mut file, &work).expect("sealed");
                assert_eq!((summary.plain, summary.sealed), (data.len() as u64, file.len() as u64));
            }
        }
        let mut inside = data.to_vec();
        if padded {
            pad(&mut inside);
        }
        Self { file, inside, data: Some(data.to_vec()) }
    }

    /// Makes a file with short segments, and with padding that the fuzzer chooses.
    fn put_together(input: &mut Input<'_>, how: u8, padded: bool) -> Self {
        let add = input.place();
        let mut inside = input.bytes();
        match how >> 4 & 3 {
            1 if padded => inside.resize(inside.len() + add, 0),
            2 if padded => pad(&mut inside),
            3 if padded => {
                inside.push(0x80);
                inside.resize(inside.len() + add, 0);
            }
            _ => {}
        }
        let mut metadata = vec![0; 256];
        metadata[1] = padded.into();
        let (kind, body) = sealed::recipient();
        let mut file = sealed::header(&[(kind, body.to_vec())], &sealed::metadata_box(&metadata), &[], 0, 0);
        let parameters = Parameters::with_segment(SEGMENT as u32).expect("room for data");
        file.extend(floe::seal(parameters, &sealed::floe_key(), &sealed::PREAMBLE, &inside).expect("sealed"));
        let data = if padded { sealed::unpadded(&inside) } else { Some(&inside[..]) }.map(<[u8]>::to_vec);
        Self { file, inside, data }
    }

    /// Checks that all ways of opening the file return the data, or that all fail if the padding is wrong.
    fn check(&self, cuts: &Cuts, how: u8) {
        let Self { file, data, .. } = self;
        let mut payload = &file[..];
        let opened = Header::read(&mut payload).expect("a header").open(&identity()).expect("the key");
        for (number, (found, good)) in ways(&opened, file, payload, cuts).into_iter().enumerate() {
            assert_eq!(good, data.is_some(), "way {number}");
            if let Some(data) = data {
                assert!(found == *data, "way {number}: {} bytes instead of {}", found.len(), data.len());
            }
        }
        let Some(data) = data else { return };
        let mut reader = opened.seek_in(Cursor::new(file)).expect("unchanged");
        for size in cuts.sizes().take(20) {
            let begin = size * usize::from(how | 1) % (data.len() + 1);
            let mut piece = vec![0; size.min(data.len() - begin)];
            reader.seek(SeekFrom::Start(begin as u64)).expect("inside");
            reader.read_exact(&mut piece).expect("unchanged");
            assert!(piece == data[begin..begin + piece.len()], "{size} bytes at {begin}");
        }
    }
}

/// Adds padding: the byte 0x80, and then as many zeros as needed.
fn pad(data: &mut Vec<u8>) {
    data.push(0x80);
    data.resize(padme(data.len() as u64).expect("short") as usize, 0);
}

/// Opens the file in all ways: in memory, as a stream on one thread, as a stream on several threads, through a reader,
/// and with seeks.
fn ways(opened: &Opened, file: &[u8], payload: &[u8], cuts: &Cuts) -> [(Vec<u8>, bool); 5] {
    let bytes = opened.open(payload);
    let (good, bytes) = (bytes.is_ok(), bytes.unwrap_or_default());
    let stream = |threads: usize| {
        let mut found = Vec::new();
        let summary = opened.open_stream(Pieces::new(cuts, payload), &mut found, &Work { threads, ..Work::default() });
        if let Ok(summary) = &summary {
            assert_eq!((summary.plain, summary.sealed), (found.len() as u64, file.len() as u64), "summary");
        }
        (found, summary.is_ok())
    };
    let read = opened.read_from(Pieces::new(cuts, payload)).map_or((Vec::new(), false), |reader| drain(reader, cuts));
    let seek = opened.seek_in(Cursor::new(file)).map_or((Vec::new(), false), |reader| {
        let length = reader.length();
        let (found, ended) = drain(reader, cuts);
        assert!(!ended || found.len() as u64 == length, "the length of the data");
        (found, ended)
    });
    [(bytes, good), stream(1), stream(3), read, seek]
}

fn drain(mut reader: impl Read, cuts: &Cuts) -> (Vec<u8>, bool) {
    let (mut found, mut piece) = (Vec::new(), [0; 8200]);
    for size in cuts.sizes() {
        match reader.read(&mut piece[..size]) {
            Ok(0) => return (found, true),
            Ok(count) => found.extend_from_slice(&piece[..count]),
            Err(_) => return (found, false),
        }
    }
    unreachable!("the sizes go on for ever")
}

/// Checks that all ways of opening a changed file fail, and that they return only whole segments of `data` before the
/// failure.
fn assert_nothing_else(file: &[u8], data: &[u8], cuts: &Cuts) {
    let mut payload = file;
    // A changed header does not open at all.
    let Ok(opened) = Header::read(&mut payload).and_then(|header| header.open(&identity())) else { return };
    for (number, (found, good)) in ways(&opened, file, payload, cuts).into_iter().enumerate() {
        assert!(!good, "way {number} opens a file that was changed");
        assert!(data.starts_with(&found), "way {number} gives out what was not sealed");
        let whole = found.len().is_multiple_of(SEGMENT - OVERHEAD) || opened.hides_length();
        assert!(whole || found.is_empty(), "way {number} gives out a part of a segment");
    }
}
