//! Tests with a real `ssh-agent`, and with fake agents that send wrong answers, never answer, or close the connection
//! early.

#[cfg(windows)]
#[allow(unsafe_code)]
mod listener;

#[cfg(windows)]
use std::fs::File as Stream;
use std::io::{Read, Write};
#[cfg(unix)]
use std::os::unix::net::{UnixListener as Listener, UnixStream as Stream};
use std::path::Path;
#[cfg(unix)]
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{fs, thread};

use aws_lc_rs::digest;

#[cfg(windows)]
use self::listener::PipeListener as Listener;
use super::*;
use crate::key::sign::{Scheme, Signer, SigningKey};

const DIGEST: [u8; 64] = [7; 64];

/// Returns a path to listen on, which is unique as long as the folder exists.
fn path_in(folder: &Path) -> PathBuf {
    if cfg!(windows) {
        Path::new(r"\\.\pipe").join(format!("deadpan-{}", folder.file_name().unwrap().display()))
    } else {
        folder.join("agent")
    }
}

/// Starts a fake agent that calls `answer` for each connection. `answer` gets the request, which begins with its
/// message number. Dropping the returned folder removes the agent's folder.
fn fake(answer: impl Fn(&[u8], &mut Stream) + Send + 'static) -> (tempfile::TempDir, Agent) {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(folder.path());
    let listener = Listener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4];
            stream.read_exact(&mut head).unwrap();
            let mut request = vec![0; u32::from_be_bytes(head) as usize];
            stream.read_exact(&mut request).unwrap();
            answer(&request, &mut stream);
        }
    });
    (folder, Agent::new(path).with_timeout(Duration::from_secs(20)))
}

fn message(number: u8, contents: &[u8]) -> Vec<u8> {
    [&(1 + contents.len() as u32).to_be_bytes()[..], &[number], contents].concat()
}

fn list(keys: &[(&[u8], &[u8])]) -> Vec<u8> {
    let keys: Vec<u8> = keys.iter().flat_map(|(blob, comment)| wire::strings(&[blob, comment])).collect();
    message(12, &[&(keys_len(&keys) as u32).to_be_bytes(), &keys[..]].concat())
}

/// Each key is a pair of strings.
fn keys_len(mut keys: &[u8]) -> usize {
    let mut count = 0;
    while !keys.is_empty() {
        let mut reader = WireReader::new(keys);
        reader.string().and_then(|_| reader.string()).unwrap();
        (keys, count) = (reader.rest(), count + 1);
    }
    count
}

/// Returns the answer of an honest agent with one key.
fn honest(key: &SigningKey, request: &[u8]) -> Vec<u8> {
    let blob = key.public().to_ssh();
    match request[0] {
        11 => list(&[(b"\0\0\0\x07ssh-rsa", b"another kind"), (&blob, b"me@here")]),
        13 => {
            let mut reader = WireReader::new(&request[1..]);
            let (asked, data) = (reader.string().unwrap(), reader.string().unwrap());
            assert_eq!((asked, reader.number(), reader.end()), (&blob[..], Some(0), Some(())));
            let name = key.scheme().ssh_name().as_bytes();
            message(14, &wire::strings(&[&wire::strings(&[name, &key.sign(data).unwrap()])]))
        }
        other => panic!("request {other}"),
    }
}

#[track_caller]
fn agent_error(result: Result<impl Sized, Error>) -> AgentError {
    match result {
        Err(Error::Sign(SignError::Agent(error))) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

/// Returns the result of signing with a fake agent. The agent lists `key` correctly, and sends `answer` to the request
/// for a signature.
fn signed_by(
    key: &SigningKey,
    answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static,
) -> Result<crate::key::sign::SshSig, Error> {
    let other = key.clone();
    let (_folder, agent) = fake(move |request, stream| {
        let answer = if request[0] == 11 { honest(&other, request) } else { answer(request) };
        // The client may have closed the connection, so writing may fail.
        let _ = stream.write_all(&answer);
    });
    let key = agent.keys()?.remove(0);
    Signer::from(key).sign("file", &DIGEST)
}

#[test]
fn an_honest_agent_signs() {
    for scheme in [Scheme::Ed25519, Scheme::MlDsa44Ed25519] {
        let key = SigningKey::generate(scheme).unwrap();
        let other = key.clone();
        // The agent sends the start of its answer byte by byte.
        let (_folder, agent) = fake(move |request, stream| {
            let answer = honest(&other, request);
            for byte in &answer[..9] {
                stream.write_all(&[*byte]).unwrap();
            }
            stream.write_all(&answer[9..]).unwrap();
        });
        let keys = agent.keys().unwrap();
        assert_eq!((keys.len(), keys[0].public(), keys[0].comment()), (1, key.public(), "me@here"));
        let signature = Signer::from(keys[0].clone()).sign("file", &DIGEST).unwrap();
        signature.verify("file", &DIGEST).unwrap();
        assert_eq!(signature.key(), key.public());
        assert!(Signer::from(keys[0].clone()).sign("", &DIGEST).is_err());
    }
}

/// The signature of a security key contains flags and a counter, and signs hashes of the data (PROTOCOL.u2f of
/// OpenSSH).
#[test]
fn a_security_key_signs() {
    let key = SigningKey::generate(Scheme::Ed25519).unwrap();
    let name = b"sk-ssh-ed25519@openssh.com";
    let blob = wire::strings(&[name, key.public().as_bytes(), b"ssh:"]);
    for flags in [1, 5, 0] {
        let (key, blob) = (key.clone(), blob.clone());
        let (_folder, agent) = fake(move |request, stream| {
            if request[0] == 11 {
                return stream.write_all(&list(&[(&blob, b"")])).unwrap();
            }
            let mut reader = WireReader::new(&request[1..]);
            let (_, data) = (reader.string().unwrap(), reader.string().unwrap());
            let hash = |bytes: &[u8]| digest::digest(&digest::SHA256, bytes).as_ref().to_vec();
            let signed = [&hash(b"ssh:")[..], &[flags, 0, 0, 0, 9], &hash(data)].concat();
            let signature = wire::strings(&[name, &key.sign(&signed).unwrap()]);
            stream
                .write_all(&message(14, &wire::strings(&[&[&signature[..], &[flags, 0, 0, 0, 9]].concat()])))
                .unwrap();
        });
        let key = agent.keys().unwrap().remove(0);
        assert_eq!(key.public().scheme(), Scheme::SkEd25519);
        let signature = Signer::from(key).sign("file", &DIGEST);
        assert_eq!(signature.is_ok(), flags != 0, "touched or not");
    }
}

#[test]
fn lies_are_noticed() {
    let key = SigningKey::generate(Scheme::Ed25519).unwrap();
    let stranger = SigningKey::generate(Scheme::Ed25519).unwrap();
    let composite = SigningKey::generate(Scheme::MlDsa44Ed25519).unwrap();
    let by =
        |key: &SigningKey, name: &str, message: &[u8]| wire::strings(&[name.as_bytes(), &key.sign(message).unwrap()]);
    let data = |request: &[u8]| {
        let mut reader = WireReader::new(&request[1..]);
        reader.string().and_then(|_| reader.string()).unwrap().to_vec()
    };
    let wrap = |blob: &[u8]| message(14, &wire::strings(&[blob]));

    let error = agent_error(signed_by(&key, move |request| wrap(&by(&stranger, "ssh-ed25519", &data(request)))));
    assert!(matches!(error, AgentError::WrongSignature));
    let other = key.clone();
    let error = agent_error(signed_by(&key, move |_| wrap(&by(&other, "ssh-ed25519", b"other data"))));
    assert!(matches!(error, AgentError::WrongSignature));
    // The client refuses a signature by another algorithm, an empty signature, a signature that is too short, and
    // malformed messages.
    let error =
        agent_error(signed_by(&key, move |request| wrap(&by(&composite, "ssh-mldsa44-ed25519", &data(request)))));
    assert!(matches!(error, AgentError::Malformed(_)));
    for bad in [wrap(b""), wrap(&wire::strings(&[b"ssh-ed25519", &[0; 63]])), message(14, b""), message(14, &[0; 9])] {
        let error = agent_error(signed_by(&key, move |_| bad.clone()));
        assert!(matches!(error, AgentError::Malformed(_)), "{error}");
    }
}

#[test]
fn refusals_and_garbage_are_errors() {
    let key = SigningKey::generate(Scheme::Ed25519).unwrap();
    type Answer = (&'static [u8], fn(&AgentError) -> bool);
    let answers: [Answer; 9] = [
        (&[0, 0, 0, 1, 5], |error| matches!(error, AgentError::Refused)),
        (&[0, 0, 0, 1, 6], |error| matches!(error, AgentError::Malformed(_))),
        (&[0, 0, 0, 0], |error| matches!(error, AgentError::Malformed(_))),
        (&[0xff; 64], |error| matches!(error, AgentError::TooLong(u32::MAX))),
        (&[0, 4, 0, 1, 14], |error| matches!(error, AgentError::TooLong(0x40001))),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", |error| matches!(error, AgentError::TooLong(_))),
        (b"", |error| matches!(error, AgentError::Closed)),
        (&[0, 0], |error| matches!(error, AgentError::Closed)),
        (&[0, 0, 1, 0, 14, 0, 0], |error| matches!(error, AgentError::Closed)),
    ];
    for (answer, is_right) in answers {
        let error = agent_error(signed_by(&key, move |_| answer.to_vec()));
        assert!(is_right(&error), "{answer:02x?}: {error}");
        assert_eq!(error.fault() == crate::Fault::Key, matches!(error, AgentError::Refused));
        let (_folder, agent) = fake(move |_, stream| stream.write_all(answer).unwrap());
        let error = agent_error(agent.keys());
        // The agent answers a request for a signature with message 14. The agent sends the list of keys in a message
        // with a wrong number.
        assert!(is_right(&error) || matches!(error, AgentError::Malformed(_)), "{answer:02x?}: {error}");
    }
    for list in [
        &[0xff; 4][..],
        &[0, 0, 0, 1],
        &[0, 0, 0, 0, 1],
        &[0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 0, 0, 0],
        &[0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        b"",
    ] {
        let answer = message(12, list);
        let (_folder, agent) = fake(move |_, stream| stream.write_all(&answer).unwrap());
        let error = agent_error(agent.keys());
        assert!(matches!(error, AgentError::Malformed(_)), "{list:02x?}: {error}");
    }
    let (_folder, agent) = fake(|_, stream| stream.write_all(&message(12, &[0; 4])).unwrap());
    assert!(agent.keys().unwrap().is_empty());
}

#[test]
fn an_agent_that_hangs_is_given_up() {
    let timeout = Duration::from_millis(150);
    // The first agent never answers, the second agent slowly sends single bytes of a long message, and the third agent
    // does not accept connections.
    let (_first, silent) = fake(|_, _| thread::sleep(Duration::from_secs(30)));
    let (_second, slow) = fake(|_, stream| {
        let _ = stream.write_all(&600_u32.to_be_bytes());
        for _ in 0..600 {
            let _ = stream.write_all(&[0]);
            thread::sleep(Duration::from_millis(50));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(folder.path());
    let _listener = Listener::bind(&path).unwrap();
    for agent in [silent, slow, Agent::new(path)] {
        let start = Instant::now();
        let error = agent_error(agent.with_timeout(timeout).keys());
        assert!(matches!(error, AgentError::TimedOut(_) | AgentError::Closed), "{error}");
        assert!(start.elapsed() >= timeout || matches!(error, AgentError::Closed));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
    let none = tempfile::tempdir().unwrap();
    let error = agent_error(Agent::new(path_in(none.path())).keys());
    assert!(
        matches!(&error, AgentError::Unreachable(error) if error.kind() == std::io::ErrorKind::NotFound),
        "{error}"
    );
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(agent_error(Agent::new(&file).keys()), AgentError::Unreachable(_)));
    assert_eq!(fs::read(&file).unwrap(), b"", "no request is written into a file");
}

/// An `ssh-agent` that runs in the foreground. Dropping the value ends the agent.
#[cfg(unix)]
struct RunningAgent(Child);

#[cfg(unix)]
impl Drop for RunningAgent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
#[test]
fn the_installed_ssh_agent_signs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent");
    let command = Command::new("ssh-agent").args(["-D", "-a"]).arg(&path).stdout(Stdio::null()).spawn();
    let _running = match command {
        Ok(child) => RunningAgent(child),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "skipped: ssh-agent is not installed ({error})");
            return;
        }
    };
    let start = Instant::now();
    // The agent gives a name to its socket before it listens.
    while Stream::connect(&path).is_err() && start.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
    }
    let run = |name: &str, arguments: &[&str]| {
        let output = Command::new(name).args(arguments).current_dir(&folder).env("SSH_AUTH_SOCK", &path).output();
        let output = output.expect("OpenSSH has all of its programs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let agent = Agent::new(&path).with_timeout(Duration::from_secs(20));
    assert!(agent.keys().unwrap().is_empty());
    for (kind, name) in [("rsa", "one"), ("ed25519", "two"), ("ecdsa", "three")] {
        run("ssh-keygen", &["-q", "-t", kind, "-N", "", "-C", name, "-f", name]);
        run("ssh-add", &["-q", name]);
    }
    let keys = agent.keys().unwrap();
    assert_eq!((keys.len(), keys[0].comment()), (1, "two"));
    let message = b"message";
    let digest = digest::digest(&digest::SHA512, message).as_ref().try_into().unwrap();
    let signature = Signer::from(keys[0].clone()).sign("file", &digest).unwrap();
    signature.verify("file", &digest).unwrap();
    check_with_ssh_keygen(folder.path(), &signature.armor(), message);
    run("ssh-add", &["-q", "-D"]);
    let error = agent_error(Signer::from(keys[0].clone()).sign("file", &digest));
    assert!(matches!(error, AgentError::Refused));
}

/// Checks a signature by the key `two` with `ssh-keygen -Y verify`.
#[cfg(unix)]
fn check_with_ssh_keygen(folder: &Path, armor: &str, message: &[u8]) {
    fs::write(folder.join("sig"), armor).unwrap();
    let line = fs::read_to_string(folder.join("two.pub")).unwrap();
    fs::write(folder.join("allowed"), format!("me {line}")).unwrap();
    let arguments = ["-Y", "verify", "-f", "allowed", "-I", "me", "-n", "file", "-s", "sig"];
    let mut command = Command::new("ssh-keygen");
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(message).unwrap();
    assert!(child.wait().unwrap().success());
}
