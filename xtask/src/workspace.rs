//! The workspace's packages, as cargo describes them, and its source files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
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
        let data: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| format!("cannot read cargo's metadata: {error}"))?;
        let path =
            |key: &str| data[key].as_str().map(PathBuf::from).ok_or_else(|| format!("cargo's metadata has no `{key}`"));
        Ok(Self {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            packages: data["packages"].as_array().cloned().unwrap_or_default(),
        })
    }
}

/// The folders that contain code.
const FOLDERS: [&str; 9] = ["crates", "audit", "bench", "bindings", "examples", "fuzz", "scripts", "tests", "xtask"];

/// Returns the path, relative to `root`, and the text of every file with one of these extensions in the folders that
/// contain code.
pub(crate) fn sources(root: &Path, endings: &[&str]) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files)?;
    }
    files.retain(|path| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)));
    if files.is_empty() {
        return Err(format!("no files of code under {}", root.display()));
    }
    files.sort();
    files.iter().map(|path| Ok((path.strip_prefix(root).unwrap_or(path).display().to_string(), read(path)?))).collect()
}

/// Returns the files of a crate, with their paths relative to the crate's `src` folder.
pub(crate) fn of_crate<'a>(sources: &'a [(String, String)], name: &str) -> Vec<(&'a str, &'a str)> {
    let folder = format!("crates/{name}/src/");
    sources.iter().filter_map(|(file, source)| Some((file.strip_prefix(&folder)?, source.as_str()))).collect()
}

/// Returns every shell script. A shell script is a file without an extension, or with the extension `.sh`, that begins
/// with `#!` and the path of a shell. A file that other scripts include with `source` begins with a comment instead of
/// `#!`.
pub(crate) fn scripts(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    for folder in ["bindings", "examples", "scripts", "tests"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.retain(|path| path.extension().is_none_or(|ending| ending == "sh"));
    files.sort();
    let mut scripts = Vec::new();
    for path in files {
        let text = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if let Ok(text) = String::from_utf8(text)
            && text.lines().next().is_some_and(|line| line.starts_with("# ") || is_shell(line))
        {
            scripts.push((path.strip_prefix(root).unwrap_or(&path).display().to_string(), text));
        }
    }
    Ok(scripts)
}

fn is_shell(first_line: &str) -> bool {
    first_line.starts_with("#!") && first_line.ends_with("sh")
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Collects the files below a folder, except build results, installed packages and the fuzzer's files.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let skipped = name.starts_with('.')
            || matches!(&*name, "target" | "artifacts" | "corpus" | "node_modules" | "__pycache__");
        if path.is_dir() && !path.is_symlink() && !skipped {
            collect(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
