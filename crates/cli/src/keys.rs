//! `deadpan keys`: one's own keys and those of others.

mod export;
mod list;
mod protect;

use crate::failure::{Exit, Failure, help};
use crate::home::{self, Home};
use crate::passphrase::{PassphraseArgs, Passphrases};
use crate::plan::Plan;
use crate::report::say;
use crate::shown::shown;
use clap::Subcommand;
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Shows your own keys and your contacts, and looks after them
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan keys                          your own keys and your contacts",
    "deadpan keys add alice alice.pub      from now on: deadpan seal -r alice …",
    "deadpan keys protect hybrid           puts a passphrase on one of your own keys",
    "deadpan keys export > me.pub          your public key, to give away"
))]
#[command(args_conflicts_with_subcommands = true)]
pub struct KeysArgs {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON, an object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Adds a contact: the public key of somebody else, under a name
    Add {
        /// What to call it
        name: String,
        /// A public key file, an age recipient (age1…), or - for standard input
        key: String,
        /// Replace a contact of that name
        #[arg(short, long)]
        force: bool,
    },
    /// Removes a contact
    Remove {
        /// What it is called
        name: String,
    },
    /// Puts a passphrase on a private key, or changes it
    Protect(Protection),
    /// Takes the passphrase off a private key
    Unprotect(Protection),
    /// Prints a public key: your own, or the one named
    Export {
        /// The name of a key of yours or of a contact, or a key file
        name: Option<String>,
        /// As an age recipient, where age knows the kind
        #[arg(long)]
        age: bool,
        #[command(flatten)]
        source: PassphraseArgs,
    },
}

#[derive(Debug, clap::Args)]
struct Protection {
    /// The name of one of your own keys, or a private key file
    key: String,
    #[command(flatten)]
    source: PassphraseArgs,
}

/// Something to do with keys.
pub struct Keys(KeysArgs);

impl KeysArgs {
    pub fn plan(self) -> Result<Keys, Failure> {
        if let Some(Command::Add { name, .. } | Command::Remove { name }) = &self.command {
            home::check_name(name)?;
        }
        Ok(Keys(self))
    }
}

impl Plan for Keys {
    fn run(&self) -> Result<Exit, Failure> {
        let home = Home::find()?;
        match &self.0.command {
            None => return list::run(&home, self.0.json),
            Some(Command::Add { name, key, force }) => add(&home, name, key, *force)?,
            Some(Command::Remove { name }) => remove(&home, name)?,
            Some(Command::Protect(protection)) => protect::protect(&own(&home, &protection.key)?, &Passphrases::new(&protection.source))?,
            Some(Command::Unprotect(protection)) => {
                protect::unprotect(&own(&home, &protection.key)?, &Passphrases::new(&protection.source))?
            }
            Some(Command::Export { name, age, source }) => export::run(&home, name.as_deref(), *age, &Passphrases::new(source))?,
        }
        Ok(Exit::Done)
    }
}

fn add(home: &Home, name: &str, text: &str, force: bool) -> Result<(), Failure> {
    if home.own_path(name).exists() {
        return Err(Failure::usage(format!("{name} is one of your own keys"), "choose another name for the contact"));
    }
    let key = public(text)?;
    let path = home.contact_path(name);
    if !force && fs::symlink_metadata(&path).is_ok() {
        return Err(Failure::usage(format!("there is a contact {name} already"), "replace it with --force, or choose another name"));
    }
    home.make_folder_of(&path)?;
    home::write(&path, key::public_pem(&key).as_bytes(), 0o600, force)?;
    say(&format!("added {name}: {} {}", key.kem().name(), key::fingerprint(&key)));
    say("hint: compare the fingerprint with its owner before you trust it");
    Ok(())
}

/// The one public key that an argument names.
fn public(text: &str) -> Result<PublicKey, Failure> {
    let found = match text {
        _ if text.starts_with("age1") => key::read(text.as_bytes()).map_err(|error| Failure::key("the age recipient", &error))?,
        "-" => home::read(Path::new("/dev/stdin"))?,
        _ => home::read(Path::new(text))?,
    };
    let name = crate::shown::bytes(text.as_bytes());
    let mut keys = Vec::new();
    for found in found {
        match found {
            Found::Public(key) => keys.push(key),
            Found::Private(_) | Found::Protected(_) => {
                let hint = "a contact is a public key; whoever gave you this one should not have";
                return Err(Failure::usage(format!("{name} is a private key"), hint));
            }
        }
    }
    match (keys.pop(), keys.is_empty()) {
        (Some(key), true) => Ok(key),
        _ => Err(Failure::usage(format!("{name} holds several keys"), "a contact has one; name the file with -R to seal to all of them")),
    }
}

fn remove(home: &Home, name: &str) -> Result<(), Failure> {
    let path = home.contact_path(name);
    match fs::remove_file(&path) {
        Ok(()) => say(&format!("removed {name}")),
        Err(error) if error.kind() == ErrorKind::NotFound && home.own_path(name).exists() => {
            let message = format!("{name} is one of your own keys, without which nothing sealed to it can be opened again");
            return Err(Failure::usage(message, format!("if you are sure, remove {} yourself", shown(home.own_path(name)))));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Failure::usage(format!("there is no contact {name}"), "list the names with: deadpan keys"));
        }
        Err(error) => return Err(Failure::path("remove", &path, &error)),
    }
    Ok(())
}

/// The file of a private key: a file, or one's own key of that name.
fn own(home: &Home, name: &str) -> Result<PathBuf, Failure> {
    let own = home::check_name(name).ok().map(|()| home.own_path(name)).filter(|path| path.exists());
    let file = Some(PathBuf::from(name)).filter(|path| path.exists());
    own.or(file).ok_or_else(|| {
        let message = format!(
            "no key {}: no own key of that name in {}, and no such file",
            crate::shown::bytes(name.as_bytes()),
            shown(&home.folder)
        );
        Failure::usage(message, "list the names with: deadpan keys")
    })
}
