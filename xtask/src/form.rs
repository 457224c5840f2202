//! `cargo xtask form` checks three rules: lines have at most 120 columns, imports stand in three groups (std, crates,
//! ours), and scripts install only pinned packages.
//!
//! rustfmt keeps most lines within the width, but it breaks neither comments nor strings, and its stable version cannot
//! group imports.

mod imports;
mod pins;
mod width;

use crate::Outcome;
use crate::workspace::{self, Workspace};

/// The extensions of files with code. Shell scripts have no extension.
const ENDINGS: [&str; 7] = [".rs", ".py", ".pyi", ".h", ".c", ".go", ".java"];

pub(crate) fn run() -> Result<Outcome, String> {
    let root = Workspace::find()?.root;
    let mut faults = Vec::new();
    let scripts = workspace::scripts(&root)?;
    for (file, script) in &scripts {
        faults.extend(pins::faults(script).iter().map(|fault| format!("{file}:{fault}")));
    }
    let mut count = 0;
    for (file, source) in workspace::sources(&root, &ENDINGS)?.into_iter().chain(scripts) {
        count += 1;
        if file.ends_with(".rs") {
            let syntax = syn::parse_file(&source).map_err(|error| format!("cannot parse {file}: {error}"))?;
            faults.extend(imports::faults(&syntax.items, &source).iter().map(|fault| format!("{file}:{fault}")));
            faults
                .extend(width::faults(&source, &width::long_strings(&source)?).map(|fault| format!("{file}:{fault}")));
        } else {
            faults.extend(width::faults(&source, &[]).map(|fault| format!("{file}:{fault}")));
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!("form: {count} files, {} faults", faults.len());
    Ok(if faults.is_empty() { Outcome::Clean } else { Outcome::Found })
}
