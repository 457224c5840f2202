//! Optimization barriers. A barrier returns its argument, but the compiler cannot know the value of the result.
//!
//! On most targets, a barrier is an empty assembly statement that has a register as its operand, and costs no
//! instruction. Targets without stable inline assembly use `black_box`, which costs a store and a load.

pub(crate) use tier::{hide, keep};

cfg_select! {
    all(
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
    ) => {
        mod tier {
            use core::arch::asm;

            /// Returns `mask` in a form that hides its value from the compiler.
            #[inline(always)]
            #[must_use]
            pub(crate) fn hide(mask: usize) -> usize {
                let mut mask = mask;
                // SAFETY: the statement is empty, because its only operand is inside an assembly comment. So the
                // statement reads and writes only its own register, and does not change the flags or the stack, as the
                // options promise.
                unsafe { asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
                mask
            }

            /// Tells the compiler that the memory at `address` is read here, so that it does not remove earlier writes
            /// to this memory.
            #[inline(always)]
            pub(crate) fn keep(address: *mut u8) {
                // SAFETY: the statement is empty. Without `nomem`, the compiler must assume that the statement reads
                // the memory at `address`.
                unsafe { asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags)) };
            }
        }
    }
    _ => {
        mod tier {
            use core::hint::black_box;

            /// Returns `mask` in a form that hides its value from the compiler.
            #[inline(always)]
            #[must_use]
            pub(crate) fn hide(mask: usize) -> usize {
                black_box(mask)
            }

            /// Tells the compiler that the memory at `address` is read here, so that it does not remove earlier writes
            /// to this memory.
            #[inline(always)]
            pub(crate) fn keep(address: *mut u8) {
                black_box(address);
            }
        }
    }
}
