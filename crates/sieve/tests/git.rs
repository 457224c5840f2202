//! Compares the verdicts on random paths and random pattern files with `git check-ignore`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use deadpan_disk::{Folder, Walk};
use deadpan_sieve::{Patterns, Rules, Sieve};

/// The number of trees, and the number of cases in all: a case is a pattern file, with paths.
const TREES: usize = 10;
const CASES: usize = 1200;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn path(&mut self) -> String {
        let names = ["a", "b", "ab", "abc", "a.o", "b.o", "-", "]", "ä", "a b", "!a", "#a", "{a,b}", "[a]", "a\\"];
        let count = [1, 1, 2, 2, 3, 4][self.below(6)];
        (0..count).map(|_| self.one(&names)).collect::<Vec<_>>().join("/")
    }

    fn pattern(&mut self) -> String {
        let pieces = [
            "a",
            "b",
            "c",
            "ab",
            ".o",
            "*",
            "*",
            "**",
            "?",
            "/",
            "/",
            "/**/",
            "**/",
            "/**",
            "[a-c]",
            "[!a]",
            "[^b]",
            "[]-]",
            "[[:alpha:]]",
            "[[:punct:]b]",
            "[",
            "\\",
            "\\*",
            " ",
            "-",
            "ä",
            "!",
            "#",
            "{a,b}",
            "\\/",
            "[/]",
        ];
        let sign = ["", "", "", "!", "/"][self.below(5)];
        let end = ["", "", "", "/", " "][self.below(5)];
        let count = 1 + self.below(4);
        let middle: String = (0..count).map(|_| self.one(&pieces)).collect();
        format!("{sign}{middle}{end}")
    }
}

fn git(folder: &Path, args: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(args).current_dir(folder);
    // No file of the user or the system decides.
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        git.env(name, "/dev/null");
    }
    git.env("HOME", folder).env_remove("XDG_CONFIG_HOME").env_remove("GIT_DIR");
    git
}

/// Returns an empty folder with a repository, or `None` if there is no git.
fn repository() -> Option<TempDir> {
    if Command::new("git").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: there is no git");
        return None;
    }
    // On a disk that others use, thousands of small files can take a minute.
    let memory = Some("/dev/shm").filter(|folder| Path::new(folder).is_dir());
    let folder = memory.map_or_else(tempfile::tempdir, tempfile::tempdir_in).expect("a folder");
    assert!(git(folder.path(), &["init", "-q"]).status().expect("git").success());
    Some(folder)
}

/// Lists in several folders, whose patterns take back what others exclude, and the repository's own list.
#[test]
fn a_walk_takes_the_files_that_git_lists() {
    let Some(folder) = repository() else { return };
    let (place, mut random) = (folder.path(), Random(11));
    let write = |path: &Path, random: &mut Random| {
        let lines: Vec<_> = (0..random.below(4)).map(|_| random.pattern()).collect();
        fs::write(path, lines.join("\n")).expect("a file");
    };
    write(&place.join(".git/info/exclude"), &mut random);
    for case in 0..150 {
        let top = place.join(format!("case{case}"));
        for _ in 0..15 {
            let path = top.join(random.path());
            if path.parent().is_some_and(|above| fs::create_dir_all(above).is_ok()) && !path.is_dir() {
                fs::write(&path, "").expect("a file");
                if random.below(3) == 0 {
                    write(&path.with_file_name(".gitignore"), &mut random);
                }
            }
        }
    }
    let listed = git(place, &["ls-files", "-z", "-co", "--exclude-standard"]).output().expect("git").stdout;
    let expected: BTreeSet<_> =
        listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(Vec::from).collect();
    let walked = |begin: &str| {
        let mut walk = Walk::new(Folder::open(&place.join(begin)).expect("a folder")).expect("a walk");
        let mut sieve = Sieve::new(Rules { git: true, ..Rules::default() }, &walk);
        let mut found = BTreeSet::new();
        while walk.advance() {
            if !sieve.takes_name(&walk) {
                continue;
            }
            let about = walk.look().expect("it is there");
            if sieve.takes(&mut walk, &about) && !about.is_folder() {
                found.insert(Path::new(begin).join(walk.path()).into_os_string().into_encoded_bytes());
            }
        }
        assert!(sieve.remarks().is_empty());
        found
    };
    let found = walked("");
    let shown = |path: &&Vec<u8>| String::from_utf8_lossy(path).into_owned();
    let other: Vec<_> = found.symmetric_difference(&expected).collect();
    assert_eq!(other.iter().map(shown).collect::<Vec<_>>(), [""; 0]);
    assert!(found.len() > 300, "{}", found.len());
    // A walk that begins inside of the repository takes the same files, unless the folder itself is ignored.
    for case in (0..150).step_by(10) {
        let begin = format!("case{case}");
        let below = format!("{begin}/").into_bytes();
        let part: BTreeSet<_> = expected.iter().filter(|path| path.starts_with(&below)).cloned().collect();
        assert!(part.is_empty() || walked(&begin) == part, "{begin}");
    }
}

#[test]
fn verdicts_are_those_of_git() {
    let mut random = Random(7);
    let (mut count, mut ignored) = (0, 0);
    for _ in 0..TREES {
        let Some(folder) = repository() else { return };
        let place = folder.path();
        let (mut asked, mut expected) = (Vec::new(), BTreeMap::new());
        for case in 0..CASES / TREES {
            // Each case is a folder with a pattern file of its own.
            let top = format!("case{case}");
            fs::create_dir(place.join(&top)).expect("a folder");
            let lines: Vec<_> = (0..1 + random.below(4)).map(|_| random.pattern()).collect();
            let text = lines.join("\n");
            fs::write(place.join(&top).join(".gitignore"), &text).expect("a file");
            let patterns = Patterns::of_file(text.as_bytes());
            for _ in 0..12 {
                let path = random.path();
                // Some of the paths exist, so that a path is a file or a folder; the others count as files.
                let whole = place.join(&top).join(&path);
                if random.below(3) == 0 && whole.parent().is_some_and(|above| fs::create_dir_all(above).is_ok()) {
                    let _ = if random.below(2) == 0 { fs::create_dir(&whole) } else { fs::write(&whole, "") };
                }
                asked.push((format!("{top}/{path}"), path, text.clone()));
            }
            expected.insert(top, patterns);
        }
        let mut child = git(place, &["check-ignore", "--stdin", "-z", "-v", "-n", "--no-index"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git");
        let mut input = child.stdin.take().expect("a pipe");
        let names: Vec<u8> = asked.iter().flat_map(|(path, ..)| [path.as_bytes(), b"\0"].concat()).collect();
        let writer = std::thread::spawn(move || input.write_all(&names));
        let output = child.wait_with_output().expect("git");
        writer.join().expect("no panic").expect("git reads all");
        let fields: Vec<_> = output.stdout.split(|byte| *byte == 0).collect();
        let answers: Vec<_> = fields.chunks_exact(4).collect();
        assert_eq!(answers.len(), asked.len(), "git answers each question");
        for ((whole, path, text), answer) in asked.iter().zip(answers) {
            assert_eq!(answer[3], whole.as_bytes());
            let is_ignored = !answer[2].is_empty() && answer[2][0] != b'!';
            let is_folder = place.join(whole).is_dir();
            let patterns = &expected[whole.split('/').next().expect("a case")];
            let verdict = patterns.excludes(path.as_bytes(), is_folder);
            assert_eq!(verdict, is_ignored, "{path} (folder: {is_folder}) with\n{text}");
            count += 1;
            ignored += usize::from(is_ignored);
        }
    }
    assert!(count >= 10_000 && ignored > count / 10 && ignored < count * 9 / 10, "{ignored} of {count}");
}
