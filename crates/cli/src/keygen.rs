//! `deadpan keygen`: a new key of one's own.

use crate::failure::{Exit, Failure, help};
use crate::home::{self, Home};
use crate::passphrase::{PassphraseArgs, Passphrases};
use crate::plan::Plan;
use crate::recipient::ModeArg;
use crate::report::{Done, Report, say};
use crate::shown::shown;
use deadpan_seal::{Kem, Passphrase, PrivateKey, key};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Makes a key
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan keygen                                      a hybrid key, in your key folder",
    "deadpan keygen --mode pqc --level 1024 -o work.key  an ML-KEM-1024 key, in work.key and work.pub",
    "deadpan keygen --no-passphrase                      for programs that run unattended"
))]
pub struct KeygenArgs {
    /// What the key is to protect from
    #[arg(long, default_value = "hybrid", value_name = "MODE")]
    mode: ModeArg,
    /// The elliptic curve, for ecc and hybrid
    #[arg(long, value_name = "CURVE")]
    curve: Option<Curve>,
    /// The strength of ML-KEM, for pqc
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// Where the private key goes; the public one goes beside it, with the ending .pub
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the key unprotected
    #[arg(long, conflicts_with_all = ["passphrase_file", "passphrase_fd"])]
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

/// A key to be made.
pub struct Keygen {
    args: KeygenArgs,
    kem: Kem,
    /// Its name in the key folder.
    name: &'static str,
}

impl KeygenArgs {
    pub fn plan(self) -> Result<Keygen, Failure> {
        let (kem, name) = match (self.mode, self.curve, self.level) {
            (ModeArg::Ecc, None | Some(Curve::X25519), None) => (Kem::X25519, "ecc"),
            (ModeArg::Ecc, Some(Curve::P256), None) => (Kem::P256, "ecc-p256"),
            (ModeArg::Pqc, None, None | Some(Level::L768)) => (Kem::MlKem768, "pqc"),
            (ModeArg::Pqc, None, Some(Level::L1024)) => (Kem::MlKem1024, "pqc-1024"),
            (ModeArg::Hybrid, None | Some(Curve::X25519), None | Some(Level::L768)) => (Kem::XWing, "hybrid"),
            (ModeArg::Hybrid, Some(Curve::P256), None | Some(Level::L768)) => (Kem::MlKem768P256, "hybrid-p256"),
            (ModeArg::Ecc, _, Some(_)) => return Err(Failure::usage("elliptic curves have no --level", "leave it out, or use --mode pqc")),
            (ModeArg::Pqc, Some(_), _) => return Err(Failure::usage("ML-KEM has no --curve", "leave it out, or use --mode ecc or hybrid")),
            (ModeArg::Hybrid, _, Some(Level::L1024)) => {
                return Err(Failure::usage("hybrid keys exist with level 768 only", "use --mode pqc --level 1024, or leave out --level"));
            }
        };
        Ok(Keygen { args: self, kem, name })
    }
}

impl Plan for Keygen {
    fn run(&self) -> Result<Exit, Failure> {
        let home = Home::find()?;
        let path = self.args.output.clone().unwrap_or_else(|| home.own_path(self.name));
        let start = Instant::now();
        let mut report = Report::new("keygen", self.args.json, 1);
        let result = self.make(&home, &path);
        report.add(&shown(&path), start, &result.as_ref().map(|_| Done::default()).map_err(Failure::clone));
        if let (Ok(key), false) = (&result, self.args.json) {
            let public = key.public();
            say(&format!("made a key: {} ({})", shown(&path), public.kem().name()));
            say(&format!("public part: {}", shown(home::public_path(&path))));
            say(&format!("fingerprint: {}", key::fingerprint(public)));
        }
        Ok(report.exit())
    }
}

impl Keygen {
    fn make(&self, home: &Home, path: &Path) -> Result<PrivateKey, Failure> {
        // Nobody likes to think of a passphrase in vain.
        home::refuse_existing(path)?;
        let passphrases = Passphrases::new(&self.args.source);
        let passphrase = if self.args.no_passphrase { None } else { Some(passphrases.new_one(&format!("the key {}", shown(path)))?) };
        make(home, path, self.kem, passphrase.as_ref())
    }
}

/// Makes a key and writes both parts of it. Nothing is replaced.
pub fn make(home: &Home, path: &Path, kem: Kem, passphrase: Option<&Passphrase>) -> Result<PrivateKey, Failure> {
    let failed = |error| Failure::of(&shown(path), error);
    home::refuse_existing(path)?;
    home.make_folder_of(path)?;
    let key = PrivateKey::generate(kem).map_err(failed)?;
    match passphrase {
        Some(passphrase) => home::write_pair(path, &key, key::protected_pem(&key, passphrase).map_err(failed)?.as_bytes())?,
        None => home::write_pair(path, &key, &key::private_pem(&key))?,
    }
    Ok(key)
}
