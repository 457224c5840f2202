//! `cargo xtask unsafe`: `unsafe` stands only in the places docs/ARCHITECTURE.md names, and each one says why it holds.
//!
//! Code in documentation comments is not read.

mod place;
mod scan;

use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::workspace::Workspace;

/// The folders that hold Rust code.
const FOLDERS: [&str; 7] = ["crates", "audit", "bench", "fuzz", "python", "tests", "xtask"];

pub(crate) fn run() -> Result<Outcome, String> {
    let root = Workspace::find()?.root;
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files)?;
    }
    if files.is_empty() {
        return Err(format!("no Rust files under {}", root.display()));
    }
    files.sort();
    let mut faults = Vec::new();
    for file in &files {
        let relative = file.strip_prefix(&root).unwrap_or(file);
        let source = read(file)?;
        faults.extend(scan::faults(relative, &source));
        if place::is_crate_root(relative) && !place::forbids_itself(&source) {
            faults.extend(unguarded(&root, relative)?);
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!("unsafe: {} files, {} faults", files.len(), faults.len());
    Ok(if faults.is_empty() { Outcome::Clean } else { Outcome::Found })
}

/// A crate that takes the workspace's lints is guarded by `unsafe_code = "deny"` there.
fn unguarded(root: &Path, library: &Path) -> Result<Option<String>, String> {
    let folder = root.join(library).ancestors().nth(2).map_or_else(|| root.to_owned(), Path::to_owned);
    let inherits = place::sets(&read(&folder.join("Cargo.toml"))?, "lints", &["workspace"], &["true"]);
    let denied = place::sets(&read(&root.join("Cargo.toml"))?, "workspace.lints.rust", &["unsafe_code"], &["\"deny\"", "\"forbid\""]);
    Ok((!inherits || !denied).then(|| {
        let hint = "hint: put `[lints] workspace = true` into its Cargo.toml, or `#![forbid(unsafe_code)]` on top";
        format!("{}: nothing denies unsafe_code here\n{hint}", library.display())
    }))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let skipped = name.starts_with('.') || name == "target" || name == "artifacts" || name == "corpus";
        if path.is_dir() && !path.is_symlink() && !skipped {
            collect(&path, files)?;
        } else if path.is_file() && name.ends_with(".rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
