//! Compares the times of sources and results, although this machine and the stores have different clocks.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::source::Source;
use crate::{Pair, Spot};

/// The maximum time to wait until the clock shows a later second than the time of a source. The time of the store's
/// clock is known with an error of one or two seconds.
const LONGEST: Duration = Duration::from_secs(6);

/// Returns the possible error of a difference between two clocks, in seconds.
const fn doubt(ahead: i64) -> i64 {
    if ahead == 0 { 0 } else { 2 }
}

/// The time in which a file system counts: two changes of a file in this time may have the same time.
const TICK: Duration = Duration::from_millis(20);
/// The time in which a file system counts that has whole seconds, or even seconds only.
const WHOLE_TICK: Duration = Duration::from_millis(2100);

/// Whether a time is that of a file system without parts of seconds.
fn is_whole(changed: SystemTime) -> bool {
    changed.duration_since(UNIX_EPOCH).is_ok_and(|since| since.subsec_nanos() == 0)
}

/// Whether a target was written before its source changed. A target in a folder is also treated as older if its time is
/// in the future, or if the source's file system has whole seconds and both have the same second. A target in a store
/// is also treated as older if it was written in the same second in which its source changed. The clock of a store
/// counts whole seconds, and may differ from the clock of this machine, which sets the times of files.
pub(crate) fn is_older(written: SystemTime, changed: SystemTime, pair: &Pair) -> bool {
    let seconds = |time: SystemTime| match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs().cast_signed(),
        Err(before) => -before.duration().as_secs().cast_signed(),
    };
    let ahead = match (&pair.source, &pair.target) {
        // The clock was ahead when the result was written.
        (_, Spot::File(_)) if written > SystemTime::now() => return true,
        (Spot::File(_), Spot::File(_)) if is_whole(changed) => return seconds(written) <= seconds(changed),
        (_, Spot::File(_)) => return written < changed,
        (Spot::File(_), Spot::Object(to, _)) => to.ahead(),
        (Spot::Object(from, _), Spot::Object(to, _)) => to.ahead() - from.ahead(),
    };
    seconds(written) <= seconds(changed).saturating_add(ahead).saturating_add(doubt(ahead))
}

/// Waits until a further change of a source would get another time than its last change. Otherwise, later runs would
/// not notice a change that was made right after the source was read. Returns whether the function has waited.
pub(crate) fn wait_for_tick(source: &Source, target: &Spot) -> bool {
    let (Source::File(..), Spot::File(_)) = (source, target) else { return false };
    let changed = source.changed();
    let due = changed.checked_add(if is_whole(changed) { WHOLE_TICK } else { TICK });
    let wait = due.and_then(|due| due.duration_since(SystemTime::now()).ok());
    // The function does not wait for a source whose time is in the future.
    match wait.filter(|wait| *wait <= WHOLE_TICK) {
        Some(wait) => thread::sleep(wait),
        None => return false,
    }
    true
}

/// Waits until a new result in a store gets a time that is at least one second later than the time of its source. From
/// the two times, the next run recognizes that the result is newer.
pub(crate) fn wait_for_second(source: &Source, target: &Spot) {
    let Spot::Object(store, _) = target else { return };
    let (now, modified) = (SystemTime::now(), source.changed());
    let ahead = Duration::from_secs(store.ahead().unsigned_abs());
    let now = match source {
        Source::File(..) => Some(now),
        Source::Object(_) if store.ahead() < 0 => now.checked_sub(ahead),
        Source::Object(_) => now.checked_add(ahead),
    };
    let due = modified.checked_add(Duration::from_millis(1100 + 1000 * doubt(store.ahead()).unsigned_abs()));
    let wait = due.zip(now).and_then(|(due, now)| due.duration_since(now).ok());
    // The function does not wait for a source whose time is in the future.
    thread::sleep(wait.filter(|wait| *wait < LONGEST).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::tree::{Tree, TreeFile};

    #[test]
    fn times_in_the_future_and_whole_seconds_are_in_doubt() {
        let spot = || Spot::File(TreeFile { tree: Tree::new(PathBuf::new()), name: "a".into() });
        let pair = Pair { name: "a".into(), source: spot(), target: spot(), length: 1, replace: false };
        let at = |millis: u64| UNIX_EPOCH + Duration::from_millis(1_000_000_000_000 + millis);
        for (written, changed, expected) in [
            (at(1500), at(1499), false),
            (at(1500), at(1500), false),
            (at(1500), at(1501), true),
            // The source's file system counts whole seconds.
            (at(1999), at(1000), true),
            (at(2000), at(1000), false),
            (at(1000), at(2000), true),
            // The clock was ahead.
            (SystemTime::now() + Duration::from_secs(60), at(0), true),
        ] {
            assert_eq!(is_older(written, changed, &pair), expected, "{written:?} {changed:?}");
        }
    }
}
