//! The mode of data-independent timing on AArch64.

use core::arch::asm;
use core::hint::black_box;

cpufeatures::new!(has_dit, "dit");

/// The bit of the register DIT that is set in the mode.
const ON: u64 = 1 << 24;

/// Calls `work` in the mode, if the CPU has it.
pub fn with<T>(work: impl FnOnce() -> T) -> T {
    if !is_available() {
        return work();
    }
    let _mode = Mode::enter();
    // The compiler may move arithmetic across an assembly statement, but not out of a function that it does not know.
    // So it must not know which function this is.
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
pub fn is_on() -> Option<bool> {
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
    // SAFETY: every program may read the register, and the callers have checked that the CPU has it. `s3_3_c4_c2_5` is
    // the name of DIT that every assembler knows.
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
