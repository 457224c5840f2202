//! Opens an age file's key with an identity.

use std::cell::Cell;

use super::{AgeFileKey, AgeStanza, hpke, scrypt, ssh, x25519};
use crate::{Error, Identity, Kem, Stanza};

/// The maximum number of stanzas in a header that have the tag of a key but do not open with the key. The reader
/// refuses headers with more stanzas of this kind. A tag has four bytes, so a stanza for another key has the same tag
/// only very rarely, unless somebody forged the tag. An attacker who knows a public key can write a thousand stanzas
/// with its tag, and trying an RSA key on each of them takes milliseconds. age gives up after the first such stanza.
const MOST_MISTAGGED: usize = 8;

pub(super) enum Tried {
    Opened(AgeFileKey),
    /// The stanza's tag shows that the stanza was sealed to another key, or the stanza has no tag and does not open.
    OtherKey,
    /// The stanza has the tag of this key, but was not sealed to this key.
    Mistagged,
}

impl Tried {
    /// Returns the result of trying a key on a stanza that has the key's tag.
    pub(super) fn tagged(file: Option<AgeFileKey>) -> Self {
        file.map_or(Self::Mistagged, Self::Opened)
    }
}

/// Opens the stanzas of one header, and counts the stanzas that have a key's tag but do not open with the key.
#[derive(Default)]
pub(crate) struct Unwrapping {
    mistagged: Cell<usize>,
}

impl Unwrapping {
    /// Returns the file key if the identity fits the stanza. May leak: whether the identity fits.
    ///
    /// # Errors
    /// [`Error::Limit`] if too many stanzas had the tag of a key and did not open. Another error if the system fails.
    pub(crate) fn unwrap(
        &self,
        identity: &Identity,
        kind: Stanza,
        stanza: &AgeStanza,
    ) -> Result<Option<AgeFileKey>, Error> {
        match tried(identity, kind, stanza)? {
            Tried::Opened(file) => Ok(Some(file)),
            Tried::OtherKey => Ok(None),
            Tried::Mistagged => {
                self.mistagged.update(|count| count + 1);
                if self.mistagged.get() < MOST_MISTAGGED {
                    return Ok(None);
                }
                Err(Error::Limit("many recipients with the tag of a key that opens none of them"))
            }
        }
    }
}

fn tried(identity: &Identity, kind: Stanza, stanza: &AgeStanza) -> Result<Tried, Error> {
    let untagged = |file: Option<AgeFileKey>| file.map_or(Tried::OtherKey, Tried::Opened);
    match (identity, kind) {
        (Identity::Key(key), Stanza::Key(kem)) if key.kem() == kem => {
            if kem == Kem::X25519 {
                x25519::unwrap(key, stanza).map(untagged)
            } else {
                hpke::unwrap(key, stanza)
            }
        }
        (Identity::Passphrase(passphrase), Stanza::Passphrase(_)) => scrypt::unwrap(passphrase, stanza).map(untagged),
        (Identity::Session(session), Stanza::Passphrase(_)) => {
            scrypt::unwrap(&session.passphrase(), stanza).map(untagged)
        }
        (Identity::Ssh(key), Stanza::Ssh(_)) => ssh::unwrap(key, stanza),
        _ => Ok(Tried::OtherKey),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AgeHeader, wrap_all};
    use super::*;
    use crate::key::openssh::PrivateFile;
    use crate::primitive::entropy::Entropy;
    use crate::{PrivateKey, Recipient};

    /// Returns identities whose stanzas have tags, and the recipients of these identities.
    fn tagged() -> Vec<(Identity, Recipient)> {
        let ssh = |file: &[u8]| {
            let file = PrivateFile::read(file).expect("a key file");
            let key = file.key().expect("without a passphrase").clone();
            (Identity::Ssh(key.clone()), Recipient::Ssh(key.public().clone()))
        };
        let key = |kem| {
            let key = PrivateKey::generate(kem).expect("a key");
            (Identity::from(&key), key.public().into())
        };
        vec![
            ssh(include_bytes!("../../../tests/data/openssh/rsa")),
            ssh(include_bytes!("../../../tests/data/openssh/ed25519")),
            key(Kem::P256),
            key(Kem::MlKem768P256),
        ]
    }

    /// Before the limit existed, 1472 stanzas of the type ssh-rsa took 26 seconds.
    #[test]
    fn stanzas_with_the_tag_of_a_key_are_given_up_after_a_few() {
        for (identity, recipient) in tagged() {
            let key = AgeFileKey::generate(Entropy::System).expect("a key");
            let good = wrap_all(&[recipient], &[], true, &key, Entropy::System).expect("wrapped").remove(0);
            let mut bad = good.clone();
            bad.body[7] ^= 1;
            let mut other = bad.clone();
            other.args[0] = "AAAAAA".into();
            let open = |count, stanza: &AgeStanza, identities: &[Identity]| {
                let stanzas = [vec![stanza.clone(); count], vec![good.clone()]].concat();
                let header = AgeHeader::build(&key, &stanzas).expect("a header");
                crate::Header::read(&header[..])?.open(identities).map(drop)
            };
            let (name, own) = (&good.tag, std::slice::from_ref(&identity));
            open(MOST_MISTAGGED - 1, &bad, own).expect(name);
            open(600, &other, own).expect(name);
            for count in [MOST_MISTAGGED, 600] {
                let result = open(count, &bad, own);
                assert!(matches!(result, Err(Error::Limit(_))), "{name}: {result:?}");
            }
            // The limit applies to all identities together.
            let identities = vec![identity.clone(); MOST_MISTAGGED];
            let header = AgeHeader::build(&key, &[bad]).expect("a header");
            let result = crate::Header::read(&header[..]).expect("a header").open(&identities).map(drop);
            assert!(matches!(result, Err(Error::Limit(_))), "{name}: {result:?}");
        }
    }
}
