//! Refuses private keys among the arguments. The check runs before the arguments are parsed, so that no error message
//! repeats a key: messages are often stored in logs.

use std::ffi::OsString;
use std::path::Path;

use crate::key::home::Home;
use crate::tell::failure::Failure;

/// The prefix of age's private keys, in lower case.
const AGE: &str = "age-secret-key-";
/// The alphabet of Bech32, the encoding of age's keys.
const BECH32: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// The minimum number of letters that are treated as the data of a key. Fewer letters can be the rest of a file's name,
/// as in `age-secret-key-1.txt`.
const FEWEST: usize = 5;
/// The minimum number of consecutive letters that look like a key, regardless of the text before them. An age key has
/// 58 such letters.
const MANY: usize = 40;
/// The number of base64 letters that are decoded to recognize a DER header and an algorithm.
const PEM_START: usize = 40;
/// The beginning of PKCS #5 identifiers in DER. A PKCS #5 identifier is at the beginning of each encrypted private key.
const PKCS5: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05];

/// The options whose value is a key, in lower case.
const KEY_OPTIONS: [&str; 5] = ["-r", "-i", "--recipient", "--recipients-file", "--identity"];

/// Returns an error if a private key is among the arguments, in whole or in part.
pub fn refuse(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy().to_ascii_lowercase()).collect();
    // If a PEM text is not in quotes, the shell splits it at its spaces.
    if holds_private_key(&words.join(" ")) || arguments.iter().any(is_pem_data) {
        return Err(Failure::usage(
            "there is a private key among the arguments, which everybody on this machine can see",
            "treat this key as known and make a new one; name a private key by its file, and seal to its public part",
        ));
    }
    // The base64 of a PEM file can look like a damaged key by chance, so the code looks for undamaged keys first.
    let damaged =
        |argument: &OsString| looks_like_damaged_key(&argument.to_string_lossy()) && !Path::new(argument).exists();
    if arguments.iter().any(damaged) {
        return Err(Failure::usage(
            "an argument looks like a key whose beginning is damaged, and it may be a private key",
            "recipients begin with age1; name a private key by its file, and make a new one if this was one",
        ));
    }
    if names_raw_key(&words) {
        return Err(Failure::usage(
            "64 hexadecimal digits are not the name of a key, and may be a private key",
            "name a key by its file, by a name that `deadpan keys` lists, or as an age recipient (age1…)",
        ));
    }
    Ok(())
}

/// Whether an argument contains a raw key (32 bytes as 64 hexadecimal digits) at a place where a key is expected.
/// Elsewhere, 64 hexadecimal digits are more likely the hash of a file, since many programs use the hash as the file's
/// name.
fn names_raw_key(words: &[String]) -> bool {
    let is_of_keys = words.get(1).is_some_and(|word| word == "keys");
    (1..words.len()).any(|index| {
        let (before, word) = (words[index - 1].as_str(), words[index].as_str());
        let attached = ["--recipient=", "--recipients-file=", "--identity=", "-r", "-i"];
        let value = attached.iter().find_map(|option| word.strip_prefix(option));
        let stands_alone = is_of_keys || KEY_OPTIONS.contains(&before);
        let value = value.or_else(|| stands_alone.then_some(word)).unwrap_or_default();
        let is_raw = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_raw && !Path::new(value).exists() && !Path::new(&value.to_uppercase()).exists() && !is_name(value)
    })
}

fn is_name(word: &str) -> bool {
    Home::find().is_ok_and(|home| home.names().iter().any(|name| name.eq_ignore_ascii_case(word)))
}

/// Whether an argument contains the first line of a private key's PEM data. The `BEGIN` and `END` lines may be missing.
fn is_pem_data(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/".contains(letter);
    let runs = text.split(|letter| !is_base64(letter)).map(|run| run.trim_start_matches('/'));
    runs.filter(|run| run.len() >= MANY).any(|run| {
        let start = deadpan_base64::STANDARD.decode(&run.as_bytes()[..PEM_START]);
        start.is_ok_and(|bytes| is_private_der(&bytes))
    })
}

/// Whether DER begins like PKCS #8: a sequence, version 0 or 1, and then the sequence of the algorithm. The encrypted
/// form has no version, and its sequence of the algorithm has an identifier from PKCS #5.
fn is_private_der(bytes: &[u8]) -> bool {
    let inner = match bytes {
        [0x30, 0x82, _, _, inner @ ..] | [0x30, 0x81, _, inner @ ..] | [0x30, _, inner @ ..] => inner,
        _ => return false,
    };
    let encrypted = inner.windows(PKCS5.len()).any(|window| window == PKCS5);
    matches!(inner, [0x02, 0x01, 0 | 1, 0x30, ..]) || encrypted
}

/// Whether a text in lower case contains a private key.
fn holds_private_key(text: &str) -> bool {
    text.contains("private key-----") || text.match_indices(AGE).any(|(index, _)| is_age(&text[index + AGE.len()..]))
}

/// Whether a word contains the data of an age key, but neither the prefix of a private key nor the prefix of a
/// recipient. All letters of an age key have the same case. In base64, such as a public key of SSH, forty letters in a
/// row often belong to Bech32, but hardly ever have the same case.
fn looks_like_damaged_key(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let has_run = |alphabet: &str| word.split(|letter| !alphabet.contains(letter)).any(|run| run.len() >= MANY);
    // An undamaged prefix shows whether the word is a private key or a recipient.
    !lower.contains(AGE) && !lower.contains("age1") && (has_run(BECH32) || has_run(&BECH32.to_ascii_uppercase()))
}

/// Whether the text after the prefix is the data of a key, and not the rest of a file's name.
fn is_age(rest: &str) -> bool {
    let data = rest.strip_prefix("pq-").unwrap_or(rest);
    let letters = data.strip_prefix('1').unwrap_or_default().chars().take_while(|letter| BECH32.contains(*letter));
    // Even with one wrong letter, the text still reveals the key.
    letters.count() >= FEWEST || data.chars().take_while(char::is_ascii_alphanumeric).count() >= MANY
}

#[cfg(test)]
mod tests {
    use super::refuse;

    const KEY: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

    #[test]
    fn private_keys_are_found_in_either_case_and_anywhere() {
        let lower = KEY.to_lowercase();
        for text in [
            KEY,
            &lower,
            &format!("--recipient={lower}"),
            &format!("./{KEY}"),
            &KEY[..22],
            &KEY.replace("-1G", "-G"),
            "AGE-SECRET-KEY-PQ-1GFPYYSJZG",
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEI",
            "-----begin encrypted private key-----",
        ] {
            let failure = refuse(["seal", "-r", text].map(Into::into)).unwrap_err();
            assert!(!failure.message.contains("GFPY") && !failure.message.contains("gfpy"), "{}", failure.message);
        }
        assert!(refuse(["-r", "-----BEGIN", "PRIVATE", "KEY-----", "MC4C"].map(Into::into)).is_err());
        for text in [&KEY[1..], &KEY[14..], &KEY[16..], &KEY.replace("SECRET", "SECRT"), &format!("x={}", &lower[3..])]
        {
            let failure = refuse(["open", "-i", text].map(Into::into)).unwrap_err();
            assert!(failure.message.contains("looks like a key"), "{}", failure.message);
        }
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let public = format!("age1{}", &lower[16..]);
        for words in [["seal", "-r", hash], ["seal", "-R", hash], ["deadpan", "keys", hash], ["x", "open", "-i"]] {
            let words = words.map(String::from).into_iter().chain([hash.to_uppercase()]);
            let failure = refuse(words.map(Into::into)).unwrap_err();
            assert!(failure.message.contains("64 hexadecimal digits") && !failure.message.contains("9f86"));
        }
        let attached = format!("--identity={hash}");
        assert!(refuse(["open", &attached].map(Into::into)).is_err());
        for word in [hash, &format!("{hash}.dpn"), &format!("--output={hash}"), &hash[1..]] {
            assert!(refuse(["deadpan", "seal", "-o", word].map(Into::into)).is_ok(), "{word}");
            assert!(refuse(["deadpan", "open", word].map(Into::into)).is_ok(), "{word}");
        }
        for name in [&hash[1..], &public, &format!("--recipient={public}"), &"a".repeat(200).replace("aaaa", "aaab")] {
            assert!(refuse(["open", "-i", name].map(Into::into)).is_ok(), "{name}");
        }
        // The second lines of PEM files: the private keys of X25519, ML-KEM and hybrid, an encrypted private key, and
        // then a public key of X25519.
        for data in [
            "MC4CAQAwBQYDK2VuBCIEIIRKqyro+Qyb2D4lTKWTX9lXkJoCUbSf6E0q26DoxeMw",
            "MFQCAQAwCwYJYIZIAWUDBAQCBEKAQNi0j3nhqPV9Cyuy+ZJ5++p9cQTjfWl/",
            "MDQCAQAwDQYLKwYBBAGD5i2ByHoEIMtpGJ/tvdbmYXmvKf4lHGk8yLApjRQl",
            "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAibTcQGy+7OtQICCAAw",
        ] {
            for text in [data, &format!("--recipient={data}"), &format!("./{data}"), &format!("note\n{data}\n")] {
                let failure = refuse(["seal", "-r", text].map(Into::into)).unwrap_err();
                assert!(failure.message.contains("there is a private key"), "{}", failure.message);
            }
        }
        // An earlier version took one Ed25519 key of SSH in three hundred for a damaged private key.
        let ssh = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIQpzRy9X8gF2tVdW0S3jN54KHCe6mUa7lQPzry9x8gf2";
        assert!(refuse(["keys", "add", "bob", ssh].map(Into::into)).is_ok());
        let public = "MCowBQYDK2VuAyEAhEqrKuj5DJvYPiVMpZNf2VeQmgJRtJ/oTSrboOjF4zA=";
        assert!(refuse(["seal", "-r", public].map(Into::into)).is_ok());
        // In rare cases, base64 text has forty letters of Bech32 in a row. In this test, the `BEGIN` line shows that
        // the key is private.
        let unlucky = format!("-----BEGIN PRIVATE KEY-----\n{}", "qpzry9x8".repeat(6));
        assert!(refuse(["-r", &unlucky].map(Into::into)).unwrap_err().message.contains("there is a private key"));
        for name in ["age-secret-key-1.txt", "AGE-SECRET-KEY-backup", "age1qqqq", "private key.pem", "PUBLIC KEY-----"]
        {
            assert!(refuse(["open", "-i", name].map(Into::into)).is_ok(), "{name}");
        }
    }
}
