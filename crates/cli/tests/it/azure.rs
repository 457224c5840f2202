//! Tests of objects in Azure Blob Storage. The server is Azurite, Microsoft's emulator of the service.

use crate::sandbox::{LIMIT, PROGRAM, Run, Sandbox, finish};
use crate::store::{Server, sample};

/// Long enough for several blocks.
const LONG: usize = 80_000_000;

fn run(server: &Server, sandbox: &Sandbox, args: &[&str]) -> Run {
    let mut command = sandbox.command(PROGRAM, args);
    command.env("AZURE_STORAGE_USE_EMULATOR", "true").env("NO_PROXY", "127.0.0.1");
    command.env("AZURITE_BLOB_STORAGE_URL", format!("http://127.0.0.1:{}", server.port));
    finish(command, LIMIT, |_| ())
}

#[test]
fn objects_go_to_azure_and_come_back() {
    let Some(server) = Server::azurite("objects in Azure") else { return };
    let sandbox = Sandbox::with_key("ecc");
    let run = |args: &[&str]| run(&server, &sandbox, args);
    sandbox.shell("mkdir -p tree/sub").expect(0, "");
    for (name, length) in [("empty", 0), ("one", 1), ("sub/d e+%.txt", 300_000), ("long", LONG)] {
        sandbox.write(&format!("tree/{name}"), sample(length));
    }
    run(&["seal", "tree/one", "--to", "az://bucket/one.dpn"]).expect(0, "");
    run(&["seal", "tree/one", "--to", "az://bucket/one.dpn"]).expect(2, "an object with this key exists already");
    run(&["seal", "--force", "tree/long", "--to", "az://bucket/one.dpn"]).expect(0, "");
    let range = run(&["open", "--range", "70000000:5", "az://bucket/one.dpn", "-o", "-"]).expect(0, "");
    assert_eq!(range.stdout(), &sample(LONG)[70_000_000..70_000_005]);

    let seal = ["seal", "--each", "tree", "--to", "az://bucket/tree/"];
    run(&seal).expect(0, "4 objects");
    run(&seal).expect(0, "4 there already");
    run(&["open", "az://bucket/tree/", "--to", "back"]).expect(0, "4 objects");
    sandbox.shell("diff -r tree back").expect(0, "");
    run(&["open", "az://bucket/tree/", "--to", "az://bucket/clear/"]).expect(0, "4 objects");
    let again = ["seal", "az://bucket/clear/", "--to", "az://bucket/again/"];
    run(&again).expect(0, "4 objects");
    run(&again).expect(0, "4 there already");
    run(&["open", "--verify", "az://bucket/again/"]).expect(0, "again/long.dpn (whole and unchanged)");
    sandbox.write("tree/one", "changed");
    run(&["seal", "tree/one", "-o", "changed.dpn"]).expect(0, "");
    run(&["open", "--force", "changed.dpn", "--to", "az://bucket/clear/one"]).expect(0, "");
    run(&again).expect(2, "az://bucket/clear/one: its result is older than it is");
    run(&[&again[..], &["--force"]].concat()).expect(0, "1 object");
    let opened = run(&["open", "az://bucket/again/one.dpn", "-o", "-"]).expect(0, "");
    assert_eq!(opened.stdout(), b"changed");

    run(&["open", "az://bucket/none", "-o", "-"]).expect(2, "there is no such object");
    let missing = run(&["open", "az://other/none", "-o", "-"]).expect(2, "there is no such bucket");
    missing.expect(2, "check the container's name");
    // The key is already one of the recipients.
    run(&["rewrap", "-r", "home/ecc.pub", "az://bucket/one.dpn"]).expect(0, "");
    sandbox.run(&["keygen", "--no-passphrase", "--mode", "ecc", "-o", "bob.key"]).expect(0, "");
    run(&["rewrap", "-r", "bob.pub", "az://bucket/again/one.dpn"]).expect(0, "");
    run(&["open", "-i", "bob.key", "--verify", "az://bucket/again/one.dpn"]).expect(0, "whole and unchanged");
}
