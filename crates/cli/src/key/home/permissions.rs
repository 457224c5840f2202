//! Warnings about keys that other users of the machine can read or replace.

use std::collections::BTreeSet;
use std::path::Path;

use parking_lot::Mutex;

use crate::tell::console::complain;
use crate::tell::shown::shown;
use deadpan_disk::About;

/// The mode bits that give any permission to the group or to everybody.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Warns if other users may read or write a private key.
pub fn check_key(path: &Path, about: &About) {
    if about.is_file() {
        check(path, about, 0o600);
    }
}

/// Warns if other users may read the key folder, or replace the keys in it. Does not warn if the folder does not exist:
/// the program will create the folder with the right mode.
pub fn check_folder(path: &Path) {
    if let Ok(about) = About::of_path(path) {
        check(path, &about, 0o700);
    }
}

/// Warns if a file or folder belongs neither to the caller nor to root.
pub fn check_owner(path: &Path, about: &About) {
    let owner = about.owner;
    if !about.is_trusted() {
        let message = format!("{} belongs to another user (number {owner}), who can change it", shown(path));
        warn(&message, "if you do not trust that user, replace it with a copy of your own");
    }
}

/// Warns if the access control list gives rights to others than this user, administrators and the system.
#[cfg(windows)]
fn check(path: &Path, _about: &About, _wanted: u32) {
    if deadpan_disk::is_open_to_others(path).unwrap_or(false) {
        let path = shown(path);
        let hint = format!("close it with: icacls \"{path}\" /inheritance:r /grant:r \"{}:F\" /T", own_name());
        warn(&format!("{path} is open to other users, who can read or change it"), &hint);
    }
}

/// Returns the name of this user for a command line. The shells write the variable in different ways, so the hint has
/// the name itself.
#[cfg(windows)]
fn own_name() -> String {
    let name = std::env::var("USERNAME").unwrap_or_else(|_| "NAME".into());
    match std::env::var("USERDOMAIN") {
        Ok(domain) => format!("{domain}\\{name}"),
        Err(_) => name,
    }
}

#[cfg(unix)]
fn check(path: &Path, about: &About, wanted: u32) {
    check_owner(path, about);
    let mode = about.mode & 0o777;
    if mode & OTHERS != 0 {
        let what = if mode & OTHERS & 0o022 != 0 { "change" } else { "read" };
        let message = format!("{} is open to other users, who can {what} it (mode {mode:04o})", shown(path));
        warn(&message, &format!("close it with: chmod {wanted:o} {}", shown(path)));
    }
}

/// Writes a warning and a hint to standard error, at most once in a run of the program.
pub fn warn(message: &str, hint: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().insert(message.to_owned()) {
        complain(&format!("warning: {message}"));
        complain(&format!("hint: {hint}"));
    }
}
