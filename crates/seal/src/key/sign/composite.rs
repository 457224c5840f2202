//! MLDSA44-Ed25519-SHA512 of draft-ietf-lamps-pq-composite-sigs: two keys make two signatures over one message.
//!
//! ```text
//! M' = "CompositeAlgorithmSignatures2025" ‖ Label ‖ len(ctx) ‖ ctx ‖ SHA-512(M)
//! signature = ML-DSA.Sign(M', ctx = Label) ‖ Ed25519.Sign(M')
//! ```
//!
//! Because of the label, one half of a composite signature is not valid as a separate signature. Keys and signatures
//! begin with the post-quantum half.

use aws_lc_rs::digest;

use crate::Error;
use crate::primitive::imp::ml_dsa::MlDsaSet;
use crate::primitive::imp::{ed25519, ml_dsa};

/// The parameter set of the post-quantum half.
pub(super) const SET: MlDsaSet = MlDsaSet::Ml44;
const PREFIX: &[u8] = b"CompositeAlgorithmSignatures2025";
const LABEL: &[u8] = b"COMPSIG-MLDSA44-Ed25519-SHA512";

/// Signs a message. May leak: the length of the message.
pub(super) fn sign(
    lattice: &ml_dsa::MlDsaKey,
    curve: &ed25519::Ed25519Key,
    message: &[u8],
    context: &[u8],
) -> Result<Vec<u8>, Error> {
    let message = representative(message, context)?;
    let mut signature = vec![0; SET.signature_len()];
    lattice.sign(&message, LABEL, &mut signature)?;
    signature.extend(curve.sign(&message)?);
    Ok(signature)
}

/// Returns whether both halves of a signature are right.
pub(super) fn verify(public: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> Result<bool, Error> {
    let Some((lattice, curve)) = public.split_at_checked(SET.public_len()) else { return Ok(false) };
    let Some((first, second)) = signature.split_at_checked(SET.signature_len()) else { return Ok(false) };
    let (Ok(curve), Ok(second)) = (curve.try_into(), second.try_into()) else { return Ok(false) };
    let message = representative(message, context)?;
    Ok(ml_dsa::verify(SET, lattice, &message, LABEL, first)? && ed25519::verify(curve, &message, second))
}

/// Returns the value M', the input that both halves of the key sign.
fn representative(message: &[u8], context: &[u8]) -> Result<Vec<u8>, Error> {
    let length = u8::try_from(context.len()).map_err(|_| Error::Invalid("a context has at most 255 bytes"))?;
    let digest = digest::digest(&digest::SHA512, message);
    Ok([PREFIX, LABEL, &[length], context, digest.as_ref()].concat())
}
