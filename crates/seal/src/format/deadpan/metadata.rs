//! The metadata: the name, the time and the mode that are sealed with the data.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::format::deadpan::file_key::FileKey;
use crate::primitive::entropy::Entropy;
use crate::{Error, Secret};

const NONCE: usize = 12;
const TAG: usize = 16;
/// The length of a metadata box is rounded up to a multiple of this number, so that boxes with names of different
/// lengths look alike.
const STEP: usize = 256;
/// The length of the shortest box.
pub(crate) const SHORTEST: usize = NONCE + STEP + TAG;
const LONGEST_NAME: usize = 4096;
/// The maximum number of bytes in the fields of the metadata box.
pub(crate) const LONGEST_FIELDS: usize = 3 + 12 + 2 + 2 + LONGEST_NAME + 1;
const LONGEST: usize = NONCE + LONGEST_FIELDS.next_multiple_of(STEP) + TAG;

const TIME: u8 = 1;
const MODE: u8 = 2;
const NAME: u8 = 4;
const COMPRESSION: u8 = 8;

/// The only compression: Zstandard in frames of 4 MiB.
const ZSTANDARD: u8 = 1;

/// The kind of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Bytes that do not come from a file, for example bytes from a pipe.
    #[default]
    Bytes,
    /// The contents of a file.
    File,
    /// A folder, as a tar stream.
    Folder,
}

/// The name, the time and the mode of the sealed file or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The kind of the data.
    pub kind: Kind,
    /// The last component of the path, as bytes in the system's encoding. The name never contains `/` or `\`, and is
    /// never `.` or `..`. The program that uses the name must still refuse other names that its system forbids (on
    /// Windows, `C:x` leads to another folder). It must also escape characters that a terminal would interpret as
    /// commands.
    pub name: Option<Vec<u8>>,
    /// The time at which the file was last changed.
    pub modified: Option<SystemTime>,
    /// The permission bits, 0 to 0o7777.
    pub mode: Option<u32>,
}

/// The contents of the metadata box: the metadata that users see, and whether the data are padded or compressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) metadata: Metadata,
    /// The sealed time, in an opened file: seconds since 1970, and nanoseconds. A `SystemTime` of Windows has steps of
    /// 100 nanoseconds and ends in the year 30828, and signatures are about the fields as they were sealed.
    pub(crate) time: Option<(i64, u32)>,
    pub(crate) padded: bool,
    pub(crate) compressed: bool,
}

pub(crate) fn is_box_length(length: usize) -> bool {
    (SHORTEST..=LONGEST).contains(&length) && (length - NONCE - TAG).is_multiple_of(STEP)
}

fn is_name(name: &[u8]) -> bool {
    let allowed = |byte: &u8| !matches!(byte, b'/' | b'\\' | 0);
    (1..=LONGEST_NAME).contains(&name.len()) && name.iter().all(allowed) && name != b"." && name != b".."
}

impl Metadata {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(Error::Invalid(
                "the name cannot be stored: it is longer than 4096 bytes, or has a separator in it",
            ));
        }
        if self.mode.is_some_and(|mode| mode > 0o7777) {
            return Err(Error::Invalid("the mode has more than permission bits"));
        }
        Ok(())
    }
}

impl Contents {
    /// Returns the bytes of the fields, without the zeros after the fields.
    pub(crate) fn fields(&self) -> Vec<u8> {
        self.encode()[..self.length()].to_vec()
    }

    fn time(&self) -> Option<(i64, u32)> {
        self.time.or_else(|| self.metadata.modified.map(since_epoch))
    }

    fn length(&self) -> usize {
        let Metadata { name, mode, .. } = &self.metadata;
        let name = name.as_ref().map_or(0, |name| 2 + name.len());
        3 + self.time().map_or(0, |_| 12) + mode.map_or(0, |_| 2) + name + usize::from(self.compressed)
    }

    fn encode(&self) -> Secret {
        let Metadata { kind, name, mode, .. } = &self.metadata;
        let time = self.time();
        let present = if time.is_some() { TIME } else { 0 }
            | if mode.is_some() { MODE } else { 0 }
            | if name.is_some() { NAME } else { 0 }
            | if self.compressed { COMPRESSION } else { 0 };
        let mut bytes = Secret::zeroed(self.length().next_multiple_of(STEP));
        let mut rest = &mut bytes[..];
        let mut put =
            |bytes: &[u8]| rest.split_off_mut(..bytes.len()).expect("room was counted").copy_from_slice(bytes);
        put(&[*kind as u8, self.padded.into(), present]);
        if let Some((seconds, nanoseconds)) = time {
            put(&seconds.to_be_bytes());
            put(&nanoseconds.to_be_bytes());
        }
        if let Some(mode) = mode {
            put(&(*mode as u16).to_be_bytes());
        }
        if let Some(name) = name {
            put(&(name.len() as u16).to_be_bytes());
            put(name);
        }
        if self.compressed {
            put(&[ZSTANDARD]);
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut rest = bytes;
        let mut take = |length: usize| rest.split_off(..length).ok_or(Error::Header("the metadata"));
        let mut number =
            |length| take(length).map(|bytes| bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)));
        let kind = match number(1)? {
            0 => Kind::Bytes,
            1 => Kind::File,
            2 => Kind::Folder,
            _ => return Err(Error::Newer("an unknown kind of contents")),
        };
        let padded = match number(1)? {
            0 => false,
            1 => true,
            _ => return Err(Error::Newer("an unknown padding")),
        };
        let present = number(1)? as u8;
        if present > TIME | MODE | NAME | COMPRESSION {
            return Err(Error::Newer("an unknown field of the metadata"));
        }
        let time = if present & TIME == 0 { None } else { Some((number(8)? as i64, number(4)? as u32)) };
        if time.is_some_and(|(_, nanoseconds)| nanoseconds >= 1_000_000_000) {
            return Err(Error::Header("the time in the metadata"));
        }
        let modified = time.and_then(from_epoch);
        let mode = if present & MODE == 0 { None } else { Some(number(2)? as u32) };
        let length = if present & NAME == 0 { None } else { Some(number(2)? as usize) };
        let name = length.map(|length| take(length).map(<[u8]>::to_vec)).transpose()?;
        let compressed = present & COMPRESSION != 0;
        if compressed && take(1)? != [ZSTANDARD] {
            return Err(Error::Newer("an unknown compression"));
        }
        let bad = mode.is_some_and(|mode| mode > 0o7777) || name.as_ref().is_some_and(|name| !is_name(name));
        let shortest = (bytes.len() - rest.len()).next_multiple_of(STEP) == bytes.len();
        if bad || !shortest || rest.iter().any(|byte| *byte != 0) {
            return Err(Error::Header("the metadata"));
        }
        Ok(Self { metadata: Metadata { kind, name, modified, mode }, time, padded, compressed })
    }

    /// Seals the contents. Returns the IV, the ciphertext and the tag.
    pub(crate) fn seal(&self, key: &FileKey, entropy: Entropy) -> Result<Vec<u8>, Error> {
        let plain = self.encode();
        let mut sealed = vec![0; NONCE + plain.len() + TAG];
        let (nonce, rest) = sealed.split_at_mut(NONCE);
        let (output, tag) = rest.split_at_mut(plain.len());
        entropy.fill("metadata IV", 0, nonce)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::System("no cipher"))?;
        let done =
            cipher(key)?.seal_out_of_place_scatter(nonce, Aad::from(*key.preamble().bytes()), &plain, output, &[], tag);
        done.map_err(|_| Error::System("sealing failed"))?;
        Ok(sealed)
    }

    /// Opens the box of a header. The header's MAC must already be checked.
    pub(crate) fn open(key: &FileKey, sealed: &[u8]) -> Result<Self, Error> {
        let (nonce, rest) = sealed.split_at(NONCE);
        let (input, tag) = rest.split_at(rest.len() - TAG);
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::Truncated)?;
        let mut plain = Secret::zeroed(input.len());
        let opened =
            cipher(key)?.open_separate_gather(nonce, Aad::from(*key.preamble().bytes()), input, tag, &mut plain);
        opened.map_err(|_| Error::HeaderForged)?;
        Self::decode(&plain)
    }
}

fn cipher(key: &FileKey) -> Result<LessSafeKey, Error> {
    let key = UnboundKey::new(&AES_256_GCM, &key.metadata_key()?).map_err(|_| Error::System("no cipher"))?;
    Ok(LessSafeKey::new(key))
}

/// Returns the seconds since 1970, rounded down, and the remaining nanoseconds.
fn since_epoch(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (i64::try_from(after.as_secs()).unwrap_or(i64::MAX), after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).map_or(i64::MIN, |seconds| -seconds);
            if before.subsec_nanos() == 0 {
                (whole, 0)
            } else {
                (whole.saturating_sub(1), 1_000_000_000 - before.subsec_nanos())
            }
        }
    }
}

/// Returns `None` for a time that this system cannot express.
fn from_epoch((seconds, nanoseconds): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time?.checked_add(Duration::from_nanos(nanoseconds.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(contents: &Contents) -> Contents {
        Contents::decode(&contents.encode()).expect("it was encoded")
    }

    #[test]
    fn what_goes_in_comes_out() {
        // Times on Windows have steps of 100 nanoseconds, and begin in the year 1601.
        let (step, earliest) = if cfg!(windows) { (100, 1 << 33) } else { (1, 1 << 63) };
        let times = [
            None,
            Some(UNIX_EPOCH),
            Some(UNIX_EPOCH - Duration::new(5, step)),
            Some(UNIX_EPOCH - Duration::from_secs(earliest)),
            Some(UNIX_EPOCH + Duration::new(1 << 33, 1_000_000_000 - step)),
        ];
        for modified in times {
            for mode in [None, Some(0), Some(0o7777)] {
                for name in [None, Some(b"a".to_vec()), Some(vec![0xff; 239]), Some(vec![b'n'; LONGEST_NAME])] {
                    let metadata = Metadata { kind: Kind::File, name, modified, mode };
                    for compressed in [false, true] {
                        let time = modified.map(since_epoch);
                        let contents = Contents { metadata: metadata.clone(), time, padded: true, compressed };
                        assert_eq!(round(&contents), contents);
                    }
                }
            }
        }
        assert_eq!(round(&Contents::default()), Contents::default());
    }

    /// On Windows, a signed file did not open if its time had digits below 100 nanoseconds.
    #[test]
    fn the_fields_of_an_opened_file_are_those_that_were_sealed() {
        for time in [(1, 999_999_999), (-1, 1), (i64::MIN, 0), (i64::MAX, 999_999_999)] {
            let sealed = Contents { time: Some(time), ..Contents::default() };
            assert_eq!(round(&sealed).fields(), sealed.fields(), "{time:?}");
            assert_eq!(sealed.fields().len(), 15);
            if cfg!(unix) {
                assert_eq!(round(&sealed).metadata.modified.map(since_epoch), Some(time));
            }
        }
        let late = Contents { time: Some((1, 1_000_000_000)), ..Contents::default() };
        assert!(matches!(Contents::decode(&late.encode()), Err(Error::Header(_))));
    }

    #[test]
    fn names_of_usual_lengths_look_alike() {
        let length = |name: usize| {
            let metadata = Metadata {
                name: Some(vec![b'x'; name]),
                modified: Some(UNIX_EPOCH),
                mode: Some(0),
                ..Metadata::default()
            };
            Contents { metadata, ..Contents::default() }.encode().len()
        };
        assert_eq!((length(1), length(200), length(237), length(238)), (256, 256, 256, 512));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [&b"../x"[..], b"a/b", b"a\\b", b".", b"..", b"", b"nul\0", &[b'n'; LONGEST_NAME + 1]] {
            let metadata = Metadata { name: Some(name.to_vec()), ..Metadata::default() };
            assert!(matches!(metadata.check(), Err(Error::Invalid(_))), "{}", name.escape_ascii());
            if name.len() <= LONGEST_NAME {
                let bytes = Contents { metadata, ..Contents::default() }.encode();
                assert!(matches!(Contents::decode(&bytes), Err(Error::Header(_))), "{}", name.escape_ascii());
            }
        }
    }

    #[test]
    fn there_is_one_encoding() {
        let metadata = Metadata { mode: Some(0o644), ..Metadata::default() };
        let contents = Contents { metadata, compressed: true, ..Contents::default() };
        let bytes = contents.encode();
        let changed = |place: usize, value: u8| {
            let mut bytes = bytes.to_vec();
            bytes[place] = value;
            Contents::decode(&bytes)
        };
        assert!(matches!(changed(0, 3), Err(Error::Newer(_))));
        assert!(matches!(changed(1, 2), Err(Error::Newer(_))));
        assert!(matches!(changed(2, 16 | MODE), Err(Error::Newer(_))));
        assert!(matches!(changed(5, 0), Err(Error::Newer(_))) && matches!(changed(5, 2), Err(Error::Newer(_))));
        assert!(matches!(changed(3, 0x10), Err(Error::Header(_))), "mode");
        assert!(matches!(changed(6, 1), Err(Error::Header(_))), "zeros behind");
        assert!(
            matches!(Contents::decode(&[&bytes[..], &[0; STEP]].concat()), Err(Error::Header(_))),
            "a step too long"
        );
    }
}
