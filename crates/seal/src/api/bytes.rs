//! Sealing and opening of bytes in memory, in one call.

use crate::{Error, Header, Identity, IntoRecipients, Sealing};

/// Seals bytes to a public key, a passphrase or a session, or to several recipients. Large inputs are sealed on all
/// cores.
///
/// ```
/// use deadpan_seal::{Kem, PrivateKey, open, seal};
///
/// let key = PrivateKey::generate(Kem::XWing)?;
/// let sealed = seal(key.public(), b"straight face")?;
/// assert_eq!(open(&key, &sealed)?, b"straight face");
///
/// // To several keys, each of which opens the data alone.
/// let other = PrivateKey::generate(Kem::XWing)?;
/// let sealed = seal([key.public(), other.public()], b"straight face")?;
/// assert_eq!(open(&other, &sealed)?, b"straight face");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
///
/// A passphrase is hashed each time, which takes a tenth to a quarter of a second; for many items, make a
/// [`crate::Session`].
///
/// # Errors
/// Those of [`Sealing::to`], and if the system has no random bytes or no memory for a passphrase.
pub fn seal(recipients: impl IntoRecipients, plain: &[u8]) -> Result<Vec<u8>, Error> {
    Sealing::to(recipients)?.bytes(plain)
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
