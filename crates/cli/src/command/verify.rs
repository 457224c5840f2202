//! `deadpan verify`: checks signatures that lie in files beside the signed files.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, json};

use crate::command::plan::Plan;
use crate::command::sign::{self, ENDING, NAMESPACE};
use crate::key::home::Home;
use crate::key::signers::{self, Signers, Wanted};
use crate::place::input::{Input, Source};
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::shown::shown;
use deadpan_disk::{self as disk, OpenMode};
use deadpan_seal::sign::{SignError, SshSig};
use deadpan_seal::{Error, Header};

/// The maximum length, in bytes, of a signature file that the program reads.
const LONGEST: u64 = 1 << 17;

/// Checks signatures: is FILE.sig a signature of FILE, and by somebody you know?
///
/// Known signers are you and your contacts (deadpan keys add), or the people in an allowed_signers file of OpenSSH.
/// Signatures of `ssh-keygen -Y sign` are read too.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan verify report.pdf                        by anybody you know; exit code 5 if you do not",
    "deadpan verify --by alice *.tar.gz               by Alice, and nobody else",
    "deadpan verify --signers allowed_signers a.txt   by somebody in this file",
    "curl https://example.org/a | deadpan verify -s a.sig"
))]
pub struct VerifyArgs {
    /// Accept only the people in this allowed_signers file of OpenSSH
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
    /// Accept the signature of this person only: a name from `deadpan keys`, a fingerprint, a public key or its file
    #[arg(long, value_name = "WHO")]
    by: Option<String>,
    /// The purpose that the signature must have
    #[arg(long, value_name = "NAME", default_value = NAMESPACE, value_parser = sign::namespace)]
    namespace: String,
    /// The file of the signature [default: FILE.sig]
    #[arg(short, long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Check all files that have a signature beside them, in the named folders and in their subfolders
    #[arg(long, conflicts_with = "signature")]
    each: bool,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    json: bool,
    /// The files to check; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub struct Verify {
    args: VerifyArgs,
    sources: Vec<Source>,
}

impl VerifyArgs {
    pub fn plan(self) -> Result<Verify, Failure> {
        let sources = Source::all(self.files.clone())?;
        if self.signature.is_some() && sources.len() > 1 {
            return Err(Failure::usage("one signature is for one file", "check the files one by one"));
        }
        if self.signature.is_none() && sources.contains(&Source::Stdin) {
            return Err(Failure::usage("standard input has no signature beside it", "name it with -s FILE"));
        }
        Ok(Verify { args: self, sources })
    }
}

impl Plan for Verify {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        let signers = match &args.signers {
            Some(file) => Signers::allowed(file)?,
            None => Signers::known(&Home::find()?)?,
        };
        let wanted = args.by.as_deref().map(|who| signers.wanted(who)).transpose()?;
        let sources = if args.each { Source::signed_in(&self.sources, ENDING)? } else { self.sources.clone() };
        let mut report = Report::new("verify", args.json, sources.len()).talking();
        for source in &sources {
            let start = Instant::now();
            report.add(source, start, &self.verify(source, &signers, wanted.as_ref()));
        }
        Ok(report.exit())
    }
}

impl Verify {
    fn verify(&self, source: &Source, signers: &Signers, wanted: Option<&Wanted>) -> Result<Done, Failure> {
        let input = Input::open(source)?
            .file_only("name a file, or check all in the folder that have a signature with --each")?;
        let path = self.args.signature.clone().unwrap_or_else(|| beside(source.path().unwrap_or(Path::new(""))));
        let signature = read(&path).map_err(|failure| self.advise(source, &path, failure))?;
        let (name, namespace) = (input.shown(), &self.args.namespace);
        let failed = |error| Failure::seal(&name, error);
        if signature.namespace() != namespace {
            let (found, wanted) = (signature.namespace().to_owned(), namespace.clone());
            return Err(failed(SignError::Namespace { found, wanted }.into()));
        }
        input.announce();
        let (digest, length) = sign::by(&input, signature.hash())?;
        signature.verify(namespace, &digest).map_err(failed)?;
        let key = signature.key();
        let now = signers::now();
        let signer = signers.name_of(key, namespace, now);
        let shown_key = format!("{} {}", key.scheme().name(), key.fingerprint());
        if let Some(wanted) = wanted.filter(|wanted| !signers.is_by(wanted, key, namespace, now)) {
            if wanted.has(key) {
                let (who, why) = (wanted.name(), signers.stranger());
                let message = format!("{name}: the signature is good, but the key of {who} {why}: {shown_key}");
                return Err(Failure::new(Exit::Signer, message, signers.introduce()));
            }
            let by = signer.map_or_else(|| shown_key.clone(), |name| name.to_string());
            return Err(Failure::new(
                Exit::Signer,
                format!("{name}: the signature is good, but by {by}, and not by {}", wanted.name()),
                "ask the sender who signed it",
            ));
        }
        let Some(signer) = signer.or_else(|| wanted.map(|wanted| wanted.name().to_owned())) else {
            return Err(Failure::new(
                Exit::Signer,
                format!("{name}: the signature is good, but by a key that {}: {shown_key}", signers.stranger()),
                signers.introduce(),
            ));
        };
        let mut more = Map::new();
        more.insert("signer".into(), json!(signer.raw()));
        more.insert("scheme".into(), json!(key.scheme().name()));
        more.insert("fingerprint".into(), json!(key.fingerprint()));
        more.insert("ssh_fingerprint".into(), json!(key.ssh_fingerprint()));
        more.insert("namespace".into(), json!(namespace));
        let remark = Some(format!("good signature by {signer}, {shown_key}"));
        Ok(Done { bytes: length, remark, more, ..Done::default() })
    }

    /// Changes the advice if the user gave the signature instead of the signed file, or if the signature may have
    /// another name.
    fn advise(&self, source: &Source, path: &Path, failure: Failure) -> Failure {
        let file = source.path().and_then(Path::to_str).and_then(|name| name.strip_suffix(ENDING));
        // The check whether the data are signed is only for files, because the header of a pipe was already read.
        let is_signed = |path: &Path| {
            let input = disk::Input::open(path, OpenMode::default());
            input.is_ok_and(|input| Header::read(input.file).is_ok_and(|header| header.is_signed()))
        };
        let is_signed = || source.path().is_some_and(|path| path.is_file() && is_signed(path));
        let hint = match file.filter(|file| Path::new(file).exists()) {
            Some(file) => format!("name the file, and not its signature: deadpan verify {}", shown(file)),
            None if self.args.signature.is_none() && !path.exists() && is_signed() => {
                "a signature that was made while the file was sealed is inside: deadpan open --require-signature".into()
            }
            None if self.args.signature.is_none() && !path.exists() => {
                "the signature is looked for beside the file, under this name; name another one with -s".into()
            }
            None => return failure,
        };
        Failure { hint: Some(hint), ..failure }
    }
}

/// Returns the usual path of the signature of the file at `path`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

fn read(path: &Path) -> Result<SshSig, Failure> {
    let input = Input::open(&Source::File(path.to_owned()))?.file_only("name the file of a signature")?;
    let mut text = Vec::new();
    let failed = |error| Failure::seal(&shown(path), Error::Read(error));
    (&input.data).take(LONGEST).read_to_end(&mut text).map_err(failed)?;
    SshSig::from_armor(&text).map_err(|error| Failure::seal(&shown(path), error))
}
