//! The commands in the README work as printed.

use std::fs;
use std::path::Path;

use crate::sandbox::{Run, Sandbox};

/// Returns the lines of the first code block of this kind.
fn block<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    let start = format!("```{kind}");
    text.lines().skip_while(|line| *line != start).skip(1).take_while(|line| *line != "```").collect()
}

fn tree(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

#[track_caller]
fn works(run: &Run, line: &str) {
    assert_eq!(run.code(), Some(0), "{line}\n{}", run.stderr());
}

#[test]
fn the_first_command_works_twice_and_leaves_nothing_untracked() {
    let sandbox = Sandbox::new();
    let readme = tree("README.md");
    sandbox.write("README.md", &readme);
    // The key folder of these tests is inside the sandbox. A user's key folder is in the home folder.
    sandbox.write(".gitignore", format!("{}\n/home\n", tree(".gitignore")));
    fs::create_dir(sandbox.path("target")).unwrap();
    let identity = "git -c user.name=x -c user.email=x@example.org";
    works(&sandbox.shell(&format!("git init -q && git add -A && {identity} commit -qm x")), "git");
    let lines = block(&readme, "sh");
    let first = lines[0].replace("cargo run --release --", "deadpan");
    assert!(first.starts_with("deadpan seal "), "{first}");
    for _ in 0..2 {
        works(&sandbox.shell(&first), &first);
        let status = sandbox.shell("git status --porcelain");
        assert_eq!(String::from_utf8_lossy(status.stdout()), "");
    }
    let again = sandbox.shell("deadpan open -o - target/README.md.dpn");
    assert!(readme.contains("cargo run --release -- open -o - target/README.md.dpn"));
    assert_eq!(String::from_utf8_lossy(again.stdout()), readme);
}

#[test]
fn the_examples_work_in_their_order() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("photos/2024")).unwrap();
    sandbox.write("photos/2024/cat.jpg", "cat");
    let prepare = "deadpan keygen --no-passphrase -o backup.key && deadpan keygen --no-passphrase -o b.key && \
                   deadpan keys add bob b.pub";
    works(&sandbox.shell(prepare), prepare);
    let readme = tree("README.md");
    let lines = block(&readme, "console");
    assert_eq!(lines.len(), 4);
    for line in lines {
        let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("no command: {line}"));
        let run = sandbox.shell(command);
        let cannot_trace = command.contains("lab trace") && run.code() == Some(31);
        assert!(run.code() == Some(0) || cannot_trace, "{line}\n{}", run.stderr());
    }
    assert_eq!(sandbox.read("cat.jpg"), b"cat");
    let bob = "deadpan open -i b.key --verify photos.dpn";
    works(&sandbox.shell(bob), bob);
}

#[test]
fn a_known_leak_outside_of_the_repository_says_what_is_missing() {
    let sandbox = Sandbox::new();
    let examples = "examples/known-leaks";
    fs::create_dir_all(sandbox.path(examples)).unwrap();
    sandbox.write(&format!("{examples}/expect.sh"), tree(&format!("{examples}/expect.sh")));
    for (example, hint) in [("rsa", "examples in Rust"), ("ecdsa", "set DEADPAN to a deadpan program")] {
        fs::create_dir(sandbox.path(&format!("{examples}/{example}"))).unwrap();
        let file = format!("{examples}/{example}/run");
        sandbox.write(&file, tree(&file));
        let run = sandbox.shell(&format!("unset DEADPAN; bash {file}"));
        let text = run.stderr();
        assert_eq!(run.code(), Some(2), "{text}");
        assert!(
            text.contains("is not in a copy of the repository of Deadpan\nhint: ") && text.contains(hint),
            "{text}"
        );
    }
}
