//! `deadpan keygen`: makes a key.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, json};

use crate::command::plan::Plan;
use crate::key::home::make::{make, refuse_taken, write_new};
use crate::key::home::{self, GUARD, Home, Public};
use crate::key::mode::{ModeArg, mode_name};
use crate::key::passphrase::{NO_TERMINAL, PassphraseArgs, Passphrases};
use crate::place::held;
use crate::place::output::Place;
use crate::place::report::{Done, Report};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::put_name;
use crate::tell::shown::shown;
use deadpan_disk::portable::OsStrExt;
use deadpan_seal::Kem;
use deadpan_seal::key::Found;
use deadpan_seal::sign::{Scheme, SigningKey};

/// Makes a key pair: a private key, which opens files, and its public key, which seals them
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan keygen                                      a hybrid key, in your key folder",
    "deadpan keygen -o ~/.config/deadpan/work.key        a second own key, named work, in the same folder",
    "deadpan keygen --mode pqc --level 1024 -o far.key   an ML-KEM-1024 key, in far.key and far.pub",
    "deadpan keygen --sign                               a signing key, named sign",
    "deadpan keygen --no-passphrase -o cron.key          for programs that run unattended"
))]
pub struct KeygenArgs {
    /// Make a key that signs, instead of one that seals and opens
    #[arg(long)]
    sign: bool,
    /// The kind of key
    #[arg(long, default_value = "hybrid", value_name = "MODE")]
    mode: ModeArg,
    /// The elliptic curve, for ecc and hybrid [default: x25519]
    #[arg(long, value_name = "CURVE")]
    curve: Option<Curve>,
    /// The strength of ML-KEM, for pqc [default: 768]
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// The file for the private key; the public key is written beside it, with the ending .pub. In your key folder,
    /// NAME.key becomes your own key NAME [default: the MODE as NAME]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not protect the private key with a passphrase
    #[arg(long, conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_command"])]
    no_passphrase: bool,
    #[command(flatten)]
    source: PassphraseArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Curve {
    X25519,
    P256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    #[value(name = "768")]
    L768,
    #[value(name = "1024")]
    L1024,
}

/// The purpose and the algorithm of a new key.
#[derive(Clone, Copy)]
enum Kind {
    Seals(Kem),
    Signs(Scheme),
}

/// A validated `deadpan keygen` command, with the kind and the name of the new key.
pub struct Keygen {
    args: KeygenArgs,
    kind: Kind,
    /// The key's name in the key folder.
    name: &'static str,
}

impl KeygenArgs {
    pub fn plan(self) -> Result<Keygen, Failure> {
        let (kind, name) = if self.sign { self.signing()? } else { self.sealing()? };
        if self.output.as_deref() == Some(Path::new("-")) {
            return Err(Failure::usage(
                "a new key goes to two files, and not to standard output",
                "name the file of the private key with -o; the public key is written beside it",
            ));
        }
        if let Some(path) = self.output.as_deref().filter(|path| path.extension().is_some_and(|it| it == "pub")) {
            return Err(Failure::usage(
                format!("{} would hold the private key, and .pub is the ending of public keys", shown(path)),
                format!(
                    "name the file of the private key: -o {}; the public key is written beside it",
                    shown(path.with_extension("key"))
                ),
            ));
        }
        Ok(Keygen { args: self, kind, name })
    }

    /// Returns the kind of a signing key, and the key's name in the key folder.
    fn signing(&self) -> Result<(Kind, &'static str), Failure> {
        if self.curve.is_some() || self.level.is_some() {
            let hint = "leave out --curve and --level; --mode chooses the kind";
            return Err(Failure::usage("a key for signing has no --curve and no --level", hint));
        }
        let scheme = match self.mode {
            ModeArg::Ecc => Scheme::Ed25519,
            ModeArg::Pqc => Scheme::MlDsa65,
            ModeArg::Hybrid => Scheme::MlDsa44Ed25519,
        };
        Ok((Kind::Signs(scheme), home::DEFAULT_NAME))
    }

    /// Returns the kind of a sealing key, and the key's name in the key folder.
    fn sealing(&self) -> Result<(Kind, &'static str), Failure> {
        let (kem, name) = match (self.mode, self.curve, self.level) {
            (ModeArg::Ecc, None | Some(Curve::X25519), None) => (Kem::X25519, "ecc"),
            (ModeArg::Ecc, Some(Curve::P256), None) => (Kem::P256, "ecc-p256"),
            (ModeArg::Pqc, None, None | Some(Level::L768)) => (Kem::MlKem768, "pqc"),
            (ModeArg::Pqc, None, Some(Level::L1024)) => (Kem::MlKem1024, "pqc-1024"),
            (ModeArg::Hybrid, None | Some(Curve::X25519), None | Some(Level::L768)) => (Kem::XWing, "hybrid"),
            (ModeArg::Hybrid, Some(Curve::P256), None | Some(Level::L768)) => (Kem::MlKem768P256, "hybrid-p256"),
            (ModeArg::Ecc, _, Some(_)) => {
                return Err(Failure::usage("elliptic curves have no --level", "leave it out, or use --mode pqc"));
            }
            (ModeArg::Pqc, Some(_), _) => {
                return Err(Failure::usage("ML-KEM has no --curve", "leave it out, or use --mode ecc or hybrid"));
            }
            (ModeArg::Hybrid, _, Some(Level::L1024)) => {
                return Err(Failure::usage(
                    "hybrid keys exist with level 768 only",
                    "use --mode pqc --level 1024, or leave out --level",
                ));
            }
        };
        Ok((Kind::Seals(kem), name))
    }
}

impl Plan for Keygen {
    fn run(&self) -> Result<Exit, Failure> {
        let home = Home::find()?;
        let path = self.args.output.clone().unwrap_or_else(|| home.own_path(self.name));
        let start = Instant::now();
        let mut report = Report::new("keygen", self.args.json, 1);
        let result = self.make(&home, &path);
        match &result {
            Ok(public) if !self.args.json => {
                let what = if public.signs() { "a key for signing" } else { "a key" };
                say(&format!("made {what}: {} ({})", shown(&path), public.algorithm()));
                say(&format!("public part: {}", shown(home::public_path(&path))));
                say(&format!("fingerprint: {}", public.fingerprint()));
                if !public.signs() {
                    tell_default(&home, &path);
                }
            }
            Ok(public) => report.made("key", start, &Ok(self.done(public, path))),
            Err(failure) => report.made("key", start, &Err(failure.clone())),
        }
        Ok(report.exit())
    }
}

impl Keygen {
    /// Returns the result that is printed as JSON for scripts.
    fn done(&self, public: &Public, path: PathBuf) -> Done {
        let mut more = Map::new();
        put_name(&mut more, "public", Some(home::public_path(&path).as_os_str().as_bytes()));
        more.insert("use".into(), json!(if public.signs() { "signing" } else { "sealing" }));
        more.insert(if public.signs() { "scheme" } else { "kem" }.into(), json!(public.algorithm()));
        more.insert("mode".into(), json!(mode_name(public.mode())));
        more.insert("fingerprint".into(), json!(public.fingerprint()));
        more.insert("protected".into(), json!(!self.args.no_passphrase));
        Done { output: Some(Place::Given(path)), more, ..Done::default() }
    }

    fn make(&self, home: &Home, path: &Path) -> Result<Public, Failure> {
        // Before the user is asked for a passphrase, the code checks the path of the new key and opens its folder.
        refuse_taken(home, path)?;
        held::hold([path, home.own_path(self.name).as_path()]);
        let passphrases = Passphrases::new(&self.args.source);
        let passphrase = if self.args.no_passphrase {
            None
        } else {
            let hint = "make a key without a passphrase with --no-passphrase";
            if !passphrases.has_source()? {
                return Err(Failure::new(
                    Exit::Key,
                    format!("a passphrase is needed for the key {}", shown(path)),
                    format!("{NO_TERMINAL}; {hint}"),
                ));
            }
            let passphrase = passphrases.new_or_none(&format!("the key {}", shown(path)), hint)?;
            if passphrase.is_none() {
                say(&format!(
                    "note: the key is not protected by a passphrase, and only its file's {GUARD} keeps others away"
                ));
            }
            passphrase
        };
        match self.kind {
            Kind::Seals(kem) => {
                make(home, path, kem, passphrase.as_ref()).map(|key| Public::Sealing(key.public().clone()))
            }
            Kind::Signs(scheme) => {
                let key = SigningKey::generate(scheme).map_err(|error| Failure::seal(&shown(path), error))?;
                write_new(home, path, &Found::Signing(key), passphrase.as_ref())
            }
        }
    }
}

/// Tells the user if files are still sealed to another key than the new key at `path`.
pub fn tell_default(home: &Home, path: &Path) {
    if let (Some(name), Ok(Some(default))) = (home.name_of(path), home.default_key())
        && default.name != name
    {
        say(&format!("note: files are sealed to your default key {} as before", default.name));
        say(&format!("hint: make the new key the default with: deadpan keys default {name}"));
    }
}
