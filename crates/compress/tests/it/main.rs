//! Compresses and expands through the public interface.

mod hostile;

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use deadpan_compress::{
    CompressWriter, Compressor, ExpandWriter, Expander, FRAME, Flaw, Level, Pieces, SeekExpander, most_stored,
};

/// Lengths around the boundaries of blocks, first buffers and frames.
const LENGTHS: [usize; 15] = [
    0,
    1,
    2,
    100,
    (128 << 10) - 1,
    128 << 10,
    (128 << 10) + 1,
    (256 << 10) - 1,
    256 << 10,
    (256 << 10) + 1,
    FRAME - 1,
    FRAME,
    FRAME + 1,
    2 * FRAME,
    3 * FRAME + 12_345,
];

/// Bytes that do not shrink.
fn dense(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    });
    let mut bytes: Vec<u8> = words.by_ref().take(length.div_ceil(8)).flat_map(u64::to_le_bytes).collect();
    bytes.truncate(length);
    bytes
}

/// Bytes that shrink.
fn words(length: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(length + 20);
    for number in 0.. {
        if text.len() >= length {
            break;
        }
        text.extend(format!("line {} of a log\n", number % 1000).bytes());
    }
    text.truncate(length);
    text
}

fn compress(data: &[u8], level: u8, threads: usize) -> Vec<u8> {
    let mut stored = Vec::new();
    Compressor::new(data, Level::new(level).unwrap(), threads).read_to_end(&mut stored).unwrap();
    stored
}

fn expand(stored: &[u8], threads: usize) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    Expander::new(stored, threads).read_to_end(&mut data).map(|_| data)
}

/// Writes the stored bytes in pieces.
fn write(stored: &[u8], piece: usize, threads: usize) -> io::Result<Vec<u8>> {
    let mut writer = ExpandWriter::new(Vec::new(), threads);
    stored.chunks(piece).try_for_each(|piece| writer.write_all(piece))?;
    writer.finish().map(|(data, _)| data)
}

fn flaw(error: &io::Error) -> Option<Flaw> {
    error.get_ref()?.downcast_ref().copied()
}

#[test]
fn data_of_every_length_come_back() {
    for length in LENGTHS {
        for (data, shrinks) in [(words(length), length > 50), (dense(length), false), (vec![0; length], length > 50)] {
            let stored = compress(&data, 3, 0);
            let most = most_stored(length as u64).unwrap() as usize;
            // Data that do not shrink need all of this room.
            assert!(stored.len() == most || stored.len() < most && shrinks, "{length}: {} of {most}", stored.len());
            let mut writer = CompressWriter::new(Vec::new(), Level::default(), 2);
            writer.write_all(&data).unwrap();
            assert!(writer.finish().unwrap().0 == stored, "{length}");
            assert!(!shrinks || length < 200 || stored.len() < length / 2, "{length}: {}", stored.len());
            for threads in [1, 2, 5] {
                assert!(expand(&stored, threads).unwrap() == data, "{length}");
                assert!(write(&stored, 500_000, threads).unwrap() == data, "{length}");
            }
            assert!(zstd_reads(&stored) == data, "{length}");
            let mut reader = SeekExpander::new(Cursor::new(&stored)).unwrap();
            assert_eq!((reader.length(), reader.table().stored()), (length as u64, stored.len() as u64));
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            assert!(all == data, "{length}");
        }
    }
}

/// The plain decoder of the reference library, which knows nothing of the table.
fn zstd_reads(stored: &[u8]) -> Vec<u8> {
    zstd::decode_all(stored).unwrap()
}

#[test]
fn every_level_works_on_one_thread_and_on_several() {
    let data = [words(FRAME + 5000), dense(5 * FRAME), words(3 * FRAME)].concat();
    for level in [1, 2, 3, 6, 19] {
        let data = if level > 6 { &data[..FRAME + 6000] } else { &data };
        for threads in [1, 3] {
            assert!(expand(&compress(data, level, threads), 0).unwrap() == data, "{level}");
        }
    }
}

/// Takes all stored bytes in pieces. Completes the pieces later, in reverse order.
fn pieces(mut pieces: Pieces<'_>, piece: usize) -> Vec<u8> {
    let (mut stored, mut rests) = (Vec::new(), Vec::new());
    while !pieces.is_over() {
        let begin = stored.len();
        stored.resize(begin + piece, 0);
        let (length, rest) = pieces.take(&mut stored[begin..]).unwrap();
        assert!(length == piece || pieces.is_over());
        stored.truncate(begin + length);
        rests.push((begin, rest));
    }
    for (begin, rest) in rests.into_iter().rev() {
        let end = stored.len().min(begin + piece);
        rest.complete(&mut stored[begin..end]).unwrap();
    }
    stored
}

#[test]
fn stored_bytes_depend_only_on_the_data_and_the_level() {
    // The repeated bytes do not shrink in samples, but frames of them do.
    let repeated = dense(300_007).repeat(2 * FRAME / 300_007 + 1);
    let rows = [words(FRAME), dense(3 * FRAME), words(FRAME), repeated[..2 * FRAME].to_vec(), words(10), dense(FRAME)];
    let data = rows.concat();
    let stored = compress(&data, 3, 1);
    assert!(stored.len() < 4 * FRAME + FRAME / 2, "the repeated bytes do not shrink: {}", stored.len());
    assert!(expand(&stored, 0).unwrap() == data);
    let read = |buffer: &mut [u8], position: u64| {
        buffer.copy_from_slice(&data[position as usize..][..buffer.len()]);
        Ok(())
    };
    for threads in [1, 2, 7] {
        assert!(compress(&data, 3, threads) == stored, "{threads}");
        let mut writer = CompressWriter::new(Vec::new(), Level::default(), threads);
        writer.write_all(&data).unwrap();
        assert!(writer.finish().unwrap().0 == stored, "{threads}");
        let piece = 400_000 + threads;
        assert!(pieces(Pieces::from_reader(&data[..], Level::default(), threads), piece) == stored, "{threads}");
        let at = Pieces::at(&read, data.len() as u64, Level::default(), threads);
        assert!(pieces(at, piece) == stored, "{threads}");
    }
}

/// Of dense data at positions, the compressor reads only samples.
#[test]
fn dense_data_are_read_when_they_are_needed() {
    let data = dense(6 * FRAME);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let read = |buffer: &mut [u8], position: u64| {
        count.fetch_add(buffer.len(), std::sync::atomic::Ordering::Relaxed);
        buffer.copy_from_slice(&data[position as usize..][..buffer.len()]);
        Ok(())
    };
    let mut pieces = Pieces::at(&read, data.len() as u64, Level::default(), 2);
    let mut stored = vec![0; most_stored(data.len() as u64).unwrap() as usize + 1];
    let (length, rest) = pieces.take(&mut stored).unwrap();
    assert!(length + 1 == stored.len() && pieces.is_over());
    assert!(count.load(std::sync::atomic::Ordering::Relaxed) < FRAME / 2);
    rest.complete(&mut stored[..length]).unwrap();
    assert!(expand(&stored[..length], 0).unwrap() == data);
}

#[test]
fn failures_while_reading_are_told_and_lasting() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.0);
            self.0 -= length;
            if length == 0 { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(length) }
        }
    }
    let limit = |limit: usize| {
        move |_: &mut [u8], position: u64| {
            if position as usize >= limit { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
        }
    };
    for length in [0, 5, FRAME, 2 * FRAME + 9] {
        let mut reader = Compressor::new(Fails(length), Level::default(), 2);
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!((0..3).all(|_| reader.read(&mut [0; 64]).is_err()), "a compressor that failed goes on");
        let read = limit(length);
        let mut pieces = Pieces::at(&read, 4 * FRAME as u64, Level::default(), 2);
        let mut buffer = vec![0; 5 * FRAME];
        assert_eq!(pieces.take(&mut buffer).err().unwrap().kind(), io::ErrorKind::PermissionDenied, "{length}");
        assert!(pieces.take(&mut buffer).is_err());
    }
}

/// A reader that gives a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(buffer.len()).min(self.0.len());
        self.0.read(&mut buffer[..length])
    }
}

#[test]
fn pieces_of_any_length_give_the_same() {
    let data = [words(FRAME), dense(300_000)].concat();
    let stored = compress(&data, 3, 2);
    for piece in [1000, 65_537, 1 << 20] {
        let mut again = Vec::new();
        Compressor::new(Trickle(&data, piece), Level::default(), 2).read_to_end(&mut again).unwrap();
        assert!(again == stored, "{piece}");
        let mut writer = CompressWriter::new(Vec::new(), Level::default(), 2);
        data.chunks(piece).for_each(|piece| writer.write_all(piece).unwrap());
        let (written, table) = writer.finish().unwrap();
        assert!(written == stored, "{piece}");
        assert_eq!((table.length(), table.stored()), (data.len() as u64, stored.len() as u64));
        let mut expanded = Vec::new();
        Expander::new(Trickle(&stored, piece), 2).read_to_end(&mut expanded).unwrap();
        assert!(expanded == data, "{piece}");
        assert!(write(&stored, piece, 2).unwrap() == data, "{piece}");
    }
}

#[test]
fn any_position_can_be_read() {
    let data = [words(2 * FRAME), dense(FRAME + 77)].concat();
    let stored = compress(&data, 3, 0);
    let mut reader = SeekExpander::new(Cursor::new(&stored)).unwrap();
    for at in [0, 1, FRAME - 1, FRAME, FRAME + 1, 2 * FRAME - 5, 3 * FRAME - 1, 3 * FRAME + 70, data.len()] {
        let mut found = vec![0; 3000.min(data.len() - at)];
        reader.seek(SeekFrom::Start(at as u64)).unwrap();
        reader.read_exact(&mut found).unwrap();
        assert!(found == data[at..at + found.len()], "{at}");
    }
    assert_eq!(reader.seek(SeekFrom::End(5)).unwrap(), data.len() as u64 + 5);
    assert_eq!(reader.read(&mut [0; 9]).unwrap(), 0);
    assert!(reader.seek(SeekFrom::End(-(data.len() as i64) - 1)).is_err());
}

#[test]
fn an_early_end_is_noticed_everywhere() {
    let stored = compress(&words(FRAME + 40_000), 3, 0);
    let ends = [0, 1, 4, 5, 9, 300, stored.len() / 2].into_iter().chain(stored.len() - 40..stored.len());
    for end in ends {
        let error = expand(&stored[..end], 2).unwrap_err();
        assert_eq!(flaw(&error), Some(Flaw::Truncated), "{end}: {error}");
        assert_eq!(flaw(&write(&stored[..end], 999, 2).unwrap_err()), Some(Flaw::Truncated), "{end}");
        assert!(SeekExpander::new(Cursor::new(&stored[..end])).is_err(), "{end}");
    }
    let longer = [&stored[..], b"x"].concat();
    let mut reader = Expander::new(&longer[..], 2);
    assert!(reader.read_to_end(&mut Vec::new()).is_err());
    assert!((0..4).all(|_| reader.read(&mut [0; 64]).is_err()), "a reader that failed goes on");
    assert_eq!(flaw(&expand(&longer, 2).unwrap_err()), Some(Flaw::Trailing));
    for piece in [stored.len(), longer.len()] {
        assert_eq!(flaw(&write(&longer, piece, 2).unwrap_err()), Some(Flaw::Trailing));
    }
    assert!(SeekExpander::new(Cursor::new(&longer)).is_err());
}

#[test]
fn a_dropped_writer_has_written_the_frames_that_were_whole() {
    for data in [words(3 * FRAME), dense(3 * FRAME)] {
        let stored = compress(&data, 3, 0);
        // A table of two frames has 33 bytes.
        let third = compress(&data[..2 * FRAME], 3, 0).len() - 33;
        for threads in [1, 2, 5] {
            let mut written = Vec::new();
            let mut writer = ExpandWriter::new(&mut written, threads);
            writer.write_all(&stored[..third + 100]).unwrap();
            drop(writer);
            assert!(written == data[..2 * FRAME], "{threads}: {}", written.len());
        }
    }
}
