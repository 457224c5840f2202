//! Sealing and opening many objects and long objects, with a real server. The tests run a command again, let several
//! shares work on one object, continue the work of a killed command, and run two commands at the same time.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::sandbox::{LIMIT, Sandbox, finish, skip};
use crate::store::{Server, between, sample};

/// Long enough to be made in parts.
const LONG: usize = 80_000_000;

/// Makes a folder `tree` with files of many lengths, one of them long.
fn tree(sandbox: &Sandbox) {
    sandbox.shell("mkdir -p tree/sub/deep").expect(0, "");
    for (name, length) in
        [("a.csv", 0), ("b.csv", 1), ("sub/c.csv", 300_000), ("sub/d e+%.txt", 77), ("sub/deep/e.csv", 5_000_000)]
    {
        sandbox.write(&format!("tree/{name}"), sample(length));
    }
    sandbox.write("tree/long", sample(LONG));
}

#[test]
fn a_tree_goes_to_a_store_and_back_and_again() {
    Server::both("a tree in a store").for_each(|server| a_tree_goes_to_a_store_and_back_and_again_in(&server));
}

fn a_tree_goes_to_a_store_and_back_and_again_in(server: &Server) {
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox);
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/tree/"];
    let dry = server.run(&sandbox, &[&seal[..], &["--dry-run", "--include", "sub/**", "--exclude", "*.txt"]].concat());
    let dry = dry.expect(0, "2 objects (5.1 MiB) would be done");
    assert_eq!(String::from_utf8_lossy(dry.stdout()).lines().count(), 2);
    // The dry run leaves no objects and no files, not even the key for the job.
    assert_eq!(server.keys(), [""; 0]);
    assert!(!sandbox.path("home/jobs").exists());
    server.run(&sandbox, &seal).expect(0, "6 objects (81 MiB) in");
    server.run(&sandbox, &seal).expect(0, "0 objects (0 B) in");
    server.run(&sandbox, &["open", "s3://bucket/tree/", "--to", "back"]).expect(0, "6 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
    // The files also get their old times and modes back.
    let modified = |path: &str| fs::metadata(sandbox.path(path)).unwrap().modified().unwrap();
    assert_eq!(modified("tree/a.csv"), modified("back/a.csv"));
    server.run(&sandbox, &["open", "s3://bucket/tree/", "--to", "back"]).expect(0, "6 there already");
    // From store to store: opens the sealed objects, and then seals the opened objects again.
    server.run(&sandbox, &["open", "s3://bucket/tree/", "--to", "s3://bucket/clear/"]).expect(0, "6 objects");
    server.run(&sandbox, &["seal", "s3://bucket/clear/", "--to", "s3://bucket/again/"]).expect(0, "6 objects");
    let json = server.run(&sandbox, &["seal", "s3://bucket/clear/", "--to", "s3://bucket/again/", "--json"]);
    let json = json.expect(0, "");
    let last = String::from_utf8_lossy(json.stdout()).lines().last().unwrap().to_owned();
    assert!(last.contains("\"there\":6") && last.contains("\"made\":0") && last.contains("\"summary\":true"), "{last}");
    sandbox.shell("rm -r back").expect(0, "");
    server.run(&sandbox, &["open", "s3://bucket/again/", "--to", "back"]).expect(0, "6 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
    server.run(&sandbox, &["open", "--verify", "s3://bucket/again/long.dpn"]).expect(0, "whole and unchanged");
    let left: Vec<_> = server.keys().into_iter().filter(|key| key.starts_with("_deadpan/")).collect();
    let inspected = server.run(&sandbox, &["inspect", "s3://bucket/tree/"]).expect(0, "");
    assert_eq!(String::from_utf8_lossy(inspected.stdout()).matches("sealed by Deadpan").count(), 6);
    let whole = server.run(&sandbox, &["open", "--verify", "s3://bucket/tree/"]);
    let whole = whole.expect(0, "tree/long.dpn (whole and unchanged)");
    let summary = "\nopen: 6 of 6 objects are whole and unchanged, 0 failed\n";
    assert!(whole.stderr().ends_with(summary), "{}", whole.stderr());
    let json = server.run(&sandbox, &["open", "--verify", "--json", "s3://bucket/tree/"]).expect(0, "");
    let last = String::from_utf8_lossy(json.stdout()).lines().last().unwrap().to_owned();
    assert_eq!(last, r#"{"command":"open","schema":1,"summary":{"failed":0,"whole":6}}"#);
    sandbox.run(&["keygen", "--no-passphrase", "--mode", "ecc", "-o", "bob.key"]).expect(0, "");
    server.run(&sandbox, &["rewrap", "--recursive", "-r", "bob.pub", "s3://bucket/tree/"]).expect(0, "6 changed");
    let again = server.run(&sandbox, &["rewrap", "--recursive", "-r", "bob.pub", "s3://bucket/tree/"]);
    assert_eq!(again.expect(0, "").stderr(), "rewrap: 0 changed, 6 unchanged, 0 failed\n");
    server.run(&sandbox, &["open", "-i", "bob.key", "--verify", "s3://bucket/tree/"]).expect(0, "6 of 6 objects");
    assert!(left.len() == 2 && left.iter().all(|key| key.ends_with("/job")), "{left:?}");
    assert_eq!(server.uploads(), 0);
    server.run(&sandbox, &["cluster", "clean", "s3://bucket"]).expect(0, "");
    assert!(!server.keys().iter().any(|key| key.starts_with("_deadpan/")));
}

#[test]
fn what_changed_and_what_does_not_fit_is_told() {
    let Some(server) = Server::start("changes of many objects") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.run(&["keygen", "--no-passphrase", "--mode", "ecc", "-o", "bob.key"]).expect(0, "");
    sandbox.shell("mkdir tree; echo one > tree/one; echo two > tree/two; ln -s one tree/link").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    server.run(&sandbox, &seal).expect(0, "2 objects (8 B)");
    sandbox.write("tree/two", "changed");
    let later = SystemTime::now() + Duration::from_secs(3600);
    fs::File::options().write(true).open(sandbox.path("tree/two")).unwrap().set_modified(later).unwrap();
    server.run(&sandbox, &seal).expect(2, "tree/two: its result is older than it is, and is not replaced");
    server.run(&sandbox, &[&seal[..], &["--force"]].concat()).expect(0, "1 object (7 B)");
    for rehearsed in [&[][..], &["--dry-run"]] {
        let other = server.run(&sandbox, &[&seal[..], &["-r", "bob.pub"], rehearsed].concat());
        other.expect(2, "this job was begun with other recipients");
    }
    server.ask("PUT", "/bucket/x/damaged.dpn", b"not sealed at all");
    server.ask("PUT", "/bucket/x/other.txt", b"not sealed");
    let opened = server.run(&sandbox, &["open", "s3://bucket/x/", "--to", "back"]);
    opened.expect(1, "s3://bucket/x/damaged.dpn: not a sealed file");
    assert_eq!(sandbox.read("back/two"), b"changed");
    assert_eq!(fs::read_dir(sandbox.path("back")).unwrap().count(), 2);
    for (args, words) in [
        (&["seal", "s3://bucket/x/", "--to", "s3://bucket/x/"][..], "where the results go"),
        (&["seal", "s3://bucket/x/y/", "--to", "s3://bucket/x/"], "where the results go"),
        (&["seal", "--each", "tree", "--to", "tree"], "where the results go"),
        (&["seal", "s3://bucket/x/"], "their results need a place"),
        (&["seal", "s3://bucket/x/", "--to", "s3://bucket/y"], "and not a prefix"),
        (&["seal", "s3://bucket/x/", "tree", "--to", "s3://bucket/y/"], "there are other inputs"),
        (&["seal", "--each", "tree/one", "--to", "s3://bucket/y/"], "--each takes the files of a folder"),
        (&["seal", "--shard", "auto", "s3://bucket/x/", "--to", "s3://bucket/y/"], "no engine says"),
        (&["seal", "--shard", "0/3", "s3://bucket/x/", "--to", "s3://bucket/y/"], "the shares of a job need one key"),
        (&["seal", "--include", "a", "tree"], "--include is for sealing and opening many objects"),
        (
            &["open", "--verify", "--include", "a", "s3://bucket/x/"],
            "--include is for sealing and opening many objects",
        ),
        (&["seal", "tree/one", "--to", "s3://bucket/_deadpan/x"], "below _deadpan/ lies the state of jobs"),
        (&["cluster", "status", "file:///tmp/"], "this names a file, and a place in a store is wanted"),
        (&["open", "s3://bucket/none/", "--to", "none"], "there is nothing to open below it"),
        (&["seal", "--each", "tree", "--to", "s3://bucket/_deadpan/x/"], "lies the state of jobs"),
        (&["seal", "--each", "--include", "{", "tree", "--to", "s3://bucket/y/"], "there is nothing to seal below it"),
        (&["seal", "--each", "--max-memory", "50M", "tree", "--to", "s3://bucket/y/"], "leaves no room"),
        (&["open", "--range", "1:2", "s3://bucket/x/"], "take single files"),
        (&["open", "--verify", "s3://bucket/none/"], "there is no sealed object below it"),
        (&["cluster", "status", "tree"], "no address of a job"),
        (&["cluster", "status", "s3://bucket/_deadpan/none/"], "there is no state of such a job"),
    ] {
        server.run(&sandbox, args).expect(2, words);
    }
}

#[test]
fn what_others_left_there_is_told() {
    let Some(server) = Server::gateway("results of others") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.run(&["keygen", "--no-passphrase", "--mode", "ecc", "-o", "bob.key"]).expect(0, "");
    sandbox.shell("mkdir tree; echo one > tree/a.txt; echo two > tree/b.txt").expect(0, "");
    // A job with a missing source does not leave any state.
    server
        .run(&sandbox, &["seal", "s3://bucket/typo/", "--to", "s3://bucket/x/"])
        .expect(2, "there is nothing to seal");
    assert!(server.keys().is_empty(), "{:?}", server.keys());
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    server.run(&sandbox, &seal).expect(0, "2 objects");
    let again = server.run(&sandbox, &seal).expect(0, "2 there already");
    let told = |args: &[&str]| {
        let output = server.run(&sandbox, &[args, &["--json"]].concat()).expect(0, "");
        String::from_utf8_lossy(output.stdout()).into_owned()
    };
    assert!(told(&seal).contains("\"job_is_new\":false"), "{}", told(&seal));
    assert!(!again.stderr().contains("note: "), "{}", again.stderr());
    let folder = server.keys().into_iter().find_map(|key| Some(key.strip_suffix("/job")?.to_owned())).unwrap();
    let for_bob = [&seal[..], &["-r", "bob.pub"]].concat();
    let refused = server.run(&sandbox, &for_bob).expect(2, "this job was begun with other recipients");
    assert!(refused.stderr().contains(&format!("deadpan cluster clean s3://bucket/{folder}/")), "{}", refused.stderr());
    assert!(refused.stderr().contains("deadpan rewrap --recursive"), "{}", refused.stderr());
    server.run(&sandbox, &["cluster", "clean", &format!("s3://bucket/{folder}/")]).expect(0, "");
    assert!(told(&[&for_bob[..], &["--dry-run"]].concat()).contains("\"job_is_new\":false"));
    server
        .run(&sandbox, &for_bob)
        .expect(0, "this job has not made the results that were there already, and they may be sealed for others");
    server.run(&sandbox, &["cluster", "clean", &format!("s3://bucket/{folder}/")]).expect(0, "");
    assert!(told(&for_bob).contains("\"job_is_new\":true"));
    // An empty object has the name of a result.
    fs::write(server.file("x/b.txt.dpn"), b"").unwrap();
    let short = server
        .run(&sandbox, &for_bob)
        .expect(2, "b.txt: the object in the place of its result is too short to be the result");
    assert!(short.stderr().contains("1 there already, 1 failed"), "{}", short.stderr());
    server.run(&sandbox, &[&for_bob[..], &["--force"]].concat()).expect(0, "1 object");
    server.run(&sandbox, &["open", "-i", "bob.key", "s3://bucket/x/b.txt.dpn", "-o", "b"]).expect(0, "");
    assert_eq!(sandbox.read("b"), b"two\n");
    // For `open`, a pattern may match an object's full name, or the name without `.dpn`.
    for (pattern, name) in [("*.txt", "by-name"), ("*.txt.dpn", "by-ending"), ("b.*", "one")] {
        let args = ["open", "s3://bucket/x/", "--to", name, "--include", pattern, "--exclude", "a.txt"];
        server.run(&sandbox, &[&args[..], &["-i", "bob.key"]].concat()).expect(0, "1 object");
        assert_eq!(sandbox.read(&format!("{name}/b.txt")), b"two\n");
    }
    sandbox.shell("touch \"$(printf 'tree/\\377')\"").expect(0, "");
    server.run(&sandbox, &for_bob).expect(1, "\\xff: its name cannot be that of a file or an object here");
}

#[test]
fn shares_work_on_the_same_objects() {
    Server::both("shares of a job").for_each(|server| shares_work_on_the_same_objects_in(&server));
}

fn shares_work_on_the_same_objects_in(server: &Server) {
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox);
    server.run(&sandbox, &["cluster", "key", "-o", "job.key"]).expect(0, "");
    let share = |share: &str| {
        let args = ["seal", "--each", "tree", "--to", "s3://bucket/x/", "--job-key", "job.key", "--shard", share];
        let mut command = server.command(&sandbox, &args);
        let (index, count) = share.split_once('/').unwrap_or(("1", "3"));
        command.env("JOB_COMPLETION_INDEX", index).env("JOB_COMPLETIONS", count);
        finish(command, LIMIT, |_| ()).expect(0, "")
    };
    share("0/3");
    let status = |options: &[&str]| {
        let run = server.run(&sandbox, &[&["cluster", "status", "s3://bucket"][..], options].concat()).expect(0, "");
        String::from_utf8_lossy(run.stdout()).into_owned()
    };
    let own = status(&["--job-key", "job.key"]);
    assert!(own.contains("/tree/long -> s3://bucket/x/long.dpn: 2 of 5 parts"), "{own}");
    let stranger = status(&[]);
    assert!(stranger.contains("a job with another key"), "{stranger}");
    server.run(&sandbox, &["seal", "--each", "tree", "--to", "s3://bucket/x/"]).expect(2, "a job with another key");
    // Two shares run at the same time.
    thread::scope(|scope| {
        scope.spawn(|| share("auto"));
        scope.spawn(|| share("2/3"));
    });
    let own = status(&["--job-key", "job.key"]);
    assert!(own.contains("/tree -> s3://bucket/x/: no object is half done"), "{own}");
    server.run(&sandbox, &["open", "s3://bucket/x/", "--to", "back"]).expect(0, "6 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
    assert_eq!(server.uploads(), 0);
}

#[test]
fn a_job_that_is_given_up_leaves_nothing() {
    let Some(server) = Server::gateway("a job that is given up") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox);
    server.run(&sandbox, &["cluster", "key", "-o", "job.key"]).expect(0, "");
    let args = ["seal", "--each", "tree", "--to", "s3://bucket/x/", "--job-key", "job.key", "--shard", "0/2"];
    server.run(&sandbox, &args).expect(0, "1 with parts that others have to make");
    assert_eq!(server.uploads(), 1);
    let cleaned = server.run(&sandbox, &["cluster", "clean", "s3://bucket", "--job-key", "job.key"]).expect(0, "");
    let cleaned = String::from_utf8_lossy(cleaned.stdout()).into_owned();
    let told = "the state of the job was removed, and 1 unfinished upload was ended; results stay";
    assert!(cleaned.contains(told), "{cleaned}");
    let nothing = server.run(&sandbox, &["cluster", "clean", "s3://bucket", "--job-key", "job.key"]).expect(0, "");
    let nothing = String::from_utf8_lossy(nothing.stdout()).into_owned();
    assert!(nothing.contains("no job has left anything here"), "{nothing}");
    assert_eq!(server.uploads(), 0);
    assert!(!server.keys().iter().any(|key| key.starts_with("_deadpan/") || key.contains("long")));
}

#[test]
fn a_rehearsal_makes_no_key() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkdir tree; echo face > tree/face").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "out"];
    sandbox.run(&[&seal[..], &["--dry-run"]].concat()).expect(0, "you have no hybrid key; sealing makes one");
    assert!(!sandbox.path("home").exists() && !sandbox.path("out").exists());
    sandbox.run(&seal).expect(0, "you had no hybrid key; made one");
    sandbox.shell("rm home/default out/*").expect(0, "");
    sandbox.run(&[&seal[..], &["--dry-run"]].concat()).expect(0, "1 object");
    assert!(!sandbox.path("home/default").exists());
}

#[test]
fn the_same_hint_is_given_once() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir sealed; for name in a b c; do echo $name > sealed/$name.dpn; done").expect(0, "");
    let run = sandbox.run(&["open", "--each", "sealed", "--to", "out"]).expect(1, "open: 0 objects (0 B) in");
    let told = run.stderr();
    assert_eq!((told.matches("error: ").count(), told.matches("hint: ").count()), (3, 1), "{told}");
    // The message does not advise the user to run the command again, since the command would fail again.
    assert!(!told.contains("run the command again"), "{told}");
}

#[test]
fn what_is_killed_at_thirty_moments_goes_on() {
    let Some(server) = Server::gateway("killed jobs") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", sample(LONG));
    server.run(&sandbox, &["seal", "plain", "--to", "s3://bucket/source.dpn"]).expect(0, "");
    // The moments are spread over the time that the last command took that was not killed.
    let start = Instant::now();
    server.run(&sandbox, &["seal", "plain", "--to", "s3://bucket/other.dpn"]).expect(0, "");
    let mut whole = start.elapsed();
    let (mut killed, mut resumed) = (0, 0);
    for moment in 0..30 {
        let (name, signal) = (format!("s3://bucket/{moment}"), if moment % 5 == 4 { "-INT" } else { "-KILL" });
        let seal = ["seal", "plain", "--to", &name];
        let open = ["open", "s3://bucket/source.dpn", "--to", &name];
        let args: &[&str] = if moment % 3 == 2 { &open } else { &seal };
        let start = Instant::now();
        let run = finish(server.command(&sandbox, args), LIMIT, |child| {
            thread::sleep(whole * (moment % 10 + 1) / 12);
            // The signal goes to the process group of the program.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status();
        });
        let was_killed = run.code() != Some(0);
        killed += usize::from(was_killed);
        whole = if was_killed { whole } else { start.elapsed() };
        let key = moment.to_string();
        let is_there = server.keys().contains(&key);
        resumed += usize::from(was_killed && server.keys().iter().any(|key| key.contains("/manifest")));
        // The store may still execute a request that the program sent before it was killed.
        let again = server.run(&sandbox, args);
        if is_there || again.code() != Some(0) {
            again.expect(2, "exists already");
        }
        if moment % 3 == 2 {
            server.run(&sandbox, &["seal", "-f", &name, "-o", "again.dpn"]).expect(0, "");
            let clear = sandbox.run(&["open", "-o", "-", "again.dpn"]).expect(0, "");
            assert!(clear.stdout() == sample(LONG), "{name}");
        } else {
            server.run(&sandbox, &["open", "--verify", &name]).expect(0, "whole and unchanged");
        }
    }
    assert!(killed >= 10, "only {killed} were killed before they ended");
    assert!(resumed >= 2, "only {resumed} had something to go on with");
    server.run(&sandbox, &["cluster", "clean", "s3://bucket"]).expect(0, "");
    assert!(server.uploads() <= 2, "{} uploads were left behind", server.uploads());
}

#[test]
fn parts_that_are_there_are_not_sent_again() {
    let Some(server) = Server::gateway("parts that are there") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir tree; head -c 300000000 /dev/urandom > tree/long").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/", "--job-key", "job.key", "--shard", "0/2"];
    sandbox.run(&["cluster", "key", "-o", "job.key"]).expect(0, "");
    server.run(&sandbox, &seal).expect(0, "with parts that others have to make");
    let parts = || {
        let parts = server.parts();
        assert!(parts.len() > 5, "{parts:?}");
        parts.iter().map(|file| (file.clone(), fs::metadata(file).unwrap().modified().unwrap())).collect::<Vec<_>>()
    };
    let before = parts();
    server.run(&sandbox, &seal).expect(0, "with parts that others have to make");
    assert_eq!(before, parts());
    server.run(&sandbox, &[&seal[..7], &["--shard", "1/2"]].concat()).expect(0, "1 object");
    server.run(&sandbox, &["open", "--verify", "s3://bucket/x/long.dpn"]).expect(0, "whole and unchanged");
}

#[test]
fn an_upload_that_is_being_completed_is_waited_for() {
    let Some(server) = Server::gateway("a slow end of an upload") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir tree; head -c 70000000 /dev/urandom > tree/long").expect(0, "");
    sandbox.run(&["cluster", "key", "-o", "job.key"]).expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/", "--job-key", "job.key", "--shard"];
    server.run(&sandbox, &[&seal[..], &["0/2"]].concat()).expect(0, "with parts that others have to make");
    let manifest = server.keys().into_iter().find(|key| key.ends_with("/manifest")).unwrap();
    let (manifest, result) = (server.file(&manifest), server.file("x/long.dpn"));
    let manifest = format!("'{}'", manifest.display());
    sandbox.shell(&format!("cp -a {manifest} manifest.kept")).expect(0, "");
    server.run(&sandbox, &[&seal[..], &["1/2"]].concat()).expect(0, "1 object");
    assert!(server.keys().iter().all(|key| !key.ends_with("/manifest")), "{:?}", server.keys());
    // While a slow store puts the parts together, the upload no longer exists, and the object does not exist yet. The
    // following lines produce the state in which neither the upload nor the object exists.
    let bytes = fs::read(&result).unwrap();
    let result = format!("'{}'", result.display());
    sandbox
        .shell(&format!("mv {result} long.kept; mkdir -p $(dirname {manifest}); cp -a manifest.kept {manifest}"))
        .expect(0, "");
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_secs(3));
            sandbox.shell(&format!("mkdir -p $(dirname {result}); mv long.kept {result}")).expect(0, "");
        });
        server.run(&sandbox, &seal[..seal.len() - 1]).expect(0, "1 there already");
    });
    assert!(bytes == fs::read(server.file("x/long.dpn")).unwrap(), "it was made again");
}

#[test]
fn ctrl_c_takes_a_stream_back() {
    // If a part arrives while the upload ends, versitygw keeps the part.
    let Some(server) = Server::start("streams and Ctrl-C") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox);
    let args = ["seal", "--each", "tree", "--format", "age", "--to", "s3://bucket/x/", "--bwlimit", "15M"];
    // The program waits five seconds for the server to remove the parts. If a busy server takes longer, the program
    // reports that parts remain.
    let is_clean = (0..3).any(|_| {
        let before = server.uploads();
        let run = finish(server.command(&sandbox, &args), LIMIT, |child| {
            // Waits until the upload has begun and the program has received the name of the upload.
            let start = Instant::now();
            while server.uploads() == before && start.elapsed() < LIMIT {
                thread::sleep(Duration::from_millis(50));
            }
            thread::sleep(Duration::from_secs(1));
            let _ = Command::new("kill").args(["-INT", "--", &format!("-{}", child.id())]).status();
        });
        assert_ne!(run.code(), Some(0));
        let is_clean = server.uploads() == before;
        assert!(is_clean || run.stderr().contains("remain in the store"), "{}", run.stderr());
        is_clean
    });
    assert!(is_clean, "parts were left behind each time");
    server.run(&sandbox, &args[..7]).expect(0, "1 object");
    server.run(&sandbox, &["open", "s3://bucket/x/", "--to", "back"]).expect(0, "6 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
}

#[test]
fn two_drivers_at_once_make_one_object() {
    // moto answers some requests of this test with internal errors, so the test uses versitygw.
    let Some(server) = Server::gateway("two drivers at once") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox);
    for round in 0..4 {
        let to = format!("s3://bucket/{round}/");
        let drive = || {
            let run = server.run(&sandbox, &["seal", "--each", "tree", "--to", &to]);
            // The later command may find that an object exists already.
            if run.code() != Some(0) {
                run.expect(4, "another command makes it, too: let this end, and run the command again");
            }
        };
        thread::scope(|scope| {
            scope.spawn(drive);
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100 * round));
                drive();
            });
        });
        let back = format!("back{round}");
        server.run(&sandbox, &["seal", "--each", "tree", "--to", &to]).expect(0, "6 there already");
        server.run(&sandbox, &["open", &to, "--to", &back]).expect(0, "6 objects");
        sandbox.shell(&format!("diff -r tree {back}")).expect(0, "");
    }
}

#[test]
fn a_busy_store_gets_everything_in_the_end() {
    let Some(server) = Server::start("many objects and a busy store") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox);
    let (port, _) = between(server.port, true);
    let through = |args: &[&str]| finish(server.command_at(port, &sandbox, args), LIMIT, |_| ());
    through(&["seal", "--each", "tree", "--to", "s3://bucket/x/"]).expect(0, "6 objects");
    through(&["open", "s3://bucket/x/", "--to", "back"]).expect(0, "6 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
}

#[test]
fn what_looks_done_and_is_not_is_found() {
    let Some(server) = Server::gateway("changes that hide") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.run(&["keygen", "--sign", "--no-passphrase"]).expect(0, "");
    sandbox.shell("mkdir tree other; echo one > tree/a; echo two > other/b").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    server.run(&sandbox, &seal).expect(0, "1 object");
    // The source changes within the same second as the first run, and is then replaced by a file with an old time.
    sandbox.shell("echo changed > tree/a").expect(0, "");
    server.run(&sandbox, &seal).expect(2, "its result is older than it is");
    server.run(&sandbox, &[&seal[..], &["--force"]].concat()).expect(0, "1 object (8 B)");
    sandbox.shell("echo again > old; touch -d 2020-01-01 old; mv old tree/a").expect(0, "");
    server.run(&sandbox, &seal).expect(2, "its result is older than it is");
    server.run(&sandbox, &[&seal[..], &["--force"]].concat()).expect(0, "1 object (6 B)");
    // In a folder, the times of results are compared, too.
    sandbox.run(&["seal", "--each", "tree", "--to", "out"]).expect(0, "1 object");
    sandbox.run(&["seal", "--each", "tree", "--to", "out"]).expect(0, "1 there already");
    sandbox.shell("sleep 0.01; echo new > tree/a").expect(0, "");
    sandbox.run(&["seal", "--each", "tree", "--to", "out"]).expect(2, "its result is older than it is");
    // A command with another source or with other signatures is another job.
    let other = ["seal", "--each", "other", "--to", "s3://bucket/x/"];
    server.run(&sandbox, &other).expect(2, "this job was begun with another source");
    server.run(&sandbox, &[&seal[..], &["--sign"]].concat()).expect(2, "this job was begun with another signature");
    // Two sources have the same result.
    sandbox
        .shell("mkdir both; deadpan seal -o both/y.dpn other/b && deadpan seal --format age -o both/y.age other/b")
        .expect(0, "");
    for _ in 0..2 {
        sandbox.run(&["open", "--each", "both", "--to", "opened"]).expect(2, "another source has the same result");
    }
    // A link leads out of the folder.
    sandbox
        .shell("mkdir -p in/sub target outside; deadpan seal -o in/sub/z.dpn other/b; ln -s ../outside target/sub")
        .expect(0, "");
    let words = "a part of target/sub/z is a link or a file, and results go into real folders";
    sandbox.run(&["open", "--each", "in", "--to", "target"]).expect(2, words);
    // An entry that is no file is not replaced, even with --force.
    sandbox.shell("rm target/sub; mkdir -p target/sub; ln -s ../../other/b target/sub/z").expect(0, "");
    let words = "target/sub/z is not a file, and results replace files only";
    sandbox.run(&["open", "--each", "in", "--to", "target", "--force"]).expect(2, words);
    sandbox.shell("test -z \"$(ls outside)\"").expect(0, "");
    sandbox.shell("touch 'tree/bad'$(printf '\\377')").expect(0, "");
    server.run(&sandbox, &[&seal[..], &["--force"]].concat()).expect(1, "its name cannot be that of a file");
}

#[test]
fn state_from_elsewhere_is_refused() {
    let Some(server) = Server::gateway("copied state") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir one two; echo x > one/x; echo y > two/y").expect(0, "");
    server.run(&sandbox, &["seal", "--each", "one", "--to", "s3://bucket/one/"]).expect(0, "");
    let note = server.keys().into_iter().find(|key| key.ends_with("/job")).unwrap();
    server.run(&sandbox, &["seal", "--each", "two", "--to", "s3://bucket/two/"]).expect(0, "");
    let other = server.keys().into_iter().find(|key| key.ends_with("/job") && *key != note).unwrap();
    fs::write(server.file(&other), fs::read(server.file(&note)).unwrap()).unwrap();
    let again = server.run(&sandbox, &["seal", "--each", "two", "--to", "s3://bucket/two/"]);
    again.expect(2, "this state is damaged, or belongs elsewhere");
    // An attacker who lacks the job's key cannot cause other users of the job to hash a passphrase with a high cost.
    let costly = sandbox.shell("echo a passphrase | deadpan seal -p --passphrase-fd 0 -o - one/x");
    fs::write(server.file(&other), costly.stdout()).unwrap();
    let again = server.run(&sandbox, &["seal", "--each", "two", "--to", "s3://bucket/two/"]);
    again.expect(2, "this state belongs to a job with another key");
    server
        .run(&sandbox, &["cluster", "clean", "s3://bucket"])
        .expect(2, "belongs to a job with another key, and stays");
    server.run(&sandbox, &["cluster", "clean", "--force", "s3://bucket"]).expect(0, "");
    assert_eq!(server.keys(), ["one/x.dpn", "two/y.dpn"]);
}

#[test]
fn hostile_names_are_told_and_the_rest_is_done() {
    let Some(server) = Server::start("hostile names") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", "face");
    sandbox.run(&["seal", "plain"]).expect(0, "");
    let sealed = sandbox.read("plain.dpn");
    let hostile = ["x//y", "x/./z", "x/%2e%2e/%2e%2e/outside", "x/%01"];
    for name in ["good", "x/also%20good", "x/a%5Cb", "-dash", ".hidden"].iter().chain(&hostile) {
        server.ask("PUT", &format!("/bucket/in/{name}.dpn"), &sealed);
    }
    server.ask("PUT", "/bucket/in/folder/", b"");
    let opened = server.run(&sandbox, &["open", "s3://bucket/in/", "--to", "back"]);
    let opened = opened.expect(1, "its name cannot be that of a file or an object here");
    let told = opened.stderr();
    assert!(told.contains("5 objects") && told.contains("4 failed"), "{told}");
    for name in ["good", "x/also good", "x/a\\b", "-dash", ".hidden"] {
        assert_eq!(sandbox.read(&format!("back/{name}")), b"face", "{name}");
    }
    assert!(!sandbox.path("outside").exists() && !sandbox.path("back/../../outside").exists());
}

#[test]
fn a_listing_of_nothing_but_odd_names_ends() {
    let Some(server) = Server::start("odd names") else { return };
    let sandbox = Sandbox::with_key("ecc");
    for key in ["in/a//b.dpn", "in/folder/", "_deadpan//x"] {
        server.ask("PUT", &format!("/bucket/{key}"), b"data");
    }
    let name = "its name cannot be that of a file or an object here";
    let seal = server.run(&sandbox, &["seal", "s3://bucket/in/", "--to", "s3://bucket/out/"]).expect(1, name);
    assert!(seal.stderr().contains("in/folder/: its name") && seal.stderr().contains("2 failed"), "{}", seal.stderr());
    server.run(&sandbox, &["open", "s3://bucket/in/", "--to", "back"]).expect(1, name);
    server.run(&sandbox, &["open", "--verify", "s3://bucket/in/"]).expect(2, "in/a//b.dpn");
    server.run(&sandbox, &["cluster", "status", "s3://bucket"]).expect(0, "");
}

#[test]
fn no_result_lies_among_the_state() {
    let Some(server) = Server::gateway("results among the state") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir -p tree/_deadpan/abc; echo x > tree/_deadpan/abc/job; echo y > tree/y").expect(0, "");
    let seal = server.run(&sandbox, &["seal", "--each", "tree", "--to", "s3://bucket/"]);
    seal.expect(1, "its name cannot be that of a file or an object here");
    assert!(!server.keys().iter().any(|key| key.contains("abc")), "{:?}", server.keys());
}

#[test]
fn what_is_no_file_is_told() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir tree; echo x > tree/x; ln -s x tree/link; mkfifo tree/pipe").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "out"];
    let run = sandbox.run(&seal).expect(0, "note: 1 link and 1 special file are left out: ");
    assert!(run.stderr().contains("/tree/link, ") && run.stderr().contains("/tree/pipe\n"), "{}", run.stderr());
    sandbox
        .run(&["seal", "--each", "/proc/sys/vm", "--to", "proc", "--include", "swappiness"])
        .expect(4, "its length is not known before it is read");
    assert!(!sandbox.path("proc/swappiness.dpn").exists());
    sandbox
        .shell(&format!("rm -r out; {} --dry-run > /dev/full", seal.join(" ").replacen("seal", "deadpan seal", 1)))
        .expect(4, "cannot write");
}

#[test]
fn a_folder_that_cannot_be_read_does_not_stop_the_others() {
    // Root may read every folder, so the commands run without this right.
    let modest =
        if rustix::process::geteuid().is_root() { "setpriv --bounding-set=-dac_override,-dac_read_search" } else { "" };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir -p tree/closed; echo x > tree/x; chmod 0 tree/closed").expect(0, "");
    if sandbox.shell(&format!("{modest} ls tree")).code() != Some(0)
        || sandbox.shell(&format!("{modest} ls tree/closed")).code() == Some(0)
    {
        return skip("a folder that cannot be read", "this takes setpriv");
    }
    let seal = |more: &str| sandbox.shell(&format!("{modest} deadpan seal --each tree --to out {more}"));
    seal("").expect(4, "tree/closed: permission denied");
    assert!(sandbox.path("out/x.dpn").exists());
    seal("--exclude closed/").expect(0, "1 there already");
    sandbox.shell("chmod 700 tree/closed").expect(0, "");
}

#[test]
fn the_same_source_written_again_begins_anew() {
    let Some(server) = Server::gateway("a source that is written again") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", sample(LONG));
    sandbox.run(&["seal", "plain"]).expect(0, "");
    // Only an object that was written through the store has an ETag.
    let write = || server.run(&sandbox, &["open", "-f", "plain.dpn", "-o", "s3://bucket/source"]).expect(0, "");
    write();
    server.run(&sandbox, &["cluster", "key", "-o", "job.key"]).expect(0, "");
    let seal = ["seal", "s3://bucket/", "--include", "source", "--to", "s3://bucket/x/", "--job-key", "job.key"];
    server.run(&sandbox, &[&seal[..], &["--shard", "0/2"]].concat()).expect(0, "1 with parts that others have to make");
    thread::sleep(Duration::from_millis(1100));
    // The second write changes the time of the object, but not its ETag.
    write();
    server.run(&sandbox, &seal).expect(0, "1 object");
    assert_eq!(server.uploads(), 0);
}

#[test]
fn json_tells_why_a_job_ended() {
    let Some(server) = Server::gateway("an error in JSON") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir tree; echo x > tree/x").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://nothing/x/", "--json"];
    let run = server.run(&sandbox, &seal);
    assert_eq!((run.code(), run.stderr()), (Some(2), String::new()), "one object tells all");
    let summary: serde_json::Value = serde_json::from_slice(run.stdout()).unwrap();
    assert_eq!((&summary["summary"], &summary["exit"]), (&true.into(), &2.into()), "{summary}");
    assert!(summary["error"].as_str().is_some_and(|error| error.contains("no such bucket")), "{summary}");
}

#[test]
fn a_source_that_changes_is_not_mixed() {
    let Some(server) = Server::gateway("a source that changes") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("one", sample(LONG));
    sandbox.write("other", vec![7; LONG]);
    sandbox.run(&["seal", "one", "other"]).expect(0, "");
    server.run(&sandbox, &["open", "one.dpn", "-o", "s3://bucket/source"]).expect(0, "");
    let seal = ["seal", "s3://bucket/source", "--to", "s3://bucket/x.dpn", "--bwlimit", "30M", "--max-memory", "90M"];
    let run = finish(server.command(&sandbox, &seal), LIMIT, |_| {
        thread::sleep(Duration::from_millis(1500));
        server.run(&sandbox, &["open", "-f", "other.dpn", "-o", "s3://bucket/source"]).expect(0, "");
    });
    run.expect(4, "it changed while it was read");
    assert!(!server.keys().contains(&"x.dpn".to_owned()));
    server.run(&sandbox, &seal[..4]).expect(0, "");
    server.run(&sandbox, &["open", "s3://bucket/x.dpn", "-o", "back"]).expect(0, "");
    assert!(sandbox.read("back") == vec![7; LONG]);
    assert_eq!(server.uploads(), 0, "the upload of the older version stays");
}

/// In an earlier version, results that were sealed for other recipients were treated as complete. As a result, a former
/// colleague could still read the results, and a new colleague could not.
#[test]
fn results_that_are_there_for_others_are_told() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("mkdir -p tree/a && echo 1 > tree/a/one && echo 2 > tree/two").expect(0, "");
    for name in ["alice", "bob"] {
        let make = format!("deadpan keygen --no-passphrase -o {name}.key && deadpan keys add {name} {name}.pub");
        sandbox.shell(&make).expect(0, "");
    }
    let seal = |more: &str| sandbox.shell(&format!("deadpan seal --each {more} tree --to out"));
    seal("-r alice -r hybrid").expect(0, "2 objects");
    for again in ["-r alice -r hybrid", "-r hybrid -r alice --force", "-r hybrid -r alice.pub -r alice", "-R both"] {
        sandbox.shell("cat alice.pub home/hybrid.pub > both").expect(0, "");
        let run = seal(again).expect(0, "2 there already");
        assert!(!run.stderr().contains("note: "), "{}", run.stderr());
    }
    let refused = "is there already, and sealed for other recipients";
    for other in ["", "-r alice", "-r bob -r hybrid", "-r alice -r bob -r hybrid", "-p --passphrase-file alice.pub"] {
        for rehearsal in ["", "--dry-run"] {
            let run = seal(&format!("{other} {rehearsal}")).expect(2, refused);
            assert!(run.stderr().contains("2 sealed for other recipients"), "{}", run.stderr());
            assert!(!run.stderr().contains("failed"), "{}", run.stderr());
        }
    }
    let run = seal("-r bob -r hybrid --json");
    let summary = run.stdout().split(|byte| *byte == b'\n').find(|line| line.windows(9).any(|it| it == b"\"summary\""));
    let summary: serde_json::Value = serde_json::from_slice(summary.unwrap_or_default()).unwrap();
    assert_eq!((&summary["for_others"], &summary["failed"], &summary["exit"]), (&2.into(), &2.into(), &2.into()));
    // The hint is a command that repairs the results. The test runs this command.
    let run = seal("-r bob -r hybrid");
    let hint = "deadpan rewrap --recursive --to bob --to hybrid out";
    assert!(run.stderr().contains(hint), "{}", run.stderr());
    sandbox.shell(hint).expect(0, "2 changed");
    seal("-r bob -r hybrid").expect(0, "2 there already");
    sandbox.run(&["open", "-i", "bob.key", "-o", "-", "out/a/one.dpn"]).expect(0, "");
    // `rewrap -p` would keep the old recipients, so it is not the advice.
    let run = seal("-p --passphrase-file alice.pub");
    assert!(run.stderr().contains("again with --force") && !run.stderr().contains("rewrap"), "{}", run.stderr());
    // With --force, the results are made again from their sources, and only those.
    let again = "note: 2 results were sealed for other recipients, and are made again";
    seal("-r alice -r hybrid --force --dry-run").expect(0, "2 results were sealed for other recipients, and would be");
    sandbox.run(&["open", "-i", "bob.key", "-o", "-", "out/two.dpn"]).expect(0, "");
    sandbox.shell("cp out/two.dpn out/three.dpn").expect(0, "");
    seal("-r alice -r hybrid --force").expect(0, again);
    sandbox.run(&["open", "-i", "bob.key", "-o", "-", "out/two.dpn"]).expect(3, "");
    sandbox.run(&["open", "-i", "alice.key", "-o", "-", "out/two.dpn"]).expect(0, "");
    sandbox.run(&["open", "-i", "bob.key", "-o", "-", "out/three.dpn"]).expect(0, "");
    // The command in the hint is one for a shell.
    sandbox.shell("mv out 'out side'").expect(0, "");
    let run = sandbox.shell("deadpan seal --each -r bob -r hybrid tree --to 'out side'").expect(2, refused);
    assert!(run.stderr().contains("--to hybrid 'out side'; or seal"), "{}", run.stderr());
    sandbox.shell("mv 'out side' out").expect(0, "");
    // If none of the recipients is the user's own key, the program can see only the number and the kinds of recipients.
    sandbox.shell("rm -r out").expect(0, "");
    seal("-r alice").expect(0, "2 objects");
    seal("-r bob").expect(0, "2 results were there already, and may be sealed for others");
    seal("").expect(2, refused);
}

/// In an earlier version, a pattern for a folder did not exclude the files in the folder, and no message reported this.
#[test]
fn patterns_match_folders_and_idle_ones_are_told() {
    let sandbox = Sandbox::with_key("hybrid");
    let make = "mkdir -p tree/node_modules/x tree/a/node_modules && echo 1 > tree/node_modules/x/1 && \
                echo 2 > tree/a/node_modules/2 && echo 3 > tree/a/3";
    sandbox.shell(make).expect(0, "");
    let dry = |options: &str| {
        let run = sandbox.shell(&format!("deadpan seal --each --dry-run {options} tree --to out")).expect(0, "");
        (String::from_utf8(run.stdout().to_vec()).unwrap(), run.stderr())
    };
    for options in ["--exclude node_modules/", "--exclude node_modules", "--include '*' --exclude 'node_*/'"] {
        let (lines, notes) = dry(options);
        assert_eq!(lines.lines().count(), 1, "{options}: {lines}");
        assert!(lines.contains("tree/a/3 ->") && !notes.contains("note: "), "{options}: {lines}{notes}");
    }
    let (lines, notes) = dry("--exclude nodule/ --exclude '!*.o' --include '*'");
    assert_eq!(lines.lines().count(), 3);
    assert!(notes.contains("note: no name matches the pattern nodule/\n"), "{notes}");
    assert!(notes.contains("note: no name matches the pattern !*.o\n") && !notes.contains("pattern *\n"), "{notes}");
    let (lines, _) = dry("--exclude '/node_modules'");
    assert_eq!(lines.lines().count(), 2);
    let (_, notes) = dry("--exclude nodule/ --json");
    assert!(!notes.contains("note: "), "{notes}");
}
