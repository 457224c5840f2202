//! The mode of AArch64 in which the time of an instruction does not depend on its data (DIT).
//!
//! Without this mode, an AArch64 CPU may take a different time for each operand, also in an addition. Each thread has
//! its own mode. On Linux, a new thread begins in the mode of the thread that started it.

/// Calls `work` in the mode of data-independent timing, and restores the previous mode after it.
///
/// Entering the mode waits until the CPU has finished all earlier instructions, so call this function once around an
/// operation, not around each comparison. Calls can be nested. If `work` returns a future or an iterator, it runs
/// outside of the mode. On CPUs without such a mode, the function only calls `work`. On x86-64, only the operating
/// system can enter a mode like this.
///
/// ```
/// use deadpan_ct::{CtEq, with_data_independent_timing};
///
/// let equal = with_data_independent_timing(|| [1_u8, 2, 3].ct_eq(&[1, 2, 3]));
/// assert!(equal.declassify());
/// ```
pub fn with_data_independent_timing<T>(work: impl FnOnce() -> T) -> T {
    cfg_select! {
        all(target_arch = "aarch64", not(deadpan_portable)) => { crate::imp::mode::with(work) }
        _ => { work() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
    use {crate::imp::mode, std::io::Write as _};

    #[test]
    fn returns_the_result_and_drops_the_function() {
        let text = std::string::String::from("a");
        assert_eq!(with_data_independent_timing(move || text + "b"), "ab");
        let outer = with_data_independent_timing(|| with_data_independent_timing(|| 1) + 1);
        assert_eq!(outer, 2);
    }

    #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
    #[test]
    fn the_mode_is_on_inside_and_as_before_outside() {
        let Some(before) = mode::is_on() else {
            // The test harness hides what `println!` prints, so this code writes directly to standard error.
            return writeln!(std::io::stderr(), "skipped: this CPU has no mode of data-independent timing").unwrap();
        };
        assert_eq!(with_data_independent_timing(mode::is_on), Some(true));
        assert_eq!(mode::is_on(), Some(before));
        let panic = std::panic::catch_unwind(|| with_data_independent_timing(|| panic!("on purpose")));
        assert!(panic.is_err());
        assert_eq!(mode::is_on(), Some(before), "after a panic");
        with_data_independent_timing(|| {
            with_data_independent_timing(|| ());
            assert_eq!(mode::is_on(), Some(true), "after an inner call");
            if cfg!(target_os = "linux") {
                assert_eq!(std::thread::spawn(mode::is_on).join().unwrap(), Some(true), "in a new thread");
            }
        });
    }
}
