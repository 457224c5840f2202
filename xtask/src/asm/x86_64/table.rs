//! Jump tables.

use iced_x86::{Mnemonic, OpKind, Register};

use super::raw;
use crate::asm::image::Image;
use crate::asm::instruction::Table;

/// Recognizes LLVM's jump table: `lea base, [rip+table]; movsxd reg, [base+index*4]; add reg, base; jmp reg`. The `lea`
/// may be far before the jump, outside of a loop.
pub(super) fn find(image: &Image, before: &mut dyn Iterator<Item = u64>, jump: u64) -> Option<Table> {
    let jump = raw(image, jump)?;
    if jump.op0_kind() != OpKind::Register {
        return None;
    }
    let target = jump.op0_register();
    let mut before = before.filter_map(|at| raw(image, at));
    let add = before.by_ref().take(8).find(|i| i.mnemonic() == Mnemonic::Add && i.op0_register() == target)?;
    let base = add.op1_register();
    let load = before.by_ref().take(8).find(|i| i.mnemonic() == Mnemonic::Movsxd && i.memory_index_scale() == 4)?;
    if load.memory_base() != base && load.memory_base() != target {
        return None;
    }
    let table = before
        .find(|i| {
            i.mnemonic() == Mnemonic::Lea && i.op0_register() == load.memory_base() && i.memory_base() == Register::RIP
        })?
        .ip_rel_memory_address();
    Some(Table { address: table, base: table, width: 4, signed: true, shift: 0, count: None })
}
