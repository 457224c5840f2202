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
    /// The time after the first try of a request in which the request is tried again.
    pub(crate) tries: Duration,
    /// A connection that is silent for this time is closed.
    pub(crate) silence: Duration,
    pub(crate) connecting: Duration,
    /// If the delay of a store, compared with the lowest rate, exceeds this time, the request fails. For example, the
    /// request fails if the store sends nothing for this time within an answer.
    pub(crate) window: Duration,
    /// The lowest rate of each answer, in bytes per second.
    pub(crate) rate: u32,
    /// If the delay of a store, compared with the lowest rate, exceeds this time, the user gets a message.
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

/// The assumed rate of sending a request, in bytes per second. The store counts as silent only after the request was
/// sent at this rate.
const SENDING: u32 = 500_000;

/// The pace of one answer. Only the time of waiting for the answer is measured.
pub(crate) struct Pace {
    wire: Arc<Wire>,
    /// Whether the answer must arrive at the lowest rate or faster.
    is_held: bool,
    /// The delay of the store, compared with the lowest rate.
    behind: Duration,
    /// The delay of the store at which the user gets the next message.
    told: Duration,
    waited: Duration,
    received: u64,
}

impl Pace {
    /// Returns the pace of an answer up to the beginning of its body. The request has `bytes` bytes. The lowest rate
    /// does not apply, since a store may need time for its answer.
    pub(crate) fn of_request(wire: &Arc<Wire>, bytes: usize) -> Self {
        let sending = Duration::from_secs_f64(bytes as f64 / f64::from(SENDING));
        Self { told: wire.patience().quiet + sending, ..Self::of_body(wire, false) }
    }

    /// Returns the pace of a body. If `is_held` is not set, a body below the lowest rate only leads to a message to the
    /// user.
    pub(crate) fn of_body(wire: &Arc<Wire>, is_held: bool) -> Self {
        let (behind, waited, told) = (Duration::ZERO, Duration::ZERO, wire.patience().quiet);
        Self { wire: Arc::clone(wire), is_held, behind, told, waited, received: 0 }
    }

    /// Waits for the next part of an answer, and informs the user if the store takes long.
    ///
    /// # Errors
    /// If the store is too slow compared with the lowest rate.
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
