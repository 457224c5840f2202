//! `cargo xtask unsafe` checks that `unsafe` stands only where docs/ARCHITECTURE.md allows it, and that each `unsafe`
//! has a `SAFETY:` comment.
//!
//! Code in documentation comments is not checked.

mod place;
mod scan;

use std::path::Path;

use crate::Outcome;
use crate::workspace::{self, Workspace, read};

pub(crate) fn run() -> Result<Outcome, String> {
    let root = Workspace::find()?.root;
    let files = workspace::sources(&root, &[".rs"])?;
    let mut faults = Vec::new();
    for (file, source) in &files {
        let file = Path::new(file);
        faults.extend(scan::faults(file, source));
        if place::is_crate_root(file) && !place::forbids_itself(source) {
            faults.extend(unguarded(&root, file)?);
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!("unsafe: {} files, {} faults", files.len(), faults.len());
    Ok(if faults.is_empty() { Outcome::Clean } else { Outcome::Found })
}

/// Reports a crate that neither inherits `unsafe_code = "deny"` from the workspace nor denies `unsafe` itself.
fn unguarded(root: &Path, library: &Path) -> Result<Option<String>, String> {
    let folder = root.join(library).ancestors().nth(2).map_or_else(|| root.to_owned(), Path::to_owned);
    let inherits = place::sets(&read(&folder.join("Cargo.toml"))?, "lints", &["workspace"], &["true"]);
    let denied = place::sets(
        &read(&root.join("Cargo.toml"))?,
        "workspace.lints.rust",
        &["unsafe_code"],
        &["\"deny\"", "\"forbid\""],
    );
    Ok((!inherits || !denied).then(|| {
        let hint = "hint: put `[lints] workspace = true` into its Cargo.toml, or `#![forbid(unsafe_code)]` on top";
        format!("{}: nothing denies unsafe_code here\n{hint}", library.display())
    }))
}
