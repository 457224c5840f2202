//! Finds out whether an emulator runs this program. The times of an emulator say nothing about a processor, so the lab
//! refuses to measure them.
//!
//! Only builds for AArch64 look for an emulator, because other machines often emulate AArch64. An emulator that
//! imitates a processor of a certain maker, for instance QEMU with `-cpu cortex-a72` and a kernel of its own, is not
//! found.

#[cfg(target_arch = "aarch64")]
use std::fs;
#[cfg(target_arch = "aarch64")]
use std::sync::OnceLock;

use crate::clock::Clock;

/// The reason why an emulator of single programs runs no traces.
#[cfg(feature = "trace")]
pub(crate) const NO_TRACES: &str =
    "traces do not work under an emulator of single programs, such as qemu-user: they need a kernel for this processor";
#[cfg(target_arch = "aarch64")]
const NO_TIMES: &str = "an emulator runs this program, and its times say nothing about a processor";

/// Returns whether an emulator runs this program on the kernel of another architecture.
#[cfg(target_arch = "aarch64")]
pub(crate) fn of_programs() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    // The emulator pretends that the kernel has the program's architecture, but knows nothing of this file.
    let other = || fs::read_to_string("/proc/sys/kernel/arch").is_ok_and(|name| name.trim() != "aarch64");
    *FOUND.get_or_init(|| cfg!(target_os = "linux") && (other() || !crate::imp::kernel::traces()))
}

#[cfg(all(feature = "trace", not(target_arch = "aarch64")))]
pub(crate) fn of_programs() -> bool {
    false
}

/// Returns the reason why no times can be measured, or `None` if a processor runs this program.
#[cfg(target_arch = "aarch64")]
pub(crate) fn times() -> Option<&'static str> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND
        .get_or_init(|| of_programs() || fs::read_to_string("/proc/cpuinfo").is_ok_and(|info| is_of_software(&info)));
    found.then_some(NO_TIMES)
}

#[cfg(not(target_arch = "aarch64"))]
pub(crate) fn times() -> Option<&'static str> {
    None
}

/// Returns the reason why a clock shows no times of a processor. A clock for tests does not depend on the machine.
pub(crate) fn of_clock(clock: &dyn Clock) -> Option<&'static str> {
    times().filter(|_| clock.as_counter().is_some() || clock.name() == "system")
}

/// Returns whether a processor's maker has number 0. Arm reserves this number for software, and QEMU's processors `max`
/// have it.
#[cfg(target_arch = "aarch64")]
fn is_of_software(info: &str) -> bool {
    let makers = info.lines().filter_map(|line| line.strip_prefix("CPU implementer")?.split_once(':'));
    makers.map(|(_, number)| number.trim()).any(|number| number.trim_start_matches("0x").trim_matches('0').is_empty())
}

#[cfg(test)]
#[cfg(target_arch = "aarch64")]
mod tests {
    use super::*;

    #[test]
    fn a_processor_of_no_maker_is_emulated() {
        let info =
            |number| format!("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: {number}\nCPU part\t: 0x051\n");
        assert!(is_of_software(&info("0x00")));
        assert!(!is_of_software(&info("0x41")) && !is_of_software(&info("0xc0")) && !is_of_software(""));
    }
}
