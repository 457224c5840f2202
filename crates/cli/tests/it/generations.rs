//! Runs `deadpan lab speed --table generations` with little data: every row exists, and has a rate or a reason for the
//! missing rate.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn table(sandbox: &Sandbox, scale: &str, more: &[&str]) -> Value {
    let common = ["lab", "speed", "--table", "generations", "--rounds", "1", "--json", "record.json", "--scale", scale];
    sandbox.run(&[&common[..], more].concat()).expect(0, "");
    let record: Value = serde_json::from_slice(&sandbox.read("record.json")).unwrap();
    record["generations"].clone()
}

/// Checks that each row of Deadpan itself was measured. A skipped row would mean that this build lacks a feature.
fn check(row: &Value) {
    let what = format!("{row}");
    match row["rate"].as_f64() {
        Some(rate) => {
            assert!(rate > 0.0 && row["minimum"].as_f64().unwrap() > 0.0 && row["skipped"].is_null(), "{what}")
        }
        None => assert!(!row["skipped"].as_str().unwrap().is_empty() && row["ratio"].is_null(), "{what}"),
    }
}

#[test]
fn every_row_has_a_rate_or_a_reason() {
    let sandbox = Sandbox::new();
    // The workload "bytes" with a passphrase hashes the passphrase a dozen times, which is slow. The kernels have their
    // own test.
    let targets = ["integers", "file", "folder", "bytes, key", "random"].map(|target| ["--target", target]);
    let options = ["--sets", "A,E", "--contents", "random", "--peers", "tar,age"];
    let found = table(&sandbox, "0.0005", &[&options[..], targets.as_flattened()].concat());
    let rows = found["rows"].as_array().unwrap();
    rows.iter().for_each(check);
    let of = |workload: &str, operation: &str, variant: &str| {
        let same =
            |row: &&Value| row["workload"] == workload && row["operation"] == operation && row["variant"] == variant;
        rows.iter().find(same).unwrap_or_else(|| panic!("no row {workload}, {operation}, {variant}"))
    };
    for (workload, operations) in [
        ("integers", &["compute"][..]),
        ("plain file", &["write", "read"]),
        ("file, passphrase", &["seal", "open"]),
        ("file, key", &["seal", "open"]),
        ("bytes, key", &["seal", "open"]),
    ] {
        for operation in operations {
            for variant in ["one core", "all cores"] {
                assert!(
                    of(workload, operation, variant)["rate"].as_f64().is_some(),
                    "{}",
                    of(workload, operation, variant)
                );
            }
        }
    }
    for (workload, operation) in [("folder", "pack"), ("folder, passphrase", "open"), ("random to a file", "make")] {
        assert!(of(workload, operation, "plain write")["rate"].as_f64().is_some());
        of(workload, operation, "all cores");
    }
    assert!(
        of("folder", "unpack", "tar")["rate"].as_f64().is_some()
            || of("folder", "unpack", "tar")["skipped"].is_string()
    );
    assert!(rows.iter().all(|row| !row["variant"].as_str().unwrap().starts_with("gpg")), "gpg was not requested");
    assert_eq!(found["targets"].as_array().unwrap().len(), 10);
    assert_eq!(sandbox.names(), ["record.json"], "no temporary files remain");
}

#[test]
fn the_page_can_have_another_name() {
    let sandbox = Sandbox::new();
    table(
        &sandbox,
        "0.0005",
        &["--sets", "A", "--target", "file, key", "--peers=", "--markdown", "results/generations.md"],
    );
    let page = String::from_utf8(sandbox.read("results/generations.md")).unwrap();
    assert!(page.contains("## Whole workloads") && page.contains("| file, key | seal | all cores |"), "{page}");
    assert!(page.contains("deadpan lab speed --table generations --scale 0.0005 --sets A --rounds 1"), "{page}");
    // A set that does not fit into memory is not measured, and the page reports that.
    let found = table(&sandbox, "100", &["--sets", "D", "--target", "plain file"]);
    assert!(
        found["rows"].as_array().unwrap().is_empty() && found["notes"].to_string().contains("skipped: set D: needs"),
        "{found}"
    );
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| sandbox.run(&[&["lab", "speed", "--table", "generations"], more].concat());
    run(&["--peers", "winzip"]).expect(2, "no peer is called winzip\nhint: the peers are cp, cat, openssl");
    run(&["--target", "tape"]).expect(2, "no workload is called tape\nhint: the workloads are integers");
    let list = run(&["--list"]).expect(0, "");
    assert!(
        String::from_utf8_lossy(list.stdout())
            .contains("file, key: seal and open; beside plain write; cp; age; openssl enc; gpg -z0")
    );
}

/// Returns the files that a run leaves in the folder for temporary files, which is the sandbox itself.
fn left_by(sandbox: &Sandbox, script: &str) -> Vec<String> {
    let run = "deadpan lab speed --table generations --sets A --scale 0.1 --rounds 1 --peers= --dir .";
    sandbox.shell(&format!("export TMPDIR=$PWD; {}", script.replace("RUN", run)));
    sandbox.names()
}

#[test]
fn a_closed_pipe_leaves_no_data_folder() {
    let sandbox = Sandbox::new();
    assert_eq!(left_by(&sandbox, "RUN | head -1; echo ${PIPESTATUS[0]} > code"), ["code"]);
    assert_eq!(sandbox.read("code"), b"141\n");
    assert_eq!(left_by(&sandbox, "rm code; deadpan lab speed --target ct | head -1"), [""; 0]);
}

#[test]
fn signals_leave_no_data_folder() {
    let sandbox = Sandbox::new();
    let wait = "until compgen -G '*-data/plain' > /dev/null; do sleep 0.05; done";
    for signals in ["TERM", "INT", "HUP", "INT INT", "TERM TERM"] {
        let sent: String = signals.split(' ').map(|signal| format!("kill -{signal} $!; sleep 0.2; ")).collect();
        // Without `set -m` the shell would make the program ignore SIGINT.
        let script = format!("set -m; RUN > /dev/null & {wait}; {sent} wait $!; echo $? > code");
        assert_eq!(left_by(&sandbox, &script), ["code"], "{signals}");
        assert_eq!(sandbox.read("code"), b"130\n", "{signals}");
    }
}
