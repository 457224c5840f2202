//! Tests of the forms of armor that Deadpan writes and reads.

use std::io::Seek;
use std::thread;

use super::*;
use deadpan_seal::WriteAt;

fn armored(bytes: &[u8], step: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut armor = Armor::new(&mut text);
    bytes.chunks(step).for_each(|chunk| armor.write_all(chunk).unwrap());
    armor.finish().unwrap();
    text
}

/// A reader that returns one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let length = target.len().min(1);
        self.0.read(&mut target[..length])
    }
}

/// Reads the contents of a text in two ways, and checks that the two results are equal.
fn read(text: &[u8]) -> Result<Vec<u8>, String> {
    let beginning = find(&text[..text.len().min(BEGINNING)]).ok_or("no armor")?;
    let all = |input: &mut dyn Read| {
        let mut bytes = Vec::new();
        let result = Unarmored::new(input, &beginning).and_then(|mut body| body.read_to_end(&mut bytes));
        result.map(|_| bytes).map_err(|error| error.to_string())
    };
    let (whole, slow) = (all(&mut &text[..]), all(&mut Slow(text)));
    assert_eq!(whole, slow);
    whole
}

#[test]
fn armor_is_what_pem_writes_and_reads_back() {
    for length in [0, 1, 47, 48, 49, 3071, 3072, 3073, 10_000] {
        let bytes: Vec<u8> = (0..length).map(|index| (index * 7) as u8).collect();
        let expected = deadpan_base64::pem::encode("DEADPAN SEALED FILE", &bytes).unwrap();
        for step in [1, 48, 5000] {
            let text = armored(&bytes, step);
            assert_eq!(text, expected.as_bytes(), "{length} {step}");
            assert_eq!(read(&text).unwrap(), bytes);
        }
    }
}

/// Writes armor at positions, on two threads, in pieces of `step` bytes that begin at `first`. The last pieces are
/// written first.
fn placed(bytes: &[u8], first: usize, step: usize) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    let armor = ArmorAt::begin(&file, b"front\n").unwrap();
    let (head, rest) = bytes.split_at(first.min(bytes.len()));
    let pieces: Vec<_> = rest.chunks(step).zip((head.len()..).step_by(step)).chain([(head, 0)]).collect();
    let (odd, even): (Vec<_>, Vec<_>) = pieces.into_iter().rev().partition(|(_, position)| position / step % 2 == 1);
    thread::scope(|scope| {
        for half in [&odd, &even] {
            scope.spawn(|| {
                half.iter().for_each(|(piece, position)| armor.write_all_at(piece, *position as u64).unwrap());
            });
        }
    });
    armor.finish(bytes.len() as u64, b"rear\n").unwrap();
    let mut text = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut text).unwrap();
    text
}

#[test]
fn armor_that_is_written_at_positions_is_the_same_text() {
    for length in [0, 1, 2, 47, 48, 49, 95, 96, 97, 3073, 10_000, 2_000_000] {
        let bytes: Vec<u8> = (0..length).map(|index| (index * 7 + index / 256) as u8).collect();
        let expected = [b"front\n", &armored(&bytes, 1 << 16)[..], b"rear\n"].concat();
        for (first, step) in [(0, 48), (1, 48), (0, 5), (13, 20), (47, 4096), (100, 700_000), (9_999_999, 1)] {
            if length / step < 5000 {
                assert!(placed(&bytes, first, step) == expected, "{length} {first} {step}");
            }
        }
    }
}

/// Space that was reserved is given back, and a file that holds something is not written to.
#[test]
fn armor_at_positions_needs_an_empty_file_and_ends_where_its_text_ends() {
    let file = tempfile::tempfile().unwrap();
    let armor = ArmorAt::begin(&file, b"").unwrap();
    armor.reserve(10 << 20).unwrap();
    armor.write_all_at(&[7; 100], 0).unwrap();
    armor.finish(100, b"").unwrap();
    assert_eq!(file.metadata().unwrap().len(), armored(&[7; 100], 100).len() as u64);
    #[cfg(target_os = "linux")]
    assert!(std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) < 1 << 10);
    assert!(matches!(ArmorAt::begin(&file, b""), Err(deadpan_seal::Error::NotEmpty)));
}

#[test]
fn all_forms_of_the_page_are_read() {
    let bytes: Vec<u8> = (0..5000).map(|index| (index * 7) as u8).collect();
    let text = String::from_utf8(armored(&bytes, 5000)).unwrap();
    let symbols = text.lines().filter(|line| !line.starts_with('-')).collect::<String>();
    let (begin, end) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    let lines = |prefix: &str, end: &str| text.lines().map(|line| format!("{prefix}{line}{end}")).collect::<String>();
    for form in [
        text.trim_end().to_owned(),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        text.replace('\n', "\n\n"),
        text.replace('\n', " \t\x0b\x0c\n"),
        text.replace('\n', "\n \t"),
        format!("\u{feff}{text}"),
        format!("\n \r\n\t\n{text}\n\n \n"),
        lines("> ", "\n"),
        lines(">> > ", "\r\n"),
        lines(">", "\n>\n"),
        format!("\u{feff}>\n{}>\n", lines("> ", "\n")),
        format!("{begin}\n{symbols}\n{end}"),
        format!("{begin}\n{}\n{end}\n", symbols.chars().map(|symbol| format!("{symbol} ")).collect::<String>()),
        format!("{begin}\n{}{end}\n", symbols.chars().map(|symbol| format!("{symbol}\n")).collect::<String>()),
        format!("{begin}{}\n{symbols}\n{end}{}\n", " ".repeat(1000), "\t".repeat(1000)),
    ] {
        assert!(read(form.as_bytes()).as_ref() == Ok(&bytes), "{:?}", &form[..200.min(form.len())]);
    }
}

#[test]
fn any_cut_and_any_addition_is_refused() {
    let text = armored(&[7; 100], 100);
    for cut in 0..text.len() - 1 {
        assert!(read(&text[..cut]).is_err(), "{cut}");
    }
    for more in ["x", "-", "\0", &*String::from_utf8(text.clone()).unwrap()] {
        let error = read(&[&text[..], more.as_bytes()].concat()).unwrap_err();
        assert_eq!(error, "something stands after the end of the armor, in line 6", "{more}");
    }
}

#[test]
fn a_line_that_is_wrong_is_named() {
    let text = String::from_utf8(armored(&[7; 100], 100)).unwrap();
    for (from, to, why) in [
        ("BwcH", "Bw*H", "the armor is damaged in line 2: it is not base64"),
        ("\nBwcH", "\nBw>H", "the armor is damaged in line 2: it is not base64"),
        (
            "FILE-----\n",
            "FILE-----\nProc-Type: 4\n",
            "the armor is damaged in line 2: it is a header, and a sealed file has none",
        ),
        (
            "FILE-----\n",
            "FILE-----\r\n\r\nComment: x\r\n",
            "the armor is damaged in line 3: it is a header, and a sealed file has none",
        ),
        ("-----END", "----END", "the armor is damaged in line 5: it is neither base64 nor the end of the armor"),
        (
            "BEGIN DEADPAN SEALED FILE-----",
            "BEGIN DEADPAN SEALED FILE-----Bw",
            "the armor is damaged in line 1: it holds more than the marker -----BEGIN DEADPAN SEALED FILE-----",
        ),
        (
            "FILE-----\n",
            &format!("FILE-----{}Bw\n", " ".repeat(1000)),
            "the armor is damaged in line 1: it holds more than the marker -----BEGIN DEADPAN SEALED FILE-----",
        ),
        ("BEGIN DEADPAN", &format!("BEGIN{}DEADPAN", " ".repeat(1000)), "no armor"),
        (
            "END DEADPAN",
            &format!("END{}DEADPAN", " ".repeat(1000)),
            "the armor is damaged in line 5: it is neither base64 nor the end of the armor",
        ),
        ("Bw==", "Bw=", "the armor is damaged: it is not base64"),
        ("Bw==", "Bx==", "the armor is damaged: it is not base64"),
    ] {
        assert!(text.contains(from), "{from}");
        assert_eq!(read(text.replacen(from, to, 1).as_bytes()).unwrap_err(), why);
    }
}

#[test]
fn text_before_the_armor_is_refused_with_the_line_of_its_beginning() {
    let text = armored(&[7; 100], 100);
    let behind = |front: &str| read(&[front.as_bytes(), &text].concat()).unwrap_err();
    assert_eq!(behind("Dear Bob,\n\n"), "the armor begins in line 3, and other text stands before it");
    assert_eq!(behind("> Hi\r\n> "), "the armor begins in line 2, and other text stands before it");
    // A marker after the first 4096 bytes is treated as ordinary text.
    assert_eq!(behind(&"a line\n".repeat(1000)), "no armor");
}

#[test]
fn other_programs_files_are_known_behind_the_same_front() {
    assert_eq!(without_front(b"\xef\xbb\xbf\n> -----BEGIN PGP MESSAGE-----\n"), b"-----BEGIN PGP MESSAGE-----\n");
    for text in [&b"\n\nhello"[..], b"", b"\n", b"hello\n-----BEGIN PGP MESSAGE-----\n"] {
        assert_eq!(without_front(text), text);
    }
}

#[test]
fn the_element_of_a_page_may_end_after_the_armor_once() {
    let text = armored(&[7; 100], 100);
    let read = |text: &[u8], beginning: &Beginning| {
        let mut bytes = Vec::new();
        let result = Unarmored::new(text, beginning).and_then(|mut body| body.read_to_end(&mut bytes));
        result.map(|_| bytes).map_err(|error| error.to_string())
    };
    let behind_page = Beginning::behind_page(0, 7);
    for end in ["", "\n", "</script>", "</script>\n", " \n</script> \r\n\n", "\r</script>\r"] {
        let text = [&text, end.as_bytes()].concat();
        assert_eq!(read(&text, &behind_page), Ok(vec![7; 100]), "{end:?}");
        let alone = read(&text, &find(&text).unwrap());
        assert_eq!(alone.is_ok(), end.trim().is_empty(), "{end:?}");
    }
    for end in ["</script>x", "</script></script>", "</script>\n</script>", "</SCRIPT>", "</script >", "x\n</script>"] {
        let line = if end == "</script>\n</script>" { 13 } else { 12 };
        let error = read(&[&text, end.as_bytes()].concat(), &behind_page).unwrap_err();
        assert_eq!(error, format!("something stands after the end of the armor, in line {line}"), "{end:?}");
    }
}
