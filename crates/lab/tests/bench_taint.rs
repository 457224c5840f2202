//! A benchmark that restarts itself under Valgrind, as `cargo bench -- --taint` does.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::hint::black_box;
use std::process::{Command, ExitCode};

use deadpan_lab::{Target, harness};

const CHILD: &str = "DEADPAN_LAB_BENCH";

fn targets() -> Vec<Target> {
    let class = |target: Target| target.fixed("zeros", &[0; 16]).class("random", |random, input| random.fill(input));
    vec![
        class(Target::new("steady", 16, |input| input.iter().fold(0, |all, byte| black_box(all | byte)))),
        class(Target::new("leaky", 16, |input| input.iter().all(|&byte| black_box(byte) == 0))),
        Target::prepared(
            "leaky key",
            ["random"],
            |random, _| random.bits(),
            |key| {
                if black_box(*key) & 1 == 1 { black_box(1) } else { black_box(2) }
            },
        ),
    ]
}

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_some() {
        return harness::main(targets);
    }
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux")))
        || Command::new("valgrind").arg("--version").output().is_err()
    {
        eprintln!("skipped: Valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    let run = |arguments: &[&str]| {
        let program = std::env::current_exe().expect("a program");
        let output = Command::new(program).args(arguments).env(CHILD, "1").output().expect("the benchmark runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, out) = run(&["--bench", "--taint"]);
    assert_eq!(code, Some(10), "{out}");
    let line =
        |name: &str| out.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap_or_default().to_owned();
    assert!(line("steady").contains("no jump and no address depends"), "{out}");
    for leaky in ["leaky", "leaky key"] {
        assert!(line(leaky).contains("on the secret, see Valgrind's messages"), "{out}");
    }
    assert!(out.contains("3 targets checked, 2 leak"), "{out}");
    let (code, out) = run(&["--bench", "--taint", "steady"]);
    assert_eq!(code, Some(0), "{out}");
    println!("the benchmark under Valgrind: ok");
    ExitCode::SUCCESS
}
