//! Targets that read keys from files, and that open messages with keys.

use super::sample::{BLOCK, ENCRYPTED, FRAME, PADDING, PASSPHRASE};
use super::{TAG, flaw};
use deadpan_base64::pem;
use deadpan_lab::{Random, Target};
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Kem, Passphrase, PrivateKey, hpke};

/// The bytes of an X25519 key in PKCS#8 before the scalar.
pub(super) const PKCS8: &[u8; 16] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20";

/// Returns the target that reads a private key from PEM and computes its public key.
pub(super) fn pem_private() -> Target {
    let text = |scalar: &[u8]| pem::encode("PRIVATE KEY", &[PKCS8, scalar].concat()).expect("a label");
    let length = text(&[0; 32]).len();
    let put = move |scalar: &[u8], input: &mut [u8]| input.copy_from_slice(text(scalar).as_bytes());
    Target::new("seal.pem.private", length, |input| key::read(input).map(|found| found.len()))
        .class("zeros", move |_, input| put(&[0; 32], input))
        .class("ones", move |_, input| put(&[0xff; 32], input))
        .class("random", move |random, input| {
            let mut scalar = [0; 32];
            random.fill(&mut scalar);
            put(&scalar, input);
        })
        .pair("zeros", "random")
}

/// Returns the target that tries to unlock a protected key and fails. Either the passphrase is wrong, or a change of
/// the ciphertext damages the padding, the ASN.1 head before the key, or both. The error is the same in all cases, so
/// the time must be the same. An input contains a passphrase and then the key file.
pub(super) fn pbes2_unpad() -> Target {
    let text = |der: &[u8]| pem::encode("ENCRYPTED PRIVATE KEY", der).expect("a label").into_bytes();
    let target = Target::new("seal.pbes2.unpad", BLOCK + text(&ENCRYPTED).len(), |input| {
        let (passphrase, text) = input.split_at(BLOCK);
        let found = key::read(text);
        let Ok([Found::Protected(protected)]) = found.as_deref() else { return false };
        protected.unlock(&Passphrase::new(passphrase)).is_ok()
    });
    let changed = |change: fn(&mut Random, &mut [u8; 157])| {
        move |random: &mut Random, input: &mut [u8]| {
            let mut der = ENCRYPTED;
            change(random, &mut der);
            input[..BLOCK].copy_from_slice(PASSPHRASE);
            input[BLOCK..].copy_from_slice(&text(&der));
        }
    };
    target
        .class("another passphrase", move |random, input| {
            random.fill(&mut input[..BLOCK]);
            // All passphrases are ASCII, because the time may show whether a passphrase is ASCII: for other
            // passphrases, up to three Unicode forms are tried.
            input[..BLOCK].iter_mut().for_each(|byte| *byte &= 0x7f);
            input[BLOCK..].copy_from_slice(&text(&ENCRYPTED));
        })
        .class("first byte of the padding wrong", changed(|random, der| der[PADDING] ^= flaw(random)))
        // If the highest bit of the last byte is flipped, the byte is not a valid padding length.
        .class("last byte of the padding wrong", changed(|random, der| der[PADDING + BLOCK - 1] ^= 0x80 | flaw(random)))
        .class("a padding of one byte", changed(|_, der| der[PADDING + BLOCK - 1] ^= 16 ^ 1))
        .class("no sequence", changed(|random, der| der[FRAME] ^= flaw(random)))
        .class("a longer sequence", changed(|_, der| der[FRAME + 1] ^= 0x2e ^ 0x3d))
        .class(
            "a longer sequence and its padding wrong",
            changed(|random, der| {
                der[FRAME + 1] ^= 0x2e ^ 0x3d;
                der[PADDING] ^= flaw(random);
            }),
        )
        .pair("first byte of the padding wrong", "no sequence")
}

/// Returns a target that creates a key from a scalar and tries to open a message that is sealed to another key.
fn another_key(name: &str, kem: Kem) -> Target {
    let other = PrivateKey::from_seed(kem, &[9; 32]).expect("a scalar");
    let (enc, sealed) = hpke::seal(other.public(), b"", b"", &[0; TAG]).expect("a recipient");
    let target = Target::new(name, 32, move |input| {
        let key = PrivateKey::from_seed(kem, input)?;
        hpke::open(&key, &enc, b"", b"", &sealed).map(|opened| opened.is_some())
    });
    target
        .class("random", |random, input| random.fill(input))
        .class("zeros in front", |random, input| {
            random.fill(input);
            input[..16].fill(0);
        })
        .class("zeros behind", |random, input| {
            random.fill(input);
            input[16..].fill(0);
        })
}

pub(super) fn x25519() -> Target {
    another_key("seal.key.x25519", Kem::X25519)
        .class("zeros", |_, input| input.fill(0))
        .class("ones", |_, input| input.fill(0xff))
        .pair("random", "zeros in front")
}

pub(super) fn p256() -> Target {
    another_key("seal.key.p256", Kem::P256).pair("random", "zeros in front")
}

/// Returns a target that tries to open messages and fails. Either the ciphertext is wrong, or the encapsulated secret
/// is wrong. For a wrong encapsulated secret, ML-KEM returns another secret without an error. An input contains the
/// encapsulated secret and then the ciphertext.
fn rejecting(name: &str, kem: Kem) -> Target {
    const LATTICE: usize = 1088;
    let key = PrivateKey::generate(kem).expect("random bytes");
    let public = key.public().clone();
    let (enc_len, length) = (kem.enc_len(), kem.enc_len() + TAG + hpke::TAG);
    let target = Target::new(name, length, move |input| {
        let (enc, sealed) = input.split_at(enc_len);
        hpke::open(&key, enc, b"", b"", sealed).map(|opened| opened.is_some())
    });
    let changed = |place: usize| {
        let public = public.clone();
        move |random: &mut Random, input: &mut [u8]| {
            // An X25519 point is public, and the function checks whether the point is below 2^255 − 19. The check of an
            // X25519 point reads more than its last byte only if that byte is 127. Therefore the inputs of this class
            // contain no points that end with 127.
            let (enc, sealed) =
                std::iter::repeat_with(|| hpke::seal(&public, b"", b"", &[0; TAG]).expect("a recipient"))
                    .find(|(enc, _)| enc.last() != Some(&0x7f))
                    .expect("an endless iterator");
            input.copy_from_slice(&[enc, sealed].concat());
            input[place] ^= flaw(random);
        }
    };
    target
        .class("the right secret", changed(length - 1))
        .class("rejected for its first byte", changed(0))
        .class("rejected for its last byte", changed(LATTICE - 1))
        .class("rejected, random", move |random, input| {
            random.fill(&mut input[..LATTICE]);
            random.fill(&mut input[enc_len..]);
            // For kinds of keys with an elliptic curve, the point in the messages is 9: the smallest coordinate of a
            // point whose order is not small.
            input[LATTICE..enc_len].fill(0);
            input[LATTICE..enc_len].iter_mut().take(1).for_each(|byte| *byte = 9);
        })
        .pair("the right secret", "rejected for its first byte")
}

pub(super) fn xwing() -> Target {
    rejecting("seal.key.xwing", Kem::XWing)
}

pub(super) fn ml_kem_768() -> Target {
    rejecting("seal.key.ml_kem_768", Kem::MlKem768)
}
