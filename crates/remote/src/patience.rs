//! How long a store may take, and what is told of it meanwhile.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::fault::Fault;
use crate::wire::Wire;

/// How long a request waits for a store. Tests use shorter times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// One try of a request, with its whole answer: 8 MiB in ten minutes are 14 KB/s.
    pub(crate) request: Duration,
    /// A request is tried again only for so long after its first try.
    pub(crate) tries: Duration,
    /// A connection that is silent for so long is given up.
    pub(crate) silence: Duration,
    pub(crate) connecting: Duration,
    /// A store that is so far behind the lowest rate is given up, such as one that sends nothing for so long
    /// within an answer.
    pub(crate) window: Duration,
    /// The lowest rate: bytes in a second, of each answer.
    pub(crate) rate: u32,
    /// The user is told when a store is so far behind the lowest rate.
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

/// The rate at which a request is taken to be sent, before its store counts as silent.
const SENDING: u32 = 500_000;

/// The pace of one answer. Only the time counts in which the answer is waited for.
pub(crate) struct Pace {
    wire: Arc<Wire>,
    /// Whether the lowest rate holds.
    is_held: bool,
    /// How far the store is behind the lowest rate.
    behind: Duration,
    /// The delay of the store at which the user gets the next message.
    told: Duration,
    waited: Duration,
    received: u64,
}

impl Pace {
    /// Returns the pace of an answer to a request with so many bytes, up to the beginning of its body. The lowest rate
    /// does not hold: a store may have to work for its answer.
    pub(crate) fn of_request(wire: &Arc<Wire>, bytes: usize) -> Self {
        let sending = Duration::from_secs_f64(bytes as f64 / f64::from(SENDING));
        Self { told: wire.patience().quiet + sending, ..Self::of_body(wire, false) }
    }

    /// Returns the pace of a body. Unless it `is_held` to the lowest rate, the user is told only.
    pub(crate) fn of_body(wire: &Arc<Wire>, is_held: bool) -> Self {
        let (behind, waited, told) = (Duration::ZERO, Duration::ZERO, wire.patience().quiet);
        Self { wire: Arc::clone(wire), is_held, behind, told, waited, received: 0 }
    }

    /// Waits for the next part of an answer, and tells the user if the store takes long.
    ///
    /// # Errors
    /// If the store is too far behind the lowest rate.
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

    /// Counts bytes that have come.
    pub(crate) fn count(&mut self, bytes: u64) {
        let rate = self.wire.patience().rate;
        self.received += bytes;
        self.behind = self.behind.saturating_sub(Duration::from_secs_f64(bytes as f64 / f64::from(rate)));
        self.told = self.wire.patience().quiet.max(self.behind);
    }
}
