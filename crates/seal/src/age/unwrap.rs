//! Opening an age file's key with an identity.

use super::{FileKey, Stanza, hpke, scrypt, ssh, x25519};
use crate::{Error, Identity, Kem, Stanza as Kind};

/// Returns the file key if the identity fits the stanza. May leak: whether it does.
pub(crate) fn unwrap(identity: &Identity, kind: Kind, stanza: &Stanza) -> Result<Option<FileKey>, Error> {
    match (identity, kind) {
        (Identity::Key(key), Kind::Key(kem)) if key.kem() == kem => {
            if kem == Kem::X25519 {
                x25519::unwrap(key, stanza)
            } else {
                hpke::unwrap(key, stanza)
            }
        }
        (Identity::Passphrase(passphrase), Kind::Passphrase(_)) => scrypt::unwrap(passphrase, stanza),
        (Identity::Session(session), Kind::Passphrase(_)) => scrypt::unwrap(&session.passphrase(), stanza),
        (Identity::Ssh(key), Kind::Ssh(_)) => ssh::unwrap(key, stanza),
        _ => Ok(None),
    }
}
