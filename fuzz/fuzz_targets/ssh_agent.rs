//! For any answers of an SSH agent, the client never panics and never hangs. A signature that the client returns is
//! valid.
//!
//! Input: two bytes with the length of the agent's list of keys, the list, and the answer to the request for a
//! signature.
#![no_main]

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::{LazyLock, Mutex};
use std::thread;

use libfuzzer_sys::fuzz_target;

use deadpan_seal::sign::{Agent, Signer};

/// The next answer of the agent.
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// An agent that answers each request with [`ANSWER`], and the folder of its socket. The folder must exist as long as
/// the agent is used.
static AGENT: LazyLock<(Agent, tempfile::TempDir)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent");
    let listener = UnixListener::bind(&path).expect("a socket");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut head = [0; 4];
            stream.read_exact(&mut head).expect("a request");
            let mut request = vec![0; u32::from_be_bytes(head) as usize];
            stream.read_exact(&mut request).expect("a request");
            let answer = ANSWER.lock().expect("no panic").clone();
            // Writing may fail, because the client may close the connection as soon as it has read enough.
            let _ = stream.write_all(&answer);
        }
    });
    (Agent::new(path), folder)
});

fuzz_target!(|data: &[u8]| {
    let Some((length, rest)) = data.split_first_chunk::<2>() else { return };
    let (list, signature) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
    *ANSWER.lock().expect("no panic") = list.to_vec();
    let Ok(keys) = AGENT.0.keys() else { return };
    *ANSWER.lock().expect("no panic") = signature.to_vec();
    for key in keys.into_iter().take(2) {
        if let Ok(signature) = Signer::from(key.clone()).sign("file", &[7; 64]) {
            signature.verify("file", &[7; 64]).expect("a right signature");
            assert_eq!(signature.key(), key.public());
        }
    }
});
