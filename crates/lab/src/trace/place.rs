//! Describes addresses of code: their instructions, functions and source lines.

use std::ffi::c_void;
use std::path::Path;

use super::compare::Parting;
use super::listing;

/// Describes the point at which two traces differ. In messages, the returned text follows the words "the traces
/// differ".
pub(super) fn parting(parting: &Parting) -> String {
    match parting {
        Parting::Path { index, last, next: [a, b] } => {
            let after = last.map_or("the call".to_owned(), instruction_at);
            format!(
                "at instruction {index}, after {after}: the first {}, the second {}",
                way(*last, *a),
                way(*last, *b)
            )
        }
        Parting::Memory { index, instruction, addresses: [0, _] | [_, 0] } => format!(
            "at instruction {index}, {}, which accesses memory in one call that it does not access in the other",
            instruction_at(*instruction)
        ),
        Parting::Operand { index, instruction, values: [a, b] } => format!(
            "at instruction {index}, {}, which accesses different memory, because an operand is {a:#x} or {b:#x}",
            instruction_at(*instruction)
        ),
        Parting::Memory { index, instruction, addresses: [a, b] } => {
            let distance = match a.abs_diff(*b) {
                1 => "1 byte".to_owned(),
                bytes => format!("{bytes} bytes"),
            };
            let instruction = instruction_at(*instruction);
            format!("at instruction {index}, {instruction}, which accesses two addresses, {distance} apart")
        }
        Parting::System { index, instruction, number, word, values: [a, b] } => {
            let what = match word {
                0 => format!("which makes system call {a} or {b}"),
                1..=6 => format!("whose argument {word} of system call {number} is {a:#x} or {b:#x}"),
                _ => format!("which passes different times, lengths or paths to system call {number}"),
            };
            format!("at instruction {index}, {}, {what}", instruction_at(*instruction))
        }
        Parting::After(index) => format!("after instruction {index}, beyond what was recorded in detail"),
    }
}

/// If the source line of an instruction is unknown, returns advice on how to compile with debug information.
pub(super) fn advice(parting: &Parting) -> &'static str {
    let known = match *parting {
        Parting::Path { last, next: [a, b], .. } => [last, a, b].into_iter().flatten().all(has_line),
        Parting::Memory { instruction, .. }
        | Parting::Operand { instruction, .. }
        | Parting::System { instruction, .. } => has_line(instruction),
        Parting::After(_) => true,
    };
    if known {
        ""
    } else {
        "; for source lines, build with -g in C, or debug = \"line-tables-only\" in the Cargo profile"
    }
}

/// Returns a text about where a trace continues after the instruction `last`.
fn way(last: Option<u64>, next: Option<u64>) -> String {
    match (last, next) {
        (_, None) => "returns".to_owned(),
        (Some(last), Some(next)) if listing::jumps(last, next) => format!("jumps to {}", source(next)),
        (_, Some(next)) => format!("goes on in {}", source(next)),
    }
}

fn has_line(address: u64) -> bool {
    let mut found = false;
    resolve(address, |symbol| found |= symbol.lineno().is_some());
    found
}

fn resolve(address: u64, each: impl FnMut(&backtrace::Symbol)) {
    // The library subtracts one from each address before a lookup, because most addresses are return addresses. The
    // code therefore adds one to the address of an instruction.
    backtrace::resolve(std::ptr::without_provenance_mut::<c_void>(address as usize + 1), each);
}

/// Returns the function and the source line, for example `function (folder/file.rs:12)`.
pub(super) fn source(address: u64) -> String {
    let mut places = Vec::new();
    resolve(address, |symbol| {
        let name = symbol.name().map(|name| format!("{name:#}"));
        let line = symbol.filename().map(|file| (short(file), symbol.lineno().unwrap_or(0)));
        let library = symbol.filename().is_some_and(|file| file.components().any(|part| part.as_os_str() == "rustc"));
        places.push((name, line, library));
    });
    // If functions were inlined, the result shows the innermost function that is not part of the standard library.
    let found = places.iter().position(|(_, _, library)| !library).unwrap_or(0);
    match places.into_iter().nth(found) {
        Some((name, Some((file, line)), _)) => format!("{} ({file}:{line})", name.as_deref().unwrap_or("?")),
        Some((Some(name), None, _)) => name,
        _ => "an unnamed function".to_owned(),
    }
}

/// Returns the path of a file relative to the current folder, if the file is inside this folder. For another file,
/// returns only the last three components of the path, or only the file's name. The result therefore contains no
/// folders of a user or of a build machine.
fn short(file: &Path) -> String {
    if let Some(inside) = std::env::current_dir().ok().and_then(|folder| file.strip_prefix(folder).ok()) {
        return inside.display().to_string();
    }
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let kept = if file.is_relative() || parts.iter().any(|part| part == "src") { 3 } else { 1 };
    parts[parts.len().saturating_sub(kept)..].join("/")
}

pub(super) fn instruction_at(address: u64) -> String {
    format!("`{}` in {}", listing::text(address), source(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_without_line_numbers_comes_with_advice_on_how_to_get_them() {
        // Data has no source line.
        let data = Box::new(0_u64);
        let foreign = (&raw const *data).addr() as u64;
        let own = code_without_line_numbers_comes_with_advice_on_how_to_get_them as *const () as u64;
        let parting = |instruction| Parting::Memory { index: 0, instruction, addresses: [0, 1] };
        assert!(advice(&parting(foreign)).contains("line-tables-only"), "{}", source(foreign));
        assert_eq!(advice(&parting(own)), "", "{}", source(own));
    }
}
