//! Sealed bytes as text: PEM around them, written and read in constant memory.

use deadpan_base64::STANDARD;
use deadpan_base64::stream::io::{DecodeReader, EncodeWriter};
use std::io::{self, BufRead, BufReader, Read, Write};

const BEGIN: &str = "-----BEGIN DEADPAN SEALED FILE-----";
const END: &str = "-----END DEADPAN SEALED FILE-----";
const COLUMNS: usize = 64;
/// Longer lines are read as well, but a line that never ends is not waited for.
const LONGEST_LINE: usize = 8192;

/// The armor is not whole.
#[derive(Debug)]
pub struct Damaged(&'static str);

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Damaged {}

fn damaged(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Damaged(why))
}

/// Whether this is how armor begins.
pub fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(BEGIN.as_bytes())
}

/// Bytes that [`begins`] has to see.
pub const BEGINNING: usize = BEGIN.len();

/// Writes armor. Without [`Armor::finish`] the end is missing.
pub struct Armor<W: Write>(EncodeWriter<Lines<W>>);

impl<W: Write> Armor<W> {
    pub fn new(mut output: W) -> io::Result<Self> {
        writeln!(output, "{BEGIN}")?;
        Ok(Self(EncodeWriter::new(STANDARD, Lines { output, column: 0, text: Vec::new() })))
    }

    pub fn finish(self) -> io::Result<()> {
        let mut lines = self.0.finish()?;
        if lines.column > 0 {
            writeln!(lines.output)?;
        }
        writeln!(lines.output, "{END}")?;
        lines.output.flush()
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

/// Breaks text into lines.
struct Lines<W> {
    output: W,
    column: usize,
    text: Vec<u8>,
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, symbols: &[u8]) -> io::Result<usize> {
        self.text.clear();
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
        self.output.write_all(&self.text)?;
        Ok(symbols.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Reads armor.
pub struct Unarmored<R>(DecodeReader<Body<R>>);

impl<R: Read> Unarmored<R> {
    pub fn new(input: R) -> Self {
        let input = BufReader::with_capacity(1 << 16, input);
        Self(DecodeReader::new(STANDARD, Body { input, line: Vec::new(), given: 0, state: State::Begin }))
    }
}

impl<R: Read> Read for Unarmored<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        // The decoder's own verdict names no reason, and needs none: the body is not base64.
        self.0.read(target).map_err(|error| match error.get_ref() {
            Some(inner) if inner.is::<deadpan_base64::Error>() => {
                damaged("the armor is damaged: it is not base64\nhint: get another copy of the file")
            }
            _ => error,
        })
    }
}

#[derive(PartialEq, Eq)]
enum State {
    Begin,
    Body,
    Ended,
}

/// The symbols between the first and the last line.
struct Body<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    given: usize,
    state: State,
}

impl<R: Read> Body<R> {
    /// Reads a line without its end; false at the end of the input.
    fn next(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.given = 0;
        let read = self.input.by_ref().take(LONGEST_LINE as u64 + 2).read_until(b'\n', &mut self.line)?;
        let length = self.line.trim_ascii_end().len();
        self.line.truncate(length);
        if length > LONGEST_LINE {
            return Err(damaged("the armor is damaged: a line does not end\nhint: get another copy of the file"));
        }
        Ok(read > 0)
    }

    fn end(&mut self) -> io::Result<()> {
        while self.next()? {
            if !self.line.is_empty() {
                return Err(damaged("something stands after the end of the armor\nhint: two files were joined, or the file was changed"));
            }
        }
        self.state = State::Ended;
        Ok(())
    }
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        while self.given == self.line.len() && self.state != State::Ended {
            if !self.next()? {
                return Err(damaged("the armor ends too early\nhint: the file was cut short; get a whole copy"));
            }
            match self.state {
                State::Begin if self.line == BEGIN.as_bytes() => (self.state, self.given) = (State::Body, self.line.len()),
                State::Begin => return Err(damaged("the first line of the armor is damaged\nhint: get another copy of the file")),
                _ if self.line == END.as_bytes() => {
                    self.end()?;
                    self.line.clear();
                    self.given = 0;
                }
                _ => {}
            }
        }
        let count = target.len().min(self.line.len() - self.given);
        target[..count].copy_from_slice(&self.line[self.given..][..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armored(bytes: &[u8], step: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut armor = Armor::new(&mut text).unwrap();
        bytes.chunks(step).for_each(|chunk| armor.write_all(chunk).unwrap());
        armor.finish().unwrap();
        text
    }

    #[test]
    fn is_what_pem_writes_and_reads_back() {
        for length in [0, 1, 47, 48, 49, 3071, 3072, 3073, 10_000] {
            let bytes: Vec<u8> = (0..length).map(|index| (index * 7) as u8).collect();
            let expected = deadpan_base64::pem::encode("DEADPAN SEALED FILE", &bytes).unwrap();
            for step in [1, 48, 5000] {
                let text = armored(&bytes, step);
                assert_eq!(text, expected.as_bytes(), "{length} {step}");
                let mut back = Vec::new();
                Unarmored::new(text.as_slice()).read_to_end(&mut back).unwrap();
                assert_eq!(back, bytes);
            }
        }
    }

    #[test]
    fn any_cut_and_any_addition_is_refused() {
        let text = armored(&[7; 100], 100);
        for cut in 0..text.len() - 1 {
            assert!(Unarmored::new(&text[..cut]).read_to_end(&mut Vec::new()).is_err(), "{cut}");
        }
        let longer = [&text[..], b"x"].concat();
        assert!(Unarmored::new(longer.as_slice()).read_to_end(&mut Vec::new()).is_err());
        let dos = String::from_utf8(text).unwrap().replace('\n', "\r\n") + "\r\n \n";
        Unarmored::new(dos.as_bytes()).read_to_end(&mut Vec::new()).unwrap();
    }
}
