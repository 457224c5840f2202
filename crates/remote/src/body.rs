//! Bodies of answers. A body must not be longer than requested, and must not arrive more slowly than the lowest allowed
//! rate.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::unfold;
use http_body_util::{BodyExt, StreamBody};
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponseBody};

use crate::amend::{Change, LONGEST_LIST};
use crate::fault::Fault;
use crate::odd::LONGEST as LONGEST_PAGE;
use crate::patience::Pace;
use crate::wire::Wire;

/// The longest text of an error, or of any other answer except a listing.
const TEXT: u64 = 256 << 10;

/// The expected kind of a body, and its longest length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// This number of bytes of an object. At most one more byte is read, so that the reader notices that the body is
    /// too long. If the body returned an error, the client would assume a broken connection, and would request the
    /// remaining bytes again and again.
    Data(u64),
    /// A text of at most this number of bytes.
    Text(u64),
    /// A text of at most this number of bytes, after a request that takes the store some time. While the store works,
    /// it may send white space at a slow rate.
    Work(u64),
}

impl Expected {
    /// The expected body of an error that a store reports: a short text.
    pub(crate) const ERROR: Self = Self::Text(TEXT);

    /// Returns the expected body of the answer to a request. `is_listing` states whether the request is for a listing,
    /// and `change` states how this crate has changed the request.
    pub(crate) fn for_request(request: &HttpRequest, is_listing: bool, change: Change) -> Self {
        let range = request.headers().get("range").and_then(|range| length_of(range.to_str().ok()?));
        let query = request.uri().query().unwrap_or_default();
        match (change, range) {
            (Change::List, _) => Self::Text(LONGEST_LIST),
            (Change::Copy, _) => Self::Work(TEXT),
            _ if is_listing => Self::Text(LONGEST_PAGE),
            _ if request.method() == "POST" && query.contains("uploadId=") => Self::Work(TEXT),
            (Change::None, Some(length)) => Self::Data(length),
            (Change::None, None) => Self::Text(TEXT),
        }
    }

    pub(crate) const fn most(self) -> u64 {
        match self {
            Self::Data(most) | Self::Text(most) | Self::Work(most) => most,
        }
    }
}

/// Returns the length of a range: `bytes=FIRST-LAST`.
fn length_of(range: &str) -> Option<u64> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
}

/// A body while it is read.
struct Guarded {
    body: HttpResponseBody,
    pace: Pace,
    expected: Expected,
    left: u64,
    /// The time when the request was sent.
    sent: Instant,
    is_over: bool,
}

/// Returns a body that is not longer than `expected`. `sent` is the time at which the request was sent.
pub(crate) fn guarded(body: HttpResponseBody, expected: Expected, wire: &Arc<Wire>, sent: Instant) -> HttpResponseBody {
    let more = u64::from(matches!(expected, Expected::Data(_)));
    let left = expected.most().saturating_add(more);
    let pace = Pace::of_body(wire, !matches!(expected, Expected::Work(_)));
    let guarded = Guarded { body, pace, expected, left, sent, is_over: false };
    // The client does not get the length that a store announces, since the client would reserve that number of bytes.
    let frames = unfold(guarded, |mut guarded| async move {
        if guarded.is_over {
            return None;
        }
        let frame = match guarded.pace.wait(guarded.body.frame()).await {
            Ok(None) => return None,
            Ok(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, |bytes| bytes.len());
                guarded.take(bytes).map(|bytes| frame.map_data(|data| data.slice(..bytes)))
            }
            Ok(Some(Err(error))) => Err(guarded.broken(error)),
            Err(fault) => Err(fault.of_request()),
        };
        guarded.is_over |= frame.is_err();
        Some((frame, guarded))
    });
    HttpResponseBody::new(StreamBody::new(frames.fuse()))
}

impl Guarded {
    /// Counts received bytes, and returns how many of them the client may get.
    fn take(&mut self, bytes: usize) -> Result<usize, HttpError> {
        self.pace.count(bytes as u64);
        if let Some(left) = self.left.checked_sub(bytes as u64) {
            self.left = left;
            return Ok(bytes);
        }
        self.is_over = true;
        match self.expected {
            Expected::Data(_) => Ok(self.left as usize),
            _ => Err(Fault::long(self.expected.most()).of_request()),
        }
    }

    /// If a connection was closed because a time limit expired, returns an error that states this cause.
    fn broken(&self, error: HttpError) -> HttpError {
        match error.kind() {
            HttpErrorKind::Timeout => Fault::unfinished(self.sent.elapsed()).of_request(),
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_lengths() {
        for (range, length) in [
            ("bytes=0-0", Some(1)),
            ("bytes=5-9", Some(5)),
            ("bytes=9-5", None),
            ("bytes=-5", None),
            ("bytes=5-", None),
            ("bytes=0-18446744073709551615", None),
            ("5-9", None),
        ] {
            assert_eq!(length_of(range), length, "{range}");
        }
    }
}
