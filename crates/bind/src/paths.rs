//! The functions of `deadpan-files`, in the form that is suitable for the bindings. All functions report progress in
//! the same way, and their errors have numbers.

use std::fs::File;
use std::path::Path;

use crate::{Code, Fault};
use deadpan_files::{Entry, Options};
use deadpan_pack::{Pattern, Patterns, Rules, shown};
use deadpan_seal::{Identity, Passphrase, PrivateKey, PublicKey, Sealing, Summary, Work};

fn options<'a>(replace: bool, work: &Work<'a>) -> Options<'a> {
    Options { replace, work: *work, ..Options::default() }
}

/// Seals a file, with its name, time and mode. `replace` lets the output replace another file.
///
/// # Errors
/// The errors of [`deadpan_files::seal_file`].
pub fn seal_file(
    sealing: &Sealing,
    input: &Path,
    output: &Path,
    replace: bool,
    work: &Work<'_>,
) -> Result<Summary, Fault> {
    Ok(deadpan_files::seal_file(sealing, input, output, options(replace, work))?)
}

/// Opens a sealed file, and gives the output the time and mode of the original file. `replace` lets the output replace
/// another file.
///
/// # Errors
/// The errors of [`deadpan_files::open_file`].
pub fn open_file(
    identities: &[Identity],
    input: &Path,
    output: &Path,
    replace: bool,
    work: &Work<'_>,
) -> Result<Summary, Fault> {
    Ok(deadpan_files::open_file(identities, input, output, options(replace, work))?)
}

/// Reads a pattern as in `.gitignore`.
///
/// # Errors
/// [`Code::Argument`] if the pattern is not valid, and could never match anything.
pub fn pattern(text: &[u8]) -> Result<Pattern, Fault> {
    let pattern = Pattern::new(text);
    if pattern.is_valid() {
        return Ok(pattern);
    }
    let why = "it is empty, or a set in it lacks its ] or names an unknown class, or a backslash ends it";
    Err(Fault::argument(format!("the pattern \"{}\" matches nothing: {why}", shown(text))))
}

/// Seals a folder without what the patterns exclude and, with `git`, without what git would ignore. Returns a summary
/// of the work, with notes about the entries that were not sealed.
///
/// # Errors
/// The errors of [`deadpan_files::seal_folder_part`].
pub fn seal_folder(
    sealing: &Sealing,
    folder: &Path,
    output: &Path,
    exclude: Vec<Pattern>,
    git: bool,
    replace: bool,
    work: &Work<'_>,
) -> Result<(Summary, Vec<String>), Fault> {
    let rules = Rules { exclude: Patterns::new(exclude).into(), git, ..Rules::default() };
    let (summary, notes) = deadpan_files::seal_folder_part(sealing, folder, output, rules, options(replace, work))?;
    Ok((summary, notes.list().iter().map(ToString::to_string).collect()))
}

/// Opens a sealed folder into a new folder.
///
/// # Errors
/// The errors of [`deadpan_files::open_folder`].
pub fn open_folder(identities: &[Identity], input: &Path, output: &Path, work: &Work<'_>) -> Result<Summary, Fault> {
    Ok(deadpan_files::open_folder(identities, input, output, options(false, work))?)
}

/// Opens a part of a sealed folder, and writes only this part to a new folder.
///
/// # Errors
/// The errors of [`deadpan_files::open_folder_part`].
pub fn open_folder_part(
    identities: &[Identity],
    input: &Path,
    output: &Path,
    only: Vec<Vec<u8>>,
    work: &Work<'_>,
) -> Result<(), Fault> {
    Ok(deadpan_files::open_folder_part(identities, input, output, &only, options(false, work))?)
}

/// Calls `each` with the entries of a sealed folder, in order, until `each` returns false. Only the index is read.
///
/// # Errors
/// The errors of [`deadpan_files::list_folder`]; [`Code::Stopped`] if `each` returns false.
pub fn list_folder(identities: &[Identity], input: &Path, mut each: impl FnMut(&Entry) -> bool) -> Result<(), Fault> {
    for entry in deadpan_files::list_folder(identities, input)?.entries() {
        let entry = entry.map_err(|error| deadpan_files::Error::folder(error, input))?;
        if !each(&entry) {
            return Err(Fault::new(Code::Stopped, Code::Stopped.message()));
        }
    }
    Ok(())
}

/// Opens an input that can be read at any position. Returns the file and its length.
///
/// # Errors
/// The errors of [`deadpan_files::open_seekable`].
pub fn open_seekable(path: &Path) -> Result<(File, u64), Fault> {
    Ok(deadpan_files::open_seekable(path)?)
}

/// Returns all public keys in a text.
///
/// # Errors
/// The errors of [`deadpan_files::public_keys`].
pub fn public_keys(text: &[u8]) -> Result<Vec<PublicKey>, Fault> {
    Ok(deadpan_files::public_keys(text)?)
}

/// Returns the public key in a text.
///
/// # Errors
/// The errors of [`deadpan_files::public_key`].
pub fn public_key(text: &[u8]) -> Result<PublicKey, Fault> {
    Ok(deadpan_files::public_key(text)?)
}

/// Returns the private key in a text.
///
/// # Errors
/// The errors of [`deadpan_files::private_key`].
pub fn private_key(text: &[u8], passphrase: Option<&Passphrase>) -> Result<PrivateKey, Fault> {
    Ok(deadpan_files::private_key(text, passphrase)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_pattern_is_named() {
        for (wrong, shown) in [(&b"[a\x1b"[..], r"[a\u{1b}"), (b"a\\", r"a\\"), (b"\xff[", r"\xff["), (b"", "")] {
            let fault = pattern(wrong).expect_err("it is invalid");
            assert_eq!(fault.code, Code::Argument);
            assert!(fault.text.starts_with(&format!("the pattern \"{shown}\" matches nothing: ")), "{fault}");
        }
        assert_eq!(pattern(b"!*.o").expect("it is valid").text(), b"!*.o");
    }
}
