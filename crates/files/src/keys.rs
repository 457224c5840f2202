//! Keys in texts and in files.

use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::Error;
use deadpan_disk::{Input, OpenMode};
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Passphrase, PrivateKey, PublicKey, Secret};

/// The maximum number of bytes in a key file.
const LONGEST: usize = 1 << 20;

/// Returns all public keys for sealing in a text: PEM, or age recipients.
///
/// # Errors
/// If the text holds no public key for sealing, or a damaged key.
pub fn public_keys(text: impl AsRef<[u8]>) -> Result<Vec<PublicKey>, Error> {
    let found = key::read(text.as_ref())?;
    let is_private = found.iter().any(|found| matches!(found, Found::Private(_) | Found::Protected(_)));
    if found.iter().any(|found| matches!(found, Found::PluginRecipient(_) | Found::Ssh(_))) {
        return Err(Error::OtherRecipient);
    }
    let public = |found| if let Found::Public(public) = found { Some(public) } else { None };
    let keys: Vec<PublicKey> = found.into_iter().filter_map(public).collect();
    match (keys.is_empty(), is_private) {
        (false, _) => Ok(keys),
        (true, true) => Err(Error::KeyIsPrivate),
        (true, false) => Err(Error::NoPublicKey),
    }
}

/// Returns the public key in a text. If a text has several keys, returns an error: using only one of the keys could
/// omit a recipient.
///
/// # Errors
/// If the text holds no public key for sealing, several such keys, or a damaged key.
pub fn public_key(text: impl AsRef<[u8]>) -> Result<PublicKey, Error> {
    one(public_keys(text)?)
}

/// Returns the private key in a text; the key is in PEM format or is an age identity. A protected key needs its
/// passphrase.
///
/// # Errors
/// If the text holds no private key, several private keys or a damaged key, or if the passphrase is missing or wrong.
pub fn private_key(text: impl AsRef<[u8]>, passphrase: Option<&Passphrase>) -> Result<PrivateKey, Error> {
    let found = key::read(text.as_ref())?;
    let is_public = found.iter().any(|found| matches!(found, Found::Public(_)));
    let private = |found: &Found| matches!(found, Found::Private(_) | Found::Protected(_));
    let keys: Vec<Found> = found.into_iter().filter(private).collect();
    if keys.is_empty() {
        return Err(if is_public { Error::KeyIsPublic } else { Error::NoPrivateKey });
    }
    match (one(keys)?, passphrase) {
        (Found::Private(private), _) => Ok(private),
        (Found::Protected(protected), Some(passphrase)) => Ok(protected.unlock(passphrase)?),
        _ => Err(Error::Locked),
    }
}

fn one<T>(keys: Vec<T>) -> Result<T, Error> {
    let count = keys.len();
    let mut keys = keys.into_iter();
    match (keys.next(), count) {
        (Some(key), 1) => Ok(key),
        _ => Err(Error::SeveralKeys(count)),
    }
}

/// Returns all public keys for sealing in a file: see [`public_keys`].
///
/// # Errors
/// The errors of [`public_keys`], and an error if the file cannot be read.
pub fn read_public_keys(path: impl AsRef<Path>) -> Result<Vec<PublicKey>, Error> {
    let path = path.as_ref();
    public_keys(&*read(path)?).map_err(|error| in_file(path, error))
}

/// Returns the private key in a file: see [`private_key`]. Wipes the memory that held the text of the file.
///
/// # Errors
/// The errors of [`private_key`], and an error if the file cannot be read.
pub fn read_private_key(path: impl AsRef<Path>, passphrase: Option<&Passphrase>) -> Result<PrivateKey, Error> {
    let path = path.as_ref();
    private_key(&*read(path)?, passphrase).map_err(|error| in_file(path, error))
}

fn in_file(path: &Path, error: Error) -> Error {
    Error::KeyFile { path: path.to_owned(), error: Box::new(error) }
}

fn read(path: &Path) -> Result<Secret, Error> {
    let input = Input::open(path, OpenMode::WAITING).map_err(|error| Error::read(path, error))?;
    key_text(&input, path)
}

/// Returns the text of an open key file, which may hold a private key. `path` is used only in error messages.
///
/// # Errors
/// If the file is longer than one mebibyte, or cannot be read.
pub fn key_text(input: &Input, path: &Path) -> Result<Secret, Error> {
    let (mut file, about) = (&input.file, &input.about);
    let size = if about.is_file() { usize::try_from(about.length).unwrap_or(usize::MAX) } else { LONGEST };
    if size > LONGEST {
        return Err(Error::LongKeyFile(path.to_owned()));
    }
    // The buffer is wiped when it is dropped.
    let mut text = Secret::zeroed(size);
    let mut length = 0;
    while length < size {
        match file.read(&mut text[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::read(path, error)),
        }
    }
    Ok(if length < size { Secret::copy_of(&text[..length]) } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_seal::Kem;

    #[test]
    fn several_keys_are_never_one() {
        let keys = [Kem::XWing, Kem::X25519].map(|kem| PrivateKey::generate(kem).expect("a key"));
        let public: Vec<String> = keys.iter().map(|it| key::public_pem(it.public())).collect();
        let private: Vec<u8> = keys.iter().flat_map(|it| key::private_pem(it).to_vec()).collect();
        assert_eq!(public_key(public[0].as_bytes()).expect("one"), *keys[0].public());
        let both = public.concat();
        assert_eq!(public_keys(both.as_bytes()).expect("two").len(), 2);
        assert!(matches!(public_key(both.as_bytes()), Err(Error::SeveralKeys(2))));
        assert!(matches!(private_key(&private, None), Err(Error::SeveralKeys(2))));
        assert!(matches!(public_key(&private), Err(Error::KeyIsPrivate)));
        assert!(matches!(private_key(&public[0], None), Err(Error::KeyIsPublic)));
        assert!(matches!(private_key("a text", None), Err(Error::NoPrivateKey | Error::Key(_))));
        assert!(matches!(public_key("a text"), Err(Error::NoPublicKey | Error::Key(_))));
    }
}
