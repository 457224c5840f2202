//! Recipients: public key files, names in the key folder, age recipients, a passphrase, or the default key.

mod any;
pub mod ssh;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::key::home::make::make;
use crate::key::home::{self, GUARD, Home, Public};
use crate::key::mode::{ModeArg, mode_name};
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::key::protected;
use crate::place::held;
use crate::place::input::Source;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{bytes, shown};
use crate::tell::streams::STDIN;
use crate::tell::suggest::closest;
use deadpan_disk::About;
use deadpan_lab::invocation;
use deadpan_seal::key::openssh::SshPublic;
use deadpan_seal::key::{self, Found, KeyError, Place, ProtectedKey};
use deadpan_seal::{Cost, Kem, Mode, PrivateKey, PublicKey, Recipient, Sealing, plugin};

#[derive(Clone, Debug, clap::Args)]
pub struct RecipientArgs {
    /// Seal to this recipient: a public key file, a name from `deadpan keys`, or an age recipient (age1…), also one
    /// of a plugin (age1NAME1…); for age files also an SSH key (ssh-…). May be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    recipients: Vec<String>,
    /// Seal to all public keys in this file
    #[arg(short = 'R', long, value_name = "FILE", value_parser = stdin_or_path())]
    recipients_file: Vec<PathBuf>,
    /// Any N of the named keys open the file together; fewer cannot. Without --any, each recipient opens the file alone
    #[arg(long, value_name = "N")]
    any: Option<u8>,
    /// Seal with a passphrase; the options --passphrase-… imply this
    #[arg(short, long)]
    passphrase: bool,
    /// The kind of protection. Without a recipient, chooses your own key of this kind (or makes one); refuses named
    /// recipients of another kind
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArg>,
    #[command(flatten)]
    pub source: PassphraseArgs,
}

/// The recipients on the command line. Public keys that can be read only with a passphrase are not read yet.
pub struct NamedRecipients(Vec<(String, Part)>);

/// The public part of a recipient.
enum Part {
    Known(PublicKey),
    /// A key of SSH, for an age file.
    Ssh(SshPublic),
    /// The public part must be decrypted from the protected private key in this file.
    Locked(PathBuf),
    /// The plugin knows the public part.
    Plugin(plugin::Recipient),
}

/// The recipients of a file, after their keys were read.
pub struct Recipients {
    pub sealing: Sealing,
    /// Their public keys.
    pub keys: Vec<PublicKey>,
    /// The name of the default key, if it is used because no recipient was named.
    pub default_key: Option<String>,
    pub passphrase: Option<deadpan_seal::Passphrase>,
    /// How many of the keys are needed together to open the file: 1, or the number that `--any` sets.
    pub needed: usize,
    /// The name of the first recipient that only an age file can have.
    ssh: Option<String>,
    /// The names of recipients without a public key in Deadpan's format: recipients of plugins and keys of SSH.
    pub others: Vec<String>,
}

impl Recipients {
    /// Refuses recipients that only an age file can have.
    pub fn refuse_ssh(&self) -> Result<(), Failure> {
        if let Some(name) = &self.ssh { Err(only_in_age(name)) } else { Ok(()) }
    }

    /// Writes a note to a user at a terminal if none of the recipients is one of the user's own keys. There is no note
    /// if a key of the user is unknown because its passphrase was not given, or if a recipient belongs to a plugin. A
    /// recipient of a plugin may be the user's own key.
    pub fn tell_if_others(&self, home: &Home) -> Result<(), Failure> {
        if self.passphrase.is_some() || !self.others.is_empty() || !std::io::stderr().is_terminal() {
            return Ok(());
        }
        let own = home.own()?;
        let may_open = |own: &home::Own| match own.public() {
            Ok(Some(key)) => self.keys.contains(&key),
            _ => true,
        };
        if !own.iter().any(may_open) {
            let hint = own.first().map_or(String::new(), |own| format!("; your own key is one more: -r {}", own.name));
            say(&format!("note: only others can open this, and you cannot{hint}"));
        }
        Ok(())
    }
}

/// Returns the failure for a key of SSH among the recipients of a file in Deadpan's own format.
pub fn only_in_age(name: &str) -> Failure {
    let message = format!("{name} is a key of SSH, and such keys are recipients of age files only");
    Failure::usage(message, "write an age file with `seal --format age`, or leave the recipient out")
}

impl NamedRecipients {
    /// Finds the keys of the given recipients, and all keys in the given files.
    pub fn named(recipients: &[String], files: &[PathBuf], home: &Home) -> Result<Self, Failure> {
        let mut found = Vec::new();
        for recipient in recipients {
            found.extend(named(recipient, home)?);
        }
        for file in files {
            found.extend(in_file(file)?);
        }
        Ok(Self(found))
    }

    /// Returns the names and keys. Asks for a passphrase if reading a public part needs the passphrase. Fails if there
    /// is a recipient of a plugin or a key of SSH, because such a recipient cannot be recognized in a file.
    pub fn keys(&self, passphrases: &Passphrases) -> Result<NamedKeys, Failure> {
        let Sorted { plugins, ssh, keys } = self.resolve(passphrases)?;
        let plugins = plugins.iter().map(|(name, _)| (name, "a recipient of a plugin"));
        match plugins.chain(ssh.iter().map(|(name, _)| (name, "an SSH key"))).next() {
            None => Ok(keys),
            Some((name, what)) => {
                let message = format!("{name} is {what}, which cannot be found among the recipients of a file");
                Err(Failure::usage(message, "name all who shall open the file with --to"))
            }
        }
    }

    /// Returns the names and recipients. Asks for a passphrase if reading a public part needs the passphrase.
    pub fn recipients(&self, passphrases: &Passphrases) -> Result<Vec<(String, Recipient)>, Failure> {
        let with_recipient = |(name, part): &(String, Part)| {
            let recipient = match part {
                Part::Known(key) => Recipient::Key(key.clone()),
                Part::Locked(path) => Recipient::Key(public_of(path, passphrases)?),
                Part::Ssh(key) => Recipient::Ssh(key.clone()),
                Part::Plugin(plugin) => Recipient::Plugin(plugin.clone()),
            };
            Ok((name.clone(), recipient))
        };
        self.0.iter().map(with_recipient).collect()
    }

    /// Returns all recipients, by kind.
    fn resolve(&self, passphrases: &Passphrases) -> Result<Sorted, Failure> {
        let mut sorted = Sorted::default();
        for (name, part) in &self.0 {
            let name = name.clone();
            match part {
                Part::Known(key) => sorted.keys.push((name, key.clone())),
                Part::Locked(path) => sorted.keys.push((name, public_of(path, passphrases)?)),
                Part::Ssh(key) => sorted.ssh.push((name, key.clone())),
                Part::Plugin(plugin) => sorted.plugins.push((name, plugin.clone())),
            }
        }
        Ok(sorted)
    }
}

/// Public keys, each with its name on the command line.
type NamedKeys = Vec<(String, PublicKey)>;

/// The recipients by kind, each with its name on the command line.
#[derive(Default)]
struct Sorted {
    keys: NamedKeys,
    ssh: Vec<(String, SshPublic)>,
    plugins: Vec<(String, plugin::Recipient)>,
}

impl RecipientArgs {
    /// Returns the arguments for sealing only to the given recipients.
    pub fn for_recipients(recipients: Vec<String>, mode: Option<ModeArg>, source: PassphraseArgs) -> Self {
        Self { recipients, recipients_file: Vec::new(), any: None, passphrase: false, mode, source }
    }

    /// Sets `--passphrase` if the arguments contain a passphrase. With `--remove-source` and named recipients, does not
    /// set the option, because the passphrase may belong to one of the user's own keys.
    pub fn imply_passphrase(&mut self, remove_source: bool) {
        self.passphrase |= self.source.is_given() && (!remove_source || self.names_nobody());
    }

    /// Refuses standard input as the source of both the recipients and the data.
    pub fn leave_stdin_to(&self, sources: &[Source]) -> Result<(), Failure> {
        if sources.contains(&Source::Stdin) && self.recipients_file.iter().any(|file| file == Path::new(STDIN)) {
            return Err(Failure::usage("standard input cannot give both the data and the recipients", "name a FILE"));
        }
        self.source.leave_stdin_to(sources)
    }

    /// Refuses options that contradict each other.
    pub fn check(&self) -> Result<(), Failure> {
        if self.passphrase && self.names_nobody() && self.mode.is_some() {
            let hint = "leave out --mode, or name a recipient with -r as well";
            return Err(Failure::usage("--mode chooses among keys, and a passphrase alone has none", hint));
        }
        if let Some(needed) = self.any {
            any::check(needed, self.names_nobody(), self.passphrase)?;
        }
        Ok(())
    }

    pub fn needs_several(&self) -> bool {
        self.any.is_some()
    }

    /// If no file has the name that follows `-p`, changes the advice, because the name is probably a passphrase.
    pub fn advise(&self, source: &Source, failure: Failure) -> Failure {
        let words: Vec<_> = invocation::arguments();
        let is_value = |pair: &[OsString]| {
            let is_option = ["-p", "-ap", "-fp", "--passphrase"].iter().any(|option| pair[0] == *option);
            is_option && source.path().is_some_and(|path| pair[1] == path && About::of_name(path).is_err())
        };
        if !self.passphrase || !words.windows(2).any(is_value) {
            return failure;
        }
        let hint = "if this is the passphrase: -p takes no value, since everybody on this machine can see arguments; \
                    it is asked for, or comes from --passphrase-file, --passphrase-command or DEADPAN_PASSPHRASE";
        Failure { hint: Some(hint.into()), ..failure }
    }

    /// Returns the options with which `rewrap` seals files to these recipients. Each option follows a space. If no
    /// recipient is named, the key `default_key` is the recipient.
    pub fn as_of_rewrap(&self, default_key: Option<&str>) -> String {
        let files = self.recipients_file.iter().map(shown);
        let named = self.recipients.iter().map(|name| bytes(name.as_bytes())).chain(files);
        let all = named.chain(default_key.map(str::to_owned)).map(|name| format!(" --to {name}"));
        let mixed = self.mode.filter(|mode| *mode == ModeArg::Ecc).map(|_| " --mode ecc".to_owned());
        all.chain(self.passphrase.then(|| " -p".to_owned())).chain(mixed).collect()
    }

    /// Whether the arguments contain a recipient or a passphrase.
    pub fn is_given(&self) -> bool {
        self.passphrase || !self.names_nobody()
    }

    fn names_nobody(&self) -> bool {
        self.recipients.is_empty() && self.recipients_file.is_empty()
    }

    /// Finds all recipients on the command line. The user is not asked for passphrases and no key is made, so that a
    /// misspelt recipient is reported before anything else.
    pub fn find(&self, home: &Home) -> Result<NamedRecipients, Failure> {
        let found = NamedRecipients::named(&self.recipients, &self.recipients_file, home)?;
        let known = found.0.iter().map(|(name, part)| match part {
            Part::Known(key) => Some((name.clone(), key.clone())),
            Part::Locked(_) | Part::Ssh(_) | Part::Plugin(_) => None,
        });
        if let Some(keys) = known.collect::<Option<Vec<_>>>() {
            self.refuse_other_modes(&keys)?;
        }
        Ok(found)
    }

    /// Reads the remaining public keys, asks for passphrases if necessary, and adds the default key if no recipient is
    /// named. `what` is the purpose of a new passphrase. With `rehearse`, no key is written.
    pub fn resolve(
        &self,
        named: &NamedRecipients,
        what: &str,
        home: &Home,
        passphrases: &Passphrases,
        rehearse: bool,
    ) -> Result<Recipients, Failure> {
        let Sorted { plugins, ssh, mut keys } = named.resolve(passphrases)?;
        if let Some((name, _)) = plugins.first() {
            self.refuse_mode_of(name)?;
        }
        let mut default_key = None;
        if self.names_nobody() && !self.passphrase {
            let (name, key) = own(home, passphrases, self.mode.map(Mode::from), rehearse)?;
            if std::io::stderr().is_terminal() {
                say(&format!("note: sealing to your own key {name} ({})", key.kem().name()));
            }
            keys.push((name.clone(), key));
            default_key = Some(name);
        }
        let passphrase =
            if self.passphrase { Some(passphrases.new_one(what, "name a recipient with -r instead")?) } else { None };
        let is_mixed = self.mode == Some(ModeArg::Ecc);
        // With `--mode ecc`, a recipient of a plugin may be classical, so the other recipients may have other modes.
        if plugins.is_empty() || !is_mixed {
            self.refuse_other_modes(&keys)?;
        }
        let mut recipients = match self.any {
            Some(needed) => {
                if let Some((name, _)) = plugins.first() {
                    let message = format!("{name} is a recipient of a plugin, which cannot hold a share");
                    return Err(Failure::usage(message, "name a key instead, or leave out --any"));
                }
                if let Some((name, _)) = ssh.first() {
                    let message = format!("{name} is a key of SSH, which cannot hold a share");
                    return Err(Failure::usage(message, "name another key instead, or leave out --any"));
                }
                vec![any::group(needed, &keys)?]
            }
            None => keys.iter().map(|(_, key)| Recipient::Key(key.clone())).collect(),
        };
        let others = plugins.iter().map(|(name, _)| name).chain(ssh.iter().map(|(name, _)| name)).cloned().collect();
        recipients.extend(plugins.into_iter().map(|(_, plugin)| Recipient::Plugin(plugin)));
        let first_ssh = ssh.first().map(|(name, _)| name.clone());
        recipients.extend(ssh.into_iter().map(|(_, key)| Recipient::Ssh(key)));
        recipients.extend(passphrase.clone().map(|passphrase| Recipient::Passphrase(passphrase, Cost::default())));
        if self.any.is_some() {
            any::refuse_others(&recipients)?;
        }
        let sealing = if is_mixed { Sealing::mixed(recipients) } else { Sealing::to(recipients) };
        let sealing = sealing.map_err(|error| Failure::seal("", error))?;
        let keys = keys.into_iter().map(|(_, key)| key).collect();
        let needed = self.any.unwrap_or(1).into();
        Ok(Recipients { sealing, keys, default_key, passphrase, needed, ssh: first_ssh, others })
    }

    /// If all recipients must have the same mode, refuses a recipient of a plugin, because only the plugin can
    /// determine its mode.
    fn refuse_mode_of(&self, name: &str) -> Result<(), Failure> {
        match self.mode {
            None | Some(ModeArg::Ecc) => Ok(()),
            Some(_) => {
                let message =
                    format!("{name} is a recipient of a plugin, whose mode is not known before it is sealed to");
                Err(Failure::usage(message, "leave out --mode"))
            }
        }
    }

    /// Returns an error if the modes of the recipients differ. One classical recipient makes the whole file classical,
    /// so the file needs `--mode ecc`. With any other `--mode`, each recipient must have that mode.
    fn refuse_other_modes(&self, keys: &[(String, PublicKey)]) -> Result<(), Failure> {
        let is_classical = |(_, key): &&(String, PublicKey)| key.kem().mode() == Mode::Ecc;
        let Some(mode) = self.mode.map(Mode::from) else {
            let classical = keys.iter().find(is_classical);
            return match classical {
                Some((name, key)) if !keys.iter().all(|key| is_classical(&key)) => {
                    let message =
                        format!("{name} is classical ({}) and would make the whole file classical", key.kem().name());
                    Err(Failure::usage(message, "seal a second copy for it, or allow it with --mode ecc"))
                }
                _ => Ok(()),
            };
        };
        let other = match mode {
            Mode::Ecc if keys.iter().any(|key| is_classical(&key)) => None,
            mode => keys.iter().find(|(_, key)| key.kem().mode() != mode),
        };
        let Some((name, key)) = other else { return Ok(()) };
        let (wanted, is) = (mode_name(mode), mode_name(key.kem().mode()));
        let message = format!("{name} is {is} ({}), not {wanted}", key.kem().name());
        Err(Failure::usage(message, format!("leave out --mode, or name recipients whose mode is {wanted}")))
    }
}

/// Returns the keys of a single recipient on the command line. Names in the key folder take precedence over files, so
/// that a file in the current folder cannot take the place of a contact.
fn named(text: &str, home: &Home) -> Result<Vec<(String, Part)>, Failure> {
    let label = bytes(text.as_bytes());
    if text.starts_with("age1") {
        let found = key::read(text.as_bytes()).map_err(|error| misspelt(text, &error))?;
        let parts = found.into_iter().filter_map(|found| match found {
            Found::Public(key) => Some(Ok(Part::Known(key))),
            Found::PluginRecipient(recipient) => Some(of_plugin(recipient.into())),
            _ => None,
        });
        return parts.map(|part| part.map(|part| (short(text), part))).collect();
    }
    if ssh::is_line(text.as_bytes()) && text.contains(' ') {
        return Ok(vec![(short(text), Part::Ssh(ssh::line(&short(text), text)?))]);
    }
    let is_name = home::check_name(text).is_ok();
    if is_name {
        let (contact, own) = (home.contact_path(text), home.own_path(text));
        match (contact.exists(), own.exists()) {
            (true, true) => {
                let message = format!("{label} is the name of a contact and of a key of your own");
                let hint = format!("remove the contact with: deadpan keys remove {label}; or name the file of the key");
                return Err(Failure::usage(message, hint));
            }
            (true, false) => {
                let keys = in_file(&contact)?;
                return Ok(keys.into_iter().map(|(_, key)| (label.clone(), key)).collect());
            }
            (false, true) => return Ok(vec![(label, part_of(&own)?)]),
            (false, false) => {}
        }
    }
    let path = Path::new(text);
    // A folder that happens to have the name of a missing contact is no key.
    if home::may_exist(path) && !(is_name && path.is_dir()) {
        return in_file(path);
    }
    let message = format!(
        "no recipient {label}: there is no such file, no such name in {}, and it is not an age recipient",
        shown(&home.folder)
    );
    let hint = match closest(text, home.names()) {
        Some(name) => format!("did you mean {name}? `deadpan keys` lists the names"),
        None => "add a contact with: deadpan keys add NAME FILE".into(),
    };
    Err(Failure::usage(message, hint))
}

/// Returns all public keys in a file, and the public parts of all private keys in the file.
fn in_file(path: &Path) -> Result<Vec<(String, Part)>, Failure> {
    let name = shown(path);
    let mut keys = Vec::new();
    let (text, about) = home::text(path)?;
    if text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).all(|line| line.is_empty() || line[0] == b'#') {
        let hint =
            "a file of recipients has age recipients (age1…), one in a line, or public keys (PEM): deadpan keys export";
        return Err(Failure::new(Exit::Data, format!("{name} names no recipient"), hint));
    }
    let all = match ssh::take(&name, &text)? {
        None => home::keys_in(path, &text, &about)?,
        Some((found, rest)) => {
            keys.extend(found.into_iter().map(|key| (name.clone(), Part::Ssh(key))));
            match (ssh::first_line(&rest), key::read(&rest)) {
                (None, _) => Vec::new(),
                // A line that is no key may be a misspelt recipient.
                (Some(line), Err(KeyError::Unknown)) => {
                    return Err(Failure::key(&name, &KeyError::NotAKey { place: Place::Line(line) }));
                }
                (_, found) => found.map_err(|error| Failure::key(&name, &error))?,
            }
        }
    };
    let count = all.len();
    let only_signing = all.iter().all(|found| matches!(found, Found::Signing(_) | Found::Verifying(_)));
    for found in all {
        match &found {
            // A contact's file may hold a signing key in addition to the key for sealing.
            Found::Signing(_) | Found::Verifying(_) if !only_signing => continue,
            Found::Signing(key) => return Err(home::signs(&name, key.public())),
            Found::Verifying(key) => return Err(home::signs(&name, key)),
            _ => {}
        }
        keys.push((
            name.clone(),
            match found {
                Found::Public(key) => Part::Known(key),
                Found::Ssh(key) => Part::Ssh(key),
                Found::Private(key) => Part::Known(key.public().clone()),
                // Only one public part is stored beside a file with private keys, and it can belong to any of these
                // keys.
                Found::Protected(key) if count > 1 => return Err(one_of_several(&name, count, &key)),
                Found::Protected(_) => part_of(path)?,
                Found::OpenSsh(file) => Part::Ssh(file.public().clone()),
                Found::PluginRecipient(recipient) => of_plugin(recipient.into())?,
                // The plugin determines which recipient belongs to the identity.
                Found::PluginIdentity(identity) => of_plugin(plugin::Identity::from(identity).to_recipient())?,
                // Signing keys were handled above.
                Found::Signing(_) | Found::Verifying(_) => continue,
            },
        ));
    }
    Ok(keys)
}

fn of_plugin(recipient: plugin::Recipient) -> Result<Part, Failure> {
    Ok(Part::Plugin(recipient.with(crate::key::plugin::client()?)))
}

/// Returns the public part of a private key file, or [`Part::Locked`] if reading the public part needs the passphrase.
fn part_of(path: &Path) -> Result<Part, Failure> {
    if let Ok([Found::PluginIdentity(identity)]) = home::read(path).as_deref() {
        return of_plugin(plugin::Identity::from(identity.clone()).to_recipient());
    }
    Ok(home::public_of(path)?.map_or_else(|| Part::Locked(path.to_owned()), Part::Known))
}

/// Returns the public part of a private key file. If reading the public part needs the passphrase, asks the user for
/// the passphrase. Then writes the public part beside the key, so that the user types the passphrase only once.
pub fn public_of(path: &Path, passphrases: &Passphrases) -> Result<PublicKey, Failure> {
    if let Some(public) = home::public_of(path)? {
        return Ok(public);
    }
    let Found::Protected(locked) = home::KeyFile::find(path)?.only()? else {
        return Err(Failure::usage(format!("{} changed while it was read", shown(path)), "try again"));
    };
    let key = protected::unlock(path, &locked, passphrases)?;
    home::write_public(path, &Public::Sealing(key.public().clone()));
    Ok(key.public().clone())
}

/// Returns the failure for an age recipient on the command line that is not valid.
pub fn misspelt(text: &str, error: &KeyError) -> Failure {
    let failure = Failure::key("", error);
    // The full message contains a line number, which does not help if the argument has only one line.
    let message = if text.contains(['\n', '\r']) { failure.message } else { error.reason().into_owned() };
    let hint = match error {
        KeyError::Crowded { .. } => Some("write -r before each recipient".into()),
        KeyError::Malformed { .. } => Some("copy the whole recipient again from its owner's message".into()),
        _ => failure.hint,
    };
    Failure { exit: Exit::Usage, message, hint, ..failure }.about(&short(text))
}

/// Returns an age recipient, shortened for a message.
fn short(text: &str) -> String {
    match text.char_indices().nth(16) {
        Some((end, _)) => format!("{}…", bytes(&text.as_bytes()[..end])),
        None => bytes(text.as_bytes()),
    }
}

fn one_of_several(name: &str, count: usize, key: &ProtectedKey) -> Failure {
    let message = format!("{name} has {count} keys, and the one in {} is protected", key.place());
    Failure::usage(message, "name a file with its public key; a protected key does not show it")
}

/// If no recipient is named, returns the user's own key to seal to, and the name of this key. Makes a key if there is
/// none. With `rehearse`, no key is written and no default key is recorded.
fn own(
    home: &Home,
    passphrases: &Passphrases,
    mode: Option<Mode>,
    rehearse: bool,
) -> Result<(String, PublicKey), Failure> {
    let find = || {
        let default = if rehearse { home.default_key()? } else { home.settle_default()? };
        match (default, mode) {
            (Some(default), Some(mode)) => home.key_of_mode(default, mode),
            (default, _) => Ok(default),
        }
    };
    if let Some(own) = find()? {
        let public = public_of(&own.path, passphrases)?;
        return Ok((own.name, public));
    }
    let kem = match mode.unwrap_or(Mode::Hybrid) {
        Mode::Ecc => Kem::X25519,
        Mode::Pqc => Kem::MlKem768,
        Mode::Hybrid => Kem::XWing,
    };
    let name = mode_name(kem.mode());
    let path = home.own_path(name);
    if rehearse {
        say(&format!("note: you have no {name} key; sealing makes one: {}", shown(&path)));
        let key = PrivateKey::generate(kem).map_err(|error| Failure::seal(&shown(&path), error))?;
        return Ok((name.to_owned(), key.public().clone()));
    }
    let public = home::public_path(&path);
    if public.exists() && !path.exists() {
        let message = format!("{} is there, and its private key {} is not", shown(&public), shown(&path));
        let hint = "put the private key back from a backup; or if it is lost, remove the public part: the next `seal` \
                    makes a new key, which does not open what was sealed to the old one";
        return Err(Failure::usage(message, hint));
    }
    held::hold([path.as_path()]);
    let without = "make a key without a passphrase with: deadpan keygen --no-passphrase";
    let passphrase = passphrases.new_if_wanted(&format!("your new key {}", shown(&path)), without)?;
    let key = match make(home, &path, kem, passphrase.as_ref()) {
        Ok(key) => key,
        // Another run of the program may make the key at the same time.
        Err(failure) => {
            let own = find()?.ok_or(failure)?;
            let public = public_of(&own.path, passphrases)?;
            return Ok((own.name, public));
        }
    };
    say(&format!("note: you had no {name} key; made one: {}", shown(&path)));
    if passphrase.is_none() {
        say(&format!("note: it is not protected by a passphrase, and only its file's {GUARD} keeps others away"));
        say(&format!("hint: protect it with: deadpan keys protect {name}"));
    }
    Ok((name.to_owned(), key.public().clone()))
}
