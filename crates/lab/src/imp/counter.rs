//! The processor's time counter. Fences make sure that the measured code runs between the two readings.

/// The counter's name in reports.
pub(crate) const NAME: &str = if cfg!(target_arch = "x86_64") {
    "rdtsc"
} else if cfg!(target_arch = "aarch64") {
    "cntvct_el0"
} else {
    "none"
};

/// The name that reports show for a clock that adds up several counter readings.
pub(crate) const SPREAD: &str = "rdtsc, three readings";

/// Returns whether the processor has a counter with a constant rate.
#[cfg(target_arch = "x86_64")]
pub(crate) fn steady() -> bool {
    use core::arch::x86_64::__cpuid;
    if __cpuid(0x8000_0000).eax < 0x8000_0007 {
        return false;
    }
    // Bit 8 of leaf 8000_0007h is set if the counter runs at one rate in all power states. Bit 27 of leaf 8000_0001h is
    // set if the processor has `rdtscp`.
    __cpuid(0x8000_0007).edx & (1 << 8) != 0 && __cpuid(0x8000_0001).edx & (1 << 27) != 0
}

/// Reads the counter before the measured code.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn start() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: the fences and `rdtsc` change only the two registers. The compiler moves no memory access across the
    // block, because `nomem` is absent.
    unsafe {
        core::arch::asm!(
            "lfence", "rdtsc", "lfence",
            out("rax") low, out("rdx") high,
            options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

/// Reads the counter after the measured code.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn stop() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: `rdtscp` and the fence change only the three registers. `rdtscp` waits for all earlier instructions, and
    // the fence delays the later instructions. The compiler moves no memory access across the block, because `nomem` is
    // absent.
    unsafe {
        core::arch::asm!(
            "rdtscp", "lfence",
            out("rax") low, out("rdx") high, out("rcx") _,
            options(nostack, preserves_flags)
        );
    }
    high << 32 | low
}

/// Number of readings that [`spread`] adds up.
pub(crate) const READINGS: u64 = if cfg!(target_arch = "x86_64") { 3 } else { 1 };

/// Returns the sum of [`READINGS`] readings of a counter whose steps are far longer than the processor's cycle. The
/// time between two readings is a whole number of steps plus a third of a step, so the three readings fall into
/// different thirds of a step. The sum therefore shows in which third of a step the first reading happened. With a
/// single reading, the clock could miss a delay that is shorter than a step.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn spread() -> u64 {
    let sum: u64;
    // SAFETY: the block changes only the declared registers and the flags.
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
            // Each `lea` takes one cycle. A fence and a reading together take about two steps of 10 ns. The `lea`
            // instructions together take about a third of a step.
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

/// Returns the number of ticks per second that the firmware states.
#[cfg(target_arch = "aarch64")]
pub(crate) fn stated_rate() -> u64 {
    let hertz;
    // SAFETY: user mode may read this register, because it may read the counter. The instruction only reads it.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hertz, options(nomem, nostack, preserves_flags)) };
    hertz
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn start() -> u64 {
    let ticks: u64;
    // SAFETY: the barriers and the read of the virtual counter, which user mode may read, change only the register.
    unsafe {
        core::arch::asm!("dsb ish", "isb", "mrs {ticks}, \
            cntvct_el0", "isb", ticks = out(reg) ticks, options(nostack, preserves_flags));
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

/// Waits for all earlier instructions to complete.
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
