//! Recognizes the recipients of a sealed file, so that the changed data can be sealed to the same recipients.

use super::original::Keys;
use crate::command::rewrap::known::{Recognized, all};
use crate::place::sealed::Sealed;
use crate::tell::failure::Failure;
use crate::tell::shown::count;
use deadpan_seal::{Cost, Kem, Opened, Recipient, Stanza};

/// The recipients of a file.
pub struct Again {
    pub recipients: Vec<Recipient>,
    pub notes: Vec<String>,
}

/// Recognizes all recipients of a file. Recipients that the user has named take the places of the recipients that
/// cannot be recognized, if their keys are of the same kind. If the file has a passphrase, asks for the passphrase.
///
/// # Errors
/// If a recipient cannot be recognized, or if a named recipient has no place.
pub fn again(name: &str, sealed: &Sealed<'_>, opened: &Opened, keys: &mut Keys) -> Result<Again, Failure> {
    let stanzas = opened.stanzas();
    let public = keys.named.iter().filter_map(|(who, recipient)| match recipient {
        Recipient::Key(key) => Some((who.clone(), key.clone())),
        _ => None,
    });
    let known = all(&keys.home, &keys.identities, &public.collect::<Vec<_>>())?;
    let found = Recognized::among(opened, &known, &keys.identities).map_err(|error| Failure::seal(name, error))?;
    let is_found = |recipient: &Recipient| match recipient {
        Recipient::Key(key) => found.with(key, &known).next().is_some(),
        _ => false,
    };
    let mut named: Vec<_> = keys.named.iter().filter(|(_, recipient)| !is_found(recipient)).collect();
    let (mut again, mut missing) = (Again { recipients: Vec::new(), notes: Vec::new() }, Vec::new());
    for (number, stanza) in stanzas.iter().enumerate().filter(|(_, stanza)| !stanza.is_passphrase()) {
        if let Some(owner) = found.owner(number, &known) {
            again.recipients.push(Recipient::Key(owner.key.clone()));
            continue;
        }
        match named.iter().position(|(_, recipient)| fits(recipient, *stanza)) {
            Some(place) => {
                let (who, recipient) = named.remove(place);
                again.notes.push(format!("{who} takes the place of {}", unknown(*stanza)));
                again.recipients.push(recipient.clone());
            }
            None => missing.push(*stanza),
        }
    }
    if !missing.is_empty() {
        return Err(unrecognized(name, &missing));
    }
    if let Some((who, _)) = named.first() {
        let hint = "edit keeps the recipients; add one with: deadpan rewrap -r WHO FILE";
        return Err(Failure::usage(format!("{who} is not a recipient of {name}"), hint));
    }
    if stanzas.iter().any(Stanza::is_passphrase) {
        let passphrase = keys.identities.passphrase_of(name, sealed).map_err(|failure| Failure {
            message: format!("{}, so that it stays a recipient", failure.message),
            ..failure
        })?;
        again.recipients.push(Recipient::Passphrase(passphrase, Cost::default()));
    }
    Ok(again)
}

/// Refuses a file that several keys open together, because the members cannot be recognized.
pub fn refuse_threshold(name: &str, stanzas: &[Stanza]) -> Result<(), Failure> {
    let share = stanzas.iter().find_map(|stanza| match stanza {
        Stanza::Share { needed, of, .. } => Some((needed, of)),
        _ => None,
    });
    let Some((needed, of)) = share else { return Ok(()) };
    let message = format!("any {needed} of {of} keys open {name} together, and edit cannot seal to such a group");
    Err(Failure::usage(message, "open it, edit it, and seal it again with --any"))
}

/// Whether a recipient may be the one of this stanza.
fn fits(recipient: &Recipient, stanza: Stanza) -> bool {
    match (recipient, stanza) {
        (Recipient::Key(key), Stanza::Key(kem)) => key.kem() == kem,
        (Recipient::Ssh(key), Stanza::Ssh(kind)) => key.kind() == kind,
        // In age files, an unknown stanza or a stanza of a tagged key may be for a plugin.
        (
            Recipient::Plugin(_),
            Stanza::Plugin { .. } | Stanza::Unknown | Stanza::Key(Kem::P256 | Kem::MlKem768P256),
        ) => true,
        _ => false,
    }
}

fn unknown(stanza: Stanza) -> String {
    format!("a recipient that cannot be recognized ({stanza})")
}

fn unrecognized(name: &str, missing: &[Stanza]) -> Failure {
    let kinds: Vec<_> = missing.iter().map(ToString::to_string).collect();
    let number = count(missing.len() as u64, "recipient", "recipients");
    let message = format!("{number} of {name} cannot be recognized: {}", kinds.join(", "));
    let hint =
        "name them with -r, so that the changed file is sealed to them again; your own keys and contacts need no -r";
    Failure::usage(message, hint)
}
