//! Reads headers strictly, and writes headers.

use std::io::Read;

use super::{AgeFileKey, AgeStanza, known};
use crate::Error;
use crate::format::fill::read_full;
use deadpan_base64::STANDARD_NO_PAD;

const VERSION: &[u8] = b"age-encryption.org/v1\n";
/// The beginning of a header of any version.
const ANY_VERSION: &[u8] = b"age-encryption.org/";
/// The beginning of the last line. The MAC covers these bytes, too.
const END: &[u8] = b"---";
/// The length of the last line: the hyphens, a space, 43 symbols of base64, and a line feed.
const LAST_LINE: usize = END.len() + 1 + 43 + 1;
/// The length of the longest header that is read or written.
const LONGEST: usize = 1 << 20;

/// A header that is well formed. The contents are not trusted until the MAC is checked.
#[derive(Clone, Debug)]
pub(crate) struct AgeHeader {
    /// The stanzas, each with its kind.
    pub(crate) stanzas: Vec<(crate::Stanza, AgeStanza)>,
    /// All bytes that the MAC covers.
    bytes: Vec<u8>,
    mac: [u8; 32],
}

/// Returns whether an input that begins with these bytes is an age file, of any version.
pub(crate) fn is_age(start: &[u8]) -> bool {
    start.len() >= 4 && (start.starts_with(ANY_VERSION) || ANY_VERSION.starts_with(start))
}

impl AgeHeader {
    /// Reads a header whose first bytes are `start`, which the caller has already read. Reads no byte after the header.
    pub(crate) fn read(start: &[u8], mut input: impl Read) -> Result<Self, Error> {
        let (mut text, mut lines) = (start.to_vec(), HeaderLines::default());
        while let Some(missing) = lines.missing(&text) {
            let end = text.len();
            if end + missing > LONGEST {
                return Err(Error::Limit("a header of more than one megabyte"));
            }
            text.resize(end + missing, 0);
            if read_full(&mut input, &mut text[end..]).map_err(Error::Read)? < missing {
                return Err(Error::Truncated);
            }
        }
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut rest = text.strip_prefix(VERSION).ok_or_else(|| version_error(text))?;
        let mut stanzas = Vec::new();
        while !rest.starts_with(END) {
            let stanza = AgeStanza::read(&mut rest)?.ok_or(Error::Truncated)?;
            stanzas.push((known::kind(&stanza)?, stanza));
        }
        if stanzas.is_empty() {
            return Err(Error::Header("it has no recipients"));
        }
        if stanzas.len() > 1 && stanzas.iter().any(|(kind, _)| kind.is_passphrase()) {
            return Err(Error::Header("a passphrase beside other recipients"));
        }
        let bytes = &text[..text.len() - rest.len() + END.len()];
        let mac = rest[END.len()..].strip_prefix(b" ").and_then(|mac| mac.strip_suffix(b"\n"));
        let mac = mac.and_then(|mac| STANDARD_NO_PAD.decode(mac).ok());
        let mac = mac.and_then(|mac| mac.as_array().copied()).ok_or(Error::Header("its last line"))?;
        Ok(Self { stanzas, bytes: bytes.to_vec(), mac })
    }

    /// [`AgeHeader::read`] accepts the returned bytes.
    pub(crate) fn build(key: &AgeFileKey, stanzas: &[AgeStanza]) -> Result<Vec<u8>, Error> {
        let mut text = VERSION.to_vec();
        for stanza in stanzas {
            stanza.encode_onto(&mut text)?;
        }
        text.extend_from_slice(END);
        let mac = key.mac(&text)?;
        text.push(b' ');
        STANDARD_NO_PAD.encode_onto(mac.as_ref(), &mut text);
        text.push(b'\n');
        if text.len() > LONGEST {
            return Err(Error::TooMany("the recipients do not fit a header of one megabyte"));
        }
        // The new header may replace a working header, so the code reads the new header back before it is used.
        Self::read(&[], &text[..]).map_err(|_| Error::System("a new header cannot be read back"))?;
        Ok(text)
    }

    /// Returns the length of a header, from the total length of its stanzas.
    pub(crate) const fn length_for(stanzas: usize) -> usize {
        VERSION.len() + stanzas + LAST_LINE
    }

    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + LAST_LINE - END.len()
    }

    /// Returns an error if the file key does not belong to the header, or if the header was changed.
    pub(crate) fn verify(&self, key: &AgeFileKey) -> Result<(), Error> {
        if key.verify(&self.bytes, &self.mac)? { Ok(()) } else { Err(Error::HeaderForged) }
    }
}

fn version_error(text: &[u8]) -> Error {
    let number = text.strip_prefix(ANY_VERSION).unwrap_or_default();
    if number.starts_with(b"v1") { Error::Header("its first line") } else { Error::Newer("another version of age") }
}

/// Finds the end of a header that is read in several parts. Examines each byte once.
#[derive(Default)]
struct HeaderLines {
    /// The position where the incomplete line begins.
    line: usize,
    /// The number of bytes that were already searched for line feeds.
    searched: usize,
}

impl HeaderLines {
    /// Returns the minimum number of bytes that the header still needs after its beginning, `text`. Returns `None` if
    /// the header is complete, or if its last line is too long. Reading the returned number of bytes in one step never
    /// goes beyond the header.
    fn missing(&mut self, text: &[u8]) -> Option<usize> {
        while let Some(length) = text[self.searched..].iter().position(|byte| *byte == b'\n') {
            if text[self.line..].starts_with(END) {
                return None;
            }
            self.searched += length + 1;
            self.line = self.searched;
        }
        self.searched = text.len();
        // The text ends with a part of a line, without a line feed.
        let part = &text[self.line..];
        if part.starts_with(END) {
            LAST_LINE.checked_sub(part.len()).filter(|missing| *missing > 0)
        } else if END.starts_with(part) {
            Some(LAST_LINE - part.len())
        } else {
            Some(1 + LAST_LINE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::entropy::Entropy;

    fn sample(bodies: &[usize]) -> Vec<u8> {
        let stanza =
            |length: &usize| AgeStanza { tag: "grease".into(), args: vec!["-".into()], body: vec![7; *length] };
        let stanzas: Vec<AgeStanza> = bodies.iter().map(stanza).collect();
        AgeHeader::build(&AgeFileKey::generate(Entropy::Fixed(1)).expect("a key"), &stanzas).expect("a header")
    }

    #[test]
    fn reading_stops_after_the_header() {
        for bodies in [&[0][..], &[1, 0], &[47, 48, 49], &[1000, 3, 96]] {
            let text = sample(bodies);
            let all = [&text[..], b"--- and more\n"].concat();
            let mut rest = &all[16..];
            let header = AgeHeader::read(&all[..16], &mut rest).expect("a header");
            assert_eq!((header.length(), rest), (text.len(), &b"--- and more\n"[..]), "{bodies:?}");
            for cut in 16..text.len() {
                let error = AgeHeader::read(&text[..16], &text[16..cut]).expect_err("cut");
                assert!(matches!(error, Error::Truncated), "{cut}: {error}");
            }
        }
    }

    #[test]
    fn a_header_that_no_reader_accepts_is_not_built() {
        let key = AgeFileKey::generate(Entropy::Fixed(1)).expect("a key");
        let stanza = |tag: &str, args: &[&str], length| {
            let args = args.iter().map(|&argument| argument.into()).collect();
            AgeStanza { tag: tag.into(), args, body: vec![7; length] }
        };
        let (other, salt) = (stanza("other", &[], 0), "A".repeat(22));
        assert!(AgeHeader::build(&key, &[other.clone(), other.clone()]).is_ok());
        assert!(AgeHeader::build(&key, &[stanza("scrypt", &[&salt, "10"], 32)]).is_ok());
        for bad in [
            vec![],
            vec![stanza("X25519", &[], 32)],
            vec![other.clone(), stanza("scrypt", &[&salt, "10"], 32)],
            vec![other.clone(), stanza("ssh-rsa", &["AAAAAA"], 7)],
        ] {
            assert!(matches!(AgeHeader::build(&key, &bad), Err(Error::System(_))), "{bad:?}");
        }
    }

    #[test]
    fn an_endless_header_is_limited() {
        let line = "A".repeat(63) + "\n";
        let endless = std::iter::repeat_n(line.as_bytes(), 20_000).collect::<Vec<_>>().concat();
        let start = &VERSION[..16];
        let rest = [&VERSION[16..], &endless].concat();
        assert!(matches!(AgeHeader::read(start, &rest[..]), Err(Error::Limit(_))));
    }

    /// In earlier versions, reading a line of a megabyte took seconds, and reading a last line of that length took
    /// minutes.
    #[test]
    fn a_long_line_takes_no_time() {
        let symbols = "A".repeat(LONGEST);
        for line in ["-> x", "-> x\n\n--- "] {
            let rest = [&VERSION[16..], line.as_bytes(), symbols.as_bytes()].concat();
            let start = std::time::Instant::now();
            let error = AgeHeader::read(&VERSION[..16], &rest[..]).expect_err("too long");
            assert!(matches!(error, Error::Limit(_) | Error::Header("its last line")), "{error}");
            assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
        }
    }

    #[test]
    fn another_version_is_not_damage() {
        let text = String::from_utf8(sample(&[0])).expect("text");
        let read = |text: &str| AgeHeader::read(&text.as_bytes()[..16], &text.as_bytes()[16..]).map(|_| ());
        assert!(matches!(read(&text.replace("/v1\n", "/v2\n")), Err(Error::Newer(_))));
        assert!(matches!(read(&text.replace("/v1\n", "/v1\r\n")), Err(Error::Header(_))));
        assert!(matches!(read(&text.replace("--- ", "---  ")), Err(Error::Header(_))));
        assert!(read(&text).is_ok());
    }
}
