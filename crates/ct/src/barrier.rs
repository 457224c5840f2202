//! The optimisation barrier: a value goes in, the same value comes out, and the compiler knows nothing about it any more.
//!
//! Tier 1 is an empty assembly statement on a register: no instruction, no memory. Tier 2, for targets where inline assembly is not
//! stable, is `black_box`, which costs a store and a load.

/// Returns `mask` as a value that the compiler can assume nothing about.
#[inline(always)]
#[must_use]
pub(crate) fn hide(mask: usize) -> usize {
    #[cfg(all(
        not(deadpan_portable),
        any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "arm",
            target_arch = "aarch64",
            target_arch = "riscv32",
            target_arch = "riscv64",
            target_arch = "loongarch64",
            target_arch = "s390x"
        )
    ))]
    {
        let mut mask = mask;
        // SAFETY: the statement is empty (the operand stands in a comment), so it reads and writes nothing but its own register and
        // leaves flags and stack alone, as the options promise.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
        }
        mask
    }
    #[cfg(not(all(
        not(deadpan_portable),
        any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "arm",
            target_arch = "aarch64",
            target_arch = "riscv32",
            target_arch = "riscv64",
            target_arch = "loongarch64",
            target_arch = "s390x"
        )
    )))]
    core::hint::black_box(mask)
}
