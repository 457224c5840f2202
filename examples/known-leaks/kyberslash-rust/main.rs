//! Decapsulates valid ciphertexts of Kyber-512. Each ciphertext contains a different secret message.

use std::process::ExitCode;

use kyber::{KYBER_CIPHERTEXTBYTES, decapsulate, encapsulate, keypair};
use rand_core::{CryptoRng, Error, RngCore};

use deadpan_lab::{Random, Target};

fn main() -> ExitCode {
    let keys = keypair(&mut Dice(&mut Random::new(7)));
    known_leaks_judge::judge(
        Target::new("decapsulation", KYBER_CIPHERTEXTBYTES, move |ciphertext| decapsulate(ciphertext, &keys.secret))
            .class("honest", move |random, ciphertext| {
                let made = encapsulate(&keys.public, &mut Dice(random)).expect("a public key");
                ciphertext.copy_from_slice(&made.0);
            }),
    )
}

/// Makes the lab's random numbers available to Kyber.
struct Dice<'r>(&'r mut Random);

impl CryptoRng for Dice<'_> {}

impl RngCore for Dice<'_> {
    fn next_u32(&mut self) -> u32 {
        self.0.bits() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0.bits()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}
