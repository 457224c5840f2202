//! Real servers of S3's protocol on this machine, which `scripts/check` installs: moto, which follows it closely, and
//! versitygw, which is fast and keeps objects as files.
#![allow(dead_code)]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, finish, skip};

/// A server, which ends with the value.
pub struct Server {
    child: Child,
    pub port: u16,
    /// Where versitygw keeps objects.
    folder: Option<PathBuf>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.folder.iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
}

/// Returns the files below a folder, by their paths in it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap();
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path()).into_iter().map(|file| format!("{name}/{file}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Server {
    /// Starts a server with an empty bucket, or says that `what` is skipped.
    pub fn start(what: &str) -> Option<Self> {
        let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/moto/bin/moto_server");
        if !program.exists() {
            skip(what, "moto is missing; scripts/check installs it");
            return None;
        }
        let port = free_port();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let server = Self::launch(command, port, None);
        server.ask("PUT", "/bucket", b"");
        Some(server)
    }

    /// Starts versitygw with an empty bucket, or says that `what` is skipped.
    pub fn gateway(what: &str) -> Option<Self> {
        let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin/versitygw");
        if !program.exists() {
            skip(what, "versitygw is missing; scripts/check installs it");
            return None;
        }
        let port = free_port();
        let folder = std::env::temp_dir().join(format!("deadpan-store-{}-{port}", std::process::id()));
        fs::create_dir_all(folder.join("bucket")).unwrap();
        let mut command = Command::new(program);
        command.args(["--port", &format!("127.0.0.1:{port}"), "--region", "us-east-1", "--quiet", "posix"]);
        command.arg(&folder).env("ROOT_ACCESS_KEY", "key").env("ROOT_SECRET_KEY", "secret");
        Some(Self::launch(command, port, Some(folder)))
    }

    /// Starts each kind of server.
    pub fn both(what: &str) -> impl Iterator<Item = Self> {
        [Self::start, Self::gateway].into_iter().filter_map(move |start| start(what))
    }

    fn launch(mut command: Command, port: u16, folder: Option<PathBuf>) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self { child: command.spawn().unwrap(), port, folder };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not start");
            thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// Sends a request, and returns the answer's body.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// Returns the file that holds an object at versitygw.
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder.as_ref().unwrap().join("bucket").join(key)
    }

    /// Returns the keys in the bucket.
    pub fn keys(&self) -> Vec<String> {
        if let Some(folder) = &self.folder {
            return files(&folder.join("bucket")).into_iter().filter(|file| !file.starts_with(".sgwtmp/")).collect();
        }
        let answer = self.ask("GET", "/bucket?list-type=2", b"");
        answer.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    }

    /// Returns the number of uploads that have begun and not ended.
    pub fn uploads(&self) -> usize {
        if let Some(folder) = &self.folder {
            let folders =
                |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().filter(|it| it.path().is_dir());
            let all = folders(folder.join("bucket/.sgwtmp/multipart"));
            return all.map(|object| folders(object.path()).count()).sum();
        }
        self.ask("GET", "/bucket?uploads", b"").matches("<UploadId>").count()
    }

    pub fn command(&self, sandbox: &Sandbox, args: &[&str]) -> Command {
        self.command_at(self.port, sandbox, args)
    }

    pub fn command_at(&self, port: u16, sandbox: &Sandbox, args: &[&str]) -> Command {
        let mut command = sandbox.command(PROGRAM, args);
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret").env("AWS_REGION", "us-east-1");
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")).env_remove("AWS_PROFILE");
        command.env("NO_PROXY", "127.0.0.1").env("HOME", sandbox.path("home"));
        command
    }

    pub fn run(&self, sandbox: &Sandbox, args: &[&str]) -> Run {
        finish(self.command(sandbox, args), LIMIT, |_| ())
    }
}

pub fn sample(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// What a store answers if it has too much to do.
pub const SLOW_DOWN: &[u8] =
    b"HTTP/1.1 503 Slow Down\r\nretry-after: 1\r\ncontent-length: 28\r\nconnection: close\r\n\r\n\
    <Error><Code>SlowDown</Code>";

/// Stands between the program and the server, and counts the requests for data. With `refuse`, every third connection
/// gets no answer but that the store has too much to do.
pub fn between(server: u16, refuse: bool) -> (u16, Arc<AtomicUsize>) {
    let (listener, asked) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(AtomicUsize::new(0)));
    let (port, counter) = (listener.local_addr().unwrap().port(), Arc::clone(&asked));
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let (mut client, counter) = (client.unwrap(), Arc::clone(&counter));
            thread::spawn(move || {
                if refuse && number % 3 == 0 {
                    let _ = client.read(&mut [0; 4096]);
                    let _ = client.write_all(SLOW_DOWN);
                    return;
                }
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || {
                    let mut buffer = vec![0; 1 << 16];
                    while let Ok(read @ 1..) = from.read(&mut buffer) {
                        let gets = buffer[..read].windows(13).filter(|bytes| bytes == b"GET /bucket/x").count();
                        counter.fetch_add(gets, Ordering::Relaxed);
                        if to.write_all(&buffer[..read]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Write);
                });
                let (mut from, mut to) = (server, client);
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    });
    (port, asked)
}
