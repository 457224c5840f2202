//! `deadpan share open`: takes the user's own share out of a sealed file, for the person who collects the shares.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use crate::command::plan::Plan;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::mode::ModeArg;
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::recipient::{RecipientArgs, Recipients};
use crate::place::armor::Armor;
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure, help};
use deadpan_seal::{Error, Header, Mode, Secret, Share, Stanza, Work};

const ENDING: &str = ".share";

/// Takes your share out of a file that several keys open together, and seals it to the person who collects
///
/// The file itself stays closed: your share alone opens nothing. Know to whom you give the share, and for which file:
/// compare the group of `deadpan inspect FILE` with the person who asks. Whoever has enough shares opens the file with
/// `deadpan open --share`.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan share open -r alice minutes.txt.dpn                      minutes.txt.dpn.share, for Alice",
    "deadpan share open -r alice -o bob.share minutes.txt.dpn         under another name",
    "deadpan share open -r alice --armor -o - minutes.txt.dpn         as text, for a mail",
    "deadpan open --share carol.share minutes.txt.dpn                 what Alice does with it"
))]
pub struct ShareOpenArgs {
    /// Take the share of this private key: a file, or the name of one of your own keys. May be repeated [default: all
    /// your own keys]
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    /// Seal the share to the person who collects: a public key file, a name from `deadpan keys`, or an age recipient
    /// (age1…). May be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT", required = true)]
    recipients: Vec<String>,
    /// The kind of protection. Refuses recipients of another kind; ecc also allows classical recipients
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArg>,
    #[command(flatten)]
    output: OutputArgs,
    /// Write text (PEM) instead of bytes
    #[arg(short, long)]
    armor: bool,
    #[command(flatten)]
    source: PassphraseArgs,
    /// The sealed file; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub struct ShareOpen {
    args: ShareOpenArgs,
    source: Source,
}

impl ShareOpenArgs {
    pub fn is_to_stdout(&self) -> bool {
        let reads_stdin = Source::reads_stdin(self.file.as_slice());
        self.output.is_stdout() || self.output.place().is_none() && reads_stdin
    }

    pub fn plan(self) -> Result<ShareOpen, Failure> {
        let sources = Source::all(self.file.clone().into_iter().collect())?;
        self.source.leave_stdin_to(&sources)?;
        let source = sources.into_iter().next().unwrap_or(Source::Stdin);
        Ok(ShareOpen { args: self, source })
    }
}

impl Plan for ShareOpen {
    fn run(&self) -> Result<Exit, Failure> {
        let output = &self.args.output;
        let mut report = Report::new("share open", output.json, 1).aside(self.args.is_to_stdout());
        let start = Instant::now();
        report.add(&self.source, start, &self.open());
        Ok(report.exit())
    }
}

impl ShareOpen {
    fn open(&self) -> Result<Done, Failure> {
        let args = &self.args;
        args.output.hold(std::slice::from_ref(&self.source));
        let home = Home::find()?;
        let passphrases = Passphrases::new(&args.source);
        let to = RecipientArgs::for_recipients(args.recipients.clone(), args.mode, args.source.clone());
        let to = to.resolve(&to.find(&home)?, "the share", &home, &passphrases, false)?;
        to.refuse_ssh()?;
        let input = Input::open(&self.source)?.file_only("name a sealed file")?;
        input.announce();
        let sealed = Sealed::read(&input)?;
        self.check_mode(&to, &sealed.header)?;
        let claims = Claims::on(std::slice::from_ref(&self.source));
        let place = args.output.file(|| Ok(usual_place(&self.source)))?;
        claims.check(&place, &self.source)?;
        let output = args.output.open(&place, Some(&input))?;
        if output.is_terminal() && !args.armor {
            let hint = "name a file with -o, send it to another program, or ask for text with --armor";
            return Err(Failure::usage("a sealed share is bytes, and a terminal shows text", hint));
        }
        let name = input.shown();
        let mut identities = Identities::collect(&args.identities, &home, passphrases)?;
        let shares = identities.shares(&name, &sealed.header)?;
        self.write(&shares, &to, &output).map_err(|error| Failure::blame(error, &name, &output.shown()))?;
        let place = output.land(Attributes::usual(), args.output.sync)?;
        Ok(done(&shares, place))
    }

    /// Refuses to seal the share of a post-quantum or hybrid key to a classical key, if `--mode` does not allow this.
    fn check_mode(&self, to: &Recipients, header: &Header) -> Result<(), Failure> {
        let stanzas = header.stanzas();
        let is_strong = |stanza: &Stanza| matches!(stanza, Stanza::Share { kem, .. } if kem.mode() != Mode::Ecc);
        let classical = to.keys.iter().find(|key| key.kem().mode() == Mode::Ecc);
        match classical.filter(|_| self.args.mode != Some(ModeArg::Ecc) && stanzas.iter().any(is_strong)) {
            None => Ok(()),
            Some(key) => {
                let message = format!("an {} key is classical, and the file is not", key.kem().name());
                Err(Failure::usage(message, "ask the person who collects for another key, or allow it with --mode ecc"))
            }
        }
    }

    fn write(&self, shares: &[Share], to: &Recipients, output: &Output) -> Result<(), Error> {
        let mut bytes = Secret::zeroed(shares.len() * Share::LENGTH);
        bytes.chunks_mut(Share::LENGTH).zip(shares).for_each(|(place, share)| place.copy_from_slice(&share.to_bytes()));
        let work = Work::default();
        if !self.args.armor {
            return to.sealing.seal_stream(&bytes[..], output.writer(), &work).map(|_| ());
        }
        let mut armor = Armor::new(output.writer());
        to.sealing.seal_stream(&bytes[..], &mut armor, &work)?;
        armor.finish().map_err(Error::Write)
    }
}

fn usual_place(source: &Source) -> Place {
    match source.path() {
        None => Place::Stdout,
        Some(path) => {
            let mut name = path.as_os_str().to_owned();
            name.push(ENDING);
            Place::Given(name.into())
        }
    }
}

fn done(shares: &[Share], place: Place) -> Done {
    let numbers: Vec<_> = shares.iter().map(Share::index).collect();
    let mut done = Done { output: Some(place), bytes: (shares.len() * Share::LENGTH) as u64, ..Done::default() };
    if let Some(share) = shares.first() {
        let list = numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(" and ");
        done.remark = Some(format!("share {list}; any {} of {} open the file", share.needed(), share.of()));
        done.more.insert("shares".into(), json!(numbers));
        done.more.insert("needed".into(), json!(share.needed()));
        done.more.insert("of".into(), json!(share.of()));
        done.more.insert("group".into(), json!(share.group()));
    }
    done
}
