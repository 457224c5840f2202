//! What a build for another target needs: the standard library of that target, or its sources, and a linker.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Cross {
    pub(crate) target: String,
    /// The linker, if the environment names none.
    linker: Option<String>,
    /// The folder `library` of the sources, if the standard library is not installed for the target.
    sources: Option<PathBuf>,
}

/// The crates of the standard library that the audit follows. Where the library is installed, its level is 3, so that
/// it has this level where it is built from sources.
const STANDARD: [&str; 4] = ["core", "alloc", "std", "compiler_builtins"];

impl Cross {
    pub(crate) fn find(root: &Path, target: &str) -> Result<Self, String> {
        Ok(Self { target: target.to_owned(), linker: linker(target)?, sources: sources(root, target)? })
    }

    pub(crate) fn prepare(&self, command: &mut Command, profile: &str) {
        command.args(["--target", &self.target]);
        if let Some(linker) = &self.linker {
            command.env(linker_variable(&self.target), linker);
        }
        if let Some(sources) = &self.sources {
            let setting = |name| format!("profile.{profile}.package.{name}.opt-level=3");
            command
                .args(STANDARD.iter().flat_map(|name| ["--config".to_owned(), setting(name)]))
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_unwind")
                .env("__CARGO_TESTS_ONLY_SRC_ROOT", sources);
        }
    }
}

fn linker_variable(target: &str) -> String {
    format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"))
}

fn linker(target: &str) -> Result<Option<String>, String> {
    let variable = linker_variable(target);
    if std::env::var_os(&variable).is_some() || target.starts_with(std::env::consts::ARCH) {
        return Ok(None);
    }
    let architecture = target.split('-').next().unwrap_or_default();
    let name = format!("{architecture}-linux-gnu-gcc");
    if Command::new(&name).arg("--version").output().is_err() {
        return Err(format!(
            "there is no linker {name} for {target}\n\
            hint: install it (Debian's package is gcc-{}-linux-gnu), or name another one in {variable}",
            architecture.replace('_', "-")
        ));
    }
    Ok(Some(name))
}

/// Returns `None` if the standard library is installed for the target.
fn sources(root: &Path, target: &str) -> Result<Option<PathBuf>, String> {
    let print = |arguments: &[&str]| {
        let output = Command::new("rustc").current_dir(root).arg("--print").args(arguments).output();
        let output = output.map_err(|error| format!("cannot run rustc: {error}"))?;
        if !output.status.success() {
            return Err(format!("the compiler does not know the target {target}"));
        }
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    };
    if print(&["target-libdir", "--target", target])?.is_dir() {
        return Ok(None);
    }
    let fetched = std::fs::read_dir(root.join("target/tools/rust-src/usr/src")).into_iter().flatten().flatten();
    let own = print(&["sysroot"])?.join("lib/rustlib/src/rust/library");
    let mut places = fetched.map(|entry| entry.path().join("library")).chain([own]);
    places.find(|place| place.join("Cargo.lock").is_file()).map(Some).ok_or_else(|| {
        format!(
            "neither the standard library for {target} nor its sources are there\n\
            hint: rustup target add {target}, or scripts/tool rust-src"
        )
    })
}
