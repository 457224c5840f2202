//! The description of a sealed file as JSON.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use crate::Fault;
use deadpan_files::Description;
use deadpan_seal::{Format, Identity, Kind, Stanza};

/// Describes a sealed file as a JSON object. The description contains the public properties of the file, and its
/// metadata if one of the keys opens the file.
///
/// # Errors
/// The errors of [`deadpan_files::inspect`].
pub fn inspect(path: &Path, identities: Option<&[Identity]>) -> Result<String, Fault> {
    let Description { length, header, opened, .. } = deadpan_files::inspect(path, identities)?;
    let mut text = Map::new();
    text.insert("format".into(), json!(if header.format() == Format::Age { "age" } else { "deadpan" }));
    text.insert("length".into(), json!(length));
    text.insert("header_length".into(), json!(header.length()));
    text.insert("signed".into(), json!(header.is_signed()));
    text.insert("recipients".into(), header.stanzas().iter().map(recipient).collect());
    if let Some(opened) = opened {
        let metadata = opened.metadata();
        let kind = match metadata.kind {
            Kind::Bytes => "bytes",
            Kind::File => "file",
            Kind::Folder => "folder",
        };
        text.insert("kind".into(), json!(kind));
        let name = metadata.name.as_ref().map(|name| String::from_utf8_lossy(name).into_owned());
        text.insert("name".into(), json!(name));
        let modified = metadata.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        text.insert("modified".into(), json!(modified.map(|time| time.as_secs_f64())));
        text.insert("mode".into(), json!(metadata.mode));
        text.insert("hides_length".into(), json!(opened.hides_length()));
        text.insert("compressed".into(), json!(opened.is_compressed()));
    }
    Ok(Value::Object(text).to_string())
}

fn recipient(stanza: &Stanza) -> Value {
    match stanza {
        Stanza::Key(kem) => json!({ "type": "key", "kind": kem.name(), "kem": kem.id() }),
        Stanza::Passphrase(cost) => {
            json!({ "type": "passphrase", "memory": cost.memory, "passes": cost.passes, "lanes": cost.lanes })
        }
        _ if stanza.is_passphrase() => json!({ "type": "passphrase" }),
        _ => json!({ "type": "other" }),
    }
}
