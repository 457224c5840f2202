//! A layer between the client of a store and its connections. The layer counts requests, waits if the store requires a
//! pause, adds headers that the client cannot set, and limits the length of answers.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use object_store::aws::AwsCredentialProvider;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientOptions, HeaderMap, HeaderValue};
use parking_lot::Mutex;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

use crate::amend::{self, Change};
use crate::body::{Expected, guarded};
use crate::error::of_certificate;
use crate::fault::Fault;
use crate::odd;
use crate::own::Own;
use crate::patience::{Pace, Patience};
use crate::trouble::Trouble;

/// The longest pause that a store may require before a request is tried again.
const PAUSE: Duration = Duration::from_secs(60);
/// If the rate is limited, a request waits at most this time until it may be sent.
const TURN: Duration = Duration::from_secs(600);

/// The largest total length of the headers of an answer, including names and values.
const HEADERS: usize = 64 << 10;
/// The longest tag of an object or a part. The length is limited, since all tags of an upload are in memory.
pub(crate) const TAG: usize = 1024;

/// The state that all requests to one store share.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    requests: AtomicU64,
    /// The number of seconds by which the store's clock is ahead of the clock of this machine.
    ahead: AtomicI64,
    /// Uploads that must not replace an object.
    careful: Mutex<HashSet<String>>,
    trouble: Trouble,
    patience: Patience,
    /// The keys of an S3 store.
    credentials: OnceLock<AwsCredentialProvider>,
}

impl Wire {
    /// Makes a wire with other time limits, for tests.
    #[cfg(test)]
    pub(crate) fn with(patience: Patience) -> Self {
        Self { patience, ..Self::default() }
    }

    pub(crate) const fn patience(&self) -> &Patience {
        &self.patience
    }

    pub(crate) const fn trouble(&self) -> &Trouble {
        &self.trouble
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn ahead(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }

    fn compare_clocks(&self, response: &HttpResponse) {
        let date = response.headers().get("date").and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        let Some(date) = date else { return };
        let now = SystemTime::now();
        let ahead = match date.duration_since(now) {
            Ok(ahead) => ahead.as_secs().cast_signed(),
            Err(behind) => -behind.duration().as_secs().cast_signed(),
        };
        self.ahead.store(ahead, Ordering::Relaxed);
    }

    /// Signs requests that the client itself cannot make.
    pub(crate) fn sign_with(&self, credentials: &AwsCredentialProvider) {
        let _ = self.credentials.set(Arc::clone(credentials));
    }

    pub(crate) fn credentials(&self) -> Option<&AwsCredentialProvider> {
        self.credentials.get()
    }

    /// After this call, the upload with this id is completed only if the object does not exist.
    pub(crate) fn be_careful(&self, upload: &str) {
        self.careful.lock().insert(upload.to_owned());
    }

    /// Whether this request completes an upload that must not replace an object.
    fn is_careful(&self, request: &HttpRequest) -> bool {
        let query = request.uri().query().unwrap_or_default();
        let id = query.split('&').find_map(|pair| pair.strip_prefix("uploadId="));
        let careful = self.careful.lock();
        request.method() == "POST" && id.is_some_and(|id| careful.iter().any(|one| encoded(one) == id))
    }
}

/// A limit on the number of bytes per second in all connections.
#[derive(Debug)]
struct Limit {
    per_second: u64,
    next: Mutex<Option<Instant>>,
}

static LIMIT: OnceLock<Limit> = OnceLock::new();

/// Limits the rate of all data between this process and all stores to `per_second` bytes per second, on average. Only
/// the first call has an effect.
pub fn limit(per_second: u64) {
    let _ = LIMIT.set(Limit { per_second: per_second.max(1), next: Mutex::default() });
}

impl Limit {
    /// Waits until `bytes` bytes may be sent. A request without a body does not wait for requests with a body, since an
    /// upload has to end quickly when the user ends the program.
    async fn wait(&self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let now = Instant::now();
        let turn = {
            let mut next = self.next.lock();
            let turn = next.map_or(now, |next| next.max(now));
            let takes = Duration::try_from_secs_f64(bytes as f64 / self.per_second as f64).unwrap_or(TURN);
            *next = turn.checked_add(takes.min(TURN)).or(*next);
            turn
        };
        tokio::time::sleep(turn.saturating_duration_since(now)).await;
    }
}

/// Encodes a value of a query in the same way as the client.
pub(crate) fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'*');
    text.bytes().map(|byte| if is_plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") }).collect()
}

/// Encodes a key for the address of a request.
pub(crate) fn encoded_path(key: &str) -> String {
    key.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

/// Makes connections that go through a [`Wire`].
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Arc<Wire>);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client =
            client(self.0.patience()).map_err(|source| object_store::Error::Generic { store: "store", source })?;
        Ok(HttpClient::new(Layer { wire: Arc::clone(&self.0), client }))
    }
}

pub(crate) fn client(patience: &Patience) -> Result<HttpClient, Box<dyn std::error::Error + Send + Sync>> {
    // Following a redirect would send the session's token to another host.
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).http1_only();
    let builder = builder.timeout(patience.request).read_timeout(patience.silence);
    let builder = builder.connect_timeout(patience.connecting);
    Ok(HttpClient::new(builder.tls_backend_preconfigured(authorities()?).build()?))
}

/// Returns the TLS configuration, which trusts the certificate authorities of this system. The process reads the
/// authorities once, because reading them takes longer than a short request.
fn authorities() -> Result<ClientConfig, rustls::Error> {
    static KNOWN: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known.clone());
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?.with_platform_verifier()?;
    let mut known = builder.with_no_client_auth();
    known.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(KNOWN.get_or_init(|| known).clone())
}

#[derive(Debug)]
struct Layer {
    wire: Arc<Wire>,
    client: HttpClient,
}

impl Layer {
    /// Sends a request, and returns an answer whose body can have at most the length `expected`.
    async fn send(&self, request: HttpRequest, expected: Expected) -> Result<HttpResponse, HttpError> {
        let (own, bytes, sent) = (Own::client(), request.body().content_length(), Instant::now());
        // The answer to HEAD announces a length, but has no body.
        let is_head = request.method() == "HEAD";
        let answer = own.as_ref().unwrap_or(&self.client).execute(request);
        let answer = Pace::of_request(&self.wire, bytes).wait(answer).await.map_err(Fault::of_request)?;
        let response = answer.map_err(|error| match of_certificate(&error) {
            // The client does not retry errors of this kind: the store would show the same certificate again.
            Some(why) => HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(why)),
            None => {
                self.wire.trouble.note(Some("cannot be reached"));
                match error.kind() {
                    HttpErrorKind::Timeout => Fault::silent(sent.elapsed()).of_request(),
                    _ => error,
                }
            }
        })?;
        self.wire.trouble.note(match response.status().as_u16() {
            429 | 503 => Some("has too much to do"),
            500 | 502 | 504 => Some("has a fault"),
            _ => None,
        });
        check_headers(response.headers()).map_err(Fault::of_request)?;
        self.wire.compare_clocks(&response);
        if let Some(limit) = LIMIT.get().filter(|_| !is_head) {
            let length = response.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
            // Only the bytes that will be read count toward the limit.
            limit.wait(length.unwrap_or(0).min(expected.most())).await;
        }
        let expected = if response.status().is_success() { expected } else { Expected::ERROR };
        let (parts, body) = response.into_parts();
        Ok(HttpResponse::from_parts(parts, guarded(body, expected, &self.wire, sent)))
    }
}

/// Fails if the headers are too long to be stored for each part of an upload.
fn check_headers(headers: &HeaderMap) -> Result<(), Fault> {
    let length = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
    if length > HEADERS {
        return Err(Fault::protocol(format!("the headers of its answer are longer than {HEADERS} bytes")));
    }
    if headers.get("etag").is_some_and(|tag| tag.len() > TAG) {
        Err(Fault::protocol(format!("it gave a tag that is longer than {TAG} bytes")))
    } else {
        Ok(())
    }
}

#[async_trait]
impl HttpService for Layer {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.wire.requests.fetch_add(1, Ordering::Relaxed);
        if self.wire.is_careful(&request) {
            // The signature applies only to the headers that it lists, so this header can be added without a new
            // signature.
            request.headers_mut().insert("if-none-match", HeaderValue::from_static("*"));
        }
        // S3 and Google use the first form of the query, and Azure uses the second form.
        let mut query = request.uri().query().unwrap_or_default().split('&');
        let is_listing = request.method() == "GET" && query.any(|pair| matches!(pair, "list-type=2" | "comp=list"));
        let change = amend::amend(&self.wire, &mut request).await?;
        if let Some(limit) = LIMIT.get() {
            limit.wait(request.body().content_length() as u64).await;
        }
        let expected = Expected::for_request(&request, is_listing, change);
        let response = self.send(request, expected).await?;
        let mut response = match change {
            Change::None if is_listing => odd::sift(response).await?,
            Change::None => response,
            Change::Copy => amend::copied(response).await?,
            Change::List => amend::listed(response).await?,
        };
        let status = response.status().as_u16();
        if matches!(status, 301 | 302 | 303 | 307 | 308) {
            let to = response.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            let host = to.split('/').nth(2).unwrap_or(to);
            let why = format!("it redirects to {host}, which is not followed; check the region and the endpoint");
            return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(why)));
        }
        if response.status().is_success() {
            // The client returns extensions to this crate, but not all headers.
            let headers = response.headers().clone();
            response.extensions_mut().insert(headers);
        }
        if status == 501 {
            // The status is changed so that the client does not send the request again: the store would refuse the
            // request again.
            *response.status_mut() = reqwest::StatusCode::BAD_REQUEST;
        }
        if matches!(status, 429 | 503) {
            let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            // After this pause, the client makes its own pause, and then sends the request again.
            tokio::time::sleep(asked.map_or(Duration::ZERO, Duration::from_secs).min(PAUSE)).await;
        }
        Ok(response)
    }
}
