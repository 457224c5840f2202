//! Instructions whose result does not depend on their operands.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// Recognizes `xor eax, eax`, `vpcmpeqd ymm0, ymm1, ymm1` and similar instructions: the result is a constant for any
/// contents of the registers.
pub(super) fn is_constant(instruction: &Instruction) -> bool {
    // If the instruction has a mask, the result also depends on the old contents or on the mask.
    if instruction.has_op_mask() {
        return false;
    }
    match instruction.mnemonic() {
        Mnemonic::Vpternlogd | Mnemonic::Vpternlogq => {
            let last = instruction.op_count() - 1;
            matches!(instruction.op_kind(last), OpKind::Immediate8) && matches!(instruction.immediate8(), 0 | 0xff)
        }
        Mnemonic::And => instruction.op1_kind() != OpKind::Register && immediate(instruction) == Some(0),
        Mnemonic::Or => instruction.op1_kind() != OpKind::Register && immediate(instruction) == Some(u64::MAX),
        mnemonic => cancels(mnemonic) && has_twin_sources(instruction),
    }
}

/// Recognizes instructions such as `sbb eax, eax`, which copies the carry flag to all bits of the register and reads
/// nothing else.
pub(super) fn is_carry_spread(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Sbb && has_twin_sources(instruction)
}

fn immediate(instruction: &Instruction) -> Option<u64> {
    // In `or al, -1` the immediate has 8 bits. Only the forms whose immediate is widened to 64 bits matter.
    instruction.try_immediate(1).ok()
}

fn has_twin_sources(instruction: &Instruction) -> bool {
    let count = instruction.op_count();
    let register = |operand: u32| {
        if operand < count && instruction.op_kind(operand) == OpKind::Register {
            instruction.op_register(operand)
        } else {
            Register::None
        }
    };
    let (first, second) = if count >= 3 { (register(1), register(2)) } else { (register(0), register(1)) };
    first != Register::None && first == second
}

fn cancels(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Xor
            | Mnemonic::Sub
            | Mnemonic::Pxor
            | Mnemonic::Xorps
            | Mnemonic::Xorpd
            | Mnemonic::Pandn
            | Mnemonic::Psubb
            | Mnemonic::Psubw
            | Mnemonic::Psubd
            | Mnemonic::Psubq
            | Mnemonic::Pcmpeqb
            | Mnemonic::Pcmpeqw
            | Mnemonic::Pcmpeqd
            | Mnemonic::Pcmpeqq
            | Mnemonic::Pcmpgtb
            | Mnemonic::Pcmpgtw
            | Mnemonic::Pcmpgtd
            | Mnemonic::Pcmpgtq
            | Mnemonic::Vpxor
            | Mnemonic::Vpxord
            | Mnemonic::Vpxorq
            | Mnemonic::Vxorps
            | Mnemonic::Vxorpd
            | Mnemonic::Vpandn
            | Mnemonic::Vpsubb
            | Mnemonic::Vpsubw
            | Mnemonic::Vpsubd
            | Mnemonic::Vpsubq
            | Mnemonic::Vpcmpeqb
            | Mnemonic::Vpcmpeqw
            | Mnemonic::Vpcmpeqd
            | Mnemonic::Vpcmpeqq
            | Mnemonic::Vpcmpgtb
            | Mnemonic::Vpcmpgtw
            | Mnemonic::Vpcmpgtd
            | Mnemonic::Vpcmpgtq
            | Mnemonic::Kxorb
            | Mnemonic::Kxorw
            | Mnemonic::Kxord
            | Mnemonic::Kxorq
            | Mnemonic::Kxnorb
            | Mnemonic::Kxnorw
            | Mnemonic::Kxnord
            | Mnemonic::Kxnorq
    )
}

/// Recognizes instructions whose time depends on their operands on CPUs that are in use today.
pub(super) fn is_slow(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let division = matches!(instruction.mnemonic(), M::Div | M::Idiv)
        || matches!(
            instruction.mnemonic(),
            M::Divss | M::Divsd | M::Divps | M::Divpd | M::Vdivss | M::Vdivsd | M::Vdivps | M::Vdivpd
        );
    let root = matches!(
        instruction.mnemonic(),
        M::Sqrtss | M::Sqrtsd | M::Sqrtps | M::Sqrtpd | M::Vsqrtss | M::Vsqrtsd | M::Vsqrtps | M::Vsqrtpd
    );
    division || root || instruction.cpuid_features().contains(&iced_x86::CpuidFeature::FPU)
}
