//! Addresses in words: instructions, functions, source lines.

use std::ffi::c_void;
use std::path::Path;

use iced_x86::{Formatter, GasFormatter};

use super::compare::Parting;
use super::decode::instruction;

/// What every x86-64 processor has, and hints.
const BASELINE: [&str; 12] = ["X64", "CMOV", "CPUID", "CX8", "FXSR", "MULTIBYTENOP", "SYSCALL", "TSC", "PAUSE", "CET_IBT", "MSR", "D3NOW"];

/// Where two traces part.
pub(super) fn parting(parting: &Parting) -> String {
    match parting {
        Parting::Path { index, last, next } => {
            let go = |next: Option<u64>| next.map_or("returns".to_owned(), |next| format!("goes on in {}", source(next)));
            let last = last.map_or("the call".to_owned(), |last| format!("`{}` in {}", text(last), source(last)));
            format!("instruction {index}, after {last}: the first {}, the second {}", go(next[0]), go(next[1]))
        }
        Parting::Memory { index, instruction, addresses: [a, b] } => {
            let (text, source) = (text(*instruction), source(*instruction));
            format!("instruction {index}, `{text}` in {source}: touches {a:#x} and {b:#x}, {} bytes apart", a.abs_diff(*b))
        }
        Parting::After(index) => format!("after instruction {index}"),
    }
}

/// The function and the source line, as `function (folder/file.rs:12)`.
pub(super) fn source(address: u64) -> String {
    let mut places = Vec::new();
    // The library takes off one, as most addresses are those that calls return to.
    backtrace::resolve(std::ptr::without_provenance_mut::<c_void>(address as usize + 1), |symbol| {
        let name = symbol.name().map(|name| format!("{name:#}"));
        let line = symbol.filename().map(|file| (short(file), symbol.lineno().unwrap_or(0)));
        let library = symbol.filename().is_some_and(|file| file.components().any(|part| part.as_os_str() == "rustc"));
        places.push((name, line, library));
    });
    // Of inlined functions the innermost that is not the standard library's.
    let found = places.iter().position(|(_, _, library)| !library).unwrap_or(0);
    match places.into_iter().nth(found) {
        Some((name, Some((file, line)), _)) => format!("{} ({file}:{line})", name.as_deref().unwrap_or("?")),
        Some((Some(name), None, _)) => name,
        _ => "a function without a name".to_owned(),
    }
}

/// The last three parts of a path: no names of homes or build machines.
fn short(file: &Path) -> String {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(3)..].join("/")
}

/// The instruction in AT&T syntax.
fn text(address: u64) -> String {
    let mut text = String::new();
    GasFormatter::new().format(&instruction(address), &mut text);
    text
}

/// Its first word, with `rep`.
pub(super) fn mnemonic(address: u64) -> String {
    let instruction = instruction(address);
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let repeated = instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
    if repeated { format!("rep {name}") } else { name }
}

/// The instruction sets it belongs to, beyond what every processor has.
pub(super) fn instruction_sets(address: u64) -> impl Iterator<Item = String> {
    let names = instruction(address).cpuid_features().iter().map(|feature| format!("{feature:?}"));
    names.filter(|name| !name.starts_with("INTEL") && !BASELINE.contains(&name.as_str()))
}
