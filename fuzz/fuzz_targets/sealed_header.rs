//! Reading any header: it never panics, takes little time, and consumes only the header. A header is the same after
//! writing and reading it. A header with a right authentication code opens if, and only if, the format allows its
//! metadata.
//!
//! Input: a header that is used without changes. If the input does not begin like a header, the target makes a header
//! from the input. The target either joins parts and adds the right authentication code, or seals metadata to
//! recipients and then changes the header.
#![no_main]

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::reference::sealed::{self, PREAMBLE};
use deadpan_fuzz::{Input, change};
use deadpan_seal::{
    Cost, Error, Header, Identity, Kem, Kind, Metadata, Passphrase, PrivateKey, Recipient, Sealing, Stanza,
};

const CHEAP: Cost = Cost { memory: 8, passes: 1, lanes: 1 };

fuzz_target!(|data: &[u8]| match data {
    [b'P', rest @ ..] => of_parts(Input(rest)),
    [b'S', rest @ ..] => sealed_and_changed(Input(rest)),
    // Prepends the preamble, so that the fuzzer need not find it.
    [b'-', rest @ ..] => drop(read_twice(&[&PREAMBLE[..], rest].concat())),
    other => drop(read_twice(other)),
});

fn read_twice(bytes: &[u8]) -> Option<Header> {
    let mut rest = bytes;
    let header = Header::read(&mut rest).ok()?;
    let length = bytes.len() - rest.len();
    assert_eq!(header.length(), length as u64, "bytes that were taken");
    assert!(length <= 1 << 20 && header.slack() + header.metadata_length() < length as u64);
    assert!(bytes.starts_with(&PREAMBLE[..9]) && header.is_signed() == (bytes[9] == 1) && header.version() == 1);
    let again = Header::read(&bytes[..length]).expect("read before");
    assert_eq!(
        (again.stanzas(), again.slack(), again.metadata_length()),
        (header.stanzas(), header.slack(), header.metadata_length())
    );
    assert!(matches!(Header::read(&bytes[..length - 1]), Err(Error::Truncated)), "a header without its last byte");
    let passphrases = header.stanzas().iter().filter(|it| it.is_passphrase()).count();
    assert!(!header.stanzas().is_empty() && passphrases <= 1);
    Some(header)
}

/// Reads a header that is made of parts, any of which may be wrong.
fn of_parts(mut input: Input<'_>) {
    let ours = sealed::recipient();
    let ours = (ours.0, ours.1.to_vec());
    let mut recipients = vec![ours.clone(); usize::from(input.byte() % 3)];
    for _ in 0..input.byte() % 4 {
        recipients.insert(usize::from(input.byte()) % (recipients.len() + 1), stranger(&mut input));
    }
    let slack = vec![input.byte() & 1; input.place() % 600];
    let (lie, miscount) = match input.byte() {
        0..0x80 => (0, 0),
        lie => (i32::from(lie as i8) + 0x40, i16::from(input.byte() as i8) / 32),
    };
    let plain_length = match input.byte() {
        0 => 0,
        steps => usize::from(steps % 34) * 256 + usize::from(steps >> 7) * usize::from(steps & 3),
    };
    let mut plain = input.rest().to_vec();
    plain.resize(plain_length, 0);
    let bytes = sealed::header(&recipients, &sealed::metadata_box(&plain), &slack, lie, miscount);
    let Some(header) = read_twice(&bytes) else { return };
    if header.length() != bytes.len() as u64 {
        return;
    }
    // The header that was read is the header that was made, because their lengths are equal.
    assert_eq!(header.stanzas().len(), recipients.len());
    assert!(slack.iter().all(|byte| *byte == 0) && header.slack() == slack.len() as u64);
    let opened = header.open(&[Identity::Key(sealed::identity().clone())]);
    if !recipients.contains(&ours) {
        assert!(matches!(opened, Err(Error::NoKeyFits(_))), "somebody else's");
        return;
    }
    let expected = sealed::Metadata::read(&plain);
    let Ok(opened) = opened else {
        assert!(
            expected.is_none_or(|it| it.time.is_some_and(|time| system_time(time).is_none())),
            "metadata that are right"
        );
        return;
    };
    let (expected, found) = (expected.expect("metadata that are wrong"), opened.metadata());
    assert_eq!((found.kind as u8, opened.hides_length()), (expected.kind, expected.padded));
    assert_eq!((found.mode.map(|mode| mode as u16), &found.name), (expected.mode, &expected.name));
    assert_eq!(found.modified, expected.time.and_then(system_time));
    let rewrapped = opened.rewrap(&[Recipient::Key(sealed::identity().public().clone())], false);
    let rewrapped = read_twice(&rewrapped.expect("a header")).expect("a header that was just written");
    assert_eq!(rewrapped.length(), bytes.len() as u64, "it fits where it was");
    let opened = rewrapped.open(&[Identity::Key(sealed::identity().clone())]).expect("just written");
    assert_eq!(opened.metadata().name, expected.name);
}

/// Makes a recipient of any type, usually with the length that the format requires.
fn stranger(input: &mut Input<'_>) -> (u16, Vec<u8>) {
    let choice = input.byte();
    let (kind, length) = match Kem::ALL.get(usize::from(choice % 8)) {
        Some(kem) => (kem.id(), kem.enc_len() + 48),
        None if choice & 8 == 0 => (0xff01, 108),
        None => (0xff02, 140),
    };
    let mut body = vec![choice; length];
    if kind >= 0xff01 {
        // The cost parameters are close to the limits.
        body[..12].fill(0);
        for place in [2, 3, 6, 7, 11] {
            body[place] = input.byte();
        }
    }
    match choice >> 5 {
        7 => (kind ^ 1 << (choice & 15), body),
        6 => {
            body.resize(usize::from(input.byte()), 0);
            (kind, body)
        }
        _ => (kind, body),
    }
}

fn system_time((seconds, nanoseconds): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time?.checked_add(Duration::from_nanos(nanoseconds.into()))
}

/// Returns keys, which are made only once.
fn keys() -> &'static [PrivateKey] {
    static KEYS: OnceLock<Vec<PrivateKey>> = OnceLock::new();
    KEYS.get_or_init(|| Kem::ALL.map(|kem| PrivateKey::generate(kem).expect("a key")).to_vec())
}

fn sealed_and_changed(mut input: Input<'_>) {
    let who = input.byte();
    let passphrase = Passphrase::new(b"fuzz");
    let mut recipients: Vec<Recipient> = Vec::new();
    let mut identities = Vec::new();
    for (number, key) in keys().iter().enumerate().filter(|(number, _)| who >> number & 1 == 1) {
        recipients.push(Recipient::Key(key.public().clone()));
        identities.push(Identity::Key(keys()[number].clone()));
    }
    if who & 0x40 != 0 || recipients.is_empty() {
        recipients.push(Recipient::Passphrase(passphrase.clone(), CHEAP));
        identities.push(Identity::Passphrase(passphrase));
    }
    let mut changes = Input(input.0.get(..16).unwrap_or_default());
    input.0 = input.0.get(16..).unwrap_or_default();
    let (what, seconds, mode, name) = (input.byte(), input.number() as i64, input.word(), input.rest());
    let metadata = Metadata {
        kind: [Kind::Bytes, Kind::File, Kind::Folder][usize::from(what >> 3) % 3],
        name: (what & 1 != 0).then(|| name.to_vec()),
        // The earliest possible time is replaced by a time that is one second later.
        modified: if what & 2 != 0 { system_time((seconds.max(-i64::MAX), mode as u32)) } else { None },
        mode: (what & 4 != 0).then_some(mode as u32),
    };
    let sealing = Sealing::mixed(recipients).expect("recipients").metadata(metadata.clone());
    let Ok(sealing) = sealing else {
        assert!(what & 1 != 0 || what & 4 != 0 && mode > 0o7777, "metadata that can be written");
        return;
    };
    let sealed = sealing.hide_length(what & 0x40 != 0).seal(b"straight face").expect("sealed");
    let header = read_twice(&sealed).expect("what was written");
    let length = header.length() as usize;
    // Each key alone opens the header.
    let identity = &identities[usize::from(what) % identities.len()];
    let opened = header.open(std::slice::from_ref(identity)).expect("the right key");
    assert_eq!(opened.metadata(), &metadata);
    let mut changed = sealed[..length].to_vec();
    change(&mut changes, &mut changed, 16, 4);
    if !changed.starts_with(&sealed[..length]) {
        let Some(header) = read_twice(&changed) else { return };
        // The changed cost parameters may have any values that the format allows. Hashing with these parameters could
        // take too long, so the passphrase is not tried.
        if header
            .stanzas()
            .iter()
            .all(|it| !matches!(it, Stanza::Passphrase(cost) | Stanza::Session(cost) if *cost != CHEAP))
        {
            assert!(header.open(&identities).is_err(), "a header that was changed");
        }
    }
}
