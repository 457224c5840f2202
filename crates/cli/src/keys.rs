//! `deadpan keys`: lists, adds, removes and exports keys, and changes their passphrases.

mod export;
mod list;
pub mod protect;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::console::say;
use crate::failure::{Exit, Failure, help};
use crate::home::{self, Home};
use crate::passphrase::{PassphraseArgs, Passphrases};
use crate::plan::Plan;
use crate::recipient::misspelt;
use crate::shown::shown;
use crate::streams::print;
use crate::suggest::closest;
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};

/// Lists your own keys and your contacts, and manages them
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan keys                          your own keys and your contacts",
    "deadpan keys add alice alice.pub      then: deadpan seal -r alice FILE",
    "deadpan keys protect hybrid           puts a passphrase on one of your own keys",
    "deadpan keys export > me.pub          your public key, to give away",
    "deadpan keys default work             from now on, files are sealed to this key of yours"
))]
#[command(args_conflicts_with_subcommands = true)]
pub struct KeysArgs {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Adds a contact: the public key of another person, under a name
    #[command(after_help = help!(
        "deadpan keys add alice alice.pub                   then: deadpan seal -r alice FILE",
        "deadpan keys add bob age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
        "ssh host deadpan keys export | deadpan keys add work -"
    ))]
    Add {
        /// The contact's name
        name: String,
        /// A public key file, an age recipient (age1…), or - for standard input
        key: String,
        /// Replace a contact of that name
        #[arg(short, long)]
        force: bool,
    },
    /// Removes a contact
    #[command(after_help = help!(
        "deadpan keys remove alice"
    ))]
    Remove {
        /// The contact's name
        name: String,
    },
    /// Chooses the key that files are sealed to when no recipient is named, or prints its name
    #[command(after_help = help!(
        "deadpan keys default          prints the name",
        "deadpan keys default work     from now on, files are sealed to this key of yours"
    ))]
    Default {
        /// The name of one of your own keys; without it, the name of the default key is printed
        name: Option<String>,
    },
    /// Puts a passphrase on a private key, or changes it
    #[command(after_help = help!(
        "deadpan keys protect hybrid                            asks for the new passphrase",
        "deadpan keys protect hybrid --passphrase-file pw       takes it from a file",
        "deadpan keys protect old.key"
    ))]
    Protect(Protection),
    /// Takes the passphrase off a private key
    #[command(after_help = help!(
        "deadpan keys unprotect hybrid      asks for the passphrase",
        "deadpan keys unprotect old.key"
    ))]
    Unprotect(Protection),
    /// Prints a public key: your own, or the one named
    #[command(after_help = help!(
        "deadpan keys export > me.pub       the public key of your default key, to give away",
        "deadpan keys export alice          the public key of a contact",
        "deadpan keys export --age          as an age recipient, for age -r"
    ))]
    Export {
        /// The name of one of your own keys or of a contact, or a key file [default: your default key]
        name: Option<String>,
        /// Print an age recipient instead, for the kinds of keys that age knows
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

/// A command on keys.
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
            Some(Command::Default { name }) => default(&home, name.as_deref())?,
            Some(Command::Protect(protection)) => {
                protect::protect(&own(&home, &protection.key)?, &Passphrases::new(&protection.source))?
            }
            Some(Command::Unprotect(protection)) => {
                protect::unprotect(&own(&home, &protection.key)?, &Passphrases::new(&protection.source))?
            }
            Some(Command::Export { name, age, source }) => {
                export::run(&home, name.as_deref(), *age, &Passphrases::new(source))?
            }
        }
        Ok(Exit::Done)
    }
}

fn add(home: &Home, name: &str, text: &str, force: bool) -> Result<(), Failure> {
    if home.own_path(name).exists() {
        return Err(Failure::usage(format!("{name} is one of your own keys"), "choose another name for the contact"));
    }
    let key = public(text).map_err(|failure| match fs::metadata(name).is_ok() && fs::metadata(text).is_err() {
        true => Failure { hint: Some(format!("the NAME comes first: deadpan keys add NAME {name}")), ..failure },
        false => failure,
    })?;
    let path = home.contact_path(name);
    if !force && fs::symlink_metadata(&path).is_ok() {
        return Err(Failure::usage(
            format!("there is a contact {name} already"),
            "replace it with --force, or choose another name",
        ));
    }
    home.make_folder_of(&path)?;
    home::write(&path, key::public_pem(&key).as_bytes(), 0o600, force)?;
    say(&format!("added {name}: {} {}", key.kem().name(), key::fingerprint(&key)));
    say("hint: compare the fingerprint with its owner before you trust it");
    Ok(())
}

/// Returns the public key that an argument names. A file with several keys is an error.
fn public(text: &str) -> Result<PublicKey, Failure> {
    let found = match text {
        _ if text.starts_with("age1") => key::read(text.as_bytes()).map_err(|error| misspelt(text, &error))?,
        "-" => home::read(Path::new("/dev/stdin"))?,
        _ => home::read(Path::new(text))?,
    };
    let name = crate::shown::bytes(text.as_bytes());
    let mut keys = Vec::new();
    for found in found {
        match found {
            Found::Public(key) => keys.push(key),
            Found::Private(_) | Found::Protected(_) => {
                let hint = "a contact is a public key; tell the person who sent it that this key is no longer private";
                return Err(Failure::usage(format!("{name} is a private key"), hint));
            }
        }
    }
    match (keys.pop(), keys.is_empty()) {
        (Some(key), true) => Ok(key),
        _ => Err(Failure::usage(
            format!("{name} holds several keys"),
            "a contact has one; name the file with -R to seal to all of them",
        )),
    }
}

fn remove(home: &Home, name: &str) -> Result<(), Failure> {
    let path = home.contact_path(name);
    match fs::remove_file(&path) {
        Ok(()) => say(&format!("removed {name}")),
        Err(error) if error.kind() == ErrorKind::NotFound && home.own_path(name).exists() => {
            let message =
                format!("{name} is one of your own keys; without it, files that were sealed to it cannot be opened");
            return Err(Failure::usage(
                message,
                format!("if you are sure, remove {} yourself", shown(home.own_path(name))),
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Failure::usage(format!("there is no contact {name}"), hint(name, home.contact_names())));
        }
        Err(error) => return Err(Failure::path("remove", &path, &error)),
    }
    Ok(())
}

/// Returns the file of a private key: that of the own key with this name, or else the file of this name.
fn own(home: &Home, name: &str) -> Result<PathBuf, Failure> {
    let own = home::check_name(name).ok().map(|()| home.own_path(name)).filter(|path| path.exists());
    let file = Some(PathBuf::from(name)).filter(|path| home::may_exist(path));
    if own.is_none() && file.is_none() {
        home.refuse_contact(name, "a passphrase protects a private key, and a contact is a public one")?;
    }
    own.or(file).ok_or_else(|| {
        let message = format!(
            "no key {}: no own key of that name in {}, and no such file",
            crate::shown::bytes(name.as_bytes()),
            shown(&home.folder)
        );
        Failure::usage(message, hint(name, home.own_names()))
    })
}

/// Chooses the default key, or prints its name.
fn default(home: &Home, name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else {
        let nothing =
            || Failure::usage(format!("you have no key in {}", shown(&home.folder)), "make one with: deadpan keygen");
        return print(&format!("{}\n", home.default_key()?.ok_or_else(nothing)?.name));
    };
    if !home.own()?.iter().any(|own| own.name == name) {
        home.refuse_contact(name, "only one of your own keys can be the default; seal to a contact with -r")?;
        let message = format!("you have no key {} in {}", crate::shown::bytes(name.as_bytes()), shown(&home.folder));
        return Err(Failure::usage(message, hint(name, home.own_names())));
    }
    home.record(name)?;
    say(&format!("{name} is your default key: files are sealed to it when no recipient is named"));
    Ok(())
}

/// Returns advice on a name that does not exist.
fn hint(name: &str, names: impl IntoIterator<Item = String>) -> String {
    match closest(name, names) {
        Some(name) => format!("did you mean {name}? `deadpan keys` lists the names"),
        None => "list the names with: deadpan keys".into(),
    }
}
