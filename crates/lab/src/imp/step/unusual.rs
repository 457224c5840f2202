//! Instructions for tests that the engine cannot copy unchanged. The tests of both engines use these instructions.

/// The name of a test case, and code whose argument is the address of [`memory`].
type Case = (&'static str, fn(u64));

macro_rules! cases {
    ($($name:literal: $($line:literal),+;)*) => {
        &[$(($name, |memory| {
            // SAFETY: the code accesses only the 4096 bytes at `memory` and reads its own bytes.
            unsafe {
                std::arch::asm!(
                    $($line),+,
                    inout("rdi") memory => _, inout("rsi") memory + 64 => _, inout("rcx") 0xff_0000_0003_u64 => _,
                    out("rax") _, out("r11") _,
                );
            }
        }),)*]
    };
}

/// An instruction with 32-bit addresses must ignore the upper half of `rcx`. After a system call, `rcx` is the address
/// of the next instruction, and `r11` has the flags.
pub(crate) const CASES: &[Case] = cases! {
    "lods": "addr32 rep lodsb";
    "movs": "addr32 rep movsd", "mov al, [rdi]", "mov al, [rsi]";
    "scas": "mov al, 1", "addr32 repne scasb", "sete al", "movzx eax, al", "mov al, [rdi + rax * 8]";
    "cmps": "addr32 repe cmpsb", "mov al, [rdi]", "mov al, [rsi + rcx]";
    "no store": "mov rcx, 0xff00000000", "addr32 rep stosb", "mov al, [rdi]";
    "no comparison": "mov rcx, 0xff00000000", "addr32 repe scasb", "mov al, [rdi]";
    "system call": "mov eax, 39", "stc", "syscall", "mov al, [rcx]", "and r11d, 0x101", "mov al, [rsi + r11]";
};

/// Maps 4096 bytes below 4 GiB and returns their address.
pub(crate) fn memory() -> u64 {
    let (access, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT);
    // SAFETY: this makes new memory.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    memory.expose_provenance() as u64
}
