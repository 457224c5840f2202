//! Before a source is removed: the sealed file is opened again and compared with it, byte by byte.

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::identity::Identities;
use crate::input::{Identity, Input};
use crate::partial::sync_folder_of;
use crate::passphrase::Passphrases;
use crate::recipient::Recipients;
use crate::report::say;
use crate::sealed::Sealed;
use crate::window::Comparison;
use deadpan_seal::Work;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

/// What it takes to open what was just sealed.
pub struct Removal {
    identities: Identities,
}

impl Removal {
    /// Refuses where nobody here could open the result: then nothing would show that it can be opened at all.
    pub fn prepare(home: &Home, passphrases: Passphrases, to: &Recipients) -> Result<Self, Failure> {
        let mut own = Vec::new();
        for key in home.own()? {
            own.extend(key.public()?.filter(|public| to.keys.contains(public)).map(|_| key.path));
        }
        if own.is_empty() && to.passphrase.is_none() {
            let message = "--remove-source opens the sealed file again to compare, and none of your keys is among the recipients";
            return Err(Failure::usage(message, "add yourself with -r, or remove the source yourself"));
        }
        let mut identities = match &to.passphrase {
            // The passphrase needs no question, a protected key may.
            Some(_) => Identities::none(passphrases),
            None => Identities::collect(&own, home, passphrases)?,
        };
        to.passphrase.clone().into_iter().for_each(|passphrase| identities.know(passphrase));
        Ok(Self { identities })
    }

    /// Opens `sealed` and compares.
    pub fn verify(&mut self, input: &Input, sealed: &File) -> Result<(), Failure> {
        let name = input.shown();
        let failed = |error| Failure::io("read", &name, &error);
        for mut file in [&input.file, sealed] {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
        }
        let parts = Sealed::read(&name, sealed)?;
        let opened = self.identities.open(&name, &parts)?;
        let mut comparison = Comparison::new(&input.file);
        opened.stream(parts.payload, &mut comparison, &Work::default()).map_err(|error| Failure::of(&name, error))?;
        if comparison.holds().map_err(failed)? {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Data,
            format!("{name} changed while it was sealed"),
            "nothing was removed; seal it again when nobody writes to it",
        ))
    }
}

/// Whether removing this source would do what it says.
pub fn check(input: &Input) -> Result<(), Failure> {
    let name = input.shown();
    let Some(path) = input.source.path() else { return Ok(()) };
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        let hint = "removing it would leave the file that it points to; seal that one";
        return Err(Failure::usage(format!("{name} is a symbolic link, which --remove-source does not follow"), hint));
    }
    if !input.metadata.is_file() {
        return Err(Failure::usage(format!("{name} is not a regular file, and cannot be removed"), "leave out --remove-source"));
    }
    Ok(())
}

/// Removes a source, for good.
pub fn remove(input: &Input) -> Result<(), Failure> {
    let Some(path) = input.source.path() else { return Ok(()) };
    let failed = |error| Failure::path("remove", path, &error);
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    if Identity::of(&metadata) != Identity::of(&input.metadata)
        || metadata.mtime_nsec() != input.metadata.mtime_nsec()
        || metadata.mtime() != input.metadata.mtime()
    {
        let hint = "it was not removed; what was sealed is what it held before";
        return Err(Failure::new(Exit::Data, format!("{} changed after it was sealed", input.shown()), hint));
    }
    fs::remove_file(path).map_err(failed)?;
    sync_folder_of(path)?;
    if metadata.nlink() > 1 {
        say(&format!("note: {} had other names (hard links), which still hold the data", input.shown()));
    }
    Ok(())
}
