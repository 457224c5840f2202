//! The control-flow graph of one function. The graph is built by following the jumps of the function.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::image::Image;

/// The maximum number of entries of a jump table.
const TABLE_LIMIT: u64 = 4096;

pub(crate) struct Graph {
    pub(crate) instructions: BTreeMap<u64, Instruction>,
    /// Addresses where more than one path can meet. The fixpoint computation keeps one state for each of these
    /// addresses.
    pub(crate) leaders: BTreeSet<u64>,
    /// The jumps through a table, by address, with the targets that the table contains.
    tables: BTreeMap<u64, Vec<u64>>,
    start: u64,
    end: u64,
}

impl Graph {
    /// Returns `None` if the function cannot be decoded.
    pub(crate) fn of(image: &Image, start: u64) -> Option<Self> {
        let end = image.function_at(start).map_or(u64::MAX, |(at, symbol)| match symbol.size {
            0 => u64::MAX,
            size => at + size,
        });
        let mut graph = Self {
            instructions: BTreeMap::new(),
            leaders: BTreeSet::from([start]),
            tables: BTreeMap::new(),
            start,
            end,
        };
        let mut todo = vec![start];
        while let Some(mut at) = todo.pop() {
            while !graph.instructions.contains_key(&at) {
                let instruction = image.decode(at)?;
                graph.instructions.insert(at, instruction);
                if instruction.flow_control() == FlowControl::IndirectBranch
                    && let Some(targets) = graph.table_targets(image, &instruction)
                {
                    graph.tables.insert(at, targets);
                }
                let targets = graph.jumps(&instruction);
                graph.leaders.extend(&targets);
                todo.extend(targets);
                if !falls_through(&instruction) || !graph.holds(instruction.next_ip()) {
                    break;
                }
                at = instruction.next_ip();
            }
        }
        Some(graph)
    }

    /// Whether this address lies in the function. A jump to any other address is a tail call.
    pub(crate) fn holds(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// The addresses inside the function that this instruction may jump to.
    pub(crate) fn jumps(&self, instruction: &Instruction) -> Vec<u64> {
        match instruction.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                if self.holds(target) { vec![target] } else { Vec::new() }
            }
            FlowControl::IndirectBranch => self.tables.get(&instruction.ip()).cloned().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn has_table(&self, instruction: &Instruction) -> bool {
        self.tables.contains_key(&instruction.ip())
    }

    /// Recognizes LLVM's jump table: `lea base, [rip+table]; movsxd reg, [base+index*4]; add reg, base; jmp reg`. The
    /// `lea` may be far before the jump, outside of a loop.
    fn table_targets(&self, image: &Image, jump: &Instruction) -> Option<Vec<u64>> {
        if jump.op0_kind() != OpKind::Register {
            return None;
        }
        let target = jump.op0_register();
        let mut before = self.instructions.range(..jump.ip()).rev().map(|(_, instruction)| instruction);
        let add = before.by_ref().take(8).find(|i| i.mnemonic() == Mnemonic::Add && i.op0_register() == target)?;
        let base = add.op1_register();
        let load = before.by_ref().take(8).find(|i| i.mnemonic() == Mnemonic::Movsxd && i.memory_index_scale() == 4)?;
        if load.memory_base() != base && load.memory_base() != target {
            return None;
        }
        let table = before
            .find(|i| {
                i.mnemonic() == Mnemonic::Lea
                    && i.op0_register() == load.memory_base()
                    && i.memory_base() == Register::RIP
            })?
            .ip_rel_memory_address();
        let mut targets = Vec::new();
        // Nothing in the object marks the end of a table. If the code reads beyond the end of the table, into the next
        // table, the only effect is that the graph has additional paths.
        for index in 0..TABLE_LIMIT {
            let Some(entry) = image.read_i32(table + 4 * index) else { break };
            let target = table.wrapping_add_signed(i64::from(entry));
            if !self.holds(target) || image.decode(target).is_none() {
                break;
            }
            targets.push(target);
        }
        targets.sort_unstable();
        targets.dedup();
        (!targets.is_empty()).then_some(targets)
    }
}

/// Whether the next instruction in memory can run directly after this instruction.
pub(crate) fn falls_through(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Return
            | FlowControl::Exception
            | FlowControl::Interrupt
    )
}
