//! The processor state that a function must preserve according to the calling conventions of x86-64: the direction
//! flag, the alignment check, and the control words of floating-point arithmetic. If a function changes this state, the
//! lab and all following calls behave differently.

/// The rules that a function can break. The notes in shared memory store the position of a rule in this list, counted
/// from 1.
pub(crate) const RULES: [&str; 4] = [
    "it leaves the direction flag set (`std` without `cld`)",
    "it leaves the flag for alignment checks set (AC)",
    "it changes the control bits of MXCSR, such as the rounding mode, and does not restore them",
    "it changes the x87 control word and does not restore it",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Convention {
    flags: u64,
    mxcsr: u32,
    x87: u16,
}

/// The bit masks of the direction flag and of the alignment check flag.
const FLAGS: [u64; 2] = [1 << 10, 1 << 18];
/// The bits in which the MXCSR register records exceptions. Every function may change these bits.
const EXCEPTIONS: u32 = 0x3f;

impl Convention {
    /// Reads the state of this thread.
    pub(crate) fn read() -> Self {
        let mut found = Self { flags: 0, mxcsr: 0, x87: 0 };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instructions write to the stack, where the compiler keeps nothing because `nostack` is absent,
        // and to two fields of a local variable.
        unsafe {
            core::arch::asm!(
                "pushfq", "pop {flags}", "stmxcsr [{mxcsr}]", "fnstcw [{x87}]",
                flags = out(reg) found.flags, mxcsr = in(reg) &raw mut found.mxcsr, x87 = in(reg) &raw mut found.x87,
            );
        }
        found.flags &= FLAGS[0] | FLAGS[1];
        found.mxcsr &= !EXCEPTIONS;
        found
    }

    /// Sets the state of the thread to this value.
    pub(crate) fn restore(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: only the state in this value changes, and `read` has read this state before.
        unsafe {
            core::arch::asm!(
                "pushfq", "and qword ptr [rsp], {clear}", "or qword ptr [rsp], {flags}", "popfq",
                "ldmxcsr [{mxcsr}]", "fldcw [{x87}]",
                clear = in(reg) !(FLAGS[0] | FLAGS[1]), flags = in(reg) self.flags,
                mxcsr = in(reg) &raw const self.mxcsr, x87 = in(reg) &raw const self.x87,
            );
        }
    }

    /// Compares the current state with this earlier state, and returns the position in [`RULES`] of the first broken
    /// rule.
    pub(crate) fn broken(self) -> Option<usize> {
        let now = Self::read();
        let differs = |flag: u64| (now.flags ^ self.flags) & flag != 0;
        [differs(FLAGS[0]), differs(FLAGS[1]), now.mxcsr != self.mxcsr, now.x87 != self.x87]
            .into_iter()
            .position(|broken| broken)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Executes instructions that change the state. Returns two results: the broken rule after the instructions, and
    /// the broken rule after the state was restored.
    macro_rules! breaks {
        ($($code:literal),+) => {{
            let before = Convention::read();
            let value = [0x5f80_u32, 0x0c7f];
            // SAFETY: the state is restored before any other code depends on it.
            unsafe { core::arch::asm!($($code),+, in("rdi") value.as_ptr()) };
            let broken = before.broken();
            before.restore();
            (broken, before.broken())
        }};
    }

    #[test]
    fn each_rule_is_noticed_and_the_state_restored() {
        assert_eq!(breaks!("std"), (Some(0), None));
        assert_eq!(breaks!("pushfq", "or qword ptr [rsp], 0x40000", "popfq"), (Some(1), None));
        assert_eq!(breaks!("ldmxcsr [rdi]"), (Some(2), None));
        assert_eq!(breaks!("fldcw [rdi + 4]"), (Some(3), None));
        assert_eq!(breaks!("nop"), (None, None));
    }
}
