//! Runs the benchmark program with invalid names of tables.

use std::process::Command;

/// Runs the program, which must fail. Returns its messages.
fn refused(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_deadpan-bench")).args(arguments).output().expect("the program starts");
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn a_table_that_measures_nothing_is_a_failure() {
    assert!(refused(&["parts", "--target", "nothing"]).contains("no function of this table is called nothing"));
    assert!(refused(&["age", "--target", "nothing"]).contains("no workload is called nothing"));
    assert!(refused(&["nothing"]).contains("there is no table nothing"));
}
