//! The table of the instructions that compute: what each one does with its first operand and with the flags.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) first: First,
    pub(super) reads_flags: bool,
    pub(super) sets_flags: bool,
    /// Whether the time depends on the operands on CPUs that are in use today.
    pub(super) slow: bool,
}

/// The role of the first operand. An instruction reads all other operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// The operand receives the result, and the rest of its register becomes zero.
    Written,
    /// The result also depends on the old contents of the register.
    Merged,
    Read,
}

const WRITES: Effect = Effect { first: First::Written, reads_flags: false, sets_flags: false, slow: false };
const MERGES: Effect = Effect { first: First::Merged, ..WRITES };
const SETS_FLAGS: Effect = Effect { sets_flags: true, ..WRITES };
const READS_FLAGS: Effect = Effect { reads_flags: true, ..WRITES };
const CARRIES: Effect = Effect { reads_flags: true, ..SETS_FLAGS };
const COMPARES: Effect = Effect { first: First::Read, ..SETS_FLAGS };
const COMPARES_PERHAPS: Effect = Effect { reads_flags: true, ..COMPARES };
const DIVIDES: Effect = Effect { slow: true, ..WRITES };

/// The effect of an instruction, by the name that the decoder gives it. Instructions of SVE and SME have some of these
/// names too, but operands of other kinds.
pub(super) fn effect(mnemonic: &str) -> Option<Effect> {
    let find = [integer, vector, narrow_and_wide, float, cryptography];
    find.iter().find_map(|find| find(mnemonic))
}

fn integer(mnemonic: &str) -> Option<Effect> {
    Some(match mnemonic {
        "add" | "sub" | "and" | "orr" | "eor" | "bic" | "orn" | "eon" => WRITES,
        "madd" | "msub" | "smaddl" | "smsubl" | "umaddl" | "umsubl" | "smulh" | "umulh" => WRITES,
        "lslv" | "lsrv" | "asrv" | "rorv" | "extr" | "sbfm" | "ubfm" => WRITES,
        "clz" | "cls" | "rbit" | "rev" | "rev16" | "rev32" => WRITES,
        "movz" | "movn" | "adr" | "adrp" => WRITES,
        "crc32b" | "crc32h" | "crc32w" | "crc32x" | "crc32cb" | "crc32ch" | "crc32cw" | "crc32cx" => WRITES,
        "movk" | "bfm" => MERGES,
        "adds" | "subs" | "ands" | "bics" => SETS_FLAGS,
        "adc" | "sbc" | "csel" | "csinc" | "csinv" | "csneg" | "fcsel" => READS_FLAGS,
        "adcs" | "sbcs" => CARRIES,
        "ccmp" | "ccmn" | "fccmp" | "fccmpe" => COMPARES_PERHAPS,
        "fcmp" | "fcmpe" => COMPARES,
        "udiv" | "sdiv" | "fdiv" | "fsqrt" => DIVIDES,
        _ => return None,
    })
}

/// NEON with elements of the same size in all operands.
fn vector(mnemonic: &str) -> Option<Effect> {
    Some(match mnemonic {
        "dup" | "umov" | "smov" | "movi" | "mvni" | "fmov" => WRITES,
        "mul" | "pmul" | "neg" | "abs" | "not" | "cnt" | "rev64" => WRITES,
        "cmeq" | "cmge" | "cmgt" | "cmhi" | "cmhs" | "cmle" | "cmlt" | "cmtst" => WRITES,
        "shl" | "sshr" | "ushr" | "srshr" | "urshr" | "sshl" | "ushl" | "srshl" | "urshl" => WRITES,
        "sqshl" | "uqshl" | "sqshlu" | "sqrshl" | "uqrshl" => WRITES,
        "sqadd" | "uqadd" | "sqsub" | "uqsub" | "sqabs" | "sqneg" => WRITES,
        "shadd" | "uhadd" | "srhadd" | "urhadd" | "shsub" | "uhsub" | "sabd" | "uabd" => WRITES,
        "smax" | "umax" | "smin" | "umin" | "smaxp" | "umaxp" | "sminp" | "uminp" | "addp" => WRITES,
        "addv" | "smaxv" | "umaxv" | "sminv" | "uminv" => WRITES,
        "sqdmulh" | "sqrdmulh" => WRITES,
        "ext" | "tbl" | "zip1" | "zip2" | "uzp1" | "uzp2" | "trn1" | "trn2" => WRITES,
        "ins" | "sli" | "sri" | "bsl" | "bit" | "bif" | "tbx" | "mla" | "mls" => MERGES,
        "ssra" | "usra" | "srsra" | "ursra" | "saba" | "uaba" | "suqadd" | "usqadd" => MERGES,
        "sdot" | "udot" | "usdot" | "sqrdmlah" | "sqrdmlsh" => MERGES,
        _ => return None,
    })
}

/// NEON with operands of different sizes. A `2` at the end means the upper half: of a source, if the result is wider,
/// and of the result, if it is narrower. In the second case, the lower half of the result stays.
fn narrow_and_wide(mnemonic: &str) -> Option<Effect> {
    Some(match mnemonic {
        "sshll" | "sshll2" | "ushll" | "ushll2" | "shll" | "shll2" => WRITES,
        "saddl" | "saddl2" | "uaddl" | "uaddl2" | "saddw" | "saddw2" | "uaddw" | "uaddw2" => WRITES,
        "ssubl" | "ssubl2" | "usubl" | "usubl2" | "ssubw" | "ssubw2" | "usubw" | "usubw2" => WRITES,
        "sabdl" | "sabdl2" | "uabdl" | "uabdl2" | "saddlp" | "uaddlp" | "saddlv" | "uaddlv" => WRITES,
        "smull" | "smull2" | "umull" | "umull2" | "pmull" | "pmull2" | "sqdmull" | "sqdmull2" => WRITES,
        "xtn" | "sqxtn" | "uqxtn" | "sqxtun" | "shrn" | "rshrn" => WRITES,
        "sqshrn" | "uqshrn" | "sqshrun" | "sqrshrn" | "uqrshrn" | "sqrshrun" => WRITES,
        "addhn" | "raddhn" | "subhn" | "rsubhn" => WRITES,
        "xtn2" | "sqxtn2" | "uqxtn2" | "sqxtun2" | "shrn2" | "rshrn2" => MERGES,
        "sqshrn2" | "uqshrn2" | "sqshrun2" | "sqrshrn2" | "uqrshrn2" | "sqrshrun2" => MERGES,
        "addhn2" | "raddhn2" | "subhn2" | "rsubhn2" => MERGES,
        "smlal" | "smlal2" | "umlal" | "umlal2" | "smlsl" | "smlsl2" | "umlsl" | "umlsl2" => MERGES,
        "sqdmlal" | "sqdmlal2" | "sqdmlsl" | "sqdmlsl2" => MERGES,
        "sabal" | "sabal2" | "uabal" | "uabal2" | "sadalp" | "uadalp" => MERGES,
        _ => return None,
    })
}

fn float(mnemonic: &str) -> Option<Effect> {
    Some(match mnemonic {
        "fadd" | "fsub" | "fmul" | "fnmul" | "fmulx" | "fabs" | "fneg" | "fabd" => WRITES,
        "fmadd" | "fmsub" | "fnmadd" | "fnmsub" => WRITES,
        "fmax" | "fmin" | "fmaxnm" | "fminnm" | "faddp" | "fmaxp" | "fminp" | "fmaxnmp" | "fminnmp" => WRITES,
        "fcmeq" | "fcmge" | "fcmgt" | "fcmle" | "fcmlt" | "facge" | "facgt" => WRITES,
        "frinta" | "frinti" | "frintm" | "frintn" | "frintp" | "frintx" | "frintz" => WRITES,
        "fcvt" | "fcvtl" | "fcvtl2" | "fcvtn" | "scvtf" | "ucvtf" => WRITES,
        "fcvtas" | "fcvtau" | "fcvtms" | "fcvtmu" | "fcvtns" | "fcvtnu" => WRITES,
        "fcvtps" | "fcvtpu" | "fcvtzs" | "fcvtzu" => WRITES,
        "fcvtn2" | "fmla" | "fmls" => MERGES,
        _ => return None,
    })
}

fn cryptography(mnemonic: &str) -> Option<Effect> {
    Some(match mnemonic {
        "aesmc" | "aesimc" | "eor3" | "bcax" | "rax1" | "xar" | "sha1h" => WRITES,
        "aese" | "aesd" | "sha1c" | "sha1m" | "sha1p" | "sha1su0" | "sha1su1" => MERGES,
        "sha256h" | "sha256h2" | "sha256su0" | "sha256su1" => MERGES,
        "sha512h" | "sha512h2" | "sha512su0" | "sha512su1" => MERGES,
        _ => return None,
    })
}
