//! The known types of stanzas, and the form that a stanza of each type must have.
//!
//! Each type has a fixed number of arguments and allowed lengths of the body. If a stanza of a known type has another
//! form, the whole header is invalid, even if a key opens the header. No correct program writes a stanza in another
//! form. Unknown types are ignored.

use super::AgeStanza;
use super::file_key::SEALED;
use super::scrypt;
use crate::format::plugin::{Reason, Tag};
use crate::key::openssh::SshKind as Ssh;
use crate::{Error, Kem, Stanza};
use deadpan_base64::STANDARD_NO_PAD;

pub(super) const X25519: &str = "X25519";
pub(super) const SCRYPT: &str = "scrypt";
pub(super) const XWING: &str = "mlkem768x25519";
pub(super) const P256_TAG: &str = "p256tag";
pub(super) const HYBRID_TAG: &str = "mlkem768p256tag";
const SSH_ED25519: &str = "ssh-ed25519";
const SSH_RSA: &str = "ssh-rsa";

/// The allowed lengths of an RSA-encrypted file key, in bytes. The ciphertext is as long as the modulus.
const RSA_BODY: std::ops::RangeInclusive<usize> = 128..=2048;

/// The number of bytes in a recipient's tag. The owner of the key recognizes the stanza by the tag.
pub(super) const TAG: usize = 4;

const FORM: Error = Error::Header("the form of a recipient");

/// Returns the kind of a stanza, and checks its form.
pub(super) fn kind(stanza: &AgeStanza) -> Result<Stanza, Error> {
    let form = |lengths: &[usize]| {
        let fits = stanza.args.len() == lengths.len()
            && stanza.args.iter().zip(lengths).all(|(text, length)| decode(text).is_some_and(|it| it.len() == *length));
        if fits && stanza.body.len() == SEALED { Ok(()) } else { Err(FORM) }
    };
    Ok(match stanza.tag.as_str() {
        X25519 => form(&[Kem::X25519.enc_len()]).map(|()| Stanza::Key(Kem::X25519))?,
        XWING => form(&[Kem::XWing.enc_len()]).map(|()| Stanza::Key(Kem::XWing))?,
        P256_TAG => form(&[TAG, Kem::P256.enc_len()]).map(|()| Stanza::Key(Kem::P256))?,
        HYBRID_TAG => form(&[TAG, Kem::MlKem768P256.enc_len()]).map(|()| Stanza::Key(Kem::MlKem768P256))?,
        SSH_ED25519 => form(&[TAG, 32]).map(|()| Stanza::Ssh(Ssh::Ed25519))?,
        SSH_RSA => {
            let is_tag = |tag: &String| decode(tag).is_some_and(|tag| tag.len() == TAG);
            let fits = matches!(&stanza.args[..], [tag] if is_tag(tag)) && RSA_BODY.contains(&stanza.body.len());
            if fits { Stanza::Ssh(Ssh::Rsa) } else { return Err(FORM) }
        }
        SCRYPT => Stanza::Passphrase(scrypt::cost(stanza)?),
        _ => Stanza::Unknown,
    })
}

/// Returns whether a plugin may make and open stanzas of this kind. age's specification allows this for tagged stanzas
/// and for the plugin's own types. Plugins must not use any other type that age defines. Keys of these types are
/// software keys, and readers do not start a plugin for their stanzas.
pub(super) const fn may_be_of_plugin(kind: &Stanza) -> bool {
    matches!(kind, Stanza::Unknown | Stanza::Key(Kem::P256 | Kem::MlKem768P256))
}

/// The type of the stanza must be a type that plugins may use. If the type is known, the stanza must have the form of
/// the type.
pub(crate) fn check_of_plugin(stanza: &AgeStanza) -> Result<(), Reason> {
    match kind(stanza) {
        Ok(kind) if may_be_of_plugin(&kind) => Ok(()),
        _ => Err(Reason::Stanza(Tag::from_text(&stanza.tag))),
    }
}

/// Decodes an argument in base64. Returns `None` if the base64 is not canonical.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(text.as_bytes()).ok()
}

/// Decodes an argument of a stanza whose form is already checked.
pub(super) fn argument(stanza: &AgeStanza, number: usize) -> Result<Vec<u8>, Error> {
    stanza.args.get(number).and_then(|text| decode(text)).ok_or(FORM)
}

/// Encodes an argument in base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD_NO_PAD.encode(bytes)
}
