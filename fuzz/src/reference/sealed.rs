//! Writes sealed files part by part, as docs/format-seal.md specifies. Each part can be invalid although the
//! authentication code of the header is right. All files have the same file key and the same recipient, so that a test
//! takes little time.

use std::sync::OnceLock;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};

use super::padme::padme;
use deadpan_seal::{Kem, PrivateKey, hpke};

/// Signature, version and flags.
pub const PREAMBLE: [u8; 10] = *b"\x89DPN\r\n\x1a\n\x01\0";
/// The length of a header without recipients and metadata: the preamble, two length fields, a count and the
/// authentication code.
pub const AROUND: usize = 10 + 4 + 2 + 4 + MAC;
const MAC: usize = 32;
const FILE_KEY: [u8; 32] = [7; 32];

/// Returns the identity that opens the files.
pub fn identity() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::from_seed(Kem::X25519, &[9; 32]).expect("a scalar"))
}

/// Returns the type and the body of the recipient entry that [`identity`] opens.
pub fn recipient() -> (u16, &'static [u8]) {
    static BODY: OnceLock<Vec<u8>> = OnceLock::new();
    (0x20, BODY.get_or_init(|| body(&PREAMBLE)))
}

/// Returns the body of the recipient entry for [`identity`] in a file with this preamble.
pub(super) fn body(preamble: &[u8; 10]) -> Vec<u8> {
    let info = [&b"deadpan v1 recipient"[..], preamble].concat();
    let (enc, sealed) = hpke::seal(identity().public(), &info, b"", &FILE_KEY).expect("a recipient");
    [enc, sealed].concat()
}

/// Returns the key that is derived for the purpose `label` in a file with this preamble.
pub(super) fn derive(preamble: &[u8; 10], label: &str) -> [u8; 32] {
    let mut key = [0; 32];
    let extracted = hkdf::Salt::new(hkdf::HKDF_SHA256, preamble).extract(&FILE_KEY);
    let label = [label.as_bytes()];
    let expanded = extracted.expand(&label, hkdf::HKDF_SHA256).expect("a short key");
    expanded.fill(&mut key).expect("as long as the hash");
    key
}

/// Returns the key that seals the payload.
#[must_use]
pub fn floe_key() -> [u8; 32] {
    derive(&PREAMBLE, "deadpan v1 payload")
}

/// Makes a metadata box of any length.
#[must_use]
pub fn metadata_box(plain: &[u8]) -> Vec<u8> {
    seal(&PREAMBLE, "deadpan v1 metadata", b"", plain)
}

/// Seals data with AES-GCM. Returns the IV, the ciphertext and the tag. The associated data are the preamble, followed
/// by `about`.
pub(super) fn seal(preamble: &[u8; 10], label: &str, about: &[u8], plain: &[u8]) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &derive(preamble, label)).expect("a key"));
    let nonce = [3; 12];
    let (mut sealed, aad) = (plain.to_vec(), Aad::from([preamble, about].concat()));
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).expect("sealed");
    [&nonce[..], &sealed].concat()
}

pub(super) fn code(preamble: &[u8; 10], label: &str, bytes: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &derive(preamble, label)), bytes).as_ref().to_vec()
}

/// Makes a header of these parts, with the right authentication code. `lie` is added to the length in the header, and
/// `miscount` is added to the number of recipients.
#[must_use]
pub fn header(recipients: &[(u16, Vec<u8>)], metadata: &[u8], slack: &[u8], lie: i32, miscount: i16) -> Vec<u8> {
    header_after(&PREAMBLE, recipients, metadata, slack, lie, miscount)
}

/// Makes the same header as [`header`], with the given preamble.
pub(super) fn header_after(
    preamble: &[u8; 10],
    recipients: &[(u16, Vec<u8>)],
    metadata: &[u8],
    slack: &[u8],
    lie: i32,
    miscount: i16,
) -> Vec<u8> {
    let entries: Vec<u8> = recipients
        .iter()
        .flat_map(|(kind, body)| [&kind.to_be_bytes()[..], &(body.len() as u16).to_be_bytes(), body].concat())
        .collect();
    let length = (AROUND + entries.len() + metadata.len() + slack.len()) as i32 + lie;
    let count = (recipients.len() as u16).wrapping_add_signed(miscount);
    let mut header = preamble.to_vec();
    header.extend_from_slice(&length.to_be_bytes());
    header.extend_from_slice(&count.to_be_bytes());
    header.extend_from_slice(&entries);
    header.extend_from_slice(&(metadata.len() as u32).to_be_bytes());
    header.extend_from_slice(metadata);
    header.extend_from_slice(slack);
    header.extend(code(preamble, "deadpan v1 header", &header));
    header
}

/// Metadata: the kind of the data, whether they are padded, seconds and nanoseconds, mode, and name. There is no field
/// for the compression.
#[derive(Debug, PartialEq, Eq)]
pub struct Metadata {
    /// 0 bytes, 1 file, 2 folder.
    pub kind: u8,
    /// Whether padding follows the data.
    pub padded: bool,
    /// Seconds since 1970 and nanoseconds.
    pub time: Option<(i64, u32)>,
    /// Permission bits.
    pub mode: Option<u16>,
    /// The last component of a path.
    pub name: Option<Vec<u8>>,
}

impl Metadata {
    /// Reads the plaintext of a metadata box, if it is valid.
    #[must_use]
    pub fn read(mut plain: &[u8]) -> Option<Self> {
        let all = plain.len();
        let mut take = |length: usize| plain.split_off(..length);
        let [kind, padding, present] = *take(3)? else { return None };
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let time = if present & 1 == 0 { None } else { Some((number(take(8)?) as i64, number(take(4)?) as u32)) };
        let mode = if present & 2 == 0 { None } else { Some(number(take(2)?) as u16) };
        let name = if present & 4 == 0 {
            None
        } else {
            let length = number(take(2)?) as usize;
            Some(take(length)?.to_vec())
        };
        // The only compression is Zstandard.
        let known = present & 8 == 0 || take(1)? == [1];
        // The time type of the system can hold every number of seconds. The nanoseconds must be less than a second.
        let good = kind <= 2
            && padding <= 1
            && present <= 15
            && known
            && time.is_none_or(|(_, nanoseconds)| nanoseconds < 1_000_000_000)
            && mode.is_none_or(|mode| mode <= 0o7777)
            && name.as_deref().is_none_or(is_name)
            && (all - plain.len()).next_multiple_of(256) == all
            && plain.iter().all(|byte| *byte == 0);
        good.then_some(Self { kind, padded: padding == 1, time, mode, name })
    }
}

fn is_name(name: &[u8]) -> bool {
    let long = name.is_empty() || name.len() > 4096;
    !long && name != b"." && name != b".." && !name.iter().any(|byte| [b'/', b'\\', 0].contains(byte))
}

/// Returns the data without their padding, if the padding is valid.
#[must_use]
pub fn unpadded(padded: &[u8]) -> Option<&[u8]> {
    let mut length = padded.len();
    while length > 0 && padded[length - 1] == 0 {
        length -= 1;
    }
    if length == 0 || padded[length - 1] != 0x80 {
        return None;
    }
    (padme(length as u64) == Some(padded.len() as u64)).then_some(&padded[..length - 1])
}
