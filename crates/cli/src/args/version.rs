//! `--version --verbose`: what this program was built from, and what it found on this machine.

use std::env::consts::{ARCH, OS};

/// Returns the lines that follow the version. A release sets the variable `DEADPAN_COMMIT` when it builds the program.
pub(super) fn details() -> String {
    let environment = match (cfg!(target_env = "gnu"), cfg!(target_env = "musl"), cfg!(target_env = "msvc")) {
        (true, _, _) => " gnu",
        (_, true, _) => " musl",
        (_, _, true) => " msvc",
        _ => "",
    };
    format!(
        "commit: {}\ntarget: {ARCH} {OS}{environment}{}\nprocessor: {}\n",
        option_env!("DEADPAN_COMMIT").unwrap_or("unknown"),
        if cfg!(target_feature = "crt-static") { ", static" } else { "" },
        deadpan_ct::cpu::level().name(),
    )
}
