//! Tests all methods of sealing and opening with every kind of recipient.

use std::io::{Read, Seek, SeekFrom, Write};

use super::{WAYS, unlock};
use deadpan_seal::age::armor;
use deadpan_seal::{
    Cost, Error, Format, Header, Identity, Kem, Metadata, Passphrase, PrivateKey, Recipient, Sealing, Stanza, Work, key,
};

const KEMS: [Kem; 4] = [Kem::X25519, Kem::XWing, Kem::P256, Kem::MlKem768P256];
const CHUNK: usize = 64 << 10;
const CHEAP: Cost = Cost { memory: 16, passes: 1, lanes: 1 };

fn sealing(recipients: Vec<Recipient>) -> Sealing {
    Sealing::to(recipients).and_then(|sealing| sealing.format(Format::Age)).expect("recipients")
}

fn to(key: &PrivateKey) -> Sealing {
    sealing(vec![key.public().into()])
}

fn sample(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn open(sealed: &[u8], identity: impl Into<Identity>) -> Result<Vec<u8>, Error> {
    deadpan_seal::open(identity, sealed)
}

#[test]
fn every_kind_of_key_opens_its_own_files_only() {
    let keys = KEMS.map(|kem| PrivateKey::generate(kem).expect("a key"));
    let others = KEMS.map(|kem| PrivateKey::generate(kem).expect("a key"));
    for key in &keys {
        let sealed = to(key).seal(b"data").expect("sealed");
        assert!(sealed.starts_with(b"age-encryption.org/v1\n-> "), "{}", key.kem().name());
        assert_eq!(open(&sealed, key).expect("opened"), b"data", "{}", key.kem().name());
        let header = Header::read(&sealed[..]).expect("a header");
        assert_eq!((header.stanzas(), header.format()), (vec![Stanza::Key(key.kem())], Format::Age));
        for other in keys.iter().filter(|other| other.kem() != key.kem()).chain(&others) {
            assert!(matches!(open(&sealed, other), Err(Error::NoKeyFits(_))), "{}", other.kem().name());
        }
    }
}

#[test]
fn every_length_comes_back_in_every_way() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let identity = [Identity::from(&key)];
    for around in [0, CHUNK, 2 * CHUNK, 7 * CHUNK, 8 * CHUNK, 40 * CHUNK] {
        for length in [around.saturating_sub(1), around, around + 1] {
            let plain = sample(length);
            let (sealing, work) = (to(&key), Work::default());
            let (input, output) = (tempfile::NamedTempFile::new().expect("a file"), tempfile::NamedTempFile::new());
            let output = output.expect("a file");
            std::fs::write(input.path(), &plain).expect("written");
            let summary = sealing.seal_file(input.as_file(), output.as_file(), &work).expect("sealed");
            let positioned = std::fs::read(output.path()).expect("read");
            assert_eq!((summary.plain, summary.sealed), (length as u64, positioned.len() as u64));
            assert_eq!(sealing.sealed_length(length as u64).expect("a length"), positioned.len() as u64);
            let mut streamed = Vec::new();
            sealing.seal_stream(&plain[..], &mut streamed, &work).expect("sealed");
            let mut writer = sealing.write_to(Vec::new()).expect("a writer");
            plain.chunks(CHUNK - 1).for_each(|piece| writer.write_all(piece).expect("written"));
            let written = writer.finish().expect("finished");
            let in_memory = sealing.seal(&plain).expect("sealed");
            for sealed in [&positioned, &streamed, &written, &in_memory] {
                assert_eq!(sealed.len(), positioned.len(), "{length}");
                let (opened, payload) = unlock(sealed, &identity).expect("opened");
                for (name, way) in WAYS {
                    let (back, failure) = way(&opened, sealed, payload);
                    assert!(failure.is_none() && back == plain, "{length} by {name}: {failure:?}");
                }
            }
        }
    }
}

/// A source that reports its end only after a read that returns no data.
struct Late(Vec<u8>);

impl deadpan_seal::Source for Late {
    type Rest = ();

    fn take(&mut self, buffer: &mut [u8]) -> std::io::Result<deadpan_seal::Taken<()>> {
        let length = buffer.len().min(self.0.len());
        let rest = self.0.split_off(length);
        buffer[..length].copy_from_slice(&self.0);
        self.0 = rest;
        Ok(deadpan_seal::Taken { length, last: length < buffer.len(), rest: () })
    }

    fn complete((): (), _: &mut [u8]) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_source_that_ends_late_leaves_no_empty_chunk() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    for length in [0, 1, 7 * CHUNK, 8 * CHUNK, 14 * CHUNK] {
        let plain = sample(length);
        let mut sealed = Vec::new();
        to(&key).gather(Late(plain.clone()), &mut sealed, &Work::default()).expect("sealed");
        assert!(open(&sealed, &key).expect("opened") == plain, "{length}");
        let output = tempfile::NamedTempFile::new().expect("a file");
        to(&key).gather_at(Late(plain.clone()), output.as_file(), &Work::default()).expect("sealed");
        assert!(open(&std::fs::read(output.path()).expect("read"), &key).expect("opened") == plain, "{length}");
    }
}

#[test]
fn a_range_is_opened_alone() {
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let plain = sample(5 * CHUNK + 17);
    let mut sealed = to(&key).seal(&plain).expect("sealed");
    let begin = Header::read(&sealed[..]).expect("a header").length() as usize + 16;
    // This change damages the second chunk.
    sealed[begin + CHUNK + 16 + 5] ^= 1;
    let (opened, _) = unlock(&sealed, &[Identity::from(&key)]).expect("opened");
    let mut reader = opened.seek_in(std::io::Cursor::new(&sealed)).expect("a reader");
    assert_eq!(reader.length(), plain.len() as u64);
    let mut piece = vec![0; CHUNK];
    for offset in [0, 2 * CHUNK, 3 * CHUNK + 100, plain.len() - CHUNK] {
        reader.seek(SeekFrom::Start(offset as u64)).expect("sought");
        reader.read_exact(&mut piece).expect("read");
        assert!(piece == plain[offset..offset + CHUNK], "{offset}");
    }
    reader.seek(SeekFrom::Start(CHUNK as u64)).expect("sought");
    let error = reader.read(&mut piece).expect_err("damaged").downcast::<Error>().expect("the library's error");
    assert!(matches!(error, Error::Segment { segment: 1 }), "{error}");
    sealed.truncate(begin + 2 * (CHUNK + 16));
    let (opened, _) = unlock(&sealed, &[Identity::from(&key)]).expect("opened");
    let error = opened.seek_in(std::io::Cursor::new(&sealed)).expect_err("the last chunk is missing");
    assert!(!matches!(error, Error::Read(_)), "{error}");
}

#[test]
fn a_passphrase_stands_alone() {
    let passphrase = Passphrase::new("Grüße".as_bytes());
    let recipient = Recipient::Passphrase(passphrase.clone(), CHEAP);
    let sealed = sealing(vec![recipient.clone()]).seal(b"data").expect("sealed");
    assert_eq!(open(&sealed, &passphrase).expect("opened"), b"data");
    let decomposed = Passphrase::new("Gru\u{308}ße".as_bytes());
    assert_eq!(open(&sealed, &decomposed).expect("opened"), b"data", "another form of the same letters");
    assert!(matches!(open(&sealed, &Passphrase::new(b"other")), Err(Error::WrongPassphrase)));
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let both = Sealing::to(vec![recipient, key.public().into()]).expect("a list");
    assert!(matches!(both.format(Format::Age), Err(Error::TooMany(_))));
}

#[test]
fn what_age_does_not_have_is_refused() {
    let key = PrivateKey::generate(Kem::MlKem768).expect("a key");
    let sealing = |recipient| Sealing::to(vec![recipient]).and_then(|sealing| sealing.format(Format::Age));
    assert!(matches!(sealing(key.public().into()), Err(Error::Invalid(_))));
    let session = deadpan_seal::Session::new(&Passphrase::new(b"many"), CHEAP).expect("a session");
    assert!(matches!(sealing(session.recipient()), Err(Error::Invalid(_))));
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    assert!(matches!(to(&key).hide_length(true).seal(b"data"), Err(Error::Invalid(_))));
    let hybrid = PrivateKey::generate(Kem::XWing).expect("a key");
    let mixed = [key.public(), hybrid.public()];
    assert!(matches!(Sealing::to(mixed), Err(Error::Mixed(_))));
    let sealed = Sealing::mixed(mixed).and_then(|it| it.format(Format::Age)?.seal(b"data")).expect("sealed");
    for key in [&key, &hybrid] {
        assert_eq!(open(&sealed, key).expect("opened"), b"data");
    }
}

#[test]
fn an_age_file_has_no_metadata() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let metadata = Metadata { name: Some(b"a name".to_vec()), ..Metadata::default() };
    let sealed = to(&key).metadata(metadata).and_then(|it| it.seal(b"data")).expect("sealed");
    let (opened, _) = unlock(&sealed, &[Identity::from(&key)]).expect("opened");
    assert_eq!((opened.metadata(), opened.format()), (&Metadata::default(), Format::Age));
}

#[test]
fn other_recipients_get_the_same_payload() {
    let (old, new) =
        (PrivateKey::generate(Kem::X25519).expect("a key"), PrivateKey::generate(Kem::XWing).expect("a key"));
    let sealed = to(&old).seal(b"data").expect("sealed");
    let (opened, payload) = unlock(&sealed, &[Identity::from(&old)]).expect("opened");
    assert!(matches!(opened.rewrap(&[new.public().into()], false), Err(Error::TooMany(_))));
    let header = opened.rewrap_longer(&[new.public().into()], false).expect("a header");
    assert_eq!(open(&[&header, payload].concat(), &new).expect("opened"), b"data");
}

/// age computes the tag from the compressed point. age 1.3.2 sealed the file of this test to the key of this test.
#[test]
fn a_tagged_file_by_age_opens() {
    const KEY: &[u8] = b"-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsnDucuB+okW0YuJV
TBeMqoRoS6/ENLNWX29OKdXHxKWhRANCAAS1JElxfmusnLfuQtEXYOTs1lMGCdql
j8ssgrTueRjPwWlXGsmvVgw51axlrPzgBofxP/rAuv3IEAgMJBELgtmr
-----END PRIVATE KEY-----
";
    const SEALED: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHAyNTZ0YWcgNHoyOWdRIEJQZ3BIWEhY
bzBPODhrNUQwMW9LQmhqR2VnWGpZVVJKSzFMVFBFKzRaUE9ZRE54WVhHRTFYdTRK
M2M1R3JZL2xBY0MySUFjc1VFMXhIbHNPTjlMeTVuWQpoYWhIcU9sdGRRWjFVMHp3
L2toWWg3bHNScW1mUjFNSTlQZGYzV0RQeDJrCi0tLSBVRFhMaVZqS3BZcUUxL0xa
UnlzTDNTZWJVNDBYWUxUczRVYTNLV1pZWm9JCjSA/FVErnfGj1nGSAAXdxzv97Oq
ecePnk/SlFe30DUBrMB7geOf8psJF8ibAw==
-----END AGE ENCRYPTED FILE-----
";
    let [key::Found::Private(key)] = &key::read(KEY).expect("a key")[..] else { panic!("one private key") };
    let mut sealed = Vec::new();
    armor::ArmorReader::new(SEALED).read_to_end(&mut sealed).expect("armor");
    assert_eq!(open(&sealed, key).expect("opened"), b"straight face");
}

#[test]
fn tagged_keys_have_recipients() {
    for (kem, start) in [(Kem::P256, "age1tag1"), (Kem::MlKem768P256, "age1tagpq1")] {
        let private = PrivateKey::generate(kem).expect("a key");
        let text = key::age_recipient(private.public()).expect("a recipient");
        assert!(text.starts_with(start), "{text}");
        let [key::Found::Public(back)] = &key::read(text.as_bytes()).expect("a key")[..] else { panic!("one key") };
        assert!(back == private.public(), "{text}");
    }
}
