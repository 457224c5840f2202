//! The list: own keys, then contacts.

use crate::failure::{Exit, Failure};
use crate::home::{self, Home};
use crate::recipient::mode_name;
use crate::report::{print, say};
use crate::shown::shown;
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};
use serde_json::json;
use std::path::Path;

/// A line of the list.
struct Line {
    name: String,
    own: bool,
    path: String,
    /// For own keys: whether there is a passphrase on it.
    protected: Option<bool>,
    key: Option<PublicKey>,
}

pub fn run(home: &Home, as_json: bool) -> Result<Exit, Failure> {
    let mut worst = Exit::Done;
    let mut lines = Vec::new();
    for (name, path, own) in entries(home)? {
        match line(name, &path, own) {
            Ok(line) => lines.push(line),
            Err(failure) => {
                failure.say();
                worst = worst.max(failure.exit);
            }
        }
    }
    if lines.is_empty() && worst == Exit::Done {
        say(&format!("no keys in {}", shown(&home.folder)));
        say("hint: make one with: deadpan keygen");
    }
    let width = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    for line in &lines {
        print(&if as_json { line.json() } else { line.text(width) })?;
    }
    Ok(worst)
}

fn entries(home: &Home) -> Result<Vec<(String, std::path::PathBuf, bool)>, Failure> {
    let own = home.own()?.into_iter().map(|own| (own.name, own.path, true));
    Ok(own.chain(home.contacts()?.into_iter().map(|contact| (contact.name, contact.path, false))).collect())
}

fn line(name: String, path: &Path, own: bool) -> Result<Line, Failure> {
    let found = home::read(path)?;
    let protected = own.then(|| found.iter().any(|found| matches!(found, Found::Protected(_))));
    let key = match found.into_iter().next() {
        Some(Found::Public(key)) => Some(key),
        Some(Found::Private(key)) => Some(key.public().clone()),
        _ => home::public_of(path)?,
    };
    Ok(Line { name, own, path: shown(path), protected, key })
}

impl Line {
    fn text(&self, width: usize) -> String {
        let whose = if self.own { "own    " } else { "contact" };
        let (mode, kem) = self.key.as_ref().map_or(("?", "?"), |key| (mode_name(key.kem().mode()), key.kem().name()));
        let fingerprint = self.key.as_ref().map_or_else(|| "public part unknown".into(), key::fingerprint);
        let remark = match self.protected {
            Some(true) => "  protected",
            Some(false) => "  not protected",
            None => "",
        };
        format!("{whose}  {:width$}  {mode:6}  {kem:16}  {fingerprint}{remark}\n", self.name)
    }

    fn json(&self) -> String {
        let key = self.key.as_ref();
        let line = json!({
            "schema": 1,
            "command": "keys",
            "name": self.name,
            "own": self.own,
            "file": self.path,
            "mode": key.map(|key| mode_name(key.kem().mode())),
            "kem": key.map(|key| key.kem().name()),
            "fingerprint": key.map(key::fingerprint),
            "protected": self.protected,
        });
        format!("{line}\n")
    }
}
