//! Runs the scripts in `tests/scripts` and the commands in the guides.
//!
//! A line `$ COMMAND` runs in a shell without a terminal, in the script's own folder. The lines below the command are
//! the expected output: standard output, then standard error. `[..]` stands for any text within a line, and a line
//! `...` stands for any number of lines. `? N` is the expected exit code. Without a line `? N`, the expected exit code
//! is 0. All other lines are comments. A command that never ends is killed and reported. A command that only sets a
//! variable, such as `last=$(ls | tail -n 1)`, runs again before each later command.
//!
//! In Markdown, only blocks of the kind `console` are run. A block whose first line also has a name, such as
//! `sh backup.sh`, is written to a file with this name before the first command runs. Commands with the address of the
//! store `s3://bucket` run with a server. Where no server is installed, these commands are reported as skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sandbox::{LIMIT, Sandbox, finish};
use crate::store::Server;

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

/// Returns the blocks of a page that are files: their names and their contents.
pub fn files(page: &str) -> Vec<(&str, String)> {
    let mut files = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("```") else { continue };
        let text: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
        files.extend(head.split_once(' ').map(|(_, name)| (name, text)));
    }
    files
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

/// Whether a command only sets a variable to the output of another command.
fn sets_variable(command: &str) -> bool {
    let parts = command.split_once("=$(").and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?)));
    parts.is_some_and(|(name, other)| name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !other.contains(')'))
}

/// Runs a script in a sandbox of its own. Returns the steps that did not end as expected, each with its file and line.
fn play(path: &Path, limit: Duration) -> String {
    play_in(&Sandbox::new(), path, limit)
}

/// Runs a script like [`play`], but in this sandbox.
pub fn play_in(sandbox: &Sandbox, path: &Path, limit: Duration) -> String {
    let played = play_each(sandbox, path, limit, |_| true, str::to_owned);
    played.into_iter().filter_map(|(_, complaint)| complaint).collect()
}

/// Runs the commands of a script for which `is_run` returns true, in this sandbox. Returns each of these commands, with
/// a complaint if it did not end as expected. `plain` is applied to what is expected and to what is printed, before
/// they are compared.
pub fn play_each(
    sandbox: &Sandbox,
    path: &Path,
    limit: Duration,
    mut is_run: impl FnMut(&str) -> bool,
    plain: fn(&str) -> String,
) -> Vec<(String, Option<String>)> {
    let text = fs::read_to_string(path).unwrap();
    let markdown = path.extension().is_some_and(|extension| extension == "md");
    let steps = steps(&text, markdown);
    assert!(!steps.is_empty(), "{} has no commands", path.display());
    if markdown {
        files(&text).iter().for_each(|(name, contents)| sandbox.write(name, contents));
    }
    let needs_store = |step: &Step| markdown && step.command.contains("s3://bucket");
    let store = steps.iter().find(|step| needs_store(step));
    let store = store.and_then(|step| Server::gateway(&format!("{}:{}", path.display(), step.line)));
    let mut variables = String::new();
    let mut played = Vec::new();
    for step in steps {
        if needs_store(&step) && store.is_none() || !is_run(&step.command) {
            continue;
        }
        let mut command = sandbox.command("bash", &["-c", &format!("{variables}{}", step.command)]);
        if sets_variable(&step.command) {
            variables.push_str(&format!("{}\n", step.command));
        }
        if let Some(server) = store.as_ref() {
            Server::settle(server.port, sandbox, &mut command);
        }
        let run = finish(command, limit, |_| ());
        let output = plain(&format!("{}{}", String::from_utf8_lossy(run.stdout()), run.stderr()));
        let lines: Vec<_> = output.lines().filter(|line| !line.is_empty()).collect();
        let expected: Vec<_> = step.output.iter().map(|line| plain(line)).collect();
        let complaint = (run.code() != Some(step.code) || !all_fit(&expected, &lines)).then(|| {
            format!(
                "{}:{}: $ {}\nexpected {}:\n{}\ngot {:?}:\n{output}\n\n",
                path.display(),
                step.line,
                step.command,
                step.code,
                expected.join("\n"),
                run.code(),
            )
        });
        played.push((step.command, complaint));
    }
    played
}

/// Returns the paths of all scripts and of the guides whose commands are run, in order.
pub fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scripts = fs::read_dir(folder.join("tests/scripts")).unwrap().map(|entry| entry.unwrap().path());
    let guides = ["backup", "folders", "keys", "pictures", "random", "rewrap", "sealing", "thresholds"]
        .map(|page| folder.join("../../docs").join(page).with_extension("md"));
    let mut paths: Vec<_> = scripts.chain(guides).collect();
    paths.sort();
    paths
}

#[test]
fn every_script_passes() {
    let paths = all();
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

#[test]
fn only_a_variable_is_set_again_before_later_commands() {
    assert!(sets_variable("last=$(ls *.dpn | tail -n 1)"));
    for other in ["last=$(ls) && rm x", "last=$(ls); rm $(ls)", "a b=$(ls)", "A=b deadpan", "echo $(ls)"] {
        assert!(!sets_variable(other), "{other}");
    }
}

#[test]
fn blocks_with_a_name_are_files() {
    let page = "```sh a.sh\necho $1\n\n```\ntext\n```console\n$ ls\n```\n```ini b\n```\n";
    assert_eq!(files(page), [("a.sh", "echo $1\n\n".to_owned()), ("b", String::new())]);
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
