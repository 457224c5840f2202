//! Builds the audited library once for each level of optimization, for this machine or for another target.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::cross::Cross;
use crate::workspace::Workspace;

/// One way to compile. Every level is audited, because the compiler may convert branch-free source code to a branch at
/// any level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) name: &'static str,
    /// The Cargo profile. Shipped programs are built with `dist`, and `cargo run --release` builds with `release`.
    pub(crate) profile: &'static str,
    pub(crate) opt_level: &'static str,
    /// Whether the compiler may use every instruction set of this machine's CPU, or only the oldest x86-64.
    pub(crate) native: bool,
}

impl Level {
    pub(crate) fn fully_optimized(self) -> bool {
        self.profile == "dist" && self.opt_level == "3"
    }

    /// Returns the setting for `cargo --config` that builds `package` at this level. `Cargo.toml` sets a separate level
    /// for the package, which takes precedence over the level of the profile.
    fn setting(self, package: &str) -> String {
        let quotes = if matches!(self.opt_level, "s" | "z") { "\"" } else { "" };
        format!("profile.{}.package.{package}.opt-level={quotes}{}{quotes}", self.profile, self.opt_level)
    }

    /// The compiler flags in addition to the optimization level.
    pub(crate) fn flags(self) -> &'static str {
        if self.native { "--cfg deadpan_test -C target-cpu=native" } else { "--cfg deadpan_test" }
    }
}

pub(crate) const LEVELS: [Level; 7] = [
    Level { name: "3", profile: "dist", opt_level: "3", native: false },
    Level { name: "2", profile: "dist", opt_level: "2", native: false },
    Level { name: "1", profile: "dist", opt_level: "1", native: false },
    Level { name: "s", profile: "dist", opt_level: "s", native: false },
    Level { name: "z", profile: "dist", opt_level: "z", native: false },
    Level { name: "native", profile: "dist", opt_level: "3", native: true },
    Level { name: "release", profile: "release", opt_level: "3", native: false },
];

/// The packages whose code is audited.
const AUDITED: [&str; 3] = ["deadpan-ct", "deadpan-base64", "deadpan-pad"];

/// Builds the package `deadpan-audit` and returns the path of its shared library.
pub(crate) fn build(workspace: &Workspace, cross: Option<&Cross>, level: Level) -> Result<PathBuf, String> {
    let folder = workspace.target.join("audit");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(&workspace.root)
        .args([
            "build",
            "--profile",
            level.profile,
            "--package",
            "deadpan-audit",
            "--lib",
            "--message-format",
            "json-render-diagnostics",
        ])
        .arg("--target-dir")
        // The levels of another target share one folder, because they share the standard library there.
        .arg(cross.map_or_else(|| folder.join(level.name), |cross| folder.join(&cross.target)))
        .args(AUDITED.iter().flat_map(|package| ["--config".to_owned(), level.setting(package)]))
        .env(format!("CARGO_PROFILE_{}_OPT_LEVEL", level.profile.to_uppercase()), level.opt_level)
        .env("RUSTFLAGS", level.flags())
        // `CARGO_ENCODED_RUSTFLAGS` would take precedence over `RUSTFLAGS`.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stderr(Stdio::inherit());
    if let Some(cross) = cross {
        cross.prepare(&mut command, level.profile);
    }
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("deadpan-audit does not build at level {}", level.name));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find_map(|message: Value| shared_library(&message))
        .ok_or_else(|| {
            "deadpan-audit gives no shared library\nhint: its Cargo.toml needs crate-type = [\"cdylib\"]".to_owned()
        })
}

fn shared_library(message: &Value) -> Option<PathBuf> {
    let target = &message["target"];
    let is_library = target["crate_types"].as_array()?.iter().any(|kind| kind == "cdylib");
    let is_ours = target["name"] == "deadpan_audit" || target["name"] == "deadpan-audit";
    let files = message["filenames"].as_array()?;
    files
        .iter()
        .filter_map(Value::as_str)
        .find(|name| is_library && is_ours && name.ends_with(".so"))
        .map(PathBuf::from)
}
