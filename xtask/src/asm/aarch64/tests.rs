//! Tests of the audit on AArch64. The name of each snippet states what the audit must report. The snippets are machine
//! words, because no assembler for AArch64 is at hand.

use std::io::Write as _;

use super::MACHINE;
use crate::asm::audit::{audit, parse_name};
use crate::asm::finding::Reason;
use crate::asm::image::Image;

const START: u64 = 0x1000;
/// The global offset table: `memcpy`, `memcmp` and `malloc`.
const GOT: u64 = 0x9000;

fn reasons(arguments: &str, words: &[u32]) -> Vec<Reason> {
    let name = format!("ok_snippet__{arguments}");
    let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let imports = [(GOT, "memcpy"), (GOT + 8, "memcmp"), (GOT + 16, "malloc")];
    let image = Image::from_code(&MACHINE, START, code, &[(START, &name)], &imports);
    let verdict = audit(&image).unwrap().remove(0);
    verdict.findings.into_iter().map(|finding| finding.reason).collect()
}

fn assert_clean(arguments: &str, words: &[u32]) {
    assert_eq!(reasons(arguments, words), []);
}

#[test]
fn branches_on_a_secret_are_found() {
    let words = [
        0xb400_00c0, // cbz x0, end
        0x3718_00a0, // tbnz w0, #3, end
        0xf100_141f, // cmp x0, #5
        0x5400_0063, // b.lo end
        0xfa43_1820, // ccmp x1, #3, #0, ne
        0x5400_0020, // b.eq end
        0xd65f_03c0, // end: ret
    ];
    assert_eq!(reasons("sp", &words), [Reason::Jump, Reason::Jump, Reason::Jump, Reason::Jump]);
    assert_clean("pp", &words);
    assert_eq!(reasons("ps", &words), [Reason::Jump]);
}

#[test]
fn loop_over_a_public_length_is_clean() {
    let words = [
        0x2a1f_03e8, // mov w8, wzr
        0xb400_00a1, // cbz x1, end
        0x3840_1409, // again: ldrb w9, [x0], #1
        0x2a09_0108, // orr w8, w8, w9
        0xf100_0421, // subs x1, x1, #1
        0x54ff_ffa1, // b.ne again
        0x2a08_03e0, // end: mov w0, w8
        0xd65f_03c0, // ret
    ];
    assert_clean("pp", &words);
}

#[test]
fn early_exit_on_what_memory_holds_is_found() {
    let words = [
        0x3940_0c08, // ldrb w8, [x0, #3]
        0x3400_0048, // cbz w8, end
        0xd503_201f, // nop
        0xd65f_03c0, // end: ret
    ];
    assert_eq!(reasons("p", &words), [Reason::Jump]);
}

#[test]
fn conditional_select_is_clean_and_carries_the_secret() {
    let select = [
        0xf100_001f, // cmp x0, #0
        0x9a82_1028, // csel x8, x1, x2, ne
        0x9a82_0429, // csinc x9, x1, x2, eq
        0xda9f_03ea, // csetm x10, ne
        0x8a09_0140, // and x0, x10, x9
        0xca08_0000, // eor x0, x0, x8
        0xd65f_03c0, // ret
    ];
    assert_clean("spp", &select);
    let load = [
        0x7100_001f, // cmp w0, #0
        0x9a82_1028, // csel x8, x1, x2, ne
        0xf940_0100, // ldr x0, [x8]
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("spp", &load), [Reason::Address]);
    assert_clean("ppp", &load);
}

#[test]
fn table_index_is_found_for_loads_stores_and_prefetches() {
    let words = [
        0x9240_1c08, // and x8, x0, #0xff
        0x3868_6829, // ldrb w9, [x1, x8]
        0xf860_5829, // ldr x9, [x1, w0, uxtw #3]
        0x3828_683f, // strb wzr, [x1, x8]
        0xf8a8_6820, // prfm pldl1keep, [x1, x8]
        0x3dc0_0100, // ldr q0, [x8]
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("sp", &words), vec![Reason::Address; 5]);
    assert_clean("pp", &words);
}

#[test]
fn sum_of_a_secret_is_clean() {
    let words = [
        0x8b00_0808, // add x8, x0, x0, lsl #2
        0x9100_1d00, // add x0, x8, #7
        0x9b08_0000, // madd x0, x0, x8, x0
        0xd65f_03c0, // ret
    ];
    assert_clean("s", &words);
}

#[test]
fn both_registers_of_a_pair_are_followed_alone() {
    let words = [
        0xa9bf_07e0, // stp x0, x1, [sp, #-16]!
        0xa940_27e8, // ldp x8, x9, [sp]
        0xb400_0028, // cbz x8, end
        0xa8c1_2fea, // end: ldp x10, x11, [sp], #16
        0xb400_002b, // cbz x11, last
        0xd65f_03c0, // last: ret
    ];
    assert_eq!(reasons("ps", &words), [Reason::Jump]);
    assert_eq!(reasons("sp", &words), [Reason::Jump]);
    assert_clean("pp", &words);
}

#[test]
fn spilled_public_length_comes_back_public() {
    let words = [
        0xa9bd_7bfd, // stp x29, x30, [sp, #-48]!
        0x9100_03fd, // add x29, sp, #0
        0xf900_0be1, // str x1, [sp, #16]
        0xf900_0fa0, // str x0, [x29, #24]
        0xf940_0fe8, // ldr x8, [sp, #24]
        0xd100_0508, // again: sub x8, x8, #1
        0xb5ff_ffe8, // cbnz x8, again
        0xa8c3_7bfd, // ldp x29, x30, [sp], #48
        0xd65f_03c0, // ret
    ];
    assert_clean("ps", &words);
    assert_eq!(reasons("ss", &words), [Reason::Jump]);
}

#[test]
fn spilled_secret_stays_secret_in_an_aligned_frame() {
    let words = [
        0xa9bf_7bfd, // stp x29, x30, [sp, #-16]!
        0x9100_03fd, // mov x29, sp
        0xd101_c3e9, // sub x9, sp, #112
        0x927a_e53f, // and sp, x9, #0xffffffffffffffc0
        0xf900_07e0, // str x0, [sp, #8]
        0xf900_0be1, // str x1, [sp, #16]
        0xaa1f_03e0, // mov x0, xzr
        0xf940_0be8, // ldr x8, [sp, #16]
        0xb400_0028, // cbz x8, end
        0xf940_07e8, // end: ldr x8, [sp, #8]
        0xb400_0028, // cbz x8, last
        0x9100_03bf, // last: mov sp, x29
        0xa8c1_7bfd, // ldp x29, x30, [sp], #16
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("sp", &words), [Reason::Jump]);
    assert_clean("pp", &words);
}

#[test]
fn part_of_a_spill_overwritten_by_a_secret_is_secret() {
    let words = [
        0xd100_43ff, // sub sp, sp, #16
        0xf900_03e0, // str x0, [sp]
        0x3900_13e1, // strb w1, [sp, #4]
        0xf940_03e8, // ldr x8, [sp]
        0xb400_0028, // cbz x8, end
        0x9100_43ff, // end: add sp, sp, #16
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("ps", &words), [Reason::Jump]);
}

#[test]
fn secret_through_an_array_pointer_reaches_the_array_and_not_the_spill_below() {
    let spill = [
        0xd101_03ff, // sub sp, sp, #64
        0xf900_07e0, // str x0, [sp, #8]
        0x6f00_e400, // movi v0.2d, #0
        0x3d80_07e0, // str q0, [sp, #16]
        0x9100_43e8, // add x8, sp, #16
        0x3820_6901, // strb w1, [x8, x0]
        0xf940_07e9, // ldr x9, [sp, #8]
        0xb400_0029, // cbz x9, end
        0x9101_03ff, // end: add sp, sp, #64
        0xd65f_03c0, // ret
    ];
    assert_clean("ps", &spill);
    let mut array = spill;
    array[6] = 0xf940_0fe9; // ldr x9, [sp, #24]
    assert_eq!(reasons("ps", &array), [Reason::Jump]);
}

#[test]
fn array_that_is_filled_from_a_register_with_a_number_is_no_variable() {
    let words = [
        0xd101_03ff, // sub sp, sp, #64
        0x9280_0008, // movn x8, #0
        0xa900_23e8, // stp x8, x8, [sp]
        0xa901_7fff, // stp xzr, xzr, [sp, #16]
        0x9100_03e9, // mov x9, sp
        0x3820_6921, // strb w1, [x9, x0]
        0xf940_07ea, // ldr x10, [sp, #8]
        0xb400_002a, // cbz x10, end
        0xf940_0bea, // end: ldr x10, [sp, #16]
        0xb400_002a, // cbz x10, last
        0x9101_03ff, // last: add sp, sp, #64
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("ps", &words), [Reason::Jump, Reason::Jump]);
}

#[test]
fn carries_are_followed() {
    let spread = [
        0xf100_143f, // cmp x1, #5
        0xda00_0008, // sbc x8, x0, x0
        0xb400_0028, // cbz x8, end
        0xd65f_03c0, // end: ret
    ];
    assert_clean("sp", &spread);
    assert_eq!(reasons("ps", &spread), [Reason::Jump]);
    let chain = [
        0xab00_0008, // adds x8, x0, x0
        0xba01_0029, // adcs x9, x1, x1
        0x9a1f_03ea, // adc x10, xzr, xzr
        0xb400_002a, // cbz x10, end
        0xd65f_03c0, // end: ret
    ];
    assert_eq!(reasons("sp", &chain), [Reason::Jump]);
    assert_clean("pp", &chain);
}

#[test]
fn constants_are_public() {
    let words = [
        0xca00_0008, // eor x8, x0, x0
        0xcb00_0009, // sub x9, x0, x0
        0xaa1f_03ea, // mov x10, xzr
        0x8a1f_000b, // and x11, x0, xzr
        0xb400_00a8, // cbz x8, end
        0xb400_0089, // cbz x9, end
        0xb400_006a, // cbz x10, end
        0xeb00_0000, // subs x0, x0, x0
        0x5400_0020, // b.eq end
        0x4e08_0c20, // end: dup v0.2d, x1
        0x6e20_8c01, // cmeq v1.16b, v0.16b, v0.16b
        0x9e66_0028, // fmov x8, d1
        0xb400_0088, // cbz x8, last
        0x6e20_1c00, // eor v0.16b, v0.16b, v0.16b
        0x9e66_0008, // fmov x8, d0
        0xb400_0028, // cbz x8, last
        0xd65f_03c0, // last: ret
    ];
    // A bitwise and with the zero register is not recognized, but nothing jumps on its result.
    assert_clean("ss", &words);
}

#[test]
fn write_to_a_lower_half_clears_the_upper_half() {
    let words = [
        0x2a01_03e0, // mov w0, w1
        0xb400_0020, // cbz x0, end
        0x4e08_0c41, // end: dup v1.2d, x2
        0x9e67_0021, // fmov d1, x1
        0x9eae_0028, // fmov x8, v1.d[1]
        0xb400_0028, // cbz x8, next
        0x4e08_0c41, // next: dup v1.2d, x2
        0xfc5f_0fe1, // ldr d1, [sp, #-16]!
        0x9eae_0028, // fmov x8, v1.d[1]
        0xb400_0028, // cbz x8, last
        0x9100_43ff, // last: add sp, sp, #16
        0xd65f_03c0, // ret
    ];
    // The stack holds no known public value, so the second vector is a secret, but not in its upper half.
    assert_clean("sps", &words);
}

#[test]
fn vectors_keep_old_secrets_only_if_the_instruction_reads_its_target() {
    let clear = [
        0x4e08_0c00, // dup v0.2d, x0
        0x4e08_0c21, // dup v1.2d, x1
        0x4f48_5420, // shl v0.2d, v1.2d, #8
        0x9e66_0008, // fmov x8, d0
        0xb400_0028, // cbz x8, end
        0xd65f_03c0, // end: ret
    ];
    assert_clean("sp", &clear);
    let keeping = [
        0x6f48_5420, // sli v0.2d, v1.2d, #8
        0x4e07_1c20, // ins v0.b[3], w1
        0x6e61_1c20, // bsl v0.16b, v1.16b, v1.16b
        0x6ea1_1c20, // bit v0.16b, v1.16b, v1.16b
        0x6ee1_1c20, // bif v0.16b, v1.16b, v1.16b
        0x4e01_1020, // tbx v0.16b, {v1.16b}, v1.16b
        0x4e61_9420, // mla v0.8h, v1.8h, v1.8h
        0x6f78_1420, // usra v0.2d, v1.2d, #8
        0x4e21_2820, // xtn2 v0.16b, v1.8h
        0x9eaf_0020, // fmov v0.d[1], x1
        0x0d40_0c40, // ld1 {v0.b}[3], [x2]
        0x4f00_14a0, // orr v0.4s, #5
        0xf2a0_00e0, // movk x0, #7, lsl #16
    ];
    for (at, word) in keeping.into_iter().enumerate() {
        let mut words = clear;
        words[2] = word;
        if at == keeping.len() - 1 {
            words[3] = 0xaa00_03e8; // mov x8, x0
        }
        assert_eq!(reasons("spp", &words), [Reason::Jump], "{word:#x}");
    }
}

#[test]
fn division_of_a_secret_is_found() {
    let words = [
        0x9ac1_0808, // udiv x8, x0, x1
        0x1ac1_0c09, // sdiv w9, w0, w1
        0x9e67_0000, // fmov d0, x0
        0x9e67_0021, // fmov d1, x1
        0x1e61_1802, // fdiv d2, d0, d1
        0x6ee1_f803, // fsqrt v3.2d, v0.2d
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("sp", &words), vec![Reason::Division; 4]);
    assert_eq!(reasons("ps", &words), vec![Reason::Division; 3]);
    assert_clean("pp", &words);
}

#[test]
fn call_into_a_branching_helper_is_found_and_returns_are_followed() {
    let words = [
        0xa9bf_4ffe, // stp x30, x19, [sp, #-16]!
        0xaa00_03f3, // mov x19, x0
        0xaa01_03e0, // mov x0, x1
        0x9400_0004, // bl helper
        0xb400_0020, // cbz x0, end
        0xa8c1_4ffe, // end: ldp x30, x19, [sp], #16
        0xd65f_03c0, // ret
        0xb400_0040, // helper: cbz x0, last
        0x9100_0400, // add x0, x0, #1
        0xd65f_03c0, // last: ret
    ];
    assert_clean("sp", &words);
    let mut hand_over = words;
    hand_over[2] = 0xd503_201f; // nop
    assert_eq!(reasons("sp", &hand_over), [Reason::Jump, Reason::Jump]);
}

#[test]
fn callee_sees_what_the_caller_put_on_the_stack() {
    let words = [
        0xf81f_0ffe, // str x30, [sp, #-16]!
        0xf900_07e0, // str x0, [sp, #8]
        0x9100_23e0, // add x0, sp, #8
        0x9400_0003, // bl helper
        0xf841_07fe, // ldr x30, [sp], #16
        0xd65f_03c0, // ret
        0xf940_0008, // helper: ldr x8, [x0]
        0xb400_0028, // cbz x8, end
        0xd65f_03c0, // end: ret
    ];
    assert_eq!(reasons("s", &words), [Reason::Jump]);
    assert_clean("p", &words);
}

#[test]
fn only_lower_halves_of_saved_vectors_survive_a_call() {
    let words = [
        0xf81f_0ffe, // str x30, [sp, #-16]!
        0x4e08_0c08, // dup v8.2d, x0
        0x4e08_0c10, // dup v16.2d, x0
        0xd280_0800, // mov x0, #64
        0x9000_0050, // adrp x16, got16
        0xf940_0a11, // ldr x17, [x16, :lo12:got16]
        0xd63f_0220, // blr x17
        0x9eae_0108, // fmov x8, v8.d[1]
        0xb400_0068, // cbz x8, end
        0x9e66_0208, // fmov x8, d16
        0xb400_0028, // cbz x8, end
        0x9e66_0108, // end: fmov x8, d8
        0xb400_0028, // cbz x8, last
        0xf841_07fe, // last: ldr x30, [sp], #16
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("s", &words), [Reason::Jump]);
}

#[test]
fn imports_are_found_through_stubs() {
    let copy = [
        0xf81f_0ffe, // str x30, [sp, #-16]!
        0x9400_0003, // bl stub
        0xf841_07fe, // ldr x30, [sp], #16
        0xd65f_03c0, // ret
        0x9000_0050, // stub: adrp x16, got
        0xf940_0211, // ldr x17, [x16, :lo12:got]
        0x9100_0210, // add x16, x16, :lo12:got
        0xd61f_0220, // br x17
    ];
    assert_clean("ppp", &copy);
    assert_eq!(reasons("pps", &copy), [Reason::Argument("memcpy".to_owned())]);
    let compare = [
        0x9000_0050, // adrp x16, got8
        0xf940_0611, // ldr x17, [x16, :lo12:got8]
        0x9100_2210, // add x16, x16, :lo12:got8
        0xd61f_0220, // br x17
    ];
    assert_eq!(reasons("ppp", &compare), [Reason::Library("memcmp".to_owned())]);
}

#[test]
fn copied_secret_reaches_the_stack() {
    let words = [
        0xa9bb_4ffe, // stp x30, x19, [sp, #-80]!
        0xaa01_03f3, // mov x19, x1
        0xaa00_03e1, // mov x1, x0
        0x9100_43e0, // add x0, sp, #16
        0x5280_0802, // mov w2, #64
        0x9400_0005, // bl stub
        0x3940_a3e8, // ldrb w8, [sp, #40]
        0x3400_0028, // cbz w8, end
        0xa8c5_4ffe, // end: ldp x30, x19, [sp], #80
        0xd65f_03c0, // ret
        0x9000_0050, // stub: adrp x16, got
        0xf940_0211, // ldr x17, [x16, :lo12:got]
        0x9100_0210, // add x16, x16, :lo12:got
        0xd61f_0220, // br x17
    ];
    assert_eq!(reasons("pp", &words), [Reason::Jump]);
}

#[test]
fn unknown_indirect_calls_and_jumps_are_reported() {
    let call = [
        0xf81f_0ffe, // str x30, [sp, #-16]!
        0xd63f_0000, // blr x0
        0xf841_07fe, // ldr x30, [sp], #16
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("p", &call), [Reason::CannotFollow("an indirect call".to_owned())]);
    let jump = [
        0xd61f_0000, // br x0
    ];
    assert!(reasons("s", &jump).contains(&Reason::JumpTarget));
}

#[test]
fn a_secret_met_late_in_a_loop_reaches_its_start() {
    let words = [
        0xd280_0028, // mov x8, #1
        0xf100_0d1f, // again: cmp x8, #3
        0xaa00_03e8, // mov x8, x0
        0x54ff_ffc0, // b.eq again
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("s", &words), [Reason::Jump]);
}

#[test]
fn pointers_move_by_public_amounts_and_by_secrets() {
    let words = [
        0x4cdf_7020, // ld1 {v0.16b}, [x1], #16
        0xf840_8c28, // ldr x8, [x1, #8]!
        0xf81f_8428, // str x8, [x1], #-8
        0x4cc0_7020, // ld1 {v0.16b}, [x1], x0
        0xa8c1_2428, // ldp x8, x9, [x1], #16
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("sp", &words), [Reason::Address]);
    assert_clean("pp", &words);
}

#[test]
fn loads_of_several_registers_reach_all_of_them() {
    let words = [
        0x4c40_001e, // ld4 {v30.16b, v31.16b, v0.16b, v1.16b}, [x0]
        0x9e66_0028, // fmov x8, d1
        0xb400_0028, // cbz x8, end
        0x9e66_0048, // end: fmov x8, d2
        0xb400_0028, // cbz x8, next
        0xad40_1404, // next: ldp q4, q5, [x0]
        0x9e66_00a8, // fmov x8, d5
        0xb400_0028, // cbz x8, last
        0xd65f_03c0, // last: ret
    ];
    assert_eq!(reasons("p", &words), [Reason::Jump, Reason::Jump]);
}

#[test]
fn jump_tables_are_followed_up_to_their_last_entry() {
    let bytes = [
        0x7100_0c1f, // cmp w0, #3
        0x5400_0148, // b.hi over
        0x2a00_03e8, // mov w8, w0
        0x9000_0009, // adrp x9, table
        0x9100_e129, // add x9, x9, :lo12:table
        0x1000_008a, // adr x10, first
        0x3868_692b, // ldrb w11, [x9, x8]
        0x8b0b_094a, // add x10, x10, x11, lsl #2
        0xd61f_0140, // br x10
        0x9100_0421, // first: add x1, x1, #1
        0xb400_0021, // cbz x1, over
        0xd65f_03c0, // over: ret
        0xd503_201f, // nop
        0xb4ff_ffc1, // cbz x1, over
        0x0002_0200, // table: .byte 0, 2, 2, 0, 4, 4, 4, 4
        0x0404_0404,
    ];
    // The jump after the first `ret` is only behind entries that follow the table.
    assert_eq!(reasons("ps", &bytes), [Reason::Jump]);
    assert_eq!(reasons("sp", &bytes), [Reason::Jump, Reason::Address]);
    assert_clean("pp", &bytes);
}

#[test]
fn jump_tables_with_wider_entries_are_followed() {
    let halves = [
        0x1000_0109, // adr x9, table
        0x1000_008a, // adr x10, first
        0x7860_792b, // ldrh w11, [x9, x0, lsl #1]
        0x8b0b_094a, // add x10, x10, x11, lsl #2
        0xd61f_0140, // br x10
        0xd65f_03c0, // first: ret
        0xb4ff_ffe1, // second: cbz x1, first
        0xd65f_03c0, // ret
        0x0001_0000, // table: .byte 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff
        0xffff_ffff,
    ];
    assert_eq!(reasons("ps", &halves), [Reason::Jump]);
    let words = [
        0x9000_0009, // adrp x9, table
        0x9100_8129, // add x9, x9, :lo12:table
        0xb8a0_792a, // ldrsw x10, [x9, x0, lsl #2]
        0x8b0a_012a, // add x10, x9, x10
        0xd61f_0140, // br x10
        0xd65f_03c0, // first: ret
        0xb4ff_ffe1, // second: cbz x1, first
        0xd65f_03c0, // ret
        0xffff_fff8, // table: .byte 0xf8, 0xff, 0xff, 0xff, 0xf4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f
        0xffff_fff4,
        0x7fff_ffff,
    ];
    assert_eq!(reasons("ps", &words), [Reason::Jump]);
}

#[test]
fn unknown_instructions_are_found() {
    let words = [
        0x0422_0020, // add z0.b, z1.b, z2.b
        0xd400_0001, // svc #0
        0xd51b_4420, // msr fpsr, x0
        0xd53b_4421, // mrs x1, fpsr
        0xd51b_d040, // msr tpidr_el0, x0
        0xd503_211f, // pacia1716
        0xd65f_03c0, // ret
    ];
    let found = reasons("p", &words);
    assert!(found.len() == 6 && found.iter().all(|reason| matches!(reason, Reason::CannotFollow(_))), "{found:?}");
    let found = reasons("p", &[0xffff_ffff, 0xd65f_03c0]);
    assert_eq!(found, [Reason::CannotFollow("the instruction `.word 0xffffffff`".to_owned())]);
}

#[test]
fn hints_barriers_and_registers_of_the_system_are_known() {
    let words = [
        0xd503_245f, // bti c
        0xd503_233f, // paciasp
        0xd503_3bbf, // dmb ish
        0xd503_3f9f, // dsb sy
        0xd503_3fdf, // isb
        0xd503_30ff, // sb
        0xd53b_e048, // mrs x8, cntvct_el0
        0xb400_0028, // cbz x8, end
        0xd53b_d049, // end: mrs x9, tpidr_el0
        0xf940_0929, // ldr x9, [x9, #16]
        0xb400_0029, // cbz x9, next
        0xd51b_42a0, // next: msr s3_3_c4_c2_5, x0
        0xd503_415f, // msr dit, #1
        0xd503_23bf, // autiasp
        0xd65f_03c0, // ret
    ];
    assert_clean("s", &words);
    let flags = [
        0xf100_041f, // cmp x0, #1
        0xd53b_4208, // mrs x8, nzcv
        0xf100_043f, // cmp x1, #1
        0xb400_0028, // cbz x8, end
        0xd51b_4200, // end: msr nzcv, x0
        0x5400_0020, // b.eq last
        0xd65f_03c0, // last: ret
    ];
    assert_eq!(reasons("sp", &flags), [Reason::Jump, Reason::Jump]);
}

#[test]
fn stack_pointer_is_known_after_a_probe() {
    let words = [
        0xd140_43e9, // sub x9, sp, #16, lsl #12
        0xd140_07ff, // again: sub sp, sp, #1, lsl #12
        0xf900_03ff, // str xzr, [sp]
        0xeb29_63ff, // cmp sp, x9
        0x54ff_ffa1, // b.ne again
        0xf900_07e0, // str x0, [sp, #8]
        0xf940_07e8, // ldr x8, [sp, #8]
        0xb400_0028, // cbz x8, end
        0x9140_43ff, // end: add sp, sp, #16, lsl #12
        0xd65f_03c0, // ret
    ];
    assert_clean("p", &words);
    assert_eq!(reasons("s", &words), [Reason::Jump]);
}

#[test]
fn exclusive_store_tells_only_whether_it_succeeded() {
    let words = [
        0xc85f_fc08, // again: ldaxr x8, [x0]
        0x8b01_0108, // add x8, x8, x1
        0xc809_fc08, // stlxr w9, x8, [x0]
        0x35ff_ffa9, // cbnz w9, again
        0xf8e1_800a, // swpal x1, x10, [x0]
        0xb400_002a, // cbz x10, end
        0xd65f_03c0, // end: ret
    ];
    assert_eq!(reasons("ps", &words), [Reason::Jump]);
}

#[test]
fn conditional_store_of_a_pair_reaches_spilled_variables() {
    let words = [
        0xd100_43ff, // sub sp, sp, #16
        0xa900_0fe2, // stp x2, x3, [sp]
        0xaa00_03e4, // mov x4, x0
        0x4822_7fe4, // casp x2, x3, x4, x5, [sp]
        0xf940_03e6, // ldr x6, [sp]
        0xb400_0026, // cbz x6, end
        0x9100_43ff, // end: add sp, sp, #16
        0xd65f_03c0, // ret
    ];
    assert_eq!(reasons("s", &words), [Reason::Jump]);
    assert_clean("p", &words);
}

#[test]
fn returns_to_a_secret_address_are_found() {
    assert_eq!(reasons("s", &[0xd65f_0000]).first(), Some(&Reason::JumpTarget)); // ret x0
    assert_eq!(reasons("s", &[0xaa00_03fe, 0xd65f_03c0]), [Reason::JumpTarget]); // mov x30, x0; ret
}

#[test]
fn outlined_parts_change_the_registers_of_their_function() {
    let words: [u32; 8] = [
        0xa9bf_4ffe, // stp x30, x19, [sp, #-16]!
        0xaa1f_03f3, // mov x19, xzr
        0x9400_0004, // bl outlined
        0xb400_0033, // cbz x19, end
        0xa8c1_4ffe, // end: ldp x30, x19, [sp], #16
        0xd65f_03c0, // ret
        0xaa00_03f3, // outlined: mov x19, x0
        0xd65f_03c0, // ret
    ];
    let found = |outlined: &str, arguments: &str| {
        let name = format!("ok_snippet__{arguments}");
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let image = Image::from_code(&MACHINE, START, code, &[(START, &name), (START + 24, outlined)], &[]);
        let verdict = audit(&image).unwrap().remove(0);
        verdict.findings.into_iter().map(|finding| finding.reason).collect::<Vec<_>>()
    };
    assert_eq!(found("OUTLINED_FUNCTION_0", "s"), [Reason::Jump]);
    assert_eq!(found("OUTLINED_FUNCTION_0", "p"), []);
}

#[test]
fn client_request_makes_a_value_public() {
    let words = [
        0xd101_43ff, // sub sp, sp, #80
        0x3900_3fe0, // strb w0, [sp, #15]
        0x5280_0048, // mov w8, #2
        0x72a9_a868, // movk w8, #0x4d43, lsl #16
        0x9100_3fe9, // add x9, sp, #15
        0xa901_27e8, // stp x8, x9, [sp, #16]
        0x5280_002a, // mov w10, #1
        0xa902_7fea, // stp x10, xzr, [sp, #32]
        0x9100_43e4, // add x4, sp, #16
        0xaa1f_03e3, // mov x3, xzr
        0x93cc_0d8c, // ror x12, x12, #3
        0x93cc_358c, // ror x12, x12, #13
        0x93cc_cd8c, // ror x12, x12, #51
        0x93cc_f58c, // ror x12, x12, #61
        0xaa0a_014a, // orr x10, x10, x10
        0x3940_3fe8, // ldrb w8, [sp, #15]
        0x3400_0028, // cbz w8, end
        0x9101_43ff, // end: add sp, sp, #80
        0xd65f_03c0, // ret
    ];
    assert_clean("s", &words);
    let mut other = words;
    other[12] = 0xd503_201f; // nop
    assert_eq!(reasons("s", &other), [Reason::Jump]);
}

#[test]
fn constants_in_the_object_are_public() {
    let words = [
        0x9000_0048, // adrp x8, got16
        0x9100_4108, // add x8, x8, :lo12:got16
        0xf860_7909, // ldr x9, [x8, x0, lsl #3]
        0xb400_0029, // cbz x9, end
        0x5800_002a, // end: ldr x10, START
        0xb400_008a, // START: cbz x10, last
        0x10ff_ffeb, // adr x11, START
        0x3940_016b, // ldrb w11, [x11]
        0x3400_002b, // cbz w11, last
        0xd65f_03c0, // last: ret
    ];
    assert_clean("p", &words);
}

#[test]
fn names_may_have_eight_arguments() {
    let (_, state) = parse_name("ok_many__ppppppps", &MACHINE).unwrap().unwrap();
    assert!(state.is_secret(MACHINE.arguments[7]) && !state.is_secret(MACHINE.arguments[6]));
    assert!(parse_name("ok_many__ppppppppp", &MACHINE).is_err());
}

/// The decoder must give an instruction the name that binutils give it, because the table is by names.
#[test]
fn names_agree_with_objdump() {
    const OBJDUMP: &str = "aarch64-linux-gnu-objdump";
    if std::process::Command::new(OBJDUMP).arg("--version").output().is_err() {
        // The test harness hides what `println!` prints, so this code writes directly to standard error.
        return writeln!(std::io::stderr(), "skipped: there is no {OBJDUMP}").unwrap();
    }
    // A generator by Marsaglia, so that each run tries the same words.
    let mut state = 0x2545_f491_u32;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    });
    let name = |word: u32| {
        let instruction = super::decode(&word.to_le_bytes(), 0, 0).unwrap();
        let name = instruction.text.split(' ').next().unwrap_or_default().to_owned();
        (instruction.flow != super::Flow::Unknown).then_some(name)
    };
    let known: Vec<_> = words.take(400_000).filter_map(|word| Some((word, name(word)?))).collect();
    let file = std::env::temp_dir().join(format!("deadpan-words-{}", std::process::id()));
    std::fs::write(&file, known.iter().flat_map(|(word, _)| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let output = std::process::Command::new(OBJDUMP)
        .args(["--disassemble-all", "--disassemble-zeroes", "--target", "binary", "--architecture", "aarch64"])
        .args(["--disassembler-options", "no-aliases"])
        .arg(&file)
        .output()
        .unwrap();
    std::fs::remove_file(file).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<_> = text.lines().filter_map(|line| line.split('\t').nth(2)).map(str::trim).collect();
    assert_eq!(theirs.len(), known.len());
    assert!(known.len() > 50_000, "the audit knows only {} of these words", known.len());
    for ((word, ours), theirs) in known.iter().zip(theirs) {
        // The decoder does not reject every word that no CPU knows. No compiler writes such a word.
        assert!(ours == theirs || theirs == ".inst", "{word:#010x} is `{theirs}`, and the decoder says `{ours}`");
    }
}
