//! The built library as the audit needs it: code bytes, function symbols, and the targets in the global offset table.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use object::Architecture;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SectionKind, SymbolKind};
use object::{RelocationFlags, elf};

use super::instruction::{Instruction, Table};
use super::machine::Machine;
use super::{aarch64, calls, x86_64};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A function in another library.
    Import(String),
    /// An address in the audited library.
    Local(u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) size: u64,
}

pub(crate) struct Image {
    pub(crate) machine: &'static Machine,
    sections: Vec<Section>,
    functions: BTreeMap<u64, Symbol>,
    exports: BTreeMap<String, u64>,
    slots: HashMap<u64, Target>,
}

struct Section {
    start: u64,
    bytes: Vec<u8>,
    code: bool,
}

impl Image {
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let fault = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let bytes = std::fs::read(path).map_err(|error| fault(&error))?;
        let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).map_err(|error| fault(&error))?;
        let machine = match file.architecture() {
            Architecture::X86_64 => &x86_64::MACHINE,
            Architecture::Aarch64 => &aarch64::MACHINE,
            other => return Err(fault(&format!("the audit does not know the architecture {other:?}"))),
        };
        let mut image = Self::new(machine);
        for section in file.sections() {
            let code = section.kind() == SectionKind::Text;
            if section.address() != 0
                && let Ok(data) = section.data()
                && !data.is_empty()
            {
                image.sections.push(Section { start: section.address(), bytes: data.to_vec(), code });
            }
        }
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if symbol.kind() == SymbolKind::Text && symbol.is_definition() {
                let name = symbol.name().map_err(|error| fault(&error))?.to_owned();
                image.add_function(symbol.address(), symbol.size(), name);
            }
        }
        for symbol in
            file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text)
        {
            image.exports.insert(symbol.name().map_err(|error| fault(&error))?.to_owned(), symbol.address());
        }
        for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let target = match relocation.target() {
                _ if matches!(relocation.flags(), RelocationFlags::Elf { r_type: elf::R_AARCH64_TLSDESC })
                    && file.architecture() == Architecture::Aarch64 =>
                {
                    Target::Import(calls::THREAD_LOCAL.to_owned())
                }
                RelocationTarget::Symbol(index) => {
                    let table = file.dynamic_symbol_table().ok_or_else(|| fault(&"no dynamic symbols"))?;
                    let symbol =
                        object::ObjectSymbolTable::symbol_by_index(&table, index).map_err(|error| fault(&error))?;
                    if symbol.is_definition() {
                        Target::Local(symbol.address())
                    } else {
                        Target::Import(symbol.name().unwrap_or_default().to_owned())
                    }
                }
                _ => Target::Local(relocation.addend().cast_unsigned()),
            };
            image.slots.insert(at, target);
        }
        Ok(image)
    }

    fn new(machine: &'static Machine) -> Self {
        let (functions, exports) = (BTreeMap::new(), BTreeMap::new());
        Self { machine, sections: Vec::new(), functions, exports, slots: HashMap::new() }
    }

    /// Two names share one address when the linker folds equal functions. The image keeps the exported name, because
    /// reports show this name.
    fn add_function(&mut self, address: u64, size: u64, name: String) {
        let known = self.functions.entry(address).or_insert_with(|| Symbol { name: name.clone(), size });
        if name.starts_with("ok_") || name.starts_with("bad") {
            known.name = name;
        }
        known.size = known.size.max(size);
    }

    pub(crate) fn exports(&self) -> impl Iterator<Item = (&str, u64)> {
        self.exports.iter().map(|(name, &address)| (name.as_str(), address))
    }

    pub(crate) fn function_at(&self, address: u64) -> Option<(u64, &Symbol)> {
        let (&start, symbol) = self.functions.range(..=address).next_back()?;
        (address == start || address < start + symbol.size).then_some((start, symbol))
    }

    pub(crate) fn name_at(&self, address: u64) -> String {
        match self.function_at(address) {
            Some((_, symbol)) => format!("{:#}", rustc_demangle::demangle(&symbol.name)),
            None => format!("{address:#x}"),
        }
    }

    /// The target of a pointer in the object's data. The dynamic linker writes this pointer when it loads the object.
    pub(crate) fn slot(&self, address: u64) -> Option<&Target> {
        self.slots.get(&address)
    }

    pub(crate) fn decode(&self, address: u64) -> Option<Instruction> {
        let (code, at) = self.code(address)?;
        (self.machine.decode)(code, at, address)
    }

    /// The bytes of the section of code that contains this address, and the address's index in the section.
    pub(crate) fn code(&self, address: u64) -> Option<(&[u8], usize)> {
        let section = self.section(address).filter(|section| section.code)?;
        Some((&section.bytes, usize::try_from(address - section.start).ok()?))
    }

    /// Reads one entry of a jump table.
    pub(crate) fn entry(&self, table: &Table, index: u64) -> Option<i64> {
        let address = table.address + table.width * index;
        let section = self.section(address)?;
        let at = usize::try_from(address - section.start).ok()?;
        let bytes = section.bytes.get(at..at + usize::try_from(table.width).ok()?)?;
        let entry = bytes.iter().rev().fold(0, |entry, &byte| entry << 8 | u64::from(byte));
        let unused = 64 - 8 * u32::try_from(table.width).ok()?;
        Some(if table.signed { entry.cast_signed() << unused >> unused } else { entry.cast_signed() })
    }

    fn section(&self, address: u64) -> Option<&Section> {
        self.sections
            .iter()
            .find(|section| (section.start..section.start + section.bytes.len() as u64).contains(&address))
    }
}

#[cfg(test)]
impl Image {
    /// Builds an image for tests from one piece of code, its functions, and its global offset table.
    pub(crate) fn from_code(
        machine: &'static Machine,
        start: u64,
        bytes: Vec<u8>,
        functions: &[(u64, &str)],
        imports: &[(u64, &str)],
    ) -> Self {
        let end = start + bytes.len() as u64;
        let mut image = Self::new(machine);
        for (index, &(address, name)) in functions.iter().enumerate() {
            let next = functions.get(index + 1).map_or(end, |next| next.0);
            image.add_function(address, next - address, name.to_owned());
            image.exports.insert(name.to_owned(), address);
        }
        for &(at, name) in imports {
            image.slots.insert(at, Target::Import(name.to_owned()));
        }
        image.sections.push(Section { start, bytes, code: true });
        image
    }
}
