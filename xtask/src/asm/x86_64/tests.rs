//! Tests of the audit. The name of each snippet states what the audit must report.

use iced_x86::IcedError;
use iced_x86::code_asm::*;

use super::MACHINE;
use crate::asm::audit::{audit, parse_name};
use crate::asm::build::LEVELS;
use crate::asm::finding::Reason;
use crate::asm::image::Image;

const START: u64 = 0x1000;
const GOT: u64 = 0x9000;

fn reasons(arguments: &str, write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<Reason> {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code).unwrap();
    let name = format!("ok_snippet__{arguments}");
    let image = Image::from_code(
        &MACHINE,
        START,
        code.assemble(START).unwrap(),
        &[(START, &name)],
        &[(GOT, "memcpy"), (GOT + 8, "memcmp")],
    );
    let verdict = audit(&image).unwrap().remove(0);
    verdict.findings.into_iter().map(|finding| finding.reason).collect()
}

fn assert_clean(arguments: &str, write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) {
    assert_eq!(reasons(arguments, write), []);
}

#[test]
fn branch_on_a_secret_is_found() {
    let found = reasons("s", |a| {
        let mut end = a.create_label();
        a.test(rdi, rdi)?;
        a.je(end)?;
        a.mov(eax, 1)?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn loop_over_a_public_length_is_clean() {
    assert_clean("pp", |a| {
        let mut again = a.create_label();
        a.xor(eax, eax)?;
        a.set_label(&mut again)?;
        a.or(al, byte_ptr(rdi + rsi - 1))?;
        a.dec(rsi)?;
        a.jne(again)?;
        a.ret()
    });
}

#[test]
fn early_exit_on_what_memory_holds_is_found() {
    let found = reasons("pp", |a| {
        let mut end = a.create_label();
        a.cmp(byte_ptr(rdi), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn conditional_move_is_clean_and_carries_the_secret() {
    assert_clean("spp", |a| {
        a.test(rdi, rdi)?;
        a.mov(rax, rdx)?;
        a.cmove(rax, rsi)?;
        a.ret()
    });
    let found = reasons("spp", |a| {
        a.test(rdi, rdi)?;
        a.mov(rax, rdx)?;
        a.cmove(rax, rsi)?;
        a.mov(al, byte_ptr(rax))?;
        a.ret()
    });
    assert_eq!(found, [Reason::Address]);
}

#[test]
fn table_index_is_found_for_loads_stores_and_prefetches() {
    for access in 0..3 {
        let found = reasons("sp", |a| {
            a.movzx(eax, dil)?;
            match access {
                0 => a.mov(al, byte_ptr(rsi + rax))?,
                1 => a.mov(byte_ptr(rsi + rax), 0)?,
                _ => a.prefetcht0(byte_ptr(rsi + rax))?,
            }
            a.ret()
        });
        assert_eq!(found, [Reason::Address]);
    }
}

#[test]
fn lea_of_a_secret_is_clean() {
    assert_clean("s", |a| {
        a.lea(rax, qword_ptr(rdi + rdi * 4 + 7))?;
        a.ret()
    });
}

#[test]
fn spilled_public_length_comes_back_public() {
    assert_clean("ps", |a| {
        let mut again = a.create_label();
        let mut end = a.create_label();
        a.push(rdi)?;
        a.sub(rsp, 32)?;
        a.mov(qword_ptr(rsp + 8), rsi)?;
        a.mov(qword_ptr(rsp + 16), rdi)?;
        a.mov(rcx, qword_ptr(rsp + 16))?;
        a.set_label(&mut again)?;
        a.sub(rcx, 1)?;
        a.jne(again)?;
        a.add(rsp, 32)?;
        a.pop(rdx)?;
        a.cmp(rdx, 5)?;
        a.jb(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
}

#[test]
fn spilled_secret_stays_secret() {
    let found = reasons("s", |a| {
        let mut end = a.create_label();
        a.push(rbp)?;
        a.mov(rbp, rsp)?;
        a.and(rsp, -64)?;
        a.mov(qword_ptr(rbp - 16), rdi)?;
        a.xor(edi, edi)?;
        a.mov(rax, qword_ptr(rbp - 16))?;
        a.test(rax, rax)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.leave()?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn part_of_a_spill_overwritten_by_a_secret_is_secret() {
    let found = reasons("ps", |a| {
        let mut end = a.create_label();
        a.mov(qword_ptr(rsp - 16), rdi)?;
        a.mov(byte_ptr(rsp - 12), sil)?;
        a.cmp(qword_ptr(rsp - 16), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn secret_through_an_array_pointer_reaches_the_array_and_not_the_spill_below() {
    let program = |a: &mut CodeAssembler, read_array: bool| {
        let mut end = a.create_label();
        a.sub(rsp, 64)?;
        a.mov(qword_ptr(rsp + 8), rdi)?;
        a.pxor(xmm0, xmm0)?;
        a.movups(xmmword_ptr(rsp + 16), xmm0)?;
        a.lea(rax, qword_ptr(rsp + 16))?;
        a.mov(byte_ptr(rax + rdi), sil)?;
        a.cmp(qword_ptr(rsp + if read_array { 24 } else { 8 }), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.add(rsp, 64)?;
        a.ret()
    };
    assert_clean("ps", |a| program(a, false));
    assert_eq!(reasons("ps", |a| program(a, true)), [Reason::Jump]);
}

#[test]
fn public_fields_that_only_one_path_writes_stay_public() {
    let program = |a: &mut CodeAssembler, secret: bool| {
        let (mut some, mut join, mut end) = (a.create_label(), a.create_label(), a.create_label());
        a.lea(rax, qword_ptr(rsp - 16))?;
        a.lea(rcx, qword_ptr(rsp - 8))?;
        a.test(rdi, rdi)?;
        a.jne(some)?;
        a.mov(qword_ptr(rsp - 16), 0)?;
        a.jmp(join)?;
        a.set_label(&mut some)?;
        a.mov(rax, rcx)?;
        a.mov(qword_ptr(rsp - 16), 1)?;
        a.set_label(&mut join)?;
        a.mov(qword_ptr(rax), if secret { rsi } else { rdi })?;
        a.cmp(qword_ptr(rsp - 16), 0)?;
        a.je(end)?;
        a.cmp(qword_ptr(rsp - 8), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    };
    assert_clean("ps", |a| program(a, false));
    assert_eq!(reasons("ps", |a| program(a, true)), [Reason::Jump, Reason::Jump]);
}

#[test]
fn count_beside_an_array_stays_public_and_the_array_does_not() {
    let program = |a: &mut CodeAssembler, read_array: bool| {
        let (mut again, mut end) = (a.create_label(), a.create_label());
        a.xor(eax, eax)?;
        a.lea(rdi, qword_ptr(rsp - 80))?;
        a.mov(ecx, 64)?;
        a.rep().stosb()?;
        a.mov(qword_ptr(rsp - 16), 0)?;
        a.set_label(&mut again)?;
        a.mov(rax, qword_ptr(rsp - 16))?;
        a.mov(byte_ptr(rsp + rax - 80), sil)?;
        a.inc(rax)?;
        a.mov(qword_ptr(rsp - 16), rax)?;
        a.cmp(rax, 64)?;
        a.jb(again)?;
        a.cmp(byte_ptr(rsp + if read_array { -30 } else { -16 }), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    };
    assert_clean("ps", |a| program(a, false));
    assert_eq!(reasons("ps", |a| program(a, true)), [Reason::Jump]);
}

#[test]
fn array_written_through_a_negative_index_is_secret() {
    let found = reasons("ps", |a| {
        let mut end = a.create_label();
        a.pxor(xmm0, xmm0)?;
        a.movups(xmmword_ptr(rsp - 32), xmm0)?;
        a.mov(byte_ptr(rsp + rdi - 16), sil)?;
        a.cmp(byte_ptr(rsp - 32), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn borrow_mask_depends_on_the_carry_only() {
    assert_clean("sp", |a| {
        let mut end = a.create_label();
        a.mov(rax, rdi)?;
        a.cmp(rsi, 5)?;
        a.sbb(rax, rax)?;
        a.test(rax, rax)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    let found = reasons("s", |a| {
        let mut end = a.create_label();
        a.cmp(rdi, 5)?;
        a.sbb(eax, eax)?;
        a.jb(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn increment_keeps_a_secret_carry() {
    let found = reasons("sp", |a| {
        let mut end = a.create_label();
        a.cmp(rdi, 5)?;
        a.inc(rsi)?;
        a.jb(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
    assert_clean("sp", |a| {
        let mut end = a.create_label();
        a.cmp(rdi, 5)?;
        a.inc(rsi)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
}

#[test]
fn setcc_after_a_secret_reads_only_what_it_wrote() {
    assert_clean("sp", |a| {
        let mut end = a.create_label();
        a.mov(rax, rdi)?;
        a.cmp(rsi, 5)?;
        a.sete(al)?;
        a.movzx(eax, al)?;
        a.test(eax, eax)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    let found = reasons("sp", |a| {
        let mut end = a.create_label();
        a.mov(rax, rdi)?;
        a.cmp(rsi, 5)?;
        a.sete(al)?;
        a.test(eax, eax)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn masked_vector_keeps_the_old_secret_and_zeroing_does_not() {
    let program = |a: &mut CodeAssembler, zeroing: bool| {
        let mut end = a.create_label();
        a.vmovq(xmm1, rdi)?;
        a.vpxor(xmm2, xmm2, xmm2)?;
        a.kmovq(k1, rsi)?;
        if zeroing {
            a.vmovdqu64(zmm1.k1().z(), zmm2)?;
        } else {
            a.vmovdqu64(zmm1.k1(), zmm2)?;
        }
        a.vptest(ymm1, ymm1)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    };
    assert_eq!(reasons("sp", |a| program(a, false)), [Reason::Jump]);
    assert_clean("sp", |a| program(a, true));
}

#[test]
fn zeroed_and_filled_vectors_are_public() {
    assert_clean("s", |a| {
        let mut end = a.create_label();
        a.vmovq(xmm1, rdi)?;
        a.vpternlogd(zmm1, zmm1, zmm1, 0xff)?;
        a.movq(xmm2, rdi)?;
        a.pcmpeqd(xmm2, xmm2)?;
        a.vptest(ymm1, ymm1)?;
        a.je(end)?;
        a.ptest(xmm2, xmm2)?;
        a.set_label(&mut end)?;
        a.jne(end)?;
        a.ret()
    });
}

#[test]
fn gather_with_a_secret_index_is_found() {
    let found = reasons("ps", |a| {
        a.vmovd(xmm1, esi)?;
        a.kxnorw(k1, k1, k1)?;
        a.vpgatherdd(xmm0.k1(), dword_ptr(rdi + xmm1 * 4))?;
        a.ret()
    });
    assert_eq!(found, [Reason::Address]);
}

#[test]
fn call_into_a_branching_helper_is_found_and_returns_are_followed() {
    let program = |a: &mut CodeAssembler, hand_over: bool| {
        let mut helper = a.create_label();
        let mut end = a.create_label();
        a.push(rbx)?;
        a.mov(rbx, rdi)?;
        if !hand_over {
            a.mov(rdi, rsi)?;
        }
        a.call(helper)?;
        a.test(rax, rax)?;
        a.pop(rbx)?;
        a.ret()?;
        a.set_label(&mut helper)?;
        a.xor(eax, eax)?;
        a.test(rdi, rdi)?;
        a.je(end)?;
        a.mov(rax, rdi)?;
        a.set_label(&mut end)?;
        a.ret()
    };
    assert_eq!(reasons("sp", |a| program(a, true)), [Reason::Jump]);
    assert_clean("sp", |a| program(a, false));
}

#[test]
fn callee_sees_what_the_caller_put_on_the_stack() {
    let program = |a: &mut CodeAssembler, secret: bool| {
        let mut helper = a.create_label();
        let mut end = a.create_label();
        a.push(if secret { rdi } else { rsi })?;
        a.mov(rdi, rsp)?;
        a.call(helper)?;
        a.pop(rcx)?;
        a.ret()?;
        a.set_label(&mut helper)?;
        a.cmp(qword_ptr(rdi), 0)?;
        a.je(end)?;
        a.nop()?;
        a.set_label(&mut end)?;
        a.ret()
    };
    assert_eq!(reasons("sp", |a| program(a, true)), [Reason::Jump]);
    assert_clean("sp", |a| program(a, false));
}

#[test]
fn division_of_a_secret_is_found() {
    let program = |a: &mut CodeAssembler| {
        a.mov(rax, rdi)?;
        a.xor(edx, edx)?;
        a.div(rsi)?;
        a.ret()
    };
    assert_eq!(reasons("sp", program), [Reason::Division]);
    assert_eq!(reasons("ps", program), [Reason::Division]);
    assert_clean("pp", program);
}

#[test]
fn copy_needs_a_public_length_and_compare_is_never_fine() {
    let memcpy = |a: &mut CodeAssembler| {
        call_import(a, 0)?;
        a.ret()
    };
    assert_clean("ppp", memcpy);
    assert_eq!(reasons("pps", memcpy), [Reason::Argument("memcpy".to_owned())]);
    let memcmp = |a: &mut CodeAssembler| {
        call_import(a, 8)?;
        a.ret()
    };
    assert_eq!(reasons("ppp", memcmp), [Reason::Library("memcmp".to_owned())]);
}

/// Emits `call [rip + slot]` as the first instruction. The assembler does not accept an absolute target for this form.
fn call_import(a: &mut CodeAssembler, entry: u64) -> Result<(), IcedError> {
    let distance = (GOT + entry - START - 6) as i32;
    let mut bytes = vec![0xff, 0x15];
    bytes.extend(distance.to_le_bytes());
    a.db(&bytes)
}

#[test]
fn unknown_indirect_calls_and_jumps_are_reported() {
    let call = reasons("p", |a| {
        a.call(rdi)?;
        a.ret()
    });
    assert_eq!(call, [Reason::CannotFollow("an indirect call".to_owned())]);
    let jump = reasons("s", |a| a.jmp(rdi));
    assert!(jump.contains(&Reason::JumpTarget), "{jump:?}");
}

#[test]
fn repeat_count_must_be_public() {
    let program = |a: &mut CodeAssembler| {
        a.mov(rcx, rdx)?;
        a.rep().movsb()?;
        a.ret()
    };
    assert_clean("ppp", program);
    assert_eq!(reasons("pps", program), [Reason::Repeat]);
}

#[test]
fn a_secret_met_late_in_a_loop_reaches_its_start() {
    let found = reasons("sp", |a| {
        let mut again = a.create_label();
        a.xor(eax, eax)?;
        a.set_label(&mut again)?;
        a.test(rax, rax)?;
        a.mov(rax, rdi)?;
        a.je(again)?;
        a.ret()
    });
    assert_eq!(found, [Reason::Jump]);
}

#[test]
fn names_say_what_is_secret() {
    let parse = |name| parse_name(name, &MACHINE);
    let arguments = MACHINE.arguments;
    assert!(parse("helper").unwrap().is_none());
    let (_, state) = parse("ok_eq__ps").unwrap().unwrap();
    assert!(!state.is_secret(arguments[0]) && state.is_secret(arguments[1]));
    assert!(parse("ok_eq").is_err());
    assert!(parse("ok_eq__px").is_err());
    assert!(parse("ok_eq__ppppppp").is_err());
}

#[test]
fn a_built_library_is_judged_rightly_at_every_level() {
    let folder = std::env::temp_dir().join(format!("deadpan-xtask-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for level in LEVELS {
        let library = folder.join(format!("eyes-{}.so", level.name));
        let status = std::process::Command::new("rustc")
            .args(["--edition", "2024", "--crate-type", "cdylib", "-C", "debuginfo=0", "-C"])
            .arg(format!("opt-level={}", level.opt_level))
            .args(level.flags().split(' '))
            .arg("-o")
            .arg(&library)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/eyes.rs"))
            .status()
            .unwrap();
        assert!(status.success());
        let verdicts = audit(&Image::read(&library).unwrap()).unwrap();
        assert!(verdicts.len() >= 14);
        for verdict in verdicts {
            assert!(verdict.passed(level.fully_optimized()), "level {}: {verdict:#?}", level.name);
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
