//! Trees sealed and opened file by file, with `--each`: mostly between folders on this machine.

use crate::sandbox::session::Session;
use crate::sandbox::{Run, Sandbox, skip};
use crate::store::Server;

const SEAL: &str = "deadpan seal --each tree --to out";

/// Returns the files, links and folders below a folder, in order.
#[track_caller]
fn found(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let run =
        sandbox.shell(&format!("cd {folder} && find . -mindepth 1 -printf '%P\\n' | LC_ALL=C sort")).expect(0, "");
    String::from_utf8_lossy(run.stdout()).lines().map(str::to_owned).collect()
}

/// Returns the last line of JSON.
fn summary(run: &Run) -> serde_json::Value {
    let text = String::from_utf8(run.stdout().to_vec()).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Makes a tree and its results.
fn sealed() -> Sandbox {
    let sandbox = Sandbox::with_key("ecc");
    sandbox
        .shell("mkdir -p tree/sub/deep && for name in a b sub/c sub/deep/d; do echo $name > tree/$name; done")
        .expect(0, "");
    sandbox.shell(SEAL).expect(0, "4 objects");
    sandbox
}

#[test]
fn a_mirror_removes_what_has_no_source() {
    let sandbox = sealed();
    // None of these is a result of this command.
    let foreign = "cd out && echo x > notes && echo x > foreign.dpn && cp a.dpn a.other && mkdir ../side && \
        cp a.dpn ../side/gone.dpn && ln -s ../side/gone.dpn link.dpn && ln -s ../side folder && mkdir pipe.dpn.d && \
        mkfifo pipe.dpn && : > $(printf 'bad\\377.dpn') && mkdir kept && touch kept/file";
    sandbox.shell(foreign).expect(0, "");
    sandbox.shell("rm -r tree/a tree/sub/deep").expect(0, "");
    // Without --mirror, results stay.
    sandbox.shell(SEAL).expect(0, "2 there already");
    let mirror = |more: &str| sandbox.shell(&format!("{SEAL} --mirror {more}"));
    let dry = mirror("--dry-run").expect(0, "2 there already, 4 to remove");
    let lines = "seal: would remove out/a.dpn\nseal: would remove out/sub/deep/d.dpn\nseal: would remove out/sub/deep\n\
                 seal: would remove out/pipe.dpn.d\n";
    assert_eq!(String::from_utf8_lossy(dry.stdout()), lines);
    let json = mirror("--dry-run --json").expect(0, "");
    assert_eq!((&summary(&json)["removed"], &summary(&json)["there"]), (&4.into(), &2.into()));
    assert!(sandbox.path("out/a.dpn").exists() && sandbox.path("out/sub/deep/d.dpn").exists());
    let run = mirror("--yes").expect(0, "2 there already, 4 removed");
    assert!(run.stderr().contains("seal: removed out/sub/deep/d.dpn\n"), "{}", run.stderr());
    let left = found(&sandbox, "out");
    let expected = [
        "a.other",
        "b.dpn",
        "folder",
        "foreign.dpn",
        "kept",
        "kept/file",
        "link.dpn",
        "notes",
        "pipe.dpn",
        "sub",
        "sub/c.dpn",
    ];
    assert_eq!(left.iter().filter(|name| !name.starts_with("bad")).collect::<Vec<_>>(), expected);
    assert_eq!(left.len(), expected.len() + 1);
    assert!(sandbox.path("side/gone.dpn").exists());
    let json = mirror("--yes --json").expect(0, "");
    assert_eq!(summary(&json)["removed"], 0);
    sandbox.shell("rm tree/b; echo new > tree/new").expect(0, "");
    let json = mirror("--yes --json").expect(0, "");
    let text = String::from_utf8_lossy(json.stdout()).into_owned();
    assert!(text.contains("\"output\":\"out/b.dpn\"") && text.contains("\"state\":\"removed\""), "{text}");
    assert_eq!((&summary(&json)["removed"], &summary(&json)["made"]), (&1.into(), &1.into()));
    // What is printed has no control characters.
    sandbox
        .shell("name=$(printf 'x\\033[2J'); echo 1 > tree/$name; deadpan seal --each tree --to out; rm tree/$name")
        .expect(0, "");
    let run = mirror("--yes").expect(0, "1 removed");
    assert!(run.stderr().contains("\\u{1b}[2J.dpn") && !run.stderr().contains('\x1b'), "{}", run.stderr());
}

#[test]
fn a_mirror_asks_first() {
    let sandbox = sealed();
    sandbox.shell("rm -r tree/a tree/sub/deep; echo new > tree/new").expect(0, "");
    // Without a terminal, the command is refused before anything is sealed.
    sandbox.shell(&format!("{SEAL} --mirror")).expect(2, "there is no terminal");
    assert!(!sandbox.path("out/new.dpn").exists());
    let args = ["seal", "--each", "tree", "--to", "out", "--mirror"];
    for answer in ["no", "", "yess"] {
        let mut session = Session::start(&sandbox, &args);
        session.expect("out/a.dpn, out/sub/deep/d.dpn, out/sub/deep");
        session.expect("remove 2 results without a source and 1 empty folder from out? (yes or no): ").say(answer);
        let shown = session.end(0);
        assert!(shown.contains("note: nothing was removed from out"), "{shown}");
        assert!(sandbox.path("out/a.dpn").exists() && sandbox.path("out/new.dpn").exists());
    }
    let mut session = Session::start(&sandbox, &args);
    session.expect("from out? (yes or no): ").say("yes");
    assert!(session.end(0).contains("3 removed"));
    assert_eq!(found(&sandbox, "out"), ["b.dpn", "new.dpn", "sub", "sub/c.dpn"]);
    // If nothing is to be removed, there is no question.
    Session::start(&sandbox, &args).end(0);
}

#[test]
fn a_mirror_removes_nothing_in_doubt() {
    let sandbox = sealed();
    let mirror = |more: &str| sandbox.shell(&format!("{SEAL} --mirror --yes {more}"));
    let all = found(&sandbox, "out");
    // What is left out is not gone.
    for more in ["--exclude sub", "--include a", "--exclude-larger 4", "--gitignore"] {
        sandbox.shell("echo b > tree/.gitignore").expect(0, "");
        let run = mirror(more).expect(0, "");
        assert!(!run.stderr().contains("removed"), "{more}: {}", run.stderr());
        sandbox.shell("rm -f tree/.gitignore out/.gitignore.dpn").expect(0, "");
        assert_eq!(found(&sandbox, "out"), all, "{more}");
    }
    sandbox.shell("rm tree/a").expect(0, "");
    // A source that failed: its result is older.
    sandbox.shell("sleep 0.02; echo changed > tree/b").expect(0, "");
    mirror("").expect(2, "note: nothing is removed from out, because not everything could be sealed");
    assert_eq!(found(&sandbox, "out"), all);
    // Results for others.
    sandbox.shell("deadpan keygen --no-passphrase -o other.key").expect(0, "");
    mirror("-r other.pub").expect(2, "nothing is removed");
    assert_eq!(found(&sandbox, "out"), all);
    // A source whose folder became a link, and a source that is a link.
    sandbox.shell("mv tree/sub moved; ln -s ../moved tree/sub; ln -s b tree/a").expect(0, "");
    let run = mirror("--force").expect(0, "1 object");
    assert!(!run.stderr().contains("removed"), "{}", run.stderr());
    assert_eq!(found(&sandbox, "out"), all);
    // A disk that is not mounted: the folder is empty, or missing.
    sandbox.shell("mv tree kept; mkdir -p tree/lost").expect(0, "");
    mirror("").expect(2, "tree: there is no");
    sandbox.shell("rmdir tree/lost out/lost").expect(0, "");
    mirror("").expect(2, "there is nothing to seal below it");
    sandbox.shell("rmdir tree").expect(0, "");
    mirror("").expect(2, "cannot read tree");
    assert_eq!(found(&sandbox, "out"), all);
    sandbox.shell("mv kept tree").expect(0, "");
    // Combinations that cannot work.
    mirror("--shard 0/2").expect(2, "--mirror is for a command that does all the work");
    let words = "--mirror compares results with the files of a folder";
    sandbox.shell("deadpan seal s3://bucket/x/ --to out --mirror --yes").expect(2, words);
    sandbox.shell("deadpan seal tree --mirror --yes").expect(2, words);
    sandbox.shell("deadpan seal --each tree --to out --yes").expect(2, "--mirror");
    sandbox.shell("deadpan open --each out --to back --mirror").expect(2, "hint: ");
}

#[test]
fn a_mirror_removes_nothing_if_a_folder_cannot_be_read() {
    // Root may read every folder, so the commands run without this right.
    let modest =
        if rustix::process::geteuid().is_root() { "setpriv --bounding-set=-dac_override,-dac_read_search" } else { "" };
    let sandbox = sealed();
    sandbox.shell("rm tree/a; chmod 0 tree/sub/deep").expect(0, "");
    if sandbox.shell(&format!("{modest} ls tree")).code() != Some(0)
        || sandbox.shell(&format!("{modest} ls tree/sub/deep")).code() == Some(0)
    {
        return skip("a folder that cannot be read", "this takes setpriv");
    }
    let all = found(&sandbox, "out");
    let mirror = |more: &str| sandbox.shell(&format!("{modest} {SEAL} --mirror --yes {more}"));
    mirror("").expect(4, "nothing is removed from out");
    assert_eq!(found(&sandbox, "out"), all);
    // A folder that is left out need not be readable: the results for what is in it stay.
    mirror("--exclude deep --dry-run").expect(0, "2 there already, 1 to remove");
    sandbox.shell("chmod 700 tree/sub/deep; chmod 0 out/sub").expect(0, "");
    mirror("").expect(4, "out/sub");
    sandbox.shell("chmod 700 out/sub").expect(0, "");
    assert_eq!(found(&sandbox, "out"), all);
    mirror("").expect(0, "1 removed");
}

#[test]
fn a_mirror_in_a_store_removes_what_has_no_source() {
    let Some(server) = Server::gateway("a mirror in a store") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir -p tree/sub tree/none && echo a > tree/a && echo b > tree/sub/b").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    server.run(&sandbox, &seal).expect(0, "note: 1 empty folder is left out: ");
    server.run(&sandbox, &["seal", "--each", "tree", "--to", "s3://bucket/y/"]).expect(0, "2 objects");
    for name in ["x/plain.dpn", "x/notes"] {
        server.run(&sandbox, &["pack", "-o", &format!("s3://bucket/{name}"), "tree/sub"]).expect(0, "");
    }
    sandbox.shell("rm -r tree/sub").expect(0, "");
    server.run(&sandbox, &[&seal[..], &["--mirror"]].concat()).expect(2, "there is no terminal");
    let run = server.run(&sandbox, &[&seal[..], &["--mirror", "--dry-run"]].concat()).expect(0, "1 to remove");
    let lines = String::from_utf8_lossy(run.stdout()).into_owned();
    assert!(lines.contains("seal: would remove s3://bucket/x/sub/b.dpn\n"), "{lines}");
    server.run(&sandbox, &[&seal[..], &["--mirror", "--yes"]].concat()).expect(0, "1 there already, 1 removed");
    let mut keys: Vec<_> = server.keys().into_iter().filter(|key| !key.starts_with("_deadpan/")).collect();
    keys.sort();
    assert_eq!(keys, ["x/a.dpn", "x/notes", "x/plain.dpn", "y/a.dpn", "y/sub/b.dpn"]);
    // An empty source removes nothing.
    sandbox.shell("rm tree/a").expect(0, "");
    server.run(&sandbox, &[&seal[..], &["--mirror", "--yes"]].concat()).expect(2, "there is nothing to seal below it");
    assert!(server.keys().contains(&"x/a.dpn".to_owned()));
}

#[test]
fn empty_folders_come_along_and_the_rest_is_named() {
    let sandbox = sealed();
    let make = "mkdir -p tree/empty/inner tree/sub/none && chmod 750 tree/empty/inner && chmod 500 tree/sub/none && \
                umask 022 && ln -s a tree/link && ln -s /nowhere $(printf 'tree/x\\033[2J') && mkfifo tree/pipe";
    sandbox.shell(make).expect(0, "");
    let note = "note: 2 links and 1 special file are left out: ";
    let dry = sandbox.shell(&format!("{SEAL} --dry-run")).expect(0, note);
    let lines = String::from_utf8_lossy(dry.stdout()).into_owned();
    assert!(lines.contains("/tree/empty/inner/ -> out/empty/inner/\n"), "{lines}");
    assert!(!sandbox.path("out/empty").exists());
    let run = sandbox.shell(SEAL).expect(0, "2 empty folders");
    assert!(run.stderr().contains(note) && run.stderr().contains("tree/link"), "{}", run.stderr());
    assert!(!run.stderr().contains('\x1b'), "{}", run.stderr());
    let modes = "stat -c %a out/empty/inner out/sub/none | tr '\\n' ' '";
    assert_eq!(sandbox.shell(modes).stdout(), b"750 700 ");
    let run = sandbox.shell(SEAL).expect(0, "4 there already");
    assert!(!run.stderr().contains("empty folder"), "{}", run.stderr());
    // With --json, everything is named.
    sandbox.shell("rm -r out/empty").expect(0, "");
    let json = sandbox.shell(&format!("{SEAL} --json")).expect(0, "");
    let text = String::from_utf8_lossy(json.stdout()).into_owned();
    assert_eq!(text.matches("\"state\":\"left_out\"").count(), 3, "{text}");
    assert_eq!((text.matches("\"kind\":\"link\"").count(), text.matches("\"kind\":\"special\"").count()), (2, 1));
    assert!(text.contains("\"state\":\"folder\"") && !text.contains('\x1b'), "{text}");
    assert_eq!((&summary(&json)["left_out"], &summary(&json)["folders"]), (&3.into(), &1.into()));
    // Opening brings the folders back.
    sandbox.shell("deadpan open --each out --to back").expect(0, "4 objects");
    sandbox.shell("rm tree/link tree/pipe tree/x*; diff -r tree back").expect(0, "");
    assert_eq!(sandbox.shell("stat -c %a back/empty/inner").stdout(), b"750\n");
    // Patterns also choose folders.
    sandbox.shell("deadpan seal --each tree --to part --exclude none --exclude a").expect(0, "1 empty folder");
    sandbox.shell("deadpan seal --each tree --to part2 --include 'a' --include inner/").expect(0, "1 empty folder");
    assert_eq!(found(&sandbox, "part2"), ["a.dpn", "empty", "empty/inner"]);
    // A file has the name of the folder.
    sandbox.shell("rm -r out/empty; echo x > out/empty").expect(0, "");
    sandbox.shell(SEAL).expect(2, "a part of out/empty/inner is a link or a file");
    sandbox.shell("rm out/empty; mkdir out/empty; ln -s ../../back out/empty/inner").expect(0, "");
    sandbox.shell(SEAL).expect(2, "out/empty/inner is not a folder, and an empty folder goes there");
    // A mirror removes a folder whose source is gone, and keeps the others.
    sandbox.shell("rm out/empty/inner; rm -r tree/empty").expect(0, "");
    sandbox.shell(&format!("{SEAL} --mirror --yes")).expect(0, "removed out/empty\n");
    assert!(sandbox.path("out/sub/none").exists());
    // A tree of empty folders is no error.
    sandbox.shell("mkdir -p bare/one; deadpan seal --each bare --to bare2").expect(0, "1 empty folder");
    assert_eq!(found(&sandbox, "bare2"), ["one"]);
}

#[test]
fn a_file_that_is_not_sealed_is_no_result() {
    let sandbox = sealed();
    sandbox
        .shell("head -c 5000 /dev/zero > out/a.dpn && head -c 200 out/b.dpn > cut && cp cut out/b.dpn")
        .expect(0, "");
    let run = sandbox.shell(SEAL).expect(1, "2 there already, 2 failed");
    for words in ["out/a.dpn: not a sealed file", "out/b.dpn: ", "it is in the place of a result, and is not replaced"]
    {
        assert!(run.stderr().contains(words), "{words}: {}", run.stderr());
    }
    sandbox.shell(&format!("{SEAL} --force")).expect(0, "2 objects");
    sandbox.shell("deadpan open --verify --each out").expect(0, "4 of 4");
}

#[test]
fn the_target_may_lie_in_the_source() {
    let sandbox = sealed();
    let seal = "cd tree && deadpan seal --each . --to out --mirror --yes";
    sandbox.shell(seal).expect(0, "4 objects");
    let run = sandbox.shell(&format!("rm tree/a; {seal}")).expect(0, "3 there already, 1 removed");
    assert!(run.stderr().contains("removed out/a.dpn"), "{}", run.stderr());
    assert_eq!(found(&sandbox, "tree/out"), ["b.dpn", "sub", "sub/c.dpn", "sub/deep", "sub/deep/d.dpn"]);
    sandbox.shell("cd tree && deadpan diff --each --contents out .").expect(0, "out: no difference");
    // An empty target is not an empty folder of the source.
    sandbox.shell("mkdir tree/new && cd tree && deadpan seal --each . --to new --exclude out").expect(0, "3 objects");
    assert!(!sandbox.path("tree/new/new").exists());
}

#[test]
fn sparse_files_stay_sparse() {
    let sandbox = Sandbox::with_key("ecc");
    let make = "mkdir tree && cd tree && truncate -s 64M sparse && for at in 0 7 4096 9999 16383; do \
                printf x | dd of=sparse bs=4096 seek=$at conv=notrunc status=none; done && truncate -s 100000 zeros && \
                head -c 300000 /dev/urandom > full && : > nothing";
    sandbox.shell(make).expect(0, "");
    if sandbox.shell("test $(stat -c %b tree/sparse) -lt 1000").code() != Some(0) {
        return skip("sparse files", "this file system has no holes");
    }
    sandbox
        .shell("deadpan seal --each tree --to out && deadpan open --each out --to back && diff -r tree back")
        .expect(0, "");
    let blocks = sandbox.shell("cd back; test $(stat -c %b sparse) -lt 1000 && test $(stat -c %b zeros) -lt 100");
    blocks.expect(0, "");
    sandbox.shell("test $(stat -c %b back/full) -ge 580").expect(0, "");
    sandbox.shell("deadpan seal -z --each tree --to small && deadpan open --each small --to back2").expect(0, "");
    sandbox.shell("diff -r tree back2 && test $(stat -c %b back2/sparse) -lt 1000").expect(0, "");
}

/// Checks that a comparison has found differences. They are no failure, and have no hint.
#[track_caller]
fn differs(run: Run, words: &str) -> Run {
    assert_eq!(run.code(), Some(1), "{}", run.stderr());
    assert!(run.stderr().contains(words), "no {words:?} in:\n{}", run.stderr());
    run
}

#[test]
fn results_are_compared_with_their_sources() {
    let sandbox = sealed();
    let diff = |more: &str| sandbox.shell(&format!("deadpan diff --each {more} out tree"));
    diff("").expect(0, "diff: out: no difference");
    diff("--contents").expect(0, "diff: out: no difference");
    // Each kind of difference.
    let change = "cd tree && rm a && echo longer > b && echo C > sub/c && echo new > new && mkdir none && \
                  chmod 600 sub/deep/d && ln -s a link";
    sandbox.shell(change).expect(0, "");
    let run = differs(diff(""), "diff: out: 6 differences");
    let text = String::from_utf8_lossy(run.stdout()).into_owned();
    let words: Vec<_> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
    let expected =
        ["removed  a", "changed  b", "added    new", "changed  sub/c", "mode     sub/deep/d", "added    none/"];
    assert_eq!(words, expected, "{text}");
    assert!(
        run.stderr().contains("note: 1 link is left out: ") && run.stderr().contains("tree/link"),
        "{}",
        run.stderr()
    );
    let json = differs(diff("--json"), "");
    let json = String::from_utf8_lossy(json.stdout()).into_owned();
    for part in ["\"differs\":\"removed\"", "\"path\":\"sub/deep/d\"", "\"kind\":\"link\"", "\"size\":7"] {
        assert!(json.contains(part), "{part}: {json}");
    }
    // What was left out is not compared, and what is only left out is not missing.
    differs(diff("--exclude sub --exclude new --exclude b --exclude none"), "diff: out: 1 difference");
    // The same time, the same length: only the contents tell.
    sandbox.shell("rm -r tree out && mkdir tree && echo one > tree/a && echo two > tree/b").expect(0, "");
    sandbox.shell(SEAL).expect(0, "2 objects");
    sandbox.shell("touch -r tree/a time && echo ONE > tree/a && touch -r time tree/a").expect(0, "");
    let run = differs(diff(""), "1 difference");
    assert_eq!(run.stdout(), b"older    a: it was changed after it was sealed\n");
    let run = differs(diff("--contents"), "1 difference");
    assert!(run.stdout().starts_with(b"changed  a: "), "{}", String::from_utf8_lossy(run.stdout()));
    // Only the attributes of b changed: its contents are the same.
    sandbox.shell("mv tree/b b && mv b tree/b").expect(0, "");
    differs(diff("--exclude a"), "1 difference");
    diff("--contents --exclude a").expect(0, "no difference");
    // A name that cannot be that of a result.
    sandbox.shell("touch $(printf 'tree/bad\\377')").expect(0, "");
    let run = differs(diff("--exclude a --contents"), "1 difference");
    assert_eq!(run.stdout(), b"added    bad\\xff\n");
    let run = differs(diff("--exclude a --contents --json"), "");
    assert!(String::from_utf8_lossy(run.stdout()).contains("\"path_hex\":\"626164ff\""));
    sandbox.shell("rm tree/bad*").expect(0, "");
    // A damaged result, and one that is not sealed.
    sandbox
        .shell(
            "printf x | dd of=out/b.dpn bs=1 seek=1500 conv=notrunc status=none; echo x > out/c.dpn; echo x > tree/c",
        )
        .expect(0, "");
    let run = differs(diff("--contents --exclude a"), "; 2 paths could not be compared");
    assert!(
        run.stderr().contains("out/b.dpn: ") && run.stderr().contains("out/c.dpn: not a sealed"),
        "{}",
        run.stderr()
    );
}

#[test]
fn results_are_compared_without_a_key_as_far_as_possible() {
    let sandbox = sealed();
    sandbox
        .shell("mv home kept; mkdir home; rm tree/a; echo new > tree/new; sleep 0.02; echo x > tree/b")
        .expect(0, "");
    let run = differs(sandbox.shell("deadpan diff --each out tree"), "only times were compared");
    let text = String::from_utf8_lossy(run.stdout()).into_owned();
    assert_eq!(text, "removed  a\nolder    b: it was changed after it was sealed\nadded    new\n");
    sandbox.shell("deadpan diff --each --contents out tree").expect(3, "");
    for (args, words) in [
        ("--each out", "--each compares two folders"),
        ("--each out tree/b", "tree/b is not a folder"),
        ("--each out/b.dpn tree", "out/b.dpn is not a folder"),
        ("--each out nowhere", "cannot read nowhere"),
        ("--each s3://bucket/x/ tree", "is in a store"),
    ] {
        sandbox.shell(&format!("deadpan diff {args}")).expect(2, words);
    }
    // Other formats and forms of results.
    sandbox.shell("rm -r home; mv kept home; echo new > tree/new").expect(0, "");
    sandbox.shell("deadpan keygen --no-passphrase -o age.key").expect(0, "");
    for (form, key) in [("--format age -r age.pub", "-i age.key"), ("-z", ""), ("--armor", ""), ("--hide-length", "")] {
        sandbox.shell(&format!("rm -rf out; deadpan seal --each {form} tree --to out")).expect(0, "");
        for more in ["", "--contents"] {
            sandbox.shell(&format!("deadpan diff --each {key} {more} out tree")).expect(0, "no difference");
        }
        sandbox
            .shell("touch -r tree/b time; tr xy yx < tree/b > b; cat b > tree/b; touch -r time tree/b")
            .expect(0, "");
        differs(sandbox.shell(&format!("deadpan diff --each {key} --contents out tree")), "1 difference");
    }
}

/// In an earlier version, several commands into one new folder reported each file that another of them had made.
#[test]
fn several_commands_into_one_folder_agree() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir tree; for number in $(seq 300); do echo $number > tree/$number; done").expect(0, "");
    sandbox.shell(SEAL).expect(0, "300 objects");
    for line in ["open --each out --to back", "seal --each tree --to again"] {
        let all = format!(
            "for number in 1 2 3 4; do deadpan {line} 2> log$number & done; for job in $(jobs -p); do \
                           wait $job || exit 1; done; cat log* | grep -c error; true"
        );
        let run = sandbox.shell(&all).expect(0, "");
        assert_eq!(run.stdout(), b"0\n", "{}", sandbox.shell("cat log*").stderr());
    }
    sandbox.shell("diff -r tree back && test $(ls again | wc -l) = 300").expect(0, "");
    sandbox.shell("deadpan open --verify --each again").expect(0, "300 of 300");
}

#[test]
fn looking_at_a_tree_shows_no_control_characters() {
    let sandbox = sealed();
    sandbox.shell("cp out/a.dpn $(printf 'out/\\033[2Jx.dpn'); echo x > $(printf 'out/\\033[2Jy.dpn')").expect(0, "");
    for line in ["list --each out", "inspect --each out", "open --verify --each out", "list --json --each out"] {
        let run = sandbox.shell(&format!("deadpan {line}"));
        assert_eq!(run.code(), Some(1), "{line}");
        let text = format!("{}{}", String::from_utf8_lossy(run.stdout()), run.stderr());
        assert!(!text.contains('\x1b') && text.contains("a.dpn"), "{line}: {text}");
        assert!(text.contains("[2Jx.dpn") && text.contains("[2Jy.dpn"), "{line}: {text}");
    }
}

/// The attribute of a result that shows from which version of its source it was made.
const STAMP: &str = "user.deadpan.source";

/// Whether a result has a stamp. If the file system has no attributes, prints that the test is skipped.
fn is_stamped(sandbox: &Sandbox, result: &str) -> bool {
    let mut stamp = [0; 100];
    match rustix::fs::getxattr(sandbox.path(result), STAMP, &mut stamp) {
        Ok(length) => {
            assert_eq!(length, 24);
            true
        }
        Err(_) => {
            skip("stamps of results", "this file system has no attributes");
            false
        }
    }
}

/// Removes the stamp of a result.
fn strip(sandbox: &Sandbox, result: &str) {
    rustix::fs::removexattr(sandbox.path(result), STAMP).unwrap();
}

/// An earlier version compared times only. After a folder was renamed, it kept the result of another, newer file, and
/// `--mirror` removed the only result of that file.
#[test]
fn a_result_belongs_to_the_present_file_of_its_name() {
    let sandbox = Sandbox::with_key("ecc");
    let seal = "deadpan seal --each tree --to out --force --mirror --yes";
    sandbox.shell("mkdir -p tree/cur tree/new; echo OLD > tree/cur/x; echo NEW-and-longer > tree/new/x").expect(0, "");
    sandbox.shell(seal).expect(0, "2 objects");
    if !is_stamped(&sandbox, "out/cur/x.dpn") {
        return;
    }
    sandbox.shell("mv tree/cur tree/old; mv tree/new tree/cur").expect(0, "");
    sandbox.shell(SEAL).expect(2, "tree/cur/x: its result is older");
    sandbox.shell(seal).expect(0, "1 object (15 B) in");
    assert_eq!(found(&sandbox, "out"), ["cur", "cur/x.dpn", "old", "old/x.dpn"]);
    sandbox.shell("deadpan open --each out --to back && diff -r tree back").expect(0, "");
    // A link that is set back to an older folder of files.
    sandbox.shell("ln -s tree/cur current; rm -r back").expect(0, "");
    sandbox.shell("deadpan seal --each current --to links").expect(0, "1 object");
    sandbox.shell("ln -sfn tree/old current; deadpan seal --each --force current --to links").expect(0, "1 object");
    sandbox.shell("deadpan open --each links --to back && diff -r tree/old back").expect(0, "");
    // A change that has the time and the length of the contents before it.
    sandbox.shell("touch -r tree/old/x time; echo ODD > tree/old/x; touch -r time tree/old/x").expect(0, "");
    sandbox.shell(SEAL).expect(2, "tree/old/x: its result is older");
    sandbox.shell(seal).expect(0, "1 object (4 B) in");
    // The results have times in the future, because the clock was wrong.
    sandbox.shell("touch -d 2100-01-01 out/cur/x.dpn out/old/x.dpn").expect(0, "");
    sandbox.shell(SEAL).expect(0, "2 there already");
    sandbox.shell("echo more >> tree/cur/x").expect(0, "");
    sandbox.shell(SEAL).expect(2, "1 there already, 1 failed");
    // Without stamps, only the times are compared.
    strip(&sandbox, "out/old/x.dpn");
    sandbox.shell(SEAL).expect(2, "2 failed");
    sandbox.shell(seal).expect(0, "2 objects");
    ["out/old/x.dpn", "out/cur/x.dpn"].iter().for_each(|result| strip(&sandbox, result));
    sandbox.shell(SEAL).expect(0, "2 there already");
    sandbox.shell("mv tree/cur tree/new; mv tree/old tree/cur; mv tree/new tree/old").expect(0, "");
    sandbox.shell(SEAL).expect(0, "2 there already");
    // A stamp of another machine says nothing.
    sandbox.shell("rm -r out; deadpan seal --each tree --to out; mv home/jobs jobs").expect(0, "2 objects");
    sandbox.shell("mv tree/cur tree/new; mv tree/old tree/cur; mv tree/new tree/old").expect(0, "");
    sandbox.shell(SEAL).expect(0, "2 there already");
    sandbox.shell("mv jobs home/jobs").expect(0, "");
    sandbox.shell(SEAL).expect(2, "2 failed");
}

/// Other recipients leave the stamp in place.
#[test]
fn a_rewrapped_result_still_belongs_to_its_source() {
    let sandbox = sealed();
    if !is_stamped(&sandbox, "out/a.dpn") {
        return;
    }
    sandbox.shell("deadpan keygen --no-passphrase -o other.key").expect(0, "");
    sandbox.shell("deadpan rewrap --mode ecc --recursive -r ecc -r other.pub out").expect(0, "");
    assert!(is_stamped(&sandbox, "out/a.dpn"));
    sandbox.shell("echo A > tree/a; touch -d 2000-01-01 tree/a").expect(0, "");
    let seal = format!("{SEAL} --mode ecc -r ecc -r other.pub");
    sandbox.shell(&seal).expect(2, "3 there already, 1 failed");
    sandbox.shell(&format!("{seal} --force")).expect(0, "3 there already");
}

#[test]
fn a_mirror_removes_only_what_this_machine_has_sealed() {
    let sandbox = sealed();
    if !is_stamped(&sandbox, "out/a.dpn") {
        return;
    }
    let mirror = |more: &str| sandbox.shell(&format!("{SEAL} --mirror --yes {more}"));
    // Names that no source can have, other formats, damaged headers, and files that were put there by hand.
    let foreign = "deadpan keygen --no-passphrase -o age.key && deadpan seal --format age -r age.pub -o age tree/b && \
        cd out && for name in . .. sub/. junk old; do cp --preserve=xattr a.dpn $name.dpn; done && \
        cp b.dpn home-2026.dpn && printf '\\211DPNjunk' > junk.dpn && cat ../age > old.dpn";
    sandbox.shell(foreign).expect(0, "");
    let all = found(&sandbox, "out");
    let run = mirror("--dry-run").expect(0, "4 there already\n");
    let note = "note: 3 files stay: they have no source, and no sign that this machine has sealed them: \
                out/home-2026.dpn, out/junk.dpn, out/old.dpn\n";
    assert!(run.stderr().contains(note), "{}", run.stderr());
    mirror("").expect(0, "4 there already\n");
    assert_eq!(found(&sandbox, "out"), all);
    // A result that was renamed keeps its stamp.
    sandbox.shell("mv out/a.dpn out/z.dpn; rm out/home-2026.dpn out/junk.dpn out/old.dpn").expect(0, "");
    mirror("").expect(0, "3 there already, 1 removed");
    // A missing key for stamps: nothing is recognized.
    sandbox.shell("rm tree/b; mv home/jobs jobs").expect(0, "");
    mirror("").expect(0, "note: 1 file stays: it has no source, and no sign");
    sandbox.shell("mv jobs home/jobs").expect(0, "");
    mirror("").expect(0, "1 removed");
}

/// What the rules leave out by its name is not gone, even if its disk is not mounted.
#[test]
fn a_mirror_keeps_what_is_left_out_by_name() {
    let sandbox = sealed();
    sandbox.shell("mkdir tree/usb && echo x > tree/usb/x && echo y > tree/y.raw").expect(0, "");
    sandbox.shell(SEAL).expect(0, "2 objects");
    sandbox.shell("rm -r tree/usb tree/y.raw tree/a").expect(0, "");
    let mirror = |more: &str| sandbox.shell(&format!("{SEAL} --mirror --yes {more}"));
    for (rules, number) in [
        ("--exclude /usb/ --exclude '*.raw'", 1),
        ("--include b --include /usb", 2),
        ("--exclude '*.raw'", 3),
        ("--exclude '*'", 0),
    ] {
        let run = mirror(&format!("{rules} --dry-run"));
        assert_eq!(run.stdout().iter().filter(|byte| **byte == b'\n').count(), number, "{rules}: {}", run.stderr());
    }
    mirror("--exclude /usb/ --exclude '*.raw'").expect(0, "1 removed");
    assert!(sandbox.path("out/usb/x.dpn").exists() && sandbox.path("out/y.raw.dpn").exists());
    mirror("").expect(0, "3 removed");
    // An empty folder that is left out stays, too.
    sandbox.shell("mkdir out/usb").expect(0, "");
    let run = mirror("--exclude /usb/").expect(0, "");
    assert!(!run.stderr().contains("removed") && sandbox.path("out/usb").exists(), "{}", run.stderr());
    mirror("").expect(0, "1 removed");
}

#[test]
fn a_mirror_stays_on_the_file_system_of_the_target() {
    let sandbox = sealed();
    // The source itself has sealed files of this machine.
    sandbox.shell("cp -r --preserve=xattr out tree/old && mkdir out/bound out/disk").expect(0, "");
    sandbox.shell(SEAL).expect(0, "4 objects");
    let all = found(&sandbox, "tree");
    let shell = |script: &str| sandbox.shell(&format!("unshare -m sh -c \"{script}\""));
    if shell("mount --bind tree/old out/bound").code() != Some(0) {
        return skip("mounts in a target", "this needs root");
    }
    let mirror = format!("{SEAL} --mirror --yes");
    let run = shell(&format!("mount --bind tree/old out/bound && {mirror}")).expect(0, "8 there already");
    assert!(!run.stderr().contains("removed out/bound"), "{}", run.stderr());
    let disk = "mount -t tmpfs none out/disk && cp out/a.dpn out/disk/x.dpn";
    sandbox.shell("mkdir -p out/disk").expect(0, "");
    let run = shell(&format!("{disk} && {mirror} && test -f out/disk/x.dpn")).expect(0, "");
    assert!(!run.stderr().contains("out/disk"), "{}", run.stderr());
    assert_eq!(found(&sandbox, "tree"), all);
    // The same folder under two paths.
    sandbox.shell("mkdir bound").expect(0, "");
    shell("mount --bind tree bound && deadpan seal --each tree --to bound").expect(2, "lie below bound");
    // A result that is also a file of the source stays.
    sandbox.shell("ln out/a.dpn tree/kept; rm tree/a").expect(0, "");
    let run = sandbox.shell(&format!("{mirror} --force")).expect(0, "");
    assert!(sandbox.path("out/a.dpn").exists(), "{}", run.stderr());
}

/// In an earlier version, mirrors at the same time reported what another mirror had removed.
#[test]
fn several_mirrors_agree() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox
        .shell("mkdir -p tree/sub; for number in $(seq 200); do echo $number > tree/sub/$number; done")
        .expect(0, "");
    sandbox.shell(&format!("echo > tree/stays; {SEAL}; rm -r tree/sub")).expect(0, "201 objects");
    let all = format!(
        "for number in 1 2 3 4; do {SEAL} --mirror --yes 2> log$number & done; for job in $(jobs -p); do \
         wait $job || exit 1; done; cat log* | grep -c error; true"
    );
    let run = sandbox.shell(&all);
    assert_eq!(run.stdout(), b"0\n", "{}", String::from_utf8_lossy(sandbox.shell("cat log*").stdout()));
    assert_eq!(found(&sandbox, "out").iter().filter(|name| *name != "sub").collect::<Vec<_>>(), ["stays.dpn"]);
}

#[test]
fn a_mirror_clears_what_killed_runs_have_left() {
    let sandbox = sealed();
    sandbox.shell("mkdir -p out/gone").expect(0, "");
    for left in ["out/.a.dpn", "out/gone/.x.dpn"] {
        sandbox.shell(&format!("cp out/a.dpn {left}.0123456789abcdef.deadpan-part")).expect(0, "");
    }
    sandbox.shell("cp out/a.dpn out/.a.dpn.mine.deadpan-part").expect(0, "");
    let mirror = |more: &str| sandbox.shell(&format!("{SEAL} --mirror --yes {more}"));
    mirror("--dry-run").expect(0, "1 to remove");
    assert!(sandbox.path("out/.a.dpn.0123456789abcdef.deadpan-part").exists());
    let run = mirror("").expect(0, "1 removed");
    assert!(run.stderr().contains("out/.a.dpn.0123456789abcdef.deadpan-part"), "{}", run.stderr());
    let left = found(&sandbox, "out");
    assert_eq!(
        left.iter().filter(|name| name.contains("deadpan-part")).collect::<Vec<_>>(),
        [".a.dpn.mine.deadpan-part"]
    );
    assert!(!sandbox.path("out/gone").exists());
}

#[test]
fn a_source_that_became_a_link_has_another_kind() {
    let sandbox = sealed();
    sandbox
        .shell("rm tree/a; ln -s b tree/a; mv tree/sub moved; ln -s ../moved tree/sub; rm tree/b; mkfifo tree/b")
        .expect(0, "");
    let run = differs(sandbox.shell("deadpan diff --each out tree"), "4 differences");
    let expected = "changed  a: a file became a symlink\nchanged  b: a file became a special file\n\
                    changed  sub/c: a file became a symlink\nchanged  sub/deep/d: a file became a symlink\n";
    assert_eq!(String::from_utf8_lossy(run.stdout()), expected);
    sandbox.shell(&format!("echo x > tree/x; {SEAL} --mirror --yes")).expect(0, "1 object");
    assert!(sandbox.path("out/a.dpn").exists() && sandbox.path("out/sub/c.dpn").exists());
}

#[test]
fn what_sealing_each_file_cannot_do_is_refused() {
    let sandbox = sealed();
    for option in ["--owner", "--xattrs"] {
        let words = format!("{option} is for a folder in one sealed file");
        sandbox.shell(&format!("{SEAL} {option}")).expect(2, &words);
    }
    // The disk of the target is not mounted.
    for line in ["seal --each tree", "seal --each --force tree", "open --each out"] {
        sandbox.shell(&format!("deadpan {line} --to mnt/backup/files")).expect(2, "there is no folder mnt/backup");
        sandbox.shell(&format!("deadpan {line} --to mnt/files/")).expect(2, "make the folder first, with mkdir");
    }
    assert!(!sandbox.path("mnt").exists());
    // A name is escaped once.
    sandbox.shell("echo x > $(printf 'tree/in\\377v')").expect(0, "");
    let run = sandbox.shell(SEAL).expect(1, "in\\xffv: its name cannot be that of a file");
    assert!(!run.stderr().contains("\\\\xff"), "{}", run.stderr());
    let run = sandbox.shell(&format!("{SEAL} --json"));
    assert!(String::from_utf8_lossy(run.stdout()).contains("696eff76"), "{}", String::from_utf8_lossy(run.stdout()));
}

/// Without stamps, times, names and headers decide.
#[test]
fn a_mirror_works_on_a_file_system_without_attributes() {
    let sandbox = sealed();
    sandbox.shell("rm -r out; mkdir out").expect(0, "");
    let shell = |script: &str| sandbox.shell(&format!("unshare -m sh -c \"mount -t ramfs none out && {script}\""));
    if shell("true").code() != Some(0) {
        return skip("a file system without attributes", "this needs root");
    }
    let mirror = format!("{SEAL} --mirror --yes");
    let script = format!(
        "{SEAL} && {SEAL} && rm tree/a && printf x > out/x.dpn && echo longer > tree/b && touch -d 2100-01-01 \
         out/sub/c.dpn && {mirror} --force && find out -type f | LC_ALL=C sort"
    );
    let run = shell(&script).expect(0, "note: 1 file stays: it has no source");
    for words in ["4 there already", "removed out/a.dpn", "seal: 2 objects (13 B) in"] {
        assert!(run.stderr().contains(words), "{words}: {}", run.stderr());
    }
    assert_eq!(run.stdout(), b"out/b.dpn\nout/sub/c.dpn\nout/sub/deep/d.dpn\nout/x.dpn\n");
}
