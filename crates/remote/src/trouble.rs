//! Tells the user when a store has not answered for some seconds, while the client repeats its requests.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Requests have to fail for so long before the user is told. Most troubles end earlier.
const SHORT: Duration = Duration::from_secs(3);
/// The time between two notes.
const PERIOD: Duration = Duration::from_secs(30);

static TOLD: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that tells the user. It is called with the reason when requests to a store have failed for some
/// seconds, and then twice a minute until a request succeeds. Only the first call of `tell_of_trouble` has an effect.
pub fn tell_of_trouble(told: fn(&str)) {
    let _ = TOLD.set(told);
}

/// The troubles of one store.
#[derive(Debug, Default)]
pub(crate) struct Trouble(Mutex<Times>);

impl Trouble {
    /// Notes the reason why a request failed, or `None` if the store has answered.
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
    /// When the first of the requests failed that had no answer since.
    since: Option<Instant>,
    /// When the user was told last.
    told: Option<Instant>,
}

impl Times {
    /// Returns whether it is time to tell the user.
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
