//! Functions of shared libraries that the lab can measure.

use std::ffi::{CString, c_void};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use object::{Object, ObjectSymbol, SymbolKind};

use super::abi::{Argument, Kind};
use super::class::{self, ForeignClass};
use super::trial::Trial;
use super::{Abi, Error};
use crate::imp::library::{Function, Library, Word};
use crate::imp::notes::Notes;
use crate::similar::distance;
use crate::target::Target;

/// The alignment of each output and of each part of an input. The harness aligns the first part of an input in the same
/// way.
const ALIGN: usize = 16;
/// Maximum number of names that a message lists.
const SHOWN: usize = 8;

/// Loads a library and returns one of its functions as a target. The target has the classes in `classes`, or the usual
/// classes if `classes` is empty.
///
/// The lab calls the function with the stated arguments. If the description of the arguments is wrong, the process may
/// crash or its memory may be damaged. The person who states the arguments is responsible for their correctness.
pub(crate) fn target(path: &Path, symbol: &str, abi: &Abi, classes: &[ForeignClass]) -> Result<Target, Error> {
    let address = find(path, symbol)?;
    let abi = abi.clone().aligned(ALIGN);
    let (words, output) = words(&abi);
    let mut function = Function::new(address, words, output);
    let target = if abi.parts().any(|part| part.kind == Kind::Changed) {
        Target::in_place(symbol, abi.length(), move |input| function.call(input))
    } else {
        Target::new(symbol, abi.length(), move |input| function.read(input))
    };
    class::add(target, &abi, classes)
}

/// Tries the function of a [`target`]: calls it in a separate process, with inputs of each class. If some of these
/// trial calls did not take place, returns the reason.
pub(crate) fn try_out(path: &Path, abi: &Abi, target: &mut Target, notes: &Notes) -> Result<Option<String>, Error> {
    let symbol = target.name().to_owned();
    let abi = abi.clone().aligned(ALIGN);
    let function = Function::new(find(path, &symbol)?, words(&abi).0, 0);
    Trial { path, symbol: &symbol, function: &function, abi: &abi, target }.run(notes)
}

/// Loads a library and returns the address of a function.
fn find(path: &Path, symbol: &str) -> Result<NonNull<c_void>, Error> {
    let fault = |why: &str| Error::Library { path: path.to_owned(), why: why.to_owned() };
    // If a path has no slash, the system searches its own folders instead of the current folder, so the code adds `./`.
    let local = if path.components().count() == 1 { Path::new(".").join(path) } else { path.to_owned() };
    if let Some(why) = unsuitable(&local) {
        return Err(fault(&why));
    }
    let file = CString::new(local.as_os_str().as_bytes()).map_err(|_| fault("the path contains a zero byte"))?;
    let library = Library::open(&file).map_err(|why| fault(&why))?;
    let address = CString::new(symbol).ok().and_then(|name| library.symbol(&name));
    address.ok_or_else(|| {
        let mut names = functions(&local);
        let exported = names.len();
        names.sort_by_cached_key(|name| distance(name, symbol));
        names.truncate(SHOWN);
        Error::Symbol { path: path.to_owned(), symbol: symbol.to_owned(), similar: names, exported }
    })
}

/// Returns the reason why the file at a path cannot be a library.
fn unsuitable(path: &Path) -> Option<String> {
    match path.metadata() {
        Ok(found) if found.is_file() => None,
        Ok(found) if found.is_dir() => Some("it is a folder".to_owned()),
        Ok(_) => Some("it is a device or a pipe, not a file".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Some("there is no such file".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns the arguments of a call, and the total size of its outputs in bytes.
fn words(abi: &Abi) -> (Vec<Word>, usize) {
    let mut output = 0;
    let words = abi.arguments.iter().map(|argument| match *argument {
        Argument::Input(part) if part.kind == Kind::Integer => Word::Integer(part.offset, part.length),
        Argument::Input(part) => Word::Input(part.offset),
        Argument::Constant(value) => Word::Constant(value as usize),
        Argument::Output(length) => {
            let offset = output;
            output = (output + length).next_multiple_of(ALIGN);
            Word::Output(offset)
        }
    });
    (words.collect(), output)
}

fn functions(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let mut names: Vec<String> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text)
        .filter_map(|symbol| symbol.name().ok())
        // The linker adds the names `_init` and `_fini` to every library.
        .filter(|name| !["_init", "_fini"].contains(name))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_words_and_outputs_do_not_overlap() {
        let abi: Abi = "out:5,secret:3,int:7,scratch:20,secret-int:4,public:40".parse().unwrap();
        let (words, output) = words(&abi.aligned(ALIGN));
        let wanted = [
            Word::Output(0),
            Word::Input(0),
            Word::Constant(7),
            Word::Output(16),
            Word::Integer(16, 4),
            Word::Input(32),
        ];
        assert_eq!((words.as_slice(), output), (&wanted[..], 48));
    }
}
