//! Signatures inside sealed files: the keys that sign, and the report on the signers of a file that was opened.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use crate::key::home::{self, Home};
use crate::key::passphrase::Passphrases;
use crate::key::signers::{self, Signers, Wanted};
use crate::place::input::Source;
use crate::place::remote;
use crate::place::report::Done;
use crate::tell::clock::Clock;
use crate::tell::failure::{Exit, Failure};
use crate::tell::names::put_name;
use crate::tell::shown::{Foreign, bytes, count, shown};
use deadpan_disk::portable::OsStrExt;
use deadpan_lab::invocation;
use deadpan_pack::Time;
use deadpan_seal::key;
use deadpan_seal::sign::VerifyingKey;
use deadpan_seal::{Audience, Opened, Sealing, Signatures};

/// The namespace of signatures inside sealed files, as an `allowed_signers` file can contain it.
const NAMESPACE: &str = "deadpan-v1";
const ASK: &str = "ask the sender who signed it, and whether it was meant for you";

/// The options for signing the sealed data.
#[derive(Debug, clap::Args)]
pub struct SigningArgs {
    /// Sign with this key: the name of one of your own, a private key file, or a public key of SSH whose private half
    /// is in the agent. May be repeated [default: your signing key]
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    sign: Vec<String>,
    /// Do not sign the recipients, so that the file may be forwarded without a note about recipients
    #[arg(long, requires = "sign")]
    for_anyone: bool,
}

impl SigningArgs {
    /// Returns the settings that must be the same in each run of a job: the keys that the user named, and whether the
    /// recipients are signed.
    pub fn how(&self) -> Value {
        json!({ "keys": self.sign, "for_anyone": self.for_anyone })
    }

    /// Whether a signature is asked for.
    pub fn is_given(&self) -> bool {
        !self.sign.is_empty()
    }

    /// Refuses `--sign KEY` in place of `--sign=KEY`, because in the first form KEY is an input that is sealed and sent
    /// to the recipients.
    pub fn refuse_key_as_file(&self, sources: &[Source]) -> Result<(), Failure> {
        for path in files_after("--sign", sources) {
            let name = shown(path);
            if !path.exists() {
                let message = format!("there is no file {name}, and --sign takes a key after an equals sign");
                return Err(Failure::usage(message, format!("if it is a key, write --sign={name}")));
            }
            if home::text(path).is_ok_and(|(text, _)| key::read(&text).is_ok()) {
                let message = format!("{name} is a key, and --sign takes a key after an equals sign");
                let hint = format!("write --sign={name}; to seal the key itself, name it before --sign");
                return Err(Failure::usage(message, hint));
            }
        }
        Ok(())
    }

    /// Adds the signers to a sealing.
    pub fn add(&self, sealing: Sealing, home: &Home, passphrases: &Passphrases) -> Result<Sealing, Failure> {
        let (named, default): (Vec<_>, Vec<_>) = self.sign.iter().cloned().partition(|key| !key.is_empty());
        let mut all = Vec::new();
        if !default.is_empty() {
            all.extend(signers::resolve(&[], home, passphrases)?);
        }
        if !named.is_empty() {
            all.extend(signers::resolve(&named, home, passphrases)?);
        }
        let sealing = all.into_iter().try_fold(sealing, Sealing::sign).map_err(|error| Failure::seal("", error))?;
        Ok(if self.for_anyone { sealing.for_anyone() } else { sealing })
    }
}

/// Returns the files that are named directly after an option. The user may have meant such a file name as the value of
/// the option.
fn files_after<'a>(option: &str, sources: &'a [Source]) -> Vec<&'a Path> {
    let words: Vec<_> = invocation::arguments();
    let is_after = |path: &Path| words.windows(2).any(|pair| pair[0] == *option && pair[1] == *path);
    let files = sources.iter().filter_map(Source::path).filter(|path| !remote::is_address(path));
    files.filter(|path| is_after(path)).collect()
}

/// The options for checking who signed.
#[derive(Debug, clap::Args)]
pub struct SignerArgs {
    /// Open only files signed for you by somebody you know or by WHO: a name from `deadpan keys`, a fingerprint, a
    /// public key or its file. To open a file that was renamed after it was signed, name the output too
    #[arg(long, value_name = "WHO", num_args = 0..=1, require_equals = true)]
    require_signature: Option<Option<String>>,
    /// Take the names of signers from this allowed_signers file of OpenSSH, instead of your keys and contacts
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
}

impl SignerArgs {
    /// Refuses `--require-signature WHO` in place of `--require-signature=WHO`, unless WHO is an existing file.
    /// Otherwise, WHO is an input, and a signature of any known person is enough for the other files.
    pub fn refuse_who_as_file(&self, sources: &[Source]) -> Result<(), Failure> {
        let mut files = files_after("--require-signature", sources).into_iter();
        let Some(path) = files.find(|path| !path.exists()) else { return Ok(()) };
        let name = shown(path);
        let message = format!("there is no file {name}, and --require-signature takes WHO after an equals sign");
        Err(Failure::usage(message, format!("if it is a signer, write --require-signature={name}")))
    }

    /// Returns the judge of signatures. Fails if WHO is unknown.
    pub fn judge(&self) -> Result<Judge, Failure> {
        let judge = Judge {
            file: self.signers.clone(),
            signers: OnceCell::new(),
            is_required: self.require_signature.is_some(),
            wanted: None,
        };
        let who = self.require_signature.as_ref().and_then(Option::as_deref);
        let wanted = who.map(|who| judge.signers()?.wanted(who)).transpose()?;
        Ok(Judge { wanted, ..judge })
    }
}

/// Reports who signed, and refuses signatures that do not meet the user's requirements.
pub struct Judge {
    file: Option<PathBuf>,
    signers: OnceCell<Signers>,
    is_required: bool,
    wanted: Option<Wanted>,
}

/// The report on the signatures of a file.
#[derive(Default)]
pub struct Verdict {
    /// A line for each signer: the name, the time, and whether the signature is for other recipients.
    pub lines: Vec<String>,
    /// The lines about the signers, as notes about the file.
    pub notes: Vec<String>,
    /// A text about the recipients that the file was signed for.
    audience: Option<String>,
    /// The name of the data, if the signature covers this name.
    signed_as: Option<String>,
    /// A text that states whether the data were compared with the signed data. Only commands that do not always compare
    /// the data use this text.
    pub data: Option<&'static str>,
    /// Fields for JSON.
    pub more: Map<String, Value>,
}

impl Verdict {
    /// Returns the lines for `inspect`: the signers, the recipients that the file was signed for, and the name that was
    /// signed.
    pub fn all(&self) -> Vec<String> {
        let mut all: Vec<_> = self.lines.iter().map(|line| format!("signed by    {line}")).collect();
        all.extend(self.audience.iter().map(|audience| format!("signed for   {audience}")));
        all.extend(self.signed_as.iter().map(|name| format!("signed as    {name}")));
        all.extend(self.data.iter().map(|data| format!("signed data  {data}")));
        all
    }

    /// Adds the verdict to a result.
    pub fn joined(self, mut done: Done) -> Done {
        done.notes.extend(self.notes);
        done.more.extend(self.more);
        done
    }
}

impl Judge {
    /// Returns a `Judge` that accepts every file, with or without a signature.
    pub fn lenient() -> Self {
        Self { file: None, signers: OnceCell::new(), is_required: false, wanted: None }
    }

    /// Returns a note if `own` is not the name that was signed. `own` is the name for the output, made from the sealed
    /// file's own name. If the user requires a signature, fails instead of returning a note, so that the user chooses
    /// the name.
    pub fn own_name(&self, name: &str, opened: &Opened, own: &OsStr) -> Result<Option<String>, Failure> {
        match misnamed(name, opened, own) {
            Some(why) if self.is_required => {
                Err(Failure::new(Exit::Signer, why, "if you know that it was renamed, name its output with -o"))
            }
            note => Ok(note),
        }
    }

    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// Returns the people whose signatures are known. The first call reads these people and their keys.
    fn signers(&self) -> Result<&Signers, Failure> {
        if self.signers.get().is_none() {
            let signers = match &self.file {
                Some(file) => Signers::allowed(file)?,
                None => Signers::known(&Home::find()?)?,
            };
            let _ = self.signers.set(signers);
        }
        self.signers.get().ok_or_else(|| Failure::usage("no signers", ""))
    }

    /// Reports who signed `name`.
    ///
    /// # Errors
    /// Fails with exit code 5 if the user requires another signature.
    pub fn verdict(&self, name: &str, opened: &Opened, signatures: Option<&Signatures>) -> Result<Verdict, Failure> {
        let refuse = |why: String, hint: &str| Err(Failure::new(Exit::Signer, format!("{name}: {why}"), hint));
        let Some(signatures) = signatures else {
            return if self.is_required {
                refuse("it is not signed".into(), "ask the sender to sign it: deadpan seal --sign, or deadpan sign")
            } else {
                Ok(Verdict::default())
            };
        };
        let signers = self.signers()?;
        let seconds = signatures.time().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        // The owner of an expired key can write an old time into a signature. Therefore the key's line in the
        // `allowed_signers` file must also allow the present time.
        let now = signers::now();
        let name_of = |key| signers.name_of(key, NAMESPACE, now).and(signers.name_of(key, NAMESPACE, seconds));
        let names: Vec<_> = signatures.keys().iter().map(|key| (key, name_of(key))).collect();
        let by = |(key, name): &(&VerifyingKey, Option<Foreign>)| match name {
            Some(name) => name.to_string(),
            None => format!("a key that {}: {}", signers.stranger(), key_of(key)),
        };
        let is_by = |wanted, key| [now, seconds].iter().all(|time| signers.is_by(wanted, key, NAMESPACE, *time));
        if let Some(wanted) = &self.wanted {
            if !signatures.keys().iter().any(|key| is_by(wanted, key)) {
                let all = names.iter().map(by).collect::<Vec<_>>().join(" and ");
                return refuse(format!("it is signed by {all}, and not by {}", wanted.name()), ASK);
            }
        } else if self.is_required && names.iter().all(|(_, name)| name.is_none()) {
            let all = names.iter().map(by).collect::<Vec<_>>().join(" and ");
            return refuse(format!("it is signed by {all}"), signers.introduce());
        }
        let for_others = matches!(signatures.audience(), Audience::Others { .. });
        if self.is_required && for_others {
            return refuse("it is signed, but for others: one of them forwarded it or added you".into(), ASK);
        }
        let clock = Clock::at(Time { seconds, nanoseconds: 0 });
        let forwarded = if for_others { ", for others: one of them forwarded it or added you" } else { "" };
        let lines: Vec<_> = names.iter().map(|one| format!("{}, {clock} UTC{forwarded}", by(one))).collect();
        let notes = lines.iter().map(|line| format!("{name}: signed by {line}")).collect();
        let fields = |(key, name): &(&VerifyingKey, Option<Foreign>)| {
            json!({
                "name": name.as_ref().map(Foreign::raw),
                "scheme": key.scheme().name(),
                "fingerprint": key.fingerprint(),
                "ssh_fingerprint": key.ssh_fingerprint(),
            })
        };
        let of = |recipients: usize| count(recipients as u64, "recipient", "recipients");
        let (name_of_audience, recipients) = audience(signatures);
        let mut more = Map::new();
        more.insert("signers".into(), names.iter().map(fields).collect());
        more.insert("signed".into(), json!(seconds));
        more.insert("audience".into(), json!(name_of_audience));
        more.insert("audience_recipients".into(), json!(recipients));
        let signed_name = opened.metadata().name.as_deref();
        put_name(&mut more, "signed_name", signed_name);
        let audience = Some(match signatures.audience() {
            Audience::Opener { recipients } => format!("{}, and the key that opened it is among them", of(recipients)),
            Audience::Others { recipients } => {
                format!("{}, and the key that opened it is not among them", of(recipients))
            }
            _ => "anyone".into(),
        });
        Ok(Verdict { lines, notes, audience, signed_as: signed_name.map(bytes), data: None, more })
    }
}

/// Returns a note if the signed name differs from `own`, the output's name that follows from the name of the sealed
/// file. If the names differ, the file was renamed, or somebody exchanged the names of two signed files.
pub fn misnamed(name: &str, opened: &Opened, own: &OsStr) -> Option<String> {
    let signed = opened.metadata().name.as_deref().filter(|_| opened.is_signed())?;
    let differs = signed != own.as_bytes();
    differs.then(|| format!("{name}: it was signed as {}, and is now called {}", bytes(signed), bytes(own.as_bytes())))
}

/// Returns a word for JSON that shows for whom the file was signed, and the number of recipients.
fn audience(signatures: &Signatures) -> (&'static str, Option<usize>) {
    match signatures.audience() {
        Audience::Opener { recipients } => ("opener", Some(recipients)),
        Audience::Others { recipients } => ("others", Some(recipients)),
        _ => ("anyone", None),
    }
}

fn key_of(key: &VerifyingKey) -> String {
    format!("{} {}", key.scheme().name(), key.fingerprint())
}
