//! Builds the audited library once for each level of optimisation.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A way to compile: the compiler may turn a branch-free source into a branch at any of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) name: &'static str,
    pub(crate) opt_level: &'static str,
    /// Uses everything this machine's CPU has, instead of the oldest x86-64.
    pub(crate) native: bool,
}

impl Level {
    pub(crate) fn fully_optimised(self) -> bool {
        self.opt_level == "3"
    }

    /// Compiler flags, beside the level itself.
    pub(crate) fn flags(self) -> &'static str {
        if self.native { "--cfg deadpan_test -C target-cpu=native" } else { "--cfg deadpan_test" }
    }
}

pub(crate) const LEVELS: [Level; 6] = [
    Level { name: "3", opt_level: "3", native: false },
    Level { name: "2", opt_level: "2", native: false },
    Level { name: "1", opt_level: "1", native: false },
    Level { name: "s", opt_level: "s", native: false },
    Level { name: "z", opt_level: "z", native: false },
    Level { name: "native", opt_level: "3", native: true },
];

/// Builds the package `deadpan-audit` and returns the path of its shared library.
pub(crate) fn build(workspace: &Path, target: &Path, level: Level) -> Result<PathBuf, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(workspace)
        .args(["build", "--release", "--package", "deadpan-audit", "--lib", "--message-format", "json-render-diagnostics"])
        .arg("--target-dir")
        .arg(target.join("audit").join(level.name))
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level.opt_level)
        .env("RUSTFLAGS", level.flags())
        // It would win over RUSTFLAGS.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("deadpan-audit does not build at level {}", level.name));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find_map(|message: Value| shared_library(&message))
        .ok_or_else(|| "deadpan-audit gives no shared library\nhint: its Cargo.toml needs crate-type = [\"cdylib\"]".to_owned())
}

fn shared_library(message: &Value) -> Option<PathBuf> {
    let target = &message["target"];
    let is_library = target["crate_types"].as_array()?.iter().any(|kind| kind == "cdylib");
    let is_ours = target["name"] == "deadpan_audit" || target["name"] == "deadpan-audit";
    let files = message["filenames"].as_array()?;
    files.iter().filter_map(Value::as_str).find(|name| is_library && is_ours && name.ends_with(".so")).map(PathBuf::from)
}
