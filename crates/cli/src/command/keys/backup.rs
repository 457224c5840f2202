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
use deadpan_seal::key::Found;

#[derive(Debug, clap::Args)]
pub struct BackupArgs {
    /// The name of one of your own keys, or a private key file
    pub key: String,
    /// Write a page to print, with the words and a QR code. Shares become several pages: FILE-1, FILE-2 and so on
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
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
    held::hold(pages.iter().map(PathBuf::as_path));
    pages.iter().try_for_each(|page| refuse_taken(page))?;
    let key = find(path, &Passphrases::new(&args.source))?;
    let sheets = sheets(home, path, &key, split)?;
    let what = match split {
        None => "are the key, without a passphrase".to_owned(),
        Some((any, of)) => format!("are {of} shares, and any {any} of them are the key, without a passphrase"),
    };
    if pages.is_empty() {
        print_all(&sheets)?;
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
        Ok(_) => Err(Failure::usage(format!("{} exists already", shown(page)), "choose another name with --page")),
        Err(_) => Ok(()),
    }
}

/// Reads the private key, and asks for its passphrase if it has one.
fn find(path: &Path, passphrases: &Passphrases) -> Result<Found, Failure> {
    match home::KeyFile::find(path)?.only()? {
        found @ (Found::Private(_) | Found::Signing(_)) => Ok(found),
        Found::Protected(locked) => unlock_any(path, &locked, passphrases),
        Found::OpenSsh(file) => Err(Failure::key(&shown(path), &file.refusal())),
        _ => Err(not_private(&shown(path))),
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

fn print_all(sheets: &[Sheet]) -> Result<(), Failure> {
    for (number, sheet) in sheets.iter().enumerate() {
        let text = sheet.text();
        let text = str::from_utf8(&text).unwrap_or_default();
        if number > 0 {
            print("\n")?;
        }
        print(text)?;
    }
    Ok(())
}
