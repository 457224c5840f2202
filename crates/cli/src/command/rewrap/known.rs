//! The people whose recipients can be recognized: the owners of the user's own keys, the contacts, and the people on
//! the command line.

use crate::key::home::{self, Home};
use crate::key::identity::Identities;
use crate::tell::failure::Failure;
use deadpan_seal::key::Found;
use deadpan_seal::{Opened, PublicKey};

pub struct Known {
    pub name: String,
    pub key: PublicKey,
    /// Whether the user has the private key.
    pub own: bool,
}

/// Returns the public keys of the identities, the public keys on the command line, and all public keys in the key
/// folder that can be read without a passphrase.
pub fn all(home: &Home, identities: &Identities, named: &[(String, PublicKey)]) -> Result<Vec<Known>, Failure> {
    let mut known: Vec<Known> = Vec::new();
    let mut add = |name: String, key: PublicKey, own: bool| match known.iter_mut().find(|it| it.key == key) {
        Some(it) => it.own |= own,
        None => known.push(Known { name, key, own }),
    };
    for own in home.own()? {
        // If one key file is damaged, the program must still recognize the other keys.
        if let Ok(Some(key)) = own.public() {
            add(own.name, key, true);
        }
    }
    for contact in home.contacts()? {
        for found in home::read(&contact.path).unwrap_or_default() {
            if let Found::Public(key) = found {
                add(contact.name.clone(), key, false);
            }
        }
    }
    for (name, key) in named {
        add(name.clone(), key.clone(), false);
    }
    for key in identities.public_keys() {
        add("your key".into(), key, true);
    }
    Ok(known)
}

/// The owners of one file's recipients, as far as the owners are known.
pub struct Recognized {
    /// For each recipient of the file, the number of its owner in the list of known people.
    owners: Vec<Option<usize>>,
}

impl Recognized {
    /// The recipient of a private key is recognized with this private key, whatever program wrote the file.
    pub fn among(opened: &Opened, known: &[Known], identities: &Identities) -> Result<Self, deadpan_seal::Error> {
        let mut owners = vec![None; opened.stanzas().len()];
        for (person, it) in known.iter().enumerate() {
            for number in opened.recipients_with(&it.key)? {
                owners[number] = Some(person);
            }
        }
        for key in identities.private_keys() {
            let Some(person) = known.iter().position(|it| it.key == *key.public()) else { continue };
            for number in opened.recipients_of(&key)? {
                owners[number] = Some(person);
            }
        }
        Ok(Self { owners })
    }

    /// Returns the owner of a recipient.
    pub fn owner<'k>(&self, number: usize, known: &'k [Known]) -> Option<&'k Known> {
        self.owners.get(number).copied().flatten().and_then(|person| known.get(person))
    }

    /// Returns the numbers of the recipients whose public key is `key`.
    pub fn with<'s>(&'s self, key: &'s PublicKey, known: &'s [Known]) -> impl Iterator<Item = usize> + 's {
        (0..self.owners.len()).filter(move |number| self.owner(*number, known).is_some_and(|it| it.key == *key))
    }
}
