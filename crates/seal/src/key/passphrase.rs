//! Passphrases, and the cost of deriving keys from passphrases.

pub(crate) mod form;

use crate::primitive::argon2::{self, HashInput};
use crate::{Cost, Error, MaxCost, Secret};
use form::Form;

/// A passphrase, with a limit on the cost of trying it on a file. The passphrase consists of the bytes that the user
/// typed.
///
/// Sealing uses the Unicode NFC form of the passphrase. Opening tries the bytes as typed, then the NFC form, then the
/// NFD form, if these forms differ. Systems encode the same typed letters as different bytes, and a passphrase should
/// open a file on any system. Bytes that are not UTF-8 are used unchanged.
#[derive(Clone, Debug)]
pub struct Passphrase {
    bytes: Secret,
    max_cost: MaxCost,
}

impl Passphrase {
    /// Copies the bytes of a typed passphrase. The limit is [`MaxCost::default`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self { bytes: Secret::copy_of(bytes), max_cost: MaxCost::default() }
    }

    /// Returns the passphrase with another limit. Opening refuses a file with a higher cost: it returns
    /// [`Error::TooCostly`] before it computes any hash. Sealing ignores the limit.
    #[must_use]
    pub fn with_max_cost(mut self, max: MaxCost) -> Self {
        self.max_cost = max;
        self
    }

    /// Returns the bytes that were typed.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn max_cost(&self) -> MaxCost {
        self.max_cost
    }

    /// Checks the passphrase and a cost before sealing: the passphrase is not empty, and the cost is within the bounds
    /// of the format.
    pub(crate) fn check(&self, cost: Cost) -> Result<(), Error> {
        if self.bytes.is_empty() {
            return Err(Error::EmptyPassphrase);
        }
        cost.check().map_err(|_| Error::Invalid("the passphrase's parameters are out of bounds"))
    }

    /// Derives `length` bytes with Argon2id from the passphrase, in the Unicode form that sealing uses. May leak: the
    /// same information as sealing with a passphrase; see [`Sealing`](crate::Sealing).
    ///
    /// # Errors
    /// [`Error::EmptyPassphrase`] if the passphrase is empty; [`Error::Invalid`] if the cost is out of bounds, or
    /// `length` is less than 4; [`Error::System`] if there is not enough memory.
    pub fn derive(&self, cost: Cost, salt: &[u8; 16], length: usize) -> Result<Secret, Error> {
        self.check(cost)?;
        let mut derived = Secret::zeroed(length);
        self.in_form(Form::Composed).stretch(cost, salt, &mut derived)?;
        Ok(derived)
    }

    /// Derives `length` bytes with Argon2id from each Unicode form of the passphrase, and calls `open` with the bytes.
    /// Stops when `open` returns a value. Each form costs one Argon2id hash. May leak: the same information as opening
    /// a file with a passphrase.
    ///
    /// # Errors
    /// [`Error::TooCostly`] if the cost is above the limit of the passphrase, and the errors of [`Passphrase::derive`].
    pub fn try_derived<T>(
        &self,
        cost: Cost,
        salt: &[u8; 16],
        length: usize,
        mut open: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.check(cost)?;
        self.max_cost.check(cost)?;
        for form in self.forms() {
            let mut derived = Secret::zeroed(length);
            self.in_form(form).stretch(cost, salt, &mut derived)?;
            if let Some(opened) = open(&derived) {
                return Ok(Some(opened));
            }
        }
        Ok(None)
    }

    /// Fills `output` with the Argon2id hash of the passphrase, on as many cores as there are lanes. May leak: the
    /// length of the passphrase. After the first half of the first pass, the memory addresses also leak information
    /// about the passphrase. Argon2id accepts this leak, because these addresses make the hash hard to compute on
    /// special hardware.
    pub(crate) fn stretch(&self, cost: Cost, salt: &[u8; 16], output: &mut [u8]) -> Result<(), Error> {
        argon2::hash(cost, HashInput { password: &self.bytes, salt, ..HashInput::default() }, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_bytes_are_found_again_in_any_form() {
        let cost = Cost { memory: 8, passes: 1, lanes: 1 };
        let (composed, decomposed) = (Passphrase::new("caf\u{e9}".as_bytes()), Passphrase::new(b"cafe\xcc\x81"));
        let derived = decomposed.derive(cost, &[7; 16], 32).expect("derived");
        assert!(derived.same(&composed.derive(cost, &[7; 16], 32).expect("derived")));
        assert!(!derived.same(&composed.derive(cost, &[8; 16], 32).expect("derived")));
        let same = |bytes: &[u8]| derived.same(bytes).then_some("open");
        for passphrase in [composed, decomposed] {
            assert_eq!(passphrase.try_derived(cost, &[7; 16], 32, same).expect("tried"), Some("open"));
        }
        let other = Passphrase::new(b"cafe");
        assert_eq!(other.try_derived(cost, &[7; 16], 32, same).expect("tried"), None);
        let dear = Cost { memory: 4 << 20, passes: 4, lanes: 4 };
        assert!(matches!(other.try_derived(dear, &[7; 16], 32, same), Err(Error::TooCostly(_))));
        assert!(matches!(Passphrase::new(b"").derive(cost, &[7; 16], 32), Err(Error::EmptyPassphrase)));
    }

    /// RFC 9106 has no example without a secret and associated data. The reference implementation made this example:
    /// `echo -n password | argon2 somesalt12345678 -id -t 2 -k 1024 -p 4 -l 32 -r`.
    #[test]
    fn argon2id_is_argon2id() {
        let mut output = [0; 32];
        let cost = Cost { memory: 1024, passes: 2, lanes: 4 };
        Passphrase::new(b"password").stretch(cost, b"somesalt12345678", &mut output).expect("hashed");
        let expected = "6db6a1f07eea1d3da633c9e75b5a95f531ced83eef78ddb69c660a6dd5370e3f";
        assert_eq!(deadpan_base64::hex::encode(&output), expected);
    }
}
