//! The mode of AArch64 in which the time of an instruction does not depend on its data (DIT).
//!
//! Without this mode, an AArch64 CPU may take a different time for each operand, also in an addition. The CPUs that are
//! sold today do so for few instructions, but new ones may do it for more. The mode belongs to the thread, and on Linux
//! to the threads that this thread starts.

/// Calls `work` in the mode of data-independent timing, and restores the previous mode after it.
///
/// Entering the mode waits until the CPU has finished all earlier instructions, so call this function once around an
/// operation, not around each comparison. On CPUs without such a mode, the function only calls `work`. On x86-64 there
/// is no such mode for programs: Intel's can be entered by the operating system alone.
///
/// ```
/// use deadpan_ct::{CtEq, with_data_independent_timing};
///
/// let equal = with_data_independent_timing(|| [1_u8, 2, 3].ct_eq(&[1, 2, 3]));
/// assert!(equal.declassify());
/// ```
pub fn with_data_independent_timing<T>(work: impl FnOnce() -> T) -> T {
    mode::with(work)
}

#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
#[allow(unsafe_code)]
mod mode {
    use core::arch::asm;
    use core::hint::black_box;

    cpufeatures::new!(has_dit, "dit");

    /// The bit of the register DIT that is set in the mode.
    const ON: u64 = 1 << 24;

    pub(super) fn with<T>(work: impl FnOnce() -> T) -> T {
        if !is_available() {
            return work();
        }
        let _mode = Mode::enter();
        // The compiler may move arithmetic across an assembly statement, but not out of a function that it does not
        // know. So it must not know which function this is.
        let mut work = Some(work);
        let mut result = None;
        let call: fn(&mut Option<_>, &mut Option<T>) = black_box(call);
        call(&mut work, &mut result);
        result.expect("the function has a result")
    }

    #[inline(never)]
    fn call<T, F: FnOnce() -> T>(work: &mut Option<F>, result: &mut Option<T>) {
        *result = work.take().map(|work| work());
    }

    /// Returns whether the mode is on, if the CPU has it.
    #[cfg(test)]
    pub(super) fn is_on() -> Option<bool> {
        is_available().then(|| read() & ON != 0)
    }

    #[cfg(not(all(test, target_os = "linux")))]
    fn is_available() -> bool {
        has_dit::get()
    }

    /// Asks the CPU too, because QEMU 7 has the mode but does not tell programs about it. Linux lets programs read this
    /// register.
    #[cfg(all(test, target_os = "linux"))]
    fn is_available() -> bool {
        let features: u64;
        // SAFETY: reading the register changes nothing.
        unsafe { asm!("mrs {0}, id_aa64pfr0_el1", out(reg) features, options(nomem, nostack, preserves_flags)) };
        has_dit::get() || features >> 48 & 0xf != 0
    }

    fn read() -> u64 {
        let register: u64;
        // SAFETY: every program may read the register, and the callers have checked that the CPU has it. `s3_3_c4_c2_5`
        // is the name of DIT that every assembler knows.
        unsafe { asm!("mrs {0}, s3_3_c4_c2_5", out(reg) register, options(nostack, preserves_flags)) };
        register
    }

    /// Restores the previous mode when it goes out of scope, also in a panic.
    struct Mode {
        before: u64,
    }

    impl Mode {
        fn enter() -> Self {
            let before = read();
            if before & ON == 0 {
                // The two barriers wait until no earlier instruction is in progress. Arm does not require them, but
                // Apple recommends a barrier against speculation. Its newer instruction `sb` is not on all CPUs.
                // SAFETY: as above.
                unsafe {
                    asm!("msr s3_3_c4_c2_5, {on}", "dsb nsh", "isb", on = in(reg) ON, options(nostack, preserves_flags))
                };
            }
            Self { before }
        }
    }

    impl Drop for Mode {
        fn drop(&mut self) {
            if self.before & ON == 0 {
                // SAFETY: as in `enter`.
                unsafe {
                    asm!("msr s3_3_c4_c2_5, {before}", before = in(reg) self.before, options(nostack, preserves_flags))
                };
            }
        }
    }
}

#[cfg(not(all(target_arch = "aarch64", not(deadpan_portable))))]
mod mode {
    pub(super) fn with<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            return std::println!("skipped: this CPU has no such mode");
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
