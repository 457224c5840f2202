//! Failures during jobs in stores: a full store, a full disk, wrong clocks, requests without an answer, and sources
//! that are replaced at the worst moment. A result is right or does not exist, and a second run completes the job.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{LIMIT, PROGRAM, Sandbox, finish, skip};
use crate::store::{Fate, Server, meddle, sample, small_disk};

/// Long enough to be made in parts.
const LONG: usize = 80_000_000;

/// Makes a folder with a long file and several short files.
fn tree(sandbox: &Sandbox, short: usize) {
    sandbox.shell("mkdir tree").expect(0, "");
    (0..short).for_each(|i| sandbox.write(&format!("tree/{i:02}"), sample(1000 * i)));
    sandbox.write("tree/long", sample(LONG));
}

#[test]
fn a_source_that_is_replaced_while_its_result_is_written_is_done_again() {
    let Some(server) = Server::start("sources replaced meanwhile") else { return };
    let sandbox = Arc::new(Sandbox::with_key("ecc"));
    // The new files are as long as the old files.
    for number in ["01", "02"] {
        sandbox.write(number, format!("new {number}"));
        sandbox.run(&["seal", number]).expect(0, "");
    }
    for (count, name) in [(3, "few"), (30, "many")] {
        let old = |i: usize| format!("old {i:02}");
        (0..count).for_each(|i| drop(server.ask("PUT", &format!("/bucket/{name}/{i:02}"), old(i).as_bytes())));
        let (port, changed, inside) = (server.port, Mutex::new(Vec::new()), Arc::clone(&sandbox));
        let replaced = meddle(port, move |line| {
            let number = line.strip_prefix(&format!("PUT /bucket/{name}-sealed/")).and_then(|rest| rest.get(..2));
            let is_first = |number: &String| {
                let mut changed = changed.lock().unwrap();
                let is_first = !changed.contains(number);
                changed.push(number.clone());
                is_first
            };
            if let Some(number) = number.filter(|number| ["01", "02"].contains(number)).map(str::to_owned)
                && is_first(&number)
            {
                let (from, to) = (format!("{number}.dpn"), format!("s3://bucket/{name}/{number}"));
                let mut command = inside.command(PROGRAM, &["open", "--force", &from, "-o", &to]);
                Server::settle(port, &inside, &mut command);
                finish(command, LIMIT, |_| ()).expect(0, "");
            }
            Fate::Pass
        });
        let (from, to) = (format!("s3://bucket/{name}/"), format!("s3://bucket/{name}-sealed/"));
        let run = finish(server.command_at(replaced, &sandbox, &["seal", &from, "--to", &to]), LIMIT, |_| ());
        run.expect(0, &format!("{count} objects"));
        server.run(&sandbox, &["open", &to, "--to", name]).expect(0, &format!("{count} objects"));
        for i in 0..count {
            let wanted = if i == 1 || i == 2 { format!("new {i:02}") } else { old(i) };
            assert_eq!(sandbox.read(&format!("{name}/{i:02}")), wanted.as_bytes(), "{name}/{i:02}");
        }
    }
}

#[test]
fn only_trusted_certificates_do_for_encrypted_connections() {
    let Some((server, authority)) = Server::encrypted_gateway("encrypted connections") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox, 40);
    let ask = |host: &str, trusted: bool, args: &[&str]| {
        let mut command = server.command(&sandbox, args);
        command.env("AWS_ENDPOINT_URL", format!("https://{host}:{}", server.port)).env_remove("SSL_CERT_FILE");
        command.env("NO_PROXY", host);
        if trusted {
            command.env("SSL_CERT_FILE", &authority);
        }
        finish(command, LIMIT, |_| ())
    };
    let started = Instant::now();
    let args = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    ask("127.0.0.1", false, &args).expect(4, "certificate cannot be trusted: UnknownIssuer").expect(4, "SSL_CERT_FILE");
    ask("localhost", true, &args).expect(4, "certificate not valid for name \"localhost\"");
    // Asking again would take minutes.
    assert!(started.elapsed() < Duration::from_secs(60), "a wrong certificate is not asked for again");
    assert!(server.keys().is_empty());
    let mut command = server.command(&sandbox, &["list", "s3://bucket/x/"]);
    command.env("AWS_ENDPOINT_URL", format!("https://127.0.0.1:{}", server.port)).env_remove("SSL_CERT_DIR");
    command.env("SSL_CERT_FILE", "/dev/null");
    finish(command, LIMIT, |_| ()).expect(2, "SSL_CERT_FILE=FILE.pem");
    ask("127.0.0.1", true, &args).expect(0, "41 objects");
    ask("127.0.0.1", true, &["open", "s3://bucket/x/", "--to", "back"]).expect(0, "41 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
}

#[test]
fn requests_without_an_answer_are_sent_again() {
    let Some(server) = Server::gateway("requests without an answer") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox, 6);
    let seen = Arc::new(Mutex::new(Vec::new()));
    // Each fault affects only the first request whose text contains the given words.
    let faults = [
        ("PUT /bucket/x/01.dpn", Fate::Silence),
        ("PUT /bucket/x/02.dpn", Fate::Lost),
        ("PUT /bucket/x/03.dpn", Fate::Cut),
        ("PUT /bucket/x/long.dpn?partNumber=2&", Fate::Silence),
        ("PUT /bucket/x/long.dpn?partNumber=3&", Fate::Cut),
        ("PUT /bucket/x/long.dpn?partNumber=4&", Fate::Lost),
        ("POST /bucket/x/long.dpn?uploadId=", Fate::Lost),
        ("GET /bucket/x/04.dpn", Fate::Lost),
        ("GET /bucket/x/05.dpn", Fate::Cut),
        ("GET /bucket?list-type=2", Fate::Lost),
    ];
    let inside = Arc::clone(&seen);
    let port = meddle(server.port, move |line| {
        let mut seen = inside.lock().unwrap();
        let fault = faults.iter().find(|(words, _)| line.contains(words) && !seen.contains(words));
        fault.map_or(Fate::Pass, |(words, fate)| {
            seen.push(words);
            *fate
        })
    });
    for args in
        [["seal", "--each", "tree", "--to", "s3://bucket/x/"], ["open", "--each", "s3://bucket/x/", "--to", "back"]]
    {
        finish(server.command_at(port, &sandbox, &args), LIMIT, |_| ()).expect(0, "7 objects");
    }
    sandbox.shell("diff -r tree back").expect(0, "");
    assert_eq!(server.uploads(), 0);
    assert_eq!(seen.lock().unwrap().len(), faults.len(), "some faults did not happen: {seen:?}");
}

#[test]
fn a_store_that_goes_away_ends_the_job_soon() {
    let Some(server) = Server::gateway("a store that goes away") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox, 100);
    sandbox.shell("rm tree/long; for file in tree/*; do head -c 60000 /dev/zero > $file; done").expect(0, "");
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/", "--bwlimit", "2M"];
    let run = finish(server.command(&sandbox, &seal), LIMIT, |_| {
        let start = Instant::now();
        while !server.keys().iter().any(|key| key.starts_with("x/")) {
            assert!(start.elapsed() < LIMIT, "nothing is made");
            thread::sleep(Duration::from_millis(20));
        }
        drop(server);
    });
    let run = run.expect(4, "the store cannot be reached, and the other objects were left as they are");
    let told = run.stderr();
    assert!(told.contains("note: the store cannot be reached; its requests are tried again"), "{told}");
    let failed = told.matches("the store cannot be reached: ").count();
    assert!((8..60).contains(&failed), "{failed} objects failed: {told}");
}

#[test]
fn some_objects_that_fail_do_not_end_the_job() {
    let Some(server) = Server::gateway("some objects that fail") else { return };
    let sandbox = Sandbox::with_key("ecc");
    for number in 0..60 {
        fs::create_dir_all(server.file("in")).unwrap();
        fs::write(server.file(&format!("in/{number:02}")), b"face").unwrap();
    }
    // For twelve of the results, the connection breaks during each request that writes the result.
    let port = meddle(server.port, |line| {
        let is_one = line.starts_with("PUT /bucket/x/") && (line.contains("0.dpn") || line.contains("5.dpn"));
        if is_one { Fate::Cut } else { Fate::Pass }
    });
    let seal = ["seal", "s3://bucket/in/", "--to", "s3://bucket/x/"];
    let run = finish(server.command_at(port, &sandbox, &seal), LIMIT, |_| ()).expect(4, "48 objects (192 B)");
    assert!(run.stderr().contains("12 failed") && !run.stderr().contains("were left"), "{}", run.stderr());
    server.run(&sandbox, &seal).expect(0, "12 objects (48 B)");
}

#[test]
fn a_full_store_is_told_and_the_job_goes_on_when_there_is_room() {
    let Some(server) = Server::small_gateway("a full store", 250_000_000) else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox, 6);
    fs::write(server.file("ballast"), sample(200_000_000)).unwrap();
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    server.run(&sandbox, &seal).expect(4, "the store has no room left");
    assert!(!server.keys().contains(&"x/long.dpn".to_owned()));
    // The finished parts stay in the store.
    fs::remove_file(server.file("ballast")).unwrap();
    server.run(&sandbox, &seal).expect(0, "1 object");
    server.run(&sandbox, &["open", "s3://bucket/x/", "--to", "back"]).expect(0, "7 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
    assert_eq!(server.uploads(), 0);
}

#[test]
fn a_full_disk_is_told_and_leaves_no_half_of_a_file() {
    let Some(server) = Server::gateway("a full disk") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox, 6);
    server.run(&sandbox, &["seal", "--each", "tree", "--to", "s3://bucket/x/"]).expect(0, "7 objects");
    sandbox.shell("mkdir disk").expect(0, "");
    let Some(with_disk) = small_disk(&sandbox.path("disk"), 20_000_000) else {
        return skip("a full disk", "this system does not allow to mount one");
    };
    let open = format!("'{PROGRAM}' open s3://bucket/x/ --to disk/back; code=$?; find disk -type f; exit $code");
    let args: Vec<_> = with_disk.iter().map(String::as_str).chain(["sh", "-c", &open]).collect();
    let mut command = sandbox.command(args[0], &args[1..]);
    Server::settle(server.port, &sandbox, &mut command);
    let run = finish(command, LIMIT, |_| ()).expect(4, "cannot write disk/back/long: the disk is full");
    let mut found: Vec<_> = std::str::from_utf8(run.stdout()).unwrap().lines().collect();
    found.sort_unstable();
    assert_eq!(found, (0..6).map(|i| format!("disk/back/{i:02}")).collect::<Vec<_>>());
}

/// Makes a library that sets the clock of a program forward.
fn clock(sandbox: &Sandbox) -> Option<PathBuf> {
    sandbox.write(
        "clock.c",
        "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n\
        int clock_gettime(clockid_t clock, struct timespec *now) {\n\
            int failed = syscall(SYS_clock_gettime, clock, now);\n\
            if (clock == CLOCK_REALTIME && getenv(\"AHEAD\")) now->tv_sec += atol(getenv(\"AHEAD\"));\n\
            return failed;\n\
        }\n",
    );
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([sandbox.path("clock.so"), sandbox.path("clock.c")]);
    compiler.status().is_ok_and(|status| status.success()).then(|| sandbox.path("clock.so"))
}

#[test]
fn clocks_that_are_off_by_minutes_change_nothing() {
    let Some(server) = Server::gateway("clocks that are off") else { return };
    let sandbox = Sandbox::with_key("ecc");
    let Some(library) = clock(&sandbox) else { return skip("clocks that are off", "there is no C compiler") };
    tree(&sandbox, 3);
    // The times of the files come from the right clock, not from the clock of these programs.
    thread::sleep(Duration::from_secs(2));
    let at = |seconds: i64, args: &[&str]| {
        let mut command = server.command(&sandbox, args);
        command.env("LD_PRELOAD", &library).env("AHEAD", seconds.to_string());
        finish(command, LIMIT, |_| ())
    };
    for (seconds, name) in [(420_i64, "late"), (-420, "early")] {
        let (to, again) = (format!("s3://bucket/{name}/"), format!("s3://bucket/{name}-again/"));
        let seal = ["seal", "--each", "tree", "--to", &to];
        at(seconds, &seal).expect(0, "4 objects");
        // Another machine has the right time.
        at(0, &seal).expect(0, "0 objects (0 B)");
        let copy = ["seal", &to, "--to", &again];
        at(seconds, &copy).expect(0, "4 objects");
        // The clock of a third machine is wrong in the other direction.
        at(-seconds, &copy).expect(0, "0 objects (0 B)");
        at(seconds, &["open", &to, "--to", name]).expect(0, "4 objects");
        sandbox.shell(&format!("diff -r tree {name}")).expect(0, "");
        // The program notices a change in a store even with a wrong clock.
        at(-seconds, &["seal", "--force", "tree/02", "--to", &format!("{to}01.dpn")]).expect(0, "");
        at(seconds, &copy).expect(2, "01.dpn: its result is older than it is");
        at(-seconds, &copy).expect(2, "01.dpn: its result is older than it is");
        at(seconds, &[&copy[..], &["--force"]].concat()).expect(0, "1 object");
    }
    // A store refuses signatures with a time that is hours off.
    let refused = at(7200, &["seal", "--each", "tree", "--to", "s3://bucket/none/"]);
    refused.expect(4, "the clock of this machine differs too much from the store's").expect(4, "set the clock");
    assert!(!server.keys().iter().any(|key| key.starts_with("none/")));
}

#[test]
fn several_threads_use_a_new_folder_with_a_wrong_clock() {
    let sandbox = Sandbox::with_key("ecc");
    let Some(library) = clock(&sandbox) else { return skip("a wrong clock", "there is no C compiler") };
    tree(&sandbox, 40);
    sandbox.run(&["seal", "--each", "tree", "--to", "sealed"]).expect(0, "41 objects");
    for i in 0..10 {
        let to = format!("back-{i}");
        let mut open = sandbox.command(PROGRAM, &["open", "--each", "sealed", "--to", &to]);
        open.env("LD_PRELOAD", &library).env("AHEAD", "-420");
        finish(open, LIMIT, |_| ()).expect(0, "41 objects");
    }
}

#[test]
fn a_key_that_the_store_does_not_know_is_no_missing_object() {
    let Some(server) = Server::gateway("unknown credentials") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", "face");
    server.run(&sandbox, &["seal", "plain", "--to", "s3://bucket/there"]).expect(0, "");
    let object = "s3://bucket/there";
    for args in [&["seal", "plain", "--to", "s3://bucket/new"][..], &["open", "-o", "-", object], &["inspect", object]]
    {
        let mut command = server.command(&sandbox, args);
        command.env("AWS_ACCESS_KEY_ID", "nobody");
        finish(command, LIMIT, |_| ()).expect(4, "the store does not accept the credentials");
    }
}

#[test]
fn credentials_that_end_meanwhile_end_the_job_and_the_next_run_ends_it() {
    let Some(server) = Server::gateway("credentials that end") else { return };
    let sandbox = Sandbox::with_key("ecc");
    tree(&sandbox, 6);
    let have_ended = AtomicBool::new(false);
    // From the second part on, the signature of each request is wrong.
    let port = meddle(server.port, move |line| {
        let ends = line.contains("partNumber=2&");
        if have_ended.fetch_or(ends, Ordering::Relaxed) || ends { Fate::Forged } else { Fate::Pass }
    });
    let seal = ["seal", "--each", "tree", "--to", "s3://bucket/x/"];
    let run = finish(server.command_at(port, &sandbox, &seal), LIMIT, |_| ());
    run.expect(4, "the store does not accept the credentials");
    assert!(!server.keys().contains(&"x/long.dpn".to_owned()));
    server.run(&sandbox, &seal).expect(0, "in");
    server.run(&sandbox, &["open", "s3://bucket/x/", "--to", "back"]).expect(0, "7 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
    assert_eq!(server.uploads(), 0);
}
