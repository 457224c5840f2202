//! The registers before an instruction, in the layout that the kernel uses when it saves registers for a signal
//! handler.

use std::arch::x86_64::__cpuid_count;
use std::ffi::c_void;
use std::marker::PhantomData;

use iced_x86::{Register, UsedMemory};

use super::memory::{bytes, path};
use super::trap::FLAG;

/// Number of words in `uc_mcontext`. The kernel defines this layout (`uc_mcontext`), so the layout is the same in all C
/// libraries.
pub(super) const WORDS: usize = 24;
pub(super) const RIP: usize = 16;
pub(super) const FLAGS: usize = 17;
pub(super) const VECTORS: usize = 23;
/// The positions of RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI and R8 to R15 in `uc_mcontext`.
pub(super) const GENERAL: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];
/// Offsets in the area that the kernel writes with XSAVE: of the x87 registers, the SSE registers, the kernel's
/// description, and the header. The first word of the header has a bit for each saved component.
const X87: usize = 32;
const SSE: usize = 160;
pub(super) const NOTE: usize = 464;
const HEADER: usize = 512;
pub(super) const NOTE_MAGIC: u32 = 0x4650_5853;

/// Values that stay the same during a call: the offsets in the XSAVE area, and the base addresses of the segments FS
/// and GS.
#[derive(Clone, Copy, Default)]
pub(crate) struct Layout {
    /// The offsets of four components: upper halves of YMM, mask registers, upper halves of ZMM0 to ZMM15, and ZMM16 to
    /// ZMM31.
    offsets: [usize; 4],
    fs: u64,
    gs: u64,
}

/// The numbers that XSAVE uses for the components in [`Layout::offsets`].
const YMM: u32 = 2;
const MASKS: u32 = 5;
const ZMM: u32 = 6;
const HIGH: u32 = 7;

impl Layout {
    pub(super) fn detect() -> Self {
        const GET_GS: i32 = 0x1004;
        let mut gs = 0_u64;
        // SAFETY: the call writes the base of the segment to a local variable.
        unsafe { libc::syscall(libc::SYS_arch_prctl, GET_GS, &raw mut gs) };
        // The kernel writes the XSAVE area in the standard format. CPUID leaf 0Dh contains the offsets of the standard
        // format.
        Self {
            offsets: [YMM, MASKS, ZMM, HIGH].map(|part| __cpuid_count(0xd, part).ebx as usize),
            fs: thread_pointer(),
            gs,
        }
    }

    pub(super) fn thread_pointer(&self) -> u64 {
        self.fs
    }
}

/// Returns the base of the FS segment, which is also the first word of the thread's control block.
pub(super) fn thread_pointer() -> u64 {
    let base;
    // SAFETY: in the System V ABI for x86-64, `fs:0` contains the thread pointer.
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
    /// `context` must be the pointer that the kernel passed to a signal handler, and this handler must still run.
    pub(super) unsafe fn of_signal(context: *mut c_void) -> Self {
        // SAFETY: the caller guarantees that the pointer is valid, and that the words stay valid.
        unsafe { Self::of_words((&raw mut (*context.cast::<libc::ucontext_t>()).uc_mcontext).cast()) }
    }

    /// # Safety
    /// `context` must point to [`WORDS`] words. The word at [`VECTORS`] must be null or the address of an XSAVE area.
    /// The words and the XSAVE area must stay valid as long as this value exists.
    pub(super) unsafe fn of_words(context: *mut u64) -> Self {
        let mut registers =
            Self { context, vectors: std::ptr::null(), layout: Layout::default(), lifetime: PhantomData };
        registers.vectors = std::ptr::with_exposed_provenance(registers.word(VECTORS) as usize);
        registers
    }

    fn word(&self, index: usize) -> u64 {
        debug_assert!(index < WORDS);
        // SAFETY: the kernel's structure has 24 words of general state, and all indexes are constants below 24.
        unsafe { *self.context.add(index) }
    }

    pub(super) fn stepping(&self) -> bool {
        self.word(FLAGS) & FLAG != 0
    }

    pub(super) fn stop_stepping(&mut self) {
        // SAFETY: the index is a constant below 24. When the signal handler returns, the kernel restores the flags from
        // this word.
        unsafe { *self.context.add(FLAGS) &= !FLAG };
    }

    /// If the next instruction is a system call, makes this system call and sets the instruction pointer to the
    /// instruction after it. Returns whether the function made the system call. The function does not make system calls
    /// that start a process, return from a signal handler or change the signal stack. The program itself makes them.
    pub(super) fn make_system_call(&mut self) -> bool {
        const CALL: [u8; 2] = [0x0f, 0x05];
        const LEFT: [i64; 6] = [
            libc::SYS_rt_sigreturn,
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_fork,
            libc::SYS_vfork,
            libc::SYS_sigaltstack,
        ];
        let next = self.pc().wrapping_add(2);
        let code = std::ptr::with_exposed_provenance::<u8>(self.pc() as usize);
        // SAFETY: the processor is about to execute this instruction. No instruction consists of the byte 0f alone, so
        // the second byte is readable.
        let is_call = unsafe { *code == CALL[0] && *code.add(1) == CALL[1] };
        let [number, rdx, rsi, rdi, r8, r9, r10] = [0, 2, 6, 7, 8, 9, 10].map(|register| self.general(register));
        if !is_call || LEFT.contains(&(number as i64)) {
            return false;
        }
        let mut result = number;
        // SAFETY: the program is about to make the same system call, with the same effect. A system call changes no
        // registers of the program except RAX, RCX and R11.
        unsafe {
            core::arch::asm!(
                "syscall", inlateout("rax") result, in("rdi") rdi, in("rsi") rsi, in("rdx") rdx, in("r10") r10,
                in("r8") r8, in("r9") r9, lateout("rcx") _, lateout("r11") _, options(nostack)
            );
        }
        let flags = self.word(FLAGS) & !FLAG;
        for (place, value) in [(GENERAL[0], result), (GENERAL[1], next), (GENERAL[11], flags), (RIP, next)] {
            // SAFETY: the indexes are constants below 24. When the signal handler returns, the kernel restores the
            // registers from these words.
            unsafe { *self.context.add(place) = value };
        }
        true
    }

    /// Returns the number and the arguments of a system call, if the next instruction is a system call.
    pub(crate) fn system_call(&self) -> (u64, [u64; 6]) {
        (self.general(0), [7, 6, 2, 10, 8, 9].map(|register| self.general(register)))
    }

    /// Returns the `length` bytes at `address` as words. The next system call reads these bytes.
    #[allow(clippy::unused_self, reason = "on AArch64, the bytes are in another process")]
    pub(crate) fn bytes(&self, address: u64, length: u64) -> impl Iterator<Item = u64> + use<> {
        bytes(address, length)
    }

    /// Returns the bytes of a path at `address`, without the zero byte at its end. The next system call reads the path.
    #[allow(clippy::unused_self, reason = "on AArch64, the bytes are in another process")]
    pub(crate) fn path(&self, address: u64) -> impl Iterator<Item = u8> + use<> {
        path(address)
    }

    pub(crate) fn pc(&self) -> u64 {
        self.word(RIP)
    }

    /// Returns one of the 16 general registers. `number` is the register's number in machine instructions.
    pub(crate) fn general(&self, number: usize) -> u64 {
        self.word(GENERAL[number & 15])
    }

    /// Returns word `index` of the 512 bits of ZMM register `number`.
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

    /// Returns mask register `number`.
    pub(crate) fn mask(&self, number: usize) -> u64 {
        self.part(MASKS, self.layout.offsets[1] + (number & 7) * 8)
    }

    /// Returns word `index` of x87 register `number`, counted from the top of the x87 stack.
    pub(crate) fn x87(&self, number: usize, index: usize) -> u64 {
        self.area(X87 + (number & 7) * 16 + (index & 1) * 8)
    }

    /// Returns the address of one element of a memory operand.
    pub(crate) fn address(&self, memory: &UsedMemory, element: usize) -> u64 {
        memory.virtual_address(element, |register, element, size| self.value(register, element, size)).unwrap_or(0)
    }

    /// Returns word `index` of the contents of a memory operand.
    pub(crate) fn operand(&self, memory: &UsedMemory, index: usize) -> u64 {
        let size = memory.memory_size().size();
        let mut bytes = [0; 8];
        let length = size.saturating_sub(index * 8).min(8);
        let from = std::ptr::with_exposed_provenance::<u8>(self.address(memory, 0) as usize + index * 8);
        // SAFETY: the next instruction reads these bytes itself, because callers pass only operands that the
        // instruction reads without a mask. If the bytes are not mapped, the instruction itself would fault as well.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), length) };
        u64::from_le_bytes(bytes)
    }

    /// Returns the value of a register, in the form that [`UsedMemory::virtual_address`] needs.
    pub(crate) fn value(&self, register: Register, element: usize, size: usize) -> Option<u64> {
        let number = register.number();
        Some(match register {
            Register::FS => self.layout.fs,
            Register::GS => self.layout.gs,
            Register::AL => self.general(0) & 0xff,
            _ if register.is_segment_register() => 0,
            _ if register.is_gpr64() => self.general(number),
            _ if register.is_gpr32() => self.general(number) & 0xffff_ffff,
            _ if register.is_vector_register() && size == 4 => {
                self.vector(number, element / 2) >> (element % 2 * 32) & 0xffff_ffff
            }
            _ if register.is_vector_register() => self.vector(number, element),
            _ => return None,
        })
    }

    /// Returns a word of an XSAVE component whose offset is beyond the first 512 bytes. If the header has no bit for a
    /// component, the words of this component are zero.
    fn part(&self, component: u32, offset: usize) -> u64 {
        let bit = 1 << component;
        let room = self.area(NOTE) as u32 == NOTE_MAGIC && self.area(NOTE + 8) & bit != 0;
        if room && self.area(HEADER) & bit != 0 { self.area(offset) } else { 0 }
    }

    fn area(&self, offset: usize) -> u64 {
        if self.vectors.is_null() {
            return 0;
        }
        // SAFETY: the kernel wrote the XSAVE area and keeps it while the handler runs. The offsets are below 512, or
        // belong to a component that the kernel has saved in the area.
        unsafe { self.vectors.add(offset).cast::<u64>().read_unaligned() }
    }
}
