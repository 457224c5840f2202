//! Stores that do harm, as far as they can.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::{Address, Object, Store};

/// A store that answers every request as `answer` does, which gets the first line of the request.
struct Hostile {
    port: u16,
}

/// One connection.
struct Connection {
    stream: TcpStream,
}

impl Connection {
    /// Sends bytes, and returns whether the client still takes them.
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends a whole answer.
    fn answer(&mut self, head: &str, body: &str) {
        let length = body.len();
        self.send(format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").as_bytes());
    }
}

/// Reads a request, and returns its first line.
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
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, answer) = (stream.expect("a connection"), Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(line) = read_request(&mut stream) else { return };
                    answer(&line, &mut Connection { stream });
                });
            }
        });
        Self { port }
    }

    fn store(&self) -> Store {
        Store::on_this_machine(self.port)
    }
}

fn address(key: &str) -> Address {
    format!("s3://bucket/{key}").parse().expect("an address")
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
