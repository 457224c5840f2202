//! `deadpan keys move`: writes one's own keys and the contacts to one sealed file, for a new machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::command::folder;
use crate::command::many::KEY as JOBS;
use crate::key::home::{self, Home};
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::place::held;
use crate::place::partial::{Attributes, Partial};
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::{count, shown};
use deadpan_disk::{About, OpenMode, Replace};
use deadpan_files::PackSource;
use deadpan_pack::{Listing, Packer, Packing, Start};
use deadpan_seal::{Kind, Metadata, Sealing, Work};

/// The name of the folder in the sealed file.
const ROOT: &str = "deadpan";

#[derive(Debug, clap::Args)]
pub struct MoveArgs {
    /// The sealed file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    source: PassphraseArgs,
}

pub fn pack(home: &Home, args: &MoveArgs) -> Result<(), Failure> {
    let output = &args.output;
    if output == Path::new("-") || About::of_name(output).is_ok() {
        let message =
            if output == Path::new("-") { "the keys go to a file".into() } else { format!("{} exists already", shown(output)) };
        return Err(Failure::usage(message, "choose a name for a new file with -o"));
    }
    held::hold([output.as_path()]);
    let (own, contacts) = (home.own_of_both_uses()?, home.contacts()?);
    if own.is_empty() && contacts.is_empty() {
        return Err(Failure::usage(format!("there are no keys in {}", shown(&home.folder)), "make one with: deadpan keygen"));
    }
    let mut starts = BTreeMap::new();
    for key in &own {
        let file = home::KeyFile::find(&key.path)?;
        if !file.is_sealed() {
            file.only()?;
        }
        add(&mut starts, &key.path)?;
        add(&mut starts, &home::public_path(&key.path))?;
    }
    add(&mut starts, &home.folder.join("default"))?;
    add(&mut starts, &home.folder.join(JOBS))?;
    let mut names = BTreeMap::new();
    for contact in &contacts {
        home::read(&contact.path)?;
        // A link would lead nowhere on another machine.
        if About::of_name(&contact.path).is_ok_and(|about| !about.is_file()) {
            let message = format!("{} is a link", shown(&contact.path));
            return Err(Failure::usage(message, "put the file itself in its place"));
        }
        names.insert(OsString::from(format!("{}.pub", contact.name)), Listing::Whole);
    }
    if !names.is_empty() {
        let way = held::way(&home.folder).map_err(|error| Failure::path("read", &home.folder, &error))?;
        starts.insert("contacts".into(), Start::Listed(way.folder().clone(), "contacts".into(), Listing::Parts(names)));
    }
    let partial = Partial::create(output)?;
    let passphrase = Passphrases::new(&args.source)
        .new_one("the file with your keys", "the file holds your private keys, so it needs a passphrase")?;
    let metadata = Metadata { kind: Kind::Folder, name: Some(ROOT.into()), mode: Some(0o700), ..Metadata::default() };
    let name = shown(&home.folder);
    let packer = Packer::gather(starts, ROOT.as_bytes(), Packing::default()).map_err(|error| Failure::pack(&name, error))?;
    let sealing = Sealing::to(&passphrase).and_then(|sealing| sealing.metadata(metadata));
    let sealed = sealing.and_then(|sealing| sealing.gather(PackSource(packer), partial.file(), &Work::default()));
    sealed.map_err(|error| folder::blame(error, &name, &shown(output)))?;
    partial.land(Attributes { mode: 0o600, modified: None }, Replace::Nothing, true)?;
    let counted = count(own.len() as u64, "key of yours", "keys of yours");
    let others = count(contacts.len() as u64, "contact", "contacts");
    say(&format!("sealed {counted} and {others}: {}", shown(output)));
    say("hint: on the new machine: deadpan keys import FILE; then remove the file");
    Ok(())
}

/// Adds a file, if it exists.
fn add(starts: &mut BTreeMap<OsString, Start>, path: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::path("read", path, &error);
    let input = match held::open(path, OpenMode::default()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        input => input.map_err(failed)?,
    };
    if !input.about.is_file() {
        return Err(Failure::usage(format!("{} is not a file", shown(path)), "remove it from the key folder"));
    }
    let name = path.file_name().unwrap_or_default().to_owned();
    starts.insert(name, Start::Open(input.file, input.about, path.to_owned()));
    Ok(())
}
