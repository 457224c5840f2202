//! Functions that seal or open bytes in memory, or a stream, in one call.

use std::io::{Read, Write};

use crate::{Error, Header, Identity, IntoRecipients, Sealing, Summary, Work};

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
/// Each call hashes a passphrase again, and each hash takes a tenth to a quarter of a second. For many items, make a
/// [`crate::Session`] instead.
///
/// # Errors
/// The errors of [`Sealing::to`], and an error if the system has no random bytes, or no memory to hash a passphrase.
pub fn seal(recipients: impl IntoRecipients, plain: &[u8]) -> Result<Vec<u8>, Error> {
    Sealing::to(recipients)?.seal(plain)
}

/// Opens bytes with a private key, a passphrase or a session. Returns either all data or an error.
///
/// # Errors
/// If the key or passphrase does not fit, or if the bytes were changed or cut short.
pub fn open(identity: impl Into<Identity>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut rest = sealed;
    let opened = Header::read(&mut rest)?.open(&[identity.into()])?;
    opened.open(rest)
}

/// Seals all data from `input`, and writes the sealed file to `output`. Takes the same kinds of recipients as
/// [`seal()`]. Works on all cores and in constant memory.
///
/// ```
/// use deadpan_seal::{Kem, PrivateKey, open_stream, seal_stream};
///
/// let key = PrivateKey::generate(Kem::XWing)?;
/// let (mut sealed, mut plain) = (Vec::new(), Vec::new());
/// seal_stream(key.public(), &b"straight face"[..], &mut sealed)?;
/// open_stream(&key, &sealed[..], &mut plain)?;
/// assert_eq!(plain, b"straight face");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Sealing::to`] and of [`Sealing::seal_stream`]. After an error, the output must not be used.
pub fn seal_stream(
    recipients: impl IntoRecipients,
    input: impl Read + Send,
    output: impl Write + Send,
) -> Result<Summary, Error> {
    Sealing::to(recipients)?.seal_stream(input, output, &Work::default())
}

/// Reads a sealed file from `input`, opens it, and writes the data to `output`. All written data are authentic. The
/// data are complete only if this function returns without an error. The summary contains the signers of the data.
///
/// # Errors
/// If the key or passphrase does not fit, if the data were changed or cut short, or if reading or writing fails.
pub fn open_stream(
    identity: impl Into<Identity>,
    mut input: impl Read + Send,
    output: impl Write + Send,
) -> Result<Summary, Error> {
    let opened = Header::read(&mut input)?.open(&[identity.into()])?;
    opened.open_stream(input, output, &Work::default())
}
