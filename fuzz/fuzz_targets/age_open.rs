//! Opening an age file: all ways of opening agree and return the data. For a changed file, all ways of opening return
//! an error, and before the error they return at most whole chunks from the beginning of the file.
//!
//! Input: how to seal, the sizes of the pieces, changes to the file, the length of the data, and the first bytes of the
//! data.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::reference::sealed;
use deadpan_fuzz::{Cuts, Input, Pieces, change};
use deadpan_seal::{Format, Header, Identity, Opened, Recipient, Sealing, Work};

const CHUNK: usize = 64 << 10;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let how = input.byte();
    let cuts = Cuts::new(&mut input);
    let mut changes = Input(input.0.get(..16).unwrap_or_default());
    input.0 = input.0.get(16..).unwrap_or_default();
    // The length is close to a whole number of chunks.
    let length = (usize::from(how & 3) * CHUNK + input.place() % 7).saturating_sub(3);
    let mut plain = input.rest().to_vec();
    plain.resize(length, how);
    let key = sealed::identity();
    let to = vec![Recipient::Key(key.public().clone())];
    let sealing = Sealing::to(to).and_then(|it| it.format(Format::Age)).expect("a recipient");
    let mut file = Vec::new();
    if how & 4 == 0 {
        file = sealing.seal(&plain).expect("sealed");
    } else {
        let work = Work { threads: usize::from(how >> 3 & 1) + 1, ..Work::default() };
        sealing.seal_stream(Pieces::new(&cuts, &plain), &mut file, &work).expect("sealed");
    }
    for (number, (found, good)) in open(&file, &cuts).expect("the key").into_iter().enumerate() {
        assert!(good && found == plain, "way {number}: {} bytes", found.len());
    }
    let mut changed = file.clone();
    let header = Header::read(&file[..]).expect("a header").length() as usize;
    change(&mut changes, &mut changed, header + 16, CHUNK + 16);
    if changed == file {
        return;
    }
    for (number, (found, good)) in open(&changed, &cuts).into_iter().flatten().enumerate() {
        assert!(!good, "way {number} opens a file that was changed");
        assert!(plain.starts_with(&found), "way {number} gives out what was not sealed");
        assert!(found.len().is_multiple_of(CHUNK) || found == plain, "way {number} gives out a part of a chunk");
    }
});

/// Opens a file in all ways. Returns `None` if the header of the file does not open.
fn open(file: &[u8], cuts: &Cuts) -> Option<[(Vec<u8>, bool); 4]> {
    let mut payload = file;
    let identity = Identity::Key(sealed::identity().clone());
    let opened = Header::read(&mut payload).and_then(|header| header.open(&[identity])).ok()?;
    Some(ways(&opened, file, payload, cuts))
}

fn ways(opened: &Opened, file: &[u8], payload: &[u8], cuts: &Cuts) -> [(Vec<u8>, bool); 4] {
    let bytes = opened.open(payload);
    let (in_memory, bytes) = (bytes.is_ok(), bytes.unwrap_or_default());
    let mut streamed = Vec::new();
    let work = Work { threads: 2, ..Work::default() };
    let stream = opened.open_stream(Pieces::new(cuts, payload), &mut streamed, &work).is_ok();
    let drain = |mut reader: Box<dyn Read + '_>| {
        let mut found = Vec::new();
        let good = reader.read_to_end(&mut found).is_ok();
        (found, good)
    };
    let none = (Vec::new(), false);
    let read = opened.read_from(payload).map_or(none.clone(), |reader| drain(Box::new(reader)));
    let seek = opened.seek_in(Cursor::new(file)).map_or(none, |reader| drain(Box::new(reader)));
    [(bytes, in_memory), (streamed, stream), read, seek]
}
