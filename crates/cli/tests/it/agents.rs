//! If the SSH agent refuses, hangs, sends a wrong signature or closes the connection, signing ends with an error and
//! leaves no file.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, finish};

/// Message numbers of the agent's protocol.
const FAILURE: u8 = 5;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_RESPONSE: u8 = 14;

/// The fault of an agent that is asked for a signature.
#[derive(Clone, Copy)]
enum Fault {
    Refuses,
    Hangs,
    HangsUp,
    /// Answers with a signature of zeros.
    Lies,
    /// Does not answer any request, not even the request for the list of keys.
    Silent,
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn message(number: u8, contents: &[u8]) -> Vec<u8> {
    string(&[&[number], contents].concat())
}

/// Answers one request. If the agent must not answer, returns the connection, so that it stays open.
fn answer(mut stream: UnixStream, key: &[u8], fault: Fault) -> io::Result<Option<UnixStream>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut request = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut request)?;
    let lists = request[0] == REQUEST_IDENTITIES;
    match fault {
        Fault::Silent => return Ok(Some(stream)),
        _ if lists => {
            let keys = [&1_u32.to_be_bytes()[..], &string(key), &string(b"held")].concat();
            stream.write_all(&message(IDENTITIES_ANSWER, &keys))?;
        }
        Fault::Refuses => stream.write_all(&message(FAILURE, &[]))?,
        Fault::Hangs => return Ok(Some(stream)),
        Fault::HangsUp => stream.write_all(&[0, 0])?,
        Fault::Lies => {
            let signature = [string(b"ssh-ed25519"), string(&[0; 64])].concat();
            stream.write_all(&message(SIGN_RESPONSE, &string(&signature)))?;
        }
    }
    Ok(None)
}

/// Runs `deadpan` with an SSH agent that has the key `key` and the fault `fault`.
fn with_agent(sandbox: &Sandbox, key: &[u8], fault: Fault, args: &[&str]) -> Run {
    let path = sandbox.path("home/agent");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let key = key.to_vec();
    // The thread ends with the test program.
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            silent.extend(stream.and_then(|stream| answer(stream, &key, fault)).ok().flatten());
        }
    });
    let mut command = sandbox.command(PROGRAM, args);
    command.env("SSH_AUTH_SOCK", &path).env("DEADPAN_AGENT_TIMEOUT", "1");
    finish(command, LIMIT, |_| ())
}

#[test]
fn an_agent_that_does_not_sign_is_an_error_and_leaves_no_file() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.run(&["keygen", "--no-passphrase", "--sign", "--mode", "ecc", "-o", "ed.key"]).expect(0, "");
    sandbox.shell("deadpan keys export --ssh ed.pub > held.pub && rm ed.key ed.pub").expect(0, "");
    let key = sandbox.shell("cut -d ' ' -f 2 held.pub | base64 -d").stdout().to_vec();
    sandbox.write("data", vec![7; 100_000]);
    for (fault, code, said) in [
        (Fault::Refuses, 3, "the agent refused"),
        (Fault::Hangs, 4, "the agent did not answer within 1 seconds"),
        (Fault::HangsUp, 4, "the agent closed the connection before its answer was complete"),
        (Fault::Lies, 1, "the agent sent a wrong signature"),
        (Fault::Silent, 4, "the agent did not answer within 1 seconds"),
    ] {
        for args in [&["sign", "-k", "held.pub", "data"][..], &["seal", "--sign=held.pub", "data"]] {
            with_agent(&sandbox, &key, fault, args).expect(code, said);
            assert_eq!(sandbox.names(), ["data", "held.pub"], "{args:?}: {said}");
        }
    }
    with_agent(&sandbox, &[9; 5], Fault::Refuses, &["sign", "-k", "held.pub", "data"]).expect(1, "not well formed");
}
