//! `cargo xtask asm`: reads the machine code that the compiler made and follows every secret through it.
//!
//! The audited library (`audit/`) exports functions that call the crates. Their names say which arguments are secret, and whether the
//! function is one of ours (`ok_`) or a known leak (`bad_`) that shows the audit still sees. A static taint analysis
//! follows each at every optimisation level, through every call, and reports jumps, addresses, divisions and library calls that
//! depend on a secret. Memory behind pointers is secret, constants in the object are public, and a byte of the stack is secret
//! unless something public was stored there.
//!
//! Where it cannot tell arrays on the stack apart it reports too much: an array of constants that is indexed in the same frame as an array
//! of secrets counts as secret. At levels 1, s and z that meets `[0, 1, 2, 3].map(...)` whose closure was not inlined; write such steps out.
//! So does a masked vector store to an array shorter than the vector. What was met first is most likely the cause of the rest.
//!
//! It errs on the side of reporting, with these known gaps, for which the tests under Valgrind are the second pair of eyes:
//! - Nothing is said about instructions other than division, square root and x87 whose time depends on their operands (`pdep` on old
//!   AMD CPUs, for one), nor about speculation.
//! - A secret stored to the stack through an index or an unknown pointer is taken to hit arrays, not variables: bytes that were stored
//!   from a whole register are believed to be spilled variables, which nothing else stores to. An array that was filled with public
//!   values from registers, then overwritten with secrets in a loop, then read at a fixed place is missed. An index, and a
//!   pointer that a loop moves, are believed to stay inside the array that `memset` or `memcpy` filled where they started.
//! - A stack pointer that travels through a vector register or a 32-bit register is no longer known to be one.
//! - Mutable statics count as public, like constants.
//! - Only the paths that the exported functions reach are read: generic code is audited for the types they use.
//! - What a landing pad does during unwinding is not followed.

mod audit;
mod build;
mod calls;
mod finding;
mod graph;
mod idioms;
mod image;
mod marker;
mod memory;
mod report;
mod stack;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod transfer;
mod value;
mod walk;

use build::{LEVELS, Level};
use image::Image;

use crate::Outcome;
use crate::workspace::Workspace;

pub(crate) fn run(arguments: &[String]) -> Result<Outcome, String> {
    let request = Request::parse(arguments)?;
    let workspace = Workspace::find()?;
    let mut table = report::Table::default();
    for &level in &request.levels {
        let image = match &request.library {
            Some(path) => Image::read(path)?,
            None => Image::read(&build::build(&workspace.root, &workspace.target, level)?)?,
        };
        if let Some(name) = &request.show {
            let (listing, findings) = audit::listing(&image, name)?;
            report::show(&image, &listing, &findings);
            continue;
        }
        table.add(level, &audit::audit(&image)?)?;
    }
    if request.show.is_some() {
        return Ok(Outcome::Clean);
    }
    Ok(table.finish())
}

/// What the command line asks for.
struct Request {
    levels: Vec<Level>,
    show: Option<String>,
    /// A library that is built already, for trying things out.
    library: Option<std::path::PathBuf>,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut request = Self { levels: LEVELS.to_vec(), show: None, library: None };
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("`{option}` needs a value\nhint: {USAGE}"))?;
            match option.as_str() {
                "--level" => {
                    request.levels.retain(|level| level.name == value);
                    if request.levels.is_empty() {
                        return Err(format!("no level `{value}`\nhint: levels are 3, 2, 1, s, z and native"));
                    }
                }
                "--show" => request.show = Some(value.clone()),
                "--library" => request.library = Some(value.into()),
                _ => return Err(format!("unknown option `{option}`\nhint: {USAGE}")),
            }
        }
        // A listing is for one level, and a ready-made library has only one.
        if request.show.is_some() || request.library.is_some() {
            request.levels.truncate(1);
        }
        Ok(request)
    }
}

const USAGE: &str = "cargo xtask asm [--level 3|2|1|s|z|native] [--show FUNCTION] [--library FILE]";
