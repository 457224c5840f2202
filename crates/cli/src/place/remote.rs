//! Objects in stores. A path on the command line can name a file or an object.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::place::ending::ENDINGS;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use crate::tell::signals;
use deadpan_disk::portable::{OsStrExt, OsStringExt};
use deadpan_remote::{Address, Canceller, Error, Scheme, Store};

/// The maximum memory, in bytes, for the names of all objects below a prefix. Without a limit, a store could send names
/// without end.
const NAMES: usize = 256 << 20;
/// The memory that a name takes in addition to its bytes: its entry in a list that doubles when it is full, and the
/// allocator's overhead.
const BESIDE: usize = 64;

/// Returns the address, if the path is an address.
pub fn address(path: &Path) -> Result<Option<Address>, Failure> {
    if !Address::is_meant(path.as_os_str()) {
        return Ok(None);
    }
    let read = path
        .to_str()
        .ok_or("a key is UTF-8".to_owned())
        .and_then(|text| text.parse().map_err(|error: deadpan_remote::WrongAddress| error.to_string()));
    let hint = "an address is s3://BUCKET/KEY; a file with such a name is ./s3:/…";
    read.map(Some).map_err(|why| Failure::usage(format!("{}: {why}", shown(path)), hint))
}

/// Returns the path that an address such as `file:///tmp/a%20b` stands for. Returns other paths without a change.
pub fn local(path: PathBuf) -> PathBuf {
    let text = path.as_os_str().as_bytes();
    let rest = text.strip_prefix(b"file://").map(|rest| rest.strip_prefix(b"localhost").unwrap_or(rest));
    let Some(rest) = rest.filter(|rest| rest.starts_with(b"/")) else { return path };
    let (mut decoded, mut at) = (Vec::with_capacity(rest.len()), 0);
    while let Some(&byte) = rest.get(at) {
        let pair = rest.get(at + 1..at + 3).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit));
        let pair = pair.and_then(|pair| str::from_utf8(pair).ok());
        let value = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok().filter(|value| *value != 0));
        let (byte, length) = value.filter(|_| byte == b'%').map_or((byte, 1), |value| (value, 3));
        decoded.push(byte);
        at += length;
    }
    PathBuf::from(OsString::from_vec(decoded))
}

/// Whether a path names an object.
pub fn is_address(path: &Path) -> bool {
    Address::is_meant(path.as_os_str())
}

/// Returns the path for an unencrypted result beside an input. If the input is an object, the result goes to the
/// current folder, so that no unencrypted data go into the store.
pub fn beside(path: &Path, name: &OsStr) -> PathBuf {
    if is_address(path) { name.into() } else { path.with_file_name(name) }
}

/// Returns the store of an address. Each bucket is opened once.
pub fn store(address: &Address) -> Result<Store, Failure> {
    static OPEN: Mutex<BTreeMap<(Scheme, String), Store>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock();
    let name = (address.scheme(), address.bucket().to_owned());
    if let Some(store) = open.get(&name) {
        return Ok(store.clone());
    }
    deadpan_remote::tell_of_trouble(|why| say(&format!("note: the store {why}")));
    let store = Store::open(address).map_err(|error| Failure::store(&error))?;
    open.insert(name, store.clone());
    Ok(store)
}

pub fn refuse_existing(address: &Address, forced: bool) -> Result<(), Failure> {
    if !forced && store(address)?.has(address).map_err(|error| Failure::store(&error))? {
        Err(Failure::store(&Error::exists(address)))
    } else {
        Ok(())
    }
}

/// Returns a guard that cancels an upload if the program ends or the guard is dropped before the upload is complete.
pub fn guard(canceller: Canceller, name: String) -> signals::Guard {
    signals::guard(move || {
        if !canceller.cancel() {
            say(&format!("note: parts of {name} remain in the store, until its rule for old uploads removes them"));
        }
    })
}

pub fn below(prefix: &Address) -> Result<Vec<PathBuf>, Failure> {
    let (mut all, mut length, text) = (Vec::new(), 0, prefix.text());
    for entry in store(prefix)?.list(prefix, None).map_err(|error| Failure::store(&error))? {
        let name = entry.map_err(|error| Failure::store(&error))?.name;
        if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            let path = PathBuf::from(format!("{text}{name}"));
            length += path.as_os_str().len() + BESIDE;
            all.push(path);
        }
        if length > NAMES {
            let message = format!("{prefix}: the names of all objects below it take more than {} MiB", NAMES >> 20);
            return Err(Failure::usage(message, "name a longer prefix, and then the next"));
        }
    }
    if all.is_empty() {
        let hint = "check the prefix, and that the names end with .dpn or .age";
        return Err(Failure::usage(format!("{prefix}: there is no sealed object below it"), hint));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_paths() {
        for (address, path) in [
            ("file:///tmp/a%20b", "/tmp/a b"),
            ("file://localhost/tmp/x", "/tmp/x"),
            ("file:///%C3%A4%", "/\u{e4}%"),
            ("file:///a%00b%zz%+1", "/a%00b%zz%+1"),
            ("file://elsewhere/x", "file://elsewhere/x"),
            ("file:x", "file:x"),
            ("s3://b/a%20b", "s3://b/a%20b"),
            ("/tmp/a%20b", "/tmp/a%20b"),
        ] {
            assert_eq!(local(address.into()), PathBuf::from(path), "{address}");
        }
    }
}
