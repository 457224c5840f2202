//! Errors of stores, with messages of this crate.

use std::fmt;
use std::io;

use crate::fault::Fault;
use crate::wire::encoded_path as encoded;
use crate::{Address, Words, xml};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The object does not exist.
    Missing,
    /// The bucket does not exist.
    NoBucket,
    /// An object with this key exists already.
    Exists,
    /// The object was replaced in the meantime.
    Changed,
    /// The credentials do not allow the operation.
    Denied,
    /// The store does not recognize the credentials.
    Unknown,
    /// The clock of this machine differs too much from the clock of the store.
    Clock,
    /// No credentials were found.
    NoCredentials,
    /// The store did not answer, or not in time.
    Unreachable,
    /// The store answers, but its answer takes too long.
    Slow,
    /// The store does not follow its protocol.
    Protocol,
    /// The store's certificate is not valid, or no authority that this system trusts has signed it.
    Certificate,
    /// The store is too busy.
    Busy,
    /// The store does not support a part of the request, such as a condition.
    Unknowing,
    /// Somebody is writing the same object at this moment.
    Contested,
    /// The upload no longer exists: it was completed, or ended early.
    Ended,
    /// A part of an upload is missing, or was sent again.
    WrongPart,
    /// The store is full, or the account's quota is used up.
    Full,
    /// The object is too long for this operation.
    TooLong,
    /// A setting of the environment is wrong.
    Setting,
    /// Another problem.
    Other,
}

/// An error about an address.
#[derive(Debug)]
pub struct Error {
    address: Address,
    problem: Problem,
    detail: Words,
}

impl Error {
    pub(crate) fn new(address: &Address, problem: Problem, detail: impl Into<String>) -> Self {
        Self { address: address.clone(), problem, detail: Words::new(detail) }
    }

    pub(crate) fn from_store(address: &Address, error: &object_store::Error) -> Self {
        if let Some(fault) = Fault::among(error) {
            return Self::new(address, fault.problem, fault.to_string());
        }
        let text = error.to_string();
        let (code, detail) = (xml::text(&text, "Code"), xml::text(&text, "Message"));
        let problem = match code.as_deref() {
            Some("NoSuchBucket" | "ContainerNotFound") => Problem::NoBucket,
            Some("InvalidAccessKeyId" | "SignatureDoesNotMatch" | "ExpiredToken" | "InvalidToken") => Problem::Unknown,
            Some("AccessDenied" | "AuthorizationFailure" | "AuthorizationPermissionMismatch") => Problem::Denied,
            // The code `XAdminUserNotFound` comes from versitygw.
            Some("AuthFailure" | "AuthenticationFailed" | "XAdminUserNotFound") => Problem::Unknown,
            Some("RequestTimeTooSkewed" | "RequestExpired") => Problem::Clock,
            Some("SlowDown" | "ServiceUnavailable" | "ServerBusy" | "TooManyRequests") => Problem::Busy,
            Some("ConditionalRequestConflict" | "OperationAborted") => Problem::Contested,
            Some("NoSuchUpload") => Problem::Ended,
            Some("InvalidPart" | "InvalidPartOrder") => Problem::WrongPart,
            Some("NotImplemented") => Problem::Unknowing,
            Some("QuotaExceeded" | "InsufficientStorage" | "XMinioStorageFull" | "StorageFull") => Problem::Full,
            // The code removes the key from the text before it searches for words, since a key may contain any words.
            _ => by_kind(error, &text.replace(address.key(), "").replace(&encoded(address.key()), "")),
        };
        let detail = detail.or(code).unwrap_or_else(|| innermost(error));
        let detail =
            detail.strip_prefix(WRONG_CERTIFICATE).map_or(detail.as_str(), |rest| rest.trim_start_matches(": "));
        Self::new(address, problem, detail)
    }

    /// Returns the error for an object that exists already at this address.
    #[must_use]
    pub fn exists(address: &Address) -> Self {
        Self::new(address, Problem::Exists, "")
    }

    /// Returns the address that the error is about.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn problem(&self) -> Problem {
        self.problem
    }

    /// Returns the store's own text, or a description of what the store did.
    #[must_use]
    pub const fn detail(&self) -> &Words {
        &self.detail
    }

    /// Returns the text of the error without the address, for printing after the address.
    #[must_use]
    pub fn reason(&self) -> String {
        let said = match self.problem {
            Problem::Missing => "there is no such object",
            Problem::NoBucket => "there is no such bucket",
            Problem::Exists => "an object with this key exists already",
            Problem::Changed => "the object was replaced while it was read",
            Problem::NoCredentials => "no credentials were found for the store",
            Problem::Denied => "the store refuses access",
            Problem::Unknown => "the store does not accept the credentials",
            Problem::Clock => "the clock of this machine differs too much from the store's",
            Problem::Unreachable => "the store cannot be reached",
            Problem::Slow => "the store is too slow",
            Problem::Protocol => "the store does not keep to its protocol",
            Problem::Certificate => "the store's certificate cannot be trusted",
            Problem::Busy => "the store has too much to do",
            Problem::Unknowing => "the store does not know what was asked of it",
            Problem::Contested => "somebody writes the same object at this moment",
            Problem::Ended => "the upload was ended meanwhile",
            Problem::WrongPart => "the store does not put the parts together",
            Problem::Full => "the store has no room left",
            Problem::TooLong => "the object is too long",
            Problem::Setting => "a setting is wrong",
            Problem::Other => "the store says",
        };
        match self.problem {
            Problem::Missing | Problem::NoBucket | Problem::Exists | Problem::Changed | Problem::Clock => {
                said.to_owned()
            }
            _ if self.detail.is_empty() => said.to_owned(),
            _ => format!("{said}: {}", self.detail),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.address, self.reason())
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

fn by_kind(error: &object_store::Error, text: &str) -> Problem {
    use object_store::Error as E;

    match error {
        E::NotFound { .. } => Problem::Missing,
        E::AlreadyExists { .. } => Problem::Exists,
        E::Precondition { .. } | E::NotModified { .. } => Problem::Changed,
        E::PermissionDenied { .. } => Problem::Denied,
        E::Unauthenticated { .. } => Problem::Unknown,
        _ if NO_CREDENTIALS.iter().any(|words| text.contains(words)) => Problem::NoCredentials,
        _ if text.contains("No CA certificates were loaded") => Problem::Setting,
        _ if text.contains(WRONG_CERTIFICATE) => Problem::Certificate,
        _ => {
            // The search ignores words with `://`, since the name of the store's host may contain any of the searched
            // words.
            let words: Vec<_> = text.split_whitespace().filter(|word| !word.contains("://")).collect();
            let said = words.join(" ");
            let is_unreachable = ["error sending request", "connect", "timed out", "dns"];
            if is_unreachable.iter().any(|it| said.contains(it)) { Problem::Unreachable } else { Problem::Other }
        }
    }
}

/// Words that the clients' errors contain if the clients find no credentials. The first two entries come from the
/// clients of S3 and Azure. The last two entries are the hosts from which machines in a cloud get their credentials.
const NO_CREDENTIALS: [&str; 5] =
    ["Missing SecretAccessKey", "Account must be specified", "credential", "169.254.169.254", "metadata.google"];

/// The message of `rustls` about a refused certificate.
const WRONG_CERTIFICATE: &str = "invalid peer certificate";

/// Returns the text of a connection's error, if the connection failed because of the store's certificate.
pub(crate) fn of_certificate(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    Some(innermost(error)).filter(|text| text.contains(WRONG_CERTIFICATE))
}

/// Returns the text of the innermost cause, because the outer texts repeat an address.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> object_store::Error {
        object_store::Error::Generic { store: "S3", source: text.to_owned().into() }
    }

    #[test]
    fn what_stores_say_is_understood() {
        let address: Address = "s3://b/k".parse().expect("an address");
        for (text, problem, reason) in [
            (
                "status 404: <Error><Code>NoSuchBucket</Code><Message>The bucket…</Message></Error>",
                Problem::NoBucket,
                "there is no such bucket",
            ),
            (
                "status 403: <Error><Code>SignatureDoesNotMatch</Code><Message>The signature…</Message></Error>",
                Problem::Unknown,
                "the store does not accept the credentials: The signature…",
            ),
            ("status 503: <Code>SlowDown</Code>", Problem::Busy, "the store has too much to do: SlowDown"),
            ("error sending request", Problem::Unreachable, "the store cannot be reached: error sending request"),
            ("<Code>AccessDenied</Code>", Problem::Denied, "the store refuses access: AccessDenied"),
            (
                "Missing SecretAccessKey",
                Problem::NoCredentials,
                "no credentials were found for the store: Missing SecretAccessKey",
            ),
            ("<Code>Strange</Code>", Problem::Other, "the store says: Strange"),
        ] {
            let error = Error::from_store(&address, &generic(text));
            assert_eq!((error.problem(), error.reason().as_str()), (problem, reason), "{text}");
            assert_eq!(error.to_string(), format!("s3://b/k: {reason}"));
        }
    }

    #[test]
    fn words_in_a_key_tell_nothing_of_the_problem() {
        for key in ["connect.log", "a/dns timed out", "credentials.csv"] {
            let address: Address = format!("s3://b/{key}").parse().expect("an address");
            for shown in [key.to_owned(), encoded(key)] {
                let error = Error::from_store(&address, &generic(&format!("GET https://h/b/{shown} gave status 416")));
                assert_eq!(error.problem(), Problem::Other, "{shown}");
            }
        }
        let address: Address = "s3://b/k".parse().expect("an address");
        let error = Error::from_store(&address, &generic("GET https://dns.connect/b gave status 500"));
        assert_eq!(error.problem(), Problem::Other);
    }
}
