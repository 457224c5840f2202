use super::*;

fn touch(code: u32) -> [Option<Touch>; 3] {
    let decoded = decode(code);
    assert_eq!((decoded.kind, decoded.latency, decoded.varies), (Kind::Plain, None, false), "{code:08x}");
    decoded.touches
}

#[test]
fn addresses_of_loads_and_stores_are_known() {
    let cases: &[(&str, u32, u8, i32)] = &[
        ("ldr x0, [x1]", 0xf940_0020, 1, 0),
        ("ldr x0, [x1, #32760]", 0xf97f_fc20, 1, 32760),
        ("str q0, [sp, #65520]", 0x3dbf_ffe0, 31, 65520),
        ("ldr b0, [x1, #4095]", 0x3d7f_fc20, 1, 4095),
        ("ldrb w0, [x1, #3]", 0x3940_0c20, 1, 3),
        ("ldur x0, [x1, #-256]", 0xf850_0020, 1, -256),
        ("ldr x0, [x1], #8", 0xf840_8420, 1, 0),
        ("ldr x0, [x1, #-8]!", 0xf85f_8c20, 1, -8),
        ("ldtr x0, [x1, #8]", 0xf840_8820, 1, 8),
        ("stp x29, x30, [sp, #-32]!", 0xa9be_7bfd, 31, -32),
        ("ldp x29, x30, [sp], #32", 0xa8c2_7bfd, 31, 0),
        ("ldp w0, w1, [x2, #-4]", 0x297f_8440, 2, -4),
        ("ldpsw x0, x1, [x2, #4]", 0x6940_8440, 2, 4),
        ("stnp x0, x1, [x2, #16]", 0xa801_0440, 2, 16),
        ("ldp q0, q1, [x2, #32]", 0xad41_0440, 2, 32),
        ("stp d8, d9, [sp, #16]", 0x6d01_27e8, 31, 16),
        ("ld1 {v0.16b-v3.16b}, [x1]", 0x4c40_2020, 1, 0),
        ("st4 {v0.4s-v3.4s}, [x1], #64", 0x4c9f_0820, 1, 0),
        ("ld1r {v0.4s}, [x1]", 0x4d40_c820, 1, 0),
        ("st1 {v0.b}[5], [x1], x2", 0x0d82_1420, 1, 0),
        ("ldxr x0, [x1]", 0xc85f_7c20, 1, 0),
        ("stlxp w2, x0, x3, [x1]", 0xc822_8c20, 1, 0),
        ("ldar w0, [x1]", 0x88df_fc20, 1, 0),
        ("casal x0, x2, [x1]", 0xc8e0_fc22, 1, 0),
        ("caspal x0, x1, x2, x3, [x4]", 0x4860_fc82, 4, 0),
        ("ldaddal w0, w1, [x2]", 0xb8e0_0041, 2, 0),
        ("swpb w0, w1, [sp]", 0x3820_83e1, 31, 0),
        ("ldapr x0, [x1]", 0xf8bf_c020, 1, 0),
        ("ldapur x0, [x1, #-8]", 0xd95f_8020, 1, -8),
        ("prfm pldl1keep, [x1, #64]", 0xf980_2020, 1, 64),
    ];
    for &(name, code, base, by) in cases {
        assert_eq!(touch(code), [Some(Touch::Offset { base, by }), None, None], "{name}");
    }
    let indexes: &[(&str, u32, u8, u8, u8, u8)] = &[
        ("ldrb w0, [x1, x2]", 0x3862_6820, 1, 2, 3, 0),
        ("ldr x0, [x1, x2, lsl #3]", 0xf862_7820, 1, 2, 3, 3),
        ("ldr x0, [x1, w2, uxtw #3]", 0xf862_5820, 1, 2, 2, 3),
        ("ldr w0, [x1, w2, sxtw]", 0xb862_c820, 1, 2, 6, 0),
        ("str q0, [sp, x2, lsl #4]", 0x3ca2_7be0, 31, 2, 3, 4),
        ("prfm pldl1keep, [x1, x2]", 0xf8a2_6820, 1, 2, 3, 0),
    ];
    for &(name, code, base, index, option, shift) in indexes {
        assert_eq!(touch(code)[0], Some(Touch::Index { base, index, option, shift }), "{name}");
    }
    // dc zva, x3; cpyfp [x0]!, [x1]!, x2!; setp [x0]!, x1!, x2
    assert_eq!(touch(0xd50b_7423)[0], Some(Touch::Register(3)));
    assert_eq!(touch(0x1901_0440), [Some(Touch::Register(0)), Some(Touch::Length(2)), Some(Touch::Register(1))]);
    assert_eq!(touch(0x19c2_0420), [Some(Touch::Register(0)), Some(Touch::Length(1)), None]);
    // ldr x0, literal; add x0, x0, x1; b; ret; nop; paciasp; msr dit, #1; dmb ish; mrs x0, tpidr_el0
    for code in [0x5800_0020, 0x8b01_0000, 0x1400_0001, 0xd65f_03c0, 0xd503_201f, 0xd503_233f, 0xd503_415f, 0xd503_3bbf]
    {
        assert_eq!(touch(code), [None; 3], "{code:08x}");
    }
    assert_eq!(touch(0xd53b_d040), [None; 3]);
}

#[test]
fn indexes_are_extended() {
    let index = 0xffff_ffff_8000_0001;
    assert_eq!([3, 2, 6, 7].map(|option| extended(index, option)), [index, 0x8000_0001, index, index]);
    assert_eq!(extended(0x1_0000_0005, 6), 5);
}

#[test]
fn instructions_without_an_entry_end_the_trace() {
    let cases = [
        ("brk #1", 0xd420_0020),
        ("hlt #0", 0xd440_0000),
        ("ldraa x0, [x1]", 0xf820_0420),
        ("stgp x0, x1, [x2]", 0x6900_0440),
        ("stg x0, [x1]", 0xd920_0820),
        ("ldg x0, [x1]", 0xd960_0020),
        ("rprfm", 0xf8a2_4838),
        ("gva", 0xd50b_7460),
        ("smstart sm", 0xd503_437f),
        ("tstart x0", 0xd523_3060),
        ("wfet x0", 0xd503_1000),
        ("ld1b {z0.b}, p0/z, [x0]", 0xa400_a000),
        ("ptrue p0.b", 0x2518_e3e0),
        ("smopa", 0xa080_0000),
        ("msr svcr, x0", 0xd51b_4240),
        ("an instruction that no processor has", 0x0200_0000),
    ];
    for (name, code) in cases {
        assert_eq!(decode(code).kind, Kind::Other, "{name}");
    }
    assert_eq!(decode(0xd400_0001).kind, Kind::System);
    assert_eq!([mark(START_MARK), mark(STOP_MARK)].map(|code| decode(code).kind), [Kind::Start, Kind::Stop]);
    assert_eq!([mark(START_MARK), mark(STOP_MARK)], [0xd283_563f, 0xd283_565f]);
}

#[test]
fn counters_and_random_numbers_vary() {
    // mrs x0 of cntvct_el0, cntpct_el0, rndr, pmccntr_el0, pmevcntr3_el0
    for code in [0xd53b_e040, 0xd53b_e020, 0xd53b_2400, 0xd53b_9d00, 0xd53b_e860] {
        assert!(decode(code).varies, "{code:08x}");
    }
    // mrs x0 of tpidr_el0, nzcv, midr_el1
    for code in [0xd53b_d040, 0xd53b_4200, 0xd538_0000] {
        assert!(decode(code).kind == Kind::Plain && !decode(code).varies, "{code:08x}");
    }
}

#[test]
fn operands_that_affect_the_time_are_known() {
    let general = |bytes| [1, 2].map(|number| Some(Source::General { number, bytes }));
    let vectors = |bytes| [1, 2].map(|number| Some(Source::Vector { number, bytes }));
    let one = |bytes| [Some(Source::Vector { number: 1, bytes }), None];
    let cases = [
        ("udiv x0, x1, x2", 0x9ac2_0820, general(8)),
        ("sdiv w0, w1, w2", 0x1ac2_0c20, general(4)),
        ("fdiv d0, d1, d2", 0x1e62_1820, vectors(8)),
        ("fdiv s0, s1, s2", 0x1e22_1820, vectors(4)),
        ("fdiv h0, h1, h2", 0x1ee2_1820, vectors(2)),
        ("fsqrt d0, d1", 0x1e61_c020, one(8)),
        ("fsqrt s0, s1", 0x1e21_c020, one(4)),
        ("fdiv v0.2d, v1.2d, v2.2d", 0x6e62_fc20, vectors(16)),
        ("fdiv v0.2s, v1.2s, v2.2s", 0x2e22_fc20, vectors(8)),
        ("fdiv v0.8h, v1.8h, v2.8h", 0x6e42_3c20, vectors(16)),
        ("fsqrt v0.4s, v1.4s", 0x6ea1_f820, one(16)),
        ("fsqrt v0.4h, v1.4h", 0x2ef9_f820, one(8)),
    ];
    for (name, code, operands) in cases {
        assert_eq!(decode(code).latency, Some(operands), "{name}");
    }
    // mul x0, x1, x2; lsl x0, x1, x2; fmul d0, d1, d2; fadd v0.4s, v1.4s, v2.4s; pmull v0.1q, v1.1d, v2.1d
    for code in [0x9b02_7c20, 0x9ac2_2020, 0x1e62_0820, 0x4e22_d420, 0x0ee2_e020] {
        assert_eq!(decode(code).latency, None, "{code:08x}");
    }
}
