//! The examples in docs/rust.md also exist as separate files. The tests check that docs/rust.md contains these files,
//! and run the examples.

include!("readme/example.rs");

mod sealing {
    include!("readme/seal.rs");

    #[test]
    fn the_example_goes_there_and_back() {
        assert_eq!(there_and_back(b"straight face").unwrap(), b"straight face");
    }

    #[test]
    fn a_passphrase_opens_every_item() {
        let items = with_a_passphrase(b"correct horse", &[b"one", b"another"]).unwrap();
        let reader = Session::new(&Passphrase::new(b"correct horse"), Cost::default()).unwrap();
        let opened: Vec<_> = items.iter().map(|item| open(&reader, item).unwrap()).collect();
        assert_eq!(opened, [&b"one"[..], b"another"]);
    }
}

#[test]
fn the_page_shows_the_examples() {
    let page = include_str!("../../docs/rust.md");
    assert!(page.contains(include_str!("readme/example.rs")), "copy bench/tests/readme/example.rs into docs/rust.md");
    assert!(page.contains(include_str!("readme/seal.rs")), "copy bench/tests/readme/seal.rs into docs/rust.md");
}

#[test]
fn the_example_opens_and_rejects() {
    let plain = *b"attack at dawn\x02\x02";
    assert_eq!(open(&plain, &[7; 32], &[7; 32]).unwrap(), b"attack at dawn");
    assert!(open(&plain, &[7; 32], &[8; 32]).is_err());
    assert!(open(b"attack at dawn\x02\x03", &[7; 32], &[7; 32]).is_err());
    assert_eq!(key("3q2+7w==").unwrap(), [0xde, 0xad, 0xbe, 0xef]);
    assert!(key("3q2+7w=").is_err());
}
