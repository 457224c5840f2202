//! Tests of the number of hashes, and of the state that the items of a session share.

use std::collections::HashSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::format::deadpan::header::{FIXED, Parsed};
use crate::format::deadpan::layout::Preamble;
use crate::tests::foreign::CHEAP;
use crate::{Header, Identity, Kem, PrivateKey, Sealing, Stanza, open, seal};

const ANOTHER: Cost = Cost { memory: 16, ..CHEAP };

fn session(passphrase: &[u8]) -> Session {
    Session::new(&Passphrase::new(passphrase), CHEAP).expect("a session")
}

fn mine() -> Session {
    session(b"straight face")
}

/// Returns the fields of an item's body: cost, salt, number, commitment, sealed file key.
fn fields(sealed: &[u8]) -> [Vec<u8>; 5] {
    let header = Parsed::read(sealed).expect("a header");
    let [(Stanza::Session(_), entry)] = &header.entries[..] else { panic!("one recipient") };
    let body = &entry.body;
    [&body[..12], &body[12..28], &body[28..60], &body[60..92], &body[92..]].map(<[u8]>::to_vec)
}

#[test]
fn what_it_seals_it_opens_and_so_does_the_passphrase() {
    let session = mine();
    for length in [0, 1, 1000, 600_000] {
        let data = vec![length as u8; length];
        let sealed = seal(&session, &data).expect("sealed");
        assert!(open(&session, &sealed).expect("the session") == data);
        assert!(open(&session.clone(), &sealed).expect("a copy") == data);
        assert!(open(&mine(), &sealed).expect("another session of the passphrase") == data);
        assert!(open(&Passphrase::new(b"straight face"), &sealed).expect("the passphrase") == data);
    }
    let alone = Recipient::Passphrase(Passphrase::new(b"straight face"), ANOTHER);
    assert_eq!(open(&session, &seal(alone, b"data").expect("sealed")).expect("a file of the passphrase"), b"data");
}

#[test]
fn another_passphrase_opens_nothing() {
    let sealed = seal(&mine(), b"data").expect("sealed");
    for identity in [Identity::from(&session(b"straight faces")), Identity::from(&Passphrase::new(b"straight faces"))] {
        assert!(matches!(open_with(&sealed, identity), Err(Error::WrongPassphrase)));
    }
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    assert!(matches!(open(&key, &sealed), Err(Error::NoKeyFits(_))));
    assert!(matches!(open(&mine(), &seal(key.public(), b"data").expect("sealed")), Err(Error::NoKeyFits(_))));
}

fn open_with(sealed: &[u8], identity: Identity) -> Result<Vec<u8>, Error> {
    open(identity, sealed)
}

#[test]
fn items_share_the_salt_and_nothing_else() {
    let session = mine();
    let items: Vec<Vec<u8>> = (0..20).map(|_| seal(&session, b"data").expect("sealed")).collect();
    let first = fields(&items[0]);
    let mut seen = HashSet::new();
    for item in &items {
        let [cost, salt, rest @ ..] = fields(item);
        assert!(cost == first[0] && salt == first[1]);
        // The test compares halves, so that it also finds values that are equal in only one half.
        for field in rest {
            let (one, other) = field.split_at(field.len() / 2);
            assert!(seen.insert(one.to_vec()) && seen.insert(other.to_vec()));
        }
        let header = Parsed::read(&item[..]).expect("a header");
        let file =
            crate::format::deadpan::recipient::unwrap_of_session(&session, Preamble::PLAIN, &header.entries[0].1)
                .expect("it opens")
                .expect("the passphrase");
        assert!(seen.insert(file.bytes().to_vec()), "two items with one file key");
    }
    let other = fields(&seal(&mine(), b"data").expect("sealed"));
    assert!(other[1] != first[1], "two sessions with one salt");
}

#[test]
fn the_passphrase_is_hashed_once_for_all_items() {
    let session = mine();
    assert_eq!(session.hashes(), 0, "nothing was asked for yet");
    let items: Vec<Vec<u8>> = (0..30).map(|i| seal(&session, &[i]).expect("sealed")).collect();
    assert_eq!(session.hashes(), 1);
    items.iter().for_each(|item| assert!(open(&session, item).is_ok()));
    assert_eq!(session.hashes(), 1, "its own items");

    let reader = mine();
    items.iter().for_each(|item| assert!(open(&reader, item).is_ok()));
    assert_eq!(reader.hashes(), 1, "another's items, none of its own");
    let more: Vec<Vec<u8>> = (0..30).map(|i| seal(&reader, &[i]).expect("sealed")).collect();
    items.iter().chain(&more).for_each(|item| assert!(open(&reader, item).is_ok()));
    assert_eq!(reader.hashes(), 2, "another's and its own, by turns");
    more.iter().for_each(|item| assert!(open(&session, item).is_ok()));
    assert_eq!(session.hashes(), 2);
}

#[test]
fn a_wrong_passphrase_is_hashed_once_as_well() {
    let (right, wrong) = (mine(), session(b"wrong"));
    let items: Vec<Vec<u8>> = (0..5).map(|i| seal(&right, &[i]).expect("sealed")).collect();
    items.iter().for_each(|item| assert!(matches!(open(&wrong, item), Err(Error::WrongPassphrase))));
    assert_eq!(wrong.hashes(), 1);
}

#[test]
fn what_is_kept_has_a_bound() {
    let reader = mine();
    let items: Vec<Vec<u8>> = (0..=KEPT).map(|_| seal(&mine(), b"data").expect("sealed")).collect();
    items.iter().for_each(|item| assert!(open(&reader, item).is_ok()));
    assert_eq!(reader.hashes(), KEPT + 1);
    assert!(open(&reader, &items[KEPT]).is_ok() && open(&reader, &items[1]).is_ok());
    assert_eq!(reader.hashes(), KEPT + 1, "the latest are kept");
    assert!(open(&reader, &items[0]).is_ok());
    assert_eq!(reader.hashes(), KEPT + 2, "the oldest is not");
}

#[test]
fn threads_that_ask_at_once_wait_for_one_hash() {
    let session = mine();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| open(&session, &seal(&session, b"data").expect("sealed")).expect("opened"));
        }
    });
    assert_eq!(session.hashes(), 1);
}

/// The hash of a hostile item takes seconds. While the hash of a hostile item is computed, a server must still be able
/// to open other items.
#[test]
fn threads_that_ask_other_questions_do_not_wait() {
    let session = mine();
    let (slow, quick) = (seal(&mine(), b"slow").expect("sealed"), seal(&mine(), b"quick").expect("sealed"));
    let salt = fields(&slow)[1].as_slice().try_into().expect("16 bytes");
    let cell = session.shared.cell(HashQuestion { form: Form::Composed, cost: CHEAP, salt, length: KEY });
    let (sender, receiver) = mpsc::channel();
    let report = |sealed: &[u8]| sender.send(open(&session, sealed).expect("opened")).expect("the receiver waits");
    thread::scope(|scope| {
        // The test locks the cell, as if a thread were computing the hash of the slow item.
        let computing = lock(&cell);
        scope.spawn(|| report(&slow));
        scope.spawn(|| report(&quick));
        let wait = Duration::from_secs(600);
        assert_eq!(receiver.recv_timeout(wait).expect("it does not wait"), b"quick");
        assert!(open(&session, &seal(&session, b"own").expect("sealed")).is_ok(), "nor do items of its own");
        assert!(receiver.try_recv().is_err(), "the same question waits");
        drop(computing);
        assert_eq!(receiver.recv_timeout(wait).expect("its turn"), b"slow");
    });
}

#[test]
fn foreign_salts_do_not_evict_the_session_s_own_hash() {
    let session = mine();
    let own = seal(&session, b"data").expect("sealed");
    for _ in 0..=KEPT {
        assert!(open(&session, &seal(&mine(), b"data").expect("sealed")).is_ok());
    }
    let hashes = session.hashes();
    assert_eq!(hashes, KEPT + 2);
    assert!(open(&session, &own).is_ok() && seal(&session, b"more").is_ok());
    assert_eq!(session.hashes(), hashes);
}

#[test]
fn items_above_the_ceiling_are_refused_and_nothing_is_hashed() {
    let session = mine();
    let costly = Recipient::Passphrase(Passphrase::new(b"straight face"), ANOTHER);
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let sealed = Sealing::mixed(vec![costly, key.public().into()]).and_then(|it| it.seal(b"data")).expect("sealed");
    let careful = session.clone().with_max_cost(MaxCost::new(0, 0));
    let own = seal(&careful, b"own").expect("sealing knows no ceiling");
    assert_eq!(open(&careful, &own).expect("nor do items at its own cost"), b"own");
    for identity in [
        Identity::from(&careful),
        Identity::from(&Passphrase::new(b"straight face").with_max_cost(MaxCost::new(15, 64))),
        Identity::from(&session).with_max_cost(MaxCost::new(0, 0)),
        Identity::from(&Passphrase::new(b"straight face")).with_max_cost(MaxCost::new(15, 64)),
    ] {
        assert!(matches!(open(identity.clone(), &sealed), Err(Error::TooCostly(ANOTHER))));
        let both = Header::read(&sealed[..]).and_then(|header| header.open(&[identity, Identity::from(&key)]));
        assert!(both.is_ok(), "the key is tried all the same");
    }
    assert_eq!(session.hashes(), 1);
    assert_eq!(open(&session, &sealed).expect("the default ceiling"), b"data");
}

/// A change before the end of the commitment looks like a wrong passphrase, and a change after the commitment looks
/// like a changed header. A changed entry of a passphrase without a session gives the same errors.
#[test]
fn every_byte_of_an_item_counts() {
    let session = mine();
    let good = seal(&session, b"data").expect("sealed");
    for place in 12..140 {
        let mut changed = good.clone();
        changed[FIXED + 4 + place] ^= 1;
        match open(&session, &changed) {
            Err(Error::WrongPassphrase) if place < 92 => {}
            Err(Error::HeaderForged) if place >= 92 => {}
            other => panic!("byte {place}: {other:?}"),
        }
    }
    // A changed cost either gives another hash or is out of bounds.
    for place in 3..12 {
        let mut changed = good.clone();
        changed[FIXED + 4 + place] ^= 1;
        assert!(open(&session, &changed).is_err(), "byte {place}");
    }
}

#[test]
fn what_protects_nothing_is_refused() {
    assert!(matches!(Session::new(&Passphrase::new(b""), CHEAP), Err(Error::EmptyPassphrase)));
    assert!(matches!(Session::new(&Passphrase::new(b"p"), Cost { passes: 0, ..CHEAP }), Err(Error::Invalid(_))));
    let (session, key) = (mine(), PrivateKey::generate(Kem::XWing).expect("a key"));
    assert!(matches!(Sealing::to(vec![session.recipient(), session.recipient()]), Err(Error::TooMany(_))));
    let alone = Recipient::Passphrase(Passphrase::new(b"p"), CHEAP);
    assert!(matches!(Sealing::to(vec![session.recipient(), alone]), Err(Error::TooMany(_))));
    // A file can be sealed to a session and a key. Each of the two opens the file.
    let sealed =
        Sealing::to(vec![key.public().into(), session.recipient()]).and_then(|it| it.seal(b"data")).expect("sealed");
    assert!(open(&key, &sealed).is_ok() && open(&session, &sealed).is_ok());
    let header = Header::read(&sealed[..]).expect("a header");
    assert_eq!(header.stanzas(), [Stanza::Key(Kem::XWing), Stanza::Session(CHEAP)]);
}

#[test]
fn nothing_of_it_is_shown() {
    let shown = format!("{:?} {:?}", mine(), mine().recipient());
    assert!(shown.contains("Session") && !shown.contains("straight") && !shown.contains("salt"), "{shown}");
}

/// If a passphrase was typed in NFD, the session hashes its NFC form to seal. A session needs one hash to open its own
/// items, and two hashes to open the items of another session.
#[test]
fn a_session_hashes_each_form_of_its_passphrase_once() {
    let (composed, decomposed) = (session("\u{e9}".as_bytes()), session("e\u{301}".as_bytes()));
    let sealed = |by: &Session| -> Vec<Vec<u8>> { (0..5).map(|i| seal(by, &[i]).expect("sealed")).collect() };
    let (own, foreign) = (sealed(&decomposed), sealed(&composed));
    own.iter().for_each(|item| assert!(open(&decomposed, item).is_ok()));
    assert_eq!(decomposed.hashes(), 1);
    foreign.iter().for_each(|item| assert!(open(&decomposed, item).is_ok()));
    assert_eq!(decomposed.hashes(), 3, "as typed, then NFC");
}
