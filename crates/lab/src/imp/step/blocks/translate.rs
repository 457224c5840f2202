//! Copies one block of code.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register, UsedMemory};

use super::super::memory::code;
use super::super::{Part, Plan, StepBlocks, Stop, WORDS, has_short_addresses, repeats};
use super::emit::{Emit, Operand};
use super::state::Request;
use super::{Engine, Link, Piece, Slow};

const INSTRUCTIONS: usize = 64;
/// Maximum number of recorded words in a block: one word for each instruction, and one word for each address.
const PARTS: usize = INSTRUCTIONS * 5;
/// The maximum size of the copy of a block in bytes.
const ROOM: usize = 16 << 10;

/// A jump to code that is not copied yet: the address of the jump's distance, and the address of the jump's target.
type Loose = (u64, u64);

/// A block that is being copied.
struct Draft {
    parts: [Part; PARTS],
    count: usize,
    instructions: usize,
    words: usize,
    loose: [Loose; 2],
    exits: usize,
}

impl Draft {
    fn part(&mut self, part: Part) {
        self.parts[self.count] = part;
        self.count += 1;
    }
}

/// An instruction and its bytes.
struct Original {
    instruction: Instruction,
    bytes: [u8; 15],
    length: usize,
    /// For an instruction with a displacement relative to its own address: the offset of the displacement in the
    /// instruction, and the address that results.
    relative: Option<(usize, u64)>,
}

impl Original {
    fn read(address: u64) -> Self {
        let read = |beyond| {
            let (bytes, length) = code(address, beyond);
            let mut decoder = Decoder::with_ip(64, &bytes[..length], address, DecoderOptions::NONE);
            let instruction = decoder.decode();
            let offset = decoder.get_constant_offsets(&instruction).displacement_offset();
            let relative =
                instruction.is_ip_rel_memory_operand().then(|| (offset, instruction.ip_rel_memory_address()));
            Self { instruction, bytes, length: instruction.len(), relative }
        };
        let first = read(false);
        if first.instruction.is_invalid() { read(true) } else { first }
    }

    /// Returns whether this module can copy the instruction unchanged, or can translate it as a branch.
    fn possible(&self) -> bool {
        let instruction = &self.instruction;
        let fixed = !matches!(
            instruction.mnemonic(),
            Mnemonic::INVALID
                | Mnemonic::Rdgsbase
                | Mnemonic::Wrgsbase
                | Mnemonic::Wrfsbase
                | Mnemonic::Swapgs
                | Mnemonic::Sysenter
                | Mnemonic::Xbegin
                | Mnemonic::Int
                | Mnemonic::Int1
        );
        fixed && instruction.memory_segment() != Register::GS
    }
}

impl Engine {
    /// Copies the block at `address`, which the program executes next, and returns the address of the copy.
    pub(super) fn translate(&mut self, address: u64, step: &mut dyn StepBlocks) -> Result<u64, Stop> {
        let home = self.caches.iter().position(|cache| cache.reaches(address, address)).ok_or(Stop::Far(address))?;
        // The code takes the caches out of `self`, because the emitter borrows a cache while [`Self::block`] changes
        // `self`.
        let mut caches = std::mem::take(&mut self.caches);
        let cache = &mut caches[home];
        let (base, bytes) = cache.free();
        let result = if bytes.len() < ROOM || self.pieces.room() == 0 || self.links.room() < 2 {
            Err(Stop::Crowded)
        } else {
            self.block(address, &mut Emit::new(base, bytes), step)
        };
        if let Ok((_, length)) = result {
            cache.keep(length);
            self.used[home] = cache.used();
        }
        self.caches = caches;
        let (copy, _) = result?;
        let slot = self.slot(address);
        self.pieces.push(Piece { address, copy });
        self.slots[slot] = self.pieces.len() as u32;
        Ok(copy)
    }

    /// Returns the address of the copy, and the size of the copy in bytes.
    fn block(&mut self, from: u64, emit: &mut Emit<'_>, step: &mut dyn StepBlocks) -> Result<(u64, usize), Stop> {
        let mut draft = Draft {
            parts: [Part::default(); PARTS],
            count: 0,
            instructions: 0,
            words: 0,
            loose: [(0, 0); 2],
            exits: 0,
        };
        let first = Original::read(from);
        let plan = step.plan(from)?;
        let start = if plan.simple.is_none() {
            let start = emit.here();
            self.slow(&first, emit, &mut draft)?;
            start
        } else {
            let (numbers, start) = emit.head();
            self.body(from, emit, &mut draft, step)?;
            let number = step.add(&draft.parts[..draft.count]).ok_or(Stop::Crowded)?;
            for place in numbers {
                emit.change(place, number);
            }
            self.starts.resize(number as usize, 0);
            if !self.starts.push(start) {
                return Err(Stop::Crowded);
            }
            start
        };
        for (site, target) in draft.loose.into_iter().take(draft.exits) {
            // A loop that consists of one block jumps to the block's own start.
            let known = if target == from { Some(start) } else { self.find(target).map(|piece| piece.copy) };
            if known.is_none_or(|copy| !emit.aim(site, copy)) {
                emit.aim(site, emit.here());
                emit.request(Request::Link, self.links.len() as u32);
                self.links.push(Link { site, target });
            }
        }
        Ok((start, emit.length()))
    }

    /// Copies simple instructions up to the end of the block.
    fn body(
        &mut self,
        from: u64,
        emit: &mut Emit<'_>,
        draft: &mut Draft,
        step: &mut dyn StepBlocks,
    ) -> Result<(), Stop> {
        let mut address = from;
        loop {
            let original = Original::read(address);
            let plan = step.plan(address)?;
            let words =
                plan.simple.as_ref().map(|simple| simple.iter().flatten().filter(|memory| logged(memory)).count());
            let fits = words.is_some_and(|words| draft.words + words <= WORDS && draft.instructions < INSTRUCTIONS);
            if draft.instructions > 0 && (!fits || !original.possible()) {
                goto(emit, draft, None, address);
                return Ok(());
            }
            if !original.possible() {
                return Err(Stop::Instruction(address));
            }
            self.addresses(&plan, emit, draft, address)?;
            draft.instructions += 1;
            if flow(&original, emit, draft)? {
                return Ok(());
            }
            copied(&original, emit)?;
            address = original.instruction.next_ip();
        }
    }

    /// Writes the code that stores an instruction's memory addresses in the log.
    fn addresses(&self, plan: &Plan, emit: &mut Emit<'_>, draft: &mut Draft, address: u64) -> Result<(), Stop> {
        draft.part(Part { value: address, logged: false, entry: Some(plan.entry) });
        for memory in plan.simple.iter().flatten().flatten() {
            let base = if memory.segment() == Register::FS { self.layout.thread_pointer() } else { 0 };
            if logged(memory) {
                let operand = Operand::from_used(memory).ok_or(Stop::Instruction(address))?;
                emit.log(draft.words, operand);
                draft.words += 1;
                draft.part(Part { value: base, logged: true, entry: None });
            } else {
                draft.part(Part { value: memory.displacement().wrapping_add(base), logged: false, entry: None });
            }
        }
        Ok(())
    }

    /// Writes code that lets the engine record an instruction from the saved registers, and then copies the
    /// instruction.
    fn slow(&mut self, original: &Original, emit: &mut Emit<'_>, draft: &mut Draft) -> Result<(), Stop> {
        let instruction = &original.instruction;
        let straight = instruction.flow_control() == FlowControl::Next || instruction.code() == Code::Syscall;
        if !original.possible() || !straight || self.slow.room() == 0 {
            return Err(Stop::Instruction(instruction.ip()));
        }
        let again = emit.here();
        emit.request(Request::Slow, self.slow.len() as u32);
        let count = if has_short_addresses(instruction) { u64::from(u32::MAX) } else { u64::MAX };
        let mut slow = Slow { address: instruction.ip(), resume: emit.here(), repeats: None, count };
        if !repeats(instruction) {
            copied(original, emit)?;
            if instruction.code() == Code::Syscall {
                emit.load_next(instruction.next_ip());
            }
        } else if string(instruction).is_some() {
            slow.repeats = string(instruction);
            copied(original, emit)?;
        } else {
            one_round(original, emit, again)?;
        }
        self.slow.push(slow);
        goto(emit, draft, None, instruction.next_ip());
        Ok(())
    }
}

/// Returns whether the block must write an address to the log. The block must write the address to the log if the
/// address is known only when the block executes.
fn logged(memory: &UsedMemory) -> bool {
    memory.base() != Register::None || memory.index() != Register::None
}

/// Writes a jump to the copy of the code at `target`.
fn goto(emit: &mut Emit<'_>, draft: &mut Draft, condition: Option<u8>, target: u64) {
    draft.loose[draft.exits] = (emit.jump(condition), target);
    draft.exits += 1;
}

/// If the instruction is a branch, writes the end of the block. Returns whether the instruction is a branch.
fn flow(original: &Original, emit: &mut Emit<'_>, draft: &mut Draft) -> Result<bool, Stop> {
    let instruction = &original.instruction;
    let (target, next) = (instruction.near_branch_target(), instruction.next_ip());
    let near = instruction.op0_kind() == OpKind::NearBranch64;
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Exception => return Ok(false),
        // Only `int3` reaches this arm. The program's own signal handler handles `int3`.
        FlowControl::Interrupt => return Ok(false),
        FlowControl::UnconditionalBranch if near => goto(emit, draft, None, target),
        FlowControl::Call if near => {
            emit.push(next);
            goto(emit, draft, None, target);
        }
        FlowControl::ConditionalBranch if near && instruction.is_jcc_short_or_near() => {
            goto(emit, draft, Some(instruction.condition_code() as u8 - 1), target);
            goto(emit, draft, None, next);
        }
        FlowControl::ConditionalBranch if near => {
            // `loop` and `jrcxz` exist only as short jumps. If the processor takes the short jump, it skips the second
            // jump and then executes the long jump to the target. If the processor does not take the short jump, the
            // second jump skips the long jump.
            emit.bytes(&original.bytes[..original.length - 1]);
            emit.bytes(&[2, 0xeb, 5]);
            goto(emit, draft, None, target);
            goto(emit, draft, None, next);
        }
        FlowControl::IndirectBranch | FlowControl::IndirectCall => {
            indirect(instruction, emit)?;
            if instruction.flow_control() == FlowControl::IndirectCall {
                emit.push(next);
            }
            emit.find();
        }
        FlowControl::Return if matches!(instruction.code(), Code::Retnq | Code::Retnq_imm16) => {
            let top = Operand::new(Register::RSP, Register::None, 1, 0).ok_or(Stop::Instruction(instruction.ip()))?;
            emit.load(None, top);
            let extra = if instruction.code() == Code::Retnq_imm16 { instruction.immediate16() } else { 0 };
            emit.pop(8 + u32::from(extra));
            emit.find();
        }
        _ => return Err(Stop::Instruction(instruction.ip())),
    }
    Ok(true)
}

/// Writes code that loads the target of an indirect jump or call.
fn indirect(instruction: &Instruction, emit: &mut Emit<'_>) -> Result<(), Stop> {
    let impossible = Stop::Instruction(instruction.ip());
    if !matches!(instruction.code(), Code::Jmp_rm64 | Code::Call_rm64) {
        return Err(impossible);
    }
    if instruction.op0_kind() == OpKind::Register {
        emit.load_register(instruction.op0_register().number() as u8);
        return Ok(());
    }
    let thread = instruction.memory_segment() == Register::FS;
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    if instruction.is_ip_rel_memory_operand() && !thread {
        emit.load_constant(instruction.ip_rel_memory_address());
        return Ok(());
    }
    let operand = Operand::new(base, index, instruction.memory_index_scale(), instruction.memory_displacement64());
    emit.load(thread.then_some(0x64), operand.ok_or(impossible)?);
    Ok(())
}

/// Copies an instruction. If the instruction contains a displacement relative to its own address, the copy gets a new
/// displacement to the same address.
fn copied(original: &Original, emit: &mut Emit<'_>) -> Result<(), Stop> {
    let here = emit.here();
    emit.bytes(&original.bytes[..original.length]);
    if let Some((offset, target)) = original.relative {
        let distance = i32::try_from(target.wrapping_sub(here + original.length as u64) as i64);
        let distance = distance.map_err(|_| Stop::Far(original.instruction.ip()))?;
        emit.change(here + offset as u64, distance as u32);
    }
    Ok(())
}

/// Returns the size of an element in bytes if the instruction is a string instruction that repeats without a condition.
fn string(instruction: &Instruction) -> Option<u8> {
    use Mnemonic::{Lodsb, Lodsd, Lodsq, Lodsw, Movsb, Movsd, Movsq, Movsw, Stosb, Stosd, Stosq, Stosw};
    match instruction.mnemonic() {
        Movsb | Stosb | Lodsb => Some(1),
        Movsw | Stosw | Lodsw => Some(2),
        Movsd | Stosd | Lodsd => Some(4),
        Movsq | Stosq | Lodsq => Some(8),
        _ => None,
    }
}

/// Writes one repetition of an instruction that repeats under a condition. The code at `again` records the next
/// repetition.
fn one_round(original: &Original, emit: &mut Emit<'_>, again: u64) -> Result<(), Stop> {
    let instruction = &original.instruction;
    let compares = matches!(
        instruction.mnemonic(),
        Mnemonic::Cmpsb
            | Mnemonic::Cmpsw
            | Mnemonic::Cmpsd
            | Mnemonic::Cmpsq
            | Mnemonic::Scasb
            | Mnemonic::Scasw
            | Mnemonic::Scasd
            | Mnemonic::Scasq
    );
    let prefix = original.bytes[..original.length].iter().position(|byte| matches!(byte, 0xf2 | 0xf3));
    let (true, Some(prefix)) = (compares, prefix) else { return Err(Stop::Instruction(instruction.ip())) };
    let mut single = [0; 15];
    let length = original.length - 1;
    single[..prefix].copy_from_slice(&original.bytes[..prefix]);
    single[prefix..length].copy_from_slice(&original.bytes[prefix + 1..original.length]);
    let short: &[u8] = if has_short_addresses(instruction) { &[0x67] } else { &[] };
    // The last jump takes 5 bytes, the jump before the last jump takes 2 bytes, `jrcxz` or `jecxz` takes 2 or 3 bytes,
    // and the decrement takes 4 bytes.
    emit.bytes(short);
    emit.bytes(&[0xe3, (length + short.len() + 13) as u8]);
    emit.bytes(&single[..length]);
    // lea rcx, [rcx - 1] or lea ecx, [rcx - 1]; jrcxz or jecxz; jne or je
    emit.bytes(if short.is_empty() { &[0x48, 0x8d, 0x49, 0xff] } else { &[0x40, 0x8d, 0x49, 0xff] });
    emit.bytes(short);
    emit.bytes(&[0xe3, 7]);
    emit.bytes(&[if instruction.has_repne_prefix() { 0x74 } else { 0x75 }, 5]);
    let site = emit.jump(None);
    emit.aim(site, again);
    Ok(())
}
