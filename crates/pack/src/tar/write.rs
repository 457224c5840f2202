//! An entry's headers, written.

use crate::{BLOCK, Time};

/// Bytes of a header.
const HEADER: usize = BLOCK as usize;
/// What the names of pax headers keep of an entry's own.
const LONGEST_HINT: usize = 80;

/// What the headers say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    /// With the root, and a `/` at the end of folders.
    pub(crate) path: &'a [u8],
    /// `0` file, `1` hard link, `2` symbolic link, `5` folder.
    pub(crate) kind: u8,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    /// Bytes of content in the archive.
    pub(crate) stored: u64,
    pub(crate) modified: Time,
    pub(crate) target: &'a [u8],
    /// Of a file with holes, how long it is with them.
    pub(crate) real_size: Option<u64>,
    pub(crate) xattrs: &'a [(Vec<u8>, Vec<u8>)],
}

/// A global header with one record: tar passes over it.
pub(crate) fn comment(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let mut records = Vec::new();
    record(&mut records, b"comment", parts);
    extension(out, b'g', b"pax_global_header", &records);
}

/// The headers of an entry.
pub(crate) fn headers(out: &mut Vec<u8>, about: &About<'_>) {
    let last = last_component(about.path);
    let sparse_name = about.real_size.map(|_| [b"GNUSparseFile.0/", last].concat());
    let path = sparse_name.as_deref().unwrap_or(about.path);
    let (prefix, name) = split(path).unwrap_or((b"", &path[..path.len().min(100)]));
    let mut records = Vec::new();
    let long_path = sparse_name.is_none() && split(path).is_none();
    let long_target = about.target.len() > 100;
    let odd = |wanted: bool, text: &[u8]| wanted && str::from_utf8(text).is_err();
    if odd(long_path, about.path) || odd(long_target, about.target) || odd(sparse_name.is_some(), about.path) {
        record(&mut records, b"hdrcharset", &[b"BINARY"]);
    }
    if long_path {
        record(&mut records, b"path", &[about.path]);
    }
    if long_target {
        record(&mut records, b"linkpath", &[about.target]);
    }
    let mut header = [0; HEADER];
    let mut number = |field: std::ops::Range<usize>, value: u64, key: &[u8]| {
        if !octal(&mut header[field], value) {
            record(&mut records, key, &[value.to_string().as_bytes()]);
        }
    };
    number(124..136, about.stored, b"size");
    number(108..116, about.owner.0.into(), b"uid");
    number(116..124, about.owner.1.into(), b"gid");
    let Time { seconds, nanoseconds } = about.modified;
    let whole = u64::try_from(seconds).ok().filter(|seconds| octal(&mut header[136..148], *seconds));
    if whole.is_none() || nanoseconds != 0 {
        octal(&mut header[136..148], whole.unwrap_or(0));
        record(&mut records, b"mtime", &[decimal(about.modified).as_bytes()]);
    }
    if let Some(size) = about.real_size {
        record(&mut records, b"GNU.sparse.major", &[b"1"]);
        record(&mut records, b"GNU.sparse.minor", &[b"0"]);
        record(&mut records, b"GNU.sparse.name", &[about.path]);
        record(&mut records, b"GNU.sparse.realsize", &[size.to_string().as_bytes()]);
    }
    for (name, value) in about.xattrs {
        // As GNU tar has it: a `=` would end the keyword.
        let mut key = b"SCHILY.xattr.".to_vec();
        name.iter().for_each(|byte| match byte {
            b'%' => key.extend_from_slice(b"%25"),
            b'=' => key.extend_from_slice(b"%3D"),
            byte => key.push(*byte),
        });
        record(&mut records, &key, &[value]);
    }
    if !records.is_empty() {
        extension(out, b'x', &[b"PaxHeaders/", &last[..last.len().min(LONGEST_HINT)]].concat(), &records);
    }
    header[..name.len()].copy_from_slice(name);
    header[345..345 + prefix.len()].copy_from_slice(prefix);
    octal(&mut header[100..108], about.mode.into());
    header[156] = about.kind;
    let target = &about.target[..about.target.len().min(100)];
    header[157..157 + target.len()].copy_from_slice(target);
    finish(out, header);
}

/// A header that says more about the next, or about all.
fn extension(out: &mut Vec<u8>, kind: u8, name: &[u8], records: &[u8]) {
    let mut header = [0; HEADER];
    header[..name.len()].copy_from_slice(name);
    header[100..108].copy_from_slice(b"0000644\0");
    for field in [108..116, 116..124, 136..148] {
        octal(&mut header[field], 0);
    }
    octal(&mut header[124..136], records.len() as u64);
    header[156] = kind;
    finish(out, header);
    out.extend_from_slice(records);
    pad(out, records.len() as u64);
}

/// Zeros up to the next block, after so many bytes of content.
pub(crate) fn pad(out: &mut Vec<u8>, content: u64) {
    let zeros = content.next_multiple_of(BLOCK) - content;
    out.resize(out.len() + zeros as usize, 0);
}

fn finish(out: &mut Vec<u8>, mut header: [u8; HEADER]) {
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend_from_slice(&header);
}

/// A number with zeros before it and a NUL behind, or nothing but zeros if it does not fit.
fn octal(field: &mut [u8], value: u64) -> bool {
    let digits = field.len() - 1;
    let fits = value >> (3 * digits) == 0;
    let mut rest = if fits { value } else { 0 };
    for digit in field[..digits].iter_mut().rev() {
        *digit = b'0' + (rest & 7) as u8;
        rest >>= 3;
    }
    field[digits] = 0;
    fits
}

/// `LENGTH KEY=VALUE\n`, where the length counts itself.
fn record(records: &mut Vec<u8>, key: &[u8], value: &[&[u8]]) {
    let rest = 3 + key.len() + value.iter().map(|part| part.len()).sum::<usize>();
    let digits = |number: usize| number.to_string().len();
    let mut length = rest + digits(rest);
    // One more digit may make it longer by one.
    length = rest + digits(length);
    records.extend_from_slice(length.to_string().as_bytes());
    records.push(b' ');
    records.extend_from_slice(key);
    records.push(b'=');
    value.iter().for_each(|part| records.extend_from_slice(part));
    records.push(b'\n');
}

/// Prefix and name as the header has room for them.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path.len() <= 100 {
        return Some((b"", path));
    }
    // The shortest prefix leaves the longest name; a `/` at the end belongs to the name.
    let earliest = path.len().checked_sub(101)?;
    let slash = path.iter().enumerate().skip(earliest.max(1)).find(|(_, byte)| **byte == b'/')?.0;
    (slash <= 155 && slash + 1 < path.len()).then(|| (&path[..slash], &path[slash + 1..]))
}

fn last_component(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Seconds with as many decimals as it takes.
fn decimal(time: Time) -> String {
    let Time { seconds, nanoseconds } = time;
    if nanoseconds == 0 {
        return seconds.to_string();
    }
    // Half a second before 1970 is -1 second and half a second more.
    let (sign, whole, part) = match seconds {
        0.. => ("", seconds.unsigned_abs(), nanoseconds),
        _ => ("-", (seconds + 1).unsigned_abs(), 1_000_000_000 - nanoseconds),
    };
    let text = format!("{sign}{whole}.{part:09}");
    text.trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_count_themselves() {
        for length in 0..2000 {
            let value = vec![b'x'; length];
            let mut out = Vec::new();
            record(&mut out, b"path", &[&value]);
            let text = String::from_utf8(out).expect("text");
            let (number, _) = text.split_once(' ').expect("a space");
            assert_eq!(number.parse::<usize>().expect("a number"), text.len());
        }
    }

    #[test]
    fn paths_are_split_where_both_halves_fit() {
        let long = |n: usize| vec![b'a'; n];
        assert_eq!(split(&long(100)), Some((&b""[..], &long(100)[..])));
        assert_eq!(split(&long(101)), None);
        let both = [&long(155)[..], b"/", &long(100)].concat();
        assert_eq!(split(&both), Some((&long(155)[..], &long(100)[..])));
        assert_eq!(split(&[&long(156)[..], b"/", &long(90)].concat()), None);
        assert_eq!(split(&[&long(120)[..], b"/"].concat()), None, "a folder's last component is its name");
        assert_eq!(split(&[&long(10)[..], b"/", &long(101)].concat()), None);
    }

    #[test]
    fn times_before_and_after_the_epoch() {
        let text = |seconds, nanoseconds| decimal(Time { seconds, nanoseconds });
        assert_eq!(text(0, 0), "0");
        assert_eq!(text(1, 500_000_000), "1.5");
        assert_eq!(text(-1, 500_000_000), "-0.5");
        assert_eq!(text(-2, 999_999_999), "-1.000000001");
        assert_eq!(text(-3, 0), "-3");
        assert_eq!(text(i64::MIN, 1), "-9223372036854775807.999999999");
        assert_eq!(text(i64::MIN, 0), "-9223372036854775808");
    }

    #[test]
    fn numbers_that_do_not_fit_are_zeros() {
        let mut field = [b'x'; 8];
        assert!(octal(&mut field, 0o777_7777));
        assert_eq!(&field, b"7777777\0");
        assert!(!octal(&mut field, 0o1000_0000));
        assert_eq!(&field, b"0000000\0");
    }
}
