//! `deadpan keys move`: writes one's own keys and the contacts to one sealed file, for a new machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};

use crate::command::folder;
use crate::command::keys::bundle::Bundle;
use crate::command::keys::import;
use crate::command::many::KEY as JOBS;
use crate::key::home::{self, Contact, Home, Own};
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::place::held;
use crate::place::partial::{Attributes, Partial};
use crate::place::sealed::Sealed;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{count, shown};
use deadpan_disk::{About, OpenMode, Replace};
use deadpan_files::PackSource;
use deadpan_pack::{Listing, Packer, Packing, Start};
use deadpan_seal::{Identity, Kind, Metadata, Passphrase, Sealing, Work};

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
        let message = if output == Path::new("-") {
            "the keys go to a file".into()
        } else {
            format!("{} exists already", shown(output))
        };
        return Err(Failure::usage(message, "choose a name for a new file with -o"));
    }
    held::hold([output.as_path()]);
    let (own, contacts) = (home.own_of_both_uses()?, home.contacts()?);
    if own.is_empty() && contacts.is_empty() {
        return Err(Failure::usage(
            format!("there are no keys in {}", shown(&home.folder)),
            "make one with: deadpan keygen",
        ));
    }
    let starts = gathered(home, &own, &contacts)?;
    let partial = Partial::create(output)?;
    let without = "the file holds your private keys, so it needs a passphrase";
    let passphrase = Passphrases::new(&args.source).new_one("the file with your keys", without)?;
    let metadata = Metadata { kind: Kind::Folder, name: Some(ROOT.into()), mode: Some(0o700), ..Metadata::default() };
    let name = shown(&home.folder);
    let packer = Packer::gather(starts, ROOT.as_bytes(), Packing::default());
    let packer = packer.map_err(|error| Failure::pack(&name, error))?;
    let sealing = Sealing::to(&passphrase).and_then(|sealing| sealing.metadata(metadata));
    let sealed = sealing.and_then(|sealing| sealing.gather(PackSource(packer), partial.file(), &Work::default()));
    sealed.map_err(|error| folder::blame(error, &name, &shown(output)))?;
    check(partial.file(), &passphrase, own.len() + contacts.len(), &shown(output))?;
    partial.land(Attributes { mode: 0o600, modified: None }, Replace::Nothing, true)?;
    let counted = count(own.len() as u64, "key of yours", "keys of yours");
    let others = count(contacts.len() as u64, "contact", "contacts");
    say(&format!("sealed {counted} and {others}: {}", shown(output)));
    say("hint: on the new machine: deadpan keys import FILE; then remove the file");
    Ok(())
}

/// Opens all files that go into the sealed file.
fn gathered(home: &Home, own: &[Own], contacts: &[Contact]) -> Result<BTreeMap<OsString, Start>, Failure> {
    let mut starts = BTreeMap::new();
    for key in own {
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
    for contact in contacts {
        home::read(&contact.path)?;
        names.insert(OsString::from(format!("{}.pub", contact.name)), Listing::Whole);
    }
    if !names.is_empty() {
        let way = held::way(&home.folder).map_err(|error| Failure::path("read", &home.folder, &error))?;
        starts.insert("contacts".into(), Start::Listed(way.folder().clone(), "contacts".into(), Listing::Parts(names)));
    }
    Ok(starts)
}

/// Opens the new file again, and checks that `deadpan keys import` takes it with all keys. The old machine may be gone
/// when the user finds out.
fn check(mut file: &File, passphrase: &Passphrase, keys: usize, name: &str) -> Result<(), Failure> {
    file.rewind().map_err(|error| Failure::io("read", name, &error))?;
    let failed = |error| Failure::seal(name, error);
    let sealed = Sealed::read_file(name, file)?;
    let opened = sealed.header.open(&[Identity::Passphrase(passphrase.clone())]).map_err(failed)?;
    let data = import::read(opened.read_from(sealed.payload).map_err(failed)?, name)?;
    let hint = "put a copy of the file itself in the place of a link in your key folder";
    let bundle = Bundle::of_archive(&data, name).map_err(|failure| Failure { hint: Some(hint.into()), ..failure })?;
    if bundle.keys() == keys {
        return Ok(());
    }
    Err(Failure::new(Exit::System, "the keys changed while they were sealed", "run the command again"))
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
