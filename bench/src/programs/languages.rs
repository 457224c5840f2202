//! The table of languages: compares the bindings with Rust, and with other packages of the same languages.
//!
//! Each language has a worker, which `scripts/bench` builds. A worker is a program that runs named operations on
//! request, and reports how long each operation took. The script `ask` in the folder of the workers starts a worker,
//! and prints the duration of one call in nanoseconds.

use super::{facts, operations};
use deadpan_lab::speed::workload::Action::Told;
use deadpan_lab::speed::workload::{Goal, Offer, Set, Subject, Way, Workload};

const ABOUT: &str = "\
A worker in each language runs an operation until its code is compiled and its memory was used, and then tells how long
the next calls take. All seal to the same kind of key, X-Wing (hybrid), and open with it. Files lie in the system's
folder for temporary files; the command line is measured with the start of its process.

What stays slower than Rust, and why:

- Python's buffers (`seal_into`, `open_into`): other threads and processes may write to them meanwhile, and whoever
  changed sealed data between their check and their decryption would get forged data past it. So they are copied piece
  by piece, in and out. `bytes` cannot change and are not copied in.
- Java's arrays over 4 MiB are copied too, because the collector would otherwise wait for the whole call; buffers and
  segments outside of the heap are not. A new array is cleared by Java itself, on one thread and in small pages, which
  takes longer than sealing.
- New objects of all languages depend on huge pages: where the system has none free, clearing takes three times as
  long.";

const SMALL: u64 = 1 << 10;
const LARGE: u64 = 1 << 30;

/// Returns the table.
pub fn offer(quick: bool) -> Offer {
    let mut sets = vec![Set::file("1 KiB", SMALL), Set::file("1 MiB", 1 << 20)];
    if !quick {
        sets.push(Set::file("1 GiB", LARGE));
    }
    Offer {
        title: "The languages beside each other",
        about: ABOUT,
        sets,
        workloads: vec![used(), new(), files(), base64()],
        facts: facts([]),
        ..Offer::default()
    }
}

/// Returns the action that makes a worker program run an operation.
macro_rules! told {
    ($language:literal, $operation:literal) => {
        Told(concat!("\"$DEADPAN_WORKERS/ask\" ", $language, " ", $operation, " {bytes} > '{result}'"))
    };
}

/// Returns a variant whose actions make a worker program run operations. The first word of a variant's name is the
/// program that must be installed.
macro_rules! way {
    ($make:ident, $name:literal, $language:literal, $seal:literal, $open:literal) => {
        Way::$make($name, [told!($language, $seal), told!($language, $open)]).setup(concat!(
            "test -x \"$DEADPAN_WORKERS/",
            $language,
            "\" || { echo \"the worker could not be built\" >&2; exit 1; }"
        ))
    };
}

fn used() -> Workload {
    let ways = vec![
        way!(ours, "rust", "rust", "seal", "open"),
        way!(ours, "C library", "rust", "c.seal", "c.open"),
        way!(peer, "python3 deadpan", "python", "seal", "open"),
        way!(peer, "python3 cryptography, AES-GCM, shared key", "python", "aesgcm.seal", "aesgcm.open"),
        way!(peer, "go deadpan", "go", "seal", "open"),
        way!(peer, "go std, hybrid", "go", "std.seal", "std.open"),
        way!(peer, "go age, X25519", "go", "age.seal", "age.open"),
        way!(peer, "java deadpan", "java", "seal", "open"),
        way!(peer, "java deadpan, arrays", "java", "seal.array", "open.array"),
        way!(peer, "java javax.crypto, X25519", "java", "jca.seal", "jca.open"),
    ];
    let mut workload =
        Workload::new("an output that was used before", Subject::Memory, operations(["seal", "open"]), ways);
    for (language, more) in
        [("C library", 3e-6), ("go deadpan", 3e-6), ("java deadpan", 3e-6), ("python3 deadpan", 5e-6)]
    {
        workload = workload
            .goal(Goal::over(more, "rust").by(language).at(SMALL..=SMALL))
            .goal(Goal::times(1.0 / 0.95, "rust").by(language).at(LARGE..=LARGE));
    }
    workload.beside("rust")
}

fn new() -> Workload {
    let ways = vec![
        way!(ours, "rust", "rust", "seal.new", "open.new"),
        way!(peer, "python3 deadpan", "python", "seal.new", "open.new"),
        way!(peer, "go deadpan", "go", "seal.new", "open.new"),
        way!(peer, "java deadpan", "java", "seal.new", "open.new"),
    ];
    Workload::new("a new output", Subject::Memory, operations(["seal", "open"]), ways)
        .beside("rust")
        .goal(Goal::times(1.0 / 0.95, "rust").by("deadpan").at(LARGE..=LARGE))
}

fn files() -> Workload {
    let ways = vec![
        way!(ours, "the command line", "rust", "command.seal", "command.open"),
        way!(peer, "python3 deadpan", "python", "file.seal", "file.open"),
        way!(peer, "go deadpan", "go", "file.seal", "file.open"),
        way!(peer, "java deadpan", "java", "file.seal", "file.open"),
    ];
    Workload::new("from file to file", Subject::Memory, operations(["seal", "open"]), ways)
        .on(["1 MiB", "1 GiB"])
        .beside("the command line")
        .goal(Goal::times(1.0 / 0.97, "the command line").by("deadpan").at(LARGE..=LARGE))
}

fn base64() -> Workload {
    let ways = vec![
        way!(ours, "rust", "rust", "base64.seal", "base64.open"),
        way!(peer, "python3 deadpan", "python", "base64.seal", "base64.open"),
        way!(peer, "python3 pybase64", "python", "pybase64.seal", "pybase64.open"),
        way!(peer, "python3 base64", "python", "std-base64.seal", "std-base64.open"),
    ];
    Workload::new("base64", Subject::Memory, operations(["encode", "decode"]), ways)
        .on(["1 KiB", "1 MiB"])
        .beside("python3 pybase64")
        .goal(Goal::times(1.0 / 1.2, "python3 pybase64").by("python3 deadpan").at(SMALL..=SMALL))
        .goal(Goal::times(1.0, "python3 pybase64").by("python3 deadpan").at(1 << 20..=1 << 20))
}
