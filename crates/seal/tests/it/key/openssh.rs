//! Tests key files and public lines of OpenSSH. OpenSSH 9.2 made the files in `data/openssh`. The passphrase of these
//! files is `fuzz`.

use std::io::Write as _;
use std::process::Command;

use super::*;
use deadpan_base64::{STANDARD, pem};
use deadpan_seal::key::openssh::{self, OpensshKey, PrivateFile, SshKind, SshMaterial};

const ED25519: &[u8] = include_bytes!("../../data/openssh/ed25519");
const RSA: &[u8] = include_bytes!("../../data/openssh/rsa");
const LABEL: &str = "OPENSSH PRIVATE KEY";

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/openssh/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a file of the test")
}

fn fuzz() -> Passphrase {
    Passphrase::new(b"fuzz")
}

fn contents(text: &[u8]) -> Vec<u8> {
    pem::decode(text).expect("a block").contents.to_vec()
}

fn read_contents(contents: &[u8]) -> Result<PrivateFile, KeyError> {
    PrivateFile::read(pem::encode(LABEL, contents).expect("a label").as_bytes())
}

fn strings(strings: &[&[u8]]) -> Vec<u8> {
    strings.iter().flat_map(|string| [&(string.len() as u32).to_be_bytes(), *string].concat()).collect()
}

/// Returns an unprotected file that holds `private`, with check numbers before it and padding after it.
fn container(public: &[u8], private: &[u8]) -> Vec<u8> {
    let mut private = [&[7; 8], private].concat();
    for count in 1..=(8 - private.len() % 8) % 8 {
        private.push(count as u8);
    }
    let head = strings(&[b"none", b"none", b""]);
    [b"openssh-key-v1\0", &head[..], &[0, 0, 0, 1], &strings(&[public, &private])].concat()
}

#[track_caller]
fn assert_refused<T>(result: Result<T, KeyError>, words: &str) {
    let Err(error) = result else { panic!("accepted, and not refused with {words:?}") };
    assert!(error.to_string().contains(words), "{error}, and not {words:?}");
}

fn assert_pair(key: &OpensshKey, line: &[u8]) {
    let (public, comment) = openssh::public_line(str::from_utf8(line).expect("text")).expect("a line");
    assert_eq!((key.public(), key.comment()), (&public, comment));
    let (signs, verifies) = (key.signing_key(), public.verifying_key());
    assert_eq!(signs.as_ref().map(|key| key.public().clone()), verifies);
    assert_eq!(signs.is_some(), key.kind() != SshKind::Rsa);
}

#[test]
fn files_of_ssh_keygen_are_read() {
    for (name, kind) in [("ed25519", SshKind::Ed25519), ("rsa", SshKind::Rsa)] {
        let (plain, line) = (PrivateFile::read(&data(name)).expect(name), data(&format!("{name}.pub")));
        assert!(!plain.is_protected());
        let key = plain.key().expect("a key");
        assert_eq!(key.kind(), kind);
        assert_pair(key, &line);
        assert_pair(&plain.unlock(&fuzz()).expect("a key that needs no passphrase"), &line);

        let protected = PrivateFile::read(&data(&format!("{name}_protected"))).expect(name);
        assert!(protected.is_protected() && protected.key().is_none());
        let line = data(&format!("{name}_protected.pub"));
        assert_eq!(*protected.public(), openssh::public_line(str::from_utf8(&line).unwrap()).unwrap().0);
        assert_pair(&protected.unlock(&fuzz()).expect("the right passphrase"), &line);
        for wrong in [&b"Fuzz"[..], b"", b"fuzz\0"] {
            assert!(matches!(protected.unlock(&Passphrase::new(wrong)), Err(KeyError::WrongPassphrase)));
        }
    }
}

#[test]
fn all_ciphers_but_one_are_read() {
    for name in ["aes256-cbc", "aes192-ctr", "aes128-cbc", "aes256-gcm", "aes128-gcm"] {
        let file = PrivateFile::read(&data(name)).expect(name);
        let key = file.unlock(&fuzz()).expect(name);
        assert!(key.comment().starts_with(name));
        assert!(matches!(file.unlock(&Passphrase::new(b"other")), Err(KeyError::WrongPassphrase)));
    }
    let words = "an OpenSSH key protected with chacha20-poly1305@openssh.com is not supported";
    assert_refused(PrivateFile::read(&data("chacha20-poly1305")), words);
}

#[test]
fn the_parts_are_those_of_the_key() {
    let file = PrivateFile::read(ED25519).unwrap();
    let SshMaterial::Seed(seed) = file.key().unwrap().material() else { panic!("no seed") };
    assert_eq!(seed.len(), 32);
    let file = PrivateFile::read(RSA).unwrap();
    let SshMaterial::Rsa(parts) = file.key().unwrap().material() else { panic!("no numbers") };
    let (modulus, exponent) = file.public().rsa().expect("RSA");
    assert_eq!((modulus.len(), exponent), (256, &[1, 0, 1][..]));
    assert_eq!((parts.p.len(), parts.q.len()), (128, 128));
    assert!(parts.d.len() > 250 && parts.q_inverse.len() > 120);
    assert!(file.public().raw().is_none());
}

/// Tests a key by OpenSSH 10.4, which used another name for the composite algorithm.
#[test]
fn composite_keys_are_read() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/sshsig/mldsa44-ed25519");
    let Ok(text) = std::fs::read(root) else {
        let _ = writeln!(std::io::stderr(), "skipped: no vectors at ../shared/vectors/sshsig");
        return;
    };
    let file = PrivateFile::read(&text).expect("a key");
    let key = file.key().expect("not protected");
    assert_eq!(key.kind(), SshKind::MlDsa44Ed25519);
    assert_pair(key, &std::fs::read(format!("{root}.pub")).expect("the public line"));
    let SshMaterial::Seed(seeds) = key.material() else { panic!("no seeds") };
    assert_eq!((seeds.len(), key.public().raw().map(<[u8]>::len)), (64, Some(1344)));

    // A change in a byte of either seed must be detected.
    let good = contents(&text);
    let place = good.windows(64).position(|window| window == &seeds[..]).expect("the seeds");
    for place in [place, place + 63] {
        let mut bad = good.clone();
        bad[place] ^= 1;
        assert_refused(read_contents(&bad), "do not match");
    }
}

#[test]
fn key_files_are_found_among_other_keys() {
    let new = PrivateKey::generate(Kem::X25519).unwrap();
    let text = [&key::private_pem(&new)[..], b"# mine\n", ED25519, &data("ed25519_protected")].concat();
    let [Found::Private(_), Found::OpenSsh(plain), Found::OpenSsh(protected)] = &key::read(&text).unwrap()[..] else {
        panic!("three keys")
    };
    assert_eq!((plain.place(), protected.place()), (key::Place::Block(2), key::Place::Block(3)));
    assert_eq!(plain.refusal().to_string(), "PEM block 2: an SSH key is not supported");
    let many = data("ed25519_protected").repeat(17);
    assert!(matches!(key::read(&many), Err(KeyError::Limit { .. })));
    assert!(key::read(&ED25519.repeat(17)).is_ok());
}

#[test]
fn each_byte_but_those_of_the_comment_counts() {
    let good = contents(ED25519);
    let comment = good.windows(7).position(|window| window == b"me@here").expect("the comment");
    for place in (0..good.len()).filter(|place| !(comment..comment + 7).contains(place)) {
        for flip in [1, 0x80] {
            let mut bad = good.clone();
            bad[place] ^= flip;
            assert!(read_contents(&bad).is_err(), "byte {place}");
        }
    }
    for text in [ED25519, RSA, &data("ed25519_protected"), &data("aes256-gcm")] {
        let good = contents(text);
        assert!((0..good.len()).all(|length| read_contents(&good[..length]).is_err()));
        assert!(read_contents(&[&good[..], &[0]].concat()).is_err(), "a byte after the end");
    }
}

#[test]
fn a_changed_protected_key_is_not_unlocked() {
    for name in ["ed25519_protected", "aes256-gcm", "aes256-cbc"] {
        let good = contents(&data(name));
        let end = if name == "aes256-gcm" { 16 } else { 0 };
        for back in [1, 20, 60, 100, 150] {
            let mut bad = good.clone();
            let place = good.len() - end - back;
            bad[place] ^= 1;
            // In CTR mode, an attacker can change a byte of the comment unnoticed.
            match read_contents(&bad).map(|file| file.unlock(&fuzz())) {
                Ok(Err(KeyError::WrongPassphrase)) => {}
                Ok(Ok(key)) => assert!(name == "ed25519_protected" && key.comment() != "protected", "{name} {back}"),
                other => panic!("{name} {back}: {other:?}"),
            }
        }
    }
}

#[test]
fn costly_files_are_refused_before_any_work() {
    let good = contents(&data("ed25519_protected"));
    let rounds = good.windows(8).position(|window| window == [0, 0, 0, 2, 0, 0, 0, 1]).expect("two rounds");
    let with = |number: u32| {
        let mut changed = good.clone();
        changed[rounds..rounds + 4].copy_from_slice(&number.to_be_bytes());
        read_contents(&changed)
    };
    assert!(with(1024).is_ok());
    for number in [1025, u32::MAX] {
        assert!(matches!(with(number), Err(KeyError::Limit { what: "more than 1024 rounds of bcrypt", .. })));
    }
    assert_refused(with(0), "the parameters of bcrypt are not valid");
}

#[test]
fn other_kinds_are_refused_by_name() {
    let words = "an SSH key of the kind ecdsa-sha2-nistp256 is not supported";
    assert_refused(PrivateFile::read(&data("ecdsa")), words);
    assert_refused(openssh::public_line(str::from_utf8(&data("ecdsa.pub")).unwrap()), words);
    assert_refused(openssh::public_line("ssh-dss AAAA"), "an SSH key of the kind ssh-dss is not supported");
    let line = "ssh-ed25519-cert-v01@openssh.com AAAA";
    assert_refused(openssh::public_line(line), "an SSH certificate is not supported");

    let name = b"sk-ssh-ed25519@openssh.com";
    let public = strings(&[name, &[9; 32], b"ssh:"]);
    let private = [&public[..], &[1], &strings(&[b"handle", b"", b""])].concat();
    assert_refused(read_contents(&container(&public, &private)), "the file of a security key is not supported");
    let (key, _) =
        openssh::public_line(&format!("{} {}", "sk-ssh-ed25519@openssh.com", STANDARD.encode(&public))).unwrap();
    assert_eq!((key.kind(), key.raw()), (SshKind::SkEd25519, Some(&[9; 32][..])));

    let mut several = contents(ED25519);
    let count = several.windows(8).position(|window| window == [0, 0, 0, 1, 0, 0, 0, 0x33]).expect("one key");
    several[count + 3] = 2;
    assert_refused(read_contents(&several), "an OpenSSH file with several keys is not supported");
    several[count + 3] = 0;
    assert_refused(read_contents(&several), "has no key");
}

#[test]
fn private_and_public_parts_have_to_match() {
    let good = PrivateFile::read(ED25519).unwrap();
    let SshMaterial::Seed(seed) = good.key().unwrap().material() else { panic!("no seed") };
    let (blob, raw) = (good.public().blob(), good.public().raw().unwrap());
    let private = |public: &[u8], seed: &[u8], again: &[u8]| {
        strings(&[b"ssh-ed25519", public, &[seed, again].concat(), b"comment"])
    };
    assert!(read_contents(&container(blob, &private(raw, seed, raw))).is_ok(), "the test's own container");
    let words = "the private and the public part of the OpenSSH key file do not match";
    let other = strings(&[b"ssh-ed25519", &[9; 32]]);
    for bad in [
        container(&other, &private(raw, seed, raw)),
        container(blob, &private(&[9; 32], seed, raw)),
        container(blob, &private(raw, seed, &[9; 32])),
        container(blob, &private(raw, &[8; 32], raw)),
        // All public keys in the file are the same, but the seed belongs to another key.
        container(&other, &private(&[9; 32], seed, &[9; 32])),
        container(blob, &strings(&[b"ssh-rsa", raw, seed, b""])),
    ] {
        assert_refused(read_contents(&bad), words);
    }
}

#[test]
fn numbers_of_rsa_keys_have_to_match() {
    let file = PrivateFile::read(RSA).unwrap();
    let SshMaterial::Rsa(parts) = file.key().unwrap().material() else { panic!("no numbers") };
    let number = |digits: &[u8]| if digits[0] < 0x80 { digits.to_vec() } else { [&[0], digits].concat() };
    let (modulus, exponent) = file.public().rsa().unwrap();
    let numbers = [modulus, exponent, &parts.d, &parts.q_inverse, &parts.p, &parts.q].map(number);
    let build = |numbers: &[Vec<u8>]| {
        let mut fields = vec![&b"ssh-rsa"[..]];
        fields.extend(numbers.iter().map(Vec::as_slice));
        fields.push(b"");
        container(file.public().blob(), &strings(&fields))
    };
    assert!(read_contents(&build(&numbers)).is_ok(), "the test's own container");
    for place in [0, 1, 4, 5] {
        let mut bad = numbers.clone();
        *bad[place].last_mut().unwrap() ^= 2;
        assert_refused(read_contents(&build(&bad)), "do not match");
    }
    for place in 0..6 {
        for change in
            [|number: &[u8]| [&[0], number].concat(), |number: &[u8]| [&[0x80], number].concat(), |_: &[u8]| vec![]]
        {
            let mut bad = numbers.clone();
            bad[place] = change(&bad[place]);
            assert!(read_contents(&build(&bad)).is_err(), "number {place}");
        }
    }
    let mut swapped = numbers.clone();
    swapped.swap(4, 5);
    assert!(read_contents(&build(&swapped)).is_ok(), "the order of the primes is for the user of the key to check");
}

#[test]
fn public_lines() {
    let text = String::from_utf8(data("ed25519.pub")).unwrap();
    let (key, comment) = openssh::public_line(&text).unwrap();
    assert_eq!((key.kind(), comment), (SshKind::Ed25519, "me@here"));
    let (name, body) = (text.split(' ').next().unwrap(), text.split(' ').nth(1).unwrap());
    assert_eq!(
        openssh::public_line(&format!("  {name}\t {body}  two words \r\n")).unwrap(),
        (key.clone(), "two words")
    );
    assert_eq!(openssh::public_line(&format!("{name} {body}")).unwrap(), (key, ""));
    for (bad, words) in [
        (String::new(), "neither a key nor a comment"),
        (format!("from=\"*\" {text}"), "neither a key nor a comment"),
        (body.to_owned(), "neither a key nor a comment"),
        (name.to_owned(), "damaged"),
        (format!("{name} {}", &body[..body.len() - 1]), "damaged"),
        (format!("{name} {}", &body[..body.len() - 4]), "damaged"),
        (format!("{name} {body}AAAA"), "something stands after"),
        (format!("ssh-mldsa44-ed25519 {body}"), "of another kind than its line says"),
        (format!("ssh-x\u{1b} {body}"), "damaged"),
        (format!("{name} {}", "A".repeat(1 << 15)), "more than 32 KiB"),
    ] {
        assert_refused(openssh::public_line(&bad), words);
    }
    let rsa = |exponent: &[u8], modulus: &[u8]| {
        let body = STANDARD.encode(&strings(&[b"ssh-rsa", exponent, modulus]));
        openssh::public_line(&format!("ssh-rsa {body}")).map(|(key, _)| key)
    };
    let modulus = [&[0][..], &[0xff; 128]].concat();
    assert!(rsa(&[3], &modulus).is_ok());
    assert!(rsa(&[1, 0, 1], &modulus[1..]).is_err(), "negative");
    assert!(rsa(&[3], &[0x7f; 128]).is_err(), "1023 bits");
    assert!(rsa(&[3], &[0x7f; 2049]).is_err(), "too long");
    for exponent in [&[][..], &[0], &[1], &[2], &[0, 3], &[0x81], &[1; 5]] {
        assert!(rsa(exponent, &modulus).is_err(), "{exponent:?}");
    }
}

#[test]
fn fingerprints_and_new_files_of_the_installed_ssh_keygen() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| {
        let output = Command::new("ssh-keygen").args(arguments).current_dir(folder.path()).output();
        match output {
            Ok(output) => {
                assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
                Some(String::from_utf8(output.stdout).expect("text"))
            }
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "skipped: ssh-keygen is not installed ({error})");
                None
            }
        }
    };
    // These files are protected with the NFD form of the passphrase. Below, the test types the NFC form.
    for (name, arguments) in [
        ("one", &["-t", "ed25519", "-N", ""][..]),
        ("two", &["-t", "ed25519", "-N", "cafe\u{301}", "-a", "1"]),
        ("three", &["-t", "rsa", "-b", "3072", "-N", "cafe\u{301}", "-a", "1", "-Z", "aes256-gcm@openssh.com"]),
    ] {
        if run(&[arguments, &["-q", "-C", name, "-f", name]].concat()).is_none() {
            return;
        }
        let file = PrivateFile::read(&std::fs::read(folder.path().join(name)).unwrap()).expect(name);
        let key = file.unlock(&Passphrase::new("caf\u{e9}".as_bytes())).expect(name);
        assert_pair(&key, &std::fs::read(folder.path().join(format!("{name}.pub"))).unwrap());
        let shown = run(&["-l", "-f", name]).expect("ssh-keygen was there before");
        assert_eq!(shown.split(' ').nth(1), Some(&key.public().fingerprint()[..]));
    }
}
