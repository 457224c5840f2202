//! A plugin from another project: `age-plugin-batchpass` of age. The plugin wraps file keys with a passphrase from the
//! environment.
//!
//! Go installs it: Command: `go install filippo.io/age/cmd/age-plugin-batchpass@latest`.

use std::path::PathBuf;

use crate::sandbox::{Sandbox, skip};

/// The identity without data. age uses this identity for `-j batchpass`.
const IDENTITY: &str = "AGE-PLUGIN-BATCHPASS-1JCS0Q9\n";

/// Returns the folder with the plugin: a folder in `PATH`, or the folder into which Go installs programs.
fn folder() -> Option<PathBuf> {
    let go = std::env::var_os("GOBIN").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join("go/bin")));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = std::env::split_paths(&path).chain(go).find(|folder| folder.join("age-plugin-batchpass").is_file());
    if folder.is_none() {
        skip("a plugin of age", "age-plugin-batchpass is not installed");
    }
    folder
}

#[test]
fn a_plugin_of_age_seals_and_opens() {
    let Some(folder) = folder() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("id", IDENTITY);
    sandbox.write("note", "straight face");
    let run = |passphrase: &str, args: &str| {
        let folder = folder.display();
        sandbox.shell(&format!("chmod 600 id; PATH={folder}:$PATH AGE_PASSPHRASE={passphrase} deadpan {args}"))
    };
    run("correct", "seal -R id note").expect(0, "");
    let opened = run("correct", "open -i id -o - note.dpn").expect(0, "");
    assert_eq!(opened.stdout(), b"straight face");
    run("wrong", "open -i id -o - note.dpn").expect(3, "age-plugin-batchpass");
    let shown = run("correct", "inspect note.dpn");
    assert!(String::from_utf8_lossy(shown.stdout()).contains("scrypt plugin key"));
    // age does not allow other recipients in addition to a passphrase. The plugin's recipient has its own label, which
    // enforces this rule.
    run("correct", "keygen --no-passphrase --mode ecc").expect(0, "");
    run("correct", "seal -r ecc -R id -o x note").expect(2, "not all have the label");
}
