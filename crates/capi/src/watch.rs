//! Watching and stopping work from other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use deadpan_seal::Work;

/// Receives the number of bytes that are processed so far, and returns whether to continue.
type Callback = Box<dyn FnMut(u64) -> bool + Send>;

/// Options for work. Other threads may change the options while the work runs.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) threads: AtomicUsize,
    pub(crate) stop: AtomicBool,
    pub(crate) done: AtomicU64,
    /// Whether the callback has requested that the current work stops.
    enough: AtomicBool,
    callback: Mutex<Option<Arc<Mutex<Callback>>>>,
}

impl Watch {
    pub(crate) fn set_callback(&self, callback: Option<Callback>) {
        let callback = callback.map(|callback| Arc::new(Mutex::new(callback)));
        *self.callback.lock() = callback;
    }

    /// Calls the callback with the number of processed bytes, unless the callback is already running. The callback may
    /// be running on another thread, or on this thread if the callback itself uses the library.
    fn tell(&self) {
        let callback = self.callback.lock().clone();
        let Some(callback) = callback else { return };
        if let Some(mut callback) = callback.try_lock()
            && !callback(self.done.load(Ordering::Relaxed))
        {
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}

pub(crate) fn under<T>(watch: Option<&Watch>, run: impl FnOnce(&Work<'_>) -> T) -> T {
    let Some(watch) = watch else { return run(&Work::default()) };
    watch.done.store(0, Ordering::Relaxed);
    watch.enough.store(false, Ordering::Relaxed);
    let progress = |bytes| {
        watch.done.fetch_add(bytes, Ordering::Relaxed);
        watch.tell();
    };
    let stop = || watch.stop.load(Ordering::Relaxed) || watch.enough.load(Ordering::Relaxed);
    let result =
        run(&Work { threads: watch.threads.load(Ordering::Relaxed), progress: Some(&progress), stop: Some(&stop) });
    // The last report may be missing, because the callback may have been busy at that time. So this code reports the
    // final number once more.
    watch.tell();
    result
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
