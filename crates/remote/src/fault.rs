//! Faults of a store, as errors that the client can return.

use std::fmt;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};

use crate::Problem;

/// A fault of a store. [`Error::of`](crate::Error::of) finds the fault among the causes of the client's error.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) problem: Problem,
    what: String,
}

impl Fault {
    /// Returns the fault of a store that does not follow its protocol.
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self { problem: Problem::Protocol, what: what.into() }
    }

    /// Returns the fault of an answer that is longer than `most` bytes.
    pub(crate) fn long(most: u64) -> Self {
        Self::protocol(format!("its answer is longer than {most} bytes"))
    }

    /// Returns the fault of an answer with more or fewer bytes of an object than requested.
    pub(crate) fn length() -> Self {
        Self::protocol("it gave another number of bytes than were asked for")
    }

    /// Returns the fault of an answer that comes at less than the lowest rate.
    pub(crate) fn slow(bytes: u64, time: Duration, least: u64) -> Self {
        let what = format!("it sent {bytes} bytes in {} seconds, and {least} in a second are the least", seconds(time));
        Self { problem: Problem::Slow, what }
    }

    /// Returns the fault of an answer that was still incomplete after the given time.
    pub(crate) fn unfinished(time: Duration) -> Self {
        Self { problem: Problem::Slow, what: format!("its answer was not whole after {} seconds", seconds(time)) }
    }

    /// Returns the fault of a store that did not answer in time.
    pub(crate) fn silent(time: Duration) -> Self {
        Self { problem: Problem::Unreachable, what: format!("it did not answer within {} seconds", seconds(time)) }
    }

    /// Returns the fault as the error of a request. After a fault, the client repeats only a request that took too
    /// long.
    pub(crate) fn of_request(self) -> HttpError {
        let kind = match self.problem {
            Problem::Slow | Problem::Unreachable => HttpErrorKind::Timeout,
            _ => HttpErrorKind::Unknown,
        };
        HttpError::new(kind, self)
    }

    pub(crate) fn of_client(self) -> object_store::Error {
        object_store::Error::Generic { store: "store", source: Box::new(self) }
    }

    /// Looks for a fault among the causes of an error.
    pub(crate) fn among<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
    }
}

fn seconds(time: Duration) -> u64 {
    time.as_secs_f64().round() as u64
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}
