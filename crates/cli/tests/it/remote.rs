//! Objects in stores. The tests use a real server of S3's protocol on this machine: moto, which `scripts/check`
//! installs.

mod hostile;
mod rewrap;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{LIMIT, PROGRAM, Sandbox, finish};
use crate::store::{Server, between, free_port, sample};

#[test]
fn files_and_folders_go_to_a_store_and_come_back() {
    let Some(server) = Server::start("files and folders in a store") else { return };
    let sandbox = Sandbox::with_key("ecc");
    for length in [0, 1, 300_000, 40_000_000] {
        sandbox.write("plain", sample(length));
        server.run(&sandbox, &["seal", "-f", "plain", "--to", "s3://bucket/a/plain.dpn"]).expect(0, "");
        server.run(&sandbox, &["open", "s3://bucket/a/plain.dpn", "-o", "back", "-f"]).expect(0, "");
        assert!(sandbox.read("back") == sample(length), "{length}");
        server.run(&sandbox, &["open", "--verify", "s3://bucket/a/plain.dpn"]).expect(0, "whole and unchanged");
        // A sealed file can be opened in a store even if it was sealed on the local disk.
        server.run(&sandbox, &["open", "-o", "s3://bucket/clear", "-f", "s3://bucket/a/plain.dpn"]).expect(0, "");
        server.run(&sandbox, &["seal", "s3://bucket/clear", "-f", "-o", "local.dpn"]).expect(0, "");
        let opened = sandbox.run(&["open", "-o", "-", "local.dpn"]).expect(0, "");
        assert!(opened.stdout() == sample(length), "{length}");
    }
    let range = server.run(&sandbox, &["open", "--range", "30000001:77", "s3://bucket/a/plain.dpn"]).expect(0, "");
    assert_eq!(range.stdout(), &sample(40_000_000)[30_000_001..30_000_078]);
    let listed = server.run(&sandbox, &["list", "s3://bucket/a/plain.dpn"]).expect(0, "");
    assert!(String::from_utf8_lossy(listed.stdout()).contains("40000000"), "{listed:?}");
    let inspected = server.run(&sandbox, &["inspect", "--json", "s3://bucket/a/plain.dpn"]).expect(0, "");
    assert!(String::from_utf8_lossy(inspected.stdout()).contains("\"consistent\":true"), "{inspected:?}");

    sandbox.shell("mkdir folder && echo one > folder/one && cp plain folder/two").expect(0, "");
    server.run(&sandbox, &["seal", "folder", "--to", "s3://bucket/a/"]).expect(0, "");
    let one = server.run(&sandbox, &["open", "--only", "folder/one", "-o", "-", "s3://bucket/a/folder.dpn"]);
    assert_eq!(one.expect(0, "").stdout(), b"one\n");
    server.run(&sandbox, &["open", "s3://bucket/a/folder.dpn", "-o", "other"]).expect(0, "");
    sandbox.shell("diff -r folder other").expect(0, "");
    // Without -o, the opened data go into the current folder, and not unencrypted into the store.
    server.run(&sandbox, &["seal", "-o", "s3://bucket/one.dpn", "folder/one"]).expect(0, "");
    server.run(&sandbox, &["open", "s3://bucket/one.dpn"]).expect(0, "");
    assert_eq!(sandbox.read("one"), b"one\n");
    assert_eq!(server.keys(), ["a/folder.dpn", "a/plain.dpn", "clear", "one.dpn"]);
    assert_eq!(server.uploads(), 0);
}

#[test]
fn formats_and_signatures_work_in_a_store() {
    let Some(server) = Server::start("formats and signatures in a store") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.run(&["keygen", "--sign", "--no-passphrase"]).expect(0, "");
    sandbox.write("plain", sample(2_000_000));
    for (number, options) in
        [&["--format", "age"][..], &["--armor"], &["--hide-length"], &["--sign"]].iter().enumerate()
    {
        let place = format!("s3://bucket/{number}");
        server.run(&sandbox, &[&["seal", "plain", "--to", &place][..], options].concat()).expect(0, "");
        let opened = server.run(&sandbox, &["open", "-o", "-", &place]).expect(0, "");
        assert!(opened.stdout() == sample(2_000_000), "{options:?}");
    }
    let required = ["open", "--require-signature", "--verify", "s3://bucket/3"];
    server.run(&sandbox, &required).expect(0, "whole and unchanged");
    server.run(&sandbox, &["open", "--require-signature", "--verify", "s3://bucket/2"]).expect(5, "s3://bucket/2");
}

#[test]
fn what_cannot_work_says_so() {
    let Some(server) = Server::start("errors of a store") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", "face");
    server.run(&sandbox, &["seal", "plain", "--to", "s3://bucket/x.dpn"]).expect(0, "");
    server.ask("PUT", "/bucket/damaged", b"not sealed at all");
    for (args, code, words) in [
        (&["open", "s3://bucket/none"][..], 2, "s3://bucket/none: there is no such object"),
        (&["open", "s3://no-such-bucket/x"], 2, "s3://no-such-bucket/x: there is no such bucket"),
        (&["seal", "plain", "--to", "s3://no-such-bucket/x"], 2, "there is no such bucket"),
        (
            &["seal", "plain", "--to", "s3://bucket/x.dpn"],
            2,
            "s3://bucket/x.dpn: an object with this key exists already",
        ),
        (&["seal", "s3://bucket/x.dpn", "-f", "--to", "s3://bucket/x.dpn"], 2, "is the input and the output"),
        (&["open", "s3://bucket/"], 2, "their results need a place"),
        (&["open", "s3://bucket"], 2, "their results need a place"),
        (&["open", "s3://bucket/a//b"], 2, "between two slashes"),
        (&["open", "s3:///x"], 2, "an address names a bucket"),
        (&["open", "-o", "-", "s3://bucket/damaged"], 1, "s3://bucket/damaged: not a sealed file"),
        (&["open", "http://bucket/x"], 2, "an address begins with s3://"),
        (&["seal", "plain", "--to", "S3://bucket/x"], 2, "an address begins with s3://"),
        (&["open", "s3://../bucket/x.dpn"], 2, "the name of a bucket"),
        (&["keygen", "--no-passphrase", "-o", "s3://bucket/key"], 2, "only files are taken"),
        (&["seal", "--remove-source", "s3://bucket/x.dpn", "-o", "y"], 2, "cannot be removed"),
    ] {
        server.run(&sandbox, args).expect(code, words);
    }
    server.run(&sandbox, &["pack", "-o", "packed", "."]).expect(0, "");
    sandbox.shell("mkdir folder; mv packed folder").expect(0, "");
    server.run(&sandbox, &["seal", "folder", "--to", "s3://bucket/folder.dpn"]).expect(0, "");
    sandbox.shell("rm -r folder").expect(0, "");
    let open = ["open", "s3://bucket/folder.dpn", "--to", "s3://bucket/clear/"];
    server.run(&sandbox, &open).expect(2, "is no place for a folder");
    let mut nobody = server.command(&sandbox, &["open", "-o", "-", "s3://bucket/x.dpn"]);
    nobody.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let start = Instant::now();
    finish(nobody, LIMIT, |_| ()).expect(4, "no credentials were found");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let unreachable = server.command_at(free_port(), &sandbox, &["open", "-o", "-", "s3://bucket/x.dpn"]);
    finish(unreachable, LIMIT, |_| ()).expect(4, "the store cannot be reached");
    let mut profile = server.command(&sandbox, &["open", "-o", "-", "s3://bucket/x.dpn"]);
    finish(profile.env("AWS_PROFILE", "nobody").take(), LIMIT, |_| ()).expect(2, "there is no such profile");
    for (name, value, code, words) in [
        ("AWS_ENDPOINT_URL", "127.0.0.1:5055", 2, "has to be like https://HOST"),
        ("AWS_ENDPOINT_URL", "http://", 2, "has to be like https://HOST"),
        ("AWS_REGION", "a\nb", 2, "AWS_REGION holds white space"),
        ("AWS_SESSION_TOKEN", "token\n", 0, ""),
        ("AWS_SESSION_TOKEN", "", 0, ""),
    ] {
        let mut wrong = server.command(&sandbox, &["open", "--verify", "s3://bucket/x.dpn"]);
        wrong.env(name, value);
        finish(wrong, LIMIT, |_| ()).expect(code, words);
    }
    // Two inputs have the same output. The second input is refused, even with --force.
    sandbox.shell("mkdir a b; cp plain a; cp plain b").expect(0, "");
    let twice = ["seal", "-f", "a/plain", "b/plain", "--to", "s3://bucket/twice/"];
    server.run(&sandbox, &twice).expect(2, "s3://bucket/twice/plain.dpn is the result of another input");
    let inputs = ["seal", "-f", "s3://bucket/clear", "s3://bucket/clear.dpn"];
    server.ask("PUT", "/bucket/clear", b"one");
    server.ask("PUT", "/bucket/clear.dpn", b"two");
    server.run(&sandbox, &inputs).expect(2, "s3://bucket/clear.dpn is another input of this command");
    sandbox.shell("rm -r a b").expect(0, "");
    assert_eq!(sandbox.names(), ["plain"]);
    assert_eq!(
        server.keys(),
        ["clear", "clear.dpn", "clear.dpn.dpn", "damaged", "folder.dpn", "twice/plain.dpn", "x.dpn"]
    );
}

/// Converts a builder reference into a value.
trait Take {
    fn take(&mut self) -> Command;
}

impl Take for Command {
    fn take(&mut self) -> Command {
        std::mem::replace(self, Command::new("true"))
    }
}

#[test]
fn a_store_that_is_busy_is_asked_again() {
    let Some(server) = Server::start("a busy store") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", sample(40_000_000));
    let (port, asked) = between(server.port, true);
    let start = Instant::now();
    let through = |args: &[&str]| finish(server.command_at(port, &sandbox, args), LIMIT, |_| ());
    through(&["seal", "plain", "--to", "s3://bucket/x.dpn"]).expect(0, "");
    assert!(start.elapsed() >= Duration::from_secs(1), "Retry-After was not obeyed");
    through(&["open", "s3://bucket/x.dpn", "-o", "back"]).expect(0, "");
    assert!(sandbox.read("back") == sample(40_000_000) && asked.load(Ordering::Relaxed) > 3);
}

#[test]
fn a_store_that_redirects_is_not_followed() {
    let sandbox = Sandbox::with_key("ecc");
    let (elsewhere, store) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let (there, here) = (elsewhere.local_addr().unwrap(), store.local_addr().unwrap().port());
    thread::spawn(move || {
        for client in store.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 4096]);
            let answer = format!("HTTP/1.1 307 Elsewhere\r\nlocation: http://{there}/x\r\ncontent-length: 0\r\n\r\n");
            let _ = client.write_all(answer.as_bytes());
        }
    });
    let mut command = sandbox.command(PROGRAM, &["open", "-o", "-", "s3://bucket/x"]);
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{here}")).env("AWS_SESSION_TOKEN", "secret");
    command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret").env("NO_PROXY", "127.0.0.1");
    finish(command, LIMIT, |_| ()).expect(4, &format!("it redirects to {there}"));
    elsewhere.set_nonblocking(true).unwrap();
    assert!(elsewhere.accept().is_err(), "the other host was asked");
}

#[test]
fn an_answer_from_another_object_is_an_error() {
    const LENGTH: usize = 1_000_000;
    let sandbox = Sandbox::with_key("ecc");
    // A store that ignores If-Match. If `changes` is set, the store returns a part of another object from the second
    // answer on.
    let run = |changes: bool| {
        let store = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = store.local_addr().unwrap().port();
        thread::spawn(move || {
            for (number, client) in store.incoming().enumerate() {
                let (mut client, mut head) = (client.unwrap(), [0; 4096]);
                let read = client.read(&mut head).unwrap_or(0);
                let text = String::from_utf8_lossy(&head[..read]).to_lowercase();
                let range = text.split("bytes=").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap_or("0-0");
                let (begin, end) = range.split_once('-').unwrap();
                let (begin, end): (usize, usize) = (begin.parse().unwrap(), end.parse().unwrap());
                let (end, tag) = (end.min(LENGTH - 1), if changes { number } else { 0 });
                let answer = format!(
                    "HTTP/1.1 206 Part\r\netag: \"{tag}\"\r\nlast-modified: Thu, 26 Nov 2026 08:00:00 GMT\r\n\
                    content-range: bytes {begin}-{end}/{LENGTH}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    end + 1 - begin
                );
                let _ = client.write_all(&[answer.as_bytes(), &vec![0; end + 1 - begin]].concat());
            }
        });
        let mut command = sandbox.command(PROGRAM, &["seal", "-f", "s3://bucket/x", "-o", "sealed"]);
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")).env("NO_PROXY", "127.0.0.1");
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
        finish(command, Duration::from_secs(100), |_| ())
    };
    run(true).expect(4, "the object was replaced while it was read");
    assert!(sandbox.names().is_empty());
    run(false).expect(0, "");
    assert_eq!(sandbox.names(), ["sealed"]);
}

#[test]
fn an_error_without_an_end_is_cut_off() {
    let sandbox = Sandbox::with_key("ecc");
    let store = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = store.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in store.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(b"HTTP/1.1 400 Bad\r\ntransfer-encoding: chunked\r\n\r\n");
            let chunk = [b"10000\r\n", &[b'x'; 1 << 16][..], b"\r\n"].concat();
            while client.write_all(&chunk).is_ok() {}
        }
    });
    let mut command = sandbox.command(PROGRAM, &["open", "-o", "-", "s3://bucket/x"]);
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")).env("NO_PROXY", "127.0.0.1");
    command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
    finish(command, Duration::from_secs(100), |_| ()).expect(4, "s3://bucket/x: ");
}

#[test]
fn a_range_costs_two_requests() {
    let Some(server) = Server::start("requests for a range") else { return };
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", sample(40_000_000));
    server.run(&sandbox, &["seal", "plain", "--to", "s3://bucket/x.dpn"]).expect(0, "");
    let (port, asked) = between(server.port, false);
    let count = |args: &[&str]| {
        asked.store(0, Ordering::Relaxed);
        let run = finish(server.command_at(port, &sandbox, args), LIMIT, |_| ()).expect(0, "");
        (run, asked.load(Ordering::Relaxed))
    };
    // The range lies in two segments.
    let (run, requests) = count(&["open", "--range", "20950000:65536", "s3://bucket/x.dpn"]);
    assert!(run.stdout() == &sample(40_000_000)[20_950_000..21_015_536] && requests == 2, "{requests}");
    assert_eq!(count(&["inspect", "s3://bucket/x.dpn"]).1, 2, "the beginning, and the last segment's");
    assert_eq!(count(&["open", "s3://bucket/x.dpn", "-o", "back"]).1, 6, "the beginning, and pieces of 8 MiB");
}
