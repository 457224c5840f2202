//! Failures of stores, with advice on each failure.

use super::{Exit, Failure};
use deadpan_remote::{Error, Problem, Scheme};

impl Failure {
    pub fn store(error: &Error) -> Self {
        let scheme = error.address().scheme();
        let hint = match error.problem() {
            Problem::Missing => {
                "check the key, and that the credentials may list the bucket; a prefix ends with a slash, and results \
                 go where --to says"
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
            Problem::Unknown => {
                "check the credentials (AWS_ACCESS_KEY_ID or AWS_PROFILE), and the clock of this machine"
            }
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
            Problem::Unknowing => {
                "it may not know If-None-Match: --force writes without it, and replaces what is there"
            }
            Problem::TooLong => "open it, and seal it again",
            Problem::Full => "free some space in the store, or raise its quota",
            // Some stores give no other reason if a request was signed for another region, or if the bucket's name is
            // not valid.
            _ if error.detail().contains("400 Bad Request") => "check the region (AWS_REGION) and the bucket's name",
            _ => "see what the store says",
        };
        let exit = match error.problem() {
            Problem::Missing | Problem::NoBucket | Problem::Exists | Problem::Setting => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error.to_string(), hint)
    }
}
