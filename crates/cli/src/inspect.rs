//! `deadpan inspect`: shows what everybody can see of a sealed file.

mod layout;

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::failure::{Exit, Failure, help};
use crate::input::{Input, Source};
use crate::mode::mode_name;
use crate::names::{joined, with_file};
use crate::plan::Plan;
use crate::report;
use crate::sealed::Sealed;
use crate::shown::count;
use crate::streams::print;
use deadpan_seal::floe::Segments;
use deadpan_seal::{Mode, Stanza};

/// Shows what can be seen of a sealed file without a key: recipients, sizes, mode
#[derive(Debug, clap::Args)]
#[command(after_help = help!("deadpan inspect report.pdf.dpn", "deadpan inspect --json *.dpn"))]
pub struct InspectArgs {
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
    /// The sealed files to look at; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A validated `deadpan inspect`.
pub struct Inspect {
    json: bool,
    sources: Vec<Source>,
}

impl InspectArgs {
    pub fn plan(self) -> Result<Inspect, Failure> {
        Ok(Inspect { json: self.json, sources: Source::all(self.files)? })
    }
}

impl Plan for Inspect {
    fn run(&self) -> Result<Exit, Failure> {
        let mut worst = Exit::Done;
        for source in &self.sources {
            match View::of(source) {
                Ok(view) => {
                    print(&if self.json { format!("{}\n", view.json(source)) } else { view.text() })?;
                    if let (false, Err(why)) = (self.json, &view.layout) {
                        Failure::new(Exit::Data, format!("{}: {why}", view.name), "get a whole copy of the file").say();
                    }
                    worst = worst.max(view.exit());
                }
                Err(failure) => {
                    worst = worst.max(failure.exit);
                    if self.json {
                        print(&format!("{}\n", report::failed("inspect", source, &failure)))?;
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
struct View {
    name: String,
    armored: bool,
    version: u8,
    stanzas: Vec<Stanza>,
    header: u64,
    slack: u64,
    metadata: u64,
    payload: u64,
    /// The segments of the payload, or the reason why its length is impossible.
    layout: Result<Segments, &'static str>,
}

impl View {
    fn of(source: &Source) -> Result<Self, Failure> {
        let input = Input::open(source)?.file_only("name a sealed file")?;
        let name = input.shown();
        input.announce();
        let sealed = Sealed::of(&input)?;
        let header = &sealed.header;
        let (version, length, slack, metadata) =
            (header.version(), header.length(), header.slack(), header.metadata_length());
        let (armored, stanzas) = (sealed.armored, sealed.stanzas.clone());
        let whole = input.length().filter(|_| input.positioned && !armored);
        let (payload, layout) = layout::read(sealed.payload, whole.map(|whole| (&input.file, length, whole)))
            .map_err(|error| Failure::of(&name, deadpan_seal::Error::Read(error)))?;
        Ok(Self { name, armored, version, stanzas, header: length, slack, metadata, payload, layout })
    }

    fn exit(&self) -> Exit {
        if self.layout.is_ok() { Exit::Done } else { Exit::Data }
    }

    /// Returns the mode of the whole file, which is that of its weakest key.
    fn mode(&self) -> Option<&'static str> {
        let modes: Vec<_> = self.stanzas.iter().filter_map(Stanza::mode).collect();
        let weakest = [Mode::Ecc, Mode::Pqc, Mode::Hybrid].into_iter().find(|mode| modes.contains(mode));
        weakest.map(mode_name)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let armor = if self.armored { ", in armor" } else { "" };
        let _ = writeln!(text, "{}: sealed by Deadpan, format version {}{armor}", self.name, self.version);
        for stanza in &self.stanzas {
            let _ = match stanza {
                Stanza::Key(kem) => writeln!(text, "  recipient    {} key ({})", kem.name(), mode_name(kem.mode())),
                Stanza::Passphrase(cost) | Stanza::Session(cost) => {
                    let memory = cost.memory / 1024;
                    let what =
                        if matches!(stanza, Stanza::Session(_)) { "passphrase of a session" } else { "passphrase" };
                    let passes = count(cost.passes.into(), "pass", "passes");
                    let lanes = count(cost.lanes.into(), "lane", "lanes");
                    writeln!(text, "  recipient    {what} (Argon2id: {memory} MiB, {passes}, {lanes})")
                }
            };
        }
        let bytes = |number| count(number, "byte", "bytes");
        let _ = writeln!(
            text,
            "  header       {}, {} of them encrypted metadata, {} unused",
            bytes(self.header),
            self.metadata,
            self.slack
        );
        let _ = match &self.layout {
            Ok(layout) => writeln!(
                text,
                "  payload      {} in {} of up to {}\n  data         {}, with padding if there is any\n  \
                size         consistent",
                bytes(self.payload),
                count(layout.count(), "segment", "segments"),
                bytes(layout.segment_length()),
                bytes(layout.data())
            ),
            Err(why) => writeln!(text, "  payload      {}\n  size         not consistent: {why}", bytes(self.payload)),
        };
        text
    }

    fn json(&self, source: &Source) -> Value {
        let layout = self.layout.as_ref().ok();
        let fields = json!({
            "schema": 1,
            "command": "inspect",
            "version": self.version,
            "armored": self.armored,
            "mode": self.mode(),
            "recipients": self.stanzas.iter().map(stanza).collect::<Vec<_>>(),
            "header_bytes": self.header,
            "metadata_bytes": self.metadata,
            "slack_bytes": self.slack,
            "payload_bytes": self.payload,
            "segment_bytes": layout.map(Segments::segment_length),
            "segments": layout.map(Segments::count),
            "data_bytes": layout.map(Segments::data),
            "consistent": layout.is_some(),
            "error": self.layout.as_ref().err(),
            "exit": self.exit() as u8,
        });
        joined(with_file(source), fields)
    }
}

fn stanza(stanza: &Stanza) -> Value {
    match stanza {
        Stanza::Key(kem) => json!({ "type": "key", "kem": kem.name(), "id": kem.id(), "mode": mode_name(kem.mode()) }),
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
    }
}
