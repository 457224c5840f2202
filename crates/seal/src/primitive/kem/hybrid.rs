//! Hybrids of ML-KEM and a curve: the `CG` construction of draft-irtf-cfrg-hybrid-kems with the instances of
//! draft-irtf-cfrg-concrete-hybrid-kems. MLKEM768-X25519 is X-Wing (draft-connolly-cfrg-xwing-kem).
//!
//! The shared secret is a hash over the secrets of both halves, the curve's ephemeral public key and the recipient's
//! public key for the curve. ML-KEM's ciphertext and key are not hashed, because ML-KEM's secret already binds the
//! ciphertext and the key.

use super::dh::{Curve, DhScalar, SMALL_ORDER};
use crate::primitive::imp::keccak;
use crate::primitive::imp::ml_kem::{MlKemKey, MlKemSet};
use crate::{Error, Secret};
use deadpan_ct::Wiped;

/// Expands a seed to the private keys of both halves (`expandDecapsKeyG`). Returns `None` if the expanded seed contains
/// no scalar; the probability of this is below 2^-96. May leak: whether the result is `None`.
pub(super) fn expand(set: MlKemSet, curve: Curve, seed: &[u8]) -> Result<Option<(MlKemKey, DhScalar)>, Error> {
    let mut long = Wiped::new([0; 64 + Curve::P256.sample_len()]);
    let long = &mut long[..64 + curve.sample_len()];
    keccak::shake256(seed, long)?;
    let (lattice, scalar) = long.split_at(64);
    let Some(lattice) = lattice.as_array() else { return Ok(None) };
    let Some(scalar) = DhScalar::sample(curve, scalar)? else { return Ok(None) };
    Ok(Some((MlKemKey::from_seed(set, lattice)?, scalar)))
}

/// Encapsulates with a given ephemeral scalar and a given ML-KEM part: `Encaps` of the draft.
pub(super) fn encapsulate(
    label: &[u8],
    curve: Curve,
    point: &[u8],
    ephemeral: &DhScalar,
    set: MlKemSet,
    lattice: impl FnOnce(&mut [u8], &mut [u8; 32]) -> Result<(), Error>,
) -> Result<(Vec<u8>, Secret), Error> {
    let mut enc = vec![0; set.ciphertext_len() + curve.point_len()];
    let (ciphertext, sent) = enc.split_at_mut(set.ciphertext_len());
    let mut secrets = HybridSecrets::default();
    lattice(ciphertext, &mut secrets.lattice)?;
    ephemeral.public(sent)?;
    if !ephemeral.multiply(point, &mut secrets.curve)? {
        return Err(SMALL_ORDER);
    }
    let shared = secrets.combine(sent, point, label)?;
    Ok((enc, shared))
}

/// Decapsulates: `Decaps` of the draft. `enc` must have the right length. Returns `None` if the point in `enc` is not
/// valid. May leak: whether the result is `None`.
///
/// As in RFC 9180's DHKEM, a point of small order is not valid. A point whose encoding is not canonical is also not
/// valid. Correct writers never send points of small order, or points that are not in canonical form.
pub(super) fn decapsulate(
    label: &[u8],
    key: &MlKemKey,
    scalar: &DhScalar,
    point: &[u8],
    enc: &[u8],
) -> Result<Option<Secret>, Error> {
    let (ciphertext, sent) = enc.split_at(key.set().ciphertext_len());
    let mut secrets = HybridSecrets::default();
    if !scalar.curve().is_canonical(sent) || !scalar.multiply(sent, &mut secrets.curve)? {
        return Ok(None);
    }
    key.decapsulate(ciphertext, &mut secrets.lattice)?;
    secrets.combine(sent, point, label).map(Some)
}

/// Returns a secret of 32 bytes as a mutable array.
pub(super) fn whole(secret: &mut Secret) -> Result<&mut [u8; 32], Error> {
    secret.as_mut_array().ok_or(Error::System("a secret has the wrong length"))
}

/// The length of the longest label.
const LABEL: usize = 13;

/// The secrets of both halves.
#[derive(Default)]
struct HybridSecrets {
    lattice: Wiped<[u8; 32]>,
    curve: Wiped<[u8; 32]>,
}

impl HybridSecrets {
    /// Combines the secrets: `C2PRICombiner` with SHA3-256.
    fn combine(&self, sent: &[u8], point: &[u8], label: &[u8]) -> Result<Secret, Error> {
        let mut input = Wiped::new([0; 32 + 32 + 2 * Curve::P256.point_len() + LABEL]);
        let mut length = 0;
        for part in [&self.lattice[..], &self.curve[..], sent, point, label] {
            input[length..][..part.len()].copy_from_slice(part);
            length += part.len();
        }
        let mut shared = Secret::zeroed(32);
        keccak::sha3_256(&input[..length], whole(&mut shared)?)?;
        Ok(shared)
    }
}
