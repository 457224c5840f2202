//! Symbolic links and junctions, as the data of a reparse point.
//!
//! Inside Deadpan, the components of a relative target are separated by `/`, as in archives of other systems.

use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::BorrowedHandle;
use std::path::{Component, Path, Prefix};

use windows_sys::Win32::System::Ioctl::{FSCTL_GET_REPARSE_POINT, FSCTL_SET_REPARSE_POINT};

use super::errno::Errno;
use super::imp;

const TAG_SYMLINK: u32 = 0xa000_000c;
const TAG_MOUNT_POINT: u32 = 0xa000_0003;
/// The length of the tag, of the length, and of an empty field.
const HEAD: usize = 8;
/// The system's beginning of absolute paths.
const NT: &str = r"\??\";

/// Returns the target of an open link.
pub(super) fn target(link: BorrowedHandle<'_>) -> Result<OsString, Errno> {
    // The system allows no longer data.
    let mut data = vec![0; 16 << 10];
    let length = imp::control(link, FSCTL_GET_REPARSE_POINT, &[], &mut data)?;
    parse(&data[..length]).ok_or(Errno::INVAL)
}

fn parse(data: &[u8]) -> Option<OsString> {
    let short = |at: usize| Some(u16::from_le_bytes(data.get(at..at + 2)?.try_into().ok()?));
    let long = |at: usize| Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?));
    let (names, is_relative) = match long(0)? {
        TAG_SYMLINK => (HEAD + 12, long(HEAD + 8)? & 1 != 0),
        TAG_MOUNT_POINT => (HEAD + 8, false),
        _ => return None,
    };
    let (begin, length) = (names + usize::from(short(HEAD)?), usize::from(short(HEAD + 2)?));
    let name = data.get(begin..begin + length)?;
    let mut name: Vec<u16> = name.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    if is_relative {
        name.iter_mut().filter(|unit| **unit == u16::from(b'\\')).for_each(|unit| *unit = b'/'.into());
        return Some(OsString::from_wide(&name));
    }
    let nt: Vec<u16> = NT.encode_utf16().collect();
    let Some(rest) = name.strip_prefix(&nt[..]) else { return Some(OsString::from_wide(&name)) };
    // `\??\C:\x` is the path `C:\x`, and all others have no shorter form.
    let is_drive = rest.get(1) == Some(&u16::from(b':'));
    let begin: Vec<u16> = if is_drive { Vec::new() } else { r"\\?\".encode_utf16().collect() };
    Some(OsString::from_wide(&[&begin[..], rest].concat()))
}

/// Makes a symbolic link out of an empty file or folder.
pub(super) fn set(file: BorrowedHandle<'_>, target: &OsStr) -> Result<(), Errno> {
    let data = data(target)?;
    let set = || imp::control(file, FSCTL_SET_REPARSE_POINT, &data, &mut []).map(drop);
    match set() {
        Err(Errno::PERM) => {
            imp::security::allow_links()?;
            set()
        }
        made => made,
    }
}

/// Whether the system looks for a target in the folder of its link. Fails with [`Errno::NXIO`] if no link to the target
/// is made: a share, a device, a path of the system's own form, or a path relative to the current folder of a drive.
pub(super) fn is_relative(target: &OsStr) -> Result<bool, Errno> {
    let bytes = target.as_encoded_bytes();
    let is_separator = |byte: &u8| matches!(byte, b'/' | b'\\');
    let is_foreign = bytes.first().is_some_and(is_separator) && matches!(bytes.get(1), Some(b'/' | b'\\' | b'?'));
    match Path::new(target).components().next() {
        _ if bytes.is_empty() || bytes.contains(&0) => Err(Errno::ILSEQ),
        _ if is_foreign => Err(Errno::NXIO),
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::Disk(_) if Path::new(target).has_root() => Ok(false),
            _ => Err(Errno::NXIO),
        },
        _ => Ok(true),
    }
}

fn data(target: &OsStr) -> Result<Vec<u8>, Errno> {
    let is_relative = is_relative(target)?;
    let is_slash = |unit: &u16| *unit == u16::from(b'/');
    let shown: Vec<u16> =
        target.encode_wide().map(|unit| if is_slash(&unit) { u16::from(b'\\') } else { unit }).collect();
    let beginning = if is_relative { "" } else { NT };
    let real: Vec<u16> = beginning.encode_utf16().chain(shown.iter().copied()).collect();
    let bytes = |name: &[u16]| -> Vec<u8> { name.iter().flat_map(|unit| unit.to_le_bytes()).collect() };
    let (real, shown) = (bytes(&real), bytes(&shown));
    let short = |length: usize| u16::try_from(length).map(u16::to_le_bytes).map_err(|_| Errno::NAMETOOLONG);
    let mut data = Vec::new();
    data.extend(TAG_SYMLINK.to_le_bytes());
    data.extend(short(12 + real.len() + shown.len())?);
    data.extend([0; 2]);
    for (begin, name) in [(0, &real), (real.len(), &shown)] {
        data.extend(short(begin)?);
        data.extend(short(name.len())?);
    }
    data.extend(u32::from(is_relative).to_le_bytes());
    data.extend(real);
    data.extend(shown);
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_survive_the_way_to_the_system_and_back() {
        for target in ["a", "../a/b", "a b", r"C:\x\y", "\u{e4}/\u{1f600}"] {
            let data = data(OsStr::new(target)).expect("a target");
            assert_eq!(parse(&data).as_deref(), Some(OsStr::new(target)));
        }
        for target in [
            "",
            r"\\server\share\x",
            "//server/share/x",
            r"\/server",
            r"\\",
            r"\\?\C:\x",
            r"\??\C:\x",
            "/??/UNC/server/x",
            r"\??\UNC\server\x",
            r"\\.\PhysicalDrive0",
            r"\\.\pipe\x",
            "//./pipe/x",
            "C:x",
            "a\0b",
        ] {
            assert!(data(OsStr::new(target)).is_err() && is_relative(OsStr::new(target)).is_err(), "{target}");
        }
        for (target, is) in [("a", true), (r"\a", true), ("/a", true), ("..", true), (r"C:\x", false), ("c:/x", false)]
        {
            assert_eq!(is_relative(OsStr::new(target)), Ok(is), "{target}");
        }
        for length in 0..40 {
            assert_eq!(parse(&vec![0xa0; length]), None);
        }
    }
}
