//! Writes the headers of an entry.

use crate::block::{BLOCK, filling};
use crate::entry::Time;

/// The length of a header in bytes.
const HEADER: usize = BLOCK as usize;
/// The name of a pax header contains the beginning of the name of its entry: at most this many bytes.
const LONGEST_HINT: usize = 80;

/// The values for an entry's headers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    /// The path, beginning with the name of the root. A folder's path ends with `/`.
    pub(crate) path: &'a [u8],
    /// The type: `0` file, `1` hard link, `2` symbolic link, `5` folder.
    pub(crate) kind: u8,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    /// The number of bytes that the content takes in the archive.
    pub(crate) stored: u64,
    pub(crate) modified: Time,
    pub(crate) target: &'a [u8],
    /// The size of a file with holes, including the holes.
    pub(crate) real_size: Option<u64>,
    pub(crate) xattrs: &'a [(Vec<u8>, Vec<u8>)],
}

/// Appends a global header with one `comment` record. Other tar readers ignore this header.
pub(crate) fn comment(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let mut records = Vec::new();
    record(&mut records, b"comment", parts);
    extension(out, b'g', b"pax_global_header", &records);
}

/// Appends the headers of an entry.
pub(crate) fn headers(out: &mut Vec<u8>, about: &About<'_>) {
    let last = last_component(about.path);
    // GNU tar uses the same name for a file with holes, and also puts it into the folder of the file. A reader that
    // does not support holes creates a file with this name, so files in different folders need different names.
    let folder = &about.path[..about.path.len() - last.len()];
    let sparse_name = about.real_size.map(|_| [folder, b"GNUSparseFile.0/", last].concat());
    let path = sparse_name.as_deref().unwrap_or(about.path);
    let (prefix, name) = split(path).unwrap_or((b"", &path[..path.len().min(100)]));
    let mut records = Vec::new();
    let long_path = split(path).is_none();
    let long_target = about.target.len() > 100;
    let odd = |wanted: bool, text: &[u8]| wanted && str::from_utf8(text).is_err();
    if odd(long_path, about.path) || odd(long_target, about.target) || odd(sparse_name.is_some(), about.path) {
        record(&mut records, b"hdrcharset", &[b"BINARY"]);
    }
    if long_path {
        record(&mut records, b"path", &[path]);
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
        // GNU tar also escapes these bytes: without an escape, `=` would end the keyword.
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

/// Appends a pax header of type `x` (for the next entry) or `g` (for all later entries).
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
    out.resize(out.len() + filling(records.len() as u64) as usize, 0);
}

fn finish(out: &mut Vec<u8>, mut header: [u8; HEADER]) {
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend_from_slice(&header);
}

/// Writes an octal number with leading zeros and a zero byte at its end. If the number has too many digits, writes
/// zeros and returns false.
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

/// Appends a record, `LENGTH KEY=VALUE\n`. The length includes its own digits.
fn record(records: &mut Vec<u8>, key: &[u8], value: &[&[u8]]) {
    let rest = 3 + key.len() + value.iter().map(|part| part.len()).sum::<usize>();
    let digits = |number: usize| number.to_string().len();
    let mut length = rest + digits(rest);
    // The length counts its own digits, so it may have one more digit than the length of the rest.
    length = rest + digits(length);
    records.extend_from_slice(length.to_string().as_bytes());
    records.push(b' ');
    records.extend_from_slice(key);
    records.push(b'=');
    value.iter().for_each(|part| records.extend_from_slice(part));
    records.push(b'\n');
}

/// Splits a path into the two header fields for the prefix and the name, if they are long enough for the path.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path.len() <= 100 {
        return Some((b"", path));
    }
    // A short prefix allows a long name. A trailing `/` belongs to the name.
    let earliest = path.len().checked_sub(101)?;
    let slash = path.iter().enumerate().skip(earliest.max(1)).find(|(_, byte)| **byte == b'/')?.0;
    (slash <= 155 && slash + 1 < path.len()).then(|| (&path[..slash], &path[slash + 1..]))
}

fn last_component(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Formats a time as decimal seconds, with only as many decimals as needed.
fn decimal(time: Time) -> String {
    let Time { seconds, nanoseconds } = time;
    if nanoseconds == 0 {
        return seconds.to_string();
    }
    // A time before 1970 has negative seconds and positive nanoseconds: -0.5 s is -1 second and 500,000,000
    // nanoseconds.
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

    /// A tar reader without support for holes extracts a file with holes under this name. In an earlier version, all of
    /// these files had the same folder, so files with the same name collided.
    #[test]
    fn a_file_with_holes_is_named_in_its_own_folder() {
        let written = |path: &str| {
            let mut out = Vec::new();
            headers(&mut out, &About { path: path.as_bytes(), kind: b'0', real_size: Some(1), ..About::default() });
            let records = String::from_utf8_lossy(&out[HEADER..]).into_owned();
            let header = &out[out.len() - HEADER..];
            let name = header[..100].split(|byte| *byte == 0).next().expect("a name");
            (String::from_utf8_lossy(name).into_owned(), records)
        };
        for folder in ["root/", "root/a/", "root/b/"] {
            let path = format!("{folder}disk");
            let (name, records) = written(&path);
            assert_eq!(name, format!("{folder}GNUSparseFile.0/disk"));
            assert!(records.contains(&format!(" GNU.sparse.name={path}\n")), "{records}");
        }
        // A path that does not fit into the header.
        let folder = format!("root/{}/", "long".repeat(60));
        let (_, records) = written(&format!("{folder}disk"));
        assert!(records.contains(&format!(" path={folder}GNUSparseFile.0/disk\n")), "{records}");
        assert!(records.contains(&format!(" GNU.sparse.name={folder}disk\n")), "{records}");
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
