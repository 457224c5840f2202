//! The list of keys: first the user's own keys, then the contacts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::key::home::{self, Home, Own, Public};
use crate::key::mode::mode_name;
use crate::tell::console::{complain, say};
use crate::tell::failure::{Exit, Failure};
use crate::tell::names::{joined, with_path};
use crate::tell::shown::shown;
use crate::tell::streams::{print, print_json};
use deadpan_seal::key::Found;

/// A line of the list.
struct KeyLine {
    name: String,
    own: bool,
    path: PathBuf,
    /// Whether a passphrase protects the key; `None` for contacts.
    protected: Option<bool>,
    /// Whether the key is the default key; `None` for contacts.
    default: Option<bool>,
    key: Option<Public>,
    signs: bool,
    /// The name of the age plugin, if the key belongs to a plugin.
    plugin: Option<String>,
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
        match lines_of(name, &path, own) {
            Ok(mut found) => {
                for line in &mut found {
                    line.default = (own && !line.signs).then(|| default.as_ref() == Some(&line.name));
                }
                lines.append(&mut found);
            }
            Err(failure) => {
                failure.say();
                worst = worst.max(failure.exit);
            }
        }
    }
    for name in home.without_private()? {
        let path = shown(home.folder.join(format!("{name}.pub")));
        complain(&format!("warning: the private key of {path} is missing: what is sealed to it does not open here"));
        complain(&format!(
            "hint: if you have a backup, remove {name}.pub, and then: deadpan keys restore {name}; \
             if it belongs to another person: deadpan keys add NAME {path}"
        ));
    }
    if lines.is_empty() && worst == Exit::Done {
        say(&format!("no keys in {}", shown(&home.folder)));
        say("hint: make one with: deadpan keygen");
    }
    let widest = |length: fn(&KeyLine) -> usize| lines.iter().map(length).max().unwrap_or(0);
    let widths = (widest(|line| line.name.chars().count()), widest(|line| line.algorithm().len()).max(16));
    for line in &lines {
        if as_json { print_json(&line.json())? } else { print(&line.text(widths))? }
    }
    Ok(worst)
}

fn entries(home: &Home) -> Result<Vec<(String, std::path::PathBuf, bool)>, Failure> {
    let own = home.own_of_both_uses()?.into_iter().map(|own| (own.name, own.path, true));
    Ok(own.chain(home.contacts()?.into_iter().map(|contact| (contact.name, contact.path, false))).collect())
}

/// Returns the lines of the list for one key file: one line for a key of the user, and one or two lines for a contact.
/// A contact has two lines if the file also holds a key that signs.
fn lines_of(name: String, path: &Path, own: bool) -> Result<Vec<KeyLine>, Failure> {
    let found = home::read(path)?;
    let plugin = found.iter().find_map(|found| match found {
        Found::PluginRecipient(recipient) => Some(recipient.name().to_owned()),
        Found::PluginIdentity(identity) => Some(identity.name().to_owned()),
        _ => None,
    });
    let line = |protected, key: Option<Public>, signs| KeyLine {
        name: name.clone(),
        own,
        path: path.into(),
        protected,
        default: None,
        key,
        signs,
        plugin: plugin.clone(),
    };
    if !own {
        let keys: Vec<_> = found.iter().filter_map(Public::from_key).collect();
        if keys.is_empty() {
            return Ok(vec![line(None, None, false)]);
        }
        return Ok(keys.into_iter().map(|key| line(None, Some(key.clone()), key.signs())).collect());
    }
    let protected = found.iter().any(|found| matches!(found, Found::Protected(_)));
    let signs = Own { name: name.clone(), path: path.into() }.signs();
    let key = match signs {
        _ if plugin.is_some() => None,
        true => home::verifying_of(path)?.map(Public::Signing),
        false => home::public_of(path)?.map(Public::Sealing),
    };
    Ok(vec![line(Some(protected), key, signs)])
}

impl KeyLine {
    fn algorithm(&self) -> &str {
        if self.plugin.is_some() { "plugin" } else { self.key.as_ref().map_or("?", Public::algorithm) }
    }

    fn text(&self, (width, algorithms): (usize, usize)) -> String {
        let whose = match (self.own, self.signs) {
            (true, false) => "own    ",
            (true, true) => "signing",
            (false, false) => "contact",
            (false, true) => "signer ",
        };
        let mode = self.key.as_ref().map_or("?", |key| mode_name(key.mode()));
        let algorithm = self.algorithm();
        let fingerprint = match (&self.plugin, &self.key) {
            (Some(plugin), _) => format!("age-plugin-{plugin}"),
            (None, Some(key)) => match key.ssh_fingerprint() {
                Some(ssh) if ssh != key.fingerprint() => format!("{} ({ssh})", key.fingerprint()),
                _ => key.fingerprint(),
            },
            (None, None) => "public part unknown".into(),
        };
        let protection = match self.protected {
            Some(true) => "  protected",
            Some(false) => "  not protected",
            None => "",
        };
        let default = if self.default == Some(true) { ", default" } else { "" };
        format!(
            "{whose}  {:width$}  {mode:6}  {algorithm:algorithms$}  {fingerprint}{protection}{default}\n",
            self.name
        )
    }

    fn json(&self) -> Value {
        let key = self.key.as_ref();
        let fields = json!({
            "schema": 1,
            "command": "keys",
            "name": self.name,
            "own": self.own,
            "use": if self.signs { "signing" } else { "sealing" },
            "mode": key.map(|key| mode_name(key.mode())),
            "kem": key.filter(|key| !key.signs()).map(Public::algorithm),
            "scheme": key.filter(|key| key.signs()).map(Public::algorithm),
            "fingerprint": key.map(Public::fingerprint),
            "ssh_fingerprint": key.and_then(Public::ssh_fingerprint),
            "plugin": self.plugin,
            "protected": self.protected,
            "default": self.default,
        });
        joined(with_path(&self.path), fields)
    }
}
