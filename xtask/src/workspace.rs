//! The workspace as cargo describes it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// What `cargo metadata` says about each member.
    pub(crate) packages: Vec<Value>,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self, String> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err("`cargo metadata` failed\nhint: run from inside the workspace".to_owned());
        }
        let data: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cannot read cargo's metadata: {error}"))?;
        let path = |key: &str| data[key].as_str().map(PathBuf::from).ok_or_else(|| format!("cargo's metadata has no `{key}`"));
        Ok(Self {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            packages: data["packages"].as_array().cloned().unwrap_or_default(),
        })
    }
}
