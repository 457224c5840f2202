//! The workloads in other languages: Deadpan's package for each language, and the libraries that programs in this
//! language usually use instead of Deadpan.
//!
//! `scripts/bench languages --workers` builds a worker for each language and prints the folder of the workers. The
//! environment variable `DEADPAN_WORKERS` must contain the path of this folder.

use super::{Told, Way};

/// Returns the shell command that makes a worker run an operation once.
macro_rules! told {
    ($language:literal, $operation:literal) => {
        Told(concat!("echo '", $operation, " {bytes} 1' | \"$DEADPAN_WORKERS/", $language, "\" > '{result}'"))
    };
}

/// Makes a `Way` (a program to measure) whose operations run in a worker program. The first word of `$name` is the name
/// of a program that must be installed.
macro_rules! way {
    ($name:literal, $language:literal, $seal:literal, $open:literal) => {
        Way::peer($name, [told!($language, $seal), told!($language, $open)]).setup(concat!(
            "test -x \"$DEADPAN_WORKERS/",
            $language,
            "\" || { echo \"DEADPAN_WORKERS names no folder with its worker\" >&2; exit 1; }"
        ))
    };
}

/// Returns the `Way` values for sealing and opening bytes in memory. The output goes into memory that the program has
/// used before.
pub(super) fn bytes() -> Vec<Way> {
    vec![
        way!("python3 deadpan", "python", "seal", "open"),
        way!("python3 cryptography", "python", "aesgcm.seal", "aesgcm.open"),
        way!("go deadpan", "go", "seal", "open"),
        way!("go std", "go", "std.seal", "std.open"),
        way!("java deadpan", "java", "seal", "open"),
        way!("java jca", "java", "jca.seal", "jca.open"),
    ]
}

/// Returns the `Way` values for files that are named by path. The files are in the system's folder for temporary files.
pub(super) fn files() -> Vec<Way> {
    vec![
        way!("python3 deadpan", "python", "file.seal", "file.open"),
        way!("go deadpan", "go", "file.seal", "file.open"),
        way!("java deadpan", "java", "file.seal", "file.open"),
    ]
}
