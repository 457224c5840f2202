//! The contents of a key folder in memory: what `deadpan keys import` puts into the key folder.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use crate::command::many::KEY as JOBS;
use crate::key::home::make::refuse_taken;
use crate::key::home::{self, Home, Public, is_public};
use crate::place::sealed::begins_sealed;
use crate::tell::console::{complain, say};
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{bytes, count};
use deadpan_disk::About;
use deadpan_pack::{Kind, Listed, Scan};
use deadpan_seal::Secret;
use deadpan_seal::key::{self, Found};

/// The maximum length of one file, which is also that of a key file.
const LONGEST: usize = 1 << 20;

/// A file of the key folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Own(String),
    /// The public part of a key of one's own.
    Public(String),
    Contact(String),
    Default,
    Jobs,
}

impl Item {
    /// Returns the file with this path in a key folder, or `None` if the file is not one that is moved.
    fn of_path(path: &[u8]) -> Option<Self> {
        let path = str::from_utf8(path).ok()?;
        let name = |name: &str| Some(name.to_owned()).filter(|name| home::check_name(name).is_ok());
        match path {
            "default" => Some(Self::Default),
            JOBS => Some(Self::Jobs),
            _ => match path.strip_prefix("contacts/") {
                Some(contact) => name(contact.strip_suffix(".pub")?).map(Self::Contact),
                None => match path.strip_suffix(".key") {
                    Some(own) => name(own).map(Self::Own),
                    None => name(path.strip_suffix(".pub")?).map(Self::Public),
                },
            },
        }
    }
}

/// The files of a key folder.
#[derive(Default)]
pub struct Bundle {
    files: BTreeMap<Item, Secret>,
    /// The number of files that are not of use elsewhere.
    left_out: u64,
}

/// One of the keys, ready to be written.
struct Ready<'a> {
    name: &'a str,
    text: &'a Secret,
    public: Option<Public>,
}

impl Bundle {
    /// Reads another key folder.
    pub fn of_folder(other: &Home) -> Result<Self, Failure> {
        let mut bundle = Self::default();
        let mut add = |item, path: &Path| -> Result<(), Failure> {
            bundle.files.insert(item, home::kept_text(path)?);
            Ok(())
        };
        for own in other.own_of_both_uses()? {
            let public = home::public_path(&own.path);
            add(Item::Own(own.name.clone()), &own.path)?;
            if public.exists() {
                add(Item::Public(own.name), &public)?;
            }
        }
        for name in other.without_private()? {
            let path = home::public_path(&other.own_path(&name));
            add(Item::Public(name), &path)?;
        }
        for contact in other.contacts()? {
            add(Item::Contact(contact.name), &contact.path)?;
        }
        for (item, name) in [(Item::Default, "default"), (Item::Jobs, JOBS)] {
            let path = other.folder.join(name);
            if path.exists() {
                add(item, &path)?;
            }
        }
        Ok(bundle)
    }

    /// Reads the archive of a key folder. Refuses an archive with anything but files and folders.
    pub fn of_archive(data: &[u8], from: &str) -> Result<Self, Failure> {
        let mut bundle = Self::default();
        let failed = |error| Failure::pack(from, error);
        let refused = |path: &[u8], why: &str| {
            let message = format!("{from}: {} {why}, so the whole file is refused", bytes(path));
            Err(Failure::new(
                Exit::Data,
                message,
                "a file from deadpan keys move holds only keys: ask who made this one",
            ))
        };
        let mut scan = Scan::seekable(Cursor::new(data)).map_err(failed)?;
        for listed in scan.by_ref() {
            let entry = match listed.map_err(failed)? {
                Listed::Entry(entry) => entry,
                Listed::Refused { path, .. } => return refused(&path, "is no place for a key"),
                _ => continue,
            };
            let contents = usize::try_from(entry.content).ok().zip(usize::try_from(entry.stored).ok());
            let contents = contents.and_then(|(at, length)| data.get(at..)?.get(..length));
            match (entry.kind, Item::of_path(&entry.path)) {
                (Kind::Folder, _) => {}
                (Kind::File, Some(item)) => match contents {
                    Some(contents) if contents.len() <= LONGEST => {
                        if bundle.files.insert(item, Secret::copy_of(contents)).is_some() {
                            return refused(&entry.path, "is there twice");
                        }
                    }
                    _ => return refused(&entry.path, "is too long for a key"),
                },
                (Kind::File, None) => bundle.left_out += 1,
                _ => return refused(&entry.path, "is no plain file"),
            }
        }
        if scan.is_pack() { Ok(bundle) } else { Err(nothing(from)) }
    }

    /// Returns the number of own keys and contacts.
    pub fn keys(&self) -> usize {
        self.files.keys().filter(|item| matches!(item, Item::Own(_) | Item::Contact(_))).count()
    }

    /// Writes the keys into the key folder. Reads all keys before writing any. Replaces nothing: reports each name that
    /// another key has already.
    pub fn place(&self, home: &Home, from: &str) -> Result<Exit, Failure> {
        let (mut own, mut contacts) = (Vec::new(), Vec::new());
        for (item, text) in &self.files {
            match item {
                Item::Own(name) => own.push(self.own(name, text, from)?),
                Item::Contact(name) => contacts.push(contact(name, text, from)?),
                _ => {}
            }
        }
        if self.keys() == 0 {
            return Err(nothing(from));
        }
        let is_first = matches!(home.default_key(), Ok(None));
        let mut worst = Exit::Done;
        for ready in &own {
            worst = worst.max(told(ready.write_own(home)));
        }
        for ready in &contacts {
            worst = worst.max(told(ready.write_contact(home)));
        }
        self.settle(home, is_first)?;
        self.strays(&own);
        if self.left_out > 0 {
            let files = count(self.left_out, "file that is no key", "files that are no keys");
            say(&format!("note: left out {files}"));
        }
        say("hint: compare the fingerprints with those that `deadpan keys` prints on the other machine");
        Ok(worst)
    }

    fn own<'a>(&self, name: &'a str, text: &'a Secret, from: &str) -> Result<Ready<'a>, Failure> {
        let about = format!("{from}: {name}.key");
        // An age file with identities, which opens with its passphrase.
        if begins_sealed(text) {
            return Ok(Ready { name, text, public: None });
        }
        let found = key::read(text).map_err(|error| Failure::key(&about, &error))?;
        let beside = self.files.get(&Item::Public(name.to_owned())).and_then(|text| {
            let found = key::read(text).ok()?;
            found.iter().find_map(|found| match found {
                Found::Ssh(key) => Some(Public::of_ssh(key)),
                found => Public::from_key(found),
            })
        });
        let [only] = &found[..] else {
            let hint = "put each key into a file of its own, and import each file";
            return Err(Failure::usage(format!("{about} holds several keys"), hint));
        };
        let public = match only {
            found if is_public(found) => {
                return Err(Failure::usage(format!("{about} is no private key"), "remove it from the old key folder"));
            }
            Found::Protected(locked) => {
                let said = locked.fingerprint();
                beside.clone().filter(|beside| said.is_none_or(|said| said == beside.fingerprint()))
            }
            found => Public::from_key(found),
        };
        if beside.is_some() && beside != public {
            complain(&format!("warning: {from}: {name}.pub belongs to another key than {name}.key, and is left out"));
        }
        Ok(Ready { name, text, public })
    }

    /// Records the default key if the key folder had none, and writes the key of jobs if there is none.
    fn settle(&self, home: &Home, is_first: bool) -> Result<(), Failure> {
        let default = self.files.get(&Item::Default).and_then(|text| str::from_utf8(text).ok()).map(str::trim_end);
        let default = default.filter(|name| home::check_name(name).is_ok() && home.own_path(name).exists());
        match (default, is_first) {
            (Some(name), true) => home.record(name)?,
            (Some(name), false) => {
                if let Ok(Some(here)) = home.default_key()
                    && here.name != name
                {
                    say(&format!("note: files are sealed to your default key {} as before", here.name));
                    say(&format!("hint: choose the default of the other machine with: deadpan keys default {name}"));
                }
            }
            (None, _) => {}
        }
        let Some(jobs) = self.files.get(&Item::Jobs) else { return Ok(()) };
        let path = home.folder.join(JOBS);
        match home::text(&path) {
            Ok((here, _)) if here.same(jobs) => {}
            Ok(_) => say("note: the key of your jobs in stores stays the one that is here"),
            Err(_) => home::write(&path, jobs, 0o600, false)?,
        }
        Ok(())
    }

    /// Names public parts without a private key.
    fn strays(&self, own: &[Ready<'_>]) {
        for item in self.files.keys() {
            if let Item::Public(name) = item
                && own.iter().all(|ready| ready.name != name)
            {
                say(&format!("note: left out {name}.pub, because there is no {name}.key"));
            }
        }
    }
}

fn contact<'a>(name: &'a str, text: &'a Secret, from: &str) -> Result<Ready<'a>, Failure> {
    let about = format!("{from}: contacts/{name}.pub");
    let found = key::read(text).map_err(|error| Failure::key(&about, &error))?;
    if !found.iter().all(is_public) {
        return Err(Failure::usage(format!("{about} is a private key"), "a contact is a public key"));
    }
    Ok(Ready { name, text, public: found.iter().find_map(Public::from_key) })
}

fn told(result: Result<(), Failure>) -> Exit {
    match result {
        Ok(()) => Exit::Done,
        Err(failure) => {
            failure.say();
            failure.exit
        }
    }
}

fn nothing(from: &str) -> Failure {
    Failure::usage(
        format!("{from} holds no keys"),
        "name a private key file, a key folder, or a file of: deadpan keys move",
    )
}

impl Ready<'_> {
    fn write_own(&self, home: &Home) -> Result<(), Failure> {
        let (name, path) = (self.name, home.own_path(self.name));
        if About::of_name(&path).is_ok() {
            let is_same = home::text(&path).is_ok_and(|(here, _)| here.same(self.text));
            return self.taken(is_same || self.public.is_some() && self.public == public_here(&path), "key of yours");
        }
        refuse_taken(home, &path).map_err(|failure| {
            let hint = format!("give what is there another name, and import again: deadpan keys rename {name} OTHER");
            Failure { hint: Some(hint), message: format!("{name} was not imported: {}", failure.message), ..failure }
        })?;
        home.make_folder_of(&path)?;
        match &self.public {
            Some(public) => home::write_pair(&path, public, self.text)?,
            None => home::write(&path, self.text, 0o600, false)?,
        }
        say(&format!("imported {name}: {}", self.what()));
        Ok(())
    }

    fn write_contact(&self, home: &Home) -> Result<(), Failure> {
        let (name, path) = (self.name, home.contact_path(self.name));
        if About::of_name(&path).is_ok() {
            return self.taken(home::text(&path).is_ok_and(|(here, _)| here.same(self.text)), "contact");
        }
        if home.own_path(name).exists() {
            return self.taken(false, "key of yours");
        }
        home.make_folder_of(&path)?;
        home::write(&path, self.text, 0o600, false)?;
        say(&format!("imported the contact {name}: {}", self.what()));
        Ok(())
    }

    /// Reports that the name is taken. This is no failure if the same key has the name.
    fn taken(&self, is_same: bool, what: &str) -> Result<(), Failure> {
        let name = self.name;
        if is_same {
            say(&format!("{name} is here already"));
            return Ok(());
        }
        let message = format!("{name} was not imported: a {what} with this name is here already, and is another key");
        let hint =
            format!("give the key that is here another name, and import again: deadpan keys rename {name} OTHER");
        Err(Failure::usage(message, hint))
    }

    fn what(&self) -> String {
        let known = |public: &Public| format!("{} {}", public.algorithm(), public.fingerprint());
        self.public.as_ref().map_or_else(|| "its public part is not known".to_owned(), known)
    }
}

fn public_here(path: &Path) -> Option<Public> {
    match home::read(path).ok()?.first()? {
        Found::Protected(_) => home::beside(path).ok().flatten(),
        found => Public::from_key(found),
    }
}
