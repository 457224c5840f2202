//! Tests for keys in age's format.

use super::*;

#[test]
fn keys_are_written_and_read_again() {
    for key in keys() {
        let (identity, recipient) = (key::age_identity(&key), key::age_recipient(key.public()));
        let prefixes = match key.kem() {
            Kem::X25519 => ("AGE-SECRET-KEY-1", "age1"),
            Kem::XWing => ("AGE-SECRET-KEY-PQ-1", "age1pq1"),
            Kem::P256 | Kem::MlKem768P256 => {
                let recipient = recipient.expect("a recipient");
                assert!(identity.is_none() && recipient.starts_with("age1tag"), "{recipient}");
                assert!(read_public(recipient.as_bytes()) == *key.public());
                continue;
            }
            _ => {
                assert!(identity.is_none() && recipient.is_none(), "age has no such kind of key");
                continue;
            }
        };
        let (identity, recipient) = (identity.expect("an identity"), recipient.expect("a recipient"));
        assert!(identity.starts_with(prefixes.0.as_bytes()) && recipient.starts_with(prefixes.1));
        let file = format!(
            "# created: today\n# public key: {recipient}\n\n{}\r\n{recipient}\n",
            String::from_utf8_lossy(&identity)
        );
        let found = key::read(file.as_bytes()).expect("good lines");
        let [Found::Private(private), Found::Public(public)] = &found[..] else { panic!("{found:?}") };
        assert_same(private, &key);
        assert!(public == key.public());
        // BIP 173: the characters are all upper case or all lower case.
        assert_same(&read_private(&identity.to_ascii_lowercase()), &key);
        assert!(read_public(recipient.to_ascii_uppercase().as_bytes()) == *key.public());
    }
}

/// Tests one key pair from age's own tests, and one key pair that age 1.3.1 made.
#[test]
fn known_keys_are_read() {
    let key = read_private(b"AGE-SECRET-KEY-PQ-1LKTQM7XFZ8RTP5UPRNU88KUAKD25WJCVV3MUH3G2KEP6QX9A8HRQK2AYMN");
    let recipient = key::age_recipient(key.public()).expect("a recipient");
    assert!(key.kem() == Kem::XWing && recipient.len() == 1959);
    assert!(
        recipient.starts_with("age1pq1sfeh4xzvf52n55h02zrkugm4tmsg22ecnxpw8d5fj59vnvuptljux7weyns32j9e7"),
        "{recipient}"
    );
    assert!(recipient.ends_with("prjknda4xh8vxhgfgx79t7ksespn0vzldc3zgy42"), "{recipient}");

    let identity = b"AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
    let key = read_private(identity);
    assert_eq!(material(&key), (true, vec![0x42; 32]));
    assert_eq!(key::age_identity(&key).as_deref(), Some(&identity[..]));
    assert_eq!(
        key::age_recipient(key.public()).as_deref(),
        Some("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj")
    );
}

#[test]
fn every_changed_character_is_found() {
    for kem in [Kem::X25519, Kem::XWing] {
        let key = PrivateKey::generate(kem).expect("a new key");
        let identity = key::age_identity(&key).expect("an identity");
        let recipient = key::age_recipient(key.public()).expect("a recipient").into_bytes();
        for good in [&*identity, &recipient] {
            for place in 0..good.len() {
                for other in [b'q', b'Q', b'b', b'1', b' ', 0, 0xff, good[place] ^ 0x20] {
                    let mut bad = good.to_vec();
                    bad[place] = other;
                    if bad != good && other != 0x20 {
                        let error = key::read(&bad).expect_err("a damaged line").to_string();
                        let public = String::from_utf8_lossy(&bad[..20]).into_owned();
                        assert!(!error.contains(&public), "{error}");
                    }
                }
            }
            for length in 0..good.len() {
                assert!(key::read(&good[..length]).is_err());
            }
        }
    }
}

#[test]
fn other_keys_are_refused_by_name() {
    for (line, words) in [
        ("AGE-PLUGIN-YUBIKEY-1QQQQQQ", "the line of the plugin is damaged"),
        ("AGE-PLUGIN-A/B-1QQQQQQ", "the name of the plugin is not valid"),
        ("age1yubikey1qqqqqqqqqq", "the line of the plugin is damaged"),
        ("age1a/b1qqqqqqqqqq", "the name of the plugin is not valid"),
        ("AGE-SECRET-KEY-XX-1QQQQQQQQ", "an unknown kind"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@here", "the SSH key is damaged"),
        ("ssh-rsa AAAA", "the SSH public key is damaged"),
        ("age-encryption.org/v1", "a file sealed by age"),
    ] {
        let text = format!("# comment\n\n{line}\n");
        let error = key::read(text.as_bytes()).expect_err(line).to_string();
        assert!(error.starts_with("line 3: ") && error.contains(words) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_bad_line_among_good_ones_is_named() {
    let recipient =
        key::age_recipient(PrivateKey::generate(Kem::X25519).expect("a new key").public()).expect("a recipient");
    let error = key::read(format!("{recipient}\n\nhello\n").as_bytes()).expect_err("a bad line").to_string();
    assert!(error == "line 3: neither a key nor a comment", "{error}");
}
