//! Watching and stopping work from other threads.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use deadpan_seal::Work;

/// Is told how many bytes are done, and returns whether to go on.
type Callback = Box<dyn FnMut(u64) -> bool + Send>;

/// Options of work, which other threads may change while it runs.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) threads: AtomicUsize,
    pub(crate) stop: AtomicBool,
    pub(crate) done: AtomicU64,
    callback: Mutex<Option<Callback>>,
}

impl Watch {
    pub(crate) fn set_callback(&self, callback: Option<Callback>) {
        *self.callback.lock().unwrap_or_else(PoisonError::into_inner) = callback;
    }

    /// Counts bytes, and tells the callback, one thread at a time.
    fn progress(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let mut callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner);
        if callback.as_mut().is_some_and(|callback| !callback(done)) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs work under a watch, if there is one.
pub(crate) fn under<T>(watch: Option<&Watch>, run: impl FnOnce(&Work<'_>) -> T) -> T {
    let Some(watch) = watch else { return run(&Work::default()) };
    watch.done.store(0, Ordering::Relaxed);
    let progress = |bytes| watch.progress(bytes);
    let stop = || watch.stop.load(Ordering::Relaxed);
    run(&Work { threads: watch.threads.load(Ordering::Relaxed), progress: Some(&progress), stop: Some(&stop) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_stops_the_work() {
        let watch = Watch::default();
        watch.set_callback(Some(Box::new(|done| done < 3)));
        let told = under(Some(&watch), |work| {
            let stop = || work.stop.is_some_and(|stop| stop());
            let progress = |bytes| work.progress.expect("it is watched")(bytes);
            progress(2);
            let before = stop();
            progress(2);
            (before, stop())
        });
        assert_eq!(told, (false, true));
        assert_eq!(watch.done.load(Ordering::Relaxed), 4);
    }
}
