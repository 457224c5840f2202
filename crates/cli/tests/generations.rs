//! `deadpan lab speed --table generations`, small: every row is there, with a rate or a reason.

mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;

fn table(sandbox: &Sandbox, scale: &str, more: &[&str]) -> Value {
    let common = ["lab", "speed", "--table", "generations", "--rounds", "1", "--json", "record.json", "--scale", scale];
    sandbox.run(&[&common[..], more].concat()).expect(0, "");
    let record: Value = serde_json::from_slice(&sandbox.read("record.json")).unwrap();
    record["generations"].clone()
}

/// What is measured of ours must be there: a skip says what this build lacks.
fn check(row: &Value) {
    let what = format!("{row}");
    match row["rate"].as_f64() {
        Some(rate) => assert!(rate > 0.0 && row["minimum"].as_f64().unwrap() > 0.0 && row["skipped"].is_null(), "{what}"),
        None => assert!(!row["skipped"].as_str().unwrap().is_empty() && row["ratio"].is_null(), "{what}"),
    }
}

#[test]
fn every_row_has_a_rate_or_a_reason() {
    let sandbox = Sandbox::new();
    // Bytes with a passphrase hash it a dozen times: their kernels have a test of their own.
    let targets = ["integers", "file", "folder", "bytes, key", "random"].map(|target| ["--target", target]);
    let options = ["--sets", "A,E", "--contents", "random", "--peers", "tar,age"];
    let found = table(&sandbox, "0.0005", &[&options[..], targets.as_flattened()].concat());
    let rows = found["rows"].as_array().unwrap();
    rows.iter().for_each(check);
    let of = |workload: &str, operation: &str, variant: &str| {
        let same = |row: &&Value| row["workload"] == workload && row["operation"] == operation && row["variant"] == variant;
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
                assert!(of(workload, operation, variant)["rate"].as_f64().is_some(), "{}", of(workload, operation, variant));
            }
        }
    }
    for (workload, operation) in [("folder", "pack"), ("folder, passphrase", "open"), ("random to a file", "make")] {
        assert!(of(workload, operation, "plain write")["rate"].as_f64().is_some());
        of(workload, operation, "all cores");
    }
    assert!(of("folder", "unpack", "tar")["rate"].as_f64().is_some() || of("folder", "unpack", "tar")["skipped"].is_string());
    assert!(rows.iter().all(|row| !row["variant"].as_str().unwrap().starts_with("gpg")), "it was not asked for");
    assert_eq!(found["targets"].as_array().unwrap().len(), 10);
    assert_eq!(sandbox.names(), ["record.json"], "nothing stays behind");
}

#[test]
fn a_page_with_a_name_of_its_own() {
    let sandbox = Sandbox::new();
    table(&sandbox, "0.0005", &["--sets", "A", "--target", "file, key", "--peers=", "--markdown", "results/generations.md"]);
    let page = String::from_utf8(sandbox.read("results/generations.md")).unwrap();
    assert!(page.contains("## Whole workloads") && page.contains("| file, key | seal | all cores |"), "{page}");
    assert!(page.contains("deadpan lab speed --table generations --scale 0.0005 --sets A --rounds 1"), "{page}");
    // A set for which there is no room is left out, and the page says so.
    let found = table(&sandbox, "100", &["--sets", "D", "--target", "plain file"]);
    assert!(found["rows"].as_array().unwrap().is_empty() && found["notes"].to_string().contains("skipped: set D: it needs"), "{found}");
}

#[test]
fn unknown_names_are_refused_with_those_that_there_are() {
    let sandbox = Sandbox::new();
    let run = |more: &[&str]| sandbox.run(&[&["lab", "speed", "--table", "generations"], more].concat());
    run(&["--peers", "winzip"]).expect(2, "no peer is called winzip\nhint: there are cp, cat, openssl");
    run(&["--target", "tape"]).expect(2, "no workload is called tape\nhint: there are integers");
    let list = run(&["--list"]).expect(0, "");
    assert!(String::from_utf8_lossy(list.stdout()).contains("file, key: seal and open; beside plain write; cp; age; openssl enc; gpg -z0"));
}
