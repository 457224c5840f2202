//! `deadpan keys`: lists, adds, removes and exports keys, and changes their passphrases.

mod add;
mod backup;
mod bundle;
mod export;
mod import;
mod list;
mod moving;
pub mod protect;
mod rename;
mod restore;
mod sheet;
mod unlock;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::command::plan::Plan;
use crate::key::home::{self, Home};
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::key::program::PassphraseCommand;
use crate::place::held;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::shown::shown;
use crate::tell::streams::print;
use crate::tell::suggest::closest;
use deadpan_disk::{About, Error, Folder, Way, parent as folder_of};

/// Lists your own keys and your contacts, and manages them
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan keys add alice alice.pub      then: deadpan seal -r alice FILE",
    "deadpan keys export > me.pub          your public key, to give away"
))]
#[command(args_conflicts_with_subcommands = true)]
pub struct KeysArgs {
    #[command(subcommand)]
    command: Option<KeysCommand>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Lists your own keys and your contacts, as without a command
    #[command(after_help = help!(
        "deadpan keys list --json"
    ))]
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Adds a contact: the public key of another person, under a name
    #[command(after_help = help!(
        "deadpan keys add alice alice.pub                   then: deadpan seal -r alice FILE",
        "deadpan keys add bob age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
        "ssh host deadpan keys export | deadpan keys add work -"
    ))]
    Add {
        /// The contact's name
        name: String,
        /// A public key file, an age recipient (age1…), a public key of SSH, or - for standard input. A file may hold a
        /// key that seals and a key that verifies signatures
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
    /// Gives one of your own keys or a contact another name
    #[command(after_help = help!(
        "deadpan keys rename hybrid home"
    ))]
    Rename {
        /// The name
        name: String,
        /// The new name
        new: String,
    },
    /// Prints a private key as words, or writes a page, or shares of it
    #[command(after_help = help!(
        "deadpan keys backup hybrid                      24 words: X-Wing, X25519, P-256, Ed25519",
        "deadpan keys backup hybrid --page key.html      a page to print, with a QR code",
        "deadpan keys backup hybrid --any 2 --of 3       three shares; any two of them are the key"
    ))]
    Backup(backup::BackupArgs),
    /// Makes a key from its words, or from the words of its shares
    #[command(after_help = help!(
        "deadpan keys restore hybrid words.txt    from a file with the words and their line of comment",
        "deadpan keys restore hybrid              type the words, then Ctrl-D",
        "deadpan keys restore hybrid 1.txt 3.txt  from shares",
        "deadpan keys restore --kind X25519 ecc   words of another kind of key, without the comment"
    ))]
    Restore(restore::RestoreArgs),
    /// Makes keys of your own from other key files, or from `keys move`
    ///
    /// Takes key folders, PEM, OpenSSH keys (Ed25519), age identities and age plugins. Replaces no key. A key with a
    /// passphrase keeps it.
    #[command(after_help = help!(
        "deadpan keys import key.txt work           an age identity, as your key work",
        "deadpan keys import ~/.ssh/id_ed25519 ssh  signs with your SSH key",
        "deadpan keys import keys.dpn               everything from: deadpan keys move -o keys.dpn",
        "deadpan keys import usb/.config/deadpan    an old key folder"
    ))]
    Import(import::ImportArgs),
    /// Writes your keys and contacts to one sealed file, for a new machine
    #[command(after_help = help!(
        "deadpan keys move -o keys.dpn    then, on the new machine: deadpan keys import keys.dpn"
    ))]
    Move(moving::MoveArgs),
    /// Chooses your default key, or prints its name
    ///
    /// Files are sealed to this key when no recipient is named.
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
        "deadpan keys protect old.key",
        "deadpan keys protect --old-passphrase-file old --passphrase-file pw work    in a script"
    ))]
    Protect {
        #[command(flatten)]
        protection: Protection,
        /// Take the passphrase that the key has from the first line of this file, to change it in a script
        #[arg(long, value_name = "FILE", value_parser = stdin_or_path())]
        old_passphrase_file: Option<PathBuf>,
        /// Take the passphrase that the key has from the first line that this command prints
        #[arg(long, value_name = "COMMAND", conflicts_with = "old_passphrase_file")]
        old_passphrase_command: Option<PassphraseCommand>,
    },
    /// Takes the passphrase off a private key
    #[command(after_help = help!(
        "deadpan keys unprotect hybrid      asks for the passphrase",
        "deadpan keys unprotect old.key"
    ))]
    Unprotect(Protection),
    /// Gives private keys to the agent for a time
    ///
    /// Then their passphrases are typed once. The agent starts by itself.
    #[command(after_help = help!(
        "deadpan keys unlock                      your default key, for an hour",
        "deadpan keys unlock --for 8h work sign   two keys, for a working day",
        "deadpan keys unlock --ask work           the agent asks before each use",
        "deadpan keys unlock --list               the keys that the agent holds"
    ))]
    Unlock(unlock::UnlockArgs),
    /// Makes the agent forget all keys, or some
    #[command(after_help = help!(
        "deadpan keys lock",
        "deadpan keys lock work    forgets one key"
    ))]
    Lock {
        /// The names of keys that the agent holds [default: all keys]
        #[arg(value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Prints a public key: your own, or the one named
    #[command(after_help = help!(
        "deadpan keys export > me.pub       the public key of your default key, to give away",
        "deadpan keys export alice          the public key of a contact",
        "deadpan keys export --age          as an age recipient, for age -r",
        "deadpan keys export --sign         the public key of your signing key"
    ))]
    Export {
        /// The name of one of your own keys or of a contact, or a key file [default: your default key]
        name: Option<String>,
        /// Print an age recipient instead, for keys that age supports
        #[arg(long)]
        age: bool,
        /// Print the public key of your signing key, or of the contact's signing key
        #[arg(long)]
        sign: bool,
        /// Print a signing key as a line for an allowed_signers file of SSH
        #[arg(long, conflicts_with = "age")]
        ssh: bool,
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

/// A validated `deadpan keys` command.
pub struct Keys(KeysArgs);

impl KeysArgs {
    pub fn plan(self) -> Result<Keys, Failure> {
        if let Some(
            KeysCommand::Add { name, .. }
            | KeysCommand::Remove { name }
            | KeysCommand::Rename { new: name, .. }
            | KeysCommand::Import(import::ImportArgs { name: Some(name), .. }),
        ) = &self.command
        {
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
            Some(KeysCommand::List { json }) => return list::run(&home, *json),
            Some(KeysCommand::Add { name, key, force }) => add::add(&home, name, key, *force)?,
            Some(KeysCommand::Remove { name }) => remove(&home, name)?,
            Some(KeysCommand::Rename { name, new }) => rename::rename(&home, name, new)?,
            Some(KeysCommand::Backup(args)) => backup::backup(&home, &own(&home, &args.key, BACKED_UP)?, args)?,
            Some(KeysCommand::Restore(args)) => restore::restore(&home, args)?,
            Some(KeysCommand::Import(args)) => return import::import(&home, args),
            Some(KeysCommand::Move(args)) => moving::pack(&home, args)?,
            Some(KeysCommand::Default { name }) => default(&home, name.as_deref())?,
            Some(KeysCommand::Protect {
                protection: Protection { key, source },
                old_passphrase_file: file,
                old_passphrase_command: command,
            }) => {
                let old = PassphraseArgs::of(file.clone(), command.clone());
                protect::protect(&own(&home, key, PROTECTED)?, &Passphrases::new(source), old.as_ref())?
            }
            Some(KeysCommand::Unprotect(protection)) => {
                protect::unprotect(&own(&home, &protection.key, PROTECTED)?, &Passphrases::new(&protection.source))?
            }
            Some(KeysCommand::Unlock(args)) => unlock::unlock(&home, args, |key| own(&home, key, PROTECTED))?,
            Some(KeysCommand::Lock { keys }) => unlock::lock(&home, keys)?,
            Some(KeysCommand::Export { name, age, sign, ssh, source }) => {
                let form = export::ExportForm { sign: *sign, age: *age, ssh: *ssh };
                export::run(&home, name.as_deref(), form, &Passphrases::new(source))?
            }
        }
        Ok(Exit::Done)
    }
}

/// Whether a name and a file were given in the wrong order: there is a file at `name`, and none at `file`.
fn are_swapped(name: &Path, file: &Path) -> bool {
    About::of_path(name).is_ok() && About::of_path(file).is_err()
}

/// The advice for the name of a contact, which has neither a passphrase nor a backup.
const PROTECTED: &str = "a passphrase protects a private key, and a contact is a public one";
const BACKED_UP: &str = "a backup is of a private key, and a contact is a public one: deadpan keys export prints it";

fn remove(home: &Home, name: &str) -> Result<(), Failure> {
    let path = home.contact_path(name);
    match folder(folder_of(&path))?.and_then(|folder| folder.remove(path.file_name().unwrap_or_default())) {
        Ok(()) => say(&format!("removed {name}")),
        Err(error) if error.kind() == ErrorKind::NotFound && home.own_path(name).exists() => {
            let signs = home.own_signing()?.iter().any(|own| own.name == name);
            let loss =
                if signs { "you cannot sign as before" } else { "files that were sealed to it cannot be opened" };
            let message = format!("{name} is one of your own keys; without it, {loss}");
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

/// Opens a folder of keys. Refuses a folder that another user may have planted.
fn folder(path: &Path) -> Result<io::Result<Folder>, Failure> {
    match held::way(path).map_err(Error::of_folder).and_then(Way::unplanted) {
        Err(Error::Planted(planted)) => Err(home::planted_key(&planted)),
        Err(Error::System(_, error)) => Ok(Err(error)),
        Err(_) => Ok(Err(ErrorKind::NotFound.into())),
        Ok(folder) => Ok(Ok(folder)),
    }
}

/// Returns the path of a private key's file: the file of the user's own key `name`, or else the file at the path
/// `name`. `contact` is the advice for the name of a contact.
fn own(home: &Home, name: &str, contact: &str) -> Result<PathBuf, Failure> {
    let own = home::check_name(name).ok().map(|()| home.own_path(name)).filter(|path| path.exists());
    let file = Some(PathBuf::from(name)).filter(|path| home::may_exist(path));
    if own.is_none() && file.is_none() {
        home.refuse_contact(name, contact)?;
    }
    own.or(file).ok_or_else(|| {
        let message = format!(
            "no key {}: no own key of that name in {}, and no such file",
            crate::tell::shown::bytes(name.as_bytes()),
            shown(&home.folder)
        );
        Failure::usage(message, hint(name, home.own_names()))
    })
}

/// Sets the default key, or prints the name of the default key if no name is given.
fn default(home: &Home, name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else {
        let nothing =
            || Failure::usage(format!("you have no key in {}", shown(&home.folder)), "make one with: deadpan keygen");
        return print(&format!("{}\n", home.default_key()?.ok_or_else(nothing)?.name));
    };
    if !home.own()?.iter().any(|own| own.name == name) {
        home.refuse_contact(name, "only one of your own keys can be the default; seal to a contact with -r")?;
        if home.own_signing()?.iter().any(|own| own.name == name) {
            let message = format!("{name} is a key that signs, and the default key is one that seals");
            return Err(Failure::usage(message, "name the key to sign with where you sign: deadpan sign -k NAME"));
        }
        let message =
            format!("you have no key {} in {}", crate::tell::shown::bytes(name.as_bytes()), shown(&home.folder));
        return Err(Failure::usage(message, hint(name, home.own_names())));
    }
    home.record(name)?;
    say(&format!("{name} is your default key: files are sealed to it when no recipient is named"));
    Ok(())
}

fn hint(name: &str, names: impl IntoIterator<Item = String>) -> String {
    match closest(name, names) {
        Some(name) => format!("did you mean {name}? `deadpan keys` lists the names"),
        None => "list the names with: deadpan keys".into(),
    }
}
