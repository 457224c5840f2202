//! `deadpan keys backup`: a private key, or its shares, as words on paper.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::command::keys::sheet::{Sheet, page};
use crate::key::home::{self, Home, Public};
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::protected::{not_private, unlock_any};
use crate::key::seed::SeedKind;
use crate::key::words::share::{KeyShare, MOST};
use crate::key::words::{self, PART};
use crate::place::held;
use crate::place::partial::{Attributes, Partial, land_all};
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use crate::tell::streams::print;
use deadpan_disk::About;
use deadpan_seal::Secret;
use deadpan_seal::key::Found;

#[derive(Debug, clap::Args)]
pub struct BackupArgs {
    /// The name of one of your own keys, or a private key file
    pub key: String,
    /// Write a page to print, with the words and a QR code. Shares become several pages: FILE-1, FILE-2 and so on
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write the words to a new file, which only you can read
    #[arg(short, long, value_name = "FILE", conflicts_with = "page")]
    output: Option<PathBuf>,
    /// Split the key into shares, and let any NUMBER of them give the key
    #[arg(long, value_name = "NUMBER", requires = "of", value_parser = shares())]
    any: Option<u8>,
    /// The number of shares
    #[arg(long, value_name = "NUMBER", requires = "any", value_parser = shares())]
    of: Option<u8>,
    #[command(flatten)]
    source: PassphraseArgs,
}

fn shares() -> clap::builder::RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(2..=i64::from(MOST))
}

/// Prints the words of a private key, with a line that names its kind and its fingerprint, or writes a page.
pub fn backup(home: &Home, path: &Path, args: &BackupArgs) -> Result<(), Failure> {
    let split = args.any.zip(args.of);
    if let Some((any, of)) = split.filter(|(any, of)| any > of) {
        let message = format!("any {any} of {of} shares would never be there");
        return Err(Failure::usage(message, "let --any be at most --of"));
    }
    let pages = args.page.as_deref().map_or_else(Vec::new, |page| names(page, split.map(|(_, of)| of)));
    let output = args.output.as_deref().filter(|output| *output != Path::new("-"));
    held::hold(pages.iter().map(PathBuf::as_path).chain(output));
    pages.iter().map(PathBuf::as_path).chain(output).try_for_each(refuse_taken)?;
    let key = find(path, &Passphrases::new(&args.source))?;
    let sheets = sheets(home, path, &key, split)?;
    let what = match split {
        None => "are the key, without a passphrase".to_owned(),
        Some((any, of)) => format!("are {of} shares, and any {any} of them are the key, without a passphrase"),
    };
    if pages.is_empty() {
        let text = text(&sheets);
        match output {
            Some(path) => home::write(path, &text, 0o600, false)?,
            None => print(str::from_utf8(&text).unwrap_or_default())?,
        }
        let how = if split.is_none() { "write them down" } else { "write each share on a paper of its own" };
        say(&format!("note: these words {what}: {how}, and keep them where nobody else looks"));
        return Ok(());
    }
    let mut files = Vec::new();
    for (sheet, path) in sheets.iter().zip(&pages) {
        let partial = Partial::create(path)?;
        let text =
            page(sheet).map_err(|error| Failure::usage(format!("{}: {error}", shown(path)), "leave out --page"))?;
        partial.file().write_all(&text).map_err(|error| Failure::path("write", path, &error))?;
        files.push((partial, path.clone()));
    }
    land_all(files, Attributes { mode: 0o600, modified: None }, false, true)?;
    pages.iter().for_each(|page| say(&format!("wrote {}", shown(page))));
    let it = if split.is_none() { "this page" } else { "these pages" };
    say(&format!("note: the words on {it} {what}: print {it} at home, and then remove the file"));
    Ok(())
}

/// Returns the names of the pages.
fn names(page: &Path, of: Option<u8>) -> Vec<PathBuf> {
    let Some(of) = of else { return vec![page.to_owned()] };
    let numbered = |number| {
        let mut name = page.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{number}"));
        if let Some(ending) = page.extension() {
            name.push(".");
            name.push(ending);
        }
        page.with_file_name(name)
    };
    (1..=of).map(numbered).collect()
}

fn refuse_taken(page: &Path) -> Result<(), Failure> {
    if page == Path::new("-") {
        return Err(Failure::usage("a page goes to a file", "leave out --page to print the words"));
    }
    match About::of_name(page) {
        Ok(_) => Err(Failure::usage(format!("{} exists already", shown(page)), "choose another name")),
        Err(_) => Ok(()),
    }
}

/// Reads the private key, and asks for its passphrase if it has one.
fn find(path: &Path, passphrases: &Passphrases) -> Result<Found, Failure> {
    match home::KeyFile::find(path)?.only()? {
        found @ (Found::Private(_) | Found::Signing(_)) => Ok(found),
        Found::Protected(locked) => {
            unlock_any(path, &locked, passphrases).map_err(|failure| match home::beside(path) {
                Ok(Some(public)) if holds(passphrases, &public) => {
                    let hint = failure.hint.unwrap_or_default();
                    Failure { hint: Some(format!("the agent gives out no private key, so {hint}")), ..failure }
                }
                _ => failure,
            })
        }
        Found::OpenSsh(_) => {
            let hint = "it has no words here; back up the file itself, sealed to a passphrase: deadpan seal -p FILE";
            Err(Failure::usage(format!("{} is a key of SSH", shown(path)), hint))
        }
        _ => Err(not_private(&shown(path))),
    }
}

/// Whether the agent holds a key.
fn holds(passphrases: &Passphrases, public: &Public) -> bool {
    match public {
        Public::Sealing(public) => passphrases.held().private(public).is_some(),
        Public::Signing(public) => passphrases.held().signer(public).is_some(),
        Public::Ssh(_) => false,
    }
}

/// Returns what is on each paper.
fn sheets(home: &Home, path: &Path, key: &Found, split: Option<(u8, u8)>) -> Result<Vec<Sheet>, Failure> {
    let name = shown(path);
    let (kind, seed) = SeedKind::of(key).ok_or_else(|| {
        let hint = "back up the file itself, sealed to a passphrase: deadpan seal -p KEY";
        Failure::usage(format!("{name} holds no seed, so it has no words"), hint)
    })?;
    let public = Public::from_key(key).ok_or_else(|| not_private(&name))?;
    let sheet = |share, words| Sheet {
        name: home.name_of(path).map_or_else(|| name.clone(), str::to_owned),
        kind: kind.name(),
        fingerprint: public.fingerprint(),
        share,
        words,
    };
    let Some((any, of)) = split else {
        let words = seed.as_chunks::<PART>().0.iter().flat_map(words::of_bytes).collect();
        return Ok(vec![sheet(None, words)]);
    };
    let shares = KeyShare::split(kind, seed, &public, any, of).map_err(|error| Failure::seal(&name, error))?;
    Ok(shares.iter().map(|share| sheet(Some((share.index, any, of)), share.words())).collect())
}

fn text(sheets: &[Sheet]) -> Secret {
    let texts: Vec<_> = sheets.iter().map(Sheet::text).collect();
    let mut text = Secret::zeroed(texts.iter().map(|text| text.len() + 1).sum::<usize>().saturating_sub(1));
    let mut rest = &mut text[..];
    for (number, sheet) in texts.iter().enumerate() {
        let begin = usize::from(number > 0);
        let (part, behind) = rest.split_at_mut(begin + sheet.len());
        part[..begin].fill(b'\n');
        part[begin..].copy_from_slice(sheet);
        rest = behind;
    }
    text
}
