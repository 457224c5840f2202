//! Tells what does not become an object: links, special files, and empty folders if the results go to a store.

use std::path::Path;

use serde_json::json;

use crate::tell::failure::Failure;
use crate::tell::names::{joined, with_path};
use crate::tell::shown::{count, shown};
use crate::tell::streams::print_json;
use deadpan_fleet::LeftOut;

/// The number of names that a message shows.
const NAMES: usize = 5;

/// Prints a JSON object for each entry that does not become an object.
pub fn print_left_out(command: &str, left_out: &LeftOut) -> Result<(), Failure> {
    let kinds = [("link", &left_out.links), ("special", &left_out.specials), ("folder", &left_out.folders)];
    kinds.iter().flat_map(|(kind, paths)| paths.iter().map(move |path| (kind, path))).try_for_each(|(kind, path)| {
        let fields = json!({ "schema": 1, "command": command, "state": "left_out", "kind": kind });
        print_json(&joined(with_path(path), fields))
    })
}

/// Returns a note about what does not become an object, with the first names.
pub fn note(left_out: &LeftOut) -> Option<String> {
    let LeftOut { links, specials, folders } = left_out;
    let kinds = [
        (links, "link", "links"),
        (specials, "special file", "special files"),
        (folders, "empty folder", "empty folders"),
    ];
    let counts = kinds.iter().filter(|(paths, ..)| !paths.is_empty());
    let counts: Vec<_> = counts.map(|(paths, one, many)| count(paths.len() as u64, one, many)).collect();
    let all = links.len() + specials.len() + folders.len();
    let are = if all == 1 { "is" } else { "are" };
    let names = first_names(kinds.iter().flat_map(|(paths, ..)| *paths), all);
    (all > 0).then(|| format!("{} {are} left out: {names}", counts.join(" and ")))
}

/// Returns a text for a message: the first names, and how many more names there are. `all` is the number of all names.
pub fn first_names(paths: impl Iterator<Item = impl AsRef<Path>>, all: usize) -> String {
    let first: Vec<_> = paths.take(NAMES).map(shown).collect();
    let more = if all > first.len() { format!(", and {} more", all - first.len()) } else { String::new() };
    format!("{}{more}", first.join(", "))
}
