//! Tests the vectors of C2SP's CCTV with every way of opening a file.
//!
//! The vectors specify which data a reader returns before a failure. After a failure, opening in memory and opening by
//! positions return no data.

use std::io::Read;
use std::path::Path;

use super::{WAYS, unlock};
use deadpan_base64::hex;
use deadpan_seal::age::armor;
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Error, Identity, Passphrase};

/// A vector: the header lines at its beginning, and the age file.
struct Vector {
    fields: Vec<(String, String)>,
    file: Vec<u8>,
}

impl Vector {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").expect("an empty line");
        let text = str::from_utf8(&bytes[..end]).expect("text");
        let field = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let fields: Vec<_> = text.lines().map(|line| field(line).expect("a field")).collect();
        let file = bytes[end + 2..].to_vec();
        let mut vector = Self { fields, file };
        if vector.all("compressed").next() == Some("zlib") {
            vector.file = miniz_oxide::inflate::decompress_to_vec_zlib(&vector.file).expect("zlib");
        }
        vector
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    fn identities(&self) -> Vec<Identity> {
        let key = |text: &str| match key::read(text.as_bytes()).expect("a key").pop() {
            Some(Found::Private(key)) => Identity::Key(key),
            _ => panic!("a private key"),
        };
        let passphrase = |text: &str| Identity::Passphrase(Passphrase::new(text.as_bytes()));
        self.all("identity").map(key).chain(self.all("passphrase").map(passphrase)).collect()
    }

    /// Removes the armor of the file. Returns the file without armor, or the error in the armor.
    fn unarmored(&self) -> Result<Vec<u8>, Error> {
        if self.all("armored").next() != Some("yes") {
            return Ok(self.file.clone());
        }
        let mut bytes = Vec::new();
        let read = armor::ArmorReader::new(&self.file[..]).read_to_end(&mut bytes);
        read.map_err(|error| error.downcast::<Error>().expect("the library's error"))?;
        Ok(bytes)
    }
}

/// Opens the file of a test vector with one of the [`WAYS`]. Returns the outcome with the name that the test vectors
/// use, the opened data, and the text of the error.
fn outcome(vector: &Vector, way: usize) -> (&'static str, Vec<u8>, String) {
    let named = |error: &Error| match error {
        Error::HeaderForged => "HMAC failure",
        Error::NoKeyFits(_) | Error::WrongPassphrase => "no match",
        _ => "header failure",
    };
    let sealed = match vector.unarmored() {
        Ok(sealed) => sealed,
        Err(error) => return ("armor failure", Vec::new(), error.to_string()),
    };
    let (opened, payload) = match unlock(&sealed, &vector.identities()) {
        Ok(opened) => opened,
        Err(error) => return (named(&error), Vec::new(), error.to_string()),
    };
    // These vectors classify an error in the nonce as an error in the header.
    if let Some(error) = opened.read_from(payload).err() {
        return (named(&error), Vec::new(), error.to_string());
    }
    let (plain, failure) = WAYS[way].1(&opened, &sealed, payload);
    match failure {
        None => ("success", plain, String::new()),
        Some(error) => ("payload failure", plain, error.to_string()),
    }
}

#[test]
fn every_vector_ends_as_it_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/age");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: age vectors: there is no {}", folder.display());
        return;
    };
    let mut names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    names.sort();
    assert!(names.len() >= 95, "{} vectors", names.len());
    let mut wrong = Vec::new();
    for name in &names {
        let vector = Vector::read(&std::fs::read(folder.join(name)).expect("a vector"));
        let expected = vector.all("expect").next().expect("an expectation");
        for (way, (named, _)) in WAYS.iter().enumerate() {
            let (happened, plain, why) = outcome(&vector, way);
            let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &plain);
            let complete = expected == "success" || way < 2;
            let payload = vector.all("payload").next().filter(|_| complete);
            let same = payload.is_none_or(|payload| payload == hex::encode(digest.as_ref()));
            if happened != expected || !same || !complete && !plain.is_empty() {
                wrong.push(format!("{}, {named}: {happened} ({why}), not {expected}; {same}", name.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
