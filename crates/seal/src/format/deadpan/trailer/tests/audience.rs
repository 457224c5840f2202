//! Tests of the audience: the recipients that a signed statement lists.

use super::*;
use crate::{Audience, Kem, PrivateKey, Recipient};

fn key() -> (PrivateKey, Recipient) {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let recipient = Recipient::Key(key.public().clone());
    (key, recipient)
}

fn audience(sealed: &[u8], identity: Identity) -> Audience {
    let mut payload = sealed;
    let opened = Header::read(&mut payload).and_then(|header| header.open(&[identity])).expect("the key");
    let done = opened.open_stream(payload, std::io::sink(), &Work::default()).expect("signed");
    let signatures = done.signatures.expect("signed");
    assert_eq!(signatures.are_for_opener(), !matches!(signatures.audience(), Audience::Others { .. }));
    assert_eq!(opened.check_signatures(Cursor::new(sealed)).expect("signed"), Some(signatures.clone()));
    signatures.audience()
}

#[test]
fn recipients_are_told_that_the_file_is_for_them() {
    let ((alice, to_alice), (bob, to_bob)) = (key(), key());
    let to = vec![to_alice, recipient(), to_bob];
    let sealing = Sealing::to(to).and_then(|it| it.sign(signer().0)).expect("a sealing");
    let sealed = sealing.seal(b"data").expect("sealed");
    for identity in [Identity::Key(alice.clone()), Identity::Key(bob), identity()] {
        assert_eq!(audience(&sealed, identity), Audience::Opener { recipients: 3 });
    }
    let sealed = sealing.for_anyone().seal(b"data").expect("sealed");
    assert_eq!(audience(&sealed, Identity::Key(alice)), Audience::Anyone);
}

/// Bob seals the key of Alice's file to Carol. The signature stays valid, and Carol's program reports that the file was
/// for others.
#[test]
fn a_forwarded_file_is_told_as_such() {
    let ((bob, to_bob), (carol, to_carol)) = (key(), key());
    let sealing = Sealing::to(vec![to_bob.clone(), recipient()]).and_then(|it| it.sign(signer().0)).expect("a sealing");
    let sealed = sealing.seal(b"data").expect("sealed");
    let header = Header::read(&sealed[..]).expect("a header");
    let length = header.length() as usize;
    let opened = header.open(&[Identity::Key(bob.clone())]).expect("the key");
    let new = opened.rewrap_longer(&[to_bob, to_carol, recipient()], false).expect("a header");
    let forwarded = [&new, &sealed[length..]].concat();
    assert_eq!(audience(&forwarded, Identity::Key(carol)), Audience::Others { recipients: 2 });
    assert_eq!(audience(&forwarded, Identity::Key(bob)), Audience::Opener { recipients: 2 });
    // The passphrase was hashed again with another salt, so the statement names it as another recipient, although the
    // words are the same.
    assert_eq!(audience(&forwarded, identity()), Audience::Others { recipients: 2 });
}
