//! A delay of so many turns of the shortest loop: about one cycle each.

/// Takes about `turns` cycles.
#[inline(always)]
pub(crate) fn spin(turns: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: counts a register down, entered with at least one turn; touches flags and the register only.
    unsafe {
        core::arch::asm!("2:", "dec {turns:e}", "jnz 2b", turns = inout(reg) turns | u32::from(turns == 0) => _, options(nostack, nomem));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("2:", "subs {turns:w}, {turns:w}, #1", "b.ne 2b", turns = inout(reg) turns | u32::from(turns == 0) => _, options(nostack, nomem));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for turn in 0..turns {
        std::hint::black_box(turn);
    }
}
