//! Time limits for stores, and messages about slow stores.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::fault::Fault;
use crate::wire::Wire;

/// The time limits of a request to a store. Tests use shorter times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// The limit for one try of a request, including its whole answer. 8 MiB in ten minutes are 14 KB/s.
    pub(crate) request: Duration,
    /// After the first try of a request, the request is tried again for at most this time.
    pub(crate) tries: Duration,
    /// A connection that receives no data for this time is closed.
    pub(crate) silence: Duration,
    pub(crate) connecting: Duration,
    /// A request fails if the store lags behind the lowest rate by more than this time. For example, the request fails
    /// if the store sends nothing for this time in the middle of an answer.
    pub(crate) window: Duration,
    /// The lowest rate of each answer, in bytes per second.
    pub(crate) rate: u32,
    /// The user gets a message if the store lags behind the lowest rate by more than this time.
    pub(crate) quiet: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(600),
            tries: Duration::from_secs(180),
            silence: Duration::from_secs(60),
            connecting: Duration::from_secs(10),
            window: Duration::from_secs(30),
            rate: 1000,
            quiet: Duration::from_secs(10),
        }
    }
}

/// The assumed rate at which a request is sent, in bytes per second. Until the request could be sent completely at this
/// rate, the time without an answer is not measured as a delay.
const SENDING: u32 = 500_000;

/// The pace of one answer. Only the time in which this process waits for the answer is measured.
pub(crate) struct Pace {
    wire: Arc<Wire>,
    /// Whether the answer must arrive at the lowest rate or faster.
    is_held: bool,
    /// The time by which the store lags behind the lowest rate.
    behind: Duration,
    /// The user gets the next message when the delay of the store reaches this time.
    told: Duration,
    waited: Duration,
    received: u64,
}

impl Pace {
    /// Returns a `Pace` that measures an answer up to the beginning of its body. The request has `bytes` bytes. The
    /// lowest rate does not apply, since a store may need time for its answer.
    pub(crate) fn of_request(wire: &Arc<Wire>, bytes: usize) -> Self {
        let sending = Duration::from_secs_f64(bytes as f64 / f64::from(SENDING));
        Self { told: wire.patience().quiet + sending, ..Self::of_body(wire, false) }
    }

    /// Returns the pace of a body. If `is_held` is not set, a body that arrives below the lowest rate causes a message
    /// to the user, but no error.
    pub(crate) fn of_body(wire: &Arc<Wire>, is_held: bool) -> Self {
        let (behind, waited, told) = (Duration::ZERO, Duration::ZERO, wire.patience().quiet);
        Self { wire: Arc::clone(wire), is_held, behind, told, waited, received: 0 }
    }

    /// Waits for the next part of an answer, and informs the user if the store needs a long time.
    ///
    /// # Errors
    /// If the store lags too far behind the lowest rate.
    pub(crate) async fn wait<T>(&mut self, coming: impl Future<Output = T>) -> Result<T, Fault> {
        let (patience, start, mut coming) = (*self.wire.patience(), Instant::now(), pin!(coming));
        loop {
            let behind = self.behind + start.elapsed();
            if self.is_held && behind >= patience.window {
                let waited = self.waited + start.elapsed();
                return Err(Fault::slow(self.received, waited, patience.rate.into()));
            }
            if behind >= self.told {
                self.wire.trouble().tell_of_silence(patience.quiet);
                self.told = behind + patience.quiet;
            }
            let next = if self.is_held { self.told.min(patience.window) } else { self.told };
            if let Ok(come) = timeout(next.saturating_sub(behind), coming.as_mut()).await {
                self.waited += start.elapsed();
                self.behind += start.elapsed();
                return Ok(come);
            }
        }
    }

    /// Counts received bytes.
    pub(crate) fn count(&mut self, bytes: u64) {
        let rate = self.wire.patience().rate;
        self.received += bytes;
        self.behind = self.behind.saturating_sub(Duration::from_secs_f64(bytes as f64 / f64::from(rate)));
        self.told = self.wire.patience().quiet.max(self.behind);
    }
}
