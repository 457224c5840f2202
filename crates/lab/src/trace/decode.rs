//! Decodes which memory an instruction accesses, and which operands affect the instruction's time. The recorder decodes
//! each instruction once: in the middle of the traced call, when the instruction runs for the first time. The decoder
//! and this module allocate no memory.

use iced_x86::{
    DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, OpKind,
};
use iced_x86::{Register, UsedMemory};

use super::system;
use crate::imp::mark::{START_MARK, STOP_MARK};
use crate::imp::step::{Registers, code, has_short_addresses, repeats};

#[derive(Clone, Copy)]
pub(super) struct Decoded {
    pub(super) kind: Kind,
    pub(super) touches: [Option<Touch>; 4],
    /// The operands that affect the instruction's time. `None` if the time is constant.
    pub(super) latency: Option<[Option<Source>; 3]>,
    /// Whether the instruction may return different results in calls with the same input.
    pub(super) varies: bool,
    /// The register that contains the number of repetitions, if the instruction has a `rep` prefix. If this number is
    /// zero, the instruction accesses nothing.
    count: Option<Source>,
}

/// The kind of an instruction, which determines what the recorder does before the instruction runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// A system call. [`super::system`] records system calls.
    System,
    /// An instruction whose effects a trace cannot record ([`unsupported`]).
    Other,
    /// The instructions that [`super::start`] and [`super::stop`] execute as marks.
    Start,
    Stop,
}

/// A memory access of an instruction.
#[derive(Clone, Copy)]
pub(super) enum Touch {
    Memory {
        memory: UsedMemory,
        elements: u8,
        chosen: Chosen,
    },
    /// A prefetch reads no memory, but moves a cache line.
    Hint(Instruction),
    /// An address in a register. The instruction has no memory operand for this address.
    Address(Register),
    /// An operand that affects which bytes the instruction accesses.
    Value(Source),
}

/// The elements that a gather or scatter accesses.
#[derive(Clone, Copy)]
pub(super) enum Chosen {
    All,
    Mask(u8),
    /// The elements whose counterpart in a vector register has its uppermost bit set. The fields are the number of the
    /// register and the size of an element in bytes.
    Signs(u8, u8),
}

#[derive(Clone, Copy)]
pub(super) enum Source {
    General { number: u8, shift: u8, bytes: u8 },
    Vector { number: u8, bytes: u8 },
    Mask(u8),
    X87(u8),
    Memory(UsedMemory),
}

impl Decoded {
    /// Returns the memory that the instruction accesses, if two conditions hold: the addresses depend only on general
    /// registers, and the recorder needs nothing else about the instruction.
    pub(super) fn simple(&self) -> Option<[Option<UsedMemory>; 4]> {
        if self.kind != Kind::Plain || self.latency.is_some() || self.count.is_some() {
            return None;
        }
        let mut simple = [None; 4];
        for (slot, touch) in simple.iter_mut().zip(self.touches.iter().flatten()) {
            let Touch::Memory { memory, elements: 1, chosen: Chosen::All } = touch else { return None };
            let general = |register: Register| register == Register::None || register.is_gpr64();
            let near = i32::try_from(memory.displacement() as i64).is_ok();
            let constant = memory.base() == Register::None && memory.index() == Register::None;
            if !general(memory.base())
                || !general(memory.index())
                || memory.segment() == Register::GS
                || !(near || constant)
            {
                return None;
            }
            *slot = Some(*memory);
        }
        Some(simple)
    }

    /// Returns how many words [`Self::addresses`] passes to its closure.
    pub(super) fn words(&self) -> usize {
        if self.kind == Kind::System {
            return system::WORDS;
        }
        self.touches.iter().flatten().map(Touch::words).sum()
    }

    /// Calls `each` with each address that the instruction accesses. The caller calls this method before the
    /// instruction is executed.
    pub(super) fn addresses(&self, registers: &Registers<'_>, mut each: impl FnMut(u64)) {
        if self.kind == Kind::System {
            return system::words(registers, each);
        }
        let done = self.count.is_some_and(|count| count.word(registers, 0) == 0);
        for touch in self.touches.iter().flatten() {
            match touch {
                _ if done => each(0),
                Touch::Memory { memory, elements, chosen } => {
                    for element in 0..usize::from(*elements) {
                        each(if chosen.has(registers, element) { registers.address(memory, element) } else { 0 });
                    }
                }
                Touch::Hint(instruction) => {
                    let value = |register, element, size| registers.value(register, element, size);
                    each(instruction.virtual_address(0, 0, value).unwrap_or(0));
                }
                Touch::Address(register) => each(registers.value(*register, 0, 8).unwrap_or(0)),
                Touch::Value(source) => {
                    for word in 0..source.words() {
                        each(source.word(registers, word));
                    }
                }
            }
        }
    }

    /// Returns whether a word that [`Self::addresses`] passes to its closure is an address. An address of zero means
    /// that the access does not happen.
    pub(super) fn is_address(&self, mut word: usize) -> bool {
        for touch in self.touches.iter().flatten() {
            if word < touch.words() {
                return !matches!(touch, Touch::Value(_));
            }
            word -= touch.words();
        }
        false
    }
}

impl Touch {
    fn words(&self) -> usize {
        match self {
            Self::Memory { elements, .. } => usize::from(*elements),
            Self::Hint(_) | Self::Address(_) => 1,
            Self::Value(source) => source.words(),
        }
    }
}

impl Chosen {
    fn has(self, registers: &Registers<'_>, element: usize) -> bool {
        match self {
            Self::All => true,
            Self::Mask(number) => registers.mask(number.into()) >> element & 1 != 0,
            Self::Signs(number, 4) => registers.vector(number.into(), element / 2) >> (element % 2 * 32 + 31) & 1 != 0,
            Self::Signs(number, _) => registers.vector(number.into(), element) >> 63 != 0,
        }
    }
}

impl Source {
    pub(super) fn words(self) -> usize {
        match self {
            Self::General { .. } | Self::Mask(_) => 1,
            Self::Vector { bytes, .. } => usize::from(bytes).div_ceil(8),
            Self::X87(_) => 2,
            Self::Memory(memory) => memory.memory_size().size().div_ceil(8),
        }
    }

    /// Returns one word of the operand.
    pub(super) fn word(self, registers: &Registers<'_>, index: usize) -> u64 {
        match self {
            Self::General { number, shift, bytes } => low(registers.general(number.into()) >> shift, bytes),
            Self::Vector { number, bytes } => low(registers.vector(number.into(), index), bytes.min(8)),
            Self::Mask(number) => registers.mask(number.into()),
            Self::X87(number) if index == 1 => registers.x87(number.into(), 1) & 0xffff,
            Self::X87(number) => registers.x87(number.into(), 0),
            Self::Memory(memory) => registers.operand(&memory, index),
        }
    }

    fn register(register: Register, bytes: usize) -> Option<Self> {
        let (number, bytes) = (register.number() as u8, bytes as u8);
        match register {
            Register::AH | Register::CH | Register::DH | Register::BH => {
                Some(Self::General { number: number & 3, shift: 8, bytes: 1 })
            }
            _ if register.is_gpr() => Some(Self::General { number, shift: 0, bytes }),
            _ if register.is_vector_register() => Some(Self::Vector { number, bytes }),
            _ if register.is_st() => Some(Self::X87(number)),
            _ => None,
        }
    }
}

fn low(value: u64, bytes: u8) -> u64 {
    if bytes < 8 { value & ((1 << (bytes * 8)) - 1) } else { value }
}

/// Decodes the instruction at `address`. The processor has already executed this instruction, or executes it next.
pub(super) fn instruction(address: u64) -> Instruction {
    let (bytes, length) = code(address, false);
    let first = iced_x86::Decoder::with_ip(64, &bytes[..length], address, DecoderOptions::NONE).decode();
    if !first.is_invalid() {
        return first;
    }
    let (bytes, length) = code(address, true);
    iced_x86::Decoder::with_ip(64, &bytes[..length], address, DecoderOptions::NONE).decode()
}

/// Decodes instructions for the recorder.
pub(super) struct Decoder(InstructionInfoFactory);

impl Decoder {
    pub(super) fn new() -> Self {
        Self(InstructionInfoFactory::new())
    }

    /// Decodes an instruction, and also returns the instruction's length. Only the first call allocates memory.
    pub(super) fn decode(&mut self, address: u64) -> (Decoded, usize) {
        decode(&mut self.0, address)
    }
}

fn decode(factory: &mut InstructionInfoFactory, address: u64) -> (Decoded, usize) {
    let instruction = instruction(address);
    let info = factory.info_options(&instruction, InstructionInfoOptions::NO_REGISTER_USAGE);
    let used = info.used_memory();
    let mut touches = [const { None }; 4];
    for (slot, memory) in touches.iter_mut().zip(used) {
        *slot = Some(touch(&instruction, memory));
    }
    let free = touches.iter_mut().filter(|slot| slot.is_none());
    free.zip(beside(&instruction, used)).for_each(|(slot, touch)| *slot = touch);
    let varies = matches!(
        instruction.mnemonic(),
        Mnemonic::Rdtsc
            | Mnemonic::Rdtscp
            | Mnemonic::Rdrand
            | Mnemonic::Rdseed
            | Mnemonic::Rdpid
            | Mnemonic::Rdpmc
            | Mnemonic::Rdpru
    );
    let count = count(&instruction);
    let latency = latency(&instruction, used, count);
    (Decoded { kind: kind(&instruction), touches, latency, varies, count }, instruction.len())
}

/// For an instruction that repeats, returns the register that contains the number of repetitions. The register is `ecx`
/// if the addresses of the instruction have 32 bits.
fn count(instruction: &Instruction) -> Option<Source> {
    let bytes = if has_short_addresses(instruction) { 4 } else { 8 };
    repeats(instruction).then_some(Source::General { number: 1, shift: 0, bytes })
}

fn kind(instruction: &Instruction) -> Kind {
    let marks = [(START_MARK, Kind::Start), (STOP_MARK, Kind::Stop)];
    match instruction.mnemonic() {
        Mnemonic::Syscall => Kind::System,
        Mnemonic::Nop if instruction.memory_base() == Register::RAX => marks
            .iter()
            .find(|(mark, _)| u64::from(*mark) == instruction.memory_displacement64())
            .map_or(Kind::Plain, |(_, kind)| *kind),
        _ if unsupported(instruction) => Kind::Other,
        _ => Kind::Plain,
    }
}

/// Returns true if a trace cannot record the instruction, because the effects of the instruction go beyond its
/// operands.
#[rustfmt::skip]
fn unsupported(instruction: &Instruction) -> bool {
    use Mnemonic::{
        Ccs_encrypt, Ccs_hash, Clui, Enclu, Getsec, Getsecq, Int, Int1, Lfs, Lgs, Llwpcb, Lss, Lwpins, Lwpval, Montmul,
        Mov, Mwait, Mwaitx, Pop, Senduipi, Slwpcb, Stui, Swapgs, Sysenter, Tileloadd, Tileloaddt1, Tilestored, Tpause,
        Uiret, Umwait, Vmcall, Vmfunc, Vmgexit, Vmmcall, Wrfsbase, Wrgsbase, Xcryptcbc, Xcryptcfb, Xcryptctr,
        Xcryptecb, Xcryptofb, Xsha1, Xsha256, Xsha512, Xsha512_alt, Xstore, Xstore_alt,
    };
    match instruction.mnemonic() {
        // System calls of 32-bit programs, and other instructions that leave the program.
        Int | Int1 | Sysenter | Enclu | Getsec | Getsecq | Vmcall | Vmmcall | Vmfunc | Vmgexit => true,
        // The processor delays the trap after a load of `ss`, so the trace would miss the next instruction. The other
        // segment registers contain base addresses of memory accesses.
        Mov | Pop => instruction.op0_register().is_segment_register(),
        Lss | Lfs | Lgs | Wrfsbase | Wrgsbase | Swapgs => true,
        // Instructions that wait until a given time, or until memory changes.
        Mwait | Mwaitx | Umwait | Tpause => true,
        // Instructions for interrupts in user mode, which do not involve the kernel.
        Senduipi | Uiret | Clui | Stui => true,
        // Instructions that access several rows of memory, a structure, or blocks of data whose addresses are in
        // registers that are not operands.
        Tileloadd | Tileloaddt1 | Tilestored | Llwpcb | Slwpcb | Lwpins | Lwpval => true,
        Xcryptcbc | Xcryptcfb | Xcryptctr | Xcryptecb | Xcryptofb | Xsha1 | Xsha256 | Xsha512 | Xsha512_alt => true,
        Xstore | Xstore_alt | Montmul | Ccs_encrypt | Ccs_hash => true,
        // Instructions that prefetch several cache lines.
        _ => instruction.is_vsib() && instruction.op0_kind() == OpKind::Memory && instruction.op_count() == 1,
    }
}

fn touch(instruction: &Instruction, memory: &UsedMemory) -> Touch {
    let index = memory.index();
    if !index.is_vector_register() {
        return Touch::Memory { memory: *memory, elements: 1, chosen: Chosen::All };
    }
    let element = memory.memory_size().size().max(1);
    let data = (0..instruction.op_count())
        .map(|op| instruction.op_register(op))
        .find(|register| register.is_vector_register());
    let room = index.size() / usize::from(if instruction.is_vsib64() { 8_u8 } else { 4 });
    let elements = data.map_or(room, |data| room.min(data.size() / element)) as u8;
    let chosen = match instruction.op_mask() {
        Register::None => Chosen::Signs(instruction.op2_register().number() as u8, element as u8),
        mask => Chosen::Mask(mask.number() as u8),
    };
    Touch::Memory { memory: *memory, elements, chosen }
}

/// Returns those parts of an access that are missing in `used`: the cache line of a prefetch, an address in a register,
/// or an operand that affects which bytes the instruction accesses.
fn beside(instruction: &Instruction, used: &[UsedMemory]) -> [Option<Touch>; 2] {
    use Mnemonic::{
        Bt, Btc, Btr, Bts, Clzero, Lar, Lea, Lsl, Monitor, Monitorx, Nop, Reservednop, Verr, Verw, Xrstor, Xrstor64,
        Xsave, Xsave64, Xsavec, Xsavec64, Xsaveopt, Xsaveopt64,
    };
    let operand = (0..instruction.op_count()).any(|op| instruction.op_kind(op) == OpKind::Memory);
    let register = |op| instruction.op_register(op);
    let value = |source: Option<Source>| source.map(Touch::Value);
    let low = |number| value(Some(Source::General { number, shift: 0, bytes: 4 }));
    match instruction.mnemonic() {
        Lea | Nop | Reservednop => [None, None],
        Clzero | Monitor | Monitorx => {
            [Some(Touch::Address(if has_short_addresses(instruction) { Register::EAX } else { Register::RAX })), None]
        }
        Bt | Btc | Btr | Bts if operand && instruction.op1_kind() == OpKind::Register => {
            [value(Source::register(register(1), register(1).size())), None]
        }
        // Instructions that read the descriptor of a segment.
        Verr | Verw | Lar | Lsl => {
            let selector = used.first().map(|memory| Source::Memory(*memory));
            [value(selector.or_else(|| Source::register(register(instruction.op_count() - 1), 2))), None]
        }
        // For these instructions, EAX and EDX select the components to save or restore.
        Xsave | Xsave64 | Xsavec | Xsavec64 | Xsaveopt | Xsaveopt64 | Xrstor | Xrstor64 => [low(0), low(2)],
        _ if operand && used.is_empty() => [Some(Touch::Hint(*instruction)), None],
        _ => [None, None],
    }
}

/// Returns the mask with which a masked load or store selects bytes at one address. The mask of a gather instruction
/// selects addresses, so this mask is a part of the instruction's memory accesses.
fn mask(instruction: &Instruction) -> Option<Source> {
    use Mnemonic::{Maskmovdqu, Maskmovq, Vmaskmovdqu, Vmaskmovpd, Vmaskmovps, Vpmaskmovd, Vpmaskmovq};
    let operand = (0..instruction.op_count()).any(|op| instruction.op_kind(op) == OpKind::Memory);
    match instruction.mnemonic() {
        Maskmovdqu | Maskmovq | Vmaskmovdqu | Vmaskmovpd | Vmaskmovps | Vpmaskmovd | Vpmaskmovq => {
            Source::register(instruction.op_register(1), instruction.op_register(1).size())
        }
        _ if operand && instruction.has_op_mask() && !instruction.memory_index().is_vector_register() => {
            Some(Source::Mask(instruction.op_mask().number() as u8))
        }
        _ => None,
    }
}

/// Returns whether the instruction at `address` accesses memory under a mask ([`mask`]).
pub(super) fn is_masked(address: u64) -> bool {
    mask(&instruction(address)).is_some()
}

/// Returns the operands that affect the instruction's time on current processors, or `None` if the time is constant.
///
/// The result includes lanes that a mask excludes. The result does not include memory operands under a mask, because
/// the memory might not be mapped.
fn latency(instruction: &Instruction, used: &[UsedMemory], count: Option<Source>) -> Option<[Option<Source>; 3]> {
    use Mnemonic::{Div, Idiv, Pdep, Pext};
    let memory = used
        .iter()
        .find(|memory| memory.access() == OpAccess::Read && !instruction.has_op_mask())
        .map(|memory| Source::Memory(*memory));
    let operand = |op: u32, bytes: usize| match instruction.op_kind(op) {
        OpKind::Register => Source::register(instruction.op_register(op), bytes),
        _ => memory,
    };
    let general = |number, bytes| Some(Source::General { number, shift: 0, bytes });
    let last = instruction.op_count().saturating_sub(1);
    match instruction.mnemonic() {
        Div | Idiv => {
            let register = instruction.op0_register();
            let bytes = if register == Register::None { instruction.memory_size().size() } else { register.size() };
            let high = if bytes > 1 { general(2, bytes as u8) } else { None };
            Some([general(0, if bytes > 1 { bytes as u8 } else { 2 }), high, operand(0, bytes)])
        }
        Pdep | Pext => {
            let bytes = instruction.op0_register().size();
            Some([operand(1, bytes), operand(2, bytes), None])
        }
        _ if count.is_some() => Some([count, None, None]),
        _ if mask(instruction).is_some() => Some([mask(instruction), None, None]),
        // `fbld` writes the register at the top of the x87 stack without reading this register.
        Mnemonic::Fbld => Some([memory, None, None]),
        mnemonic if x87(mnemonic) => {
            let other = (0..instruction.op_count())
                .map(|op| instruction.op_register(op))
                .find(|register| register.is_st() && *register != Register::ST0);
            Some([
                Some(Source::X87(0)),
                other.and_then(|register| Source::register(register, 10)).or(memory),
                binary_x87(mnemonic),
            ])
        }
        mnemonic => {
            let (divides, scalar) = vector(mnemonic)?;
            let bytes = scalar.unwrap_or(instruction.op0_register().size());
            Some([operand(last, bytes), if divides { operand(last.saturating_sub(1), bytes) } else { None }, None])
        }
    }
}

/// Returns whether the time of an x87 instruction depends on the register at the top of the x87 stack.
#[rustfmt::skip]
fn x87(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{
        F2xm1, Fbstp, Fcos, Fdiv, Fdivp, Fdivr, Fdivrp, Fidiv, Fidivr, Fptan, Frndint, Fsin, Fsincos, Fsqrt,
        Fxtract,
    };
    binary_x87(mnemonic).is_some()
        || matches!(
            mnemonic,
            Fdiv | Fdivp | Fdivr | Fdivrp | Fidiv | Fidivr | Fsqrt | F2xm1 | Fbstp | Fcos | Fptan | Frndint
                | Fsin | Fsincos | Fxtract
        )
}

/// If an x87 instruction has an implicit second operand, returns this operand.
fn binary_x87(mnemonic: Mnemonic) -> Option<Source> {
    use Mnemonic::{Fpatan, Fprem, Fprem1, Fscale, Fyl2x, Fyl2xp1};
    matches!(mnemonic, Fpatan | Fprem | Fprem1 | Fscale | Fyl2x | Fyl2xp1).then_some(Source::X87(1))
}

/// Returns true for a division in vector registers, and false for a square root in vector registers. If the operand is
/// a single number, also returns the operand's size in bytes.
fn vector(mnemonic: Mnemonic) -> Option<(bool, Option<usize>)> {
    use Mnemonic::{
        Divpd, Divps, Divsd, Divss, Sqrtpd, Sqrtps, Sqrtsd, Sqrtss, Vdivpd, Vdivph, Vdivps, Vdivsd, Vdivsh, Vdivss,
    };
    use Mnemonic::{Vsqrtpd, Vsqrtph, Vsqrtps, Vsqrtsd, Vsqrtsh, Vsqrtss};
    Some(match mnemonic {
        Divpd | Divps | Vdivpd | Vdivph | Vdivps => (true, None),
        Divsd | Vdivsd => (true, Some(8)),
        Divss | Vdivss => (true, Some(4)),
        Vdivsh => (true, Some(2)),
        Sqrtpd | Sqrtps | Vsqrtpd | Vsqrtph | Vsqrtps => (false, None),
        Sqrtsd | Vsqrtsd => (false, Some(8)),
        Sqrtss | Vsqrtss => (false, Some(4)),
        Vsqrtsh => (false, Some(2)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(code: &[u8]) -> Decoded {
        let mut bytes = Box::new([0x90; 16]);
        bytes[..code.len()].copy_from_slice(code);
        decode(&mut InstructionInfoFactory::new(), bytes.as_ptr().expose_provenance() as u64).0
    }

    /// The test only decodes these instructions, because not every processor can execute all of them.
    #[test]
    fn addresses_that_no_operand_names_are_recorded() {
        let cases: [(&str, &[u8], usize); 9] = [
            ("clzero", &[0x0f, 0x01, 0xfc], 1),
            ("addr32 clzero", &[0x67, 0x0f, 0x01, 0xfc], 1),
            ("monitor", &[0x0f, 0x01, 0xc8], 1),
            ("monitorx", &[0x0f, 0x01, 0xfa], 1),
            ("umonitor rax", &[0xf3, 0x0f, 0xae, 0xf0], 1),
            ("movdir64b rax, [rdi]", &[0x66, 0x0f, 0x38, 0xf8, 0x07], 2),
            ("enqcmd rax, [rdi]", &[0xf2, 0x0f, 0x38, 0xf8, 0x07], 2),
            ("cldemote [rdi]", &[0x0f, 0x1c, 0x07], 1),
            ("prefetchit0 [rip]", &[0x0f, 0x18, 0x3d, 0, 0, 0, 0], 1),
        ];
        for (name, code, words) in cases {
            let decoded = decoded(code);
            assert_eq!((decoded.kind == Kind::Plain, decoded.words()), (true, words), "{name}");
            assert!((0..words).all(|word| decoded.is_address(word)), "{name}");
        }
        assert_eq!(decoded(&[0x48, 0x8d, 0x04, 0x07]).words(), 0, "lea rax, [rdi + rax]");
        assert_eq!(decoded(&[0x0f, 0x1f, 0x00]).words(), 0, "nop [rax]");
    }

    #[test]
    fn unsupported_instructions_are_known() {
        let cases: [(&str, &[u8]); 15] = [
            ("mwait", &[0x0f, 0x01, 0xc9]),
            ("mwaitx", &[0x0f, 0x01, 0xfb]),
            ("tpause ecx", &[0x66, 0x0f, 0xae, 0xf1]),
            ("umwait ecx", &[0xf2, 0x0f, 0xae, 0xf1]),
            ("enclu", &[0x0f, 0x01, 0xd7]),
            ("vmmcall", &[0x0f, 0x01, 0xd9]),
            ("swapgs", &[0x0f, 0x01, 0xf8]),
            ("wrfsbase rax", &[0xf3, 0x48, 0x0f, 0xae, 0xd0]),
            ("wrgsbase rax", &[0xf3, 0x48, 0x0f, 0xae, 0xd8]),
            ("mov fs, eax", &[0x8e, 0xe0]),
            ("lgs eax, [rdi]", &[0x0f, 0xb5, 0x07]),
            ("senduipi rax", &[0xf3, 0x0f, 0xc7, 0xf0]),
            ("rep xcryptecb", &[0xf3, 0x0f, 0xa7, 0xc8]),
            ("tileloadd tmm0, [rdi + rax]", &[0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x07]),
            ("vgatherpf0dps [rdi + zmm0]", &[0x62, 0xf2, 0x7d, 0x49, 0xc6, 0x0c, 0x07]),
        ];
        for (name, code) in cases {
            assert!(decoded(code).kind == Kind::Other, "{name}");
        }
    }
}
