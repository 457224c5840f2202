//! The private part of a file: check numbers, the key, a comment, and padding.

use std::fmt;

use aws_lc_rs::signature::Ed25519KeyPair;

use super::fields::Fields;
use super::public::{SshKind, SshPublic};
use crate::Secret;
use crate::key::Unsupported;
use crate::key::error::Trouble;
use crate::key::sign::{Scheme, SigningKey};
use deadpan_ct::{Choice, CtEq, declassify_bytes};

const DAMAGED: &str = "the private part of the OpenSSH key file is damaged";
const DIFFERENT: Trouble = Trouble::Malformed("the private and the public part of the OpenSSH key file do not match");

/// An SSH private key with its public key.
#[derive(Clone)]
pub struct OpensshKey {
    public: SshPublic,
    material: SshMaterial,
    comment: String,
}

/// The secret values of an SSH private key.
#[derive(Clone, Debug)]
pub enum SshMaterial {
    /// For Ed25519: a seed of 32 bytes. For the composite algorithm: the seed of ML-DSA-44, then the seed of Ed25519,
    /// together 64 bytes.
    Seed(Secret),
    /// RSA.
    Rsa(RsaParts),
}

/// The secret numbers of an RSA key, big-endian without leading zeros. The reader checks that the product of the primes
/// is the modulus. Of the other secret numbers, the reader checks only the lengths.
#[derive(Clone, Debug)]
pub struct RsaParts {
    /// The private exponent.
    pub d: Secret,
    /// The first prime.
    pub p: Secret,
    /// The second prime.
    pub q: Secret,
    /// The inverse of `q` modulo `p`.
    pub q_inverse: Secret,
}

impl fmt::Debug for OpensshKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpensshKey({}, ..)", self.kind().name())
    }
}

impl OpensshKey {
    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> SshKind {
        self.public.kind()
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &SshPublic {
        &self.public
    }

    /// Returns the secret parts.
    #[must_use]
    pub fn material(&self) -> &SshMaterial {
        &self.material
    }

    /// Returns the key for signing, or `None` for RSA, because this crate makes no RSA signatures.
    #[must_use]
    pub fn signing_key(&self) -> Option<SigningKey> {
        let SshMaterial::Seed(seed) = &self.material else { return None };
        SigningKey::from_seed(self.kind().scheme()?, seed).ok()
    }

    /// Returns the comment. The comment may be empty and may contain any characters.
    #[must_use]
    pub fn comment(&self) -> &str {
        &self.comment
    }
}

/// Reads the private part of a file. The private key must belong to `public`. May leak: lengths, the comment, and
/// whether the private part is valid.
pub(super) fn decode(plain: &[u8], public: &SshPublic, block: usize) -> Result<OpensshKey, Trouble> {
    let mut fields = Fields::new(plain, DAMAGED);
    // With a wrong passphrase, the probability that these two numbers are equal is 1 in four billion.
    let (one, two) = (fields.bytes(4)?, fields.bytes(4)?);
    if !one.ct_eq(two).declassify() {
        return Err(Trouble::Malformed(DAMAGED));
    }
    let mut outside = Fields::new(public.blob(), DAMAGED);
    if fields.text()? != outside.text()? {
        return Err(DIFFERENT);
    }
    let material = match public.kind() {
        SshKind::Ed25519 => SshMaterial::Seed(ed25519(&mut fields, public)?),
        SshKind::MlDsa44Ed25519 => SshMaterial::Seed(composite(&mut fields, public)?),
        SshKind::Rsa => SshMaterial::Rsa(rsa(&mut fields, public)?),
        SshKind::SkEd25519 => return Err(Unsupported::Kind("the file of a security key".into()).into()),
        SshKind::MlDsa65 => {
            return Err(Unsupported::Kind("an OpenSSH private key of the kind ssh-mldsa-65".into()).into());
        }
    };
    let comment = String::from_utf8_lossy(declassify_bytes(fields.string()?)).into_owned();
    let padding = fields.rest();
    let counts = padding.iter().zip(1_u8..).fold(Choice::TRUE, |good, (byte, count)| good & byte.ct_eq(&count));
    if padding.len() >= block || !counts.declassify() {
        return Err(Trouble::Malformed("the padding of the OpenSSH key file is damaged"));
    }
    Ok(OpensshKey { public: public.clone(), material, comment })
}

/// Reads the public key, then the seed, then the public key again.
fn ed25519(fields: &mut Fields<'_>, public: &SshPublic) -> Result<Secret, Trouble> {
    let known = public.raw().ok_or(DIFFERENT)?;
    same(fields.string()?, known)?;
    let (seed, again) = fields.string()?.split_first_chunk::<32>().ok_or(Trouble::Malformed(DAMAGED))?;
    same(again, known)?;
    // Signing with a public key that does not belong to the seed can reveal the private key.
    Ed25519KeyPair::from_seed_and_public_key(seed, known).map_err(|_| DIFFERENT)?;
    Ok(Secret::copy_of(seed))
}

/// Reads the public key, then both seeds. The public key must belong to the seeds.
fn composite(fields: &mut Fields<'_>, public: &SshPublic) -> Result<Secret, Trouble> {
    same(fields.string()?, public.raw().ok_or(DIFFERENT)?)?;
    let seeds = Secret::copy_of(fields.string()?);
    let key = SigningKey::from_seed(Scheme::MlDsa44Ed25519, &seeds).map_err(|_| Trouble::Malformed(DAMAGED))?;
    same(key.public().as_bytes(), public.raw().ok_or(DIFFERENT)?)?;
    Ok(seeds)
}

/// Reads the numbers n, e, d, q⁻¹ mod p, p and q of an RSA key.
fn rsa(fields: &mut Fields<'_>, public: &SshPublic) -> Result<RsaParts, Trouble> {
    let (modulus, exponent) = public.rsa().ok_or(DIFFERENT)?;
    same(fields.big()?, modulus)?;
    same(fields.big()?, exponent)?;
    let [d, q_inverse, p, q] = [fields.big()?, fields.big()?, fields.big()?, fields.big()?];
    let longest = modulus.len();
    if d.len() > longest || q_inverse.len() > p.len() || p.len() >= longest || q.len() >= longest {
        return Err(DIFFERENT);
    }
    let product = product(p, q);
    let zeros = product.len().checked_sub(longest).ok_or(DIFFERENT)?;
    let (zeros, number) = product.split_at(zeros);
    if !(zeros.ct_eq(&vec![0; zeros.len()]) & number.ct_eq(modulus)).declassify() {
        return Err(DIFFERENT);
    }
    let [d, p, q, q_inverse] = [d, p, q, q_inverse].map(Secret::copy_of);
    Ok(RsaParts { d, p, q, q_inverse })
}

/// Returns the product of two big-endian numbers, with leading zeros. May leak: the lengths of the numbers.
fn product(one: &[u8], other: &[u8]) -> Secret {
    let mut product = Secret::zeroed(one.len() + other.len());
    for (place, digit) in one.iter().enumerate().rev() {
        let mut carry = 0;
        for (at, by) in other.iter().enumerate().rev() {
            let target = &mut product[place + at + 1];
            let sum = u32::from(*target) + u32::from(*digit) * u32::from(*by) + carry;
            *target = sum as u8;
            carry = sum >> 8;
        }
        product[place] = carry as u8;
    }
    product
}

/// Checks that a part of the file equals the corresponding part of the public key. May leak: whether the parts are
/// equal.
fn same(part: &[u8], known: &[u8]) -> Result<(), Trouble> {
    if part.len() == known.len() && part.ct_eq(known).declassify() { Ok(()) } else { Err(DIFFERENT) }
}
