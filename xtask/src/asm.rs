//! `cargo xtask asm`: follows every secret through the machine code that the compiler made.
//!
//! The audited library (`audit/`) exports functions that call the crates. The name of each function states which
//! arguments are secret, and whether the function must pass (`ok_`) or contains an intentional leak that must be found
//! (`bad_`). A static taint analysis follows each function through every call, at every optimization level. The
//! analysis reports jumps, addresses, divisions and library calls that depend on a secret. Memory behind pointers is
//! secret, and constants in the object are public. A byte of the stack is secret, except if the code stored a public
//! value there.
//!
//! If the analysis cannot distinguish two arrays on the stack, it also reports correct code. An indexed array of
//! constants is treated as secret if the same frame has an indexed array of secrets. At levels 1, s and z, this happens
//! with `[0, 1, 2, 3].map(...)` if the compiler does not inline the closure. In such code, write each step separately,
//! without `map`. A masked vector store to an array that is shorter than the vector also causes a false report. The
//! first finding is usually the cause of the other findings.
//!
//! The folders `x86_64` and `aarch64` translate machine code to the form in `instruction`, and all other modules know
//! only this form. For x86-64, the decoder knows what each instruction reads and writes. For AArch64, our own table
//! says this, and an instruction that is not in the table is a finding.
//!
//! In doubt, the analysis reports. The analysis has the following gaps, which the tests under Valgrind cover. The
//! analysis treats only division, square root and x87 as instructions whose time depends on their operands. For
//! example, it ignores the varying time of `pdep` on old AMD CPUs. On AArch64 it assumes the mode of data-independent
//! timing. It does not model speculation. The analysis assumes that a store of a secret through an index or an unknown
//! pointer reaches arrays and not variables. The analysis treats bytes that were stored from a whole register, or from
//! a half of one, as spilled variables, and assumes that no other store reaches these bytes. The analysis therefore
//! misses an array that is first filled with public values from registers, then overwritten with secrets in a loop, and
//! then read at a fixed offset. If `memset` or `memcpy` filled an array, the analysis also assumes that an index into
//! this array, or a pointer that a loop moves, stays inside the array. The analysis loses a stack pointer that passes
//! through a vector register or a 32-bit register. The analysis treats mutable statics as public, in the same way as
//! constants. It takes the sum of an address in the object and an unknown number for an index into a constant, and so
//! misses secrets behind a pointer that the compiler writes as such a sum: the address of a table, plus the distance
//! from the table. The analysis reads only code that the exported functions reach. Generic code is audited only for the
//! types that these functions use. The analysis does not follow landing pads, which run during unwinding.

mod aarch64;
mod audit;
mod build;
mod calls;
mod cross;
mod finding;
mod graph;
mod image;
mod instruction;
mod machine;
mod marker;
mod memory;
mod report;
mod stack;
mod state;
mod store;
mod transfer;
mod value;
mod walk;
mod x86_64;

use crate::Outcome;
use crate::workspace::Workspace;
use build::{LEVELS, Level};
use cross::Cross;
use image::Image;

pub(crate) fn run(arguments: &[String]) -> Result<Outcome, String> {
    let request = Request::parse(arguments)?;
    let workspace = Workspace::find()?;
    let cross = request.target.as_deref().map(|target| Cross::find(&workspace.root, target)).transpose()?;
    let mut table = report::Table::default();
    for &level in &request.levels {
        let image = match &request.library {
            Some(path) => Image::read(path)?,
            None => Image::read(&build::build(&workspace, cross.as_ref(), level)?)?,
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

/// The options on the command line.
struct Request {
    levels: Vec<Level>,
    show: Option<String>,
    /// The target of the compiler, if it is not this machine.
    target: Option<String>,
    /// A library that is already built. This option is for experiments.
    library: Option<std::path::PathBuf>,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut request = Self { levels: LEVELS.to_vec(), show: None, target: None, library: None };
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("`{option}` needs a value\nhint: {USAGE}"))?;
            match option.as_str() {
                "--level" => {
                    request.levels.retain(|level| level.name == value);
                    if request.levels.is_empty() {
                        return Err(format!("no level `{value}`\nhint: levels are 3, 2, 1, s, z, native and release"));
                    }
                }
                "--show" => request.show = Some(value.clone()),
                "--target" => request.target = Some(value.clone()),
                "--library" => request.library = Some(value.into()),
                _ => return Err(format!("unknown option `{option}`\nhint: {USAGE}")),
            }
        }
        // Another machine has no CPU whose instruction sets could be asked for.
        if request.target.is_some() {
            request.levels.retain(|level| !level.native);
            if request.levels.is_empty() {
                return Err("level native is only for this machine\nhint: leave out --target".to_owned());
            }
        }
        // A listing shows only one optimization level, and a library that is already built has only one level.
        if request.show.is_some() || request.library.is_some() {
            request.levels.truncate(1);
        }
        Ok(request)
    }
}

const USAGE: &str = "cargo xtask asm [--target TRIPLE] [--level 3|2|1|s|z|native|release] [--show FUNCTION] \
                     [--library FILE]";
