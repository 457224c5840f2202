//! Stores. A store is one bucket, with the credentials from the environment.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fmt;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::memory::InMemory;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Extensions, ListResult, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    RetryConfig,
};
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use crate::object::wait;
#[cfg(test)]
use crate::patience::Patience;
use crate::profile::Profile;
use crate::upload::exists;
use crate::wire::{Connector, Wire};
use crate::{Address, Error, Listing, Problem, Scheme};

/// A bucket of a store.
#[derive(Clone)]
pub struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) parts: Arc<dyn MultipartStore>,
    pub(crate) pages: Arc<dyn PaginatedListStore>,
    pub(crate) wire: Arc<Wire>,
    /// The parts of uploads, for a store in memory.
    pub(crate) memory: Option<Arc<Memory>>,
    bucket: Address,
}

/// The parts of an upload, with their numbers as keys. The name that the store gave to each part, and the part's
/// length.
pub type There = BTreeMap<u64, (String, u64)>;

/// The uploads in a store in memory.
#[derive(Default)]
pub(crate) struct Memory {
    /// The mark (a label) and the parts of each upload, by the name of the upload. Each part has a name and a length.
    pub(crate) uploads: Mutex<HashMap<String, (String, There)>>,
    /// The marks (labels) of objects, by the paths of the objects.
    pub(crate) marks: Mutex<HashMap<Path, String>>,
}

/// A bucket in memory. A listing of it has only one page.
struct OnePage(InMemory);

#[async_trait]
impl PaginatedListStore for OnePage {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> object_store::Result<PaginatedListResult> {
        let prefix = prefix.map(Path::parse).transpose()?;
        let mut objects: Vec<_> = self.0.list(prefix.as_ref()).try_collect().await?;
        let after = options.offset.unwrap_or_default();
        objects.retain(|object| object.location.as_ref() > after.as_str());
        let result = ListResult { objects, common_prefixes: Vec::new(), extensions: Extensions::default() };
        Ok(PaginatedListResult { result, page_token: None })
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.bucket)
    }
}

impl Store {
    /// Opens the bucket of an address. Credentials and other settings come from the environment, and for S3 also from
    /// the files that other tools for S3 read.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn open(address: &Address) -> Result<Self, Error> {
        let wire = Arc::new(Wire::default());
        let failed = |error| Error::from_store(address, &error);
        let (objects, parts, pages) = match address.scheme() {
            Scheme::S3 => {
                let store = s3(address, &wire)?.build().map_err(failed)?;
                wire.sign_with(store.credentials());
                sides(store)
            }
            Scheme::Google => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(address.bucket());
                let builder = builder.with_client_options(options()).with_retry(retries(&wire));
                sides(builder.with_http_connector(Connector(Arc::clone(&wire))).build().map_err(failed)?)
            }
            Scheme::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_container_name(address.bucket());
                let builder = builder.with_client_options(options()).with_retry(retries(&wire));
                sides(builder.with_http_connector(Connector(Arc::clone(&wire))).build().map_err(failed)?)
            }
        };
        let bucket = address.with_key("").map_err(|error| Error::new(address, Problem::Other, error.to_string()))?;
        Ok(Self { objects, parts, pages, wire, memory: None, bucket })
    }

    /// Makes an empty bucket in memory, for tests.
    #[must_use]
    pub fn in_memory(address: &Address) -> Self {
        let store = InMemory::new();
        let (objects, parts) = (Arc::new(store.clone()), Arc::new(store.clone()));
        let (pages, memory) = (Arc::new(OnePage(store)), Some(Arc::default()));
        Self { objects, parts, pages, wire: Arc::default(), memory, bucket: address.clone() }
    }

    /// Opens a bucket of a server on this machine with these time limits, for tests.
    #[cfg(test)]
    pub(crate) fn on_this_machine(port: u16, patience: Patience) -> Self {
        let wire = Arc::new(Wire::with(patience));
        let builder = AmazonS3Builder::new().with_access_key_id("key").with_secret_access_key("secret");
        let builder = builder.with_endpoint(format!("http://127.0.0.1:{port}")).with_bucket_name("bucket");
        let builder = builder.with_client_options(options().with_allow_http(true)).with_retry(retries(&wire));
        let store = builder.with_http_connector(Connector(Arc::clone(&wire))).build().expect("a client");
        wire.sign_with(store.credentials());
        let (objects, parts, pages) = sides(store);
        let bucket = "s3://bucket".parse().expect("an address");
        Self { objects, parts, pages, wire, memory: None, bucket }
    }

    /// Whether the object exists.
    ///
    /// # Errors
    /// If the store does not answer the request.
    pub fn has(&self, address: &Address) -> Result<bool, Error> {
        exists(self, address, &Self::path(address)?)
    }

    /// Lists the objects below a prefix. If `after` is given, lists only the objects after this name.
    ///
    /// # Errors
    /// If the prefix is not valid. Errors of the store are returned in place of entries.
    pub fn list(&self, prefix: &Address, after: Option<&str>) -> Result<Listing, Error> {
        Listing::begin(self, prefix, after)
    }

    /// Writes an object with one request. Without `replace`, does not replace an existing object.
    ///
    /// # Errors
    /// [`Problem::Exists`] if the object exists already, or another error if the store fails.
    pub fn put(&self, address: &Address, bytes: Bytes, replace: bool) -> Result<(), Error> {
        let path = Self::path(address)?;
        let mode = if replace { PutMode::Overwrite } else { PutMode::Create };
        let options = PutOptions { mode, ..PutOptions::default() };
        wait(address, self.objects.put_opts(&path, PutPayload::from(bytes), options)).map(drop)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// If the store does not allow the operation. A missing object is no error.
    pub fn remove(&self, address: &Address) -> Result<(), Error> {
        match wait(address, self.objects.delete(&Self::path(address)?)) {
            Err(error) if error.problem() != Problem::Missing => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the number of seconds by which the store's clock is ahead of the clock of this machine, according to the
    /// store's last answer. Returns 0 if the clocks differ by two seconds or less, because the time in an answer is not
    /// more precise.
    #[must_use]
    pub fn ahead(&self) -> i64 {
        Some(self.wire.ahead()).filter(|ahead| ahead.abs() > 2).unwrap_or(0)
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.wire.requests()
    }

    pub(crate) fn path(address: &Address) -> Result<Path, Error> {
        Path::parse(address.key()).map_err(|error| Error::new(address, Problem::Other, error.to_string()))
    }
}

/// The same client as three trait objects: for objects, for parts of uploads, and for pages of listings.
type Sides = (Arc<dyn ObjectStore>, Arc<dyn MultipartStore>, Arc<dyn PaginatedListStore>);

fn sides<S: ObjectStore + MultipartStore + PaginatedListStore>(store: S) -> Sides {
    let store = Arc::new(store);
    (Arc::<S>::clone(&store), Arc::<S>::clone(&store), store)
}

/// Makes a client of S3. The client hashes and signs all data that it sends, also over encrypted connections. The
/// reason: some stores check only the announced length of a body, and accept a truncated body as complete.
fn s3(address: &Address, wire: &Arc<Wire>) -> Result<AmazonS3Builder, Error> {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        if let (Ok(key), false) = (name.to_ascii_lowercase().parse(), value.trim().is_empty()) {
            builder = builder.with_config(key, checked(address, &name, &value)?);
        }
    }
    let profile = Profile::find().map_err(|why| Error::new(address, Problem::Setting, why))?;
    // The environment takes precedence over the files. If the environment contains a key, neither the key nor its
    // secret comes from the files, since the two halves would not fit together.
    let has_keys = builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_some();
    for (key, value) in profile.settings() {
        let is_of_keys = matches!(
            key,
            AmazonS3ConfigKey::AccessKeyId | AmazonS3ConfigKey::SecretAccessKey | AmazonS3ConfigKey::Token
        );
        if !(is_of_keys && has_keys) && builder.get_config_value(&key).is_none() {
            let value = checked(address, key.as_ref(), &value)?;
            builder = builder.with_config(key, value);
        }
    }
    let others = [
        AmazonS3ConfigKey::AccessKeyId,
        AmazonS3ConfigKey::SkipSignature,
        AmazonS3ConfigKey::WebIdentityTokenFile,
        AmazonS3ConfigKey::ContainerCredentialsRelativeUri,
        AmazonS3ConfigKey::ContainerCredentialsFullUri,
        AmazonS3ConfigKey::MetadataEndpoint,
    ];
    if others.iter().all(|key| builder.get_config_value(key).is_none()) && !is_on_amazon() {
        let detail = "none are in the environment or in ~/.aws, and this is no machine of Amazon's";
        return Err(Error::new(address, Problem::NoCredentials, detail));
    }
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoint.iter().find_map(|key| builder.get_config_value(key)).unwrap_or_default();
    let host = endpoint.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
    if !endpoint.is_empty() && host.is_none_or(|(_, host)| host.is_empty() || host.starts_with('/')) {
        let detail = format!("AWS_ENDPOINT_URL is {endpoint}, and has to be like https://HOST or http://HOST:PORT");
        return Err(Error::new(address, Problem::Setting, detail));
    }
    let mut options = options();
    if endpoint.starts_with("http://") {
        options = options.with_allow_http(true);
    }
    let builder = builder.with_bucket_name(address.bucket()).with_client_options(options).with_retry(retries(wire));
    Ok(builder.with_http_connector(Connector(Arc::clone(wire))))
}

/// Returns the value of a setting without the white space around it. Secrets in files often end with white space.
fn checked(address: &Address, name: &str, value: &str) -> Result<String, Error> {
    let value = value.trim();
    if value.chars().any(|c| c.is_whitespace() || c.is_control()) {
        Err(Error::new(address, Problem::Setting, format!("{name} holds white space or control characters")))
    } else {
        Ok(value.to_owned())
    }
}

/// Whether the server that gives credentials to Amazon's machines answers. Without this check, the client would repeat
/// its request to this server again and again for minutes.
fn is_on_amazon() -> bool {
    let address = SocketAddr::from(([169, 254, 169, 254], 80));
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

fn options() -> ClientOptions {
    ClientOptions::new()
}

fn retries(wire: &Wire) -> RetryConfig {
    // The client pauses ten times, each time for a random time between these bounds. All pauses together take at most
    // 24 s.
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(200), max_backoff: Duration::from_secs(3), base: 3.5 };
    RetryConfig { backoff, retry_timeout: wire.patience().tries, ..RetryConfig::default() }
}

/// Returns the runtime, whose threads wait for stores. All stores of a process share these threads.
pub(crate) fn runtime() -> Result<&'static Runtime, std::io::Error> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}
