//! Runs the scripts in `tests/scripts` and the commands in the guides.
//!
//! A line `$ COMMAND` runs in a shell without a terminal, in the script's own folder. The lines below the command are
//! the expected output: standard output, then standard error. `[..]` stands for any text within a line, and a line
//! `...` stands for any number of lines. `? N` is the expected exit code. Without a line `? N`, the expected exit code
//! is 0. All other lines are comments. In Markdown, only blocks of the kind `console` are run. A command that never
//! ends is killed and reported.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::sandbox::{LIMIT, Sandbox};

#[derive(Default)]
struct Step {
    line: usize,
    command: String,
    output: Vec<String>,
    code: i32,
}

fn steps(text: &str, markdown: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut inside, mut open) = (!markdown, false);
    for (index, line) in text.lines().enumerate() {
        if markdown && line.starts_with("```") {
            inside = line == "```console";
            open = false;
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { line: index + 1, command: command.into(), ..Step::default() });
            open = true;
        } else if line.is_empty() {
            open = false;
        } else if let (true, Some(step)) = (open, steps.last_mut()) {
            match line.strip_prefix("? ") {
                Some(code) => step.code = code.parse().unwrap(),
                None => step.output.push(line.into()),
            }
        }
    }
    steps
}

/// `[..]` stands for any text.
fn fits(expected: &str, line: &str) -> bool {
    let mut parts = expected.split("[..]");
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

fn all_fit(expected: &[String], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => (0..=lines.len()).any(|skipped| all_fit(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, lines)| fits(first, line) && all_fit(rest, lines))
        }
    }
}

/// Runs a script. Returns the steps that did not end as expected, each with its file and line.
fn play(path: &Path, limit: Duration) -> String {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(path).unwrap();
    let mut complaints = String::new();
    let steps = steps(&text, path.extension().is_some_and(|extension| extension == "md"));
    assert!(!steps.is_empty(), "{} has no commands", path.display());
    for step in steps {
        let run = sandbox.shell_within(limit, &step.command);
        let output = format!("{}{}", String::from_utf8_lossy(run.stdout()), run.stderr());
        let lines: Vec<_> = output.lines().filter(|line| !line.is_empty()).collect();
        if run.code() != Some(step.code) || !all_fit(&step.output, &lines) {
            let _ = writeln!(
                complaints,
                "{}:{}: $ {}\nexpected {}:\n{}\ngot {:?}:\n{}\n",
                path.display(),
                step.line,
                step.command,
                step.code,
                step.output.join("\n"),
                run.code(),
                output
            );
        }
    }
    complaints
}

#[test]
fn every_script_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scripts = fs::read_dir(folder.join("tests/scripts")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = scripts
        .chain(
            ["folders.md", "keys.md", "pictures.md", "rewrap.md", "sealing.md", "random.md", "thresholds.md"]
                .map(|page| folder.join("../../docs").join(page)),
        )
        .collect();
    paths.sort();
    let complaints: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = paths.iter().map(|path| scope.spawn(|| play(path, LIMIT))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let complaints = complaints.concat();
    assert!(complaints.is_empty(), "\n{complaints}");
}

#[test]
fn the_runner_can_fail() {
    assert!(fits("a [..] c", "a b c") && fits("[..]", "") && fits("ab", "ab"));
    assert!(!fits("a [..] c", "a b d") && !fits("ab", "abc") && !fits("[..]x", "xy"));
    let expected = ["...".to_owned(), "end".to_owned()];
    assert!(all_fit(&expected, &["a", "b", "end"]) && !all_fit(&expected, &["end", "more"]));
}

/// In an earlier version, a command that never ended kept the whole check from ending.
#[test]
fn a_command_that_waits_for_ever_is_killed_and_reported_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write("script.txt", "A comment\n$ sleep 1000 & sleep 1000\n\n$ echo after\nafter\n");
    let path = sandbox.path("script.txt");
    // On a busy machine, the second command can also take longer than the limit, so the test tries longer limits.
    let found = (1..8).any(|power| {
        let seconds = 1 << power;
        let complaints = play(&path, Duration::from_secs(seconds));
        assert!(complaints.starts_with(&format!("{}:2: $ sleep", path.display())), "{complaints}");
        let killed = format!("killed: the command took longer than {seconds} s");
        assert!(complaints.contains(&killed), "{complaints}");
        !complaints.contains("after\n")
    });
    assert!(found, "the command behind it was not run");
}
