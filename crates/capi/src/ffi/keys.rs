//! Keys, passphrases and sessions.

use super::border::{bytes, copy, give, held, maybe, ready, set};
use super::kinds::{dp_passphrase, dp_private_key, dp_public_key, dp_session};
use deadpan_bind::{Fault, private_key, public_key};
use deadpan_seal::key;
use deadpan_seal::{Cost, Kem, Passphrase, PrivateKey, PublicKey, Session};

/// Forms of written keys.
const PEM: i32 = 0;
const AGE: i32 = 1;

exports! {
    /// Makes a key.
    fn dp_private_key_generate(kind: i32, key: *mut *mut dp_private_key) {
        ready(key)?;
        let kem = u16::try_from(kind).ok().and_then(Kem::from_id);
        let kem = kem.ok_or_else(|| Fault::argument(format!("{kind} is no kind of key")))?;
        give(key, PrivateKey::generate(kem)?)
    }

    /// Reads a key: PEM or an age identity. `passphrase` opens a protected key, and is NULL for other keys.
    fn dp_private_key_read(
        text: *const u8,
        length: usize,
        passphrase: *const dp_passphrase,
        key: *mut *mut dp_private_key,
    ) {
        ready(key)?;
        let passphrase = maybe::<Passphrase, _>(passphrase)?;
        give(key, private_key(bytes(text, length)?, passphrase.as_deref())?)
    }

    /// Writes a key as PEM or as an age identity. PEM is protected with `passphrase` if `passphrase` is not NULL.
    fn dp_private_key_write(
        key: *const dp_private_key,
        form: i32,
        passphrase: *const dp_passphrase,
        text: *mut u8,
        room: usize,
        length: *mut usize,
    ) {
        let key = held::<PrivateKey, _>(key)?;
        match (form, maybe::<Passphrase, _>(passphrase)?) {
            (PEM, None) => copy(&key::private_pem(&key), text, room, length),
            (PEM, Some(passphrase)) => copy(key::protected_pem(&key, &passphrase)?.as_bytes(), text, room, length),
            (AGE, None) => {
                let identity = key::age_identity(&key);
                copy(&identity.ok_or_else(|| Fault::argument("age has no keys of this kind"))?, text, room, length)
            }
            (AGE, Some(_)) => Err(Fault::argument("age has no protected keys in text; choose PEM")),
            _ => Err(Fault::argument(format!("{form} is no form of a key"))),
        }
    }

    fn dp_private_key_public(key: *const dp_private_key, public: *mut *mut dp_public_key) {
        ready(public)?;
        give(public, held::<PrivateKey, _>(key)?.public().clone())
    }

    /// Compares two private keys in constant time. `equal` is 1 or 0.
    fn dp_private_key_equal(one: *const dp_private_key, other: *const dp_private_key, equal: *mut i32) {
        let same = held::<PrivateKey, _>(one)?.same(&*held::<PrivateKey, _>(other)?);
        set(equal, i32::from(same))
    }

    /// Reads a public key: PEM or an age recipient.
    fn dp_public_key_read(text: *const u8, length: usize, key: *mut *mut dp_public_key) {
        ready(key)?;
        give(key, public_key(bytes(text, length)?)?)
    }

    fn dp_public_key_write(key: *const dp_public_key, form: i32, text: *mut u8, room: usize, length: *mut usize) {
        let key = held::<PublicKey, _>(key)?;
        let written = match form {
            PEM => key::public_pem(&key),
            AGE => key::age_recipient(&key).ok_or_else(|| Fault::argument("age has no keys of this kind"))?,
            _ => return Err(Fault::argument(format!("{form} is no form of a key"))),
        };
        copy(written.as_bytes(), text, room, length)
    }

    /// Returns the kind of a public key.
    fn dp_public_key_kind(key: *const dp_public_key, kind: *mut i32) {
        set(kind, held::<PublicKey, _>(key)?.kem().id().into())
    }

    fn dp_public_key_fingerprint(key: *const dp_public_key, text: *mut u8, room: usize, length: *mut usize) {
        copy(key::fingerprint(&*held::<PublicKey, _>(key)?).as_bytes(), text, room, length)
    }

    /// Makes a handle of a passphrase.
    fn dp_passphrase_new(text: *const u8, length: usize, passphrase: *mut *mut dp_passphrase) {
        ready(passphrase)?;
        let text = bytes(text, length)?;
        if text.is_empty() {
            return Err(deadpan_seal::Error::EmptyPassphrase.into());
        }
        give(passphrase, Passphrase::new(text))
    }

    /// Hashes a passphrase once, so that many files can use the hash.
    fn dp_session_new(passphrase: *const dp_passphrase, session: *mut *mut dp_session) {
        ready(session)?;
        give(session, Session::new(&*held::<Passphrase, _>(passphrase)?, Cost::default())?)
    }
}

frees! {
    /// Frees a private key.
    dp_private_key_free(dp_private_key => PrivateKey);
    /// Frees a public key.
    dp_public_key_free(dp_public_key => PublicKey);
    /// Frees a passphrase.
    dp_passphrase_free(dp_passphrase => Passphrase);
    /// Frees a session.
    dp_session_free(dp_session => Session);
}
