//! Decodes 64 symbols of Base64, which are one line of a private key in a PEM file.

use std::process::ExitCode;

use deadpan_lab::Target;

fn main() -> ExitCode {
    let mut output = [0; 48];
    known_leaks_judge::judge(
        Target::new("decoding", 64, move |symbols| decode(symbols, &mut output)).fixed("zeroes", &[b'A'; 64]).class(
            "random",
            |random, symbols| {
                let all = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                symbols.fill_with(|| all[random.below(64) as usize]);
            },
        ),
    )
}

#[cfg(feature = "leaky")]
fn decode(symbols: &[u8], output: &mut [u8]) -> bool {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode_slice(symbols, output).is_ok()
}

#[cfg(not(feature = "leaky"))]
fn decode(symbols: &[u8], output: &mut [u8]) -> bool {
    use base64ct::Encoding as _;
    base64ct::Base64::decode(symbols, output).is_ok()
}
