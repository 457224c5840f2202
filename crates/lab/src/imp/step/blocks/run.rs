//! The assembly code for switching between the copied code and the engine. No function in this module changes flags,
//! the stack or a register that the copied code uses.

use std::arch::naked_asm;
use std::arch::x86_64::_mm_crc32_u64;
use std::ffi::c_void;

use super::super::call::enter_call;
use super::super::switch::CLEAR;
use super::state::{
    AREA, COPIES, ENGINE, EXIT, JUMP, KEYS, LOOKUP, RAX, RCX, REGISTERS, REQUEST, RESUME, Request, STACK, TARGET,
};

/// The components that XSAVE saves: x87, SSE, AVX and AVX-512.
pub(super) const COMPONENTS: u32 = 0xe7;
const FIND: u32 = (Request::Find as u32) << 30;

/// Returns the hash of a code address. [`lookup`] uses this hash to find the copy of the code.
///
/// # Safety
/// The processor must have SSE 4.2.
#[target_feature(enable = "sse4.2")]
pub(super) unsafe fn hash(address: u64) -> u16 {
    _mm_crc32_u64(0, address) as u16
}

/// Saves all registers, calls [`super::on_request`], restores all registers and continues at [`RESUME`].
///
/// # Safety
/// Only copied code may jump to this function, and its request must be in [`REQUEST`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn exit() {
    naked_asm!(
        "mov gs:[{r}], r8",
        "mov gs:[{r} + 8], r9",
        "mov gs:[{r} + 16], r10",
        "mov gs:[{r} + 24], r11",
        "mov gs:[{r} + 32], r12",
        "mov gs:[{r} + 40], r13",
        "mov gs:[{r} + 48], r14",
        "mov gs:[{r} + 56], r15",
        "mov gs:[{r} + 64], rdi",
        "mov gs:[{r} + 72], rsi",
        "mov gs:[{r} + 80], rbp",
        "mov gs:[{r} + 88], rbx",
        "mov gs:[{r} + 96], rdx",
        "mov gs:[{r} + 104], rax",
        "mov gs:[{r} + 112], rcx",
        "mov gs:[{r} + 120], rsp",
        "mov rsp, gs:[{stack}]",
        "pushfq",
        "pop qword ptr gs:[{r} + 136]",
        "cld",
        "mov eax, {components}",
        "xor edx, edx",
        "xsave64 gs:[{area}]",
        "mov rdi, gs:[{engine}]",
        "call {handler}",
        "mov eax, {components}",
        "xor edx, edx",
        "xrstor64 gs:[{area}]",
        "push qword ptr gs:[{r} + 136]",
        "popfq",
        "mov r8, gs:[{r}]",
        "mov r9, gs:[{r} + 8]",
        "mov r10, gs:[{r} + 16]",
        "mov r11, gs:[{r} + 24]",
        "mov r12, gs:[{r} + 32]",
        "mov r13, gs:[{r} + 40]",
        "mov r14, gs:[{r} + 48]",
        "mov r15, gs:[{r} + 56]",
        "mov rdi, gs:[{r} + 64]",
        "mov rsi, gs:[{r} + 72]",
        "mov rbp, gs:[{r} + 80]",
        "mov rbx, gs:[{r} + 88]",
        "mov rdx, gs:[{r} + 96]",
        "mov rax, gs:[{r} + 104]",
        "mov rcx, gs:[{r} + 112]",
        "mov rsp, gs:[{r} + 120]",
        "jmp qword ptr gs:[{resume}]",
        r = const REGISTERS,
        stack = const STACK,
        area = const AREA,
        engine = const ENGINE,
        resume = const RESUME,
        components = const COMPONENTS,
        handler = sym super::on_request,
    )
}

/// Continues in copied code. RAX contains the address of the original code. The saved registers in memory contain the
/// values of RAX and RCX that the copied code expects.
///
/// # Safety
/// Only copied code may jump to this function.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn lookup() {
    naked_asm!(
        "mov ecx, 0",
        "crc32 rcx, rax",
        "movzx ecx, cx",
        "mov rcx, gs:[rcx * 8 + {keys}]",
        "lea rcx, [rcx + rax]",
        "jrcxz 2f",
        "mov gs:[{target}], rax",
        "mov rcx, gs:[{rcx}]",
        "mov rax, gs:[{rax}]",
        "mov dword ptr gs:[{request}], {find}",
        "jmp qword ptr gs:[{exit}]",
        "2:",
        "crc32 rcx, rax",
        "movzx ecx, cx",
        "mov rcx, gs:[rcx * 8 + {copies}]",
        "mov gs:[{jump}], rcx",
        "mov rcx, gs:[{rcx}]",
        "mov rax, gs:[{rax}]",
        "jmp qword ptr gs:[{jump}]",
        keys = const KEYS,
        copies = const COPIES,
        target = const TARGET,
        request = const REQUEST,
        exit = const EXIT,
        jump = const JUMP,
        rax = const RAX,
        rcx = const RCX,
        find = const FIND,
    )
}

/// Switches to the stack that ends at `top`, stores the return address of the call in `end`, and runs the copy of
/// [`enter_call`].
///
/// # Safety
/// `top` must be the aligned end of an unused stack. `data` must meet the requirements of [`enter_call`]. `end` must be
/// writable. The base of GS must be the address of the engine's state.
#[inline(never)]
pub(in crate::imp::step) unsafe fn switch(top: *mut u8, data: *mut c_void, end: *mut u64) {
    // SAFETY: `rsp` is restored before the block ends, and `top` is aligned for a call. The `asm!` block declares all
    // registers that a C function may change. The compiler uses no red zone because `nostack` is absent, and it expects
    // changes of memory because `nomem` is absent.
    unsafe {
        core::arch::asm!(
            "lea rax, [rip + 2f]",
            "mov [rcx], rax",
            "mov r12, rsp",
            "mov rsp, rdx",
            "push rax",
            "mov gs:[{rax}], rax",
            "mov gs:[{rcx}], rcx",
            "lea rax, [rip + {function}]",
            "jmp qword ptr gs:[{lookup}]",
            "2:",
            "mov rsp, r12",
            "pushfq",
            "and qword ptr [rsp], {clear}",
            "popfq",
            clear = const CLEAR,
            rax = const RAX,
            rcx = const RCX,
            lookup = const LOOKUP,
            function = sym enter_call,
            inout("rdi") data => _,
            inout("rdx") top => _,
            inout("rcx") end => _,
            out("rax") _,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}
