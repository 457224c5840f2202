//! Reading any text as PEM: it never panics, and it finds the same first block as the reference. An accepted block is
//! the same after writing and reading it. The writer accepts exactly the labels that the RFC allows.
//!
//! Input: a text.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_base64::pem;
use deadpan_fuzz::{Input, reference};

fuzz_target!(|data: &[u8]| {
    let text = Input(data).pem();
    let first = pem::decode(&text).map(|document| (document.label.to_owned(), document.contents.to_vec()));
    assert_eq!(first, reference::pem::decode(&text), "first block");
    for (place, document) in pem::documents(&text).enumerate() {
        match document {
            Ok(document) => write_and_read(document.label, &document.contents),
            Err(error) => assert_ne!(error, pem::Error::Missing, "a block that is missing"),
        }
        assert!(place <= text.len(), "more blocks than text");
    }
    let (label, contents) = text.split_at(text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len()));
    if let Ok(label) = str::from_utf8(label) {
        if reference::pem::is_label(label) {
            write_and_read(label, contents)
        } else {
            assert_eq!(pem::encode(label, contents), Err(pem::Error::Label), "{label:?}")
        }
    }
});

fn write_and_read(label: &str, contents: &[u8]) {
    let text = pem::encode(label, contents).expect("the label of a block");
    assert!(text.lines().all(|line| line.starts_with("-----") || (1..=64).contains(&line.len())), "{text}");
    let mut documents = pem::documents(text.as_bytes());
    let document = documents.next().expect("one block").expect("a good block");
    assert_eq!((document.label, &**document.contents), (label, contents));
    assert!(documents.next().is_none(), "more than one block");
}
