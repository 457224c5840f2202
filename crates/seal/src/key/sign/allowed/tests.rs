//! Tests lines, patterns and times, and compares the answers with the answers of `ssh-keygen`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::*;
use crate::key::sign::{Scheme, Signer, SigningKey};
use deadpan_base64::STANDARD;

fn alice() -> SigningKey {
    SigningKey::from_seed(Scheme::Ed25519, &[9; 32]).unwrap()
}

fn public() -> String {
    format!("ssh-ed25519 {}", STANDARD.encode(&alice().public().to_ssh()))
}

fn read(text: &str) -> Allowed {
    Allowed::read(text.as_bytes()).unwrap()
}

/// The time 2026-06-01, in seconds since 1970.
const NOW: i64 = 1_780_272_000;

#[test]
fn people_are_found() {
    let key = public();
    let text = format!(
        "# people\n\n  \t# more\r\nalice@example.com {key} laptop of alice\r\n\
         \"bob,Bob B.\" namespaces=\"git,fi*\" {key}\n\
         carol NAMESPACES=\"git\" {key}\n\
         *@x.org,!eve@x.org\tvalid-after=\"20260601Z\",valid-before=\"202606020000Z\"\t{key}"
    );
    let allowed = read(&text);
    let signer = alice();
    let public = signer.public();
    assert_eq!(allowed.principals(public, "file", NOW), ["alice@example.com", "bob", "Bob B.", "*@x.org"]);
    assert_eq!(allowed.principals(public, "git", NOW - 1), ["alice@example.com", "bob", "Bob B.", "carol"]);
    assert_eq!(allowed.principals(public, "mail", NOW + 86401), ["alice@example.com"]);
    let other = SigningKey::generate(Scheme::Ed25519).unwrap();
    assert!(allowed.principals(other.public(), "file", NOW).is_empty());
    for (person, namespace, time, permitted) in [
        ("alice@example.com", "x", 0, true),
        ("Alice@example.com", "x", 0, false),
        ("alice@example.co", "x", 0, false),
        ("Bob B.", "file", 0, true),
        ("bob", "mail", 0, false),
        ("carol", "git", 0, true),
        ("a@x.org", "git", NOW, true),
        ("a@x.org", "git", NOW + 86400, true),
        ("a@x.org", "git", NOW - 1, false),
        ("a@x.org", "git", NOW + 86401, false),
        ("eve@x.org", "git", NOW, false),
    ] {
        assert_eq!(allowed.permits(person, public, namespace, time), permitted, "{person} {namespace} {time}");
    }
    assert_eq!((allowed.keys("carol"), allowed.keys("eve@x.org").len()), (vec![public], 0));
    assert!(!allowed.permits("alice@example.com", other.public(), "x", 0));
}

#[test]
fn faults_name_their_line() {
    let key = public();
    let body = key.split(' ').nth(1).unwrap();
    for (line, words) in [
        ("alice".to_owned(), "the key is missing"),
        ("alice namespaces=\"git\"".to_owned(), "the key is missing"),
        ("alice namespaces=\"git\" ".to_owned(), "the key is missing"),
        (key.clone(), "the key is missing"),
        (format!("alice {body}"), "the key is missing"),
        (format!("alice {body} x"), "not a known option"),
        ("alice ssh-ed25519 AAAA".to_owned(), "the SSH public key is damaged"),
        (format!("alice ssh-rsa {body}"), "of another kind"),
        (format!("\"alice {key}"), "a quote is not closed"),
        (format!("\"\" {key}"), "the principals are not valid"),
        (format!("a\"b {key}"), "the principals are not valid"),
        (format!("a,,b {key}"), "one of the principals is empty"),
        (format!("alice cert-authority {key}"), "certificates (\"cert-authority\") are not supported"),
        (format!("alice namespaces=\"file\",CERT-AUTHORITY {key}"), "are not supported"),
        (format!("alice unknown {key}"), "\"unknown\" is not a known option"),
        (format!("alice , {key}"), "not a known option"),
        (format!("alice namespaces=\"git\", {key}"), "not a known option"),
        (format!("alice namespaces=git {key}"), "is not in quotes"),
        (format!("alice namespaces {key}"), "is not in quotes"),
        (format!("alice namespaces=\"git {key}"), "a quote is not closed"),
        (format!("alice namespaces=\"git\"x {key}"), "something stands between"),
        (format!("alice namespaces=\"\" {key}"), "the list of namespaces is empty"),
        (format!("alice namespaces=\"a\",namespaces=\"b\" {key}"), "stands there twice"),
        (format!("alice valid-after=\"2026\" {key}"), "\"2026\" is not a time"),
        (format!("alice valid-after=\"20260102\",valid-before=\"20260101\" {key}"), "is not after"),
        (format!("alice valid-after=\"20260102\",valid-before=\"20260102\" {key}"), "is not after"),
        (
            "alice ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            "not valid",
        ),
        (format!("ali\0ce {key}"), "a zero byte"),
    ] {
        let text = format!("# first\nbob {key}\n{line}\n");
        match Allowed::read(text.as_bytes()) {
            Err(Error::Sign(error)) => {
                let shown = error.to_string();
                assert!(shown.starts_with("line 3: ") && shown.contains(words), "{line}: {shown}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    assert!(Allowed::read(b"\xff").is_err());
    assert!(Allowed::read(&vec![b'#'; MAX_LEN + 1]).is_err());
    assert!(Allowed::read(&vec![b'#'; MAX_LEN]).is_ok());
}

#[test]
fn keys_of_other_kinds_never_match() {
    let text = format!(
        "alice ecdsa-sha2-nistp256 AAAA\nalice ssh-ed25519-cert-v01@openssh.com AAAA\nalice valid-after=\"20260101\" \
         sk-ecdsa-sha2-nistp256@openssh.com AAAA\nbob {}\n",
        public()
    );
    let allowed = read(&text);
    assert_eq!((allowed.keys("alice").len(), allowed.keys("bob").len()), (0, 1));
}

#[test]
fn patterns() {
    for (patterns, text, accepted) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("?", "", false),
        ("?", "a", true),
        ("*", "", true),
        ("a*c", "ac", true),
        ("a*c", "abbc", true),
        ("a*c", "abcb", false),
        ("a*b?d", "axbxbcd", true),
        ("**a", "bba", true),
        ("!a", "b", false),
        ("!a,*", "b", true),
        ("*,!a", "a", false),
        ("x,b*", "bob", true),
        ("", "", true),
    ] {
        assert_eq!(pattern::list(patterns, text), accepted, "{patterns} {text}");
    }
    // For this pattern, a recursive matcher needs more time than the age of the universe.
    assert!(!pattern::list(&"*a".repeat(500), &"a".repeat(499)));
}

#[test]
fn times() {
    let read = |text| time::read(text, |time| time - 3600);
    for (text, expected) in [
        ("19700101Z", Some(0)),
        ("20000229Z", Some(951_782_400)),
        ("20260601Z", Some(NOW)),
        ("20260601", Some(NOW - 3600)),
        ("202606010001z", Some(NOW + 60)),
        ("20260601000101Z", Some(NOW + 61)),
        ("20381231235959Z", Some(2_177_452_799)),
        ("99991231Z", Some(253_402_214_400)),
        ("20260229Z", None),
        ("21000229Z", None),
        ("20261301Z", None),
        ("20260100Z", None),
        ("20260431Z", None),
        ("202606012400Z", None),
        ("202606010060Z", None),
        ("20260601000060Z", None),
        ("2026060100Z", None),
        ("2026-06-01", None),
        ("+2026060", None),
        ("19691231Z", None),
        ("", None),
        ("Z", None),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

/// Checks that this crate gives the same results as `ssh-keygen -Y verify` and `ssh-keygen -Y find-principals`.
#[test]
fn the_installed_ssh_keygen_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let command = Command::new("ssh-keygen")
            .args(arguments)
            .current_dir(&folder)
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match command {
            Ok(child) => child,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "skipped: ssh-keygen is not installed ({error})");
                return None;
            }
        };
        let _ = child.stdin.take().unwrap().write_all(b"message");
        let output = child.wait_with_output().unwrap();
        Some((output.status.success(), String::from_utf8(output.stdout).unwrap()))
    };
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, b"message").as_ref().try_into().unwrap();
    fs::write(folder.path().join("sig"), Signer::from(alice()).sign("file", &digest).unwrap().armor()).unwrap();
    let key = public();
    let mut accepted = 0;
    for line in [
        format!("alice@example.com {key}"),
        format!("  \t\"alice@example.com\" {key} comment"),
        format!("a*e@?xample.com {key}"),
        format!("*,!alice@example.com {key}"),
        format!("!alice@example.com,* {key}"),
        format!("bob,alice@example.com {key}"),
        format!("ALICE@example.com {key}"),
        format!("alice@example.com namespaces=\"file\" {key}"),
        format!("alice@example.com namespaces=\"git,f*\" {key}"),
        format!("alice@example.com namespaces=\"!file,*\" {key}"),
        format!("alice@example.com namespaces=\"git\" {key}"),
        format!("alice@example.com NameSpaces=\"file\",valid-after=\"20260601\" {key}"),
        format!("alice@example.com valid-after=\"20260602\" {key}"),
        format!("alice@example.com valid-before=\"20260601\" {key}"),
        format!("alice@example.com valid-before=\"202605312359\" {key}"),
        format!("alice@example.com valid-after=\"20260531235959\",valid-before=\"20260601000001\" {key}"),
        format!("alice@example.com unknown {key}"),
        format!("alice@example.com namespaces=file {key}"),
        format!("alice@example.com namespaces=\"git\" {key}\nalice@example.com {key}"),
        format!("# alice@example.com {key}"),
        "alice@example.com ssh-ed25519 AAAA".to_owned(),
    ] {
        fs::write(folder.path().join("allowed"), line.clone() + "\n").unwrap();
        let common = ["-f", "allowed", "-s", "sig", "-Overify-time=20260601"];
        let verify = [&["-Y", "verify", "-I", "alice@example.com", "-n", "file"][..], &common].concat();
        let Some((verified, _)) = run(&verify) else { return };
        let own = Allowed::read(line.as_bytes());
        let permits = own.as_ref().is_ok_and(|own| own.permits("alice@example.com", alice().public(), "file", NOW));
        assert_eq!(permits, verified, "{line}");
        accepted += usize::from(verified);
        let (found, people) = run(&[&["-Y", "find-principals"][..], &common].concat()).unwrap();
        if verified && found {
            let principals = own.as_ref().unwrap().principals(alice().public(), "file", NOW);
            let shown: Vec<_> =
                people.split(['\n', ',']).filter(|name| !name.is_empty() && !name.starts_with('!')).collect();
            assert_eq!(principals, shown, "{line}");
        }
    }
    assert!(accepted > 8, "{accepted}");
}
