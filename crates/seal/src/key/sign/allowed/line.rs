//! One line of an `allowed_signers` file: principals, options, and a public key with a comment.

use std::borrow::Cow;

use super::{AllowedSigner, time};
use crate::key::openssh;
use crate::key::{KeyError, Unsupported};

type Fault = Cow<'static, str>;

const SPACE: [char; 3] = [' ', '\t', '\r'];

/// Returns the entry in a line, or `None` if the line is empty or a comment.
pub(super) fn read(line: &str, zone: impl Fn(i64) -> i64) -> Result<Option<AllowedSigner>, Fault> {
    let line = line.trim_matches(SPACE);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.contains('\0') {
        return Err("a zero byte stands in the line".into());
    }
    let (principals, rest) = principals(line)?;
    let (options, key) = match openssh::public_line(rest) {
        Err(KeyError::NotAKey { .. }) => {
            let (options, rest) = rest.split_at(options_len(rest)?);
            (options, openssh::public_line(rest))
        }
        key => ("", key),
    };
    let Options { namespaces, after, before } = Options::read(options, zone)?;
    let key = match key {
        Ok((key, _)) if key.kind().scheme().is_none() => None,
        Ok((key, _)) => Some(key.verifying_key().ok_or("the SSH public key is not valid")?),
        Err(KeyError::Unsupported { what: Unsupported::Kind(_), .. }) => None,
        Err(KeyError::NotAKey { .. }) => return Err("the key is missing".into()),
        Err(error) => return Err(error.reason()),
    };
    let valid = after.unwrap_or(i64::MIN)..=before.unwrap_or(i64::MAX);
    if valid.is_empty() || (after.is_some() && after == before) {
        return Err("its time \"valid-before\" is not after \"valid-after\"".into());
    }
    Ok(Some(AllowedSigner { principals: principals.to_owned(), namespaces, valid, key }))
}

/// Splits a line into the principals and the rest. The principals may be in quotes.
fn principals(line: &str) -> Result<(&str, &str), Fault> {
    let (principals, rest) = match line.strip_prefix('"') {
        Some(line) => line.split_once('"').ok_or("a quote is not closed")?,
        None => line.split_once(SPACE).ok_or("the key is missing")?,
    };
    if principals.is_empty() || principals.contains('"') {
        return Err("the principals are not valid".into());
    }
    if principals.split(',').any(str::is_empty) {
        return Err("one of the principals is empty".into());
    }
    Ok((principals, rest.trim_start_matches(SPACE)))
}

/// Returns the length of the options at the start of a text. The options end at the first white space outside of
/// quotes.
fn options_len(text: &str) -> Result<usize, Fault> {
    let (mut quoted, mut escaped) = (false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b' ' | b'\t' if !quoted => return Ok(place),
            _ => {}
        }
    }
    Err(if quoted { "a quote is not closed" } else { "the key is missing" }.into())
}

/// The options of a line.
#[derive(Default)]
struct Options {
    namespaces: Option<String>,
    after: Option<i64>,
    before: Option<i64>,
}

impl Options {
    fn read(mut text: &str, zone: impl Fn(i64) -> i64) -> Result<Self, Fault> {
        let mut options = Self::default();
        if text.is_empty() {
            return Ok(options);
        }
        loop {
            let end = text.find(['=', ',']).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            let name = name.to_ascii_lowercase();
            if name == "cert-authority" {
                return Err("certificates (\"cert-authority\") are not supported".into());
            }
            if !["namespaces", "valid-after", "valid-before"].contains(&&*name) {
                return Err(format!("{name:?} is not a known option").into());
            }
            let (value, rest) = quoted(rest).ok_or_else(|| format!("the value of {name:?} is not in quotes"))?;
            let time = || {
                let time = time::read(&value, &zone);
                time.ok_or_else(|| format!("{value:?} is not a time like 20260131 or 20260131235959Z"))
            };
            let is_new = match &*name {
                "namespaces" if value.is_empty() => return Err("the list of namespaces is empty".into()),
                "namespaces" => options.namespaces.replace(value).is_none(),
                "valid-after" => options.after.replace(time()?).is_none(),
                _ => options.before.replace(time()?).is_none(),
            };
            if !is_new {
                return Err(format!("{name:?} stands there twice").into());
            }
            match (rest.is_empty(), rest.strip_prefix(',')) {
                (true, _) => return Ok(options),
                (false, Some(rest)) => text = rest,
                (false, None) => return Err("something stands between two options".into()),
            }
        }
    }
}

/// Returns the value in quotes after `=` at the start of a text, and the rest of the text. Within quotes, `\"` stands
/// for a quote.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix("=\"")?;
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[place + 1..])),
            '\\' if text[place + 1..].starts_with('"') => {
                characters.next();
                value.push('"');
            }
            other => value.push(other),
        }
    }
    None
}
