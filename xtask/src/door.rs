//! Part of `cargo xtask layers`. Only crates/disk accesses the file system. No other crate opens a file or a folder by
//! a path, or changes the names of files. The reason: if code uses a path twice, the path can lead to another file the
//! second time.

/// The crates that must access files through crates/disk. The crates `lab` and `picture` are exceptions: they read the
/// user's files, or write reports to separate folders.
const CRATES: [&str; 8] = ["bind", "capi", "cli", "files", "fleet", "pack", "remote", "repair"];

/// Code that accesses files without crates/disk.
const AROUND: [&str; 6] = ["rustix::fs", "File::open", "File::create", "File::options", "OpenOptions::", ".read_dir("];

/// Files that are exceptions, each with its reason.
const APART: [(&str, &str); 5] = [
    ("crates/cli/src/key/prompt/unix.rs", "the terminal is no file of the user"),
    ("crates/cli/src/key/prompt/windows.rs", "the console is no file of the user"),
    ("crates/cli/src/tell/signals/unix.rs", "the system's file about this process"),
    ("crates/capi/src/ffi/streams.rs", "descriptors that C passes"),
    ("crates/remote/src/profile.rs", "settings of other tools, which are only read"),
];

/// Returns the places that access files without crates/disk, and the exceptions for code that no longer exists.
pub(crate) fn faults(sources: &[(String, String)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (file, source) in sources {
        let is_ours = CRATES.iter().any(|name| file.starts_with(&format!("crates/{name}/src/")));
        let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
        let reason = APART.iter().find(|(apart, _)| apart == file);
        let found = if is_ours && !is_test { around(source) } else { Vec::new() };
        match reason {
            None => faults.extend(found.into_iter().map(|(line, what)| {
                format!("{file}:{line}: {what} leads around crates/disk; use Folder, Input, Draft or About")
            })),
            Some((_, why)) if found.is_empty() => faults.push(format!("{file}: needs no exception any more ({why})")),
            Some(_) => {}
        }
    }
    let is_there = |apart: &str| sources.iter().any(|(file, _)| file == apart);
    faults
        .extend(APART.iter().filter(|(apart, _)| !is_there(apart)).map(|(apart, _)| format!("{apart}: is not there")));
    faults
}

/// Returns the lines that access files without crates/disk. The check ignores lines of tests, which are at the end of a
/// file.
fn around(source: &str) -> Vec<(usize, String)> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        // Code in other crates may use a file that is already open. Such code needs only the type `File`, so imports of
        // this type are allowed.
        let rest = line.replace("std::fs::File;", "").replace("std::fs::File)", "").replace("std::fs::File,", "");
        let what = AROUND.iter().find(|word| rest.contains(**word)).copied();
        let what = what.or_else(|| (rest.contains("std::fs") || rest.contains(" fs::")).then_some("std::fs"));
        found.extend(what.map(|what| (number + 1, what.to_owned())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_around_are_found_and_open_files_are_not() {
        for line in [
            "use std::fs;",
            "use std::fs::{self, File};",
            "let file = File::open(path)?;",
            "rustix::fs::openat(folder, name, flags, mode)",
            "for entry in folder.read_dir()? {",
            "std::fs::write(path, text)?;",
            "match fs::metadata(path) {",
        ] {
            assert_eq!(around(line).len(), 1, "{line}");
        }
        for line in [
            "use std::fs::File;",
            "fn read(file: &std::fs::File, length: u64)",
            "// File::open follows links.",
            "let file = Input::open(path, Opening::WAITING)?.file;",
            "#[cfg(test)]\nmod tests {\n    use std::fs;",
        ] {
            assert!(around(line).is_empty(), "{line}");
        }
    }
}
