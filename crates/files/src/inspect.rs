//! Describes a sealed file: properties that everybody can see, and properties that only the holder of a key can see.

use std::path::Path;

use crate::Error;
use crate::patient::open_seekable;
use deadpan_seal::{Header, Identity, Opened};

/// The description of a sealed file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Description {
    /// The length of the sealed file.
    pub length: u64,
    /// The properties that everybody can see: the format, the recipients' kinds, whether the file is signed.
    pub header: Header,
    /// The properties that only the holder of a key can see: name, time and mode, and whether the length is hidden.
    pub opened: Option<Opened>,
}

/// Describes a sealed file: properties that everybody can see, and, if `identities` are given, the encrypted metadata.
/// The data are not read.
///
/// ```
/// use deadpan_files::{Options, inspect, seal_file};
/// use deadpan_seal::{Kem, PrivateKey, Sealing};
///
/// # let place = tempfile::tempdir()?;
/// # let [report, sealed] = ["report.pdf", "report.pdf.dpn"].map(|name| place.path().join(name));
/// # std::fs::write(&report, "straight face")?;
/// let key = PrivateKey::generate(Kem::XWing)?;
/// seal_file(&Sealing::to(key.public())?, &report, &sealed, Options::default())?;
///
/// let seen = inspect(&sealed, None)?;
/// assert_eq!(seen.header.stanzas()[0].to_string(), "X-Wing key");
/// let seen = inspect(&sealed, Some(&[(&key).into()]))?;
/// let opened = seen.opened.ok_or("opened with the key")?;
/// assert_eq!(opened.metadata().name.as_deref(), Some(&b"report.pdf"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be read, is not sealed, or cannot be decrypted with the identities.
pub fn inspect(path: impl AsRef<Path>, identities: Option<&[Identity]>) -> Result<Description, Error> {
    let path = path.as_ref();
    let (file, length) = open_seekable(path)?;
    let failed = |error| Error::sealed(error, path, path);
    let header = Header::read(&file).map_err(failed)?;
    let opened = identities.map(|identities| header.clone().open(identities)).transpose().map_err(failed)?;
    Ok(Description { length, header, opened })
}
