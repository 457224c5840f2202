//! Malicious stores for tests: their answers never end, their listings repeat, or their answers are very slow.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::patience::Patience;
use crate::{Address, Error, Object, Pieces, Problem, Store, Upload, tell_of_trouble};

/// A store in which `answer` answers every request. `answer` gets the first line of the request. The store counts the
/// bytes that it could send.
struct Hostile {
    port: u16,
    sent: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
}

/// A connection to the store.
struct Connection {
    stream: TcpStream,
    sent: Arc<AtomicU64>,
}

impl Connection {
    /// Sends bytes, and returns whether the client still accepts them.
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends a whole answer.
    fn answer(&mut self, head: &str, body: &str) {
        let length = body.len();
        self.send(format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").as_bytes());
    }

    /// Sends an answer whose body never ends. If the answer is an object, the answer announces a length of one
    /// petabyte.
    fn answer_for_ever(&mut self, head: &str, body: &str) {
        let is_object = head.contains("etag");
        let way = if is_object { "content-length: 1000000000000000" } else { "transfer-encoding: chunked" };
        self.send(format!("HTTP/1.1 {head}\r\n{way}\r\n\r\n").as_bytes());
        self.send(format!("{:x}\r\n{body}\r\n", body.len()).as_bytes());
        let chunk = [b"10000\r\n", &[b' '; 1 << 16][..], b"\r\n"].concat();
        while self.send(&chunk) {}
    }

    /// Sends the head of an answer, and then repeats `text` without end, with a pause before each repetition.
    fn drip(&mut self, head: &str, text: &str, pause: Duration) {
        self.send(format!("HTTP/1.1 {head}\r\ncontent-length: 1000000\r\nconnection: close\r\n\r\n").as_bytes());
        thread::sleep(pause);
        while self.send(text.as_bytes()) {
            thread::sleep(pause);
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let (mut request, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length =
                lower.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
            if request.len() >= head.len() + 4 + length.unwrap_or(0) {
                return head.lines().next().map(str::to_owned);
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(read) => request.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

impl Hostile {
    fn start(answer: impl Fn(&str, &mut Connection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (sent, asked, answer) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default(), Arc::new(answer));
        let (all_sent, all_asked) = (Arc::clone(&sent), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, answer) = (stream.expect("a connection"), Arc::clone(&answer));
                let (sent, asked) = (Arc::clone(&all_sent), Arc::clone(&all_asked));
                thread::spawn(move || {
                    let Some(line) = read_request(&mut stream) else { return };
                    asked.fetch_add(1, Ordering::Relaxed);
                    answer(&line, &mut Connection { stream, sent });
                });
            }
        });
        Self { port, sent, asked }
    }

    fn store(&self) -> Store {
        self.store_with(Patience::default())
    }

    fn store_with(&self, patience: Patience) -> Store {
        Store::on_this_machine(self.port, patience)
    }
}

/// An operation on a store.
type Act<'a> = &'a dyn Fn() -> Result<(), Error>;
/// A function that makes a page of a listing from the number of the page.
type Pages = fn(u64) -> String;

fn address(key: &str) -> Address {
    format!("s3://bucket/{key}").parse().expect("an address")
}

const OBJECT: &str = "etag: \"tag\"\r\nlast-modified: Thu, 26 Nov 2026 08:00:00 GMT";

/// Time limits that are short enough for tests.
const SHORT: Patience = Patience {
    request: Duration::from_millis(1500),
    tries: Duration::from_millis(700),
    silence: Duration::from_millis(900),
    connecting: Duration::from_secs(5),
    window: Duration::from_millis(400),
    rate: 1000,
    quiet: Duration::from_millis(150),
};

#[test]
fn an_answer_without_an_end_is_not_read_to_the_end() {
    let head = |range: &str| format!("206 Part\r\n{OBJECT}\r\ncontent-range: bytes {range}/1000000");
    let (first, all) = (head("0-327679"), format!("200 Good\r\n{OBJECT}"));
    let hostile = Hostile::start(move |line, client| {
        let is = |words: &str| line.contains(words);
        match line.split(' ').next().unwrap_or_default() {
            "HEAD" => client.answer("404 None", ""),
            "GET" if is("/bad?") => client.answer_for_ever("400 Bad", "<Error><Message>no"),
            "GET" if is("list-type=2") => client.answer_for_ever("200 Good", "<ListBucketResult>"),
            "GET" if is("uploadId=") => client.answer_for_ever(&all, "<ListPartsResult>"),
            "POST" if is("?uploads") && is("/begins") => {
                client.answer("200 Good", "<R><UploadId>id</UploadId></R>");
            }
            "POST" => client.answer_for_ever("200 Good", "<R><UploadId>id</UploadId></R>"),
            "PUT" => client.answer_for_ever("200 Good\r\netag: \"tag\"", ""),
            "DELETE" => client.answer_for_ever("200 Gone", ""),
            _ if is("/object") => client.answer_for_ever(&first, "data"),
            _ => client.answer("500 Strange", ""),
        }
    });
    let store = hostile.store();
    let uploaded = |key: &str| -> Result<u64, Error> {
        let mut upload = Upload::start(&store, &address(key), None, true)?;
        upload.write_all(&vec![0; 9 << 20]).expect("written");
        upload.finish()
    };
    let all: [(&str, Act<'_>); 5] = [
        ("it gave another range than was asked for", &|| Object::open(&store, &address("object")).map(drop)),
        ("longer than 16777216 bytes", &|| store.list(&address("a/"), None)?.next().expect("an entry").map(drop)),
        ("longer than 262144 bytes", &|| Pieces::begin(&store, &address("x"), "mark").map(drop)),
        ("longer than 262144 bytes", &|| uploaded("begins").map(drop)),
        ("longer than 1048576 bytes", &|| Pieces::resume(&store, &address("x"), "id")?.there().map(drop)),
    ];
    for (words, act) in all {
        let before = hostile.sent.load(Ordering::Relaxed);
        let error = act().expect_err(words);
        let text = error.to_string();
        assert!(error.problem() == Problem::Protocol && text.contains(words), "{text}");
        let sent = hostile.sent.load(Ordering::Relaxed) - before;
        // The limit is higher than the number of bytes that the client reads, since the buffers of the connection
        // contain additional bytes.
        assert!(sent < 64 << 20, "{text}: {sent} bytes");
    }
    // The answer to the upload of a part has only headers.
    Pieces::resume(&store, &address("x"), "id").expect("pieces").put(0, Bytes::from_static(b"x")).expect("put");
}

#[test]
fn a_range_is_never_longer_than_what_was_asked_for() {
    // The first answer is right, and the second answer continues beyond the end of the requested range.
    let hostile = Hostile::start(|_, client| {
        let is_first = client.sent.load(Ordering::Relaxed) == 0;
        let head = |range: &str| format!("206 Part\r\n{OBJECT}\r\ncontent-range: bytes {range}/1000000");
        if is_first {
            client.answer(&head("0-327679"), &"x".repeat(327_680))
        } else {
            client.answer_for_ever(&head("400000-400009"), "0123456789")
        }
    });
    let object = Object::open(&hostile.store(), &address("object")).expect("an object");
    let before = hostile.asked.load(Ordering::Relaxed);
    let error = object.bytes(400_000..400_010).expect_err("more than a range");
    assert!(error.to_string().contains("another number of bytes than were asked for"), "{error}");
    assert_eq!(hostile.asked.load(Ordering::Relaxed) - before, 1, "the request is not repeated");
}

fn page(keys: &[String], token: &str) -> String {
    let entry = |key: &String| {
        format!("<Contents><Key>{key}</Key><Size>1</Size><LastModified>2026-11-26T08:00:00Z</LastModified></Contents>")
    };
    let entries = keys.iter().map(entry).collect::<String>();
    format!(
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>\
        {entries}</ListBucketResult>"
    )
}

#[test]
fn a_listing_in_circles_ends() {
    let circles: [(&str, Pages); 5] = [
        ("a token that continues it came again", |number| page(&[format!("a/{number:09}")], "same")),
        ("a/x comes after a/x", |number| page(&["a/x".to_owned()], &number.to_string())),
        ("a//x comes after a//x", |number| page(&["a//x".to_owned()], &number.to_string())),
        ("a token of more than 16384 bytes", |_| page(&["a/x".to_owned()], &"x".repeat(70_000))),
        ("1000 pages without a key", |number| page(&[], &number.to_string())),
    ];
    for (words, pages) in circles {
        let number = AtomicU64::new(0);
        let hostile = Hostile::start(move |_, client| {
            client.answer("200 Good", &pages(number.fetch_add(1, Ordering::Relaxed)));
        });
        let listing = hostile.store().list(&address("a/"), None).expect("a listing");
        let last = listing.take(10_000).last().expect("an end").expect_err("an error");
        assert!(last.problem() == Problem::Protocol && last.to_string().contains(words), "{last}");
        assert!(hostile.asked.load(Ordering::Relaxed) <= 1001, "{words}");
    }
}

#[test]
fn a_list_of_parts_in_circles_ends() {
    let part = "<Part><PartNumber>1</PartNumber><ETag>tag</ETag><Size>1</Size></Part>";
    for marker in ["0", "1", "10001", "x"] {
        let marker = format!("<NextPartNumberMarker>{marker}</NextPartNumberMarker>");
        let answer = format!("<ListPartsResult><IsTruncated>true</IsTruncated>{marker}{part}</ListPartsResult>");
        let hostile = Hostile::start(move |_, client| client.answer(&format!("200 Good\r\n{OBJECT}"), &answer));
        let error =
            Pieces::resume(&hostile.store(), &address("x"), "id").expect("pieces").there().expect_err("a circle");
        assert!(error.problem() == Problem::Protocol && error.to_string().contains("list of parts goes on"), "{error}");
    }
}

#[test]
fn odd_names_come_page_by_page() {
    // The keys ascend from page to page, and the client cannot represent any of them.
    let number = AtomicU64::new(0);
    let hostile = Hostile::start(move |_, client| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let keys: Vec<_> = (0..10).map(|key| format!("a//{number:09}{key}")).collect();
        client.answer("200 Good", &page(&keys, &number.to_string()));
    });
    let mut listing = hostile.store().list(&address("a/"), None).expect("a listing");
    for key in 0..30 {
        let entry = listing.next().expect("an entry").expect("a name");
        assert_eq!(entry.name, format!("/{:09}{}", key / 10, key % 10));
        assert_eq!(hostile.asked.load(Ordering::Relaxed), key / 10 + 1, "pages that were asked for");
    }
    // The number of keys that the client cannot represent is also limited.
    let number = AtomicU64::new(0);
    let hostile = Hostile::start(move |_, client| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let keys: Vec<_> = (0..5000).map(|key| format!("a//{number:04}{key:04}")).collect();
        client.answer("200 Good", &page(&keys, &number.to_string()));
    });
    let listing = hostile.store().list(&address("a/"), None).expect("a listing");
    let (names, error): (Vec<_>, Vec<_>) = listing.take(200_000).partition(Result::is_ok);
    assert_eq!((names.len(), error.len()), (100_000, 1));
}

#[test]
fn what_a_store_says_is_one_short_line() {
    let words = format!("no\u{1b}[2J\r\nerror: all is lost\u{202e}\u{200b}\u{9b}{}", "x".repeat(240_000));
    let body = format!("<Error><Code>Strange</Code><Message>{words}</Message></Error>");
    let hostile = Hostile::start(move |_, client| client.answer("400 Bad", &body));
    let error = Object::open(&hostile.store(), &address("a\u{202e}b")).expect_err("an error").to_string();
    let wanted = r"s3://bucket/a\u{202e}b: the store says: no\u{1b}[2J\r\nerror: all is lost\u{202e}\u{200b}\u{9b}xxx";
    assert!(error.starts_with(wanted), "{error:.400}");
    assert!(error.chars().count() < 400 && !error.chars().any(char::is_control), "{}", error.len());
}

/// The name of an upload is a part of a request's address, and the client panics if the address is too long.
#[test]
fn the_name_of_an_upload_has_a_length() {
    let answer = format!("<R><UploadId>{}</UploadId></R>", "x".repeat(100_000));
    let hostile = Hostile::start(move |_, client| client.answer("200 Good", &answer));
    let error = Pieces::begin(&hostile.store(), &address("x"), "mark").expect_err("a long name");
    assert!(error.problem() == Problem::Protocol && error.to_string().contains("more than 4096 bytes"), "{error}");
}

#[test]
fn tags_and_headers_have_a_length() {
    for (header, words) in [
        (format!("etag: \"{}\"", "x".repeat(2000)), "longer than 1024 bytes"),
        (format!("etag: \"x\"\r\nx-more: {}", "x".repeat(70_000)), "longer than 65536 bytes"),
    ] {
        let hostile = Hostile::start(move |_, client| client.answer(&format!("200 Good\r\n{header}"), ""));
        let pieces = Pieces::resume(&hostile.store(), &address("x"), "id").expect("pieces");
        let error = pieces.put(0, Bytes::from_static(b"x")).expect_err("a long header");
        assert!(error.problem() == Problem::Protocol && error.to_string().contains(words), "{error}");
    }
}

/// The messages for the user.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn was_told(words: &str) -> bool {
    TOLD.lock().expect("notes").iter().any(|told| told.contains(words))
}

#[test]
fn a_store_that_drips_is_told_of_and_given_up() {
    tell_of_trouble(|why| TOLD.lock().expect("notes").push(why.to_owned()));
    let head = format!("206 Part\r\n{OBJECT}\r\ncontent-range: bytes 0-327679/1000000");
    let pause = Duration::from_millis(50);
    let drip = Hostile::start(move |_, client| client.drip(&head, "x", pause));
    let list = Hostile::start(move |_, client| client.drip("200 Good", " ", pause));
    let silent = Hostile::start(|_, client| _ = client.stream.read(&mut [0]));
    let complete = |store: &Store| Pieces::resume(store, &address("x"), "id")?.complete(vec!["tag".to_owned()], true);
    let all: [(&str, Act<'_>); 4] = [
        // The store sends only white space, as a store does while it joins parts.
        ("the store is too slow: its answer was not whole after 2 seconds", &|| complete(&list.store_with(SHORT))),
        ("the store is too slow: it sent ", &|| Object::open(&drip.store_with(SHORT), &address("x")).map(drop)),
        ("1000 in a second are the least", &|| {
            list.store_with(SHORT).list(&address("a/"), None)?.next().expect("an entry").map(drop)
        }),
        ("the store cannot be reached: it did not answer within 1 seconds", &|| {
            Object::open(&silent.store_with(SHORT), &address("x")).map(drop)
        }),
    ];
    for (words, act) in all {
        TOLD.lock().expect("notes").clear();
        let start = Instant::now();
        let text = act().expect_err("an error").to_string();
        assert!(text.contains(words), "{text}");
        // The client's tries and the pauses between them take less than 20 seconds.
        assert!(start.elapsed() < Duration::from_secs(20), "{text} after {:?}", start.elapsed());
        assert!(was_told("has sent nothing or almost nothing for"), "{text}");
    }
}

#[test]
fn a_store_that_is_slow_and_honest_is_waited_for() {
    // The store sends faster than the lowest rate, for longer than the time limit `window`.
    let slow = Hostile::start(|_, client| {
        let head = format!("206 Part\r\n{OBJECT}\r\ncontent-range: bytes 0-7999/8000");
        client.send(format!("HTTP/1.1 {head}\r\ncontent-length: 8000\r\n\r\n").as_bytes());
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(50));
            client.send(&[b'x'; 400]);
        }
    });
    assert_eq!(Object::open(&slow.store_with(SHORT), &address("x")).expect("an object").length(), 8000);
    // While a store joins parts, it may send white space.
    let working = Hostile::start(|_, client| {
        let end = "<R><ETag>tag</ETag></R>";
        client.send(format!("HTTP/1.1 200 Good\r\ncontent-length: {}\r\n\r\n", end.len() + 10).as_bytes());
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(60));
            client.send(b" ");
        }
        client.send(end.as_bytes());
    });
    let pieces = Pieces::resume(&working.store_with(SHORT), &address("x"), "id").expect("pieces");
    pieces.complete(vec!["tag".to_owned()], true).expect("an object");
}
