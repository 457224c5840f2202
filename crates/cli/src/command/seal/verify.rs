//! The checks of `--remove-source`: the sealed file is opened and compared with its source before the source is
//! removed.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::passphrase::Passphrases;
use crate::key::recipient::Recipients;
use crate::place::input::Input;
use crate::place::partial::{self, folder_of};
use crate::place::sealed::Sealed;
use crate::place::window::Comparison;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::planted_by;
use deadpan_disk::{self as disk, About, Spot};
use deadpan_seal::Work;

/// The keys that can open the files that this run seals.
pub struct Removal {
    identities: Identities,
}

impl Removal {
    /// Finds the keys. Fails if the user has no key that opens the result, because without a key the program cannot
    /// check the result.
    pub fn prepare(home: &Home, passphrases: Passphrases, to: &Recipients) -> Result<Self, Failure> {
        let mut own = Vec::new();
        for key in home.own()? {
            own.extend(key.public()?.filter(|public| to.keys.contains(public)).map(|_| key.path));
        }
        if own.is_empty() && to.passphrase.is_none() {
            let message =
                "--remove-source opens the sealed file again to compare, and none of your keys is among the recipients";
            return Err(Failure::usage(message, "add yourself with -r, or remove the source yourself"));
        }
        if own.len() < to.needed && to.passphrase.is_none() {
            let (count, is) = (own.len(), if own.len() == 1 { "is" } else { "are" });
            let message = format!(
                "--remove-source opens the sealed file again to compare, and {count} of the {} keys that this takes \
                 {is} yours",
                to.needed
            );
            return Err(Failure::usage(message, "leave out --remove-source, and remove the source yourself"));
        }
        let mut identities = match &to.passphrase {
            // The program already knows this passphrase. To use a protected key, the program may have to ask for
            // another passphrase.
            Some(_) => Identities::none(passphrases),
            None => Identities::collect(&own, home, passphrases)?,
        };
        to.passphrase.clone().into_iter().for_each(|passphrase| identities.know(passphrase));
        Ok(Self { identities })
    }

    pub fn verify(&mut self, input: &Input, sealed: &File) -> Result<(), Failure> {
        let name = input.shown();
        let failed = |error| Failure::io("read", &name, &error);
        // [`check`] accepts only regular files, so this input is a file.
        let Some(source) = input.file() else { return Ok(()) };
        for mut file in [source, sealed] {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
        }
        let parts = Sealed::read_file(&name, sealed)?;
        let opened = self.identities.open(&name, &parts)?;
        let mut comparison = Comparison::new(source);
        opened
            .open_stream(parts.payload, &mut comparison, &Work::default())
            .map_err(|error| Failure::seal(&name, error))?;
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

/// Refuses a source if removing it does not remove the data.
pub fn check(input: &Input) -> Result<(), Failure> {
    let name = input.shown();
    let Some(path) = input.source.path() else { return Ok(()) };
    if About::of_name(path).is_ok_and(|about| about.is_link()) {
        let hint = "removing the link would leave the file that it points to; seal that file";
        return Err(Failure::usage(format!("{name} is a symbolic link, which --remove-source does not follow"), hint));
    }
    if let Some(link) = &input.found.link {
        let hint = "leave out --remove-source, or name the file that the link leads to";
        return Err(Failure::usage(planted_by(link), hint));
    }
    if !input.about.is_some_and(|about| about.is_file()) {
        return Err(Failure::usage(
            format!("{name} is not a regular file, and cannot be removed"),
            "leave out --remove-source",
        ));
    }
    Ok(())
}

/// Removes a source, unless it was changed after it was sealed.
pub fn remove(input: &Input) -> Result<(), Failure> {
    let (Some(path), Some(Spot { folder, name })) = (input.source.path(), &input.found.real) else { return Ok(()) };
    let failed = |error| Failure::path("remove", path, &error);
    let about = folder.look(name).map_err(failed)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let state = |about: &About| (about.id, about.modified);
    if input.about.as_ref().map(state) != Some(state(&about)) {
        let hint = "the file was not removed; the sealed file has its earlier contents";
        return Err(Failure::new(Exit::Data, format!("{} changed after it was sealed", input.shown()), hint));
    }
    folder.remove_only(name, &about).map_err(|error| match error {
        disk::Error::System(_, error) => failed(error),
        error => partial::failure(path, error),
    })?;
    folder.sync().map_err(|error| Failure::path("write", folder_of(path), &error))?;
    if about.links > 1 {
        say(&format!("note: {} had other names (hard links), which still hold the data", input.shown()));
    }
    Ok(())
}
