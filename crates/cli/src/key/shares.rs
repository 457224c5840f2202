//! Files with shares of other people. This module reads the shares, and chooses the shares that belong to a sealed
//! file.

use std::io::Read;
use std::path::Path;

use crate::key::identity::Identities;
use crate::place::input::{Input, Source};
use crate::place::sealed::Sealed;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_seal::{Error, Header, Identity, Opened, Secret, Share, ShareFault, Threshold};

/// Shares of other people, each with the name of its file.
#[derive(Default)]
pub struct Shares(Vec<(String, Share)>);

/// The shares that belong to a sealed file.
pub struct Chosen {
    pub identities: Vec<Identity>,
    /// The failures of the shares that cannot be used. The failures are reported if too few shares remain.
    left_out: Vec<Failure>,
}

impl Shares {
    /// Adds the shares in a file.
    pub fn add(&mut self, name: String, shares: Vec<Share>) {
        self.0.extend(shares.into_iter().map(|share| (name.clone(), share)));
    }

    pub fn fitting(&self, header: &Header) -> Chosen {
        let mut chosen = Chosen { identities: Vec::new(), left_out: Vec::new() };
        let mut used: Vec<(u8, &str)> = Vec::new();
        if header.group().is_none() {
            // The file needs no shares. The user may have given the shares for another file, or this file may itself
            // contain shares.
            return chosen;
        }
        for (name, share) in &self.0 {
            let identity = Identity::Share(share.clone());
            let twice = used.iter().find(|(index, _)| *index == share.index());
            match header.shares(std::slice::from_ref(&identity)) {
                Ok(_) if twice.is_none() => {
                    used.push((share.index(), name));
                    chosen.identities.push(identity);
                }
                Ok(_) => chosen.left_out.push(doubled(name, share, twice.map_or("", |(_, first)| first))),
                Err(error) => chosen.left_out.push(Failure::seal(name, error)),
            }
        }
        chosen
    }
}

fn doubled(name: &str, share: &Share, first: &str) -> Failure {
    let message = format!("{name}: share {}, the same as in {first}", share.index());
    Failure::new(Exit::Data, message, "collect the share of another member")
}

impl Chosen {
    /// Writes notes about the shares that could not be used, after the file was opened.
    pub fn note(&self, opened: Opened) -> Opened {
        self.left_out.iter().for_each(|failure| say(&format!("note: left out {}", failure.message)));
        opened
    }

    /// Returns the failure to report if the file did not open. If some shares could not be used, reports the first of
    /// these shares as the cause. The original failure and the other shares that could not be used become notes.
    pub fn blame(&self, failure: Failure) -> Failure {
        let Some((first, others)) = self.left_out.split_first() else { return failure };
        let mut first = first.clone();
        first.notes.push(failure.message);
        first.notes.extend(others.iter().map(|other| format!("left out too: {}", other.message)));
        first
    }
}

/// Reads a file with shares. The file with the shares is sealed to one of the identities.
pub fn read(path: &Path, identities: &mut Identities) -> Result<Vec<Share>, Failure> {
    let name = shown(path);
    let input = Input::open(&Source::File(path.to_owned()))?.file_only("name a file from: deadpan share open")?;
    let sealed = Sealed::read(&input)?;
    parse(&name, sealed, identities)
}

/// Opens sealed data and reads the shares in the data.
pub fn parse(name: &str, sealed: Sealed<'_>, identities: &mut Identities) -> Result<Vec<Share>, Failure> {
    let opened = identities.open(name, &sealed)?;
    let failed = |error| Failure::seal(name, error);
    let mut bytes = Secret::zeroed(Share::LENGTH * Threshold::MOST + 1);
    let mut reader = opened.read_from(sealed.payload).map_err(failed)?;
    let mut length = 0;
    while length < bytes.len() {
        match reader.read(&mut bytes[length..]).map_err(|error| match error.downcast::<Error>() {
            Ok(error) => failed(error),
            Err(error) => Failure::io("read", name, &error),
        })? {
            0 => break,
            read => length += read,
        }
    }
    if length == 0 || !length.is_multiple_of(Share::LENGTH) {
        return Err(failed(Error::Share(ShareFault::Form)));
    }
    bytes[..length].chunks(Share::LENGTH).map(|share| Share::from_bytes(share).map_err(failed)).collect()
}
