//! Tests the answers of a keyring.

use super::*;
use crate::hpke;
use crate::sign::{Scheme, Signer};

const SECOND: Duration = Duration::from_secs(1);

fn unlock(name: &str, pem: &[u8], seconds: u32, asks: bool) -> Vec<u8> {
    let asks: &[u8] = if asks { b"/bin/ask" } else { b"" };
    let strings = wire::strings(&[extension::UNLOCK, name.as_bytes(), asks, pem]);
    [&strings[..], &seconds.to_be_bytes()].concat()
}

fn shared(name: &[u8], key: &PublicKey, contents: &[u8]) -> Vec<u8> {
    let id = u32::from(key.kem().id()).to_be_bytes();
    [&wire::strings(&[name])[..], &id, &wire::strings(&[key.as_bytes(), contents])].concat()
}

/// Does the task, and returns the number and the contents of the answer.
fn done(task: Task) -> (u8, Vec<u8>) {
    let (number, contents) = match task {
        Task::Answer(answer) => answer,
        Task::Use(wanted) => wanted.answer(),
    };
    (number, contents.to_vec())
}

fn ask(keyring: &mut Keyring, now: Duration, number: u8, contents: &[u8]) -> (u8, Vec<u8>) {
    done(keyring.task(now, number, contents))
}

const FAILED: (u8, Vec<u8>) = (number::FAILURE, Vec::new());

#[test]
fn a_held_key_of_each_kind_gives_its_shared_secrets_until_its_time_is_over() {
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem).expect("a key");
        let (enc, _) = hpke::seal(key.public(), b"", b"", b"message").expect("sealed");
        let mut keyring = Keyring::default();
        let request = shared(extension::DECAPSULATE, key.public(), &enc);
        assert_eq!(ask(&mut keyring, SECOND, number::EXTENSION, &request), FAILED, "{kem:?}: not held yet");
        let message = unlock("a name", &key::private_pem(&key), 10, false);
        let (number, _) = ask(&mut keyring, SECOND, number::EXTENSION, &message);
        assert_eq!(number, number::EXTENSION_RESPONSE);
        let secret = key.decapsulate(&enc).expect("the system works").expect("valid");
        let wanted = (number::EXTENSION_RESPONSE, string(&secret).to_vec());
        assert_eq!(ask(&mut keyring, 10 * SECOND, number::EXTENSION, &request), wanted, "{kem:?}");
        let short = shared(extension::DECAPSULATE, key.public(), &enc[1..]);
        assert_eq!(ask(&mut keyring, 10 * SECOND, number::EXTENSION, &short).1, [0; 4], "no secret");
        let other = PrivateKey::generate(kem).expect("a key");
        let strange = shared(extension::DECAPSULATE, other.public(), &enc);
        assert_eq!(ask(&mut keyring, 10 * SECOND, number::EXTENSION, &strange), FAILED);
        assert_eq!(keyring.forget(10 * SECOND), Some(11 * SECOND));
        assert_eq!(ask(&mut keyring, 11 * SECOND, number::EXTENSION, &request), FAILED, "{kem:?}: over");
        assert_eq!(keyring.forget(11 * SECOND), None);
    }
}

#[test]
fn x25519_multiplies_points_and_other_kinds_do_not() {
    let mut keyring = Keyring::default();
    for (kem, wanted) in [(Kem::X25519, 36), (Kem::XWing, 4)] {
        let key = PrivateKey::generate(kem).expect("a key");
        ask(&mut keyring, SECOND, number::EXTENSION, &unlock("", &key::private_pem(&key), 10, false));
        let point = PrivateKey::generate(Kem::X25519).expect("a key");
        let request = shared(extension::MULTIPLY, key.public(), point.public().as_bytes());
        let (number, contents) = ask(&mut keyring, SECOND, number::EXTENSION, &request);
        assert_eq!((number, contents.len()), (number::EXTENSION_RESPONSE, wanted), "{kem:?}");
        let small = shared(extension::MULTIPLY, key.public(), &[0; 32]);
        assert_eq!(ask(&mut keyring, SECOND, number::EXTENSION, &small).1, [0; 4], "a point of small order");
    }
}

#[test]
fn a_held_key_signs_as_a_key_in_a_file_does() {
    for scheme in [Scheme::Ed25519, Scheme::MlDsa65, Scheme::MlDsa44Ed25519] {
        let key = SigningKey::generate(scheme).expect("a key");
        let mut keyring = Keyring::default();
        ask(&mut keyring, SECOND, number::EXTENSION, &unlock("me", &key::signing_pem(&key), 10, true));
        let blob = key.public().to_ssh();
        let list = counted([wire::strings(&[&blob, b"me"])].into_iter());
        assert_eq!(
            ask(&mut keyring, SECOND, number::REQUEST_IDENTITIES, &[]),
            (number::IDENTITIES_ANSWER, list.to_vec())
        );
        let data = sshsig::signed_data("file", crate::sign::Hash::Sha512, &[7; 64]);
        let request = [&wire::strings(&[&blob, &data])[..], &[0; 4]].concat();
        let Task::Use(wanted) = keyring.task(SECOND, number::SIGN_REQUEST, &request) else {
            panic!("a use of the key")
        };
        assert_eq!((wanted.asks(), wanted.name(), wanted.purpose()), (Some(&b"/bin/ask"[..]), "me", "sign"));
        assert!(keyring.holds(&wanted) && !Keyring::default().holds(&wanted));
        let (number, contents) = wanted.answer();
        assert_eq!(number, number::SIGN_RESPONSE);
        let mut reader = WireReader::new(&contents);
        let signature = crate::sign::SshSig::assemble(&blob, "file", reader.string().expect("a signature"));
        signature.expect("a signature").verify("file", &[7; 64]).expect("by the key");
        let own = Signer::from(key).sign("file", &[7; 64]).expect("a signature");
        own.verify("file", &[7; 64]).expect("by the key");
    }
}

#[test]
fn keys_are_listed_replaced_and_forgotten() {
    let (one, other) = (PrivateKey::generate(Kem::X25519), PrivateKey::generate(Kem::XWing));
    let (one, other) = (one.expect("a key"), other.expect("a key"));
    let mut keyring = Keyring::default();
    for (name, key, seconds) in [("one", &one, 5), ("other", &other, 100), ("renamed", &one, 50)] {
        ask(&mut keyring, SECOND, number::EXTENSION, &unlock(name, &key::private_pem(key), seconds, false));
    }
    let list = |keyring: &mut Keyring, now| {
        let (_, answer) = ask(keyring, now, number::EXTENSION, &wire::strings(&[extension::KEYS]));
        answer
    };
    let item = |name: &str, key: &PrivateKey, seconds: u32| {
        let id = u32::from(key.kem().id()).to_be_bytes();
        let public = wire::strings(&[key.public().as_bytes()]);
        [&wire::strings(&[name.as_bytes()])[..], &id, &public, &seconds.to_be_bytes(), &[0]].concat()
    };
    let wanted = counted([item("other", &other, 91), item("renamed", &one, 41)].into_iter());
    assert_eq!(list(&mut keyring, 10 * SECOND), *wanted);
    let lock = wire::strings(&[extension::LOCK, b"renamed"]);
    assert_eq!(ask(&mut keyring, 10 * SECOND, number::EXTENSION, &lock[..lock.len() - 1]), FAILED);
    assert_eq!(ask(&mut keyring, 10 * SECOND, number::EXTENSION, &[&lock[..], &[0]].concat()), FAILED);
    for held in [1, 0] {
        assert_eq!(ask(&mut keyring, 10 * SECOND, number::EXTENSION, &lock), (number::EXTENSION_RESPONSE, vec![held]));
        assert_eq!(list(&mut keyring, 10 * SECOND), *counted([item("other", &other, 91)].into_iter()));
    }
    assert_eq!(ask(&mut keyring, 10 * SECOND, number::REMOVE_ALL, &[]), (number::SUCCESS, Vec::new()));
    assert_eq!(list(&mut keyring, 10 * SECOND), [0; 4]);
}

#[test]
fn no_message_breaks_the_agent_and_a_full_one_refuses() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let pem = key::private_pem(&key);
    let mut keyring = Keyring::default();
    let whole = unlock("name", &pem, 10, false);
    for length in 0..whole.len() {
        assert_eq!(ask(&mut keyring, SECOND, number::EXTENSION, &whole[..length]), FAILED, "{length}");
    }
    assert_eq!(ask(&mut keyring, SECOND, number::EXTENSION, &[&whole[..], &[0]].concat()), FAILED);
    let public = key::public_pem(key.public());
    let passphrase = crate::Passphrase::new(b"x");
    let locked = key::protected_pem(&key, &passphrase).expect("a text");
    for text in [public.as_bytes(), locked.as_bytes(), b"", &[&pem[..], &pem[..]].concat()] {
        assert_eq!(ask(&mut keyring, SECOND, number::EXTENSION, &unlock("", text, 10, false)), FAILED);
    }
    for message in [0, 1, 5, 6, 12, 14, 17, 18, 22, 255] {
        assert_eq!(ask(&mut keyring, SECOND, message, &[]), FAILED, "{message}");
    }
    assert_eq!(ask(&mut keyring, SECOND, number::REMOVE_ALL, &[0]), FAILED);
    for count in 0..=MOST {
        let key = PrivateKey::generate(Kem::X25519).expect("a key");
        let (number, _) = ask(&mut keyring, SECOND, number::EXTENSION, &unlock("", &key::private_pem(&key), 10, false));
        assert_eq!(number == number::FAILURE, count == MOST, "{count}");
    }
}
