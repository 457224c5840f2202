//! The places where `unsafe` is allowed.

use std::path::Path;

/// Modules that may contain `unsafe`: CPU back ends, the optimization barrier, wiping, the interface to C, and tests.
const MODULES: [&str; 5] = ["imp", "barrier", "wipe", "ffi", "tests"];

/// Whether this file may contain `unsafe`. The path is relative to the workspace's root.
pub(crate) fn is_allowed(file: &Path) -> bool {
    let mut parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let name = parts.pop().unwrap_or_default();
    // The audited library exports `extern "C"` functions that take raw pointers.
    let audited = parts.first() == Some(&"audit");
    let folder = parts.iter().any(|part| matches!(*part, "imp" | "ffi" | "tests" | "benches"));
    audited || folder || name.strip_suffix(".rs").is_some_and(is_allowed_module)
}

pub(crate) fn is_allowed_module(name: &str) -> bool {
    MODULES.contains(&name)
}

/// `crates/NAME/src/lib.rs`.
pub(crate) fn is_crate_root(file: &Path) -> bool {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    matches!(parts[..], ["crates", _, "src", "lib.rs"])
}

pub(crate) fn forbids_itself(source: &str) -> bool {
    source
        .lines()
        .map(str::trim)
        .any(|line| line.starts_with("#![forbid(unsafe_code") || line.starts_with("#![deny(unsafe_code"))
}

/// Whether this section of a manifest sets one of the keys to one of the values. `[lints]` with `workspace = true` and
/// `lints.workspace = true` are equivalent.
pub(crate) fn sets(manifest: &str, section: &str, keys: &[&str], values: &[&str]) -> bool {
    let mut current = String::new();
    for line in manifest.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = name.trim().to_owned();
        } else if let Some((key, value)) = line.split_once('=') {
            let key = if current.is_empty() { key.trim().to_owned() } else { format!("{current}.{}", key.trim()) };
            let wanted = keys.iter().any(|wanted| key == format!("{section}.{wanted}"));
            if wanted && values.contains(&value.trim()) {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        for path in [
            "crates/base64/src/imp/avx2.rs",
            "crates/base64/src/imp.rs",
            "crates/ct/src/barrier.rs",
            "crates/ct/tests/link.rs",
            "crates/capi/src/ffi/keys.rs",
            "crates/ct/src/slice/tests.rs",
            "audit/src/lib.rs",
            "tests/no_std/src/main.rs",
        ] {
            assert!(is_allowed(Path::new(path)), "{path}");
        }
        for path in [
            "crates/ct/src/lib.rs",
            "crates/ct/src/important.rs",
            "bench/src/main.rs",
            "crates/audit/src/lib.rs",
            "crates/ct/examples/ffi2.rs",
        ] {
            assert!(!is_allowed(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn manifests() {
        assert!(sets("[package]\nname = \"x\"\n[lints]\nworkspace = true # all\n", "lints", &["workspace"], &["true"]));
        assert!(sets("lints.workspace = true", "lints", &["workspace"], &["true"]));
        assert!(!sets("[package]\nworkspace = true\n", "lints", &["workspace"], &["true"]));
        assert!(!sets("[lints]\n# workspace = true\n", "lints", &["workspace"], &["true"]));
    }
}
