//! Tests for age files, through the public interface.
#![allow(clippy::print_stderr, reason = "what cannot run says so")]

mod recipients;
mod vectors;

use std::io::Read;

use deadpan_seal::{Cursor, Error, Header, Identity, Opened};

/// Opens the header of a file.
fn unlock<'a>(sealed: &'a [u8], identities: &[Identity]) -> Result<(Opened, &'a [u8]), Error> {
    let mut rest = sealed;
    let opened = Header::read(&mut rest)?.open(identities)?;
    Ok((opened, rest))
}

/// The data that were returned when a file was opened, and then the error, if any.
type Opening = (Vec<u8>, Option<Error>);

/// A way to open a file. The function gets the opened header, the whole file, and the payload of the file.
type Way = fn(&Opened, &[u8], &[u8]) -> Opening;

/// The ways to open a file.
const WAYS: [(&str, Way); 4] =
    [("reader", by_reader), ("stream", by_stream), ("memory", in_memory), ("positions", at_positions)];

fn by_reader(opened: &Opened, _: &[u8], payload: &[u8]) -> Opening {
    let mut plain = Vec::new();
    match opened.read_from(payload) {
        Ok(mut reader) => {
            let failure = reader.read_to_end(&mut plain).err();
            (plain, failure.map(|error| error.downcast::<Error>().expect("the library's error")))
        }
        Err(error) => (plain, Some(error)),
    }
}

fn by_stream(opened: &Opened, _: &[u8], payload: &[u8]) -> Opening {
    let mut plain = Vec::new();
    let failure = opened.open_stream(payload, &mut plain, &deadpan_seal::Work::default()).err();
    (plain, failure)
}

fn in_memory(opened: &Opened, _: &[u8], payload: &[u8]) -> Opening {
    match opened.open(payload) {
        Ok(plain) => (plain, None),
        Err(failure) => (Vec::new(), Some(failure)),
    }
}

/// Opens a file with reads at given positions, and also with a reader that can seek. Checks that reads at positions and
/// the seeking reader give the same result.
fn at_positions(opened: &Opened, sealed: &[u8], _: &[u8]) -> Opening {
    let mut file = tempfile::tempfile().expect("a file");
    let input = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(input.path(), sealed).expect("written");
    let result = opened.open_at(input.as_file(), sealed.len() as u64, &file, &deadpan_seal::Work::default());
    let sought = opened.seek_in(Cursor::new(input.as_file(), sealed.len() as u64)).and_then(|mut reader| {
        let mut plain = Vec::new();
        reader.read_to_end(&mut plain).map_err(|error| error.downcast::<Error>().expect("the library's error"))?;
        Ok(plain)
    });
    assert_eq!(result.is_ok(), sought.is_ok(), "{result:?}, and the reader differs");
    match result {
        Ok(_) => {
            let mut plain = Vec::new();
            std::io::Seek::rewind(&mut file).expect("rewound");
            file.read_to_end(&mut plain).expect("read");
            assert!(sought.expect("ok") == plain, "the reader has other data");
            (plain, None)
        }
        // After an error, the contents of the output file are not used.
        Err(error) => (Vec::new(), Some(error)),
    }
}
