//! Informs the user when a store has not answered for some seconds and the program still waits or tries again.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The user gets a message only after requests have failed for this time. Most troubles end earlier.
const SHORT: Duration = Duration::from_secs(3);
/// The time between two notes.
const PERIOD: Duration = Duration::from_secs(30);

static TOLD: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that informs the user. The argument of the function is a text about the store, such as
/// `cannot be reached; its requests are tried again`. The function is called when requests have failed for some
/// seconds, or when a store has sent nothing or almost nothing for ten seconds. After the first call, this function is
/// called at most twice a minute. Only the first call of `tell_of_trouble` sets the function.
pub fn tell_of_trouble(told: fn(&str)) {
    let _ = TOLD.set(told);
}

/// The troubles of one store.
#[derive(Debug, Default)]
pub(crate) struct Trouble(Mutex<Times>);

impl Trouble {
    /// Records the reason why a request failed, or `None` if the store has answered.
    pub(crate) fn note(&self, why: Option<&str>) {
        let Some(told) = TOLD.get() else { return };
        let is_due = self.0.lock().note(why.is_some(), Instant::now());
        if let Some(why) = why.filter(|_| is_due) {
            told(&format!("{why}; its requests are tried again"));
        }
    }

    /// Records that the store has sent nothing or almost nothing for the time `quiet`.
    pub(crate) fn tell_of_silence(&self, quiet: Duration) {
        let Some(told) = TOLD.get() else { return };
        if self.0.lock().is_due(Instant::now()) {
            told(&format!(
                "has sent nothing or almost nothing for {} seconds or more, and is waited for",
                quiet.as_secs()
            ));
        }
    }
}

#[derive(Debug, Default)]
struct Times {
    /// The time when the first request failed after the last answer of the store.
    since: Option<Instant>,
    told: Option<Instant>,
}

impl Times {
    /// Returns whether the user must be informed now.
    fn note(&mut self, has_failed: bool, now: Instant) -> bool {
        if !has_failed {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        now - since >= SHORT && self.is_due(now)
    }

    /// Returns whether enough time has passed since the last message. If so, records a new message.
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.told.is_none_or(|told| now - told >= PERIOD);
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
