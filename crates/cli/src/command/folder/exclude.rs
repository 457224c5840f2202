//! Options that leave out a part of a folder.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::FOLDERS;
use crate::place::input::{Input, Source};
use crate::place::remote;
use crate::place::report::Done;
use crate::tell::failure::Failure;
use crate::tell::progress::amount;
use crate::tell::shown::{bytes, count};
use crate::tell::size::{self, Size};
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{Packer, Pattern, Patterns, Rules};

/// The longest list of patterns. Each pattern is tried on each name.
const LONGEST: u64 = 16 << 20;

/// The options that leave out a part of a folder.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ExcludeArgs {
    /// Leave out what matches a pattern as in .gitignore: node_modules/, *.tmp. A pattern with ! includes what earlier
    /// patterns left out. May be repeated
    #[arg(long, value_name = "PATTERN", help_heading = FOLDERS)]
    exclude: Vec<OsString>,
    /// Leave out what matches the patterns in FILE, whose lines are those of a .gitignore; - is standard input. May be
    /// repeated
    #[arg(long, value_name = "FILE", help_heading = FOLDERS)]
    exclude_from: Vec<PathBuf>,
    /// Leave out what git would ignore, and .git itself: reads each .gitignore of the folder, and those above it in the
    /// same repository
    #[arg(long, help_heading = FOLDERS)]
    gitignore: bool,
    /// Leave out the contents of caches, which a file CACHEDIR.TAG marks
    #[arg(long, help_heading = FOLDERS)]
    exclude_caches: bool,
    /// Leave out files with more than this many bytes
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = FOLDERS)]
    exclude_larger: Option<Size>,
    /// Leave out what is on other file systems; the folders where they are mounted go in empty
    #[arg(long, help_heading = FOLDERS)]
    one_file_system: bool,
}

impl ExcludeArgs {
    /// Refuses the options if none of the inputs is a folder. An input that does not exist may be a misspelt folder,
    /// and is reported when the program opens the input.
    pub fn check(&self, sources: &[Source]) -> Result<(), Failure> {
        let may_be_folder = |path: &Path| path.is_dir() || !path.exists() && !remote::is_address(path);
        match self.given() {
            Some(option) if !sources.iter().filter_map(Source::path).any(may_be_folder) => Err(Failure::usage(
                format!("{option} leaves out a part of a folder, and there is no folder"),
                "name a folder, or leave out the option",
            )),
            _ => Ok(()),
        }
    }

    /// Returns an option that was given.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--exclude", !self.exclude.is_empty()),
            ("--exclude-from", !self.exclude_from.is_empty()),
            ("--gitignore", self.gitignore),
            ("--exclude-caches", self.exclude_caches),
            ("--exclude-larger", self.exclude_larger.is_some()),
            ("--one-file-system", self.one_file_system),
        ];
        given.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
    }

    /// Returns the files that the options read.
    pub fn files(&self) -> &[PathBuf] {
        &self.exclude_from
    }

    /// Reads the files with patterns, and returns what is left out.
    pub fn rules(&self) -> Result<Rules, Failure> {
        let mut patterns: Vec<_> = self.exclude.iter().map(|text| Pattern::new(text.as_bytes())).collect();
        for file in &self.exclude_from {
            patterns.extend(Patterns::lines(&list(file, LONGEST)?));
        }
        Ok(Rules {
            exclude: Patterns::new(patterns).into(),
            git: self.gitignore,
            caches: self.exclude_caches,
            larger: self.exclude_larger.map(|size| size.0),
            one_file_system: self.one_file_system,
            system: true,
        })
    }
}

/// Reads a file with a list of at most this many bytes. `-` is standard input.
pub fn list(file: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let source = if file == Path::new("-") { Source::Stdin } else { Source::File(remote::local(file.to_owned())) };
    let input = Input::open(&source)?.file_only("name a file with one entry on each line")?;
    input.announce();
    let mut text = Vec::new();
    let read = input.reader().take(most + 1).read_to_end(&mut text);
    read.map_err(|error| Failure::io("read", &input.shown(), &error))?;
    if text.len() as u64 > most {
        let message = format!("{} is too long: a list has at most {}", input.shown(), amount(most));
        return Err(Failure::usage(message, "name folders instead of the files in them"));
    }
    Ok(text)
}

/// Adds notes on patterns that matched nothing, and on files that were left out because of their length.
pub fn tell(done: &mut Done, rules: &Rules, packer: &Packer) {
    let within = |pattern: &Pattern| idle_within(pattern.text(), packer.root());
    done.notes.extend(rules.exclude.idle().map(within));
    if packer.larger() > 0 {
        let files = count(packer.larger(), "file", "files");
        done.notes.push(format!("left out {files} of more than {} bytes", rules.larger.unwrap_or_default()));
    }
}

/// Returns notes on patterns that matched nothing.
pub fn idle<'a>(patterns: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = String> {
    patterns.map(|pattern| format!("no name matches the pattern {}", bytes(pattern)))
}

/// Returns a note on a pattern that matched nothing in the folder with the name `root`. If the pattern is a path that
/// begins with this name, the note shows the pattern that begins below the folder.
fn idle_within(pattern: &[u8], root: &[u8]) -> String {
    let (no, path) = pattern.strip_prefix(b"!").map_or((&b""[..], pattern), |path| (b"!", path));
    let path = ["/", "./"].iter().find_map(|start| path.strip_prefix(start.as_bytes())).unwrap_or(path);
    let note: String = idle([pattern].into_iter()).collect();
    match path.strip_prefix(root).and_then(|rest| rest.strip_prefix(b"/")).filter(|rest| !rest.is_empty()) {
        Some(rest) => {
            let meant = [no, b"/", rest].concat();
            format!("{note}: patterns begin below {}, so write {}", bytes(root), bytes(&meant))
        }
        None => note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_begins_with_the_folder_itself_is_explained() {
        let note = |pattern: &str| idle_within(pattern.as_bytes(), b"proj");
        let with = |pattern: &str, meant: &str| {
            format!("no name matches the pattern {pattern}: patterns begin below proj, so write {meant}")
        };
        assert_eq!(note("proj/target"), with("proj/target", "/target"));
        assert_eq!(note("/proj/a/*.o"), with("/proj/a/*.o", "/a/*.o"));
        assert_eq!(note("./proj/a/"), with("./proj/a/", "/a/"));
        assert_eq!(note("!proj/keep"), with("!proj/keep", "!/keep"));
        for other in ["proj", "proj/", "/proj", "project/x", "a/proj/x", "*.tmp", "!", ""] {
            assert_eq!(note(other), format!("no name matches the pattern {other}"));
        }
    }
}
