//! Reads the answers of stores, which are XML.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;

/// An iterator over the elements with one tag name in an answer, in order, at any depth.
pub(crate) struct Elements<'a> {
    /// The answer without its byte order mark. The reader's positions do not include this mark.
    xml: &'a str,
    /// The number of bytes of the byte order mark.
    mark: usize,
    name: &'a str,
    reader: Reader<&'a [u8]>,
}

/// An element of an answer.
pub(crate) struct Element<'a> {
    /// The range of the element in the answer, including its tags.
    pub(crate) place: Range<usize>,
    /// The text between the tags of the element, without unescaping.
    pub(crate) inside: &'a str,
}

impl<'a> Elements<'a> {
    /// Begins a search for elements with this name. The text around the elements need not be XML, because messages of
    /// the client are not XML.
    pub(crate) fn new(xml: &'a str, name: &'a str) -> Self {
        let whole = xml.len();
        let xml = xml.strip_prefix('\u{feff}').unwrap_or(xml);
        let mut reader = Reader::from_str(xml);
        let config = reader.config_mut();
        (config.allow_dangling_amp, config.allow_unmatched_ends, config.check_end_names) = (true, true, false);
        Self { xml, mark: whole - xml.len(), name, reader }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        loop {
            let begin = self.reader.buffer_position();
            match self.reader.read_event().ok()? {
                Event::Start(start) if start.name().as_ref() == self.name.as_bytes() => {
                    let inside = self.reader.read_to_end(start.name()).ok()?;
                    let range = |range: Range<u64>| range.start as usize..range.end as usize;
                    let place = range(begin..self.reader.buffer_position());
                    let place = place.start + self.mark..place.end + self.mark;
                    return Some(Element { place, inside: self.xml.get(range(inside))? });
                }
                Event::Eof => return None,
                _ => {}
            }
        }
    }
}

pub(crate) fn text(xml: &str, name: &str) -> Option<String> {
    let element = Elements::new(xml, name).next()?;
    Some(unescaped(element.inside).unwrap_or_else(|| element.inside.to_owned()))
}

/// Returns the text that a piece of XML represents, with characters in place of escapes. Returns `None` if the piece
/// contains an invalid escape.
pub(crate) fn unescaped(xml: &str) -> Option<String> {
    unescape(xml).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_with_their_places() {
        for (xml, expected) in [
            ("<R><a>1</a><b/><a x='y'>&lt;2</a></R>", &["<a>1</a>", "<a x='y'>&lt;2</a>"][..]),
            ("\u{feff}<?xml version='1.0'?><R><!-- <a>0</a> --><a>1</a></R>", &["<a>1</a>"]),
            ("GET http://h/?x=1&y=2 \u{e4} 403: <a><a>1</a></a></R> & <a>2</a>", &["<a><a>1</a></a>", "<a>2</a>"]),
            ("<a>1</a><a>2", &["<a>1</a>"]),
            ("a < b", &[]),
        ] {
            let found: Vec<_> = Elements::new(xml, "a").map(|element| &xml[element.place]).collect();
            assert_eq!(found, expected, "{xml}");
        }
        assert_eq!(text("<R><a>x&quot;&#65;</a><a>2</a></R>", "a").as_deref(), Some("x\"A"));
        assert_eq!(text("<R><a>&none;</a></R>", "a").as_deref(), Some("&none;"));
        assert_eq!(unescaped("x&quot;&apos;&#65;&lt;&gt;&amp;amp;&#x1;").as_deref(), Some("x\"'A<>&amp;\u{1}"));
        assert_eq!(unescaped("&#0;"), None);
    }
}
