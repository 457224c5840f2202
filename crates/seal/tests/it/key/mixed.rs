//! Tests files with keys of several forms. The reader must find each key, in any order, and must not lose a line.

use super::*;

/// Returns each key in each of its forms, as lines without a line end.
fn forms() -> Vec<(Vec<u8>, PublicKey)> {
    let mut forms = Vec::new();
    for key in keys() {
        let public = key.public().clone();
        let mut add = |text: &[u8]| forms.push((text.trim_ascii_end().to_vec(), public.clone()));
        add(key::public_pem(&public).as_bytes());
        add(&key::private_pem(&key));
        key::age_identity(&key).iter().for_each(|text| add(text));
        key::age_recipient(&public).iter().for_each(|text| add(text.as_bytes()));
    }
    forms
}

fn public(found: &Found) -> PublicKey {
    match found {
        Found::Public(key) => key.clone(),
        Found::Private(key) => key.public().clone(),
        other => panic!("a protected key: {other:?}"),
    }
}

#[track_caller]
fn assert_found(text: &[u8], forms: &[&(Vec<u8>, PublicKey)]) {
    let found = key::read(text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)));
    assert!(found.iter().map(public).eq(forms.iter().map(|(_, key)| key.clone())), "other keys");
}

#[test]
fn no_key_is_lost_in_a_mixed_file() {
    let forms = forms();
    for end in ["\n", "\r\n", "\r", "\n\n", " \t\n", "\n# a comment\n", "\n  # -----BEGIN PUBLIC KEY-----\n"] {
        for one in &forms {
            for other in &forms {
                let text = [&one.0, end.as_bytes(), &other.0, end.as_bytes(), &one.0].concat();
                let lines = |text: &[u8]| {
                    String::from_utf8_lossy(text).lines().collect::<Vec<_>>().join(end.trim_matches('\t'))
                };
                assert_found(&text, &[one, other, one]);
                if !end.contains('#') {
                    assert_found(lines(&text).as_bytes(), &[one, other, one]);
                }
            }
        }
    }
    let all: Vec<_> = forms.iter().collect();
    let text = forms.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>().join(&b'\n');
    assert_found(&text, &all);
    assert_found(&[b"\xef\xbb\xbf\n# first\n", &text[..]].concat(), &all);
}

#[test]
fn the_number_of_a_bad_line_is_reported() {
    let forms = forms();
    for (text, _) in &forms {
        let lines = String::from_utf8_lossy(text).lines().count();
        for (end, other) in [
            ("\n", "hello"),
            ("\r\n", "Subject: CN=Atlantis"),
            ("\r", "-----BEGIN"),
            ("\n", " -----BEGIN PUBLIC KEY-----"),
            ("\n", "-----END PUBLIC KEY-----"),
        ] {
            let text = String::from_utf8_lossy(text).lines().collect::<Vec<_>>().join(end);
            for (place, whole) in [
                (1, [other, &text].join(end)),
                (3, ["# a comment", "", other, &text].join(end)),
                (lines + 1, [&text, other].join(end)),
                (lines + 3, [&text, "", "# a comment", other, &text].join(end)),
            ] {
                match key::read(whole.as_bytes()) {
                    Err(KeyError::NotAKey { place: key::Place::Line(line) }) => assert_eq!(line, place, "{whole}"),
                    other => panic!("{other:?}: {whole}"),
                }
            }
        }
    }
}

/// The error message gives the number of a line but not the text of the line, because the line may be a damaged private
/// key.
#[test]
fn a_bad_line_is_not_shown() {
    for (text, _) in forms() {
        let error = key::read(&[&text[..], b"\nx", &text].concat()).expect_err("a bad line").to_string();
        assert!(!error.contains(str::from_utf8(&text[..text.len().min(20)]).expect("text")), "{error}");
    }
}

#[test]
fn blocks_and_lines_are_counted_separately() {
    let key = PrivateKey::generate(Kem::X25519).expect("a new key");
    let (pem, age) = (key::public_pem(key.public()), key::age_recipient(key.public()).expect("a recipient"));
    let damaged = pem.replace("MCow", "MCox");
    let error = |text: String| key::read(text.as_bytes()).expect_err("damaged").to_string();
    assert!(error(format!("{pem}{age}\n{damaged}")).starts_with("PEM block 2: "));
    assert!(error(format!("{pem}{age}x\n{pem}")).starts_with("line 4: "));
    // A block without an END line does not include bytes of the next block.
    assert_eq!(
        error(pem.replace("-----END", "") + &pem),
        "PEM block 1: the END line of a PEM block is missing or has another label"
    );
}
