use super::*;
use deadpan_base64::pem;
use deadpan_seal::key::{Found, KeyError, private_pem, read};
use deadpan_seal::{Kem, Passphrase};

fn each(mut target: Target, check: impl Fn(&str, &[u8])) {
    let mut random = Random::new(1);
    let mut input = vec![0; target.length()];
    for class in 0..target.classes().len() {
        for _ in 0..20 {
            target.fill(class, &mut random, &mut input);
            check(target.classes()[class].name(), &input);
        }
    }
}

#[test]
fn tags_differ_at_the_position_in_the_class_name() {
    each(tag(), |class, input| {
        let (one, other) = input.split_at(TAG);
        let wrong: Vec<usize> = (0..TAG).filter(|&place| one[place] != other[place]).collect();
        match class {
            "right" => assert!(wrong.is_empty()),
            "first byte wrong" => assert_eq!(wrong, [0]),
            "last byte wrong" => assert_eq!(wrong, [TAG - 1]),
            _ => assert!(!wrong.is_empty()),
        }
    });
}

#[test]
fn private_keys_are_read() {
    each(key::pem_private(), |class, input| {
        let found = read(input).expect("a key");
        assert!(matches!(&found[..], [Found::Private(key)] if key.kem() == Kem::X25519), "{class}");
    });
}

#[test]
fn changed_protected_keys_all_fail_with_the_same_error() {
    let text = pem::encode("ENCRYPTED PRIVATE KEY", &sample::ENCRYPTED).expect("a label");
    let unlock = |text: &[u8], passphrase: &[u8]| {
        let found = read(text).expect("a protected key");
        let [Found::Protected(protected)] = &found[..] else { panic!("one protected key") };
        protected.unlock(&Passphrase::new(passphrase))
    };
    let key = unlock(text.as_bytes(), sample::PASSPHRASE).expect("its passphrase");
    assert_eq!(
        private_pem(&key)[28..],
        pem::encode("PRIVATE KEY", &[&key::PKCS8[..], &[9; 32]].concat()).expect("a label").as_bytes()[28..]
    );
    each(key::pbes2_unpad(), |class, input| {
        let (passphrase, text) = input.split_at(sample::BLOCK);
        assert!(matches!(unlock(text, passphrase), Err(KeyError::WrongPassphrase)), "{class}");
    });
}

#[test]
fn each_target_but_the_whole_message_is_timed() {
    for target in timing() {
        assert_eq!(target.pairs().is_empty(), target.name() == "seal.message", "{}", target.name());
    }
}
