//! Keys of OpenSSH: private key files (`openssh-key-v1`) and public lines (`ssh-ed25519 AAAA… comment`).
//!
//! Use this module for SSH keys that a person already has. `docs/format-keys.md` specifies the forms that the module
//! reads. The module does not write OpenSSH files.
//!
//! ```
//! use deadpan_seal::key::openssh::{self, SshKind};
//!
//! let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti foo@example.com";
//! let (key, comment) = openssh::public_line(line)?;
//! assert_eq!((key.kind(), comment), (SshKind::Ed25519, "foo@example.com"));
//! # Ok::<(), deadpan_seal::key::KeyError>(())
//! ```

mod container;
mod fields;
pub(super) mod line;
mod private;
mod public;

pub use private::{OpensshKey, RsaParts, SshMaterial};
pub use public::{SshKind, SshPublic};

use std::fmt;
use std::sync::Arc;

use super::error::{Place, Trouble};
use super::{KeyError, Unsupported};
use crate::Passphrase;
use crate::key::passphrase::form::Form;
use container::Container;
use deadpan_base64::pem;

/// The label of the PEM block.
pub(super) const LABEL: &str = "OPENSSH PRIVATE KEY";
/// The greatest length of a text with one private key.
const MAX_TEXT: usize = 1 << 17;
const MAX_LINE: usize = 1 << 15;

/// An OpenSSH private key file with one key. A passphrase may protect the key. Clones share one copy.
#[derive(Clone)]
pub struct PrivateFile(Arc<OpensshInner>);

struct OpensshInner {
    container: Container,
    /// The key, if the file is not protected.
    key: Option<OpensshKey>,
    place: Place,
}

impl fmt::Debug for PrivateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateFile({}, {})", self.public().kind().name(), self.0.place)
    }
}

impl PrivateFile {
    /// Reads a text that consists of one block `OPENSSH PRIVATE KEY`. Only white space may surround the block.
    ///
    /// A key without a passphrase is read completely. A protected key is only parsed. The function checks that the cost
    /// of the key derivation is within the limits, but does not derive the key.
    ///
    /// May leak: lengths, the public key, the comment, and whether the file is valid.
    ///
    /// # Errors
    /// [`KeyError::Unsupported`] for unsupported kinds of keys and unsupported ciphers; [`KeyError::Limit`] for more
    /// than 1024 rounds of bcrypt; other errors if the file is damaged.
    pub fn read(text: &[u8]) -> Result<Self, KeyError> {
        let place = Place::Block(1);
        if text.len() > MAX_TEXT {
            return Err(KeyError::TooLong);
        }
        let text = text.trim_ascii();
        let ends = format!("-----END {LABEL}-----");
        if !text.starts_with(b"-----BEGIN ") || !text.ends_with(ends.as_bytes()) {
            return Err(KeyError::Unknown);
        }
        let document = pem::decode(text).map_err(|error| KeyError::Armor { place, error })?;
        if document.label != LABEL {
            return Err(KeyError::Unknown);
        }
        Self::decode(&document.contents, place).map_err(|trouble| trouble.at(place))
    }

    /// Reads the contents of the block.
    pub(super) fn decode(contents: &[u8], place: Place) -> Result<Self, Trouble> {
        let container = Container::decode(contents)?;
        let key = if container.is_protected() {
            None
        } else {
            let plain = container.plain();
            Some(private::decode(plain, container.public(), container.block())?)
        };
        Ok(Self(Arc::new(OpensshInner { container, key, place })))
    }

    /// Returns the public key. Nothing authenticates the public key of a protected file before
    /// [`PrivateFile::unlock`] succeeds.
    #[must_use]
    pub fn public(&self) -> &SshPublic {
        self.0.container.public()
    }

    /// Returns the position of the key in the text.
    #[must_use]
    pub fn place(&self) -> Place {
        self.0.place
    }

    /// Returns whether a passphrase protects the key.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        self.0.container.is_protected()
    }

    /// Returns the key, if no passphrase protects it.
    #[must_use]
    pub fn key(&self) -> Option<&OpensshKey> {
        self.0.key.as_ref()
    }

    /// Returns the key. Decrypts the key with the passphrase if the key is protected. Tries the passphrase as typed,
    /// then its NFC form, then its NFD form, if these forms differ.
    ///
    /// May leak: lengths, whether the passphrase is right, and, if the passphrase is right, the comment. The memory
    /// accesses of bcrypt depend on a hash of the passphrase. Bcrypt may therefore leak information about this hash to
    /// programs that share the processor's caches.
    ///
    /// # Errors
    /// [`KeyError::WrongPassphrase`] if the passphrase is wrong or the file is damaged. The function cannot distinguish
    /// a wrong passphrase from a damaged file.
    pub fn unlock(&self, passphrase: &Passphrase) -> Result<OpensshKey, KeyError> {
        if let Some(key) = &self.0.key {
            return Ok(key.clone());
        }
        for form in passphrase.forms() {
            match self.unlock_in(passphrase, form) {
                Err(Trouble::WrongPassphrase) => {}
                result => return result.map_err(|trouble| trouble.at(self.0.place)),
            }
        }
        Err(KeyError::WrongPassphrase)
    }

    fn unlock_in(&self, passphrase: &Passphrase, form: Form) -> Result<OpensshKey, Trouble> {
        let plain = self.0.container.decrypt(&passphrase.in_form(form))?;
        // AES-CTR and AES-CBC do not authenticate the data. Every fault in the decrypted data therefore gives the same
        // error, so that an attacker who changed a file does not learn which fault the file has.
        private::decode(&plain, self.public(), self.0.container.block()).map_err(|trouble| match trouble {
            Trouble::Malformed(_) | Trouble::Limit(_) | Trouble::Unsupported(_) => Trouble::WrongPassphrase,
            other => other,
        })
    }

    /// Returns an error for callers that cannot use SSH keys.
    #[must_use]
    pub fn refusal(&self) -> KeyError {
        KeyError::Unsupported { place: self.0.place, what: Unsupported::Signing("an SSH key") }
    }
}

/// Reads a public line, such as `ssh-ed25519 AAAA… comment`, and returns the key and the comment; the comment may be
/// empty. The function ignores white space around the line. The function refuses a line with options in front of the
/// key, as in `authorized_keys`.
///
/// # Errors
/// [`KeyError::Unsupported`] for unsupported kinds of keys; the error contains the name of the kind.
/// [`KeyError::NotAKey`] if the line does not begin with the name of a kind of SSH key. [`KeyError::Malformed`] if the
/// key is damaged.
pub fn public_line(line: &str) -> Result<(SshPublic, &str), KeyError> {
    let place = Place::Line(1);
    match line::read(line) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(KeyError::NotAKey { place }),
        Err(trouble) => Err(trouble.at(place)),
    }
}
