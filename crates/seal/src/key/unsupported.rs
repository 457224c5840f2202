//! Well-known things that are refused by name: keys that cannot seal, and forms of keys that other programs convert.

use std::borrow::Cow;
use std::fmt;

/// A well-known thing that cannot seal, or a form of a key that is not read. `Display` names it, with its article.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// A kind of key that sealing does not use, such as RSA. The text names it.
    Kind(Cow<'static, str>),
    /// A kind of key that signs, such as Ed25519; the text names it.
    Signing(&'static str),
    /// ML-KEM-512, the smallest parameter set.
    MlKem512,
    /// A composite ML-KEM key of the LAMPS drafts.
    CompositeMlKem,
    /// An elliptic-curve key in the form from before PKCS#8 (SEC 1).
    Sec1,
    /// An elliptic curve that is written out as parameters instead of named.
    WrittenOutCurve,
    /// An elliptic-curve point in compressed form.
    CompressedPoint,
    /// A private key that is encrypted in another way than PBES2; the text is the algorithm's object identifier.
    Encryption(String),
    /// A private key of OpenSSH that is encrypted with a cipher that is not read; the text is its name.
    OpensshCipher(String),
    /// A certificate.
    Certificate,
    /// A PEM block with another label, which the text is.
    Block(String),
    /// A file sealed by age.
    AgeFile,
    /// An age identity of a kind that is not known.
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
