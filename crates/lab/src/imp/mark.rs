//! Instructions that mark where the traced part of a call begins and ends. The mark instructions do nothing: on x86-64,
//! `nop dword ptr [rax + MARK]`, and on AArch64, `movz xzr, #MARK`, which writes to the zero register.

/// The displacement in the start instruction. Its bytes in memory are `lab1`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) const START_MARK: u32 = u32::from_le_bytes(*b"lab1");
/// The displacement in the stop instruction. Its bytes in memory are `lab2`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) const STOP_MARK: u32 = u32::from_le_bytes(*b"lab2");

/// The number in the start instruction.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
pub(crate) const START_MARK: u32 = 0x1ab1;
/// The number in the stop instruction.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
pub(crate) const STOP_MARK: u32 = 0x1ab2;

#[inline(always)]
pub(crate) fn start() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    // SAFETY: the instruction does nothing. The compiler moves no memory access across the instruction, because `nomem`
    // is absent.
    unsafe {
        core::arch::asm!("nop dword ptr [rax + {}]", const START_MARK, options(nostack, preserves_flags));
    }
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("movz xzr, #{}", const START_MARK, options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub(crate) fn stop() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    // SAFETY: as in `start`.
    unsafe {
        core::arch::asm!("nop dword ptr [rax + {}]", const STOP_MARK, options(nostack, preserves_flags));
    }
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    // SAFETY: as in `start`.
    unsafe {
        core::arch::asm!("movz xzr, #{}", const STOP_MARK, options(nostack, preserves_flags));
    }
}
