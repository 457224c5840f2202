//! The control-flow graph of one function. The graph is built by following the jumps of the function.

use std::collections::{BTreeMap, BTreeSet};

use super::image::Image;
use super::instruction::{Flow, Instruction, Table};

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
                if matches!(instruction.flow, Flow::IndirectJump(_))
                    && let Some(targets) = graph.table_targets(image, at)
                {
                    graph.tables.insert(at, targets);
                }
                let targets = graph.jumps(&instruction);
                let next = instruction.next;
                let falls_through = instruction.falls_through();
                graph.instructions.insert(at, instruction);
                graph.leaders.extend(&targets);
                todo.extend(targets);
                if !falls_through || !graph.holds(next) {
                    break;
                }
                at = next;
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
        match instruction.flow {
            Flow::Jump(target) | Flow::ConditionalJump { target, .. } if self.holds(target) => vec![target],
            Flow::IndirectJump(_) => self.tables.get(&instruction.address).cloned().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn has_table(&self, instruction: &Instruction) -> bool {
        self.tables.contains_key(&instruction.address)
    }

    fn table_targets(&self, image: &Image, jump: u64) -> Option<Vec<u64>> {
        let mut before = self.instructions.range(..jump).rev().map(|(&at, _)| at);
        let table: Table = (image.machine.table)(image, &mut before, jump)?;
        let mut targets = Vec::new();
        // Nothing in the object marks the end of a table. If the code reads beyond the end of the table, into the next
        // table, the only effect is that the graph has additional paths.
        for index in 0..table.count.unwrap_or(TABLE_LIMIT).min(TABLE_LIMIT) {
            let Some(entry) = image.entry(&table, index) else { break };
            let target = table.base.wrapping_add_signed(entry << table.shift);
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
