//! Addresses of objects: `s3://bucket/key`.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// The kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Amazon S3, and stores with the same protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

impl Scheme {
    const ALL: [(&str, Self); 3] = [("s3://", Self::S3), ("gs://", Self::Google), ("az://", Self::Azure)];

    const fn prefix(self) -> &'static str {
        match self {
            Self::S3 => "s3://",
            Self::Google => "gs://",
            Self::Azure => "az://",
        }
    }
}

/// The address of an object, or of all objects whose keys begin with a prefix. In messages, invisible characters of the
/// key are escaped in the same way as by [`shown`](crate::shown).
///
/// ```
/// use deadpan_remote::Address;
///
/// let address: Address = "s3://backups/2026/report.pdf".parse()?;
/// assert_eq!((address.bucket(), address.key()), ("backups", "2026/report.pdf"));
/// assert_eq!(address.name(), Some("report.pdf"));
/// # Ok::<(), deadpan_remote::WrongAddress>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    scheme: Scheme,
    bucket: String,
    key: String,
}

/// The reason why a text is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongAddress(&'static str);

impl fmt::Display for WrongAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for WrongAddress {}

impl Address {
    /// Whether a text begins like the address of an object in a store. A file with the name `s3:/…` can be written as
    /// `./s3:/…`.
    #[must_use]
    pub fn is_meant(text: &OsStr) -> bool {
        let text = text.as_encoded_bytes();
        let scheme = text.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_scheme = scheme.len() > 1 && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'+');
        // A known scheme without the slashes is also treated as an address, since users easily forget the slashes.
        let is_known = [&b"s3"[..], b"gs", b"az"].contains(&scheme) && text.len() > scheme.len();
        is_known || is_scheme && text[scheme.len()..].starts_with(b"://")
    }

    /// Returns the kind of the store.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the bucket. Azure calls a bucket a container.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the key within the bucket.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the text that can be parsed into this address. The text may contain invisible characters, so use it to
    /// identify an object or as input for a program, and not in messages. For messages, use [`Display`](fmt::Display).
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}/{}", self.scheme.prefix(), self.bucket, self.key)
    }

    /// Whether another address is in the same bucket as this address.
    #[must_use]
    pub fn is_in_bucket_of(&self, other: &Self) -> bool {
        (self.scheme, &self.bucket) == (other.scheme, &other.bucket)
    }

    /// Whether this address stands for all objects whose keys begin with it. An address of several objects ends with a
    /// slash, or consists only of a bucket.
    #[must_use]
    pub fn is_prefix(&self) -> bool {
        self.key.is_empty() || self.key.ends_with('/')
    }

    /// Returns the last part of the key, or `None` if this address is a prefix.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        if self.is_prefix() { None } else { self.key.rsplit('/').next() }
    }

    /// Returns the address of another key in the same bucket.
    ///
    /// # Errors
    /// If the key is not valid.
    pub fn with_key(&self, key: impl Into<String>) -> Result<Self, WrongAddress> {
        let key = key.into();
        check_key(&key)?;
        Ok(Self { key, ..self.clone() })
    }

    /// Returns the object with this name below a prefix.
    ///
    /// # Errors
    /// If the key is not valid.
    pub fn join(&self, name: &str) -> Result<Self, WrongAddress> {
        self.with_key(format!("{}{name}", self.key))
    }
}

/// Refuses keys that the client would change before sending, since the changed request would address another object.
pub(crate) fn check_key(key: &str) -> Result<(), WrongAddress> {
    let parts = key.strip_suffix('/').unwrap_or(key);
    if key.len() > 1024 {
        return Err(WrongAddress("a key has at most 1024 bytes"));
    }
    if key.chars().any(char::is_control) {
        return Err(WrongAddress("a key has no control characters"));
    }
    if !key.is_empty() && parts.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(WrongAddress("between two slashes of a key stands a name other than . and .."));
    }
    Ok(())
}

impl FromStr for Address {
    type Err = WrongAddress;

    fn from_str(text: &str) -> Result<Self, WrongAddress> {
        if text.starts_with("file:///") {
            return Err(WrongAddress("this names a file, and a place in a store is wanted: s3://BUCKET/KEY"));
        }
        let found = Scheme::ALL.iter().find_map(|(prefix, scheme)| Some((*scheme, text.strip_prefix(prefix)?)));
        let (scheme, rest) = found.ok_or(WrongAddress("an address begins with s3://, gs://, az:// or file:///"))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(WrongAddress("an address names a bucket: s3://BUCKET/KEY"));
        }
        let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '$');
        if bucket.len() > 255 || !bucket.chars().all(is_fit) || bucket.starts_with('.') || bucket.contains("..") {
            return Err(WrongAddress("the name of a bucket has letters, digits, dots, hyphens and underscores"));
        }
        check_key(key)?;
        Ok(Self { scheme, bucket: bucket.to_owned(), key: key.to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::shown(self.text().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Result<Address, WrongAddress> {
        text.parse()
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["s3://b/k", "gs://b.c-d_e/a/b c/\u{e4}?#%20&+", "az://$web/x/", "s3://b/"] {
            assert_eq!(address(text).map(|it| it.to_string()), Ok(text.to_owned()), "{text}");
        }
        assert_eq!(address("s3://bucket").map(|it| it.to_string()), Ok("s3://bucket/".into()));
        // The key contains a character that reverses the direction of the text, and a space of zero width.
        let hidden = "s3://b/a\u{202e}fdp.exe\u{200b}\\";
        assert_eq!(address(hidden).map(|it| it.text()), Ok(hidden.to_owned()));
        assert_eq!(address(hidden).map(|it| it.to_string()), Ok(r"s3://b/a\u{202e}fdp.exe\u{200b}\\".to_owned()));
    }

    #[test]
    fn keys_that_would_mean_another_object_are_refused() {
        for text in [
            "s3://b//k",
            "s3://b/a//b",
            "s3://b/../k",
            "s3://b/a/..",
            "s3://b/./k",
            "s3://b/a\nb",
            "s3://",
            "s3:///k",
            "s3://a b/k",
            "s3://b@c/k",
            "s3://../k",
            "s3://./k",
            "s3://a..b/k",
            "http://b/k",
            "s3:/b/k",
            "S3://b/k",
            "s3://b/a/../",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
        assert!(address(&format!("s3://b/{}", "k".repeat(1024))).is_ok());
        assert!(address(&format!("s3://b/{}", "k".repeat(1025))).is_err());
    }

    #[test]
    fn a_prefix_has_no_name() {
        let names = ["s3://b/a/c", "s3://b/c", "s3://b/a/", "s3://b/", "s3://b"].map(|text| {
            let address = address(text).expect("an address");
            (address.is_prefix(), address.name().map(str::to_owned))
        });
        let c = Some("c".to_owned());
        assert_eq!(names, [(false, c.clone()), (false, c), (true, None), (true, None), (true, None)]);
        let below = address("s3://b/a/").expect("an address").join("x/y");
        assert_eq!(below.map(|it| it.to_string()), Ok("s3://b/a/x/y".into()));
        assert!(address("s3://b/a/").expect("an address").join("../y").is_err());
    }
}
