//! `cargo xtask shape` prints numbers about the source tree. This command never fails; `cargo xtask layers` fails if a
//! limit is exceeded.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::modules::Modules;
use crate::workspace::{self, Workspace};

/// The number of lines of all files that git tracks, and the number of words of Markdown files.
#[derive(Default)]
struct Texts {
    lines: usize,
    rust: usize,
    words: usize,
    words_of_results: usize,
}

pub(crate) fn run() -> Result<Outcome, String> {
    let root = Workspace::find()?.root;
    let texts = texts(&root)?;
    let sources = workspace::sources(&root, &[".rs"])?;
    println!("lines: {} in all files, {} in Rust", texts.lines, texts.rust);
    println!("words of Markdown: {}, {} of them in docs/results", texts.words, texts.words_of_results);
    println!();
    println!(
        "{:<9}{:>6}{:>7}{:>9}{:>8}{:>6}{:>5}{:>8}{:>8}{:>6}  names that stand more than once",
        "crate", "files", "lines", "longest", "functs", ">60", "max", "root", "circle", "of"
    );
    for name in crates(&sources) {
        let files = workspace::of_crate(&sources, name);
        let modules = Modules::read(files.iter().copied())?;
        println!("{}", row(name, &files, &modules));
    }
    Ok(Outcome::Clean)
}

fn crates(sources: &[(String, String)]) -> Vec<&str> {
    let mut names: Vec<&str> = sources.iter().filter_map(|(file, _)| crate_of(file)).collect();
    names.dedup();
    names
}

fn crate_of(file: &str) -> Option<&str> {
    let (name, rest) = file.strip_prefix("crates/")?.split_once('/')?;
    rest.starts_with("src/").then_some(name)
}

fn row(name: &str, files: &[(&str, &str)], modules: &Modules) -> String {
    let lengths = files.iter().map(|(_, source)| source.lines().count());
    let functions: Vec<usize> = modules.iter().flat_map(|(_, module)| module.functions.iter().copied()).collect();
    let at_root = modules.iter().filter(|(path, _)| path.len() < 2).count();
    let circle = modules.circles().first().map_or(0, Vec::len);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    modules.iter().flat_map(|(_, module)| &module.types).for_each(|name| *times.entry(name).or_default() += 1);
    let often: Vec<String> =
        times.iter().filter(|it| *it.1 > 1).map(|(name, times)| format!("{name} {times}")).collect();
    format!(
        "{name:<9}{:>6}{:>7}{:>9}{:>8}{:>6}{:>5}{at_root:>8}{circle:>8}{:>6}  {}",
        files.len(),
        lengths.clone().sum::<usize>(),
        lengths.max().unwrap_or(0),
        functions.len(),
        functions.iter().filter(|lines| **lines > 60).count(),
        functions.iter().max().unwrap_or(&0),
        modules.iter().map(|(_, module)| module.of).sum::<usize>(),
        often.join(", ")
    )
}

fn texts(root: &Path) -> Result<Texts, String> {
    let listed = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output();
    let listed = listed.map_err(|error| format!("cannot run git: {error}"))?.stdout;
    let mut texts = Texts::default();
    for name in String::from_utf8_lossy(&listed).split('\0').filter(|name| !name.is_empty()) {
        // A file that was deleted but that git still tracks is not counted. Files with binary data are not counted
        // either.
        let Some(text) = std::fs::read(root.join(name)).ok().and_then(|text| String::from_utf8(text).ok()) else {
            continue;
        };
        let lines = text.lines().count();
        texts.lines += lines;
        texts.rust += if name.ends_with(".rs") { lines } else { 0 };
        if name.ends_with(".md") {
            let words = text.split_whitespace().count();
            texts.words += words;
            texts.words_of_results += if name.starts_with("docs/results/") { words } else { 0 };
        }
    }
    Ok(texts)
}
