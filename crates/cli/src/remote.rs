//! Objects in stores, where a path can name a file or an object.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::console::say;
use crate::failure::{Exit, Failure};
use crate::seal::ENDINGS;
use crate::shown::shown;
use crate::signals;
use deadpan_remote::{Address, Canceller, Error, Problem, Scheme, Store};

/// The most memory for the names of all objects below a prefix. A store could name more and more.
const NAMES: usize = 256 << 20;
/// What a name takes beside its bytes: its place in a list that doubles when it is full, and that of the allocator.
const BESIDE: usize = 64;

/// Returns the address, if the path is one.
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

/// Returns the path that an address such as `file:///tmp/a%20b` stands for; other paths stay as they are.
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

/// Returns the path of a result in clear beside an input. What comes out of a store goes to the current folder, and not
/// in clear back into the store.
pub fn beside(path: &Path, name: &OsStr) -> PathBuf {
    if is_address(path) { name.into() } else { path.with_file_name(name) }
}

/// Returns the store of an address. Each bucket is opened once.
pub fn store(address: &Address) -> Result<Store, Failure> {
    static OPEN: Mutex<BTreeMap<(Scheme, String), Store>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let name = (address.scheme(), address.bucket().to_owned());
    if let Some(store) = open.get(&name) {
        return Ok(store.clone());
    }
    deadpan_remote::tell_of_trouble(|why| say(&format!("note: the store {why}")));
    let store = Store::of(address).map_err(|error| failed(&error))?;
    open.insert(name, store.clone());
    Ok(store)
}

/// Refuses to replace an object that exists, unless it is `forced`.
pub fn refuse_existing(address: &Address, forced: bool) -> Result<(), Failure> {
    match !forced && store(address)?.has(address).map_err(|error| failed(&error))? {
        true => Err(failed(&Error::exists(address))),
        false => Ok(()),
    }
}

/// Ends an upload if the user ends the program before, or if the guard is dropped before the upload has ended.
pub fn guard(canceller: Canceller, name: String) -> signals::Guard {
    signals::guard(move || {
        if !canceller.cancel() {
            say(&format!("note: parts of {name} remain in the store, until its rule for old uploads removes them"));
        }
    })
}

/// Returns the sealed objects below a prefix.
pub fn below(prefix: &Address) -> Result<Vec<PathBuf>, Failure> {
    let (mut all, mut length, text) = (Vec::new(), 0, prefix.text());
    for entry in store(prefix)?.list(prefix, None).map_err(|error| failed(&error))? {
        let name = entry.map_err(|error| failed(&error))?.name;
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

/// Returns the failure for an error of a store.
pub fn failed(error: &Error) -> Failure {
    let scheme = error.address().scheme();
    let hint = match error.problem() {
        Problem::Missing => {
            "check the key, and that the credentials may list the bucket; a prefix ends with a slash, and results go \
             where --to says"
        }
        Problem::NoBucket if scheme == Scheme::Azure => {
            "check the container's name, and the account (AZURE_STORAGE_ACCOUNT_NAME)"
        }
        Problem::NoBucket if scheme == Scheme::Google => "check the bucket's name",
        Problem::NoBucket => "check the bucket's name, its region (AWS_REGION) and the endpoint (AWS_ENDPOINT_URL)",
        Problem::Exists => "choose another key with --to, or replace the object with --force",
        Problem::Changed => "seal or open it again; in a bucket with versions, the old one is still there",
        Problem::Denied => "the credentials need permission to read, write and list in this bucket",
        Problem::NoCredentials | Problem::Unknown if scheme == Scheme::Google => {
            "set GOOGLE_APPLICATION_CREDENTIALS to the file with the account's key"
        }
        Problem::NoCredentials | Problem::Unknown if scheme == Scheme::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN"
        }
        Problem::Unknown => "check the credentials (AWS_ACCESS_KEY_ID or AWS_PROFILE), and the clock of this machine",
        Problem::Clock => "set the clock of this machine, and run the command again",
        Problem::NoCredentials => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
        Problem::Unreachable if error.detail().contains("InvalidContentType") => {
            "the endpoint does not answer with TLS: check its port, or whether it begins with http://"
        }
        Problem::Unreachable if scheme != Scheme::S3 => "check the network, and the account",
        Problem::Unreachable => "check the network and the endpoint (AWS_ENDPOINT_URL)",
        Problem::Slow => "check the network, and try again later",
        Problem::Protocol if scheme != Scheme::S3 => "ask whoever runs the store",
        Problem::Protocol => "check the endpoint (AWS_ENDPOINT_URL), and ask whoever runs the store",
        Problem::Certificate => {
            "check the endpoint and this machine's clock; SSL_CERT_FILE=FILE.pem names an authority of your own"
        }
        Problem::Setting if error.detail().contains("No CA certificates") => {
            "no authority is known to check the store with: name a file with SSL_CERT_FILE=FILE.pem"
        }
        Problem::Setting => "correct the variable, or the file in ~/.aws",
        Problem::Busy | Problem::Contested => "try again later",
        Problem::Unknowing => "it may not know If-None-Match: --force writes without it, and replaces what is there",
        Problem::TooLong => "open it, and seal it again",
        Problem::Full => "free some space in the store, or raise its quota",
        // Some stores say no more if a request was signed for another region, or if there can be no such bucket.
        _ if error.detail().contains("400 Bad Request") => "check the region (AWS_REGION) and the bucket's name",
        _ => "see what the store says",
    };
    let exit = match error.problem() {
        Problem::Missing | Problem::NoBucket | Problem::Exists | Problem::Setting => Exit::Usage,
        _ => Exit::System,
    };
    Failure::new(exit, error.to_string(), hint)
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
