//! The registers as the kernel saved them when it delivered the signal.

use std::arch::x86_64::__cpuid_count;
use std::ffi::c_void;
use std::marker::PhantomData;

use iced_x86::{Register, UsedMemory};

use super::TRAP;

/// Words of `uc_mcontext`, the same in all C libraries: the kernel lays it out.
const WORDS: usize = 24;
const RIP: usize = 16;
const FLAGS: usize = 17;
const VECTORS: usize = 23;
/// Where RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15 stand there.
const GENERAL: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];
/// In the area that the kernel writes by XSAVE: x87 and SSE registers, the kernel's note, the bits of what is there.
const X87: usize = 32;
const SSE: usize = 160;
const NOTE: usize = 464;
const HEADER: usize = 512;
const NOTE_MAGIC: u32 = 0x4650_5853;

/// What is the same for all steps: where the parts of the XSAVE area are, and the bases of the two segments.
#[derive(Clone, Copy, Default)]
pub(crate) struct Layout {
    /// By component: upper halves of YMM, masks, upper halves of ZMM, ZMM16 to ZMM31.
    offsets: [usize; 4],
    fs: u64,
    gs: u64,
}

/// The components in the order of [`Layout::offsets`].
const YMM: u32 = 2;
const MASKS: u32 = 5;
const ZMM: u32 = 6;
const HIGH: u32 = 7;

impl Layout {
    pub(super) fn detect() -> Self {
        const GET_GS: i32 = 0x1004;
        let mut gs = 0_u64;
        // SAFETY: writes the base of the segment to a local.
        unsafe { libc::syscall(libc::SYS_arch_prctl, GET_GS, &raw mut gs) };
        // The kernel uses the standard form of the area, whose offsets leaf 0Dh tells.
        Self { offsets: [YMM, MASKS, ZMM, HIGH].map(|part| __cpuid_count(0xd, part).ebx as usize), fs: thread_pointer(), gs }
    }

    pub(super) fn thread_pointer(&self) -> u64 {
        self.fs
    }
}

/// The base of FS, which the thread's control block repeats at its beginning.
pub(super) fn thread_pointer() -> u64 {
    let base;
    // SAFETY: the System V ABI for x86-64 has the thread pointer at `fs:0`.
    unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) base, options(nostack, readonly, preserves_flags)) };
    base
}

/// The registers before an instruction.
pub(crate) struct Registers<'c> {
    context: *mut u64,
    vectors: *const u8,
    pub(super) layout: Layout,
    lifetime: PhantomData<&'c mut c_void>,
}

impl Registers<'_> {
    /// # Safety
    /// `context` is what the kernel passed to a handler that is still running.
    pub(super) unsafe fn new(context: *mut c_void) -> Self {
        // SAFETY: the promise of the caller.
        let context: *mut u64 = unsafe { (&raw mut (*context.cast::<libc::ucontext_t>()).uc_mcontext).cast() };
        let mut registers = Self { context, vectors: std::ptr::null(), layout: Layout::default(), lifetime: PhantomData };
        registers.vectors = std::ptr::with_exposed_provenance(registers.word(VECTORS) as usize);
        registers
    }

    fn word(&self, index: usize) -> u64 {
        debug_assert!(index < WORDS);
        // SAFETY: the kernel's structure has 24 words of general state; all indexes are constants below that.
        unsafe { *self.context.add(index) }
    }

    pub(super) fn stepping(&self) -> bool {
        self.word(FLAGS) & TRAP != 0
    }

    pub(super) fn stop_stepping(&mut self) {
        // SAFETY: as in `word`; the kernel takes the flags back from here.
        unsafe { *self.context.add(FLAGS) &= !TRAP };
    }

    /// The address of the instruction.
    pub(crate) fn rip(&self) -> u64 {
        self.word(RIP)
    }

    /// One of the 16 general registers, in the order of their encoding.
    pub(crate) fn general(&self, number: usize) -> u64 {
        self.word(GENERAL[number & 15])
    }

    /// Word `index` of the 512 bits of ZMM register `number`.
    pub(crate) fn vector(&self, number: usize, index: usize) -> u64 {
        let [ymm, _, zmm, high] = self.layout.offsets;
        match (number, index) {
            (0..16, 0..2) => self.area(SSE + number * 16 + index * 8),
            (0..16, 2..4) => self.part(YMM, ymm + number * 16 + (index - 2) * 8),
            (0..16, 4..8) => self.part(ZMM, zmm + number * 32 + (index - 4) * 8),
            (16..32, 0..8) => self.part(HIGH, high + (number - 16) * 64 + index * 8),
            _ => 0,
        }
    }

    /// Mask register `number`.
    pub(crate) fn mask(&self, number: usize) -> u64 {
        self.part(MASKS, self.layout.offsets[1] + (number & 7) * 8)
    }

    /// Word `index` of x87 register `number`, counted from the top of its stack.
    pub(crate) fn x87(&self, number: usize, index: usize) -> u64 {
        self.area(X87 + (number & 7) * 16 + (index & 1) * 8)
    }

    /// Element `element` of a place in memory that the instruction uses.
    pub(crate) fn address(&self, memory: &UsedMemory, element: usize) -> u64 {
        memory.virtual_address(element, |register, element, size| self.value(register, element, size)).unwrap_or(0)
    }

    /// Word `index` of what is there.
    pub(crate) fn operand(&self, memory: &UsedMemory, index: usize) -> u64 {
        let size = memory.memory_size().size();
        let mut bytes = [0; 8];
        let length = size.saturating_sub(index * 8).min(8);
        let from = std::ptr::with_exposed_provenance::<u8>(self.address(memory, 0) as usize + index * 8);
        // SAFETY: the instruction that runs next reads these bytes itself: only places that it reads without a mask are passed here. If they
        // are not mapped, it would fault at once anyway.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), length) };
        u64::from_le_bytes(bytes)
    }

    /// What [`UsedMemory::virtual_address`] asks for.
    pub(crate) fn value(&self, register: Register, element: usize, size: usize) -> Option<u64> {
        let number = register.number();
        Some(match register {
            Register::FS => self.layout.fs,
            Register::GS => self.layout.gs,
            Register::AL => self.general(0) & 0xff,
            _ if register.is_segment_register() => 0,
            _ if register.is_gpr64() => self.general(number),
            _ if register.is_gpr32() => self.general(number) & 0xffff_ffff,
            _ if register.is_vector_register() && size == 4 => self.vector(number, element / 2) >> (element % 2 * 32) & 0xffff_ffff,
            _ if register.is_vector_register() => self.vector(number, element),
            _ => return None,
        })
    }

    /// A word of a component that lies behind the first 512 bytes. One that the processor has not marked as in use is zero.
    fn part(&self, component: u32, offset: usize) -> u64 {
        let bit = 1 << component;
        let room = self.area(NOTE) as u32 == NOTE_MAGIC && self.area(NOTE + 8) & bit != 0;
        if room && self.area(HEADER) & bit != 0 { self.area(offset) } else { 0 }
    }

    fn area(&self, offset: usize) -> u64 {
        if self.vectors.is_null() {
            return 0;
        }
        // SAFETY: the kernel wrote the area and keeps it while the handler runs; offsets are below 512, or belong to a component that its
        // note lists.
        unsafe { self.vectors.add(offset).cast::<u64>().read_unaligned() }
    }
}
