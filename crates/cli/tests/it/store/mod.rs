//! Real servers of S3's protocol on this machine. `scripts/check` installs the servers: moto follows the protocol
//! closely, and versitygw is fast and keeps objects as files.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, finish, skip};

/// A server. It ends when the value is dropped.
pub struct Server {
    child: Child,
    pub port: u16,
    /// The folder in which versitygw keeps objects.
    folder: Option<PathBuf>,
    /// The folder on the machine's own disk where the server's disk is mounted.
    below: Option<PathBuf>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.folder.iter().chain(&self.below).for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
}

/// Returns the paths of the files below a folder, relative to the folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|file| format!("{name}/{file}")))
        } else {
            found.push(name)
        }
    }
    found.sort();
    found
}

pub fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // If another thread has just started a program, a copy of the listener is open until this program is loaded. A
        // test that connects to the copy would assume that its server has started.
        if TcpStream::connect(("127.0.0.1", port)).is_err() {
            return port;
        }
    }
}

impl Server {
    /// Starts a server with an empty bucket, or prints that `what` is skipped.
    pub fn start(what: &str) -> Option<Self> {
        let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/moto/bin/moto_server");
        if !program.exists() {
            skip(what, "moto is missing; scripts/check installs it");
            return None;
        }
        let port = free_port();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let server = Self::launch(command, port, None).expect("moto starts");
        server.ask("PUT", "/bucket", b"");
        Some(server)
    }

    /// Starts versitygw with an empty bucket, or prints that `what` is skipped.
    pub fn gateway(what: &str) -> Option<Self> {
        let (program, folder) = Self::at_versitygw(what)?;
        Some(Self::serve(Command::new(program), folder).expect("versitygw starts"))
    }

    /// Starts versitygw with an empty bucket and encrypted connections, or prints that `what` is skipped. Also returns
    /// the path of the file with the server's CA certificate.
    pub fn encrypted_gateway(what: &str) -> Option<(Self, PathBuf)> {
        let (program, folder) = Self::at_versitygw(what)?;
        let certificates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
        let mut command = Command::new(program);
        command.arg("--cert").arg(certificates.join("server.pem"));
        command.arg("--key").arg(certificates.join("server.key"));
        Some((Self::serve(command, folder).expect("versitygw starts"), certificates.join("authority.pem")))
    }

    /// Starts versitygw with an empty bucket and a disk of `room` bytes, or prints that `what` is skipped.
    pub fn small_gateway(what: &str, room: usize) -> Option<Self> {
        let (program, folder) = Self::at_versitygw(what)?;
        let started = small_disk(&folder, room).and_then(|with_disk| {
            let mut command = Command::new(&with_disk[0]);
            command.args(&with_disk[1..]).arg(program);
            Self::serve(command, folder.clone())
        });
        let Some(mut server) = started else {
            let _ = fs::remove_dir_all(&folder);
            skip(what, "it needs a Linux whose users may mount tmpfs, with attributes of files (6.6 or newer)");
            return None;
        };
        // Only the server's process can access its disk.
        let seen = PathBuf::from(format!("/proc/{}/root", server.child.id()));
        server.folder = Some(seen.join(folder.strip_prefix("/").unwrap()));
        server.below = Some(folder);
        Some(server)
    }

    /// Returns the program versitygw and a new folder for its objects, or prints that `what` is skipped.
    fn at_versitygw(what: &str) -> Option<(PathBuf, PathBuf)> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin/versitygw");
        if !program.exists() {
            skip(what, "versitygw is missing; scripts/check installs it");
            return None;
        }
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("deadpan-store-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("bucket")).unwrap();
        Some((program, folder))
    }

    /// Starts versitygw with `command`. Returns `None` if the server ends at once.
    fn serve(mut command: Command, folder: PathBuf) -> Option<Self> {
        let port = free_port();
        command.args(["--port", &format!("127.0.0.1:{port}"), "--region", "us-east-1", "--quiet", "posix"]);
        command.arg(&folder).env("ROOT_ACCESS_KEY", "key").env("ROOT_SECRET_KEY", "secret");
        Self::launch(command, port, Some(folder))
    }

    /// Starts Azurite with an empty container, or prints that `what` is skipped.
    pub fn azurite(what: &str) -> Option<Self> {
        let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/azurite");
        let program = tools.join("node_modules/.bin/azurite-blob");
        if !program.exists() {
            skip(what, "Azurite is missing; scripts/check installs it");
            return None;
        }
        let port = free_port();
        let mut command = Command::new(program);
        command.args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string(), "--inMemoryPersistence"]);
        command.args(["--silent", "--disableTelemetry"]).current_dir(tools);
        let server = Self::launch(command, port, None).expect("Azurite starts");
        let made = Command::new("node").args(["-e", CONTAINER, &port.to_string()]).status().unwrap();
        assert!(made.success(), "the container is not made");
        Some(server)
    }

    /// Starts each kind of server.
    pub fn both(what: &str) -> impl Iterator<Item = Self> {
        [Self::start, Self::gateway].into_iter().filter_map(move |start| start(what))
    }

    /// Starts a server. Returns `None` if the server ends at once.
    fn launch(mut command: Command, port: u16, folder: Option<PathBuf>) -> Option<Self> {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Self { child: command.spawn().unwrap(), port, folder, below: None };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if server.child.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not start");
            thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> String {
        ask(self.port, method, path, body)
    }

    /// Returns the file in which versitygw keeps an object.
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder.as_ref().unwrap().join("bucket").join(key)
    }

    /// Returns the files in which versitygw keeps the parts of unfinished uploads.
    pub fn parts(&self) -> Vec<PathBuf> {
        let folder = self.file(".sgwtmp/multipart");
        files(&folder).into_iter().map(|file| folder.join(file)).collect()
    }

    /// Returns the keys in the bucket.
    pub fn keys(&self) -> Vec<String> {
        if let Some(folder) = &self.folder {
            return files(&folder.join("bucket")).into_iter().filter(|file| !file.starts_with(".sgwtmp/")).collect();
        }
        let answer = self.ask("GET", "/bucket?list-type=2", b"");
        answer.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
    }

    /// Returns the number of uploads that have begun but not ended.
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
        Self::settle(port, sandbox, &mut command);
        command
    }

    /// Sets the address and the keys of the store in the environment of a command.
    pub fn settle(port: u16, sandbox: &Sandbox, command: &mut Command) {
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret").env("AWS_REGION", "us-east-1");
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")).env_remove("AWS_PROFILE");
        command.env("NO_PROXY", "127.0.0.1").env("HOME", sandbox.path("home"));
    }

    pub fn run(&self, sandbox: &Sandbox, args: &[&str]) -> Run {
        finish(self.command(sandbox, args), LIMIT, |_| ())
    }
}

/// A script that creates the container `bucket`. The account and the key are Azurite's defaults, which are public.
const CONTAINER: &str = "
    const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
    const [account, date, version] = ['devstoreaccount1', new Date().toUTCString(), '2021-08-06'];
    const resource = `/${account}/${account}/bucket\\nrestype:container`;
    const text = 'PUT' + '\\n'.repeat(12) + `x-ms-date:${date}\\nx-ms-version:${version}\\n${resource}`;
    const signature = require('crypto').createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
    const headers = { 'x-ms-date': date, 'x-ms-version': version, Authorization: `SharedKey ${account}:${signature}` };
    const url = `http://127.0.0.1:${process.argv[1]}/${account}/bucket?restype=container`;
    fetch(url, { method: 'PUT', headers }).then((answer) => process.exit(answer.ok ? 0 : 1));
";

/// Sends a request to a server, and returns the answer's body.
pub fn ask(port: u16, method: &str, path: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

pub fn sample(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// The answer of a store that is too busy.
pub const SLOW_DOWN: &[u8] =
    b"HTTP/1.1 503 Slow Down\r\nretry-after: 1\r\ncontent-length: 28\r\nconnection: close\r\n\r\n\
    <Error><Code>SlowDown</Code>";

/// Starts a proxy between the program and the server, and counts the requests for data. With `refuse`, every third
/// connection gets only the answer that the store is too busy.
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

/// Returns the first words of a command line; the words of a program and its arguments follow. The command line mounts
/// a disk of `bytes` bytes with a folder `bucket` at `folder`. The disk exists as long as the program runs. Returns
/// `None` if this system does not allow such a disk.
pub fn small_disk(folder: &Path, bytes: usize) -> Option<Vec<String>> {
    let options = [&["--mount"][..], &["--map-root-user", "--mount"]].into_iter().find(|options| {
        let mut command = Command::new("unshare");
        command.args(*options).args(["sh", "-c", "mount -t tmpfs tmpfs /mnt"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })?;
    let script = "mount -t tmpfs -o size=$1 tmpfs \"$2\" && mkdir \"$2/bucket\" && shift 2 && exec \"$@\"";
    let (bytes, folder) = (bytes.to_string(), folder.to_str()?);
    let words = [&["unshare"][..], options, &["sh", "-c", script, "sh", &bytes, folder]].concat();
    Some(words.into_iter().map(str::to_owned).collect())
}

/// The treatment of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The request gets its answer.
    Pass,
    /// The request never gets an answer.
    Silence,
    /// The connection breaks in the middle of the request.
    Cut,
    /// The server executes the request, but the connection breaks before the answer comes.
    Lost,
    /// The signature of the request is changed, so that it is wrong.
    Forged,
}

/// Starts a proxy between the program and the server. `fate` gets the first line of each request, and determines how
/// the proxy treats the request.
pub fn meddle(server: u16, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> u16 {
    let (listener, fate) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(fate));
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, fate) = (client.unwrap(), Arc::clone(&fate));
            thread::spawn(move || {
                let mut server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let is_lost = Arc::new(AtomicBool::new(false));
                let is_told = Arc::clone(&is_lost);
                thread::spawn(move || {
                    let mut buffer = vec![0; 1 << 16];
                    while let Ok(read @ 1..) = from.read(&mut buffer) {
                        if is_told.load(Ordering::Relaxed) || to.write_all(&buffer[..read]).is_err() {
                            break;
                        }
                    }
                    let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
                });
                let (mut buffer, mut decided) = (vec![0; 1 << 16], Fate::Pass);
                while let Ok(read @ 1..) = client.read(&mut buffer) {
                    let mut bytes = &mut buffer[..read];
                    if ["GET ", "PUT ", "POST ", "HEAD ", "DELETE "].iter().any(|it| bytes.starts_with(it.as_bytes())) {
                        let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
                        decided = fate(&String::from_utf8_lossy(line));
                    }
                    match decided {
                        Fate::Pass => {}
                        Fate::Silence => continue,
                        Fate::Lost => is_lost.store(true, Ordering::Relaxed),
                        Fate::Cut => bytes = &mut bytes[..read / 2],
                        Fate::Forged => forge(bytes),
                    }
                    if server.write_all(bytes).is_err() || decided == Fate::Cut {
                        break;
                    }
                }
                let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
            });
        }
    });
    port
}

/// Changes the signature in a request, if the request has one.
fn forge(bytes: &mut [u8]) {
    const WORDS: &[u8] = b"Signature=";
    if let Some(at) = bytes.windows(WORDS.len()).position(|window| window == WORDS) {
        bytes[at + WORDS.len()..].iter_mut().take(8).for_each(|digit| *digit = b'0');
    }
}
