//! Tests with inputs that change while the program opens them with positioned reads.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use super::*;
use crate::key::sign::{Scheme, SigningKey};
use crate::{Cursor, Format, Kem, PrivateKey, ReadAt};
use deadpan_compress::Level;

/// A sealed file. The bytes after `begin` differ between the first and the second read.
struct Changing {
    sealed: Vec<u8>,
    begin: u64,
    read: Mutex<BTreeSet<u64>>,
}

impl ReadAt for Changing {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> std::io::Result<usize> {
        let rest = &self.sealed[(position as usize).min(self.sealed.len())..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        let mut read = self.read.lock();
        for (byte, position) in buffer[..length].iter_mut().zip(position..) {
            if position >= self.begin && !read.insert(position) {
                *byte ^= 1;
            }
        }
        Ok(length)
    }
}

/// If the engine read a byte once to authenticate it and again to decrypt it, the data would differ.
#[test]
fn each_byte_of_the_payload_is_read_once() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let to = || Sealing::to(key.public()).expect("a recipient");
    let signer = SigningKey::generate(Scheme::Ed25519).expect("a key");
    let sealings = [
        to(),
        to().hide_length(true),
        to().sign(signer.into()).expect("one signer"),
        to().format(Format::Age).expect("age has such keys"),
    ];
    for (number, sealing) in sealings.iter().enumerate() {
        for length in [0, 100, FULL, 2 * FULL, 5 << 20] {
            let plain = sample(length);
            let sealed = sealing.seal(&plain).expect("sealed");
            let begin = Header::read(&sealed[..]).expect("a header").length() + 70;
            let (all, room) = (sealed.len() as u64, length + (1 << 20));
            let open = |sealed: &[u8]| {
                let input = Changing { sealed: sealed.to_vec(), begin, read: Mutex::default() };
                let opened = Header::read(Cursor::new(&input, all))?.open(&[(&key).into()])?;
                let (mut bytes, output) = (vec![0x55; room], tempfile::tempfile().expect("a file"));
                let into_bytes = opened.open_into(&input, all, &mut bytes, &work(0));
                bytes.truncate(into_bytes.as_ref().map_or(room, |summary| summary.plain as usize));
                input.read.lock().clear();
                opened.open_at(&input, all, &output, &work(0)).map(|_| (bytes, contents(output)))
            };
            let (bytes, file) = open(&sealed).expect("each byte is read once");
            assert!(bytes == plain && file == plain, "{length} in way {number}");
        }
    }
}

#[test]
fn a_buffer_gets_all_data_or_nothing() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let sealing = Sealing::to(key.public()).expect("a recipient");
    for (format, full) in [(Format::Deadpan, FULL), (Format::Age, 64 << 10)] {
        for length in [1, full - 1, full, 2 * full, 9 * full + 7] {
            let (sealing, plain) = (sealing.clone().format(format).expect("a key"), sample(length));
            let sealed = sealing.seal(&plain).expect("sealed");
            let open = |sealed: &[u8], room: usize| {
                let mut bytes = vec![0x55; room];
                let input = Changing { sealed: sealed.to_vec(), begin: u64::MAX, read: Mutex::default() };
                let opened = Header::read(sealed).expect("a header").open(&[(&key).into()]).expect("opened");
                let result = opened.open_into(&input, sealed.len() as u64, &mut bytes, &work(0));
                (result.map(|summary| summary.plain), bytes)
            };
            let (result, bytes) = open(&sealed, length + 9);
            assert!(matches!(result, Ok(plain) if plain == length as u64), "{length}: {result:?}");
            assert!(bytes[..length] == plain && bytes[length..] == [0x55; 9], "{length}");
            assert!(matches!(open(&sealed, length - 1).0, Err(Error::Invalid(_))), "{length}");
            let mut damaged = sealed.clone();
            *damaged.last_mut().expect("not empty") ^= 1;
            let (result, bytes) = open(&damaged, length);
            assert!(matches!(result, Err(Error::Segment { .. })) && bytes.iter().all(|byte| *byte == 0), "{length}");
            assert!(open(&sealed[..sealed.len() - 1], length).0.is_err(), "{length}");
        }
    }
}

/// An input that became shorter than it was when its length was read.
#[test]
fn a_shorter_input_is_refused_compressed_or_not() {
    struct Shorter<'a>(&'a [u8]);
    impl ReadAt for Shorter<'_> {
        fn read_at(&self, buffer: &mut [u8], position: u64) -> std::io::Result<usize> {
            self.0.read_at(buffer, position)
        }
    }
    let frame = deadpan_compress::FRAME;
    for (data, level) in [(sample(3 * frame), 1), (sample(600).repeat(20_000), 1), (sample(2000), 3)] {
        let sealing = sealing(false).compress(Level::new(level).expect("a level"));
        for missing in [1, data.len() / 3, data.len()] {
            let output = tempfile::tempfile().expect("a temporary file");
            let input = Shorter(&data[..data.len() - missing]);
            let sealed = sealing.seal_at(&input, data.len() as u64, &output, &work(2));
            assert!(matches!(sealed, Err(Error::Shrank)), "{missing} of {}: {sealed:?}", data.len());
        }
    }
}

/// The data of frames that do not shrink are read when they are sealed. If they have changed by then, the sealed file
/// still opens.
#[test]
fn dense_data_that_change_meanwhile_are_sealed_as_they_were_read() {
    let data = sample(4 * deadpan_compress::FRAME);
    let input = Changing { sealed: data.clone(), begin: 0, read: Mutex::default() };
    let output = tempfile::tempfile().expect("a temporary file");
    let sealing = sealing(false).compress(Level::default());
    sealing.seal_at(&input, data.len() as u64, &output, &work(2)).expect("sealed");
    let sealed = contents(output);
    let (opened, payload) = opened(&sealed).expect("the passphrase");
    let found = opened.open(payload).expect("opened");
    let changed = found.iter().zip(&data).filter(|(found, was)| found != was).count();
    assert!(found.len() == data.len() && (1..2_000_000).contains(&changed), "{changed} bytes");
}
