//! `deadpan inspect`: what a sealed file shows to anybody.

mod layout;

use crate::failure::{Exit, Failure, help};
use crate::input::{Input, Source};
use crate::plan::Plan;
use crate::recipient::mode_name;
use crate::report::{print, say};
use crate::sealed::Sealed;
use deadpan_seal::floe::Segments;
use deadpan_seal::{Mode, Stanza};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Shows what a sealed file is, without any key
#[derive(Debug, clap::Args)]
#[command(after_help = help!("deadpan inspect report.pdf.dpn", "deadpan inspect --json *.dpn"))]
pub struct InspectArgs {
    /// Print JSON, an object a line
    #[arg(long)]
    json: bool,
    /// What to look at; - or nothing is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Files to look at.
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
                    print(&if self.json { format!("{}\n", view.json()) } else { view.text() })?;
                    if let (false, Err(why)) = (self.json, &view.layout) {
                        say(&format!("error: {}: {why}\nhint: get a whole copy of the file", view.name));
                    }
                    worst = worst.max(view.exit());
                }
                Err(failure) => {
                    worst = worst.max(failure.exit);
                    if self.json {
                        print(&format!("{}\n", failed(&source.shown(), &failure)))?;
                    } else {
                        failure.say();
                    }
                }
            }
        }
        Ok(worst)
    }
}

/// What one file shows.
struct View {
    name: String,
    armored: bool,
    version: u8,
    stanzas: Vec<Stanza>,
    header: u64,
    slack: u64,
    metadata: u64,
    payload: u64,
    /// How the payload lies in segments, or why that cannot be.
    layout: Result<Segments, &'static str>,
}

impl View {
    fn of(source: &Source) -> Result<Self, Failure> {
        let input = Input::open(source)?.file_only("name a sealed file")?;
        let name = input.shown();
        let sealed = Sealed::read(&name, &input.file)?;
        let header = &sealed.header;
        let (version, length, slack, metadata) = (header.version(), header.length(), header.slack(), header.metadata_length());
        let (armored, stanzas) = (sealed.armored, sealed.stanzas.clone());
        let whole = input.length().filter(|_| input.positioned && !armored);
        let (payload, layout) = layout::read(sealed.payload, whole.map(|whole| (&input.file, length, whole)))
            .map_err(|error| Failure::of(&name, deadpan_seal::Error::Read(error)))?;
        Ok(Self { name, armored, version, stanzas, header: length, slack, metadata, payload, layout })
    }

    fn exit(&self) -> Exit {
        if self.layout.is_ok() { Exit::Done } else { Exit::Data }
    }

    /// What the whole file is: as weak as its weakest key.
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
                    let what = if matches!(stanza, Stanza::Session(_)) { "passphrase of a session" } else { "passphrase" };
                    writeln!(text, "  recipient    {what} (Argon2id: {memory} MiB, {} passes, {} lanes)", cost.passes, cost.lanes)
                }
            };
        }
        let _ = writeln!(text, "  header       {} bytes, {} of them metadata, {} free", self.header, self.metadata, self.slack);
        let _ = match &self.layout {
            Ok(layout) => writeln!(
                text,
                "  payload      {} bytes in {} segments of {}\n  data         {} bytes, with padding if there is any\n  size         consistent",
                self.payload,
                layout.count(),
                layout.segment_length(),
                layout.data()
            ),
            Err(why) => writeln!(text, "  payload      {} bytes\n  size         not consistent: {why}", self.payload),
        };
        text
    }

    fn json(&self) -> Value {
        let layout = self.layout.as_ref().ok();
        json!({
            "schema": 1,
            "command": "inspect",
            "file": self.name,
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
        })
    }
}

fn stanza(stanza: &Stanza) -> Value {
    match stanza {
        Stanza::Key(kem) => json!({ "type": "key", "kem": kem.name(), "id": kem.id(), "mode": mode_name(kem.mode()) }),
        Stanza::Passphrase(cost) | Stanza::Session(cost) => {
            let session = matches!(stanza, Stanza::Session(_));
            json!({ "type": "passphrase", "session": session, "memory_kib": cost.memory, "passes": cost.passes, "lanes": cost.lanes })
        }
    }
}

fn failed(name: &str, failure: &Failure) -> Value {
    json!({ "schema": 1, "command": "inspect", "file": name, "error": failure.message, "hint": failure.hint, "exit": failure.exit as u8 })
}
