//! Requests of S3 that the client cannot make. This module adds headers to a request of the client and signs the
//! request again. The client handles retries, pauses and addresses of these requests, too.

use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody};
use object_store::path::Path;
use object_store::signer::HeaderName;
use object_store::{HeaderMap, HeaderValue, ObjectStoreExt};
use reqwest::StatusCode;

use crate::wire::Wire;
use crate::{Store, xml};

/// The header that names the object from which the store copies a part.
pub(crate) const COPY_SOURCE: HeaderName = HeaderName::from_static("x-amz-copy-source");

const AUTHORIZATION: &str = "authorization";
const CUSTOMER_KEY: &str = "x-amz-server-side-encryption-customer-";

/// The longest list that is read. A list of a thousand parts is half as long as this limit.
pub(crate) const LONGEST_LIST: u64 = 1 << 20;

tokio::task_local! {
    static HEADERS: HeaderMap;
    static QUERY: String;
}

/// The change of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// The request asks the store to copy.
    Copy,
    /// The request returns a list, and not an object.
    List,
}

/// Sends a query about an object to S3, and returns the text of the answer.
pub(crate) async fn ask(store: &Store, path: &Path, query: String) -> object_store::Result<String> {
    let list = QUERY.scope(query, async { store.objects.get(path).await?.bytes().await }).await?;
    Ok(String::from_utf8_lossy(&list).into_owned())
}

/// Adds `headers` to the requests about uploads that `requests` sends. Does not change requests for credentials.
pub(crate) async fn with<T>(headers: HeaderMap, requests: impl Future<Output = T>) -> T {
    HEADERS.scope(headers, requests).await
}

/// Adds the headers of [`with`] or the query of [`ask`] to a request.
pub(crate) async fn amend(wire: &Wire, request: &mut HttpRequest) -> Result<Change, HttpError> {
    if let (Ok(query), "GET", None) = (QUERY.try_with(Clone::clone), request.method().as_str(), request.uri().query()) {
        let uri = format!("{}?{query}", request.uri()).parse();
        *request.uri_mut() = uri.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        sign(wire, request).await?;
        return Ok(Change::List);
    }
    let Ok(more) = HEADERS.try_with(Clone::clone) else { return Ok(Change::None) };
    let query = request.uri().query().unwrap_or_default();
    if !query.split('&').any(|pair| pair.starts_with("uploads") || pair.starts_with("uploadId=")) {
        return Ok(Change::None);
    }
    let is_copy = more.contains_key(COPY_SOURCE);
    add(request.headers_mut(), more);
    if is_copy {
        *request.body_mut() = HttpRequestBody::empty();
    }
    sign(wire, request).await?;
    Ok(if is_copy { Change::Copy } else { Change::None })
}

/// Signs a request again.
async fn sign(wire: &Wire, request: &mut HttpRequest) -> Result<(), HttpError> {
    // A client that does not sign its requests has no region for the signature.
    if let (Some(credentials), Some(region)) = (wire.credentials(), region(request.headers())) {
        let credentials = credentials.get_credential().await.map_err(unsigned)?;
        request.headers_mut().remove(AUTHORIZATION);
        AwsAuthorizer::new(&credentials, "s3", &region).try_authorize(request, None).map_err(unsigned)?;
    }
    Ok(())
}

fn unsigned(error: object_store::Error) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, error)
}

fn add(headers: &mut HeaderMap, more: HeaderMap) {
    if more.contains_key(COPY_SOURCE) {
        // The checksum is for the empty body of this request, and not for the copied part.
        headers.remove("x-amz-checksum-sha256");
        headers.remove("x-amz-checksum-crc64nvme");
        // The store encrypts the new object with the key of the old object.
        let keys = headers.iter().filter_map(|(name, value)| {
            let rest = name.as_str().strip_prefix(CUSTOMER_KEY)?;
            let name = format!("x-amz-copy-source-server-side-encryption-customer-{rest}");
            Some((HeaderName::try_from(name).ok()?, value.clone()))
        });
        let keys: Vec<_> = keys.collect();
        headers.extend(keys);
    }
    for (name, value) in &more {
        headers.insert(name, value.clone());
    }
}

/// Returns the region for which a request was signed: `Credential=KEY/DATE/REGION/s3/aws4_request, …`.
fn region(headers: &HeaderMap) -> Option<String> {
    let (_, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once("Credential=")?;
    rest.split(',').next()?.rsplit('/').nth(2).map(str::to_owned)
}

/// Converts an answer that contains a list into the answer to a request for an object, which the client expects.
pub(crate) async fn listed(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    if !response.status().is_success() {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let body = body.bytes().await?;
    for (name, value) in [
        ("content-length", HeaderValue::from(body.len())),
        ("etag", HeaderValue::from_static("\"list\"")),
        ("last-modified", HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT")),
    ] {
        parts.headers.insert(name, value);
    }
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(body)))
}

/// Converts the answer to a copy request into the answer to an uploaded part, which the client expects: the tag moves
/// from the body to a header. An error that the store sends with status 200 gets an error status.
pub(crate) async fn copied(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    if !response.status().is_success() {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let body = body.bytes().await?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let tagged = xml::text(&text, "ETag").filter(|_| !text.contains("<Error>"));
    let Some(value) = tagged.and_then(|tag| HeaderValue::from_str(&tag).ok()) else {
        parts.status = match xml::text(&text, "Code").as_deref() {
            Some("PreconditionFailed") => StatusCode::PRECONDITION_FAILED,
            Some("NoSuchKey" | "NoSuchUpload") => StatusCode::NOT_FOUND,
            Some("AccessDenied") => StatusCode::FORBIDDEN,
            // The client repeats a request that the store cannot execute at the moment. The client also repeats a
            // request if the connection breaks during the answer.
            Some("InternalError" | "SlowDown" | "ServiceUnavailable" | "RequestTimeout") | None => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Some(_) => StatusCode::BAD_REQUEST,
        };
        return Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(text)));
    };
    parts.headers.insert("etag", value);
    for (header, name) in
        [("x-amz-checksum-sha256", "ChecksumSHA256"), ("x-amz-checksum-crc64nvme", "ChecksumCRC64NVME")]
    {
        if let Some(value) = xml::text(&text, name).and_then(|value| HeaderValue::from_str(&value).ok()) {
            parts.headers.insert(header, value);
        }
    }
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(String::new())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::runtime;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_request_for_a_part_becomes_one_for_a_copy() {
        let mut request = headers(&[
            ("x-amz-checksum-sha256", "that of nothing"),
            ("x-amz-server-side-encryption-customer-key", "key"),
            ("x-amz-request-payer", "requester"),
        ]);
        add(&mut request, headers(&[("x-amz-copy-source", "b/k"), ("x-amz-copy-source-range", "bytes=0-1")]));
        let wanted = headers(&[
            ("x-amz-server-side-encryption-customer-key", "key"),
            ("x-amz-copy-source-server-side-encryption-customer-key", "key"),
            ("x-amz-request-payer", "requester"),
            ("x-amz-copy-source", "b/k"),
            ("x-amz-copy-source-range", "bytes=0-1"),
        ]);
        assert_eq!(request, wanted);
    }

    #[test]
    fn the_region_is_that_of_the_signature() {
        for (text, wanted) in [
            ("AWS4-HMAC-SHA256 Credential=A/B/20261126/eu-west-1/s3/aws4_request, SignedHeaders=", Some("eu-west-1")),
            ("Bearer token", None),
        ] {
            assert_eq!(region(&headers(&[(AUTHORIZATION, text)])).as_deref(), wanted);
        }
        assert_eq!(region(&HeaderMap::new()), None);
    }

    #[test]
    fn answers_to_copies_are_those_to_parts() {
        let answer = |status: u16, text: &str| {
            let mut response = HttpResponse::new(HttpResponseBody::from(text.to_owned()));
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            let response = runtime().expect("threads").block_on(copied(response)).expect("an answer");
            let tag = response.headers().get("etag").map(|tag| tag.to_str().expect("text").to_owned());
            (response.status().as_u16(), tag)
        };
        let done = "<CopyPartResult><ETag>&quot;tag&quot;</ETag></CopyPartResult>";
        assert_eq!(answer(200, done), (200, Some("\"tag\"".into())));
        assert_eq!(answer(200, &done.replace("&quot;", "&#34;")), (200, Some("\"tag\"".into())));
        for (status, text, wanted) in [
            (200, "<Error><Code>InternalError</Code></Error>", 503),
            (200, "<Error><Code>SlowDown</Code></Error>", 503),
            (200, "<Error><Code>PreconditionFailed</Code></Error>", 412),
            (200, "<Error><Code>NoSuchKey</Code></Error>", 404),
            (200, "<Error><Code>Strange</Code><ETag>tag</ETag></Error>", 400),
            (200, "<CopyPartResult><ET", 503),
            (200, "", 503),
            (500, done, 500),
        ] {
            assert_eq!(answer(status, text), (wanted, None), "{text}");
        }
    }
}
