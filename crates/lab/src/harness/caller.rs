//! Creates the command line that repeats a run. This command line depends on how the user starts the lab.

use std::env;
use std::path::{Path, PathBuf};

use super::output::quoted;
use crate::invocation;

/// The ways of starting the lab. The command line that repeats a run depends on how the lab was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The user starts a program, and writes these words before each command of the lab: `lab` for
    /// `deadpan lab timing`.
    Program(&'static str),
    /// The user starts a script that first builds the program.
    Script(&'static str),
    /// The user starts a benchmark with `harness = false`, which measures timing and has no commands.
    Bench,
}

impl Caller {
    /// Returns the shell command line that runs `command`. `command` is a lab command with its options, for example
    /// `timing --quick`.
    pub(super) fn repeat(self, command: &str) -> String {
        match self {
            Self::Program(words) => [&program(), words, command].join(" "),
            Self::Script(script) => [script, command].join(" "),
            Self::Bench => {
                let options = command.strip_prefix("timing").unwrap_or(command).trim_start();
                let package = env::var("CARGO_PKG_NAME").ok();
                match env::current_exe().ok().as_deref().and_then(bench_name).zip(package) {
                    Some((bench, package)) => format!("cargo bench -p {package} --bench {bench} -- {options}"),
                    // Cargo did not start this benchmark.
                    None => format!("{} {options}", program()),
                }
            }
        }
    }

    /// Returns the words of the command line that start the program and come before the lab command.
    pub(super) fn words(self) -> Vec<String> {
        match self {
            Self::Program(words) => words.split_whitespace().map(str::to_owned).collect(),
            Self::Script(_) | Self::Bench => Vec::new(),
        }
    }
}

/// Returns the name with which a shell starts this program: the bare name if the shell finds this program on the search
/// path, otherwise the path that the user typed.
fn program() -> String {
    if let Some(words) = invocation::interpreted() {
        return words.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ");
    }
    let called = env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let name = called.file_name().map(PathBuf::from).unwrap_or_default();
    let own = env::current_exe().and_then(|path| path.canonicalize()).ok();
    let path = env::var_os("PATH").unwrap_or_default();
    // A shell runs the first program with this name on the search path.
    let first = env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file());
    let found = first.and_then(|file| file.canonicalize().ok()).is_some_and(|file| Some(file) == own);
    quoted(&if found { name } else { called }.to_string_lossy())
}

/// Returns the name of a benchmark, which is a part of the file name of its program: `timing` for
/// `target/release/deps/timing-0123456789abcdef`.
fn bench_name(path: &Path) -> Option<String> {
    let (name, hash) = path.file_stem()?.to_str()?.rsplit_once('-')?;
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_has_the_name_of_its_manifest() {
        let name = |path: &str| bench_name(Path::new(path));
        assert_eq!(name("target/release/deps/my-timing-0123456789abcdef").as_deref(), Some("my-timing"));
        assert_eq!(name("target/release/timing"), None);
        assert_eq!(name("target/release/my-timing"), None);
    }

    #[test]
    fn a_program_outside_of_the_search_path_is_repeated_as_it_was_called() {
        let called = env::args().next().unwrap();
        assert_eq!(Caller::Program("lab").repeat("speed --quick"), format!("{} lab speed --quick", quoted(&called)));
    }

    #[test]
    fn a_benchmark_has_options_and_no_commands() {
        // Cargo sets CARGO_PKG_NAME for tests too.
        let command = Caller::Bench.repeat("timing --target x --seed 7");
        assert!(command.starts_with("cargo bench -p deadpan-lab --bench deadpan_lab -- "), "{command}");
        assert!(command.ends_with(" -- --target x --seed 7"), "{command}");
    }
}
