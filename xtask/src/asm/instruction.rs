//! What the analysis needs to know about one machine instruction. The folder of each architecture translates the
//! instructions of that architecture to this form, and the analysis knows no other form.

use super::stack::Origin;

/// One bit for each part of a register that can be secret on its own. Each architecture assigns the bits. The bits of
/// general-purpose register `n` are those of register 0, shifted by `n`.
pub(crate) type Parts = u128;

/// A whole general-purpose register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Register {
    /// The place of the register's known value in `State::values`.
    pub(crate) number: usize,
    pub(crate) parts: Parts,
}

#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) address: u64,
    /// The address of the next instruction in memory.
    pub(crate) next: u64,
    pub(crate) text: String,
    pub(crate) flow: Flow,
    /// The effects of the instruction, one after another. An instruction that loads or stores two registers has a step
    /// for each of them, because one register may be secret and the other public.
    pub(crate) steps: Vec<Step>,
    /// The names of all registers that the instruction reads or writes, for listings.
    pub(crate) mentioned: Vec<(String, Parts)>,
    /// Whether the instruction is the last one of a client request to Valgrind.
    pub(crate) request: bool,
    /// The two registers that the instruction compares for the next conditional jump.
    pub(crate) compared: Option<(Register, Register)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Jump(u64),
    ConditionalJump {
        target: u64,
        /// Whether the jump leads on if two compared registers are not equal.
        unequal: bool,
    },
    IndirectJump(Destination),
    Call(u64),
    IndirectCall(Destination),
    Return,
    /// The program ends here, for instance by a trap.
    End,
    /// The architecture's table does not contain the instruction, so its effects are not known.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Register(Register),
    /// The pointer at this address in the object.
    Slot(u64),
    Unknown,
}

/// One effect of an instruction. The expressions and addresses refer to the state before the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// The registers on which the results depend.
    pub(crate) reads: Parts,
    /// The registers that form addresses.
    pub(crate) addressing: Parts,
    pub(crate) flags: Flags,
    pub(crate) accesses: Vec<Access>,
    pub(crate) writes: Vec<Write>,
    /// The new values of whole registers. Without an entry here, the new value of a written register is unknown.
    pub(crate) results: Vec<(Register, Expression)>,
    /// Whether the instruction's time depends on its operands on CPUs that are in use today.
    pub(crate) slow: bool,
    pub(crate) repeat: Option<Repeat>,
    /// Two registers whose contents the instruction exchanges. Such a step has no other effect.
    pub(crate) swap: Option<(Register, Register)>,
}

/// The flags of the CPU. Each architecture assigns the bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) reads: u32,
    /// The flags that lose their old contents.
    pub(crate) clears: u32,
    /// The flags that receive a result.
    pub(crate) sets: u32,
}

/// A write to one register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// The parts that receive a result. They become secret if the step depends on a secret.
    pub(crate) sets: Parts,
    /// The parts that lose their old contents. They become public, except for those that receive a secret result.
    pub(crate) clears: Parts,
    /// The general-purpose register to which the parts belong.
    pub(crate) register: Option<Register>,
}

/// An access to memory. A prefetch is an access that neither reads nor stores.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) address: Address,
    pub(crate) size: Size,
    pub(crate) reads: bool,
    pub(crate) store: Option<Store>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Address {
    /// Memory that contains no data of the audited crates, for instance the control block of a thread.
    Foreign,
    /// A known address in the object.
    Object(u64),
    Sum {
        base: Option<Register>,
        index: Index,
        displacement: i64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    None,
    Register(Register, u32),
    /// An index whose value the analysis does not know: a vector of indexes, or a part of a register.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    Bytes(i64),
    /// The access repeats as often as the register says.
    Repeated {
        bytes: i64,
        count: Register,
    },
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    /// Whether the store may leave old contents unchanged.
    pub(crate) conditional: bool,
    pub(crate) origin: Origin,
    /// The new contents of a place of 8 bytes.
    pub(crate) value: Option<Operand>,
    /// The whole register that is stored, if the register holds a variable.
    pub(crate) variable: Option<Register>,
    /// Whether the stored register counts as a number if its number is known. An architecture needs this if it can
    /// store numbers only from registers.
    pub(crate) counts_numbers: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub(crate) count: Parts,
    /// Whether the repetition also ends where the data say so.
    pub(crate) compares: bool,
}

/// The new value of a register.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Copy(Operand),
    /// An address that is computed but not accessed.
    Address(Address),
    /// The start of a block of 4096 bytes in the object. A later addition completes the address.
    Page(u64),
    Sum(Operand, Operand),
    Difference(Operand, Operand),
    /// One of two values.
    Either(Operand, Operand),
    /// The register after a bitwise and with this number.
    Masked(Register, u64),
    /// The register after the bits of `mask` were replaced by the bits of `bits`.
    Replaced {
        register: Register,
        mask: u64,
        bits: u64,
    },
    /// Any other result of these registers.
    Near(Vec<Register>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Register(Register),
    Number(u64),
    Loaded(Address),
    /// A pointer to memory that contains no data of the audited crates.
    Foreign,
    Unknown,
}

/// A table of the targets of an indirect jump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) address: u64,
    /// The address to which an entry is added.
    pub(crate) base: u64,
    /// The size of an entry in bytes.
    pub(crate) width: u64,
    pub(crate) signed: bool,
    /// The number of bits by which an entry is shifted to the left.
    pub(crate) shift: u32,
    /// The number of entries, if the code states it.
    pub(crate) count: Option<u64>,
}

impl Instruction {
    /// Whether the next instruction in memory can run directly after this instruction.
    pub(crate) fn falls_through(&self) -> bool {
        !matches!(self.flow, Flow::Jump(_) | Flow::IndirectJump(_) | Flow::Return | Flow::End)
    }
}

impl Default for Store {
    fn default() -> Self {
        Self { conditional: false, origin: Origin::Contents, value: None, variable: None, counts_numbers: false }
    }
}
