//! Tests that all engines refuse changed files and return the same error.

use super::*;
use crate::format::deadpan::floe::{Message, Parameters};
use crate::tests::foreign::Foreign;
use deadpan_compress::Level;

/// All engines must give the same error.
fn refusal(sealed: &[u8]) -> Option<String> {
    let (opened, payload) = match opened(sealed) {
        Ok(opened) => opened,
        Err(error) => return Some(error.to_string()),
    };
    let words = |result: Result<(), Error>| result.err().map(|error| error.to_string());
    let all = [
        words(
            opened.open_file(&file_with(sealed), &tempfile::tempfile().expect("a temporary file"), &work(1)).map(drop),
        ),
        words(
            opened.open_file(&file_with(sealed), &tempfile::tempfile().expect("a temporary file"), &work(3)).map(drop),
        ),
        words(opened.open_stream(payload, std::io::sink(), &work(1)).map(drop)),
        words(opened.open_stream(payload, std::io::sink(), &work(3)).map(drop)),
        words(opened.open(payload).map(drop)),
    ];
    for other in &all[1..] {
        assert_eq!(&all[0], other, "the engines disagree");
    }
    all[0].clone()
}

#[test]
fn every_byte_of_a_small_file_counts() {
    for (padded, compressed) in [(false, false), (true, false), (false, true)] {
        let sealing = if compressed { sealing(padded).compress(Level::default()) } else { sealing(padded) };
        let sealed = sealing.seal(&sample(100)).expect("sealed");
        assert_eq!(refusal(&sealed), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1 << (place % 8);
            assert!(refusal(&changed).is_some(), "byte {place} may be changed");
        }
        for length in 0..sealed.len() {
            assert!(refusal(&sealed[..length]).is_some(), "may be cut to {length}");
        }
        for more in [1, 16, 32, 33, 1000] {
            assert!(refusal(&[&sealed[..], &vec![0; more]].concat()).is_some(), "{more} bytes may be added");
        }
    }
}

#[test]
fn segments_cannot_be_moved() {
    let data = sample(6 * FULL + 100);
    let sealed = sealing(false).seal(&data).expect("sealed");
    let other = sealing(false).with_entropy(Entropy::Fixed(8)).seal(&data).expect("sealed");
    let header = Header::read(&sealed[..]).expect("a header").length() as usize;
    let begin = header + crate::format::deadpan::floe::HEADER;
    let split = |sealed: &[u8]| -> Vec<Vec<u8>> { sealed[begin..].chunks(256 << 10).map(<[u8]>::to_vec).collect() };
    let (segments, theirs) = (split(&sealed), split(&other));
    let with = |segments: &[Vec<u8>]| [&sealed[..begin], &segments.concat()].concat();
    assert_eq!(refusal(&with(&segments)), None);
    let change = |change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut changed = segments.clone();
        change(&mut changed);
        refusal(&with(&changed)).expect("refused")
    };
    assert!(change(&|all| all.swap(2, 3)).contains("segment 2 is damaged"));
    assert!(change(&|all| all.swap(0, 5)).contains("segment 0 is damaged"));
    assert!(change(&|all| all[4] = all[3].clone()).contains("segment 4 is damaged"));
    assert!(change(&|all| drop(all.remove(1))).contains("segment 1 is damaged"));
    assert!(change(&|all| drop(all.pop())).contains("too early"));
    assert!(change(&|all| all.push(vec![0; 50])).contains("after the end"));
    assert!(change(&|all| all.insert(2, all[6].clone())).contains("after the end"));
    assert!(change(&|all| all[5] = theirs[5].clone()).contains("segment 5 is damaged"));
    // The header or the payload comes from another file, which is sealed with the same passphrase.
    assert!(refusal(&[&other[..header], &sealed[header..]].concat()).expect("refused").contains("header was changed"));
    assert!(refusal(&[&other[..begin], &sealed[begin..]].concat()).expect("refused").contains("segment 0 is damaged"));
}

#[test]
fn of_several_faults_the_first_is_named() {
    let mut sealed = sealing(false).seal(&sample(40 * FULL)).expect("sealed");
    let begin = sealed.len() - 40 * (256 << 10);
    for segment in [38, 25, 11, 30] {
        sealed[begin + segment * (256 << 10) + 1000] ^= 1;
    }
    for _ in 0..20 {
        assert!(refusal(&sealed).expect("refused").contains("segment 11 is damaged"));
    }
}

#[test]
fn what_went_out_before_a_fault_is_authentic() {
    let data = sample(10 * FULL);
    let mut sealed = sealing(false).seal(&data).expect("sealed");
    let begin = sealed.len() - 10 * (256 << 10);
    sealed[begin + 7 * (256 << 10) + 99] ^= 1;
    let (opened, payload) = opened(&sealed).expect("the passphrase");
    let mut output = Vec::new();
    assert!(matches!(opened.open_stream(payload, &mut output, &work(3)), Err(Error::Segment { segment: 7 })));
    assert!(output == data[..7 * FULL]);
    let mut output = Vec::new();
    assert!(opened.read_from(payload).expect("a payload").read_to_end(&mut output).is_err());
    assert!(output == data[..7 * FULL]);
}

#[test]
fn memory_holds_nothing_after_a_refusal_and_readers_stay_failed() {
    let good = sample(3 * FULL + 100);
    let sealed = sealing(false).seal(&good).expect("sealed");
    let begin = sealed.len() - (3 * FULL + 100 + 4 * 32);
    let mut refused: Vec<Vec<u8>> = (0..4)
        .map(|segment| {
            let mut changed = sealed.clone();
            changed[begin + segment * (256 << 10) + 100] ^= 1;
            changed
        })
        .collect();
    refused.push(sealed[..sealed.len() - 1].to_vec());
    // Every segment opens, but the data do not end in valid padding.
    let badly = Foreign { padded: true, ..Foreign::default() };
    refused
        .extend([&b""[..], b"abc", &[0; 9000], b"abc\x80\0\0\0\0\0\0\0", &sample(9000)].map(|data| badly.seal(data)));
    for (number, sealed) in refused.iter().enumerate() {
        let (opened, payload) = opened(sealed).expect("the passphrase");
        assert!(opened.open(payload).is_err(), "{number}");
        let mut plain = vec![0x55; good.len()];
        assert!(opened.open_into(&&sealed[..], sealed.len() as u64, &mut plain, &work(1)).is_err(), "{number}");
        // Each byte of the output buffer is 0 (cleared) or 0x55 (never written).
        assert!(plain.iter().all(|byte| matches!(byte, 0 | 0x55)), "{number}");
        let mut reader = opened.read_from(payload).expect("a payload");
        assert!(reader.read_to_end(&mut Vec::new()).is_err(), "{number}");
        assert!((0..4).all(|_| reader.read(&mut [0; 64]).is_err()), "{number}: a reader that failed goes on");
    }
    let (opened, payload) = opened(&sealed).expect("the passphrase");
    assert!(opened.open(payload).expect("unchanged it opens") == good);
}

#[test]
fn the_same_of_a_message_alone() {
    let key = [7; 32];
    let (message, _) =
        Message::start(Parameters::with_segment(64).expect("long enough"), &key, b"").expect("a message");
    let mut sealed = Vec::new();
    message.seal_onto(&sample(100), &mut sealed).expect("sealed");
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        let mut plain = b"before".to_vec();
        assert!(message.open_onto(&changed, &mut plain).is_err(), "byte {place} may be changed");
        assert_eq!(plain, b"before", "byte {place}");
    }
}

/// Data that say that they are compressed, but are not, or not well.
#[test]
fn malformed_compressed_data_are_refused() {
    let stored = {
        let mut stored = Vec::new();
        deadpan_compress::Compressor::new(&sample(9000)[..], Level::default(), 1)
            .read_to_end(&mut stored)
            .expect("read");
        stored
    };
    let compressed = Foreign { compressed: true, ..Foreign::default() };
    assert_eq!(refusal(&compressed.seal(&stored)), None);
    let end = stored.len();
    let lies = [&stored[..end - 20], &[0; 4], &stored[end - 16..]].concat();
    // A table that takes two frames for one, and so tells less data than there are.
    let zeros = {
        let mut stored = Vec::new();
        let zeros = std::io::repeat(0).take(3 * deadpan_compress::FRAME as u64);
        deadpan_compress::Compressor::new(zeros, Level::default(), 1).read_to_end(&mut stored).expect("read");
        stored
    };
    let begin = zeros.len() - 17 - 3 * 8;
    let line = |number: usize| &zeros[begin + 8 + 8 * number..][..8];
    let length = |number: usize| u32::from_le_bytes(*line(number).first_chunk().expect("a line"));
    let second = [&(length(1) + length(2)).to_le_bytes()[..], &line(1)[4..]].concat();
    let merged = [
        &zeros[..begin],
        &zeros[begin..begin + 4],
        &25_u32.to_le_bytes(),
        line(0),
        &second,
        &[2, 0, 0, 0],
        &zeros[zeros.len() - 5..],
    ]
    .concat();
    for (bad, why) in [
        (&b""[..], "the bytes end before the end of the seek table"),
        (b"abc", "the bytes end before the end of the seek table"),
        (b"plain data, which were not compressed", "frame 0 has a header that is not allowed"),
        (&stored[..stored.len() - 1], "the bytes end before the end of the seek table"),
        (&[&stored[..], b"x"].concat(), "bytes follow the seek table"),
        (&lies, "the seek table"),
        (&merged, "the seek table does not describe the frames"),
    ] {
        let sealed = compressed.seal(bad);
        let (opened, payload) = opened(&sealed).expect("the passphrase");
        let mut reader = opened.read_from(payload).expect("a payload");
        let read = reader.read_to_end(&mut Vec::new()).expect_err("malformed");
        let words = format!("the compressed data inside are malformed: {why}");
        assert!(read.to_string().contains(&words), "{read}");
        let streamed = opened.open_stream(payload, std::io::sink(), &work(2)).expect_err("malformed");
        assert!(matches!(streamed, Error::Compressed(_)) && streamed.to_string().contains(&words), "{streamed}");
        let whole = opened.open(payload).expect_err("malformed");
        assert!(matches!(whole, Error::Compressed(_)), "{whole}");
        let file = tempfile::tempfile().expect("a temporary file");
        let filed = opened.open_file(&file_with(&sealed), &file, &work(2)).expect_err("malformed");
        assert!(matches!(filed, Error::Compressed(_)), "{filed}");
        let length = sealed.len() as u64;
        let room = opened.room_at(&&sealed[..], length).unwrap_or_default() as usize;
        let mut plain = vec![0x55; room];
        let into = opened.open_into(&&sealed[..], length, &mut plain, &work(2)).expect_err("malformed");
        assert!(matches!(into, Error::Compressed(_)) && plain.iter().all(|byte| matches!(byte, 0 | 0x55)), "{into}");
        let sought = opened.seek_in(std::io::Cursor::new(&sealed)).and_then(|mut reader| {
            reader.read_to_end(&mut Vec::new()).map_err(|error| error.downcast().expect("ours"))
        });
        assert!(matches!(sought, Err(Error::Compressed(_))), "{sought:?}");
    }
}
