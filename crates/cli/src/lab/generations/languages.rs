//! The other languages: Deadpan's package in each, and the usual way without it.
//!
//! `scripts/bench languages --workers` builds a worker for each language and prints their folder, which the environment
//! variable `DEADPAN_WORKERS` names.

use super::{Told, Way};

/// Returns the line that runs an operation of a worker once.
macro_rules! told {
    ($language:literal, $operation:literal) => {
        Told(concat!("echo '", $operation, " {bytes} 1' | \"$DEADPAN_WORKERS/", $language, "\" > '{result}'"))
    };
}

/// Returns a way whose actions a worker has. The first word of the name is the program that must be installed.
macro_rules! way {
    ($name:literal, $language:literal, $seal:literal, $open:literal) => {
        Way::peer($name, [told!($language, $seal), told!($language, $open)]).setup(concat!(
            "test -x \"$DEADPAN_WORKERS/",
            $language,
            "\" || { echo \"DEADPAN_WORKERS names no folder with its worker\" >&2; exit 1; }"
        ))
    };
}

/// Bytes in memory, to an output that was used before.
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

/// Files by path, in the system's folder for temporary files.
pub(super) fn files() -> Vec<Way> {
    vec![
        way!("python3 deadpan", "python", "file.seal", "file.open"),
        way!("go deadpan", "go", "file.seal", "file.open"),
        way!("java deadpan", "java", "file.seal", "file.open"),
    ]
}
