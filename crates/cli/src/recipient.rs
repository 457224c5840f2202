//! To whom: public key files, names in the key folder, age recipients, a passphrase, or oneself.

use crate::failure::Failure;
use crate::home::{self, Home};
use crate::keygen;
use crate::passphrase::{PassphraseArgs, Passphrases};
use crate::report::say;
use crate::shown::{bytes, shown};
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Cost, Kem, Mode, PublicKey, Recipient, Sealing};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, clap::Args)]
pub struct RecipientArgs {
    /// Seal to this recipient: a public key file, a name from `deadpan keys`, or an age recipient (age1…); several are possible
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    recipients: Vec<String>,
    /// Seal to all public keys in this file
    #[arg(short = 'R', long, value_name = "FILE")]
    recipients_file: Vec<PathBuf>,
    /// Seal with a passphrase
    #[arg(short, long)]
    passphrase: bool,
    /// The protection: which of your own keys to use (or make), and what others' keys must be
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArg>,
    #[command(flatten)]
    pub source: PassphraseArgs,
}

/// What protects a file from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ModeArg {
    /// Elliptic curves: small and fast, but open to a future quantum computer
    Ecc,
    /// ML-KEM: post-quantum
    Pqc,
    /// Both at once: whoever breaks one still has to break the other
    Hybrid,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Ecc => Self::Ecc,
            ModeArg::Pqc => Self::Pqc,
            ModeArg::Hybrid => Self::Hybrid,
        }
    }
}

/// A mode's name on the command line.
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Ecc => "ecc",
        Mode::Pqc => "pqc",
        Mode::Hybrid => "hybrid",
    }
}

/// Found recipients.
pub struct Recipients {
    pub sealing: Sealing,
    /// Their public keys.
    pub keys: Vec<PublicKey>,
    /// The passphrase, if it is one of them.
    pub passphrase: Option<deadpan_seal::Passphrase>,
}

impl RecipientArgs {
    /// What can be said without looking anything up.
    pub fn check(&self) -> Result<(), Failure> {
        if let Some(secret) = self.recipients.iter().find(|recipient| recipient.to_ascii_uppercase().starts_with("AGE-SECRET-KEY-")) {
            let shown: String = secret.chars().take("AGE-SECRET-KEY-".len()).collect();
            let hint = "everybody on this machine can see arguments; seal to its public part, and treat this key as known";
            return Err(Failure::usage(format!("{shown}… is a private key, not a recipient"), hint));
        }
        if self.passphrase && self.names_nobody() && self.mode.is_some() {
            let hint = "leave out --mode, or name a recipient with -r as well";
            return Err(Failure::usage("--mode chooses among keys, and a passphrase alone has none", hint));
        }
        Ok(())
    }

    fn names_nobody(&self) -> bool {
        self.recipients.is_empty() && self.recipients_file.is_empty()
    }

    /// Finds them all.
    pub fn resolve(&self, home: &Home, passphrases: &Passphrases) -> Result<Recipients, Failure> {
        let mut keys = Vec::new();
        for recipient in &self.recipients {
            keys.extend(named(recipient, home)?);
        }
        for file in &self.recipients_file {
            keys.extend(in_file(file)?);
        }
        if self.names_nobody() && !self.passphrase {
            keys.push((String::from("your own key"), own(home, passphrases, self.mode.map(Mode::from))?));
        }
        let passphrase = if self.passphrase { Some(passphrases.new_one("the sealed file")?) } else { None };
        let is_mixed = self.mode == Some(ModeArg::Ecc);
        self.refuse_other_modes(&keys)?;
        let mut recipients: Vec<_> = keys.iter().map(|(_, key)| Recipient::Key(key.clone())).collect();
        recipients.extend(passphrase.clone().map(|passphrase| Recipient::Passphrase(passphrase, Cost::default())));
        let sealing = if is_mixed { Sealing::mixed(recipients) } else { Sealing::to(recipients) };
        let sealing = sealing.map_err(|error| Failure::of("", error))?;
        Ok(Recipients { sealing, keys: keys.into_iter().map(|(_, key)| key).collect(), passphrase })
    }

    /// One classical recipient makes the whole file classical, so it takes `--mode ecc` to have one beside others. Any other mode is what
    /// every recipient must have.
    fn refuse_other_modes(&self, keys: &[(String, PublicKey)]) -> Result<(), Failure> {
        let is_classical = |(_, key): &&(String, PublicKey)| key.kem().mode() == Mode::Ecc;
        let Some(mode) = self.mode.map(Mode::from) else {
            let classical = keys.iter().find(is_classical);
            return match classical {
                Some((name, key)) if !keys.iter().all(|key| is_classical(&key)) => {
                    let message = format!("{name} is classical ({}) and would make the whole file classical", key.kem().name());
                    Err(Failure::usage(message, "seal a second copy for it, or ask for it by name with --mode ecc"))
                }
                _ => Ok(()),
            };
        };
        let other = match mode {
            Mode::Ecc if keys.iter().any(|key| is_classical(&key)) => None,
            mode => keys.iter().find(|(_, key)| key.kem().mode() != mode),
        };
        other.map_or(Ok(()), |(name, key)| {
            let (wanted, is) = (mode_name(mode), mode_name(key.kem().mode()));
            let message = format!("{name} is {is} ({}), not {wanted}", key.kem().name());
            Err(Failure::usage(message, format!("leave out --mode, or name recipients whose mode is {wanted}")))
        })
    }
}

/// One recipient as it stands on the command line. Names in the key folder come first: a file that somebody puts into the current folder must
/// not take a contact's place.
fn named(text: &str, home: &Home) -> Result<Vec<(String, PublicKey)>, Failure> {
    let label = bytes(text.as_bytes());
    if text.starts_with("age1") {
        let short: String = text.chars().take(16).collect();
        let found = key::read(text.as_bytes()).map_err(|error| Failure::key(&format!("{}…", bytes(short.as_bytes())), &error))?;
        return Ok(publics(found).into_iter().map(|key| (format!("{}…", bytes(short.as_bytes())), key)).collect());
    }
    if home::check_name(text).is_ok() {
        let contact = home.contact_path(text);
        if contact.exists() {
            return in_file(&contact).map(|keys| keys.into_iter().map(|(_, key)| (label.clone(), key)).collect());
        }
        let own = home.own_path(text);
        if own.exists() {
            let public = home::public_of(&own)?.ok_or_else(|| unknown_public(&label, &own))?;
            return Ok(vec![(label, public)]);
        }
    }
    let path = Path::new(text);
    if path.exists() {
        return in_file(path);
    }
    let message =
        format!("no recipient {label}: there is no such file, no such name in {}, and it is no age recipient", shown(&home.folder));
    Err(Failure::usage(message, "add a contact with: deadpan keys add NAME FILE"))
}

/// All public keys in a file; of private ones, their public part.
fn in_file(path: &Path) -> Result<Vec<(String, PublicKey)>, Failure> {
    let name = shown(path);
    let mut keys = Vec::new();
    for found in home::read(path)? {
        keys.push((
            name.clone(),
            match found {
                Found::Public(key) => key,
                Found::Private(key) => key.public().clone(),
                Found::Protected(_) => home::public_of(path)?.ok_or_else(|| unknown_public(&name, path))?,
            },
        ));
    }
    Ok(keys)
}

fn unknown_public(name: &str, path: &Path) -> Failure {
    let message = format!("{} is protected, and its public part does not lie beside it", shown(path));
    Failure::usage(message, format!("make it with: deadpan keys export {name} > {}", shown(home::public_path(path))))
}

fn publics(found: Vec<Found>) -> Vec<PublicKey> {
    found.into_iter().filter_map(|found| if let Found::Public(key) = found { Some(key) } else { None }).collect()
}

/// One's own key; a new one if there is none.
fn own(home: &Home, passphrases: &Passphrases, mode: Option<Mode>) -> Result<PublicKey, Failure> {
    if let Some((_, public)) = home.default_key(mode)? {
        return Ok(public);
    }
    let kem = match mode.unwrap_or(Mode::Hybrid) {
        Mode::Ecc => Kem::X25519,
        Mode::Pqc => Kem::MlKem768,
        Mode::Hybrid => Kem::XWing,
    };
    let path = home.own_path(mode_name(kem.mode()));
    let passphrase = passphrases.new_if_wanted(&format!("your new key {}", shown(&path)))?;
    let key = match keygen::make(home, &path, kem, passphrase.as_ref()) {
        Ok(key) => key,
        // Another run of the program may have been first.
        Err(failure) => return home.default_key(mode)?.map(|(_, public)| public).ok_or(failure),
    };
    say(&format!("note: you had no {} key; made one: {}", mode_name(kem.mode()), shown(&path)));
    if passphrase.is_none() {
        say("note: it is not protected by a passphrase, and only its file's mode (0600) keeps others away");
        say(&format!("hint: protect it with: deadpan keys protect {}", mode_name(kem.mode())));
    }
    Ok(key.public().clone())
}
