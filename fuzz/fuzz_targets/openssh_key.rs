//! Reading any key of OpenSSH: it never panics and takes little time. The public key and the private key in a key file
//! match each other.
//!
//! Input: The letter `O`, followed by the decoded contents of a private key file, because a fuzzer hardly ever makes
//! valid base64. Or the line of a public key. The initial inputs (seeds) use the passphrase `fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_base64::{STANDARD, pem};
use deadpan_seal::Passphrase;
use deadpan_seal::key::openssh::{self, PrivateFile, SshKind, SshPublic};

fuzz_target!(|data: &[u8]| {
    if let [b'O', contents @ ..] = data {
        let text = pem::encode("OPENSSH PRIVATE KEY", contents).expect("a label");
        let Ok(file) = PrivateFile::read(text.as_bytes()) else { return };
        round_trip(file.public());
        assert_eq!(file.is_protected(), file.key().is_none());
        let Ok(key) = file.unlock(&Passphrase::new(b"fuzz")) else { return };
        assert_eq!(key.public(), file.public(), "another public key");
        match (key.kind(), key.signing_key()) {
            (SshKind::Rsa, None) => {}
            (_, Some(signs)) => assert_eq!(Some(signs.public()), key.public().verifying_key().as_ref()),
            (kind, None) => panic!("a key of the kind {kind:?} that does not sign"),
        }
    } else if let Ok(line) = str::from_utf8(data)
        && let Ok((key, comment)) = openssh::public_line(line)
    {
        assert!(line.contains(comment), "a comment from elsewhere");
        round_trip(&key);
    }
});

fn round_trip(key: &SshPublic) {
    let name = key.blob().get(4..4 + usize::from(key.blob()[3])).expect("a name");
    let line = format!("{} {}", str::from_utf8(name).expect("text"), STANDARD.encode(key.blob()));
    assert_eq!(openssh::public_line(&line).expect("what was written"), (key.clone(), ""));
    assert_eq!(key.rsa().is_some(), key.kind() == SshKind::Rsa);
    assert_eq!(key.raw().is_none(), key.kind() == SshKind::Rsa);
    assert_eq!(key.fingerprint().len(), 50);
}
