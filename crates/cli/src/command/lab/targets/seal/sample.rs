//! A key file whose passphrase is hashed with a single iteration, and the offsets of the bytes that an attacker can
//! change. OpenSSL 3.0 made the key file (`openssl pkcs8 -topk8 -iter 1`). In CBC mode, a bit flipped in one block of
//! the ciphertext flips the same bit of the next block of the plaintext.

/// The passphrase of the key file.
pub(super) const PASSPHRASE: &[u8; 16] = b"straight-face-ok";
/// The offset of the IV. A change of the IV changes the ASN.1 head of the key: `SEQUENCE`, then its length.
pub(super) const FRAME: usize = 75;
/// The offset of the ciphertext block before the padding: a change of this block changes the padding. The padding is
/// sixteen bytes of value 16.
pub(super) const PADDING: usize = 125;
/// The length of a block in bytes.
pub(super) const BLOCK: usize = 16;

/// An `EncryptedPrivateKeyInfo`: PBKDF2 with HMAC-SHA-256 and one iteration, AES-256-CBC, and an X25519 key whose bytes
/// are all 9.
pub(super) const ENCRYPTED: [u8; 157] = *b"\
    \x30\x81\x9a\x30\x56\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d\x30\x49\x30\x28\x06\x09\x2a\x86\
    \x48\x86\xf7\x0d\x01\x05\x0c\x30\x1b\x04\x08\xae\xac\x85\x97\xd4\xbb\x8b\x2c\x02\x01\x01\x30\x0c\
    \x06\x08\x2a\x86\x48\x86\xf7\x0d\x02\x09\x05\x00\x30\x1d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x01\
    \x2a\x04\x10\xe3\xad\xd5\xec\x71\xf0\x2d\x1f\xa5\xde\x9b\x14\x39\xc9\x18\xf5\x04\x40\xfc\x13\x17\
    \xf0\x17\x33\x19\xcc\x17\x8b\x0a\x8f\x82\x13\xdf\x93\x21\x15\x9c\x76\x9c\xbe\x36\x0e\x24\xe8\xef\
    \xd3\xa4\x9d\x85\x50\x62\xaa\x43\xac\xd0\xed\xcf\x98\x90\x4c\xa5\x64\x46\x17\xe4\x55\x41\x17\xe7\
    \x9c\xd6\x00\x36\xe9\xf4\x23\x16\xb3\x43\x1e\xb6\x1e";
