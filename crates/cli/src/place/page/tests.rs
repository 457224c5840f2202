//! Tests of the page of this program, and of what precedes armor.

use super::*;

/// Returns the line of the armor, or the error.
fn line(text: &[u8]) -> Result<usize, String> {
    let (start, rest) = text.split_at(text.len().min(BEGINNING));
    assert!(begins(start));
    let mut start = start.to_vec();
    let found = find(&mut start, rest).map_err(|error| error.to_string())?;
    assert!(text[found.offset()..].starts_with(BEGIN));
    assert!(text.starts_with(&start));
    Ok(text[..found.offset()].iter().filter(|byte| **byte == b'\n').count() + 1)
}

fn page(body: &[u8]) -> Vec<u8> {
    [b"<!doctype html>\n<!-- Deadpan page -->\n", body].concat()
}

fn with_armor(body: &[u8]) -> Vec<u8> {
    [&page(body), &b"\n"[..], BEGIN, b"\nAAAA\n"].concat()
}

/// A program with another page would write files that no program opens.
#[test]
fn the_page_of_this_program_has_the_form_of_a_page() {
    let text = str::from_utf8(own()).unwrap();
    assert!(begins(own()) && text.starts_with("<!doctype html>\n<!-- Deadpan page -->\n"));
    assert!(text.ends_with("</html>\n"));
    assert!(!text.contains(str::from_utf8(ELEMENT).unwrap()));
    assert!(!raw_lines(own()).any(|(_, line)| line.starts_with(BEGIN)));
    assert!(own().len() < MOST - ELEMENT.len());
    assert_eq!(Page::own().html(), own());
    assert!(Page::own().version().is_some());
    assert!(Page::before_armor(&page(b"")).version().is_none());
}

#[test]
fn the_first_two_lines_decide() {
    for text in [
        "<!doctype html>\n<!-- Deadpan page -->\n",
        "<!doctype html>\r\n<!-- Deadpan page -->\r\n<html>",
        "<!doctype html>\r<!-- Deadpan page -->",
        "\u{feff}<!doctype html>\n<!-- Deadpan page -->\n",
    ] {
        assert!(begins(text.as_bytes()), "{text}");
    }
    for text in [
        "",
        "<!doctype html>",
        "<!doctype html>\n\n<!-- Deadpan page -->\n",
        "\n<!doctype html>\n<!-- Deadpan page -->\n",
        " <!doctype html>\n<!-- Deadpan page -->\n",
        "> <!doctype html>\n> <!-- Deadpan page -->\n",
        "<!DOCTYPE html>\n<!-- Deadpan page -->\n",
        "<!doctype html>\n<!-- Deadpan page --> \n",
        "<!doctype html>\n<!-- Deadpan page -->x",
    ] {
        assert!(!begins(text.as_bytes()), "{text}");
    }
}

#[test]
fn armor_is_found_at_any_offset_up_to_4_mib() {
    let front = page(b"\n").len();
    for offset in [front, 4095, 4096, 4097, 8191, 8192, 8193, 16 << 10, MOST - 1, MOST] {
        let text = with_armor(&vec![b'x'; offset - front]);
        assert_eq!(line(&text), Ok(4), "{offset}");
        for cut in [1, 5, BEGIN.len()] {
            let text = &text[..offset + BEGIN.len() - cut];
            assert_eq!(line(text).unwrap_err(), "the page of Deadpan ends too early", "{offset} {cut}");
        }
    }
    let text = with_armor(&vec![b'x'; MOST + 1 - front]);
    assert_eq!(line(&text).unwrap_err(), "no armor begins in the first 4 MiB of the page");
}

#[test]
fn only_the_beginning_of_a_line_begins_armor() {
    let marker = str::from_utf8(BEGIN).unwrap();
    for body in [format!("'{marker}'"), format!(" {marker}"), format!("> {marker}"), marker[1..].to_owned()] {
        assert_eq!(line(&with_armor(body.as_bytes())), Ok(4), "{body}");
    }
    assert_eq!(line(&with_armor(&[b"<html>\n", BEGIN, b"x"].concat())), Ok(4));
}

#[test]
fn a_page_alone_is_named() {
    for (text, why) in [
        (&b"<html></html>\n"[..], "it is a page of Deadpan, and holds no sealed file"),
        (b"<html></html>\n \r\n", "it is a page of Deadpan, and holds no sealed file"),
        (b"<html>", "the page of Deadpan ends too early"),
        (b"", "the page of Deadpan ends too early"),
    ] {
        assert_eq!(line(&page(text)).unwrap_err(), why);
    }
}
