//! The records of a pax header.

use super::number::decimal;
use super::sparse::Pieces;
use crate::entry::Time;
use crate::error::Error;

/// The values that the records of an extended header set.
#[derive(Clone, Debug, Default)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) uid: Option<u64>,
    pub(super) gid: Option<u64>,
    pub(super) modified: Option<Time>,
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) acl: bool,
    pub(super) sparse: Sparse,
}

/// The records about holes, in GNU's three versions.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    pub(super) major: Option<u64>,
    pub(super) minor: Option<u64>,
    pub(super) name: Option<Vec<u8>>,
    pub(super) real_size: Option<u64>,
    /// The map in the format versions 0.0 and 0.1, which is stored in pax records.
    pub(super) pieces: Option<Pieces>,
    /// In version 0.0, one record gives the offset of a piece, and the next record gives its length: this is an offset
    /// whose length was not read yet.
    offset: Option<u64>,
}

/// A comment, and its offset in its header.
pub(super) type Comment = (usize, Vec<u8>);

/// Returns the records one by one: the key, the value, and the offset of the value. A record has the form
/// `LENGTH KEY=VALUE\n`.
fn records(bytes: &[u8]) -> impl Iterator<Item = Result<(&[u8], &[u8], usize), Error>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == bytes.len() {
            return None;
        }
        let rest = &bytes[at..];
        let Some((key, value)) = record(rest) else {
            at = bytes.len();
            return Some(Err(damaged()));
        };
        let end = value.end + 1;
        let found = (&rest[key], &rest[value.clone()], at + value.start);
        at += end;
        Some(Ok(found))
    })
}

type Span = std::ops::Range<usize>;

/// Returns the ranges of the first record's key and value.
fn record(bytes: &[u8]) -> Option<(Span, Span)> {
    let space = bytes.iter().take(8).position(|byte| *byte == b' ')?;
    let length = usize::try_from(decimal(&bytes[..space])?).ok()?;
    let record = bytes.get(..length)?.strip_suffix(b"\n")?;
    let key = space + 1;
    let equals = key + record.get(key..)?.iter().position(|byte| *byte == b'=')?;
    (equals > key).then_some((key..equals, equals + 1..record.len()))
}

impl PaxRecords {
    /// Reads the records of a header that applies only to the entry after it.
    pub(super) fn of_entry(bytes: &[u8], defaults: &Self) -> Result<Self, Error> {
        let mut found = defaults.clone();
        for record in records(bytes) {
            let (key, value, _) = record?;
            found.take(key, value)?;
        }
        if found.sparse.offset.is_some() {
            return Err(damaged());
        }
        Ok(found)
    }

    /// Reads the records of a global header, which apply to all later entries, and returns the comment of the header.
    /// Paths and sizes are refused in a global header.
    pub(super) fn global(&mut self, bytes: &[u8]) -> Result<Option<Comment>, Error> {
        let mut comment = None;
        for record in records(bytes) {
            match record? {
                (b"comment", value, begin) => comment = Some((begin, value.to_vec())),
                (key @ (b"uid" | b"gid" | b"mtime"), value, _) => self.take(key, value)?,
                (b"path" | b"linkpath" | b"size", _, _) => {
                    return Err(Error::damaged(
                        "a global header names a path or a size, which cannot be meant for all entries",
                    ));
                }
                (key, _, _) if key.starts_with(b"GNU.sparse.") => return Err(damaged()),
                _ => {}
            }
        }
        Ok(comment)
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let number = || decimal(value).ok_or_else(damaged);
        // A record with an empty value cancels the value of an earlier record.
        let optional = || if value.is_empty() { Ok(None) } else { number().map(Some) };
        match key {
            b"path" => self.path = given(value),
            b"linkpath" => self.target = given(value),
            b"size" => self.size = optional()?,
            b"uid" => self.uid = optional()?,
            b"gid" => self.gid = optional()?,
            b"mtime" if value.is_empty() => self.modified = None,
            b"mtime" => self.modified = Some(time(value).ok_or_else(damaged)?),
            b"GNU.sparse.major" => self.sparse.major = Some(number()?),
            b"GNU.sparse.minor" => self.sparse.minor = Some(number()?),
            b"GNU.sparse.name" => self.sparse.name = given(value),
            b"GNU.sparse.realsize" | b"GNU.sparse.size" => self.sparse.real_size = Some(number()?),
            b"GNU.sparse.map" => self.sparse.line(value)?,
            b"GNU.sparse.offset" => match self.sparse.offset.replace(number()?) {
                None => {}
                Some(_) => return Err(damaged()),
            },
            b"GNU.sparse.numbytes" => {
                let offset = self.sparse.offset.take().ok_or_else(damaged)?;
                self.sparse.pieces.get_or_insert_default().add(offset, number()?)?;
            }
            b"GNU.sparse.numblocks" => {
                self.sparse.pieces.get_or_insert_default();
            }
            b"SCHILY.acl.access" => self.acl = true,
            _ => {
                if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
                    self.attributes.push((attribute(name), value.to_vec()));
                }
            }
        }
        Ok(())
    }
}

impl Sparse {
    /// Reads the map of version 0.1: offsets and lengths, separated by commas.
    fn line(&mut self, value: &[u8]) -> Result<(), Error> {
        let mut pieces = Pieces::default();
        let mut numbers = value.split(|byte| *byte == b',').filter(|number| !number.is_empty());
        while let Some(offset) = numbers.next() {
            let length = numbers.next().and_then(decimal).ok_or_else(damaged)?;
            pieces.add(decimal(offset).ok_or_else(damaged)?, length)?;
        }
        self.pieces = Some(pieces);
        Ok(())
    }
}

/// Decodes the name of an extended attribute, because GNU tar escapes `=` and `%` in such names.
fn attribute(mut name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    while let Some(byte) = name.split_off_first() {
        match name.get(..2) {
            Some(b"3D") if *byte == b'%' => plain.push(b'='),
            Some(b"25") if *byte == b'%' => plain.push(b'%'),
            _ => {
                plain.push(*byte);
                continue;
            }
        }
        name = &name[2..];
    }
    plain
}

fn given(value: &[u8]) -> Option<Vec<u8>> {
    (!value.is_empty()).then(|| value.to_vec())
}

/// Reads seconds with a fraction of any length.
fn time(value: &[u8]) -> Option<Time> {
    let (negative, value) = value.strip_prefix(b"-").map_or((false, value), |value| (true, value));
    let (whole, fraction) = match value.iter().position(|byte| *byte == b'.') {
        Some(point) => (&value[..point], &value[point + 1..]),
        None => (value, &[][..]),
    };
    let whole = decimal(whole)?;
    // A negative number is subtracted from 0, because `i64::MIN` has no positive counterpart.
    let seconds = if negative { 0_i64.checked_sub_unsigned(whole)? } else { 0_i64.checked_add_unsigned(whole)? };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |place: usize| u32::from(fraction.get(place).map_or(0, |digit| digit - b'0'));
    let nanoseconds = (0..9).fold(0, |number, place| number * 10 + digit(place));
    Some(match (negative, nanoseconds) {
        (false, _) | (true, 0) => Time { seconds, nanoseconds },
        (true, _) => Time { seconds: seconds.checked_sub(1)?, nanoseconds: 1_000_000_000 - nanoseconds },
    })
}

fn damaged() -> Error {
    Error::damaged("a pax header is not well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_entry(bytes: &[u8]) -> Result<PaxRecords, Error> {
        PaxRecords::of_entry(bytes, &PaxRecords::default())
    }

    #[test]
    fn records_of_an_entry() {
        let records = of_entry(b"12 path=a=b\n20 mtime=1.00000002\n18 SCHILY.xattr.=\n11 size=12\n").unwrap();
        assert_eq!(records.path.as_deref(), Some(&b"a=b"[..]));
        assert_eq!(records.modified, Some(Time { seconds: 1, nanoseconds: 20 }));
        assert_eq!(records.size, Some(12));
        assert_eq!(of_entry(b"12 path=a\nb\n").unwrap().path.as_deref(), Some(&b"a\nb"[..]));
    }

    #[test]
    fn what_is_not_well_formed() {
        for bytes in [
            &b"12 path=a=b"[..],
            b"11 path=a=b\n",
            b"13 path=a=b\n",
            b" path=a=b\n",
            b"8 path\n\n",
            b"5 =a\n",
            b"-1 path=a\n",
            b"99999999999999999999 path=a\n",
            b"10 size=x\n",
            b"23 GNU.sparse.offset=1\n",
        ] {
            assert!(of_entry(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn times_before_1970_and_finer_than_files_have() {
        for (text, seconds, nanoseconds) in [
            ("0", 0, 0),
            ("1.5", 1, 500_000_000),
            ("-1.5", -2, 500_000_000),
            ("-0.000000001", -1, 999_999_999),
            ("-3", -3, 0),
            ("7.1234567899", 7, 123_456_789),
            ("7.", 7, 0),
            ("9223372036854775807.5", i64::MAX, 500_000_000),
            ("-9223372036854775807.999999999", i64::MIN, 1),
            ("-9223372036854775808", i64::MIN, 0),
        ] {
            assert_eq!(time(text.as_bytes()), Some(Time { seconds, nanoseconds }), "{text}");
        }
        for text in [
            "",
            "-",
            "--1",
            "1.-5",
            "1e3",
            "+1",
            ".5",
            "9223372036854775808",
            "-9223372036854775808.5",
            "-9223372036854775809",
        ] {
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_global_header_names_no_paths() {
        let mut global = PaxRecords::default();
        assert_eq!(global.global(b"14 comment=hi\n").unwrap(), Some((11, b"hi".to_vec())));
        assert!(global.global(b"10 path=a\n").is_err());
    }
}
