//! Seals an age file's key to recipients.

use super::{AgeFileKey, AgeHeader, AgeStanza, hpke, plugin, scrypt, ssh, x25519};
use crate::format::deadpan::recipient;
use crate::primitive::entropy::Entropy;
use crate::{Error, Kem, Mode, Recipient};

/// The label of recipients that withstand a quantum computer. All recipients of a file must have the same labels.
const POST_QUANTUM: &str = "postquantum";

/// The stanzas of one recipient, and the sorted labels of these stanzas.
type Wrapped = (Vec<AgeStanza>, Vec<String>);

/// Checks that age supports recipients of these kinds. The caller must already have checked that post-quantum and
/// classical keys do not mix.
pub(crate) fn check(recipients: &[Recipient]) -> Result<(), Error> {
    for recipient in recipients {
        match recipient {
            Recipient::Key(key) if key.kem() == Kem::X25519 || hpke::tag_name(key.kem()).is_some() => {}
            Recipient::Key(_) => return Err(Error::Invalid("age has no recipients with ML-KEM keys alone")),
            Recipient::Plugin(_) => {}
            Recipient::Ssh(key) => ssh::check(key)?,
            Recipient::Passphrase(..) if recipients.len() == 1 => {}
            Recipient::Passphrase(..) => {
                return Err(Error::TooMany("an age file with a passphrase has no other recipients"));
            }
            Recipient::Session(_) => return Err(Error::Invalid("age has no sessions")),
            Recipient::Threshold(_) => return Err(Error::Invalid("age has no thresholds")),
        }
    }
    Ok(())
}

/// Returns the length of the header if the recipient is a passphrase. This function does not hash the passphrase,
/// because hashing takes long.
pub(crate) fn passphrase_length(recipients: &[Recipient]) -> Option<usize> {
    match recipients {
        [Recipient::Passphrase(_, cost)] => Some(AgeHeader::length_for(scrypt::length(*cost))),
        _ => None,
    }
}

/// Seals the file key to all new recipients. `kept` are the recipients that are already in the file. Returns the new
/// stanzas. If `mixed` is not set, all recipients must have the same labels as the plugins' stanzas.
pub(crate) fn wrap_all(
    recipients: &[Recipient],
    kept: &[recipient::Stanza],
    mixed: bool,
    file: &AgeFileKey,
    entropy: Entropy,
) -> Result<Vec<AgeStanza>, Error> {
    let wrapped = recipients.iter().map(|recipient| wrap(recipient, file, entropy)).collect::<Result<Vec<_>, _>>()?;
    // The labels of stanzas of an unknown type are not known, so these stanzas are ignored here.
    let kept: Vec<_> = kept.iter().filter_map(|stanza| stanza.mode().map(labels)).collect();
    let all = || wrapped.iter().map(|(_, labels)| labels).chain(&kept);
    for (recipient, (_, labels)) in recipients.iter().zip(&wrapped) {
        if let Recipient::Plugin(plugin) = recipient
            && !mixed
            && all().any(|others| others != labels)
        {
            return Err(plugin.incompatible(all().find(|labels| !labels.is_empty()).unwrap_or(labels)).into());
        }
    }
    Ok(wrapped.into_iter().flat_map(|(stanzas, _)| stanzas).collect())
}

fn wrap(recipient: &Recipient, file: &AgeFileKey, entropy: Entropy) -> Result<Wrapped, Error> {
    let stanza = match recipient {
        Recipient::Key(key) => match hpke::tag_name(key.kem()) {
            Some(name) => return Ok((vec![hpke::wrap(name, key, file)?], labels(key.kem().mode()))),
            None if key.kem() == Kem::X25519 => x25519::wrap(key, file)?,
            None => return Err(NONE),
        },
        Recipient::Plugin(recipient) => return plugin::wrap(recipient, file),
        Recipient::Ssh(key) => ssh::wrap(key, file)?,
        Recipient::Passphrase(passphrase, cost) => scrypt::wrap(passphrase, *cost, file, entropy)?,
        Recipient::Session(_) | Recipient::Threshold(_) => return Err(NONE),
    };
    Ok((vec![stanza], Vec::new()))
}

/// Returns the labels of age's own recipients of this mode.
fn labels(mode: Mode) -> Vec<String> {
    if mode == Mode::Ecc { Vec::new() } else { vec![POST_QUANTUM.to_owned()] }
}

/// The error for recipients that age does not support. [`check`] has already refused recipients of these kinds.
const NONE: Error = Error::Invalid("age has no such recipients");
