//! Names in JSON. A name that is not UTF-8 is written in hexadecimal, in a separate field, so that no byte is lost.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use deadpan_disk::portable::OsStrExt;
use deadpan_pack::is_plain;

/// Returns a JSON value as text on one line. Escapes the characters that JSON escapes. Also escapes characters that a
/// terminal would obey, or that hide or change other characters, since people also read the lines on terminals.
pub fn json_text(value: &Value) -> String {
    let text = value.to_string();
    // Field names and the rest of the JSON text never contain these characters, so only strings need escapes.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(is_plain) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_plain(character) {
            escaped.push(character);
        } else {
            let units =
                character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            escaped.push_str(&units);
        }
    }
    escaped
}

/// Adds a name to a JSON object: as `key` if it is UTF-8, or else as hexadecimal digits in `key_hex`. The other field
/// is null.
pub fn put_name(object: &mut Map<String, Value>, key: &str, name: Option<&[u8]>) {
    let text = name.and_then(|name| str::from_utf8(name).ok());
    let hex =
        name.filter(|_| text.is_none()).map(|name| name.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    object.insert(key.to_owned(), json!(text));
    object.insert(format!("{key}_hex"), json!(hex));
}

/// Adds names to a JSON object as [`put_name`] does, in two lists.
pub fn put_names(object: &mut Map<String, Value>, key: &str, names: &[PathBuf]) {
    let (mut texts, mut hexes) = (Vec::new(), Vec::new());
    for name in names {
        let mut one = Map::new();
        put_name(&mut one, "name", Some(name.as_os_str().as_bytes()));
        texts.extend(one.remove("name"));
        hexes.extend(one.remove("name_hex"));
    }
    object.insert(key.to_owned(), texts.into());
    object.insert(format!("{key}_hex"), hexes.into());
}

/// Returns `object` with the fields of another object added.
pub fn joined(mut object: Map<String, Value>, fields: Value) -> Value {
    if let Value::Object(fields) = fields {
        object.extend(fields);
    }
    Value::Object(object)
}

pub fn with_path(path: &Path) -> Map<String, Value> {
    let mut object = Map::new();
    put_name(&mut object, "file", Some(path.as_os_str().as_bytes()));
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_characters_that_a_terminal_obeys() {
        let text = "a\u{1b}\u{7f}\u{9b}\u{202e}\u{200b}\u{2066}\u{e0041}\u{e4}\u{1f600}\"\\";
        let line = json_text(&json!({ "name": text }));
        let expected =
            "{\"name\":\"a\\u001b\\u007f\\u009b\\u202e\\u200b\\u2066\\udb40\\udc41\u{e4}\u{1f600}\\\"\\\\\"}";
        assert_eq!(line, expected);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["name"], text);
    }
}
