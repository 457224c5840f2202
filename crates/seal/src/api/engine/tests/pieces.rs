//! Tests that seal into many pieces of memory, and open from many pieces.

use std::io::{self, SeekFrom};
use std::sync::Mutex;

use super::agree::open_in_all_ways;
use super::*;
use crate::{Cursor, ReadAt, WriteAt};

/// The length of a piece. A piece never ends where a segment or a page ends.
const PIECE: usize = 10_007;

/// Data in pieces. A read never goes past the end of a piece. No byte may be written twice.
#[derive(Default)]
struct Pieces(Mutex<Vec<Vec<Option<u8>>>>);

impl Pieces {
    fn with_bytes(bytes: &[u8]) -> Self {
        let pieces = Self::default();
        pieces.write_all_at(bytes, 0).expect("room");
        pieces
    }

    fn bytes(&self) -> Vec<u8> {
        let pieces = self.0.lock().expect("no panic");
        let length: usize = pieces.iter().map(|piece| piece.iter().flatten().count()).sum();
        let bytes: Vec<u8> = pieces.iter().flatten().map_while(|byte| *byte).collect();
        assert_eq!(bytes.len(), length, "a gap");
        bytes
    }
}

impl WriteAt for Pieces {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let mut pieces = self.0.lock().expect("no panic");
        for (at, byte) in (position as usize..).zip(bytes) {
            while pieces.len() <= at / PIECE {
                pieces.push(vec![None; PIECE]);
            }
            assert_eq!(pieces[at / PIECE][at % PIECE].replace(*byte), None, "byte {at} is written twice");
        }
        Ok(())
    }
}

impl ReadAt for Pieces {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let pieces = self.0.lock().expect("no panic");
        let piece = pieces.get(position as usize / PIECE).map_or(&[][..], |piece| &piece[position as usize % PIECE..]);
        let given = buffer.iter_mut().zip(piece.iter().map_while(|byte| *byte)).map(|(to, byte)| *to = byte);
        Ok(given.count())
    }
}

/// An output to which the engine writes each segment at once, and not only whole pages.
struct Eager(Pieces);

impl WriteAt for Eager {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }

    fn at_once(&self) -> usize {
        0
    }
}

#[test]
fn pieces_hold_what_files_hold() {
    for padded in [false, true] {
        for length in [0, 1, PIECE, FULL - 1, FULL, FULL + 1, 9 * FULL + 5] {
            let (data, sealing) = (sample(length), sealing(padded));
            let sealed = sealing.seal(&data).expect("sealed");
            assert_eq!(sealing.sealed_length(length as u64).expect("not too long"), sealed.len() as u64);
            for threads in [1, 2, 5] {
                let pieces = Pieces::default();
                let input = Pieces::with_bytes(&data);
                let done = sealing.seal_at(&input, length as u64, &pieces, &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64));
                assert!(pieces.bytes() == sealed, "{length} bytes on {threads}, padded: {padded}");

                let gathered = Pieces::default();
                let source = apart::Lazy::new(&data);
                let (done, _) = sealing.gather_at(source, &gathered, &work(threads)).expect("sealed");
                assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64));
                assert!(gathered.bytes() == sealed, "{length} bytes gathered on {threads}, padded: {padded}");

                open_pieces(&pieces, &data, sealed.len() as u64, threads);
            }
            open_in_all_ways(&sealed, &data, 2);
            // Here the data lie in memory.
            let eager = Eager(Pieces::default());
            let done = sealing.seal_at(&&data[..], length as u64, &eager, &work(2)).expect("sealed");
            assert_eq!((done.plain, done.sealed), (length as u64, sealed.len() as u64));
            assert!(eager.0.bytes() == sealed, "{length} bytes in memory, padded: {padded}");
            open_eagerly(&sealed, &data);
        }
    }
}

fn open_pieces(pieces: &Pieces, data: &[u8], length: u64, threads: usize) {
    let header = Header::read(Cursor::new(pieces, length)).expect("a header");
    let opened = header.open(&[identity()]).expect("the passphrase");
    let output = tempfile::tempfile().expect("a temporary file");
    let done = opened.open_at(pieces, length, &output, &work(threads)).expect("opened");
    assert_eq!((done.plain, done.sealed), (data.len() as u64, length));
    assert!(contents(output) == data, "{} bytes from pieces", data.len());
    let mut reader = opened.seek_in(Cursor::new(pieces, length)).expect("a payload");
    let (begin, mut output) = (data.len() / 3, Vec::new());
    reader.seek(SeekFrom::Start(begin as u64)).expect("a place");
    reader.read_to_end(&mut output).expect("opened");
    assert!(output == data[begin..], "from {begin} of {}", data.len());
}

fn open_eagerly(sealed: &[u8], data: &[u8]) {
    let (opened, _) = opened(sealed).expect("the passphrase");
    let (input, length, eager) = (sealed, sealed.len() as u64, Eager(Pieces::default()));
    let room = opened.room_at(&input, length).expect("a length");
    let done = opened.open_at(&input, length, &eager, &work(2)).expect("opened");
    assert_eq!(done.plain, data.len() as u64);
    let written = eager.0.bytes();
    assert_eq!(written.len() as u64, room);
    assert!(written[..data.len()] == *data, "{} bytes from memory", data.len());
}

#[test]
fn pieces_that_end_early_are_noticed() {
    let data = sample(3 * FULL);
    let sealed = sealing(false).seal(&data).expect("sealed");
    let (opened, _) = opened(&sealed).expect("the passphrase");
    let (output, pieces) = (tempfile::tempfile().expect("a temporary file"), Pieces::with_bytes(&sealed[..2 * FULL]));
    let result = opened.open_at(&pieces, sealed.len() as u64, &output, &work(2));
    assert!(matches!(result, Err(Error::Truncated)), "{result:?}");
    let short = Pieces::with_bytes(&data[1..]);
    let result = sealing(false).seal_at(&short, data.len() as u64, &Pieces::default(), &work(2));
    assert!(matches!(result, Err(Error::Shrank)), "{result:?}");
    let output = file_with(b"x");
    assert!(matches!(opened.open_at(&pieces, sealed.len() as u64, &output, &work(1)), Err(Error::NotEmpty)));
}
