//! Reads the processor time of a thread. The processor time does not grow while other programs use the processor.

/// Returns the seconds of processor time that this thread has used. If the system has no clock for processor time,
/// returns the time since an arbitrary moment.
#[cfg(unix)]
pub(crate) fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is live and writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(not(unix))]
pub(crate) fn seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let begin = seconds();
        while seconds() - begin < 0.002 {
            std::hint::black_box(0);
        }
        assert!(seconds() > begin);
    }
}
