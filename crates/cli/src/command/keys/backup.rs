//! `deadpan keys backup` and `restore`: a private key as words on paper.

use std::path::{Path, PathBuf};

use crate::key::home::make::{refuse_taken, write_new};
use crate::key::home::{self, GUARD, Home, Public};
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::key::protected::{not_private, unlock_any};
use crate::key::words::{self, WORDS};
use crate::place::held;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{count, shown};
use crate::tell::streams::{STDIN, print};
use deadpan_ct::Wiped;
use deadpan_seal::key::Found;
use deadpan_seal::sign::{Scheme, SigningKey, SigningMaterial};
use deadpan_seal::{Kem, Material, PrivateKey, Secret};

/// The words in a line of a backup.
const IN_LINE: usize = 6;
/// The number of bytes that 24 words encode.
const PART: usize = 32;

#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// The name of the key, or a path for its file
    name: String,
    /// The file with the words, or - for standard input [default: standard input]
    #[arg(value_name = "FILE", value_parser = stdin_or_path(), default_value = "-")]
    words: PathBuf,
    /// The kind of the key, if the words have no line that names it: X-Wing, X25519, P-256, ML-KEM-768, ML-KEM-1024,
    /// ML-KEM-768+P-256, Ed25519, ML-DSA-65, ML-DSA-44+Ed25519
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Do not protect the private key with a passphrase
    #[arg(long, conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_command"])]
    no_passphrase: bool,
    #[command(flatten)]
    source: PassphraseArgs,
}

/// Prints the words of a private key, with a line that names its kind and its fingerprint.
pub fn backup(path: &Path, passphrases: &Passphrases) -> Result<(), Failure> {
    let name = shown(path);
    let key = match home::KeyFile::find(path)?.only()? {
        found @ (Found::Private(_) | Found::Signing(_)) => found,
        Found::Protected(locked) => unlock_any(path, &locked, passphrases)?,
        Found::OpenSsh(file) => return Err(Failure::key(&name, &file.refusal())),
        _ => return Err(not_private(&name)),
    };
    let seed = match &key {
        Found::Private(key) => match key.material() {
            Material::Seed(seed) => Some(seed),
            _ => None,
        },
        Found::Signing(key) => match key.material() {
            SigningMaterial::Seed(seed) => Some(seed),
            SigningMaterial::Expanded(_) => None,
        },
        _ => None,
    };
    let seed = seed.filter(|seed| seed.len() % PART == 0).ok_or_else(|| {
        let hint = "back up the file itself, sealed to a passphrase: deadpan seal -p KEY";
        Failure::usage(format!("{name} holds no seed, so it has no words"), hint)
    })?;
    let public = Public::from_key(&key).ok_or_else(|| not_private(&name))?;
    let mut text = Wiped::new(Vec::with_capacity(1024));
    let about = format!(
        "# A private key of Deadpan. Whoever has these words has the key.\n# Kind {}, fingerprint {}\n",
        public.algorithm(),
        public.fingerprint()
    );
    text.extend_from_slice(about.as_bytes());
    for part in seed.as_chunks::<PART>().0 {
        for line in words::of_bytes(part).chunks(IN_LINE) {
            for (number, word) in line.iter().enumerate() {
                text.extend_from_slice(if number > 0 { b" " } else { b"" });
                text.extend_from_slice(word.as_bytes());
            }
            text.push(b'\n');
        }
    }
    print(str::from_utf8(&text).unwrap_or_default())?;
    say("note: these words are the key, without a passphrase: write them down, and keep them where nobody else looks");
    Ok(())
}

/// Makes the files of a key from its words.
pub fn restore(home: &Home, args: &RestoreArgs) -> Result<(), Failure> {
    let path = match home::check_name(&args.name) {
        Ok(()) => home.own_path(&args.name),
        Err(_) if Path::new(&args.name).components().count() > 1 => PathBuf::from(&args.name),
        Err(failure) => return Err(failure),
    };
    refuse_taken(home, &path)?;
    held::hold([path.as_path()]);
    let from = if args.words.as_os_str() == STDIN { "standard input".into() } else { shown(&args.words) };
    let refused = |why: String| Failure::new(Exit::Data, format!("{from}: {why}"), "compare the words with the paper");
    let (text, _) = home::text(&args.words)?;
    let text = str::from_utf8(&text).map_err(|_| refused("it is no text".into()))?;
    let about = text.lines().find_map(|line| line.strip_prefix("# Kind "));
    let (kind, fingerprint) = about.and_then(|about| about.split_once(", fingerprint ")).unzip();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<_> = lines.flat_map(str::split_whitespace).filter(|word| !is_number(word)).collect();
    if words.is_empty() || words.len() % WORDS != 0 || words.len() > 2 * WORDS {
        return Err(refused(format!("it has {}, and a key has 24 or 48", count(words.len() as u64, "word", "words"))));
    }
    let mut seed = Secret::zeroed(words.len() / WORDS * PART);
    for (number, (words, part)) in words.chunks(WORDS).zip(seed.chunks_mut(PART)).enumerate() {
        let which = if number > 0 { " (of the second 24)" } else { "" };
        part.copy_from_slice(&words::to_bytes(words).map_err(|why| refused(format!("{why}{which}")))?);
    }
    let key = made(args.kind.as_deref().or(kind).unwrap_or("X-Wing"), &seed)?;
    let public = Public::from_key(&key).ok_or_else(|| not_private(&from))?;
    if let Some(wanted) = fingerprint.filter(|wanted| wanted.trim() != public.fingerprint()) {
        return Err(refused(format!("the words give the key {}, and not {}", public.fingerprint(), wanted.trim())));
    }
    let passphrases = Passphrases::new(&args.source);
    let without = "restore it without a passphrase with --no-passphrase";
    let passphrase = if args.no_passphrase {
        None
    } else {
        Some(passphrases.new_one(&format!("the key {}", shown(&path)), without)?)
    };
    write_new(home, &path, &key, passphrase.as_ref())?;
    if passphrase.is_none() {
        say(&format!("note: the key is not protected by a passphrase, and only its file's {GUARD} keeps others away"));
    }
    say(&format!("restored {} ({}, fingerprint {})", shown(&path), public.algorithm(), public.fingerprint()));
    Ok(())
}

/// Whether a word of the text is only the number of the next word, such as `7.`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(['.', ':', ')']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the private key of a kind for its seed.
fn made(kind: &str, seed: &[u8]) -> Result<Found, Failure> {
    let is = |name: &str| name.eq_ignore_ascii_case(kind.trim());
    let failed = |_| {
        let words = seed.len() / PART * WORDS;
        Failure::usage(format!("{words} words are no key of the kind {kind}"), "name the right kind with --kind")
    };
    if let Some(kem) = Kem::ALL.into_iter().find(|kem| is(kem.name())) {
        return PrivateKey::from_seed(kem, seed).map(Found::Private).map_err(failed);
    }
    if let Some(scheme) = Scheme::ALL.into_iter().find(|scheme| is(scheme.name())) {
        return SigningKey::from_seed(scheme, seed).map(Found::Signing).map_err(failed);
    }
    Err(Failure::usage(format!("there is no kind of keys {kind:?}"), "deadpan keys restore --help lists them"))
}
