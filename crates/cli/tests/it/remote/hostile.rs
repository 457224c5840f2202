//! Stores that attack the program with the texts of their answers, or with endless answers. The tests of
//! `deadpan-remote` check time limits.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, finish};
use crate::store::Server;

/// Starts a store in which `answer` answers each request. `answer` gets the first line of a request.
fn store(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> u16 {
    let (listener, answer) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(answer));
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, answer) = (client.unwrap(), Arc::clone(&answer));
            thread::spawn(move || {
                let mut head = [0; 1 << 16];
                let read = client.read(&mut head).unwrap_or(0);
                let line = String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or_default().to_owned();
                answer(&line, &mut client);
            });
        }
    });
    port
}

fn run(port: u16, sandbox: &Sandbox, args: &[&str]) -> Run {
    let mut command = sandbox.command(PROGRAM, args);
    Server::settle(port, sandbox, &mut command);
    finish(command, LIMIT, |_| ())
}

/// Commands that read, write or list objects.
const COMMANDS: [&[&str]; 8] = [
    &["open", "-o", "-", "s3://bucket/x.dpn"],
    &["inspect", "s3://bucket/x.dpn"],
    &["list", "s3://bucket/x.dpn"],
    &["rewrap", "-r", "ecc", "s3://bucket/x.dpn"],
    &["verify", "s3://bucket/x.dpn"],
    &["seal", "-r", "ecc", "--force", "plain", "--to", "s3://bucket/x.dpn"],
    &["inspect", "s3://bucket/a/"],
    &["open", "s3://bucket/a/", "--to", "back"],
];

#[test]
fn what_a_store_says_does_not_reach_the_terminal_as_it_is() {
    let words = format!("no\x1b[2J\r\nerror: all is lost\u{202e}\u{200b}\u{9b}2J{}", "x".repeat(240_000));
    let answer = format!("<Error><Code>Strange</Code><Message>{words}</Message></Error>");
    let port = store(move |_, client| {
        let head = format!("HTTP/1.1 400 Bad\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
        let _ = client.write_all(&[head.as_bytes(), answer.as_bytes()].concat());
    });
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", "face");
    for args in COMMANDS {
        let said = run(port, &sandbox, args).expect(4, "").stderr();
        let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
        let has_controls = said.chars().any(|c| c != '\n' && c.is_control() || ['\u{202e}', '\u{200b}'].contains(&c));
        assert!(errors == 1 && said.len() < 1000 && !has_controls, "{args:?}: {said:.2000}");
    }
    let said = run(port, &sandbox, COMMANDS[0]).stderr();
    assert!(said.contains(r"the store says: no\u{1b}[2J\r\nerror: all is lost\u{202e}\u{200b}\u{9b}2Jxxx"), "{said}");
}

#[test]
fn an_answer_of_success_without_an_end_is_cut_off() {
    let (sent, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&sent);
    let port = store(move |line, client| {
        let object = "etag: \"tag\"\r\nlast-modified: Thu, 26 Nov 2026 08:00:00 GMT";
        let (status, body) = match line.split(' ').next().unwrap_or_default() {
            "HEAD" => ("404 None".to_owned(), ""),
            "GET" if line.contains("list-type=2") => ("200 Good".to_owned(), "<ListBucketResult>"),
            "GET" => (format!("206 Part\r\n{object}\r\ncontent-range: bytes 0-327679/1000000"), ""),
            _ => (format!("200 Good\r\n{object}"), "<R><UploadId>id</UploadId></R>"),
        };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 1000000000000000\r\n\r\n{body}");
        let (_, chunk) = (client.write_all(head.as_bytes()), [b'x'; 1 << 16]);
        while !line.starts_with("HEAD") && client.write_all(&chunk).is_ok() {
            counter.fetch_add(chunk.len(), Ordering::Relaxed);
        }
    });
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", vec![0; 9_000_000]);
    for args in COMMANDS {
        run(port, &sandbox, args).expect(4, "the store does not keep to its protocol: it");
        let all = sent.load(Ordering::Relaxed);
        let now = all - counted.swap(all, Ordering::Relaxed);
        // The longest answer is a page of 16 MiB. The buffers of connections hold some more bytes.
        assert!(now < 100_000_000, "{args:?}: {now} bytes");
    }
}

#[test]
fn a_rehearsal_shows_both_names_without_hidden_characters() {
    let port = store(|line, client| {
        let (status, body) = if line.contains("list-type=2") {
            ("200 Good", "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
        } else {
            ("404 None", "")
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        let _ = client.write_all(answer.as_bytes());
    });
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir tree").expect(0, "");
    sandbox.write("tree/a\u{202e}b\u{200b}\u{9b}", "face");
    sandbox.write("tree/c\u{202e}d\u{200b}", "face");
    let seal = ["seal", "-r", "ecc", "--each", "tree", "--dry-run", "--to", "s3://bucket/\u{202e}/"];
    let shown = run(port, &sandbox, &seal).expect(1, r"tree/a\u{202e}b\u{200b}\u{9b}: its name cannot be that");
    let lines = String::from_utf8(shown.stdout().to_vec()).unwrap();
    assert!(lines.contains(r"tree/c\u{202e}d\u{200b} -> s3://bucket/\u{202e}/c\u{202e}d\u{200b}.dpn"), "{lines}");
    let all = lines + &shown.stderr();
    assert!(!all.contains(['\u{202e}', '\u{200b}', '\u{9b}']), "{all}");
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    // Without the second signal, the program waits for five seconds. A busy machine may take longer than the limit now
    // and then.
    assert!((0..5).any(|_| time_after_a_second_signal() < Duration::from_secs(3)));
}

/// Sends two signals. The first one cancels an upload, but the store never answers. Returns the time until the program
/// has ended after the second one.
fn time_after_a_second_signal() -> Duration {
    let (seen, requests) = mpsc::channel();
    let port = store(move |line, client| {
        let method = line.split(' ').next().unwrap_or_default().to_owned();
        if method == "POST" {
            let body = "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>";
            let head = format!("HTTP/1.1 200 Good\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = client.write_all(&[head.as_bytes(), body.as_bytes()].concat());
        } else if method == "HEAD" {
            let _ = client.write_all(b"HTTP/1.1 404 None\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
        let is_silent = matches!(&*method, "PUT" | "DELETE");
        let _ = seen.send(method);
        if is_silent {
            thread::sleep(LIMIT);
        }
    });
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("plain", vec![7; 30_000_000]);
    let mut command = sandbox.command(PROGRAM, &["seal", "-r", "ecc", "plain", "--to", "s3://bucket/x.dpn"]);
    Server::settle(port, &sandbox, &mut command);
    let second = Arc::new(OnceLock::new());
    let sent = Arc::clone(&second);
    let run = finish(command, LIMIT, move |child| {
        let process = Pid::from_raw(child.id() as i32).unwrap();
        thread::spawn(move || {
            let wait_for = |method: &str| requests.iter().find(|seen| seen == method).unwrap();
            wait_for("PUT");
            kill_process(process, Signal::TERM).unwrap();
            wait_for("DELETE");
            // The program treats two signals within a short time as one signal, so the test waits.
            thread::sleep(Duration::from_millis(400));
            sent.set(Instant::now()).unwrap();
            kill_process(process, Signal::TERM).unwrap();
        });
    });
    assert_eq!(run.0.status.signal(), Some(15), "{}", run.stderr());
    second.get().expect("the store saw that the upload was given up").elapsed()
}
