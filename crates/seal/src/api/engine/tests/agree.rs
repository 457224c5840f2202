//! Tests that all ways to seal and open give the same result for all lengths.

use std::io::{Cursor, SeekFrom};

use super::*;
use deadpan_compress::Level;

fn lengths() -> Vec<usize> {
    let around = |n: usize| [n.saturating_sub(1), n, n + 1];
    let mut lengths: Vec<usize> =
        [0, 4096, FULL, 2 * FULL, 3 * FULL, 4 * FULL, 9 * FULL].into_iter().flat_map(around).collect();
    lengths.extend([2, 1 << 20, 5_000_000]);
    lengths.dedup();
    lengths
}

#[test]
fn all_ways_give_the_same_bytes_and_open_each_others() {
    for (padded, level) in [(false, None), (true, None), (false, Some(3)), (true, Some(3)), (false, Some(1))] {
        for length in lengths() {
            // Level 1 gets data that do not shrink.
            let data = if level == Some(3) { sample(500).repeat(length.div_ceil(500)) } else { sample(length) };
            let data = data[..length].to_vec();
            let mut sealing = sealing(padded);
            if let Some(level) = level {
                sealing = sealing.compress(Level::new(level).expect("a level"));
            }
            let sealed = sealing.seal(&data).expect("sealed");
            for threads in [1, 2, 5] {
                let mut into = vec![0x55; sealed.len() + 7];
                let room = sealing.seal_into(&data, &mut into, &work(threads)).expect("sealed");
                assert!(into[..room] == sealed && into[room..] == [0x55; 7], "{length} bytes into a buffer, {padded}");
                let small = sealing.seal_into(&data, &mut into[..room - 1], &work(threads));
                assert!(matches!(small, Err(Error::Invalid(_))), "{length} bytes, {padded}: {small:?}");
                let output = tempfile::tempfile().expect("a temporary file");
                let done = sealing.seal_file(&file_with(&data), &output, &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64), "{length}, {padded}");
                assert!(contents(output) == sealed, "{length} bytes from file to file on {threads}, padded: {padded}");
                let mut output = Vec::new();
                let done = sealing
                    .seal_stream(Slow(&data[..], 100_000), Slow(&mut output, 70_000), &work(threads))
                    .expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64), "{length}, {padded}");
                assert!(output == sealed, "{length} bytes through pipes on {threads}, padded: {padded}");
                open_in_all_ways(&sealed, &data, threads);
            }
            // The writer from `write_to` always makes a header without room for more recipients.
            let mut writer = sealing.write_to(Vec::new()).expect("a header");
            data.chunks(77_777).for_each(|piece| writer.write_all(piece).expect("written"));
            open_in_all_ways(&writer.finish().expect("finished"), &data, 2);
        }
    }
}

pub(super) fn open_in_all_ways(sealed: &[u8], data: &[u8], threads: usize) {
    let (opened, payload) = opened(sealed).expect("the passphrase");
    assert_eq!(opened.metadata().name.as_deref(), Some(&b"a file"[..]));

    let output = tempfile::tempfile().expect("a temporary file");
    let done = opened.open_file(&file_with(sealed), &output, &work(threads)).expect("opened");
    assert_eq!((done.plain, done.sealed), (data.len() as u64, sealed.len() as u64));
    assert!(contents(output) == data, "{} bytes from file to file", data.len());

    let mut output = Vec::new();
    let done = opened.open_stream(Slow(payload, 70_000), Slow(&mut output, 100_000), &work(threads)).expect("opened");
    assert_eq!((done.plain, done.sealed), (data.len() as u64, sealed.len() as u64));
    assert!(output == data, "{} bytes through pipes", data.len());

    assert!(opened.open(payload).expect("opened") == data, "{} bytes in memory", data.len());

    let length = sealed.len() as u64;
    let room = opened.room_at(&sealed, length).expect("a payload") as usize;
    let mut output = vec![0x55; room + 7];
    let done = opened.open_into(&sealed, length, &mut output, &work(threads)).expect("opened");
    assert_eq!((done.plain, done.sealed), (data.len() as u64, sealed.len() as u64));
    assert!(output[..data.len()] == *data && output[room..] == [0x55; 7], "{} bytes into a buffer", data.len());
    if room > 0 {
        let small = opened.open_into(&sealed, length, &mut output[..room - 1], &work(threads));
        assert!(matches!(small, Err(Error::Invalid(_))), "{} bytes: {small:?}", data.len());
    }

    let mut output = Vec::new();
    opened.read_from(payload).expect("a payload").read_to_end(&mut output).expect("opened");
    assert!(output == data, "{} bytes from a reader", data.len());

    let mut reader = opened.seek_in(Cursor::new(sealed)).expect("a payload");
    assert_eq!(reader.length(), data.len() as u64);
    for begin in [data.len(), data.len() / 2, 0] {
        let (mut output, wanted) = (Vec::new(), &data[begin..data.len().min(begin + 300_000)]);
        reader.seek(SeekFrom::Start(begin as u64)).expect("a place");
        (&mut reader).take(300_000).read_to_end(&mut output).expect("opened");
        assert!(output == wanted, "from {begin} of {}", data.len());
    }
}
