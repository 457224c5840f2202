//! Changes of recipients of objects. The payload stays in the store.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{LIMIT, Run, Sandbox, finish};
use crate::store::{SLOW_DOWN, Server, sample};
use deadpan_seal::Header;

/// The maximum number of bytes that the program and the store exchange, in both directions, for an object of any
/// length.
const MOST: usize = 11_000_000;

/// Sends a request with extra headers, and returns the answer's head and body.
fn send(port: u16, head: &str, body: &[u8]) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let service = if head.starts_with("POST / ") { "iam" } else { "s3" };
    let head = format!(
        "{head}host: localhost\r\ncontent-length: {}\r\nconnection: close\r\nauthorization: AWS4-HMAC-SHA256 \
        Credential=key/20261126/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    (String::from_utf8(answer).unwrap().to_lowercase(), body)
}

impl Server {
    fn object(&self, key: &str) -> Vec<u8> {
        let (head, body) = send(self.port, &format!("GET /bucket/{key} HTTP/1.1\r\n"), b"");
        assert!(head.starts_with("http/1.1 200"), "{head}");
        body
    }
}

/// Returns an answer in place of the server's answer, or `None` to let the server answer.
type Hook = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// A proxy between the program and the server that counts bytes.
struct Proxy {
    port: u16,
    bytes: Arc<AtomicUsize>,
    /// The heads of all requests, in lower case.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(server: &Server, hook: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, to) = (listener.local_addr().unwrap().port(), server.port);
        let (bytes, heads) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (hook, counter, list): (Arc<Hook>, _, _) = (Arc::new(hook), Arc::clone(&bytes), Arc::clone(&heads));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (hook, counter, list) = (Arc::clone(&hook), Arc::clone(&counter), Arc::clone(&list));
                thread::spawn(move || pass(client.unwrap(), to, &*hook, &counter, &list));
            }
        });
        Self { port, bytes, heads }
    }

    fn run(&self, server: &Server, sandbox: &Sandbox, args: &[&str]) -> Run {
        finish(server.command_at(self.port, sandbox, args), LIMIT, |_| ())
    }

    fn count(&self, is_counted: impl Fn(&str) -> bool) -> usize {
        self.heads.lock().unwrap().iter().filter(|head| is_counted(head)).count()
    }
}

/// Passes one request on.
fn pass(mut client: TcpStream, server: u16, hook: &Hook, counter: &AtomicUsize, list: &Mutex<Vec<String>>) {
    let (mut request, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let end = loop {
        match client.read(&mut buffer) {
            Ok(read @ 1..) => request.extend_from_slice(&buffer[..read]),
            _ => return,
        }
        if let Some(end) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse::<usize>().unwrap());
    while request.len() < end + 4 + length {
        match client.read(&mut buffer) {
            Ok(read @ 1..) => request.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
    list.lock().unwrap().push(head.clone());
    let answer = hook(&head).unwrap_or_else(|| {
        let mut server = TcpStream::connect(("127.0.0.1", server)).unwrap();
        let line = request.windows(2).position(|bytes| bytes == b"\r\n").unwrap() + 2;
        server.write_all(&[&request[..line], b"connection: close\r\n", &request[line..]].concat()).unwrap();
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).unwrap();
        answer
    });
    counter.fetch_add(request.len() + answer.len(), Ordering::Relaxed);
    let _ = client.write_all(&answer);
}

fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).into_bytes()
}

fn is_copy(head: &str) -> bool {
    head.contains("\r\nx-amz-copy-source:")
}

fn is_completion(head: &str) -> bool {
    head.starts_with("post ") && head.contains("uploadid=")
}

/// Makes a sandbox with a key of the user, and `bob.key` with `bob.pub`.
fn keys() -> Sandbox {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.run(&["keygen", "--mode", "ecc", "--no-passphrase", "-o", "bob.key"]).expect(0, "");
    sandbox
}

fn header_of(sealed: &[u8]) -> usize {
    usize::try_from(Header::read(sealed).unwrap().length()).unwrap()
}

fn same_payload(one: &[u8], other: &[u8]) -> bool {
    one[header_of(one)..] == other[header_of(other)..]
}

const X: &str = "s3://bucket/a/x%20%C3%A4.dpn";
/// The path of [`X`] in the requests of these tests.
const AT_X: &str = "a/x%2520%25C3%25A4.dpn";

#[test]
fn recipients_of_objects_change_and_change_back() {
    let Some(server) = Server::start("other recipients of objects") else { return };
    let sandbox = keys();
    let run = |args: &[&str]| server.run(&sandbox, args);
    for length in [0, 1, 300_000, 9 << 20, 12 << 20, 40_000_000] {
        sandbox.write("plain", sample(length));
        run(&["seal", "-f", "plain", "--to", X]).expect(0, "");
        let sealed = server.object(AT_X);
        run(&["open", "-i", "bob.key", "--verify", X]).expect(3, "");
        run(&["rewrap", "-r", "bob.pub", X]).expect(0, "");
        let both = server.object(AT_X);
        assert!(sealed != both && same_payload(&sealed, &both), "{length}");
        for key in [&[][..], &["-i", "bob.key"]] {
            let opened = run(&[&["open", "-o", "-", X], key].concat()).expect(0, "");
            assert!(opened.stdout() == sample(length), "{length} {key:?}");
        }
        // The user's own key is removed and added again.
        run(&["rewrap", "--to", "bob.pub", X]).expect(2, "none of your keys would open");
        run(&["rewrap", "--to", "bob.pub", "--force", X]).expect(0, "who could open it before");
        run(&["open", "--verify", X]).expect(3, "");
        run(&["rewrap", "-r", "bob.pub", X]).expect(3, "");
        run(&["open", "-i", "bob.key", "--verify", X]).expect(0, "whole and unchanged");
        run(&["rewrap", "-i", "bob.key", "--to", "ecc", X]).expect(0, "");
        run(&["open", "--verify", X]).expect(0, "whole and unchanged");
        assert!(same_payload(&sealed, &server.object(AT_X)), "{length}");
        assert_eq!(server.uploads(), 0);
    }
}

#[test]
fn headers_of_objects_become_longer_and_shorter() {
    let Some(server) = Server::start("longer headers of objects") else { return };
    let sandbox = keys();
    sandbox.run(&["keygen", "--mode", "ecc", "--no-passphrase", "-o", "carol.key"]).expect(0, "");
    sandbox
        .shell("for i in $(seq 400); do deadpan keygen --mode ecc --no-passphrase -o $i.key; done 2> log")
        .expect(0, "");
    sandbox.shell("for i in $(seq 400); do cat $i.pub; done > many; rm [0-9]*").expect(0, "");
    let run = |args: &[&str]| server.run(&sandbox, args);
    for (format, length) in [("deadpan", 300_000), ("deadpan", 12 << 20), ("age", 12 << 20), ("age", 5 << 20)] {
        sandbox.write("plain", sample(length));
        run(&["seal", "-f", "--format", format, "plain", "--to", X]).expect(0, "");
        let sealed = server.object(AT_X);
        run(&["rewrap", "-R", "many", "-r", "bob.pub", X]).expect(0, "");
        let longer = server.object(AT_X);
        assert!(longer.len() > sealed.len() && same_payload(&sealed, &longer), "{format} {length}");
        let opened = run(&["open", "-i", "bob.key", "-o", "-", X]).expect(0, "");
        assert!(opened.stdout() == sample(length), "{format} {length}");
        run(&["rewrap", "--to", "carol.pub", "-f", X]).expect(0, "");
        let shorter = server.object(AT_X);
        assert!(same_payload(&sealed, &shorter), "{format} {length}");
        assert_eq!(shorter.len() < longer.len(), format == "age");
        run(&["open", "-i", "bob.key", "--verify", X]).expect(3, "");
        let opened = run(&["open", "-i", "carol.key", "-o", "-", X]).expect(0, "");
        assert!(opened.stdout() == sample(length), "{format} {length}");
    }
    for format in ["deadpan", "age"] {
        sandbox.write("plain", sample(1_000_000));
        run(&["seal", "-f", "--armor", "--format", format, "plain", "--to", X]).expect(0, "");
        let sealed = server.object(AT_X);
        run(&["rewrap", "-r", "bob.pub", X]).expect(0, "");
        let changed = server.object(AT_X);
        assert!(sealed != changed && sealed[..30] == changed[..30], "{format}");
        let opened = run(&["open", "-i", "bob.key", "-o", "-", X]).expect(0, "");
        assert!(opened.stdout() == sample(1_000_000), "{format}");
    }
}

#[test]
fn the_payload_stays_in_the_store() {
    let Some(server) = Server::start("the payload of an object that stays") else { return };
    let sandbox = keys();
    let proxy = Proxy::start(&server, |_| None);
    // The lengths are around the length of the first part, and long enough that the store copies several pieces.
    for length in [(5 << 20) - 5_000, (5 << 20) - 100, 5 << 20, (5 << 20) + 5_000, 60_000_000, 150_000_000] {
        sandbox.write("plain", sample(length));
        server.run(&sandbox, &["seal", "-f", "plain", "--to", X]).expect(0, "");
        let sealed = server.object(AT_X);
        let before = (proxy.bytes.load(Ordering::Relaxed), proxy.count(is_copy));
        proxy.run(&server, &sandbox, &["rewrap", "-r", "bob.pub", X]).expect(0, "");
        let bytes = proxy.bytes.load(Ordering::Relaxed) - before.0;
        assert!(bytes <= MOST, "{length}: {bytes}");
        let changed = server.object(AT_X);
        assert!(sealed.len() == changed.len() && sealed != changed && same_payload(&sealed, &changed), "{length}");
        let pieces = (sealed.len().saturating_sub(5 << 20)).div_ceil(64 << 20);
        assert_eq!(proxy.count(is_copy) - before.1, pieces, "{length}");
    }
    server.run(&sandbox, &["open", "-i", "bob.key", "--verify", X]).expect(0, "whole and unchanged");
    // S3 accepts only requests whose special headers are signed.
    let heads = proxy.heads.lock().unwrap();
    for head in heads.iter().filter(|head| is_copy(head)) {
        let signed = head.split("signedheaders=").nth(1).unwrap().split(',').next().unwrap();
        for line in head.lines().filter(|line| line.starts_with("x-amz-")) {
            assert!(signed.split(';').any(|name| Some(name) == line.split(':').next()), "{head}");
        }
    }
    let completions: Vec<_> = heads.iter().filter(|head| is_completion(head)).collect();
    assert!(completions.iter().all(|head| head.contains("\r\nif-match: \"")) && !completions.is_empty());
}

/// Decides whether another client replaces the object before this request.
type Moment = fn(&str) -> bool;

#[test]
fn an_object_that_is_replaced_meanwhile_stays() {
    let Some(server) = Server::start("objects that are replaced meanwhile") else { return };
    let sandbox = keys();
    let port = server.port;
    let replace = move || send(port, "PUT /bucket/x HTTP/1.1\r\n", b"another").0;
    let is_head = |head: &str| head.starts_with("head ");
    let is_put = |head: &str| head.starts_with("put ") && !head.contains("uploadid=");
    let moments: [(usize, Moment); 4] =
        [(12 << 20, is_copy), (12 << 20, is_head), (300_000, is_head), (300_000, is_put)];
    for (number, (length, moment)) in moments.into_iter().enumerate() {
        sandbox.write("plain", sample(length));
        server.run(&sandbox, &["seal", "-f", "plain", "--to", "s3://bucket/x"]).expect(0, "");
        let proxy = Proxy::start(&server, move |head| {
            if moment(head) {
                replace();
            }
            None
        });
        let run = proxy.run(&server, &sandbox, &["rewrap", "-r", "bob.pub", "s3://bucket/x"]);
        let run = run.expect(4, "s3://bucket/x: the object was replaced while it was read");
        assert!(run.stderr().contains("run it again"), "{number}: {run:?}");
        assert_eq!(server.object("x"), b"another", "{number}");
        assert_eq!(server.uploads(), 0, "{number}");
    }
    // A store that supports the condition `If-Match` refuses the last request.
    let proxy = |status: &'static str, code: &'static str| {
        sandbox.write("plain", sample(12 << 20));
        server.run(&sandbox, &["seal", "-f", "plain", "--to", "s3://bucket/x"]).expect(0, "");
        Proxy::start(&server, move |head| {
            let asks = is_completion(head) && head.contains("\r\nif-match:");
            asks.then(|| answer(status, &format!("<Error><Code>{code}</Code></Error>")))
        })
    };
    let args = ["rewrap", "-r", "bob.pub", "s3://bucket/x"];
    for (status, code) in [
        ("412 Precondition Failed", "PreconditionFailed"),
        ("409 Conflict", "ConditionalRequestConflict"),
        ("404 Not Found", "NoSuchKey"),
    ] {
        let refusing = proxy(status, code);
        let sealed = server.object("x");
        refusing.run(&server, &sandbox, &args).expect(4, "the object was replaced while it was read");
        assert!(server.object("x") == sealed && server.uploads() == 0, "{code}");
    }
    // A store that does not support the condition `If-Match` gets the last request again without the condition.
    let proxy = proxy("501 Not Implemented", "NotImplemented");
    proxy.run(&server, &sandbox, &args).expect(0, "");
    assert_eq!(proxy.count(is_completion), 2);
    server.run(&sandbox, &["open", "-i", "bob.key", "--verify", "s3://bucket/x"]).expect(0, "whole and unchanged");
}

#[test]
fn a_change_that_is_interrupted_leaves_the_old_object() {
    let Some(server) = Server::start("interrupted changes of objects") else { return };
    let sandbox = keys();
    sandbox.write("plain", sample(12 << 20));
    server.run(&sandbox, &["seal", "plain", "--to", "s3://bucket/x"]).expect(0, "");
    let sealed = server.object("x");
    // The store is slow with the copy.
    let proxy = Proxy::start(&server, |head| {
        if is_copy(head) {
            thread::sleep(Duration::from_secs(60));
        }
        None
    });
    for (signal, left) in [("-INT", 0), ("-TERM", 0), ("-KILL", 1)] {
        let before = proxy.count(is_copy);
        let command = server.command_at(proxy.port, &sandbox, &["rewrap", "-r", "bob.pub", "s3://bucket/x"]);
        let run = finish(command, LIMIT, |child| {
            while proxy.count(is_copy) == before {
                thread::sleep(Duration::from_millis(10));
            }
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status();
        });
        assert_eq!(run.code(), None, "{signal}: {run:?}");
        assert!(server.object("x") == sealed, "{signal}");
        assert_eq!(server.uploads(), left, "{signal}");
    }
}

#[test]
fn copies_that_fail_are_errors_and_copies_that_are_put_off_are_asked_again() {
    const ARGS: [&str; 4] = ["rewrap", "-r", "bob.pub", "s3://bucket/x"];
    let Some(server) = Server::start("copies that fail") else { return };
    let sandbox = keys();
    sandbox.write("plain", sample(12 << 20));
    let fresh = || {
        server.run(&sandbox, &["seal", "-f", "plain", "--to", "s3://bucket/x"]).expect(0, "");
        server.object("x")
    };
    let error = |code: &str| {
        answer("200 OK", &format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>no</Message></Error>"))
    };
    for (code, words) in [
        ("InvalidRequest", "s3://bucket/x: the store says: no"),
        ("PreconditionFailed", "the object was replaced"),
        ("AccessDenied", "the store refuses access"),
    ] {
        let (sealed, answer) = (fresh(), error(code));
        let proxy = Proxy::start(&server, move |head| is_copy(head).then(|| answer.clone()));
        proxy.run(&server, &sandbox, &ARGS).expect(4, words);
        assert_eq!((proxy.count(is_copy), server.uploads()), (1, 0), "{code}");
        assert!(server.object("x") == sealed, "{code}");
    }
    // The store temporarily refuses one request, in several ways.
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\n<Copy".to_vec();
    for (answer, pause) in [(error("InternalError"), 0), (SLOW_DOWN.to_vec(), 1), (cut, 0), (Vec::new(), 0)] {
        fresh();
        let first = AtomicUsize::new(0);
        let shown = String::from_utf8_lossy(&answer).into_owned();
        let proxy = Proxy::start(&server, move |head| {
            (is_copy(head) && first.fetch_add(1, Ordering::Relaxed) == 0).then(|| answer.clone())
        });
        let start = Instant::now();
        proxy.run(&server, &sandbox, &ARGS).expect(0, "");
        assert!(start.elapsed() >= Duration::from_secs(pause), "Retry-After was not obeyed");
        assert_eq!(proxy.count(is_copy), 2, "{shown}");
        let opened = server.run(&sandbox, &["open", "-i", "bob.key", "-o", "-", "s3://bucket/x"]).expect(0, "");
        assert!(opened.stdout() == sample(12 << 20), "{shown}");
    }
    // The store refuses every request once.
    fresh();
    let seen = Mutex::new(Vec::new());
    let proxy = Proxy::start(&server, move |head| {
        let line = head.lines().next().unwrap().to_owned();
        let (mut seen, is_new) = (seen.lock().unwrap(), |seen: &[String]| !seen.contains(&line));
        is_new(&seen).then(|| {
            seen.push(line.clone());
            SLOW_DOWN.to_vec()
        })
    });
    proxy.run(&server, &sandbox, &ARGS).expect(0, "");
    server.run(&sandbox, &["open", "-i", "bob.key", "--verify", "s3://bucket/x"]).expect(0, "whole and unchanged");
}

#[test]
fn what_an_object_has_beside_its_data_is_kept() {
    let Some(server) = Server::start("metadata of objects") else { return };
    let sandbox = keys();
    for length in [300_000, 12 << 20] {
        sandbox.write("plain", sample(length));
        sandbox.run(&["seal", "-f", "plain"]).expect(0, "");
        let head = "PUT /bucket/x HTTP/1.1\r\ncontent-type: application/x-deadpan\r\nx-amz-meta-owner: Alice\r\n\
            cache-control: no-cache\r\nx-amz-storage-class: STANDARD_IA\r\nx-amz-tagging: a=b\r\n";
        assert!(send(server.port, head, &sandbox.read("plain.dpn")).0.starts_with("http/1.1 200"));
        server.run(&sandbox, &["rewrap", "-r", "bob.pub", "s3://bucket/x"]).expect(0, "the tags of s3://bucket/x");
        let (head, changed) = send(server.port, "GET /bucket/x HTTP/1.1\r\n", b"");
        for line in [
            "content-type: application/x-deadpan",
            "x-amz-meta-owner: alice",
            "cache-control: no-cache",
            "x-amz-storage-class: standard_ia",
        ] {
            assert!(head.lines().any(|it| it == line), "{length} {line}: {head}");
        }
        assert!(same_payload(&changed, &sandbox.read("plain.dpn")));
    }
}

#[test]
fn the_store_accepts_the_signatures() {
    let Some(server) = Server::start("signatures of requests") else { return };
    let sandbox = keys();
    let iam = |action: &str| {
        let head = "POST / HTTP/1.1\r\ncontent-type: application/x-www-form-urlencoded\r\n";
        let (head, body) = send(server.port, head, format!("{action}&UserName=u&Version=2010-05-08").as_bytes());
        assert!(head.starts_with("http/1.1 200"), "{head}");
        String::from_utf8(body).unwrap()
    };
    iam("Action=CreateUser");
    let keys = iam("Action=CreateAccessKey");
    let tag = |name: &str| keys.split(&format!("<{name}>")).nth(1).unwrap().split('<').next().unwrap().to_owned();
    iam("Action=PutUserPolicy&PolicyName=p&PolicyDocument=%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%7B\
        %22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22s3%3A%2A%22%2C%22Resource%22%3A%22%2A%22%7D%7D");
    // From here on, the server checks each request.
    server.ask("POST", "/moto-api/reset-auth", b"0");
    sandbox.write("plain", sample(12 << 20));
    let run = |secret: &str, args: &[&str]| {
        let mut command = server.command(&sandbox, args);
        command.env("AWS_ACCESS_KEY_ID", tag("AccessKeyId")).env("AWS_SECRET_ACCESS_KEY", secret);
        finish(command, LIMIT, |_| ())
    };
    let secret = tag("SecretAccessKey");
    let key = "s3://bucket/a b/x+%20=&\u{e4}.dpn";
    run(&secret, &["seal", "plain", "--to", key]).expect(0, "");
    run("another", &["rewrap", "-r", "bob.pub", key]).expect(4, "the store does not accept the credentials");
    run(&secret, &["rewrap", "-r", "bob.pub", key]).expect(0, "");
    run(&secret, &["open", "-i", "bob.key", "--verify", key]).expect(0, "whole and unchanged");
}

#[test]
fn changes_of_objects_that_cannot_work_say_so() {
    let Some(server) = Server::start("errors of changes of objects") else { return };
    let sandbox = keys();
    sandbox.run(&["keygen", "--sign", "--no-passphrase"]).expect(0, "");
    sandbox.write("plain", sample(12 << 20));
    server.run(&sandbox, &["seal", "--sign", "plain", "--to", "s3://bucket/x"]).expect(0, "");
    server.run(&sandbox, &["seal", "-r", "bob.pub", "plain", "--to", "s3://bucket/bob"]).expect(0, "");
    server.ask("PUT", "/bucket/clear", b"not sealed at all");
    let sealed = server.object("x");
    for (args, code, words) in [
        (&["s3://bucket/none"][..], 2, "s3://bucket/none: there is no such object"),
        (&["s3://no-such-bucket/x"], 2, "there is no such bucket"),
        (&["s3://bucket/prefix/"], 2, "names a bucket or a prefix"),
        (&["s3://bucket"], 2, "names a bucket or a prefix"),
        (&["s3://bucket/bob"], 3, "s3://bucket/bob"),
        (&["s3://bucket/clear"], 1, "s3://bucket/clear: not a sealed file"),
        (&["--dry-run", "s3://bucket/x"], 0, "recipients: ecc; would add bob"),
    ] {
        server.run(&sandbox, &[&["rewrap", "-r", "bob.pub"], args].concat()).expect(code, words);
    }
    let denied = Proxy::start(&server, |head| {
        let asks = head.starts_with("post ") && head.contains("uploads");
        asks.then(|| answer("403 Forbidden", "<Error><Code>AccessDenied</Code><Message>no</Message></Error>"))
    });
    let args = ["rewrap", "-r", "bob.pub", "s3://bucket/x"];
    denied.run(&server, &sandbox, &args).expect(4, "s3://bucket/x: the store refuses access: no");
    assert!(server.object("x") == sealed);
    let unable = Proxy::start(&server, |head| {
        is_copy(head).then(|| answer("501 Not Implemented", "<Error><Code>NotImplemented</Code></Error>"))
    });
    let run = unable.run(&server, &sandbox, &args).expect(4, "the store does not know what was asked of it");
    assert!(run.stderr().contains("seal it again") && unable.count(is_copy) == 1, "{run:?}");
    assert!(server.object("x") == sealed && server.uploads() == 0);
    // A signed object stays signed, and the report is the same as the report on a file.
    let json = server.run(&sandbox, &[&args[..], &["--json"]].concat()).expect(0, "");
    let json = String::from_utf8_lossy(json.stdout()).into_owned();
    for words in ["\"changed\":true", "\"in_place\":true", "\"file\":\"s3://bucket/x\"", "is signed"] {
        assert!(json.contains(words), "{json}");
    }
    let verify = ["open", "--require-signature", "--verify", "s3://bucket/x"];
    server.run(&sandbox, &verify).expect(0, "whole and unchanged");
    let again = server.run(&sandbox, &[&args[..], &["--json"]].concat()).expect(0, "");
    assert!(String::from_utf8_lossy(again.stdout()).contains("\"changed\":false"), "{again:?}");
    // If objects must go through this machine, a long object is refused before it is read.
    sandbox.write("plain", sample(60_000_000));
    server.run(&sandbox, &["seal", "--armor", "plain", "--to", "s3://bucket/armor"]).expect(0, "");
    server.run(&sandbox, &["rewrap", "-r", "bob.pub", "s3://bucket/armor"]).expect(4, "more than 64 MiB");
    assert_eq!(server.uploads(), 0);
}
