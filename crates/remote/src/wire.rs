//! What goes over the wire: a layer between the client of a store and its connections. It counts, waits where the store
//! asks for it, and adds what the client cannot express.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt, Limited};
use object_store::aws::AwsCredentialProvider;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientOptions, HeaderValue};

use crate::amend;

/// The longest time that a store may ask to wait before a request is tried again.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request that moves one part may take this long: 8 MiB in ten minutes are 14 KB/s.
const LONGEST: Duration = Duration::from_secs(600);
/// A connection that is silent for so long is given up.
const SILENCE: Duration = Duration::from_secs(60);
const CONNECTING: Duration = Duration::from_secs(10);

/// At most this many bytes are read of the text with which a store explains an error.
pub(crate) const LONGEST_ERROR: usize = 256 << 10;

/// What all requests to one store share.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    requests: AtomicU64,
    /// Uploads that must not replace an object.
    careful: Mutex<HashSet<String>>,
    /// The keys of an S3 store.
    credentials: OnceLock<AwsCredentialProvider>,
}

impl Wire {
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Signs requests that the client cannot make.
    pub(crate) fn sign_with(&self, credentials: &AwsCredentialProvider) {
        let _ = self.credentials.set(Arc::clone(credentials));
    }

    pub(crate) fn credentials(&self) -> Option<&AwsCredentialProvider> {
        self.credentials.get()
    }

    /// Completes the upload with this id only if there is no such object.
    pub(crate) fn be_careful(&self, upload: &str) {
        self.careful.lock().unwrap_or_else(PoisonError::into_inner).insert(upload.to_owned());
    }

    /// Whether this request completes such an upload.
    fn is_careful(&self, request: &HttpRequest) -> bool {
        let query = request.uri().query().unwrap_or_default();
        let id = query.split('&').find_map(|pair| pair.strip_prefix("uploadId="));
        let careful = self.careful.lock().unwrap_or_else(PoisonError::into_inner);
        request.method() == "POST" && id.is_some_and(|id| careful.iter().any(|one| encoded(one) == id))
    }
}

/// Encodes a value of a query as the client does.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'*');
    text.bytes().map(|byte| if is_plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") }).collect()
}

/// Makes connections that go through a [`Wire`].
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Arc<Wire>);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        // A store that redirects would have the session's token sent to another host.
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).http1_only();
        let builder = builder.timeout(LONGEST).read_timeout(SILENCE).connect_timeout(CONNECTING);
        let client =
            builder.build().map_err(|error| object_store::Error::Generic { store: "store", source: error.into() })?;
        Ok(HttpClient::new(Layer { wire: Arc::clone(&self.0), client: HttpClient::new(client) }))
    }
}

#[derive(Debug)]
struct Layer {
    wire: Arc<Wire>,
    client: HttpClient,
}

#[async_trait]
impl HttpService for Layer {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.wire.requests.fetch_add(1, Ordering::Relaxed);
        if self.wire.is_careful(&request) {
            // The signature covers the headers that it names, and this one need not be among them.
            request.headers_mut().insert("if-none-match", HeaderValue::from_static("*"));
        }
        let is_copy = amend::amend(&self.wire, &mut request).await?;
        let mut response = self.client.execute(request).await?;
        if is_copy {
            response = amend::copied(response).await?;
        }
        let status = response.status().as_u16();
        if matches!(status, 301 | 302 | 303 | 307 | 308) {
            let to = response.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            let host = to.split('/').nth(2).unwrap_or(to);
            let why = format!("it redirects to {host}, which is not followed; check the region and the endpoint");
            return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(why)));
        }
        if response.status().is_success() {
            // The client passes extensions on, and not all headers.
            let headers = response.headers().clone();
            response.extensions_mut().insert(headers);
        } else {
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, LONGEST_ERROR);
            let body = body.map_err(|error| HttpError::new_boxed(HttpErrorKind::Decode, error));
            response = HttpResponse::from_parts(parts, HttpResponseBody::new(body));
        }
        if status == 501 {
            // It will not be implemented when it is asked again.
            *response.status_mut() = reqwest::StatusCode::BAD_REQUEST;
        }
        if matches!(status, 429 | 503) {
            let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            // The client then waits for a while of its own, and tries again.
            tokio::time::sleep(asked.map_or(Duration::ZERO, Duration::from_secs).min(PATIENCE)).await;
        }
        Ok(response)
    }
}
