//! Loads and stores of general-purpose registers and of whole vector registers, with all ways to form an address.

use disarm64_defn::{InsnClass as Class, InsnOperandKind as Kind};

use super::arithmetic;
use super::registers;
use super::word::{self, Word};
use crate::asm::instruction::{Access, Address, Expression, Index, Operand, Parts, Register, Size, Step, Store, Write};
use crate::asm::stack::Origin;

/// Returns `None` if the instruction is no such access.
pub(super) fn steps(word: &Word) -> Option<Vec<Step>> {
    match word.class()? {
        Class::LDST_POS | Class::LDST_REGOFF | Class::LDST_UNSCALED | Class::LDST_IMM9 | Class::LOADLIT => single(word),
        Class::LDSTPAIR_OFF | Class::LDSTPAIR_INDEXED | Class::LDSTNAPAIR_OFFS => pair(word),
        Class::LDSTEXCL => exclusive(word),
        Class::LSE_ATOMIC => atomic(word),
        _ => None,
    }
}

/// Where an instruction accesses memory, and how the base register changes.
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) addressing: Parts,
    /// The base, the amount by which it moves, and the parts on which this amount depends.
    pub(super) moved: Option<(Register, Operand, Parts)>,
}

impl Place {
    pub(super) fn at(base: Register, displacement: i64) -> Self {
        let address = Address::Sum { base: Some(base), index: Index::None, displacement };
        Self { address, addressing: base.parts, moved: None }
    }

    fn moving(self, base: Register, by: i64) -> Self {
        Self { moved: Some((base, Operand::Number(by.cast_unsigned()), 0)), ..self }
    }

    /// The same place, some bytes later.
    fn later(&self, bytes: i64) -> Address {
        match self.address {
            Address::Sum { base, index, displacement } => {
                Address::Sum { base, index, displacement: displacement + bytes }
            }
            Address::Object(at) => Address::Object(at.wrapping_add_signed(bytes)),
            Address::Foreign => Address::Foreign,
        }
    }

    /// The step that moves the base register, after all accesses.
    pub(super) fn last_step(&self) -> Option<Step> {
        let (base, by, parts) = self.moved?;
        Some(Step {
            reads: base.parts | parts,
            writes: vec![arithmetic::whole(base)],
            results: vec![(base, Expression::Sum(Operand::Register(base), by))],
            ..Step::default()
        })
    }
}

fn place(word: &Word, size: i64) -> Option<Place> {
    let base = word::base(word);
    let before_or_after = |by: i64, mode: usize| match mode {
        1 => Some(Place::at(base, 0).moving(base, by)),
        3 => Some(Place::at(base, by).moving(base, by)),
        _ => None,
    };
    match word.operands().last()? {
        Kind::ADDR_UIMM12 => Some(Place::at(base, word.field(10, 12) as i64 * size)),
        Kind::ADDR_SIMM9 if word.class() == Some(Class::LDST_IMM9) => {
            before_or_after(word.signed_field(12, 9), word.field(10, 2))
        }
        Kind::ADDR_SIMM9 => Some(Place::at(base, word.signed_field(12, 9))),
        Kind::ADDR_SIMM7 => {
            let by = word.signed_field(15, 7) * size;
            if word.class() == Some(Class::LDSTPAIR_INDEXED) {
                before_or_after(by, word.field(23, 2))
            } else {
                Some(Place::at(base, by))
            }
        }
        Kind::ADDR_REGOFF => Some(with_index(word, base, size)),
        Kind::ADDR_SIMPLE => Some(Place::at(base, 0)),
        Kind::ADDR_PCREL19 => {
            let at = word.address.wrapping_add_signed(word.signed_field(5, 19) * 4);
            Some(Place { address: Address::Object(at), addressing: 0, moved: None })
        }
        _ => None,
    }
}

fn with_index(word: &Word, base: Register, size: i64) -> Place {
    let scale = if word.bit(12) { size as u32 } else { 1 };
    let (index, parts) = match registers::or_zero(word.field(16, 5)) {
        None => (Index::None, 0),
        // The options 3 and 7 take all 64 bits.
        Some(index) if word.field(13, 2) == 3 => (Index::Register(index, scale), index.parts),
        Some(index) => (Index::Unknown, index.parts),
    };
    let address = Address::Sum { base: Some(base), index, displacement: 0 };
    Place { address, addressing: base.parts | parts, moved: None }
}

/// A register that is loaded or stored.
#[derive(Clone, Copy)]
enum Data {
    General(Option<Register>),
    Vector(usize),
}

impl Data {
    fn of(word: &Word, low: u32, vector: bool) -> Self {
        let number = word.field(low, 5);
        if vector { Self::Vector(number) } else { Self::General(registers::or_zero(number)) }
    }

    fn parts(self, size: i64) -> Parts {
        match self {
            Self::General(register) => register.map_or(0, |register| register.parts),
            Self::Vector(number) if size == 16 => registers::vector(number),
            Self::Vector(number) => registers::low_vector(number),
        }
    }

    fn write(self, size: i64) -> Option<Write> {
        match self {
            Self::General(register) => register.map(arithmetic::whole),
            Self::Vector(_) => Some(arithmetic::vector(self.parts(size))),
        }
    }

    fn store(self, size: i64) -> Store {
        match self {
            Self::Vector(_) => Store::default(),
            Self::General(None) => Store {
                origin: Origin::of_number(0, size as usize),
                value: Some(Operand::Number(0)),
                ..Store::default()
            },
            Self::General(Some(register)) => Store {
                origin: if size >= 4 { Origin::Spill } else { Origin::Contents },
                value: Some(Operand::Register(register)),
                variable: (size == 8).then_some(register),
                counts_numbers: true,
                ..Store::default()
            },
        }
    }
}

fn load_step(data: Data, size: i64, address: Address, addressing: Parts) -> Step {
    let results = match data {
        Data::General(Some(register)) if size == 8 => vec![(register, Expression::Copy(Operand::Loaded(address)))],
        _ => Vec::new(),
    };
    Step {
        addressing,
        accesses: vec![Access { address, size: Size::Bytes(size), reads: true, store: None }],
        writes: data.write(size).into_iter().collect(),
        results,
        ..Step::default()
    }
}

fn store_step(data: Data, size: i64, address: Address, addressing: Parts) -> Step {
    Step {
        reads: data.parts(size),
        addressing,
        accesses: vec![Access { address, size: Size::Bytes(size), reads: false, store: Some(data.store(size)) }],
        ..Step::default()
    }
}

fn single(word: &Word) -> Option<Vec<Step>> {
    let vector = word.bit(26);
    let literal = word.class() == Some(Class::LOADLIT);
    let size = match (literal, vector) {
        (true, true) => 4 << word.field(30, 2),
        (true, false) => {
            if word.field(30, 2) == 1 {
                8
            } else {
                4
            }
        }
        (false, true) if word.bit(23) => 16,
        (false, _) => 1 << word.field(30, 2),
    };
    let place = place(word, size)?;
    let mut steps = match word.mnemonic() {
        "ldr" | "ldrb" | "ldrh" | "ldrsb" | "ldrsh" | "ldrsw" | "ldur" | "ldurb" | "ldurh" | "ldursb" | "ldursh"
        | "ldursw" => vec![load_step(Data::of(word, 0, vector), size, place.address, place.addressing)],
        "str" | "strb" | "strh" | "stur" | "sturb" | "sturh" => {
            vec![store_step(Data::of(word, 0, vector), size, place.address, place.addressing)]
        }
        "prfm" | "prfum" => {
            let access = Access { address: place.address, size: Size::Bytes(1), reads: false, store: None };
            vec![Step { addressing: place.addressing, accesses: vec![access], ..Step::default() }]
        }
        _ => return None,
    };
    steps.extend(place.last_step());
    Some(steps)
}

fn pair(word: &Word) -> Option<Vec<Step>> {
    let vector = word.bit(26);
    let size = match (vector, word.mnemonic()) {
        (true, _) => 4 << word.field(30, 2),
        (false, "ldpsw") => 4,
        (false, _) => 4 << word.field(31, 1),
    };
    let place = place(word, size)?;
    let both = [(Data::of(word, 0, vector), place.address), (Data::of(word, 10, vector), place.later(size))];
    let mut steps: Vec<Step> = match word.mnemonic() {
        "stp" | "stnp" => both.map(|(data, at)| store_step(data, size, at, place.addressing)).into(),
        "ldp" | "ldnp" | "ldpsw" => both.map(|(data, at)| load_step(data, size, at, place.addressing)).into(),
        _ => return None,
    };
    // The register with the address is overwritten last.
    if !vector && word.field(0, 5) == word.field(5, 5) {
        steps.reverse();
    }
    steps.extend(place.last_step());
    Some(steps)
}

/// Exclusive loads and stores, and those with acquire and release.
fn exclusive(word: &Word) -> Option<Vec<Step>> {
    let operands = word.operands();
    let load = match word.mnemonic().trim_end_matches(['b', 'h']) {
        "ldxr" | "ldaxr" | "ldar" | "ldlar" | "ldapr" | "ldxp" | "ldaxp" => true,
        "stxr" | "stlxr" | "stlr" | "stllr" | "stxp" | "stlxp" => false,
        _ => return None,
    };
    let is_pair = operands.contains(&Kind::Rt2);
    let size = if is_pair { 4 << word.field(30, 1) } else { 1 << word.field(30, 2) };
    let place = place(word, size)?;
    let mut both = vec![(Data::of(word, 0, false), place.address)];
    if is_pair {
        both.push((Data::of(word, 10, false), place.later(size)));
    }
    let step = if load { load_step } else { store_step };
    let mut steps: Vec<Step> = both.into_iter().map(|(data, at)| step(data, size, at, place.addressing)).collect();
    if load {
        if word.field(0, 5) == word.field(5, 5) {
            steps.reverse();
        }
    } else if operands.first() == Some(&Kind::Rs) {
        // The store may fail. The result says so, and depends on other threads alone.
        for store in steps.iter_mut().flat_map(|step| &mut step.accesses).filter_map(|access| access.store.as_mut()) {
            store.conditional = true;
        }
        let write = registers::or_zero(word.field(16, 5)).map(arithmetic::whole);
        steps.push(Step { writes: write.into_iter().collect(), ..Step::default() });
    }
    Some(steps)
}

/// Atomic operations: `cas`, `swp`, `ldadd` and so on. Each of them reads memory, stores to it, and writes the old
/// contents to a register.
fn atomic(word: &Word) -> Option<Vec<Step>> {
    let general = |number| registers::or_zero(number);
    let (compared, new) = (word.field(16, 5), word.field(0, 5));
    let size = 1 << word.field(30, 2);
    let is_pair = word.operands().contains(&Kind::PAIRREG);
    let known = ["cas", "swp", "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin"];
    if !known.iter().any(|known| word.mnemonic().starts_with(known)) {
        return None;
    }
    let size = if is_pair { 8 << word.field(30, 1) } else { size };
    let place = place(word, size)?;
    let pair = |number: usize| [general(number), if is_pair { general(number + 1) } else { None }];
    let old = if word.mnemonic().starts_with("cas") { compared } else { new };
    let reads = pair(compared).into_iter().chain(pair(new)).flatten().fold(0, |all, register| all | register.parts);
    let store = Store { conditional: true, origin: Origin::Spill, ..Store::default() };
    let access = |address, size| Access { address, size: Size::Bytes(size), reads: true, store: Some(store) };
    // A pair is two accesses: the analysis assumes of a longer conditional store that a mask keeps it away from spilled
    // variables.
    let accesses = match is_pair {
        true => vec![access(place.address, size / 2), access(place.later(size / 2), size / 2)],
        false => vec![access(place.address, size)],
    };
    Some(vec![Step {
        reads,
        addressing: place.addressing,
        accesses,
        writes: pair(old).into_iter().flatten().map(arithmetic::whole).collect(),
        ..Step::default()
    }])
}
