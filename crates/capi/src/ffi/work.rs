//! Watching and stopping work.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::border::{give, held, ready, set};
use super::kinds::dp_work;
use crate::watch::Watch;

/// Receives the number of bytes that are processed so far. A result other than 0 stops the work.
type Progress = Option<unsafe extern "C" fn(done: u64, user: *mut c_void) -> i32>;

/// A pointer of the caller. The argument that the caller's callbacks get.
#[derive(Clone, Copy)]
pub(super) struct User(pub(super) *mut c_void);

// SAFETY: this library never dereferences the pointer, and deadpan.h states that callbacks may run on other threads.
unsafe impl Send for User {}

impl User {
    /// Returns the pointer. `pointer` is a method, so that closures capture the whole value instead of its field.
    pub(super) fn pointer(self) -> *mut c_void {
        self.0
    }
}

exports! {
    /// Makes options for work.
    fn dp_work_new(work: *mut *mut dp_work) {
        ready(work)?;
        give(work, Watch::default())
    }

    /// Sets the number of threads. 0 stands for one thread on each core.
    fn dp_work_threads(work: *const dp_work, threads: u32) {
        held::<Watch, _>(work)?.threads.store(threads as usize, Ordering::Relaxed);
        Ok(())
    }

    /// Sets a callback that receives the number of bytes that are processed so far. NULL stands for no callback.
    fn dp_work_watch(work: *const dp_work, progress: Progress, user: *mut c_void) {
        let watch = held::<Watch, _>(work)?;
        let user = User(user);
        watch.set_callback(progress.map(|progress| -> Box<dyn FnMut(u64) -> bool + Send> {
            Box::new(move |done| progress(done, user.pointer()) == 0)
        }));
        Ok(())
    }

    /// If `stop` is 0, allows new work; otherwise stops the work. Any thread may call this function.
    fn dp_work_stop(work: *const dp_work, stop: i32) {
        held::<Watch, _>(work)?.stop.store(stop != 0, Ordering::Relaxed);
        Ok(())
    }

    fn dp_work_done(work: *const dp_work, done: *mut u64) {
        set(done, held::<Watch, _>(work)?.done.load(Ordering::Relaxed))
    }
}

frees! {
    /// Frees options for work.
    dp_work_free(dp_work => Watch);
}
