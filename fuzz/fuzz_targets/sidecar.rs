//! Reading any record (a sidecar, which protects a file while its header is replaced) never panics. A record is the
//! same after writing and reading it. For each header, the record gives the same answer as a comparison byte by byte.
//!
//! Input: a record that is used unchanged. Or the byte `S` and the fields of a record, from which the target makes a
//! record that it then cuts or changes.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::{Input, change};
use deadpan_seal::{Sidecar, Standing};

fuzz_target!(|data: &[u8]| match data {
    [b'S', rest @ ..] => made(Input(rest)),
    other => drop(read(other)),
});

fn read(bytes: &[u8]) -> Option<Sidecar> {
    let record = Sidecar::decode(bytes)?;
    assert!(Sidecar::begins(bytes) && bytes.len() <= Sidecar::LONGEST);
    assert_eq!(record.encode(), bytes, "a record has one encoding");
    assert!(record.old().len() == record.new_header().len() && !record.old().is_empty());
    Some(record)
}

fn made(mut input: Input<'_>) {
    let (inode, length) = (input.number(), input.number());
    let mut changes = Input(input.0.get(..16).unwrap_or_default());
    input.0 = input.0.get(16..).unwrap_or_default();
    let half = input.0.len() / 2;
    let (old, new) = (&input.0[..half], &input.0[half..2 * half]);
    let Some(record) = Sidecar::new(inode, length, old, old.to_vec(), new.to_vec()) else {
        assert!(half == 0 || half > 1 << 20);
        return;
    };
    let bytes = record.encode();
    assert!(read(&bytes).expect("just made") == record);
    assert!(record.is_of(length, old) && !record.is_of(length ^ 1, old));
    let mut now = old.to_vec();
    change(&mut changes, &mut now, 0, 1);
    let is_torn = now.len() == half && (0..half).all(|i| now[i] == old[i] || now[i] == new[i]);
    let expected = match () {
        () if now == old => Standing::Old,
        () if now == new => Standing::New,
        () if is_torn => Standing::Torn,
        () => Standing::Other,
    };
    assert_eq!(record.standing(&now), expected);
    let mut changed = bytes.clone();
    change(&mut changes, &mut changed, 16, 4);
    assert!(changed == bytes || read(&changed).is_none(), "a record that was changed");
}
