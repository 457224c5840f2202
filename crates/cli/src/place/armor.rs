//! Armor: sealed bytes as a text in PEM. Writing and reading armor takes constant memory. docs/format-seal.md defines
//! the format.

mod placed;

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::place::page;
use crate::tell::failure::{Exit, Failure};
use deadpan_base64::STANDARD;
use deadpan_base64::stream::io::{DecodeReader, EncodeWriter};
pub use placed::ArmorAt;

pub const BEGIN: &[u8] = b"-----BEGIN DEADPAN SEALED FILE-----";
const END: &[u8] = b"-----END DEADPAN SEALED FILE-----";
const COLUMNS: usize = 64;
/// The number of bytes of text that are written at once.
const PIECE: usize = 1 << 18;
/// The maximum length of the first line and of the last line, without the white space at their ends.
const LONGEST_MARKER: usize = 256;
/// The byte order mark, which some editors put at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const ANOTHER_COPY: &str = "get another copy of the file";

/// The error for armor that is not complete.
pub fn damaged(why: impl Into<String>, hint: &str) -> io::Error {
    Failure::new(Exit::Data, why, hint).into_io()
}

/// The number of bytes at the start of a file that [`find`] needs.
pub const BEGINNING: usize = 4096;

/// The place where armor begins.
#[derive(Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The offset of the line.
    offset: usize,
    /// The number of the line, from 1.
    line: usize,
    /// The text before the line.
    behind: Behind,
}

/// The text before the armor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    Nothing,
    Page,
    /// Any other text.
    Text,
}

impl Beginning {
    /// Returns the place of armor that a page precedes.
    pub fn behind_page(offset: usize, line: usize) -> Self {
        Self { offset, line, behind: Behind::Page }
    }

    pub fn offset(&self) -> usize {
        self.offset
    }

    pub fn is_behind_page(&self) -> bool {
        self.behind == Behind::Page
    }
}

/// Finds the first line of the armor.
pub fn find(start: &[u8]) -> Option<Beginning> {
    let mut behind = Behind::Nothing;
    for (number, (offset, line)) in (1..).zip(lines(start)) {
        if line.starts_with(BEGIN) {
            return Some(Beginning { offset, line: number, behind });
        }
        if !line.is_empty() {
            behind = Behind::Text;
        }
    }
    None
}

/// Skips a byte order mark, empty lines and quoting at the start of a text, so that the first bytes show the kind of
/// the text. If no PEM block follows, returns the bytes without a change.
pub fn without_front(start: &[u8]) -> &[u8] {
    let text = lines(start).find(|(_, line)| !line.is_empty()).map_or(start, |(offset, _)| &start[offset..]);
    if text.starts_with(b"-----BEGIN ") { text } else { start }
}

/// Returns the lines of a text with their offsets. The lines do not include quoting and white space around them.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    raw_lines(text).map(|(offset, line)| {
        let quoting = line.iter().take_while(|byte| is_quoting(byte)).count();
        (offset + quoting, trimmed(&line[quoting..]))
    })
}

/// Returns the lines of a text with their offsets. The lines do not include their line ends.
pub fn raw_lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    std::iter::from_fn(move || {
        let rest = text.get(next..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(is_line_end).unwrap_or(rest.len());
        let line = (next, &rest[..length]);
        next += length + if rest[length..].starts_with(b"\r\n") { 2 } else { 1 };
        Some(line)
    })
}

/// Returns a line without the white space at its end.
fn trimmed(line: &[u8]) -> &[u8] {
    &line[..line.iter().rposition(|byte| !is_space(byte)).map_or(0, |last| last + 1)]
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Whether a byte is white space within a line.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// Whether a byte may precede a line: white space, or `>`, which mail programs use to quote a text. `>` is not a symbol
/// of base64.
fn is_quoting(byte: &u8) -> bool {
    is_space(byte) || *byte == b'>'
}

const fn is_symbol(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// For each byte, whether it is a symbol.
const SYMBOLS: [bool; 256] = {
    let mut symbols = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        symbols[byte] = is_symbol(&(byte as u8));
        byte += 1;
    }
    symbols
};

/// Whether these bytes are symbols. Looks at each byte, because a loop with one end is faster.
fn are_symbols(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |all, byte| all & SYMBOLS[usize::from(*byte)])
}

/// Writes armor. The armor is complete only after [`Armor::finish`].
pub struct Armor<W: Write>(EncodeWriter<Lines<W>>);

impl<W: Write> Armor<W> {
    pub fn new(output: W) -> Self {
        let mut text = Vec::with_capacity(PIECE + PIECE / 16);
        text.extend_from_slice(BEGIN);
        text.push(b'\n');
        Self(EncodeWriter::new(Lines { output, column: 0, text }, STANDARD))
    }

    pub fn finish(self) -> io::Result<()> {
        let mut lines = self.0.finish()?;
        if lines.column > 0 {
            lines.text.push(b'\n');
        }
        lines.text.extend_from_slice(END);
        lines.text.push(b'\n');
        lines.flush()
    }
}

impl<W: Write> Write for Armor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Breaks text into lines, and writes them in long pieces.
struct Lines<W> {
    output: W,
    column: usize,
    text: Vec<u8>,
}

impl<W: Write> Lines<W> {
    fn put(&mut self) -> io::Result<()> {
        let written = self.output.write_all(&self.text);
        self.text.clear();
        written
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, symbols: &[u8]) -> io::Result<usize> {
        let mut rest = symbols;
        while !rest.is_empty() {
            let (line, more) = rest.split_at(rest.len().min(COLUMNS - self.column));
            self.text.extend_from_slice(line);
            self.column += line.len();
            if self.column == COLUMNS {
                self.text.push(b'\n');
                self.column = 0;
            }
            rest = more;
        }
        if self.text.len() >= PIECE {
            self.put()?;
        }
        Ok(symbols.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put()?;
        self.output.flush()
    }
}

/// Reads armor.
pub struct Unarmored<R>(DecodeReader<Body<R>>);

impl<R: Read> Unarmored<R> {
    /// Reads the armor that begins in `input`, where [`find`] found it.
    ///
    /// # Errors
    /// Fails if text stands before the armor: that text is not sealed, but a reader might believe that it is authentic.
    pub fn new(mut input: R, beginning: &Beginning) -> io::Result<Self> {
        let Beginning { offset, line, behind } = *beginning;
        if behind == Behind::Text {
            return Err(damaged(
                format!("the armor begins in line {line}, and other text stands before it"),
                "that text is not sealed; remove it, for example with: sed -n '/BEGIN DEADPAN/,/END DEADPAN/p' FILE",
            ));
        }
        io::copy(&mut input.by_ref().take(offset as u64), &mut io::sink())?;
        let input = BufReader::with_capacity(1 << 16, input);
        let in_page = behind == Behind::Page;
        let body = Body { input, line, after_return: false, state: ArmorState::Begin, in_page };
        Ok(Self(DecodeReader::new(body, STANDARD)))
    }
}

impl<R: Read> Read for Unarmored<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        // The decoder's own error gives no reason, so the message only states that the body is not base64.
        self.0.read(target).map_err(|error| match error.get_ref() {
            Some(inner) if inner.is::<deadpan_base64::Error>() => {
                damaged("the armor is damaged: it is not base64", ANOTHER_COPY)
            }
            _ => error,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArmorState {
    Begin,
    LineStart,
    InLine,
    Ended,
}

/// Reads the base64 symbols between the first and the last line. The lines may have any length.
struct Body<R> {
    input: BufReader<R>,
    /// The number of the line, from 1.
    line: usize,
    /// Whether the last byte was a carriage return. A line feed after a carriage return does not begin another line.
    after_return: bool,
    state: ArmorState,
    /// Whether the line that ends the element of a page may follow the armor.
    in_page: bool,
}

impl<R: Read> Body<R> {
    /// Fills an empty buffer, so that it stays empty only at the end of the input.
    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map(|_| ()),
            }
        }
    }

    /// Skips the line end at the front of the buffer.
    fn end_line(&mut self, end: u8) {
        self.line += usize::from(end == b'\r' || !self.after_return);
        self.after_return = end == b'\r';
        self.input.consume(1);
    }

    /// Reads the rest of a line, but leaves the line end in the buffer. The function reads only the first line and the
    /// last line, which are short, but any white space may follow them. If a line is too long, reads only its
    /// beginning.
    fn marker(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            self.fill()?;
            let buffer = self.input.buffer();
            let length = buffer.iter().position(is_line_end).unwrap_or(buffer.len());
            line.extend_from_slice(&buffer[..length]);
            self.input.consume(length);
            let text = trimmed(&line).len();
            if length == 0 || text > LONGEST_MARKER {
                line.truncate(text);
                return Ok(line);
            }
            // No marker contains so much white space, so the rest of the white space may be dropped.
            line.truncate(text + LONGEST_MARKER);
        }
    }

    /// Reads the last line, and makes sure that no text follows this line.
    fn end(&mut self) -> io::Result<()> {
        if self.marker()? != END {
            return Err(self.bad_line("it is neither base64 nor the end of the armor"));
        }
        loop {
            self.fill()?;
            let buffer = self.input.buffer();
            let Some(&byte) = buffer.first() else { return Ok(()) };
            if is_line_end(&byte) {
                self.end_line(byte);
            } else if is_quoting(&byte) {
                self.input.consume(1);
                self.after_return = false;
            } else if self.in_page && self.marker()? == page::ELEMENT_END {
                self.in_page = false;
                self.after_return = false;
            } else {
                let message = format!("something stands after the end of the armor, in line {}", self.line);
                return Err(damaged(message, "two files were joined, or the file was changed"));
            }
        }
    }

    /// Copies the lines at the front of the buffer that have the length of a writer's lines. Returns the number of
    /// symbols.
    fn whole_lines(&mut self, target: &mut [u8]) -> usize {
        let lines = self.input.buffer().chunks_exact(COLUMNS + 1).zip(target.chunks_exact_mut(COLUMNS));
        let is_whole = |line: &[u8]| line[COLUMNS] == b'\n' && are_symbols(&line[..COLUMNS]);
        let mut count = 0;
        for (line, target) in lines.take_while(|(line, _)| is_whole(line)) {
            target.copy_from_slice(&line[..COLUMNS]);
            count += 1;
        }
        if count > 0 {
            self.input.consume(count * (COLUMNS + 1));
            self.line += count;
            self.after_return = false;
        }
        count * COLUMNS
    }

    fn bad_line(&self, why: &str) -> io::Error {
        damaged(format!("the armor is damaged in line {}: {why}", self.line), ANOTHER_COPY)
    }
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() {
            return Ok(0);
        }
        loop {
            if self.state == ArmorState::Begin {
                if self.marker()? != BEGIN {
                    return Err(self.bad_line("it holds more than the marker -----BEGIN DEADPAN SEALED FILE-----"));
                }
                self.state = ArmorState::InLine;
            }
            if self.state == ArmorState::Ended {
                return Ok(0);
            }
            let state = self.state;
            self.fill()?;
            let copied = if state == ArmorState::LineStart { self.whole_lines(target) } else { 0 };
            if copied > 0 {
                return Ok(copied);
            }
            let buffer = self.input.buffer();
            let Some(&first) = buffer.first() else {
                return Err(damaged("the armor ends too early", "the file was cut short; get a whole copy"));
            };
            if is_line_end(&first) {
                self.end_line(first);
                self.state = ArmorState::LineStart;
                continue;
            }
            if state == ArmorState::LineStart && first == b'-' {
                self.end()?;
                self.state = ArmorState::Ended;
                continue;
            }
            let passed_over = is_space(&first) || state == ArmorState::LineStart && is_quoting(&first);
            let length = buffer.iter().take(target.len()).take_while(|byte| is_symbol(byte)).count();
            target[..length].copy_from_slice(&buffer[..length]);
            self.after_return = false;
            if length > 0 {
                self.input.consume(length);
                self.state = ArmorState::InLine;
                return Ok(length);
            }
            if !passed_over {
                let is_header = self.marker()?.contains(&b':');
                let why = if is_header { "it is a header, and a sealed file has none" } else { "it is not base64" };
                return Err(self.bad_line(why));
            }
            self.input.consume(1);
        }
    }
}

#[cfg(test)]
mod tests;
