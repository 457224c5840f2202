//! Tests instructions whose addresses or times depend on more than the explicit memory operands.
#![cfg(all(feature = "trace", target_arch = "x86_64", target_os = "linux"))]
#![allow(unsafe_code)]

use std::arch::x86_64::__cpuid_count;

use deadpan_lab::record::Trace;
use deadpan_lab::trace;

/// Returns whether a bit of EBX (register 1) or ECX (2) is set in a leaf of CPUID.
fn has(leaf: u32, register: usize, bit: u32) -> bool {
    let found = __cpuid_count(leaf & 0x8000_0000, 0).eax >= leaf;
    let answer = __cpuid_count(leaf, 0);
    found && [answer.eax, answer.ebx, answer.ecx, answer.edx][register] >> bit & 1 == 1
}

/// Code with two arguments: a secret below 8, and the address of 4096 bytes. The address is a multiple of 64.
type Case = fn(u64, *mut u8);

macro_rules! cases {
    ($($name:literal $(if $possible:expr)? => $($line:literal),+;)*) => {
        [$(($name, true $(&& $possible)?, (|secret, memory| {
            // SAFETY: the code accesses only the 4096 bytes at `memory`, which the caller owns, and restores the base
            // addresses of segments.
            unsafe {
                std::arch::asm!(
                    $($line),+,
                    inout("rax") secret => _, inout("rdi") memory => _, out("rcx") _, out("rdx") _, out("rsi") _,
                    out("r8") _, out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _, out("st(4)") _,
                    out("st(5)") _, out("st(6)") _, out("st(7)") _,
                );
            }
        }) as Case),)*]
    };
}

#[repr(align(64))]
struct Memory([u8; 4096]);

/// Traces a case with several secrets, or with the value `public` if it is given. Returns `None` if the processor lacks
/// an instruction.
fn traced((name, possible, case): (&str, bool, Case), public: Option<u64>) -> Option<Trace> {
    if !possible {
        crate::skipped(format_args!("{name}: not on this processor"));
        return None;
    }
    let mut memory = Box::new(Memory([0; 4096]));
    let secrets: Vec<Vec<u8>> = (0..8).map(|secret| vec![secret]).collect();
    Some(trace::compare(&secrets, &mut |input| case(public.unwrap_or(input[0].into()), memory.0.as_mut_ptr())))
}

#[test]
fn addresses_without_a_memory_access_or_operand_are_compared() {
    let wait = has(7, 2, 5);
    let cases = cases! {
        "clzero" if has(0x8000_0008, 1, 0) => "shl eax, 6", "add rax, rdi", "clzero";
        "monitorx" if has(0x8000_0001, 2, 29) => "shl eax, 6", "add rax, rdi", "xor ecx, ecx", "xor edx, edx",
            "monitorx";
        "umonitor" if wait => "shl eax, 6", "add rax, rdi", "umonitor rax";
        "movdir64b" if has(7, 2, 28) => "shl eax, 6", "add rax, rdi", "movdir64b rax, [rdi]";
        "cldemote" => "shl eax, 6", ".byte 0x0f, 0x1c, 0x04, 0x07";
        "prefetchw" => "shl eax, 6", "prefetchw [rdi + rax]";
        "clflush" => "shl eax, 6", "clflush [rdi + rax]";
        "xsave" if has(1, 2, 27) => "and eax, 1", "xor edx, edx", "xsave [rdi]";
        "lsl" => "lsl ecx, eax";
    };
    for case in cases {
        let Some(found) = traced(case, None) else { continue };
        let name = case.0;
        assert!(found.divergence.is_some() && found.skipped.is_none(), "{name}: {found:?}");
        let found = traced(case, Some(1)).expect("a trace");
        assert_eq!((found.equal, &found.skipped), (true, &None), "{name}: {found:?}");
    }
}

#[test]
fn instructions_that_a_trace_cannot_follow_are_named() {
    // SAFETY: the call only reads a table.
    let bases = unsafe { libc::getauxval(libc::AT_HWCAP2) } & 2 != 0;
    let cases = cases! {
        "wrgsbase" if bases => "rdgsbase r8", "shl eax, 6", "add rax, rdi", "wrgsbase rax", "mov rax, gs:[0]",
            "wrgsbase r8";
        "wrfsbase" if bases => "rdfsbase r8", "shl eax, 6", "add rax, rdi", "wrfsbase rax", "mov rax, fs:[0]",
            "wrfsbase r8";
        "mov %eax,%fs" if bases => "rdfsbase r8", "mov eax, fs", "mov fs, eax", "wrfsbase r8";
        "tpause" if has(7, 2, 5) => "xor edx, edx", "xor ecx, ecx", "tpause ecx";
        "mwaitx" if has(0x8000_0001, 2, 29) => "mov rax, rdi", "xor ecx, ecx", "xor edx, edx", "monitorx",
            "mov r8, rbx", "mov ebx, 1", "mov eax, 0xf0", "mov ecx, 2", "mwaitx", "mov rbx, r8";
    };
    for case in cases {
        let Some(found) = traced(case, None) else { continue };
        let reason = found.skipped.as_deref().unwrap_or_default();
        let name = case.0;
        assert!(reason.starts_with(&format!("a trace cannot follow `{name}")), "{name}: {found:?}");
        assert!(!found.equal && found.divergence.is_none(), "{name}: {found:?}");
    }
}

#[test]
fn x87_instructions_with_a_variable_time_are_found() {
    let cases = cases! {
        "fscale" => "mov [rdi], rax", "fild qword ptr [rdi]", "fld1", "fscale", "fninit";
        "fxtract" => "mov [rdi], rax", "fild qword ptr [rdi]", "fxtract", "fninit";
        "frndint" => "mov [rdi], rax", "fild qword ptr [rdi]", "frndint", "fninit";
        "fprem1" => "mov [rdi], rax", "fld1", "fild qword ptr [rdi]", "fprem1", "fninit";
        "fyl2xp1" => "mov [rdi], rax", "fild qword ptr [rdi]", "fldz", "fyl2xp1", "fninit";
        "fbstp" => "mov [rdi], rax", "fild qword ptr [rdi]", "fbstp [rdi]", "fninit";
        "fbld" => "mov [rdi], rax", "mov qword ptr [rdi + 8], 0", "fbld [rdi]", "fninit";
    };
    for case in cases {
        let Some(found) = traced(case, None) else { continue };
        let (name, leak) = (case.0, trace::leaks(&found).unwrap_or_default());
        assert!(found.equal && leak.starts_with(&format!("the operands of `{name}")), "{name}: {found:?}");
        let found = traced(case, Some(1)).expect("a trace");
        assert!(found.equal && trace::leaks(&found).is_none(), "{name}: {found:?}");
    }
    // The number that `fbld` overwrites is not an operand of the instruction.
    let [case] = cases! {
        "fbld" => "mov [rdi], rax", "fild qword ptr [rdi]", "fstp st(0)", "mov qword ptr [rdi], 0",
            "fbld [rdi]", "fninit";
    };
    let found = traced(case, None).expect("a trace");
    assert!(found.equal && trace::leaks(&found).is_none(), "{found:?}");
}

#[test]
fn a_repeated_instruction_without_a_round_accesses_nothing() {
    let cases = cases! {
        "lods" => "mov rsi, rdi", "mov rcx, rax", "and ecx, 1", "rep lodsb";
        "movs" => "lea rsi, [rdi + 64]", "mov rcx, rax", "rep movsb";
    };
    for case in cases {
        let text = traced(case, None).and_then(|found| found.divergence).expect("a leak");
        let end = "which accesses memory in one call that it does not access in the other";
        assert!(text.contains(end), "{}: {text}", case.0);
    }
}

/// The upper halves of the registers contain the secret. For 32-bit addresses, the upper halves of the registers have
/// no effect.
#[test]
fn only_the_lower_half_of_registers_counts_for_short_addresses() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
    // SAFETY: this makes new memory.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    let run = |count: u64, address: u64| {
        // SAFETY: the code reads from the page.
        unsafe {
            std::arch::asm!("addr32 rep lodsb", inout("rcx") count => _, inout("rsi") address => _, out("rax") _);
        }
    };
    let (secrets, address) = ((0..8).map(|secret| vec![secret]).collect::<Vec<_>>(), memory as u64);
    let high = |input: &[u8]| u64::from(input[0]) << 32;
    let compare = |run: &dyn Fn(&[u8])| trace::compare(&secrets, &mut |input| run(input));
    let found = compare(&|input| run(high(input) | 3, high(input) | address));
    assert!(found.equal && trace::leaks(&found).is_none(), "{found:?}");
    let found = compare(&|input| run(3, address + u64::from(input[0])));
    assert!(found.divergence.is_some(), "{found:?}");
    let found = compare(&|input| run(high(input) | u64::from(input[0]), address));
    assert!(found.divergence.is_some(), "{found:?}");
}
