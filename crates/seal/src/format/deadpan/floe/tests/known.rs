//! Tests with the known answers of other implementations.

use std::path::Path;

use super::*;

fn hex(text: &str) -> Vec<u8> {
    deadpan_base64::hex::decode(text.trim().as_bytes()).expect("hex")
}

/// Returns the known answers. Each known answer has a name, the binary logarithm of the number of segments per key, the
/// sealed bytes and the plain bytes.
fn known_answers() -> Vec<(String, u32, Vec<u8>, Vec<u8>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/floe"));
    let Ok(files) = std::fs::read_dir(folder) else {
        // The line goes directly to standard error, because the test harness would hide it.
        let _ = writeln!(std::io::stderr(), "skipped: FLOE's known answers are not at {}", folder.display());
        return Vec::new();
    };
    let mut answers = Vec::new();
    for file in files {
        let path = file.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix("_ct.txt") {
            let sealed = hex(&std::fs::read_to_string(&path).expect("text"));
            let plain = hex(&std::fs::read_to_string(folder.join(format!("{stem}_pt.txt"))).expect("its plain text"));
            // According to the README of the known answers, messages with this name change the key after every 4
            // segments.
            let bits = if stem.ends_with("rotation") { 2 } else { 20 };
            answers.push((name, bits, sealed, plain));
        }
    }
    assert!(answers.len() >= 11, "only {} known answers", answers.len());
    answers
}

#[test]
fn known_answers_open() {
    for (name, bits, sealed, plain) in known_answers() {
        let (header, segments) = sealed.split_at(HEADER);
        let message = Arc::new(
            Message::resume_with_rotation(&KEY, AAD, header, bits).unwrap_or_else(|error| panic!("{name}: {error}")),
        );
        let mut data = Vec::new();
        message.open_onto(segments, &mut data).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(data, plain, "{name}");

        let mut data = Vec::new();
        Reader::new(message.clone(), segments).read_to_end(&mut data).expect(&name);
        assert_eq!(data, plain, "{name}, in order");

        let mut anywhere = SeekReader::new(message, std::io::Cursor::new(&sealed), HEADER as u64).expect(&name);
        for begin in (0..plain.len()).rev() {
            anywhere.seek(SeekFrom::Start(begin as u64)).expect("a place");
            let mut byte = [0];
            anywhere.read_exact(&mut byte).expect(&name);
            assert_eq!(byte[0], plain[begin], "{name}, byte {begin}");
        }
    }
}

#[test]
fn known_answers_refuse_other_keys_and_data() {
    for (name, bits, mut sealed, _) in known_answers() {
        let resume = |key, aad, header: &[u8]| Message::resume_with_rotation(key, aad, &header[..HEADER], bits).err();
        assert!(matches!(resume(&[1; 32], AAD, &sealed), Some(Error::HeaderForged)), "{name}");
        assert!(matches!(resume(&KEY, b"This is BAD", &sealed), Some(Error::HeaderForged)), "{name}");
        sealed[PARAMETERS] ^= 1;
        assert!(matches!(resume(&KEY, AAD, &sealed), Some(Error::HeaderForged)), "{name}");
    }
}
