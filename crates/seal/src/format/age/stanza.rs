//! Stanzas. A stanza is a line of arguments and a body in base64. age's headers consist of stanzas, and messages to and
//! from plugins are stanzas, too.

use std::io::BufRead;

use crate::Error;
use deadpan_base64::STANDARD_NO_PAD;

/// The number of symbols in a full line of a body, and the number of bytes that these symbols encode.
const COLUMNS: usize = 64;
const LINE_BYTES: usize = COLUMNS / 4 * 3;
/// The length of the longest stanza that is read, in bytes of text. The maximum length of a header has the same value.
const LONGEST: u64 = 1 << 20;
/// The beginning of a stanza.
const ARROW: &[u8] = b"-> ";

/// A stanza: the data for one recipient of an age file, or one message of the plugins' protocol.
///
/// Each stanza has one encoding: the arguments are printable ASCII with one space between two arguments. The body is
/// canonical base64 without padding, in lines of 64 columns. The last line of the body is shorter than 64 columns, and
/// may be empty.
///
/// ```
/// use deadpan_seal::age::AgeStanza;
///
/// let stanza = AgeStanza { tag: "example".into(), args: vec!["1".into()], body: b"straight face".to_vec() };
/// let text = stanza.encode()?;
/// assert_eq!(text, b"-> example 1\nc3RyYWlnaHQgZmFjZQ\n");
/// assert_eq!(AgeStanza::read(&text[..])?, Some(stanza));
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgeStanza {
    /// The first argument, which is the type of the stanza.
    pub tag: String,
    /// The other arguments.
    pub args: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl AgeStanza {
    /// Returns the text of the stanza.
    ///
    /// # Errors
    /// If an argument is empty or has other characters than printable ASCII.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        self.encode_onto(&mut text)?;
        Ok(text)
    }

    /// Appends the text of the stanza to `text`.
    ///
    /// # Errors
    /// If an argument is empty or has other characters than printable ASCII. After an error, `text` is unchanged.
    pub fn encode_onto(&self, text: &mut Vec<u8>) -> Result<(), Error> {
        if !self.arguments().all(|argument| is_argument(argument.as_bytes())) {
            return Err(Error::Invalid("an argument of a stanza that is not printable ASCII"));
        }
        text.extend_from_slice(b"->");
        for argument in self.arguments() {
            text.push(b' ');
            text.extend_from_slice(argument.as_bytes());
        }
        text.push(b'\n');
        let mut lines = self.body.chunks_exact(LINE_BYTES);
        for line in lines.by_ref() {
            STANDARD_NO_PAD.encode_onto(line, text);
            text.push(b'\n');
        }
        STANDARD_NO_PAD.encode_onto(lines.remainder(), text);
        text.push(b'\n');
        Ok(())
    }

    /// Reads the next stanza, and no byte after the stanza. Returns `None` if the input ends before the stanza.
    ///
    /// # Errors
    /// If the input cannot be read, ends within the stanza, or has a stanza that is not in the only valid encoding;
    /// [`Error::Limit`] if the stanza is longer than a mebibyte.
    pub fn read(input: impl BufRead) -> Result<Option<Self>, Error> {
        let mut input = input.take(LONGEST);
        let Some(line) = line(&mut input)? else { return Ok(None) };
        let arguments = line.strip_prefix(ARROW).ok_or(Error::Header("the beginning of a stanza"))?;
        let mut arguments = arguments.split(|byte| *byte == b' ').map(argument);
        let tag = arguments.next().unwrap_or(Err(ARGUMENT))?;
        let args = arguments.collect::<Result<_, _>>()?;
        let mut body = Vec::new();
        while let Some(line) = self::line(&mut input)? {
            if line.len() > COLUMNS {
                return Err(Error::Header("a line of more than 64 columns in a stanza"));
            }
            let bytes = STANDARD_NO_PAD.decode(&line).map_err(|_| Error::Header("the base64 in a stanza"))?;
            body.extend_from_slice(&bytes);
            if line.len() < COLUMNS {
                return Ok(Some(Self { tag, args, body }));
            }
        }
        Err(Error::Truncated)
    }

    fn arguments(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.tag).chain(&self.args).map(String::as_str)
    }
}

const ARGUMENT: Error = Error::Header("an argument of a stanza");

fn argument(bytes: &[u8]) -> Result<String, Error> {
    if !is_argument(bytes) {
        return Err(ARGUMENT);
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| ARGUMENT)
}

/// Returns whether these bytes can be an argument: they must be printable ASCII without spaces, and not empty.
fn is_argument(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}

/// Reads a line, and returns the line without its line feed. Returns `None` at the end of the input.
fn line<R: BufRead>(input: &mut std::io::Take<R>) -> Result<Option<Vec<u8>>, Error> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).map_err(Error::Read)?;
    match line.pop() {
        Some(b'\n') => Ok(Some(line)),
        _ if input.limit() == 0 => Err(Error::Limit("a stanza of more than one megabyte")),
        Some(_) => Err(Error::Truncated),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn stanza(tag: &str, args: &[&str], body: &[u8]) -> AgeStanza {
        AgeStanza { tag: tag.into(), args: args.iter().map(|&argument| argument.into()).collect(), body: body.to_vec() }
    }

    fn read(text: &str) -> Result<Option<AgeStanza>, Error> {
        AgeStanza::read(text.as_bytes())
    }

    #[test]
    fn every_length_comes_back_in_lines_of_64_columns() {
        for length in [0, 1, 2, 3, 47, 48, 49, 95, 96, 97, 1000] {
            let stanza = stanza("tag", &["a", "!~"], &vec![0xfb; length]);
            let text = stanza.encode().expect("printable");
            let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            let [first, full @ .., last, end] = &lines[..] else { panic!("{length}: too few lines") };
            assert_eq!(*first, b"-> tag a !~");
            assert!(full.iter().all(|line| line.len() == 64) && last.len() < 64 && end.is_empty(), "{length}");
            assert_eq!(full.len(), length / 48, "{length}");
            assert_eq!(AgeStanza::read(&text[..]).expect("a stanza"), Some(stanza), "{length}");
        }
    }

    #[test]
    fn the_bytes_after_a_stanza_stay_in_the_input() {
        let mut input = &b"-> a\n\n-> b c\nAAAA\nrest"[..];
        assert_eq!(AgeStanza::read(&mut input).expect("a stanza"), Some(stanza("a", &[], b"")));
        assert_eq!(AgeStanza::read(&mut input).expect("a stanza"), Some(stanza("b", &["c"], &[0; 3])));
        assert_eq!(input, b"rest");
        assert_eq!(read("").expect("the end"), None);
    }

    #[test]
    fn other_forms_are_refused() {
        let full = "A".repeat(64);
        let forms = [
            "- > a\n\n",
            "->a\n\n",
            "-> \n\n",
            "->\n\n",
            "-> a \n\n",
            "->  a\n\n",
            "-> a  b\n\n",
            " -> a\n\n",
            "-> a\tb\n\n",
            "-> \u{e4}\n\n",
            "-> a\r\n\r\n",
            "-> a\n\r\n",
            "-> a\nA\n",
            "-> a\nAB\n",
            "-> a\nAA==\n",
            "-> a\nAA A\n",
            "-> a\nAA-_\n",
            &format!("-> a\n{full}A\n\n"),
            &format!("-> a\n{full}\n-> b\n\n"),
        ];
        for text in forms {
            assert!(matches!(read(text), Err(Error::Header(_))), "{text:?}: {:?}", read(text));
        }
        for text in ["-", "-> a", "-> a\n", "-> a\nAAAA", &format!("-> a\n{full}\n")] {
            assert!(matches!(read(text), Err(Error::Truncated)), "{text:?}: {:?}", read(text));
        }
    }

    #[test]
    fn arguments_that_would_read_differently_are_not_written() {
        for (tag, args) in [("", &[][..]), ("a b", &[]), ("a\n", &[]), ("a", &[""]), ("a", &["\u{e4}"]), ("a", &["\t"])]
        {
            let mut text = b"before".to_vec();
            let result = stanza(tag, args, b"").encode_onto(&mut text);
            assert!(matches!(result, Err(Error::Invalid(_))) && text == b"before", "{tag:?} {args:?}");
        }
    }

    #[test]
    fn a_stanza_without_an_end_is_limited() {
        let endless = std::io::BufReader::new(b"-> a ".chain(std::io::repeat(b'b')));
        assert!(matches!(AgeStanza::read(endless), Err(Error::Limit(_))));
    }
}
