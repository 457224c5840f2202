//! `deadpan keys import`: makes keys of one's own from files of other programs, from a key folder, or from the file of
//! `deadpan keys move`.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use crate::command::keygen::tell_default;
use crate::command::keys::are_swapped;
use crate::command::keys::bundle::Bundle;
use crate::key::home::make::{refuse_taken_name, tell_same, write_new, write_text};
use crate::key::home::{self, GUARD, Home, Public, is_public};
use crate::key::identity::Identities;
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::key::protected::{check_pair, not_private, unlock_any};
use crate::place::held;
use crate::place::input::{Input, Source};
use crate::place::sealed::{Sealed, begins_sealed};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use crate::tell::streams::STDIN;
use deadpan_pack::is_archive;
use deadpan_seal::key::openssh::PrivateFile;
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Error, Secret};

/// The maximum number of bytes in the file of `deadpan keys move`. A contact takes about 3 kB.
const LONGEST: usize = 1 << 25;
/// The size of the first read.
const FIRST: usize = 1 << 14;

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// A private key file, a key folder, a file from `deadpan keys move`, or - for standard input
    #[arg(value_parser = stdin_or_path())]
    file: PathBuf,
    /// The name of the key [default: the name of the file, without its ending]
    pub name: Option<String>,
    /// Do not protect a private key that has no passphrase
    #[arg(long, conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_command"])]
    no_passphrase: bool,
    #[command(flatten)]
    source: PassphraseArgs,
}

pub fn import(home: &Home, args: &ImportArgs) -> Result<Exit, Failure> {
    let source = if args.file.as_os_str() == STDIN { Source::Stdin } else { Source::File(args.file.clone()) };
    args.source.leave_stdin_to(std::slice::from_ref(&source))?;
    held::hold([home.own_path("default").as_path()]);
    let input = Input::open(&source).map_err(|failure| match &args.name {
        Some(name) if are_swapped(Path::new(name), &args.file) => {
            let hint = format!("the FILE comes first: deadpan keys import {name} {}", shown(&args.file));
            Failure { hint: Some(hint), ..failure }
        }
        _ => failure,
    })?;
    let from = input.shown();
    if input.is_folder() {
        return args.place(&Bundle::of_folder(&Home { folder: args.file.clone() })?, home, &from);
    }
    input.announce();
    let (mut identities, mut text) = (Identities::none(Passphrases::new(&args.source)), read(input.reader(), &from)?);
    if begins_sealed(&text) {
        identities = Identities::collect(&[], home, Passphrases::new(&args.source))?;
        text = open(&mut identities, &from, &text)?;
    } else if source != Source::Stdin
        && let (Some(about), Ok(found)) = (&input.about, key::read(&text))
        && !found.iter().all(is_public)
    {
        home::check_private(&args.file, about);
    }
    if is_archive(&text) {
        return args.place(&Bundle::of_archive(&text, &from)?, home, &from);
    }
    Import { home, args, from: &from, text: &text, passphrases: identities.passphrases() }.run()?;
    Ok(Exit::Done)
}

impl ImportArgs {
    /// Writes the keys of a key folder. Returns an error if there is a name for them, because they have names already.
    fn place(&self, bundle: &Bundle, home: &Home, from: &str) -> Result<Exit, Failure> {
        if self.name.is_some() && bundle.keys() > 0 {
            return Err(Failure::usage(
                format!("{from} is a key folder, and its keys have names"),
                "leave out the NAME, and give a key another name later: deadpan keys rename",
            ));
        }
        bundle.place(home, from)
    }
}

/// Reads everything into memory that is wiped.
pub fn read(mut input: impl Read, name: &str) -> Result<Secret, Failure> {
    let (mut data, mut length) = (Secret::zeroed(FIRST), 0);
    loop {
        if length == data.len() {
            if length >= LONGEST {
                let hint = "check that it is the right file";
                return Err(Failure::new(Exit::Data, format!("{name} is too long for keys"), hint));
            }
            let mut longer = Secret::zeroed(2 * length);
            longer[..length].copy_from_slice(&data);
            data = longer;
        }
        match input.read(&mut data[length..]) {
            Ok(0) => return Ok(Secret::copy_of(&data[..length])),
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::seal(name, Error::Read(error))),
        }
    }
}

/// Opens sealed data in memory.
fn open(identities: &mut Identities, from: &str, sealed: &[u8]) -> Result<Secret, Failure> {
    let failed = |error| Failure::seal(from, error);
    let sealed = Sealed::begun(Vec::new(), Cursor::new(sealed)).map_err(failed)?;
    let opened = identities.open(from, &sealed)?;
    read(opened.read_from(sealed.payload).map_err(failed)?, from)
}

/// The import of a key file.
struct Import<'a> {
    home: &'a Home,
    args: &'a ImportArgs,
    /// The name of the file, for messages.
    from: &'a str,
    text: &'a [u8],
    passphrases: &'a Passphrases,
}

impl Import<'_> {
    fn run(&self) -> Result<(), Failure> {
        let found = key::read(self.text).map_err(|error| Failure::key(self.from, &error))?;
        let keys: Vec<_> = found.into_iter().filter(|found| !is_public(found)).collect();
        let is_plain = |key: &Found| matches!(key, Found::Private(_) | Found::Signing(_));
        if keys.is_empty() {
            let hint = "the public key of another person is a contact: deadpan keys add NAME FILE";
            return Err(Failure::usage(format!("{} holds no private key", self.from), hint));
        }
        if keys.len() > 1 && !keys.iter().all(is_plain) {
            let message = format!("{} holds several keys, and one of them must stay in a file as it is", self.from);
            return Err(Failure::usage(message, "put each key into a file of its own, and import each file"));
        }
        let paths = self.paths(keys.len())?;
        for (key, path) in keys.iter().zip(&paths) {
            match key {
                Found::Private(_) | Found::Signing(_) => self.plain(path, key, keys.len() == 1)?,
                Found::Protected(locked) => {
                    let public =
                        match self.beside().filter(|public| locked.fingerprint() == Some(&public.fingerprint())) {
                            Some(public) => public,
                            // Only the key itself tells its public part.
                            None => {
                                let key = unlock_any(&self.args.file, locked, self.passphrases)?;
                                Public::from_key(&key).ok_or_else(|| not_private(self.from))?
                            }
                        };
                    self.as_it_is(path, Some(&public), "protected by its passphrase as before")?;
                }
                Found::OpenSsh(file) => self.ssh(path, file)?,
                Found::PluginIdentity(identity) => {
                    self.as_it_is(path, None, &format!("an identity of age-plugin-{}", identity.name()))?;
                }
                _ => return Err(not_private(self.from)),
            }
        }
        Ok(())
    }

    /// Returns the paths of the new keys: `NAME`, `NAME-2` and so on. Fails if one of the names is taken.
    fn paths(&self, count: usize) -> Result<Vec<PathBuf>, Failure> {
        let stem =
            || Some(self.args.file.file_stem()?.to_str()?.to_owned()).filter(|_| self.args.file.as_os_str() != STDIN);
        let name = self.args.name.clone().or_else(stem).filter(|name| home::check_name(name).is_ok());
        let name = name.ok_or_else(|| {
            Failure::usage(format!("the key in {} needs a name", self.from), "deadpan keys import FILE NAME")
        })?;
        let numbered = |number| if number == 1 { name.clone() } else { format!("{name}-{number}") };
        let paths: Vec<_> = (1..=count).map(|number| self.home.own_path(&numbered(number))).collect();
        held::hold(paths.iter().map(PathBuf::as_path));
        for path in &paths {
            refuse_taken_name(self.home, path, "import FILE NAME")?;
        }
        Ok(paths)
    }

    /// Imports a key without a passphrase, and gives it one if the user wants that.
    fn plain(&self, path: &Path, key: &Found, is_only: bool) -> Result<(), Failure> {
        if is_only {
            check_pair(&self.args.file, key);
        }
        let passphrase = if self.args.no_passphrase {
            None
        } else {
            let without = "import it without a passphrase with --no-passphrase";
            Some(self.passphrases.new_one(&format!("the key {}", shown(path)), without)?)
        };
        let public = write_new(self.home, path, key, passphrase.as_ref())?;
        self.tell(path, Some(&public), if passphrase.is_some() { "protected" } else { "not protected" });
        Ok(())
    }

    /// Imports a private key file of OpenSSH. Only keys that sign are of use in the key folder.
    fn ssh(&self, path: &Path, file: &PrivateFile) -> Result<(), Failure> {
        let key = file.public().verifying_key().ok_or_else(|| {
            let message = format!(
                "{} is an SSH key of the kind {}, which does not sign here",
                self.from,
                file.public().kind().name()
            );
            Failure::usage(message, "it opens age files that were sealed to it: deadpan open -i FILE")
        })?;
        home::check_signing_pair(&self.args.file, &key);
        if file.is_protected() {
            return self.as_it_is(path, Some(&Public::Signing(key)), "protected by its passphrase as before");
        }
        self.as_it_is(path, Some(&Public::Signing(key)), "not protected")?;
        say(&format!("hint: protect it with: ssh-keygen -p -f {}", shown(path)));
        Ok(())
    }

    /// Copies the text of the file.
    fn as_it_is(&self, path: &Path, public: Option<&Public>, what: &str) -> Result<(), Failure> {
        write_text(self.home, path, public, self.text)?;
        self.tell(path, public, what);
        Ok(())
    }

    /// Returns the key in the file beside the private key.
    fn beside(&self) -> Option<Public> {
        home::beside(&self.args.file).ok().flatten()
    }

    fn tell(&self, path: &Path, public: Option<&Public>, what: &str) {
        let name = self.home.name_of(path).unwrap_or_default();
        match public {
            Some(public) => {
                let purpose = if public.signs() { "for signing" } else { "for sealing and opening" };
                say(&format!("imported {name}: {} {}, {purpose}, {what}", public.algorithm(), public.fingerprint()));
            }
            None => say(&format!("imported {name}: {what}")),
        }
        if what == "not protected" {
            say(&format!("note: the key has no passphrase, and only its file's {GUARD} keeps others away"));
        }
        if let Some(public) = public {
            tell_same(self.home, path, public);
        }
        if public.is_some_and(|public| !public.signs()) {
            tell_default(self.home, path);
        }
    }
}
