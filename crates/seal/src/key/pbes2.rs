//! Encrypted private keys: `EncryptedPrivateKeyInfo` of RFC 5958 with PBES2 of RFC 8018.
//!
//! PBES2 has no authentication. An attacker may learn something about the key if the attacker can change a file, and
//! can repeatedly watch how the file is opened with the right passphrase. Every fault after the key derivation
//! therefore gives the same error. The reader checks the padding of the plaintext and its ASN.1 head in constant time,
//! and reports one result for both checks.

use aws_lc_rs::cipher::{DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::error::Unspecified;

use super::algorithm;
use super::cipher::{BLOCK, BlockCipher};
use super::der::{DerReader, Item, OCTET_STRING, OID, SEQUENCE};
use super::error::Trouble;
use super::kdf::Kdf;
use super::pkcs8::{self, Private};
use crate::key::passphrase::form::Form;
use crate::{Passphrase, Secret};
use deadpan_ct::{Choice, CtEq, CtOrd, declassify};
use deadpan_pad::{Padding, Scheme};

const PADDING: Padding = match Padding::new(Scheme::Pkcs7, BLOCK as u8) {
    Ok(padding) => padding,
    Err(_) => panic!("a block has bytes"),
};
/// id-PBES2, 1.2.840.113549.1.5.13.
const ID_PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];

/// An encrypted private key: the ciphertext, and the parameters for decrypting it.
pub(super) struct Sealed {
    kdf: Kdf,
    cipher: BlockCipher,
    iv: [u8; BLOCK],
    ciphertext: Vec<u8>,
}

impl Sealed {
    /// Reads an encrypted key in DER. Refuses parameters above the limits. Does not derive the key for decryption.
    pub(super) fn decode(der: &[u8]) -> Result<Self, Trouble> {
        let mut outside = DerReader::new(der);
        let mut inside = outside.sequence()?;
        outside.end()?;
        let mut algorithm = inside.sequence()?;
        let ciphertext = inside.take(OCTET_STRING)?;
        inside.end()?;
        let scheme = algorithm.oid()?;
        if scheme != ID_PBES2 {
            return Err(algorithm::old_encryption(scheme));
        }
        let mut parameters = algorithm.sequence()?;
        algorithm.end()?;
        let kdf = parameters.sequence()?;
        let (cipher, iv) = BlockCipher::decode(parameters.sequence()?)?;
        parameters.end()?;
        if ciphertext.is_empty() || ciphertext.len() % BLOCK != 0 {
            return Err(Trouble::Malformed("the encrypted part does not consist of whole blocks"));
        }
        Ok(Self { kdf: Kdf::decode(kdf, cipher)?, cipher, iv, ciphertext: ciphertext.to_vec() })
    }

    /// Encrypts a private key in DER with AES-256-CBC. The encryption key is derived by scrypt.
    pub(super) fn seal(der: &[u8], passphrase: &Passphrase) -> Result<Self, crate::Error> {
        let failed = |_: Unspecified| crate::Error::System("no encryption");
        let mut iv = [0; BLOCK];
        crate::primitive::entropy::Entropy::System.fill("iv", 0, &mut iv)?;
        let (kdf, cipher) = (Kdf::fresh()?, BlockCipher::Aes256);
        let mut padded = Secret::zeroed(PADDING.padded_len(der.len()).unwrap_or(0));
        PADDING
            .pad_into(der, &mut padded)
            .map_err(|_| crate::Error::Invalid("a key of this length cannot be protected"))?;
        let wrapping = kdf
            .derive(&passphrase.in_form(Form::Composed), cipher)
            .map_err(|_| crate::Error::System("not enough memory"))?;
        let wrapping =
            UnboundCipherKey::new(cipher.algorithm(), &wrapping).and_then(EncryptingKey::cbc).map_err(failed)?;
        let context = EncryptionContext::Iv128((&iv).into());
        wrapping.less_safe_encrypt(&mut padded, context).map_err(failed)?;
        Ok(Self { kdf, cipher, iv, ciphertext: padded.to_vec() })
    }

    /// Returns the encrypted key as DER; the function is only for keys that [`Sealed::seal`] encrypted.
    pub(super) fn encode(&self) -> Vec<u8> {
        let kdf = self.kdf.encode();
        let cipher = self.cipher.encode(&self.iv);
        let parameters = Item::Tagged(SEQUENCE, &[Item::Raw(&kdf), Item::Raw(&cipher)]);
        let algorithm = Item::Tagged(SEQUENCE, &[Item::Tagged(OID, &[Item::Raw(ID_PBES2)]), parameters]);
        Item::Tagged(SEQUENCE, &[algorithm, Item::Tagged(OCTET_STRING, &[Item::Raw(&self.ciphertext)])])
            .encode()
            .to_vec()
    }

    /// Decrypts the private key. Tries each Unicode form of the passphrase. May leak: the lengths and parameters, the
    /// length of the key, and which form of the passphrase is right, if any.
    pub(super) fn open(&self, passphrase: &Passphrase) -> Result<Private, Trouble> {
        for form in passphrase.forms() {
            match self.open_with(&passphrase.in_form(form)) {
                Err(Trouble::WrongPassphrase) => {}
                result => return result,
            }
        }
        Err(Trouble::WrongPassphrase)
    }

    fn open_with(&self, passphrase: &Passphrase) -> Result<Private, Trouble> {
        let plain = self.decrypt(passphrase)?;
        let (length, padded) = PADDING.unpad_ct(&plain);
        let (framed, whole) = frame(&plain);
        // A wrong padding and a wrong ASN.1 head give the same error: see the module's documentation.
        if !(padded & whole & framed.ct_eq(&length)).declassify() {
            return Err(Trouble::WrongPassphrase);
        }
        pkcs8::decode(&plain[..declassify(length)]).map_err(|trouble| match trouble {
            Trouble::Malformed(_) | Trouble::Limit(_) => Trouble::WrongPassphrase,
            other => other,
        })
    }

    /// Decrypts the file. Returns the plaintext with its padding. May leak: the lengths and parameters.
    fn decrypt(&self, passphrase: &Passphrase) -> Result<Secret, Trouble> {
        let failed = |_: Unspecified| Trouble::System("no decryption");
        let wrapping = self.kdf.derive(passphrase, self.cipher)?;
        let wrapping =
            UnboundCipherKey::new(self.cipher.algorithm(), &wrapping).and_then(DecryptingKey::cbc).map_err(failed)?;
        let mut plain = Secret::copy_of(&self.ciphertext);
        wrapping.decrypt(&mut plain, DecryptionContext::Iv128((&self.iv).into())).map_err(failed)?;
        Ok(plain)
    }
}

/// Returns the length of the ASN.1 sequence at the start of the plaintext, including its tag and length bytes. Also
/// returns whether the plaintext begins with a valid sequence. Leaks no information about the plaintext.
fn frame(plain: &[u8]) -> (usize, Choice) {
    let &[tag, first, second, third, ..] = plain else { return (0, Choice::FALSE) };
    let one = usize::from(second);
    let two = one << 8 | usize::from(third);
    let is_short = first.ct_lt(&0x80);
    let is_one = first.ct_eq(&0x81) & second.ct_ge(&0x80);
    let is_two = first.ct_eq(&0x82) & two.ct_ge(&0x100);
    let length = is_two.select(two + 4, is_one.select(one + 3, usize::from(first) + 2));
    (length, tag.ct_eq(&SEQUENCE) & (is_short | is_one | is_two))
}

#[cfg(test)]
mod tests;
