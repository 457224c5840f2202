//! Kinds of keys and blocks that the reader refuses with an error that contains the kind: keys that cannot seal, and
//! forms of keys that other programs can convert.

use std::borrow::Cow;
use std::fmt;

/// A well-known kind of key or block that cannot seal, or an unsupported form of a key. `Display` shows the name of
/// this kind with an English article.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// A kind of key that sealing does not use, such as RSA. The text names the kind.
    Kind(Cow<'static, str>),
    /// A kind of key for signatures, such as Ed25519. The text names the kind.
    Signing(&'static str),
    /// ML-KEM-512, the smallest parameter set.
    MlKem512,
    /// A composite ML-KEM key of the LAMPS drafts.
    CompositeMlKem,
    /// An elliptic-curve key in the SEC 1 form, which is older than PKCS#8.
    Sec1,
    /// An elliptic curve that is given by its parameters instead of its name.
    WrittenOutCurve,
    /// An elliptic-curve point in compressed form.
    CompressedPoint,
    /// A private key whose encryption is not PBES2. The text is the object identifier of the encryption algorithm.
    Encryption(String),
    /// A private key of OpenSSH that is encrypted with an unsupported cipher. The text is the name of the cipher.
    OpensshCipher(String),
    /// A certificate.
    Certificate,
    /// A PEM block with an unsupported label. The text is the label.
    Block(String),
    /// A file sealed by age.
    AgeFile,
    /// An age identity of an unknown kind.
    AgeIdentity,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind(name) => name,
            Self::Signing(name) => name,
            Self::MlKem512 => "an ML-KEM-512 key",
            Self::CompositeMlKem => "a composite ML-KEM key",
            Self::Sec1 => "an elliptic-curve key from before PKCS#8",
            Self::WrittenOutCurve => "a curve written out as parameters",
            Self::CompressedPoint => "a compressed point",
            Self::Encryption(oid) => return write!(f, "a key protected with algorithm {oid}"),
            Self::OpensshCipher(name) => return write!(f, "an OpenSSH key protected with {name}"),
            Self::Certificate => "a certificate",
            Self::Block(label) => return write!(f, "a PEM block {label:?}"),
            Self::AgeFile => "a file sealed by age (perhaps an identity file with a passphrase)",
            Self::AgeIdentity => "an age identity of an unknown kind",
        })
    }
}
