//! Tells that a store does not answer, while its requests are tried again.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Requests have to fail for so long before it is told: most troubles are over before.
const SHORT: Duration = Duration::from_secs(3);
/// The time between two notes.
const PERIOD: Duration = Duration::from_secs(30);

static TOLD: OnceLock<fn(&str)> = OnceLock::new();

/// Has `told` called with a reason when requests to a store fail for some seconds, and about twice a minute while they
/// do. Only the first call counts.
pub fn tell_of_trouble(told: fn(&str)) {
    let _ = TOLD.set(told);
}

/// The troubles of one store.
#[derive(Debug, Default)]
pub(crate) struct Trouble(Mutex<Times>);

impl Trouble {
    /// Notes that a request failed for this reason, or with `None`, that the store has answered.
    pub(crate) fn note(&self, why: Option<&str>) {
        let Some(told) = TOLD.get() else { return };
        let is_due = self.0.lock().unwrap_or_else(PoisonError::into_inner).note(why.is_some(), Instant::now());
        if let Some(why) = why.filter(|_| is_due) {
            told(why);
        }
    }
}

#[derive(Debug, Default)]
struct Times {
    /// Since when no request was answered.
    since: Option<Instant>,
    told: Option<Instant>,
}

impl Times {
    /// Returns whether it is time to tell.
    fn note(&mut self, has_failed: bool, now: Instant) -> bool {
        if !has_failed {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let is_due = now - since >= SHORT && self.told.is_none_or(|told| now - told >= PERIOD);
        if is_due {
            self.told = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_troubles_are_told_now_and_then() {
        let (start, mut trouble) = (Instant::now(), Times::default());
        for (second, has_failed, is_due) in [
            (0, true, false),
            (2, true, false),
            (3, true, true),
            (20, true, false),
            (33, true, true),
            (34, false, false),
            (35, true, false),
            (38, true, false),
            (63, true, true),
        ] {
            assert_eq!(trouble.note(has_failed, start + Duration::from_secs(second)), is_due, "after {second} s");
        }
    }
}
