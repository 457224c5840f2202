//! Reading any pack through its index: it never panics, the entries come in order and lie within the pack, and a search
//! for the path of an entry finds this entry.
//!
//! Input: a byte that determines whether the hashes are corrected first; then the pack. Without this correction, few
//! inputs would pass the first checks.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::Input;
use deadpan_pack::{Contents, Entry, Kind, Pick, Selection};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let repaired = input.byte() & 1 == 0;
    let mut pack = input.0.to_vec();
    if repaired {
        let _ = repair(&mut pack);
    }
    let length = pack.len() as u64;
    let Ok(Some(mut contents)) = Contents::read(Cursor::new(pack)) else { return };
    let count = contents.count();
    let mut entries: Vec<Entry> = Vec::new();
    let mut whole = true;
    for entry in contents.entries() {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(_) => whole = false,
        }
    }
    assert!(!whole || entries.len() as u64 == count, "the count");
    for (number, entry) in entries.iter().enumerate() {
        assert!(entry.begin >= 1024 && entry.begin < entry.content && entry.end() <= length, "outside of the pack");
        if let Some(before) = number.checked_sub(1).map(|before| &entries[before]) {
            let components =
                |entry: &Entry| entry.path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect::<Vec<_>>();
            assert!(components(before) < components(entry), "out of order");
            assert!(before.end() <= entry.begin, "one over the other");
        }
        // If an index has an error, a search may miss an entry that stands before the error.
        let found = contents.find(&entry.path);
        assert!(!whole || found.is_ok_and(|found| found.as_ref() == Some(entry)), "not found again");
    }
    if let (true, Some(last)) = (whole, entries.last()) {
        // After a slash, a `!` is a part of the name.
        let chosen = Selection::new([[b"/", &last.path[..]].concat()]).within(&mut contents).expect("it is there");
        for pick in chosen.entries(&mut contents) {
            let is_chosen = |pick: Pick| chosen.takes(&pick.entry.path, pick.entry.kind == Kind::Folder);
            assert!(pick.is_err() || pick.is_ok_and(is_chosen));
        }
    }
});

/// Corrects the hashes in the table and in the trailer, if the table and the trailer can be found.
fn repair(pack: &mut [u8]) -> Option<()> {
    let number =
        |bytes: &[u8]| usize::try_from(bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))).ok();
    let trailer = pack.len().checked_sub(64)?;
    let table = number(&pack[trailer..trailer + 8])?;
    let length = number(&pack[trailer + 8..trailer + 16])?;
    // Zeros may stand between the table and the trailer.
    let end = table.checked_add(length)?.min(trailer);
    let mut at = table;
    while at < end {
        let begin = number(pack.get(at..at + 8)?)?;
        let end = begin.checked_add(number(pack.get(at + 8..at + 12)?)?)?;
        let hash = blake3::hash(pack.get(begin..end)?);
        let path = number(pack.get(at + 48..at + 50)?)?;
        pack[at + 16..at + 48].copy_from_slice(hash.as_bytes());
        at = at + 50 + path;
    }
    let hash = blake3::hash(pack.get(table..end)?);
    pack[trailer + 32..trailer + 56].copy_from_slice(&hash.as_bytes()[..24]);
    Some(())
}
