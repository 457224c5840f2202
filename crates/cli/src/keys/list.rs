//! The list of keys: first the user's own, then contacts.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::console::say;
use crate::failure::{Exit, Failure};
use crate::home::{self, Home};
use crate::mode::mode_name;
use crate::names::{joined, with_path};
use crate::shown::shown;
use crate::streams::print;
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};

/// A line of the list.
struct Line {
    name: String,
    own: bool,
    path: PathBuf,
    /// Whether a passphrase protects the key; `None` for contacts.
    protected: Option<bool>,
    /// Whether the key is the default key; `None` for contacts.
    default: Option<bool>,
    key: Option<PublicKey>,
}

pub fn run(home: &Home, as_json: bool) -> Result<Exit, Failure> {
    let mut worst = Exit::Done;
    let mut lines = Vec::new();
    let default = home.default_key().map_or_else(
        |failure| {
            failure.say();
            worst = worst.max(failure.exit);
            None
        },
        |own| own.map(|own| own.name),
    );
    for (name, path, own) in entries(home)? {
        match line(name, &path, own) {
            Ok(mut line) => {
                line.default = own.then(|| default.as_ref() == Some(&line.name));
                lines.push(line);
            }
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
        Some(Found::Public(key)) if !own => Some(key),
        _ => home::public_of(path)?,
    };
    Ok(Line { name, own, path: path.into(), protected, default: None, key })
}

impl Line {
    fn text(&self, width: usize) -> String {
        let whose = if self.own { "own    " } else { "contact" };
        let (mode, kem) = self.key.as_ref().map_or(("?", "?"), |key| (mode_name(key.kem().mode()), key.kem().name()));
        let fingerprint = self.key.as_ref().map_or_else(|| "public part unknown".into(), key::fingerprint);
        let protection = match self.protected {
            Some(true) => "  protected",
            Some(false) => "  not protected",
            None => "",
        };
        let default = if self.default == Some(true) { ", default" } else { "" };
        format!("{whose}  {:width$}  {mode:6}  {kem:16}  {fingerprint}{protection}{default}\n", self.name)
    }

    fn json(&self) -> String {
        let key = self.key.as_ref();
        let fields = json!({
            "schema": 1,
            "command": "keys",
            "name": self.name,
            "own": self.own,
            "mode": key.map(|key| mode_name(key.kem().mode())),
            "kem": key.map(|key| key.kem().name()),
            "fingerprint": key.map(key::fingerprint),
            "protected": self.protected,
            "default": self.default,
        });
        format!("{}\n", joined(with_path(&self.path), fields))
    }
}
