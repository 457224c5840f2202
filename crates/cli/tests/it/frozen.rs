//! Opens the files in `tests/frozen`: files of each kind that earlier versions made.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{LIMIT, Sandbox, finish};
use crate::scripts::play_in;

/// The script in each folder that opens the folder's files.
pub const SCRIPT: &str = "opens.txt";

/// Returns the folders, one for each version.
pub fn versions() -> Vec<PathBuf> {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frozen");
    let mut folders: Vec<_> = fs::read_dir(frozen).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert!(folders.iter().any(|folder| folder.ends_with("0.2.0")), "{folders:?}");
    folders
}

/// Adds the paths of all files in a folder of `root`, relative to `root`.
fn add_files(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_files(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// Copies the files of a version into a sandbox.
pub fn fill(sandbox: &Sandbox, folder: &Path) {
    // Git does not record that only the owner may read a key.
    let copy = "cp -R \"$0\"/. . && chmod -R u=rwX,go= .";
    finish(sandbox.command("bash", &["-c", copy, folder.to_str().unwrap()]), LIMIT, |_| ()).expect(0, "");
}

#[test]
fn files_of_earlier_versions_open() {
    for folder in versions() {
        let sandbox = Sandbox::new();
        fill(&sandbox, &folder);
        let complaints = play_in(&sandbox, &folder.join(SCRIPT), LIMIT);
        assert!(complaints.is_empty(), "\n{complaints}");
    }
}

/// A file that no command opens could become unreadable without notice.
#[test]
fn each_frozen_file_is_in_a_command() {
    for folder in versions() {
        let script = fs::read_to_string(folder.join(SCRIPT)).unwrap();
        let commands = script.lines().filter_map(|line| line.strip_prefix("$ "));
        let ends = |symbol: char| symbol.is_whitespace() || "=;)\"".contains(symbol);
        let words: HashSet<_> = commands.flat_map(|command| command.split(ends)).collect();
        let mut files = Vec::new();
        add_files(&folder, &folder, &mut files);
        files.retain(|file| ![SCRIPT, "README.md"].contains(&file.as_str()) && !words.contains(file.as_str()));
        assert!(files.is_empty(), "no command of {} opens {files:?}", folder.join(SCRIPT).display());
    }
}
