//! `cargo xtask layers` checks three rules. Crates depend only on the crates that docs/ARCHITECTURE.md allows, a module
//! group (wing) of a crate depends only on later groups, and only crates/disk opens files.

use std::collections::BTreeSet;

use crate::Outcome;
use crate::workspace::{self, Workspace};
use crate::{door, wings};

/// Each crate, with the crates that it may depend on.
const ARROWS: [(&str, &[&str]); 19] = [
    (
        "cli",
        &[
            "fleet", "files", "seal", "pack", "disk", "picture", "repair", "remote", "base64", "pad", "compress", "ct",
            "lab",
        ],
    ),
    ("python", &["cli", "bind", "seal", "pack", "picture", "repair", "base64", "pad", "ct", "lab"]),
    ("capi", &["bind", "seal", "pack", "base64", "pad", "ct"]),
    ("bind", &["files", "seal", "pack", "picture", "repair", "disk"]),
    ("files", &["seal", "pack", "disk"]),
    ("fleet", &["remote", "seal", "sieve", "disk", "base64", "ct"]),
    ("remote", &["seal", "pack"]),
    ("seal", &["base64", "pad", "compress", "ct", "position"]),
    ("base64", &["ct"]),
    ("compress", &["ct"]),
    ("pad", &["ct"]),
    ("ct", &[]),
    ("pack", &["sieve", "disk"]),
    ("sieve", &["disk"]),
    ("picture", &["position"]),
    ("repair", &["position"]),
    ("lab", &[]),
    ("position", &[]),
    ("disk", &["position"]),
];

/// The page that shows the arrows.
const PAGE: &str = "docs/ARCHITECTURE.md";

/// Top-level folders with tools. The packages in these folders may depend on any crate, and no crate may depend on
/// these packages.
const TOOLS: [&str; 5] = ["audit", "bench", "xtask", "fuzz", "tests"];

/// One member of the workspace.
#[derive(Clone, Debug)]
struct Package {
    name: String,
    /// The path from the workspace's root, with `/` between the parts.
    folder: String,
    uses: Vec<Use>,
}

#[derive(Clone, Debug)]
struct Use {
    name: String,
    dev: bool,
}

pub(crate) fn run() -> Result<Outcome, String> {
    let workspace = Workspace::find()?;
    let packages: Vec<Package> = workspace
        .packages
        .iter()
        .map(|data| read(data, &workspace.root))
        .collect::<Option<_>>()
        .ok_or("cargo's metadata has an unknown form")?;
    let sources = workspace::sources(&workspace.root, &[".rs"])?;
    let (between, inside, around) = (faults(&packages), wings::faults(&sources)?, door::faults(&sources));
    let undrawn = undrawn(&workspace::read(&workspace.root.join(PAGE))?);
    between.iter().chain(&inside).chain(&around).chain(&undrawn).for_each(|fault| println!("{fault}"));
    println!(
        "layers: {} packages, {} wrong arrows between crates, {} inside, {} ways around crates/disk",
        packages.len(),
        between.len(),
        inside.len(),
        around.len()
    );
    Ok(if between.len() + inside.len() + around.len() + undrawn.len() == 0 { Outcome::Clean } else { Outcome::Found })
}

/// Reports the dependencies in [`ARROWS`] that docs/ARCHITECTURE.md does not show, or shows differently.
fn undrawn(page: &str) -> Vec<String> {
    let crates = ARROWS.iter().map(|(name, uses)| match uses {
        [] => format!("{name} ──► none of our crates"),
        uses => format!("{name} ──► {}", uses.join(", ")),
    });
    let missing = crates.chain(wings::drawn()).filter(|line| !page.lines().any(|drawn| drawn == line));
    missing.map(|line| format!("{PAGE}: there is no line {line}")).collect()
}

fn read(data: &serde_json::Value, root: &std::path::Path) -> Option<Package> {
    let manifest = std::path::Path::new(data["manifest_path"].as_str()?);
    let folder = manifest.parent()?.strip_prefix(root).unwrap_or(manifest);
    let uses = data["dependencies"].as_array()?.iter().map(|dependency| {
        Some(Use { name: dependency["name"].as_str()?.to_owned(), dev: dependency["kind"] == "dev" })
    });
    Some(Package {
        name: data["name"].as_str()?.to_owned(),
        folder: folder.to_str()?.to_owned(),
        uses: uses.collect::<Option<_>>()?,
    })
}

/// The name that this package has in `ARROWS`.
fn room(name: &str) -> Option<&str> {
    match name {
        "deadpan" => Some("cli"),
        other => {
            other.strip_prefix("deadpan-").filter(|&room| room != "cli" && ARROWS.iter().any(|arrow| arrow.0 == room))
        }
    }
}

fn is_tool(package: &Package) -> bool {
    let top = package.folder.split('/').next().unwrap_or_default();
    TOOLS.contains(&top)
}

fn faults(packages: &[Package]) -> Vec<String> {
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let tools: BTreeSet<&str> =
        packages.iter().filter(|package| is_tool(package)).map(|package| package.name.as_str()).collect();
    let mut faults = Vec::new();
    for package in packages.iter().filter(|package| !is_tool(package)) {
        let Some(from) = room(&package.name) else {
            faults.push(format!(
                "{}: unknown package {}\nhint: give it a place in the table in xtask/src/layers.rs",
                package.folder, package.name
            ));
            continue;
        };
        let allowed = ARROWS.iter().find(|arrow| arrow.0 == from).map_or(&[][..], |arrow| arrow.1);
        // A crate may depend on itself, to enable a feature for its tests.
        for used in package.uses.iter().filter(|used| ours.contains(used.name.as_str()) && used.name != package.name) {
            if tools.contains(used.name.as_str()) {
                faults.push(format!(
                    "{} uses the tool {}\nhint: tools look at the crates, never the other way",
                    package.name, used.name
                ));
                continue;
            }
            let to = room(&used.name);
            let measured = used.dev && to == Some("lab");
            if !measured && to.is_some_and(|to| !allowed.contains(&to)) {
                faults.push(format!(
                    "{} uses {}, and no arrow leads there\nhint: see docs/ARCHITECTURE.md",
                    package.name, used.name
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, folder: &str, uses: &[(&str, bool)]) -> Package {
        let uses = uses.iter().map(|&(name, dev)| Use { name: name.to_owned(), dev }).collect();
        Package { name: name.to_owned(), folder: folder.to_owned(), uses }
    }

    fn crates() -> Vec<Package> {
        vec![
            package("deadpan", "crates/cli", &[("deadpan-seal", false), ("deadpan-lab", false), ("clap", false)]),
            package("deadpan-seal", "crates/seal", &[("deadpan-ct", false), ("deadpan-lab", true)]),
            package("deadpan-ct", "crates/ct", &[("deadpan-lab", true)]),
            package("deadpan-lab", "crates/lab", &[("serde", false)]),
            package("deadpan-audit", "audit", &[("deadpan-seal", false), ("deadpan", false)]),
        ]
    }

    fn assert_one(packages: &[Package], words: &str) {
        let faults = faults(packages);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains(words), "{faults:?}");
    }

    #[test]
    fn the_drawn_arrows_pass() {
        assert!(faults(&crates()).is_empty());
    }

    #[test]
    fn an_arrow_up_is_found() {
        let mut packages = crates();
        packages[2] = package("deadpan-ct", "crates/ct", &[("deadpan-seal", false)]);
        assert_one(&packages, "deadpan-ct uses deadpan-seal");
    }

    #[test]
    fn an_arrow_up_in_tests_only_is_found() {
        let mut packages = crates();
        packages[2] = package("deadpan-ct", "crates/ct", &[("deadpan-seal", true)]);
        assert_one(&packages, "deadpan-ct uses deadpan-seal");
    }

    #[test]
    fn lab_is_for_tests_only_below_the_cli() {
        let mut packages = crates();
        packages[1] = package("deadpan-seal", "crates/seal", &[("deadpan-lab", false)]);
        assert_one(&packages, "deadpan-seal uses deadpan-lab");
    }

    #[test]
    fn a_crate_that_uses_a_tool_is_found() {
        let mut packages = crates();
        packages[2] = package("deadpan-ct", "crates/ct", &[("deadpan-audit", true)]);
        assert_one(&packages, "uses the tool deadpan-audit");
    }

    #[test]
    fn an_unknown_crate_is_found() {
        let mut packages = crates();
        packages.push(package("deadpan-attic", "crates/attic", &[]));
        assert_one(&packages, "give it a place in the table");
    }

    #[test]
    fn an_arrow_that_the_page_does_not_draw_is_found() {
        let all = undrawn("").len();
        assert_eq!(undrawn("capi ──► bind\nseal ──► base64, pad, compress, ct, position\n").len(), all - 1);
    }

    #[test]
    fn the_cli_has_one_name() {
        assert_one(&[package("deadpan-cli", "crates/cli", &[])], "unknown package deadpan-cli");
    }
}
