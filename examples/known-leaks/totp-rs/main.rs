//! Compares a wrong one-time code with the right code.

use std::process::ExitCode;

use totp_rs::{Algorithm, TOTP};

use deadpan_lab::Target;

fn main() -> ExitCode {
    let totp = TOTP::new(Algorithm::SHA1, 6, 0, 30, b"12345678901234567890".to_vec());
    let right = totp.generate(1_000_000);
    let other = right.clone();
    let wrong = |right: &str, place: usize, code: &mut [u8]| {
        code.copy_from_slice(right.as_bytes());
        code[place] = if code[place] == b'9' { b'0' } else { code[place] + 1 };
    };
    known_leaks_judge::judge(
        Target::new("check", 6, move |code| totp.check(std::str::from_utf8(code).expect("digits"), 1_000_000))
            .class("first", move |_, code| wrong(&right, 0, code))
            .class("last", move |_, code| wrong(&other, 5, code)),
    )
}
