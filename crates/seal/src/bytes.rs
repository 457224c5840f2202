//! Sealing and opening of bytes in memory, for one recipient, in one call.

use crate::{Error, Header, Identity, Recipient, Sealing};

/// Seals bytes to a public key, a passphrase or a session. Large inputs are sealed on all cores.
///
/// ```
/// use deadpan_seal::{Kem, PrivateKey, open, seal};
///
/// let key = PrivateKey::generate(Kem::XWing)?;
/// let sealed = seal(key.public(), b"straight face")?;
/// assert_eq!(open(&key, &sealed)?, b"straight face");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
///
/// A passphrase is hashed each time, which takes a tenth to a quarter of a second; for many items, make a
/// [`crate::Session`].
///
/// # Errors
/// If the passphrase is empty, or the system has no random bytes or no memory for it.
pub fn seal(recipient: impl Into<Recipient>, plain: &[u8]) -> Result<Vec<u8>, Error> {
    Sealing::to(vec![recipient.into()])?.bytes(plain)
}

/// Opens bytes with a private key, a passphrase or a session. The result is all of the data, or an error.
///
/// # Errors
/// If the key or passphrase does not fit, or if the bytes were changed or cut short.
pub fn open(identity: impl Into<Identity>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut rest = sealed;
    let opened = Header::read(&mut rest)?.open(&[identity.into()])?;
    let mut plain = Vec::new();
    opened.bytes_onto(rest, &mut plain)?;
    Ok(plain)
}
