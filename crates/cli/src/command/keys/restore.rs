//! `deadpan keys restore`: makes a key from its words, or from the words of its shares.

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};

use crate::key::home::make::{refuse_taken_name, tell_same, write_new};
use crate::key::home::{self, GUARD, Home, Public};
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::key::prompt::Terminal;
use crate::key::protected::not_private;
use crate::key::seed::SeedKind;
use crate::key::words::share::KeyShare;
use crate::key::words::{self, PART, WORDS};
use crate::place::held;
use crate::place::input::Source;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{count, shown};
use crate::tell::streams::STDIN;
use deadpan_disk::About;
use deadpan_seal::Secret;
use deadpan_seal::key::Found;

#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// The name of the key, or a path for its file
    name: String,
    /// The files with the words of the key or of its shares, pages from `keys backup --page`, or - for standard input
    /// [default: standard input]
    #[arg(value_name = "FILE", value_parser = stdin_or_path(), default_value = "-", hide_default_value = true)]
    words: Vec<PathBuf>,
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

/// The words between two comments, with the kind and the fingerprint that the comments before the words state.
#[derive(Default)]
struct Block<'a> {
    kind: Option<&'a str>,
    fingerprint: Option<&'a str>,
    words: Vec<&'a str>,
}

/// Makes the files of a key from its words.
pub fn restore(home: &Home, args: &RestoreArgs) -> Result<(), Failure> {
    let path = match home::check_name(&args.name) {
        Ok(()) => home.own_path(&args.name),
        Err(_) if Path::new(&args.name).components().count() > 1 => PathBuf::from(&args.name),
        Err(failure) => return Err(failure),
    };
    if About::of_path(Path::new(&args.name)).is_ok() && args.name.contains('.') && path != Path::new(&args.name) {
        let hint = format!("the NAME comes first: deadpan keys restore NAME {}", args.name);
        return Err(Failure::usage(format!("{} is a file", args.name), hint));
    }
    refuse_taken_name(home, &path, "restore NAME …")?;
    held::hold([path.as_path()]);
    let reads_stdin = args.words.iter().any(|file| file.as_os_str() == STDIN);
    if reads_stdin {
        args.source.leave_stdin_to(&[Source::Stdin])?;
    }
    let terminal = Terminal::find().filter(|_| reads_stdin && stdin().is_terminal());
    let (key, public) = match terminal {
        Some(terminal) => typed(&terminal, args)?,
        None => from_words(args)?,
    };
    let passphrase = if args.no_passphrase {
        None
    } else {
        let without = "restore it without a passphrase with --no-passphrase";
        Some(Passphrases::new(&args.source).new_one(&format!("the key {}", shown(&path)), without)?)
    };
    write_new(home, &path, &key, passphrase.as_ref())?;
    if passphrase.is_none() {
        say(&format!("note: the key is not protected by a passphrase, and only its file's {GUARD} keeps others away"));
    }
    say(&format!("restored {} ({}, fingerprint {})", shown(&path), public.algorithm(), public.fingerprint()));
    tell_same(home, &path, &public);
    Ok(())
}

/// Asks for the words, and after a mistake once more.
fn typed(terminal: &Terminal, args: &RestoreArgs) -> Result<(Found, Public), Failure> {
    terminal.say("type the words, in any number of lines; Ctrl-D on an empty line ends:");
    from_words(args).or_else(|failure| {
        if failure.exit != Exit::Data {
            return Err(failure);
        }
        terminal.say(&format!("{}; type all words again:", failure.message));
        from_words(args)
    })
}

/// Reads the words, and returns their key.
fn from_words(args: &RestoreArgs) -> Result<(Found, Public), Failure> {
    let texts: Vec<_> = args.words.iter().map(|file| Ok(home::text(file)?.0)).collect::<Result<_, Failure>>()?;
    let mut files = Vec::new();
    for (file, text) in args.words.iter().zip(&texts) {
        let from = if file.as_os_str() == STDIN { "standard input".into() } else { shown(file) };
        let text = str::from_utf8(text).map_err(|_| refused(&from, "it is no text"))?;
        files.push((
            from,
            if text.trim_start().starts_with("<!doctype html") { vec![page(text)] } else { blocks(text) },
        ));
    }
    let (key, from) = key(&files, args.kind.as_deref())?;
    let public = Public::from_key(&key).ok_or_else(|| not_private(from))?;
    for (from, blocks) in &files {
        let mut said = blocks.iter().filter_map(|block| block.fingerprint).map(str::trim);
        if let Some(other) = said.find(|said| !said.eq_ignore_ascii_case(&public.fingerprint())) {
            return Err(refused(from, &format!("the words give the key {}, and not {other}", public.fingerprint())));
        }
    }
    Ok((key, public))
}

fn refused(from: &str, why: &str) -> Failure {
    Failure::new(Exit::Data, format!("{from}: {why}"), "compare the words with the paper")
}

/// Reads a page of `deadpan keys backup --page`.
fn page(text: &str) -> Block<'_> {
    let entry = |begin: &'static str| text.lines().find_map(|line| line.strip_prefix(begin)?.strip_suffix("</dd>"));
    let words = text.lines().filter_map(|line| line.strip_prefix("<li>")?.strip_suffix("</li>"));
    let (kind, fingerprint) = (entry("<dt>Kind</dt><dd>"), entry("<dt>Fingerprint</dt><dd>"));
    Block { kind, fingerprint, words: words.collect() }
}

/// Splits a text into blocks. A comment after words begins a new block.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::default()];
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') && blocks.last().is_some_and(|block| !block.words.is_empty()) {
            blocks.push(Block::default());
        }
        let Some(block) = blocks.last_mut() else { continue };
        if line.starts_with('#') {
            block.kind = said(line, "kind").or(block.kind);
            block.fingerprint = said(line, "fingerprint").or(block.fingerprint);
        } else {
            block.words.extend(line.split_whitespace().filter(|word| !is_number(word)));
        }
    }
    blocks
}

/// Returns the word after `what` in a comment. Users copy comments by hand, so capital letters and signs may differ.
fn said<'a>(comment: &'a str, what: &str) -> Option<&'a str> {
    let mut words = comment.split(['#', ' ', '\t', ',', ':']).filter(|word| !word.is_empty());
    words.find(|word| word.eq_ignore_ascii_case(what)).and_then(|_| words.next())
}

/// Whether a word of the text is only the number of the next word, such as `7.`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(['.', ':', ')']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the private key, and the name of its first file.
fn key<'a>(files: &'a [(String, Vec<Block<'_>>)], kind: Option<&str>) -> Result<(Found, &'a str), Failure> {
    let from = files.first().map_or("", |(from, _)| from);
    let blocks = files.iter().flat_map(|(_, blocks)| blocks);
    let words: Vec<_> = blocks.clone().flat_map(|block| &block.words).copied().collect();
    if words.len() == WORDS || words.len() == 2 * WORDS {
        let kind = kind.or_else(|| blocks.clone().find_map(|block| block.kind)).unwrap_or("X-Wing");
        return whole(from, &words, SeedKind::named(kind)?).map(|key| (key, from));
    }
    let mut shares = Vec::new();
    for (from, blocks) in files {
        let number = shares.len();
        for block in blocks {
            shares_of(from, &block.words, &mut shares)?;
        }
        if shares.len() == number {
            return Err(miscounted(from, 0));
        }
    }
    KeyShare::join(&shares).map(|key| (key, from))
}

fn miscounted(from: &str, words: usize) -> Failure {
    let words = count(words as u64, "word", "words");
    refused(from, &format!("it has {words}, and a key has 24 or 48, and a share 32 or 56"))
}

/// Returns the key that its own words give.
fn whole(from: &str, words: &[&str], kind: SeedKind) -> Result<Found, Failure> {
    let mut seed = Secret::zeroed(words.len() / WORDS * PART);
    for (number, (words, part)) in words.chunks(WORDS).zip(seed.chunks_mut(PART)).enumerate() {
        let which = if number > 0 { " (of the second 24)" } else { "" };
        part.copy_from_slice(&words::to_bytes(words).map_err(|why| refused(from, &format!("{why}{which}")))?);
    }
    kind.key(&seed).map_err(|_| {
        let message = format!("{} words are no key of the kind {}", words.len(), kind.name());
        Failure::usage(message, "name the right kind with --kind")
    })
}

/// Reads the shares in words that stand together.
fn shares_of(from: &str, mut words: &[&str], shares: &mut Vec<(String, KeyShare)>) -> Result<(), Failure> {
    let all = words.len();
    while let Some(first) = words.first() {
        let length = KeyShare::count_of(first).ok_or_else(|| miscounted(from, all))?;
        let (share, rest) = words.split_at_checked(length).ok_or_else(|| miscounted(from, all))?;
        let number = shares.iter().filter(|(other, _)| other == from).count() + 1;
        let which = if number > 1 || !rest.is_empty() { format!("share {number} in it: ") } else { String::new() };
        let share = KeyShare::read(share).map_err(|why| refused(from, &format!("{which}{why}")))?;
        shares.push((from.to_owned(), share));
        words = rest;
    }
    Ok(())
}
