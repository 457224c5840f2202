//! `deadpan sign`: signs files, and writes each signature to a file beside the signed file.

mod digest;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, json};

use crate::command::plan::Plan;
use crate::key::home::Home;
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::signers;
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use deadpan_seal::sign::Signer;
pub use digest::by;
use digest::digest;

/// The extension of signature files.
pub const ENDING: &str = ".sig";
/// The namespace for signatures of ordinary files, as `ssh-keygen` uses it.
pub const NAMESPACE: &str = "file";

/// Signs files: FILE.sig says that FILE comes from you, and is unchanged
///
/// The signature is an SSH signature. `ssh-keygen -Y verify` reads signatures by the kinds of keys it supports. The
/// signature proves that the owner of the key signed these bytes. Signing hides nothing: to seal and sign, use
/// `deadpan seal`.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan sign report.pdf                       report.pdf.sig, with your signing key",
    "deadpan sign -k work *.tar.gz                 with your key named work",
    "deadpan sign -k ~/.ssh/id_ed25519 notes.txt   with a key of OpenSSH",
    "tar c photos | deadpan sign > photos.tar.sig",
    "deadpan sign a.txt && deadpan verify a.txt    signs, and checks the signature"
))]
pub struct SignArgs {
    /// Sign with this key: the name of one of your own, a private key file (PEM or OpenSSH), or a public key of SSH
    /// whose private half is in the agent [default: your signing key]
    #[arg(short, long, value_name = "KEY")]
    key: Option<String>,
    /// The purpose of the signature; whoever verifies it must ask for the same purpose
    #[arg(long, value_name = "NAME", default_value = NAMESPACE, value_parser = namespace)]
    namespace: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    source: PassphraseArgs,
    /// The files to sign; - or no FILE is standard input, whose signature goes to standard output
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks the value of `--namespace`.
pub fn namespace(text: &str) -> Result<String, String> {
    if (1..=255).contains(&text.len()) && !text.contains(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err("a namespace has 1 to 255 bytes, and no control characters".into())
    }
}

/// A validated `deadpan sign` command.
pub struct Sign {
    args: SignArgs,
    sources: Vec<Source>,
}

impl SignArgs {
    pub fn is_to_stdout(&self) -> bool {
        Source::reads_stdin(&self.files) || self.output.is_stdout()
    }

    pub fn plan(self) -> Result<Sign, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.source.leave_stdin_to(&sources)?;
        if sources.len() > 1 && self.output.is_stdout() {
            return Err(Failure::usage(
                "several signatures in one stream cannot be told apart",
                "sign the files one by one, or into a folder with -o",
            ));
        }
        Ok(Sign { args: self, sources })
    }
}

impl Plan for Sign {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        args.output.hold(&self.sources);
        args.output.check_room(self.sources.len())?;
        let mut report = Report::new("sign", args.output.json, self.sources.len()).aside(args.is_to_stdout());
        let passphrases = Passphrases::new(&args.source);
        let claims = Claims::on(&self.sources);
        let (mut signer, mut has_no_key) = (None, false);
        for source in &self.sources {
            let start = Instant::now();
            let result = self.prepare(source, &claims).and_then(|(input, output)| {
                // The first input is opened before the program asks for a passphrase.
                if signer.is_none() {
                    let resolved = signers::resolve(args.key.as_slice(), &Home::find()?, &passphrases);
                    has_no_key = resolved.is_err();
                    signer = resolved?.pop();
                }
                match &signer {
                    Some(signer) => self.sign(signer, &input, output, &claims),
                    None => Err(Failure::usage("there is no key to sign with", "name one with -k")),
                }
            });
            report.add(source, start, &result);
            // If the signing key is missing, no file can be signed, so the command ends here.
            if has_no_key {
                break;
            }
        }
        Ok(report.exit())
    }
}

impl Sign {
    fn prepare(&self, source: &Source, claims: &Claims) -> Result<(Input, Output), Failure> {
        let input = Input::open(source)?.file_only("pack it first: deadpan pack FOLDER, or sign the files in it")?;
        let place = self.args.output.file(|| Ok(usual_place(source)))?;
        claims.check(&place, source)?;
        let output = self.args.output.open(&place, Some(&input))?;
        Ok((input, output))
    }

    fn sign(&self, signer: &Signer, input: &Input, output: Output, claims: &Claims) -> Result<Done, Failure> {
        input.announce();
        let digests = digest(input)?;
        let name = input.shown();
        let failed = |error| Failure::seal(&name, error);
        let signature = signer.sign(&self.args.namespace, &digests.sha512).map_err(failed)?;
        let (shown, text) = (output.shown(), signature.armor());
        output.writer().write_all(text.as_bytes()).map_err(|error| Failure::io("write", &shown, &error))?;
        let place = output.land(Attributes::usual(), self.args.output.sync)?;
        claims.made(&place);
        let mut more = Map::new();
        more.insert("scheme".into(), json!(signer.public().scheme().name()));
        more.insert("fingerprint".into(), json!(signer.public().fingerprint()));
        more.insert("namespace".into(), json!(self.args.namespace));
        Ok(Done { output: Some(place), bytes: digests.length, more, ..Done::default() })
    }
}

/// If `-o` is missing, returns the place of an input's signature: beside the input, or standard output.
pub fn usual_place(source: &Source) -> Place {
    source.path().map_or(Place::Stdout, |path| {
        let mut name = path.as_os_str().to_owned();
        name.push(ENDING);
        Place::Given(name.into())
    })
}
