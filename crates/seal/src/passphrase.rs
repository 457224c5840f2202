//! Passphrases, and Argon2id, which makes keys of them.

use crate::imp::blocks::Blocks;
use crate::{Error, Secret};
use argon2::{Algorithm, Argon2, Params, Version};

/// A passphrase, as the bytes that were typed.
#[derive(Clone, Debug)]
pub struct Passphrase(Secret);

/// What one try at a passphrase costs: Argon2id's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB.
    pub memory: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes, which different cores can fill.
    pub lanes: u32,
}

impl Default for Cost {
    /// 256 MiB, three passes, four lanes: about a quarter of a second.
    fn default() -> Self {
        Self { memory: 256 << 10, passes: 3, lanes: 4 }
    }
}

impl Cost {
    /// Whether a reader should go along: 4 GiB at most, and not for longer than a few minutes.
    pub(crate) fn check(self) -> Result<(), Error> {
        let Self { memory, passes, lanes } = self;
        if !(1..=64).contains(&lanes) || memory < 8 * lanes || passes == 0 {
            return Err(Error::Header("the passphrase's parameters"));
        }
        if memory > 4 << 20 || passes > 64 || u64::from(memory) * u64::from(passes) > 16 << 20 {
            return Err(Error::Limit("memory or time for the passphrase"));
        }
        Ok(())
    }
}

impl Passphrase {
    /// From what was typed.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(Secret::copy_of(bytes))
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Argon2id, on as many cores as there are lanes. May leak: the length of the passphrase, and by way of which memory is used when, what
    /// Argon2id's second half leaks of it; that is its bargain for being hard to compute.
    pub(crate) fn stretch(&self, cost: Cost, salt: &[u8; 16], output: &mut [u8]) -> Result<(), Error> {
        cost.check()?;
        let parameters = Params::new(cost.memory, cost.passes, cost.lanes, Some(output.len()));
        let parameters = parameters.map_err(|_| Error::Invalid("Argon2 does not take these parameters"))?;
        let mut blocks = Blocks::new(parameters.block_count()).ok_or(Error::System("not enough memory for the passphrase"))?;
        Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
            .hash_password_into_with_memory(&self.0, salt, output, &mut blocks)
            .map_err(|_| Error::Invalid("Argon2 does not take this passphrase"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_allowed_and_the_excessive_is_not() {
        assert!(Cost::default().check().is_ok());
        let cost = |memory, passes, lanes| Cost { memory, passes, lanes }.check();
        assert!(cost(4 << 20, 4, 64).is_ok());
        assert!(matches!(cost(1 << 30, 1, 1), Err(Error::Limit(_))), "1 TiB");
        assert!(matches!(cost(4 << 20, 5, 1), Err(Error::Limit(_))));
        assert!(matches!(cost(64, 65, 1), Err(Error::Limit(_))));
        assert!(matches!(cost(u32::MAX, u32::MAX, u32::MAX), Err(Error::Header(_))));
        assert!(matches!(cost(8, 0, 1), Err(Error::Header(_))));
        assert!(matches!(cost(15, 1, 2), Err(Error::Header(_))));
    }

    /// RFC 9106 has no example without a secret and data; this one was made by the reference implementation's command line:
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
