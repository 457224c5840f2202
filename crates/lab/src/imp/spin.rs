//! A delay loop whose iterations take about one cycle each.

/// Waits for about `turns` cycles.
#[inline(always)]
pub(crate) fn spin(turns: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the loop decrements a register that starts at one or more. The loop changes only that register and the
    // flags.
    unsafe {
        core::arch::asm!("2:", "dec {turns:e}", "jnz \
            2b", turns = inout(reg) turns | u32::from(turns == 0) => _, options(nostack, nomem));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the loop decrements a register that starts at one or more. The loop changes only that register and the
    // flags.
    unsafe {
        core::arch::asm!("2:", "subs {turns:w}, {turns:w}, #1", "b.ne \
            2b", turns = inout(reg) turns | u32::from(turns == 0) => _, options(nostack, nomem));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for turn in 0..turns {
        std::hint::black_box(turn);
    }
}
