//! `deadpan inspect`: shows the facts about a sealed file that everybody can see.

mod layout;

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::plan::Plan;
use crate::command::repair::sidecar;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::max_cost::MaxCostArgs;
use crate::key::mode::mode_name;
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::signed::{Judge, Verdict};
use crate::place::input::{Input, Source};
use crate::place::page::{self, Page};
use crate::place::report;
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::joined;
use crate::tell::shown::{bytes, count};
use crate::tell::streams::{print, print_json};
use deadpan_seal::floe::Segments;
use deadpan_seal::{Cursor, Error, Format, Mode, ReadAt, Stanza, Trailer, Work};

/// Shows what can be seen of a sealed file without a key: recipients, sizes, mode
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan inspect report.pdf.dpn",
    "deadpan inspect --keys report.pdf.dpn    with your own keys: also who signed it",
    "deadpan inspect --json *.dpn"
))]
pub struct InspectArgs {
    /// Open the header with your own keys, and show who signed the file, when, and for whom
    #[arg(long)]
    keys: bool,
    /// Open with this private key: a file, or the name of one of your own keys. May be repeated
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    #[command(flatten)]
    source: PassphraseArgs,
    #[command(flatten)]
    max_cost: MaxCostArgs,
    /// Take all sealed files in the named folders and in their subfolders
    #[arg(long)]
    each: bool,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
    /// The sealed files to look at; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The remark that `inspect` did not compare the data with the signed digest. `inspect` reads the signatures, but does
/// not read all data.
const UNCOMPARED: &str = "not compared with what was signed; `deadpan open --verify` does that";

/// The line about a page of this program.
const OWN: &str = "             the page of this version";
/// The line about any other page.
const OTHER: &str =
    "             not the page of this version: do not open it in a browser unless you trust who sent it";

pub struct Inspect {
    args: InspectArgs,
    sources: Vec<Source>,
}

impl InspectArgs {
    pub fn plan(self) -> Result<Inspect, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.source.leave_stdin_to(&sources)?;
        if self.opens() && sources.contains(&Source::Stdin) {
            let hint = "name a FILE, or open it with: deadpan open --verify";
            return Err(Failure::usage("standard input can be read only once, and signatures stand at its end", hint));
        }
        Ok(Inspect { args: self, sources })
    }

    fn opens(&self) -> bool {
        self.keys || !self.identities.is_empty()
    }
}

impl Plan for Inspect {
    fn run(&self) -> Result<Exit, Failure> {
        let (args, mut worst) = (&self.args, Exit::Done);
        let mut keys = if args.opens() {
            let identities = Identities::collect(&args.identities, &Home::find()?, Passphrases::new(&args.source))?;
            Some((identities.within(args.max_cost.get()), Judge::lenient()))
        } else {
            None
        };
        for source in &Source::expanded(&self.sources, args.each)? {
            let view = HeaderView::read(source).and_then(|mut view| {
                if let (Some((identities, judge)), true) = (&mut keys, view.layout.is_ok()) {
                    view.verdict = Some(verdict(source, identities, judge)?);
                }
                Ok(view)
            });
            match view {
                Ok(view) => {
                    if args.json {
                        print_json(&view.json(source))?
                    } else {
                        print(&view.text())?
                    }
                    if let (false, Err(why)) = (args.json, &view.layout) {
                        Failure::new(Exit::Data, format!("{}: {why}", view.name), "get a whole copy of the file").say();
                    }
                    worst = worst.max(view.exit());
                }
                Err(failure) => {
                    let failure = sidecar::advised(source, failure);
                    worst = worst.max(failure.exit);
                    if args.json {
                        print_json(&report::failed("inspect", source, &failure))?;
                    } else {
                        failure.say();
                    }
                }
            }
        }
        Ok(worst)
    }
}

/// The visible facts about one file.
struct HeaderView {
    name: String,
    armored: bool,
    page: Option<Page>,
    format: Format,
    version: u8,
    stanzas: Vec<Stanza>,
    /// The types of the recipients of an age file.
    tags: Vec<String>,
    /// The name of the group of shares, if several keys open the file together.
    group: Option<String>,
    header: u64,
    slack: u64,
    metadata: u64,
    payload: u64,
    /// The segments of the payload, or the reason why its length is impossible.
    layout: Result<Segments, &'static str>,
    signed: bool,
    trailer: Option<Trailer>,
    /// The result of the signature check, if the header was opened.
    verdict: Option<Verdict>,
}

fn verdict(source: &Source, identities: &mut Identities, judge: &Judge) -> Result<Verdict, Failure> {
    let input = Input::open(source)?;
    let name = input.shown();
    let sealed = Sealed::read(&input)?;
    let opened = identities.open(&name, &sealed)?;
    let whole = input.length().filter(|_| input.positioned && !sealed.armored);
    let compared = whole.is_none();
    let signatures = match whole {
        Some(length) => opened.check_signatures(Cursor::new(&input.data, length)),
        // The trailer is at the end, so a stream must be read to the end.
        None => opened.open_stream(sealed.payload, std::io::sink(), &Work::default()).map(|done| done.signatures),
    };
    let signatures = signatures.map_err(|error| Failure::seal(&name, error))?;
    let mut verdict = judge.verdict(&name, &opened, signatures.as_ref())?;
    if signatures.is_some() {
        verdict.more.insert("data_compared".into(), json!(compared));
        verdict.data = Some(if compared { "they are the signed ones" } else { UNCOMPARED });
    }
    Ok(verdict)
}

impl HeaderView {
    fn read(source: &Source) -> Result<Self, Failure> {
        let input = Input::open(source)?
            .file_only("name a sealed file, or look at all sealed files in the folder with --each")?;
        let name = input.shown();
        input.announce();
        let sealed = Sealed::read(&input)?;
        let header = &sealed.header;
        let (version, length, slack, metadata) =
            (header.version(), header.length(), header.slack(), header.metadata_length());
        let (armored, stanzas, group) = (sealed.armored, sealed.stanzas.clone(), header.group());
        let whole = input.length().filter(|_| input.positioned && !armored);
        let format = header.format();
        let tags = header.age_stanzas().unwrap_or_default().iter().map(|stanza| stanza.tag.clone()).collect();
        let read = match format {
            Format::Deadpan => {
                layout::read(header, sealed.payload, whole.map(|whole| (&input.data as &dyn ReadAt, whole)))
            }
            Format::Age => layout::read_age(sealed.payload, header, whole),
        };
        let layout = read.map_err(|error| Failure::seal(&name, Error::Read(error)))?;
        Ok(Self {
            name,
            armored,
            page: sealed.page,
            format,
            version,
            stanzas,
            tags,
            group,
            header: length,
            slack,
            metadata,
            payload: layout.payload,
            layout: layout.segments,
            signed: header.is_signed(),
            trailer: layout.trailer,
            verdict: None,
        })
    }

    fn exit(&self) -> Exit {
        if self.layout.is_ok() { Exit::Done } else { Exit::Data }
    }

    /// Returns the mode of the whole file: the mode of its weakest recipient.
    fn mode(&self) -> Option<&'static str> {
        let modes: Vec<_> = self.stanzas.iter().filter_map(Stanza::mode).collect();
        let weakest = [Mode::Ecc, Mode::Pqc, Mode::Hybrid].into_iter().find(|mode| modes.contains(mode));
        weakest.map(mode_name)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let armor = match &self.page {
            Some(_) => ", in a page that opens itself",
            None if self.armored => ", in armor",
            None => "",
        };
        let is_age = self.format == Format::Age;
        let format = if is_age { "an age file, version" } else { "sealed by Deadpan, format version" };
        let _ = writeln!(text, "{}: {format} {}{armor}", self.name, self.version);
        if let Some(page) = &self.page {
            let sha256 = page::sha256(page.html());
            let _ = match page.version() {
                Some(version) => writeln!(text, "  page         version {version}, SHA-256 {sha256}\n  {OWN}"),
                None => writeln!(text, "  page         version unknown, SHA-256 {sha256}\n  {OTHER}"),
            };
        }
        for (number, stanza) in self.stanzas.iter().enumerate() {
            let _ = match stanza {
                Stanza::Key(kem) => writeln!(text, "  recipient    {} key ({})", kem.name(), mode_name(kem.mode())),
                Stanza::Plugin { tag, mode } => {
                    writeln!(text, "  recipient    {tag} plugin key ({})", mode_name(*mode))
                }
                Stanza::Share { kem, needed, of, index } => {
                    if *index == 1 {
                        let group = self.group.as_deref().unwrap_or_default();
                        let _ =
                            writeln!(text, "  recipients   any {needed} of {of} keys together\n  group        {group}");
                    }
                    writeln!(text, "  share {index:<3}    {} key ({})", kem.name(), mode_name(kem.mode()))
                }
                Stanza::Passphrase(cost) if is_age => {
                    writeln!(text, "  recipient    passphrase (scrypt: {} MiB)", cost.memory.div_ceil(1024))
                }
                Stanza::Passphrase(cost) | Stanza::Session(cost) => {
                    let memory = cost.memory / 1024;
                    let what =
                        if matches!(stanza, Stanza::Session(_)) { "passphrase of a session" } else { "passphrase" };
                    let passes = count(cost.passes.into(), "pass", "passes");
                    let lanes = count(cost.lanes.into(), "lane", "lanes");
                    writeln!(text, "  recipient    {what} (Argon2id: {memory} MiB, {passes}, {lanes})")
                }
                Stanza::Ssh(kind) => writeln!(text, "  recipient    {} key (ecc)", kind.name()),
                Stanza::Unknown => {
                    let tag = self.tags.get(number).map(|tag| bytes(tag.as_bytes())).unwrap_or_default();
                    writeln!(text, "  recipient    of the unknown type {tag}")
                }
            };
        }
        let bytes = |number| count(number, "byte", "bytes");
        let _ = match self.format {
            Format::Deadpan => writeln!(
                text,
                "  header       {}, {} of them encrypted metadata, {} unused",
                bytes(self.header),
                self.metadata,
                self.slack
            ),
            Format::Age => writeln!(text, "  header       {}", bytes(self.header)),
        };
        let (segment, segments) = if is_age { ("chunk", "chunks") } else { ("segment", "segments") };
        let padding = if is_age { "" } else { ", with padding if there is any" };
        let _ = match &self.layout {
            Ok(layout) => writeln!(
                text,
                "  payload      {} in {} of up to {}\n  data         {}{padding}\n  \
                size         consistent",
                bytes(self.payload),
                count(layout.count(), segment, segments),
                bytes(layout.segment_length()),
                bytes(layout.data())
            ),
            Err(why) => writeln!(text, "  payload      {}\n  size         not consistent: {why}", bytes(self.payload)),
        };
        if let Some(trailer) = &self.trailer {
            let _ = writeln!(
                text,
                "  signed       a trailer of {}: {} of sealed hashes, {} of sealed signatures",
                bytes(trailer.length),
                bytes(trailer.leaves),
                bytes(trailer.signatures)
            );
        }
        for line in self.verdict.iter().flat_map(Verdict::all) {
            let _ = writeln!(text, "  {line}");
        }
        text
    }

    fn json(&self, source: &Source) -> Value {
        let layout = self.layout.as_ref().ok();
        let numbered = self.stanzas.iter().enumerate();
        let recipients: Vec<_> = numbered.map(|(number, it)| stanza(it, self.tags.get(number))).collect();
        let page = self.page.as_ref().map(|page| {
            let (sha256, bytes) = (page::sha256(page.html()), page.html().len());
            json!({ "is_own": page.version().is_some(), "version": page.version(), "sha256": sha256, "bytes": bytes })
        });
        let fields = json!({
            "schema": 1,
            "command": "inspect",
            "format": if self.format == Format::Age { "age" } else { "deadpan" },
            "version": self.version,
            "armored": self.armored,
            "page": page,
            "mode": self.mode(),
            "recipients": recipients,
            "group": self.group,
            "header_bytes": self.header,
            "metadata_bytes": self.metadata,
            "slack_bytes": self.slack,
            "payload_bytes": self.payload,
            "segment_bytes": layout.map(Segments::segment_length),
            "segments": layout.map(Segments::count),
            "data_bytes": layout.map(Segments::data),
            "is_signed": self.signed,
            "trailer_bytes": self.trailer.map(|trailer| trailer.length),
            "signature_bytes": self.trailer.map(|trailer| trailer.signatures),
            "consistent": layout.is_some(),
            "error": self.layout.as_ref().err(),
            "exit": self.exit() as u8,
        });
        let more = self.verdict.iter().flat_map(|verdict| verdict.more.clone());
        joined(source.fields().into_iter().chain(more).collect(), fields)
    }
}

/// `tag` is the type of the recipient, in an age file.
fn stanza(stanza: &Stanza, tag: Option<&String>) -> Value {
    match stanza {
        Stanza::Key(kem) => json!({ "type": "key", "kem": kem.name(), "id": kem.id(), "mode": mode_name(kem.mode()) }),
        Stanza::Plugin { tag, mode } => json!({ "type": "plugin", "tag": tag.as_str(), "mode": mode_name(*mode) }),
        Stanza::Share { kem, needed, of, index } => json!({
            "type": "share",
            "kem": kem.name(),
            "id": kem.id(),
            "mode": mode_name(kem.mode()),
            "needed": needed,
            "of": of,
            "index": index,
        }),
        Stanza::Passphrase(cost) if tag.is_some() => json!({ "type": "passphrase", "scrypt_kib": cost.memory }),
        Stanza::Passphrase(cost) | Stanza::Session(cost) => {
            let session = matches!(stanza, Stanza::Session(_));
            json!({
                "type": "passphrase",
                "session": session,
                "memory_kib": cost.memory,
                "passes": cost.passes,
                "lanes": cost.lanes,
            })
        }
        Stanza::Ssh(kind) => json!({ "type": "ssh", "kind": kind.name(), "mode": mode_name(Mode::Ecc) }),
        Stanza::Unknown => json!({ "type": "unknown", "tag": tag }),
    }
}
