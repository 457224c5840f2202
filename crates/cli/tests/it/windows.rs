//! Runs the scripts with the program for Windows, in Wine. The shell, and all programs that the scripts use besides
//! `deadpan`, are those of Linux.
//!
//! `packaging/tests/windows` runs this test. In the variable `DEADPAN_WINDOWS`, it names a folder with a program
//! `deadpan`, which starts the program in Wine. If `DEADPAN_SCRIPTS` is set, only the scripts run whose path contains
//! its value.
//!
//! `tests/windows.txt` lists the commands that end otherwise than on Linux. A listed command that ends as on Linux is
//! an error too, so the list does not grow old.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::frozen;
use crate::sandbox::Sandbox;
use crate::scripts::{all, play_each};

/// A command that runs longer is killed.
const LIMIT: Duration = Duration::from_secs(120);

/// The number of scripts that run at the same time.
const THREADS: usize = 4;

/// A line of the list: commands of a script that end otherwise.
struct Listed {
    script: &'static str,
    /// What each of these commands begins with.
    begin: &'static str,
    is_run: bool,
}

impl Listed {
    fn has(&self, command: &str) -> bool {
        command.starts_with(self.begin)
    }
}

/// Reads the list. A line that begins with two spaces names a script and the beginning of a command. After `!` instead
/// of `:`, the commands are not run, because they would never end or would do harm, or because nothing of them can
/// work. The other lines are reasons.
fn read(list: &'static str) -> Vec<Listed> {
    let read = |line: &'static str| {
        let (script, rest) = line.split_at(line.find([':', '!']).expect("a script"));
        let begin = rest[1..].strip_prefix(' ').expect("the beginning of a command");
        Listed { script, begin, is_run: rest.starts_with(':') }
    };
    list.lines().filter_map(|line| line.strip_prefix("  ")).map(read).collect()
}

/// Makes the paths of Windows look like those in the scripts, also inside JSON.
fn plain(text: &str) -> String {
    text.replace(r"\\", "/").replace('\\', "/")
}

/// Runs a script, and returns what is wrong.
fn faults(programs: &Path, path: &Path, list: &[Listed]) -> String {
    let name = path.file_name().unwrap();
    let list: Vec<_> = list.iter().filter(|listed| name == listed.script).collect();
    let sandbox = Sandbox::with_programs(programs);
    if name == frozen::SCRIPT {
        frozen::fill(&sandbox, path.parent().unwrap());
    }
    let mut left_out = Vec::new();
    let is_run = |command: &str| {
        let is_run = list.iter().all(|listed| listed.is_run || !listed.has(command));
        if !is_run {
            left_out.push(command.to_owned());
        }
        is_run
    };
    let played = play_each(&sandbox, path, LIMIT, is_run, plain);
    let mut faults = String::new();
    for (command, complaint) in &played {
        let is_listed = list.iter().any(|listed| listed.has(command));
        match complaint {
            Some(complaint) if !is_listed => faults.push_str(complaint),
            None if is_listed => {
                faults.push_str(&format!("{}: is listed, and ends as on Linux: {command}\n\n", name.display()));
            }
            _ => {}
        }
    }
    let commands: Vec<_> = played.iter().map(|(command, _)| command).chain(&left_out).collect();
    for listed in list.iter().filter(|listed| !commands.iter().any(|command| listed.has(command))) {
        faults.push_str(&format!("{}: no command begins with {}\n\n", name.display(), listed.begin));
    }
    faults
}

#[test]
#[ignore = "packaging/tests/windows runs it, with Wine and the program for Windows"]
fn every_script_passes_on_windows() {
    let programs = std::env::var_os("DEADPAN_WINDOWS").expect("DEADPAN_WINDOWS names a folder with the program");
    let only = std::env::var("DEADPAN_SCRIPTS").unwrap_or_default();
    let mut paths = all();
    paths.extend(frozen::versions().iter().map(|folder| folder.join(frozen::SCRIPT)));
    let list = read(include_str!("../windows.txt"));
    for listed in &list {
        let is_there = paths.iter().any(|path| path.file_name().is_some_and(|name| name == listed.script));
        assert!(is_there, "there is no script {}", listed.script);
    }
    paths.retain(|path| path.to_str().unwrap().contains(&only));
    assert!(!paths.is_empty(), "no script's path contains {only}");
    let (next, suspects) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !faults(Path::new(&programs), path, &list).is_empty() {
                        suspects.lock().unwrap().push(path);
                    }
                }
            });
        }
    });
    // On a busy machine, Wine sometimes ends a program without a word. So these scripts run again, one after the other.
    let suspects = suspects.into_inner().unwrap();
    let faults: String = suspects.into_iter().map(|path| faults(Path::new(&programs), path, &list)).collect();
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn lines_of_the_list() {
    let list = read("A reason.\n  a.txt: seal -o x\n\n  b.md! ulimit: 3\n");
    let told: Vec<_> = list.iter().map(|listed| (listed.script, listed.begin, listed.is_run)).collect();
    assert_eq!(told, [("a.txt", "seal -o x", true), ("b.md", "ulimit: 3", false)]);
    assert!(list[0].has("seal -o xy") && !list[0].has("deadpan seal -o x"));
    assert_eq!(plain(r#""C:\\a\\b" C:\a/b"#), r#""C:/a/b" C:/a/b"#);
}
