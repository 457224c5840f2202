//! Part of `cargo xtask layers`. Inside a crate, a module group (wing) may import only from later groups in its list.

use crate::modules::{Modules, Path};
use crate::workspace;

/// A crate with wings. A module group (wing) may import from itself and from later groups in the list. The root may
/// import from all wings.
struct House {
    name: &'static str,
    wings: &'static [Wing],
    /// Modules at the root from which every module group (wing) may import, such as the module with the errors of the
    /// crate.
    shared: &'static [&'static str],
    /// The maximum number of modules at the root, including the module groups (wings).
    at_root: usize,
    /// The maximum number of files that may import each other in a circle.
    circle: usize,
}

/// Modules with a common purpose. A wing is a group of modules: a folder of the crate's `src`, or several modules at
/// the root.
struct Wing {
    name: &'static str,
    modules: &'static [&'static str],
}

const HOUSES: [House; 4] = [
    House {
        name: "cli",
        wings: &[
            Wing { name: "command", modules: &["command"] },
            Wing { name: "key", modules: &["key"] },
            Wing { name: "place", modules: &["place"] },
            Wing { name: "tell", modules: &["tell"] },
        ],
        shared: &[],
        at_root: 12,
        circle: 7,
    },
    House {
        name: "seal",
        wings: &[
            Wing { name: "api", modules: &["api"] },
            Wing { name: "format", modules: &["format"] },
            Wing { name: "key", modules: &["key"] },
            Wing { name: "primitive", modules: &["primitive"] },
        ],
        // This module contains the errors of all module groups (wings).
        shared: &["error"],
        at_root: 6,
        circle: 112,
    },
    House {
        name: "lab",
        wings: &[
            Wing { name: "command line", modules: &["harness"] },
            Wing { name: "studies", modules: &["report", "selftest", "calibrate"] },
            Wing {
                name: "measurements",
                modules: &[
                    "timing",
                    "trace",
                    "taint",
                    "speed",
                    "foreign",
                    "target",
                    "imp",
                    "clock",
                    "machine",
                    "emulation",
                    "cleanup",
                    "load",
                    "generations",
                ],
            },
            Wing {
                name: "records and words",
                modules: &[
                    "record",
                    "number",
                    "distribution",
                    "random",
                    "plural",
                    "similar",
                    "visible",
                    "watch",
                    "invocation",
                    "disk",
                ],
            },
        ],
        shared: &[],
        at_root: 28,
        circle: 23,
    },
    House {
        name: "picture",
        wings: &[
            Wing { name: "sets", modules: &["analysis", "set", "reader", "template", "carrier", "label"] },
            Wing { name: "codecs", modules: &["read", "write"] },
            Wing {
                name: "parts",
                modules: &["spare", "open_files", "pixels", "position", "format", "error", "threads", "adler", "crc"],
            },
        ],
        shared: &[],
        at_root: 18,
        circle: 16,
    },
];

/// Returns forbidden imports between module groups (wings), the crates with too many modules at the root, and the
/// crates in which too many files import each other in a circle.
pub(crate) fn faults(sources: &[(String, String)]) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for house in &HOUSES {
        let files = workspace::of_crate(sources, house.name);
        faults.extend(house.faults(&Modules::read(files.into_iter())?));
    }
    Ok(faults)
}

impl House {
    fn faults(&self, modules: &Modules) -> Vec<String> {
        let mut faults = Vec::new();
        for wing in self.wings {
            for name in wing.modules {
                if !modules.iter().any(|(path, _)| path.first().is_some_and(|first| first == name)) {
                    faults.push(format!("crates/{}: there is no module {name} in the wing {}", self.name, wing.name));
                }
            }
        }
        for (path, _) in modules.iter() {
            let wrong = modules.imports(path).into_iter().filter(|to| !self.allows(path, to));
            faults.extend(wrong.map(|to| {
                format!(
                    "crates/{}: {} imports from {}, and no arrow leads there\nhint: see docs/ARCHITECTURE.md",
                    self.name,
                    shown(path),
                    shown(&to)
                )
            }));
        }
        let at_root = modules.iter().filter(|(path, _)| path.len() < 2).count();
        if at_root > self.at_root {
            faults.push(format!("crates/{}: {at_root} modules at the root, at most {}", self.name, self.at_root));
        }
        if let Some(circle) = modules.circles().into_iter().find(|circle| circle.len() > self.circle) {
            let names: Vec<_> = circle.iter().map(shown).collect();
            faults.push(format!("crates/{}: a circle of {} modules: {}", self.name, names.len(), names.join(", ")));
        }
        faults
    }

    fn allows(&self, from: &Path, to: &Path) -> bool {
        match (self.rank(from), self.rank(to)) {
            // Modules at the root may import from all modules of the crate.
            (None, _) => true,
            (Some(from), Some(to)) => from <= to,
            (Some(_), None) => to.first().is_some_and(|name| self.shared.contains(&name.as_str())),
        }
    }

    /// Returns the position of a module's group (wing) in the list of groups, or `None` for a module at the root.
    fn rank(&self, path: &Path) -> Option<usize> {
        let first = path.first()?;
        self.wings.iter().position(|wing| wing.modules.contains(&first.as_str()))
    }
}

fn shown(path: &Path) -> String {
    if path.is_empty() { "lib".to_owned() } else { path.join("::") }
}

/// Returns the module groups (wings) of each divided crate, in the form in which docs/ARCHITECTURE.md shows them.
pub(crate) fn drawn() -> impl Iterator<Item = String> {
    HOUSES.iter().map(|house| {
        let names: Vec<&str> = house.wings.iter().map(|wing| wing.name).collect();
        format!("{}: {}", house.name, names.join(" ──► "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUSE: House = House {
        name: "x",
        wings: &[Wing { name: "top", modules: &["top"] }, Wing { name: "low", modules: &["low"] }],
        shared: &["error"],
        at_root: 4,
        circle: 2,
    };

    fn faults(sources: &[(&str, &str)]) -> Vec<String> {
        let fixed = [("lib.rs", "mod top; mod low; mod error;"), ("top.rs", ""), ("low.rs", ""), ("error.rs", "")];
        let kept = fixed.iter().filter(|(file, _)| !sources.iter().any(|(other, _)| other == file));
        HOUSE.faults(&Modules::read(kept.chain(sources).copied()).unwrap())
    }

    #[test]
    fn arrows_down_and_shared_modules_pass() {
        assert_eq!(
            faults(&[("top.rs", "use crate::low; use crate::error;"), ("low.rs", "use crate::error;")]),
            [""; 0]
        );
    }

    #[test]
    fn an_arrow_up_is_found() {
        let found = faults(&[("low/deep.rs", "use crate::top::X;")]);
        assert!(found.len() == 1 && found[0].contains("low::deep imports from top"), "{found:?}");
    }

    #[test]
    fn an_arrow_to_the_root_is_found() {
        let found = faults(&[
            ("lib.rs", "mod top; mod low; mod error; mod args;"),
            ("low.rs", "use crate::args;"),
            ("args.rs", ""),
        ]);
        assert!(found.iter().any(|fault| fault.contains("low imports from args")), "{found:?}");
    }

    #[test]
    fn too_many_modules_at_the_root_are_found() {
        let found = faults(&[("a.rs", "")]);
        assert!(found.len() == 1 && found[0].contains("5 modules at the root"), "{found:?}");
    }

    #[test]
    fn a_large_circle_is_found() {
        let circle = [
            ("top/a.rs", "use crate::top::b;"),
            ("top/b.rs", "use crate::top::c;"),
            ("top/c.rs", "use crate::top::a;"),
        ];
        let found = faults(&circle);
        assert!(found.len() == 1 && found[0].contains("a circle of 3 modules"), "{found:?}");
    }

    #[test]
    fn a_wing_without_files_is_found() {
        let modules = Modules::read([("lib.rs", "mod top;"), ("top.rs", "")].into_iter()).unwrap();
        assert!(HOUSE.faults(&modules)[0].contains("there is no module low"));
    }
}
