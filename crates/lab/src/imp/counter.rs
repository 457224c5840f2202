//! The processor's time counter, fenced so that what is measured stays between the two readings.

/// Its name in reports.
pub(crate) const NAME: &str = if cfg!(target_arch = "x86_64") {
    "rdtsc"
} else if cfg!(target_arch = "aarch64") {
    "cntvct_el0"
} else {
    "none"
};

/// Its name where its readings are added up.
pub(crate) const SPREAD: &str = "rdtsc, three readings";

/// Whether there is a counter with a constant rate.
#[cfg(target_arch = "x86_64")]
pub(crate) fn steady() -> bool {
    use core::arch::x86_64::__cpuid;
    if __cpuid(0x8000_0000).eax < 0x8000_0007 {
        return false;
    }
    // Bit 8 of leaf 8000_0007h: the counter runs at one rate in all power states. Bit 27 of 8000_0001h: `rdtscp`.
    __cpuid(0x8000_0007).edx & (1 << 8) != 0 && __cpuid(0x8000_0001).edx & (1 << 27) != 0
}

/// Read before what is measured.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn start() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: fences and `rdtsc` change nothing but the two registers. The compiler moves no memory access across, as `nomem` is absent.
    unsafe {
        core::arch::asm!("lfence", "rdtsc", "lfence", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// Read after it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn stop() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: as in `start`; `rdtscp` writes `rcx` too. It waits for all earlier instructions, the fence holds the later ones back.
    unsafe {
        core::arch::asm!("rdtscp", "lfence", out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags));
    }
    high << 32 | low
}

/// Readings that [`spread`] adds up.
pub(crate) const READINGS: u64 = if cfg!(target_arch = "x86_64") { 3 } else { 1 };

/// The sum of [`READINGS`] readings, whole steps of the counter and a third of one apart. Where the counter moves in steps far longer than
/// the processor's cycle, each of them meets a step at another phase, so that their sum tells in which part of a step they began. A call
/// whose end falls just after a step would otherwise hide whatever comes later by less than a step.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn spread() -> u64 {
    let sum: u64;
    // SAFETY: as in `start`; the additions change registers only.
    unsafe {
        core::arch::asm!(
            "lfence",
            "xor {sum:e}, {sum:e}",
            "mov {left:e}, 2",
            "2:",
            "rdtsc",
            "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            "add {sum}, rax",
            // One cycle each: a fence and a reading take about two steps of 10 ns, and these about a third of one.
            ".rept 13",
            "lea {sum}, [{sum} + 1]",
            ".endr",
            "sub {sum}, 13",
            "lfence",
            "dec {left:e}",
            "jnz 2b",
            "rdtsc",
            "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            "add {sum}, rax",
            sum = out(reg) sum,
            left = out(reg) _,
            out("rax") _,
            out("rdx") _,
            options(nostack),
        );
    }
    sum
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn spread() -> u64 {
    start()
}

#[cfg(target_arch = "aarch64")]
pub(crate) fn steady() -> bool {
    true
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn start() -> u64 {
    let ticks: u64;
    // SAFETY: barriers and a read of the virtual counter, which user mode may read; only the register changes.
    unsafe {
        core::arch::asm!("dsb ish", "isb", "mrs {ticks}, cntvct_el0", "isb", ticks = out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn stop() -> u64 {
    start()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn steady() -> bool {
    false
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn start() -> u64 {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn stop() -> u64 {
    0
}

/// Lets everything finish that has begun.
#[inline(always)]
pub(crate) fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a fence changes nothing.
    unsafe {
        core::arch::asm!("lfence", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier changes nothing.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags));
    }
}
