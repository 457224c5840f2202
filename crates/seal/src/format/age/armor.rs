//! age's armor, which represents files as text in strict PEM.
//!
//! Only one form is valid. Between the markers are only lines of canonical base64. Each line has 64 symbols, but the
//! last line may be shorter. White space may stand before and after the armor. Lines end in `\n` or `\r\n`.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! use deadpan_seal::age::armor;
//!
//! let mut writer = armor::ArmorWriter::new(Vec::new());
//! writer.write_all(b"straight face")?;
//! let text = writer.finish()?;
//! assert!(text.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n"));
//!
//! let mut bytes = Vec::new();
//! armor::ArmorReader::new(&text[..]).read_to_end(&mut bytes)?;
//! assert_eq!(bytes, b"straight face");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use crate::Error;
use deadpan_base64::STANDARD;

/// The first line of the armor.
pub const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";
const COLUMNS: usize = 64;
const LINE_BYTES: usize = COLUMNS / 4 * 3;
/// The maximum number of bytes of white space before or after the armor. The reader refuses more white space.
/// Otherwise, endless white space would keep the reader busy forever.
const MOST_SPACE: usize = 1024;
/// The maximum number of bytes that the reader reads from one line. This maximum is enough for a marker or a full line,
/// with its line end.
const LONGEST: u64 = 80;

/// A writer of armor. Without a call of [`ArmorWriter::finish`], the end of the armor is missing.
pub struct ArmorWriter<W> {
    output: W,
    line: Vec<u8>,
    text: Vec<u8>,
    begun: bool,
}

impl<W> fmt::Debug for ArmorWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArmorWriter(..)")
    }
}

impl<W: Write> ArmorWriter<W> {
    /// Writes armor to `output`.
    pub fn new(output: W) -> Self {
        Self { output, line: Vec::with_capacity(LINE_BYTES), text: Vec::new(), begun: false }
    }

    /// Writes the last line, and returns the inner writer.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.begin();
        if !self.line.is_empty() {
            put_line(&self.line, &mut self.text);
        }
        self.text.extend_from_slice(END.as_bytes());
        self.text.push(b'\n');
        self.output.write_all(&self.text)?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.text.extend_from_slice(BEGIN.as_bytes());
            self.text.push(b'\n');
        }
    }
}

fn put_line(bytes: &[u8], text: &mut Vec<u8>) {
    STANDARD.encode_onto(bytes, text);
    text.push(b'\n');
}

impl<W: Write> Write for ArmorWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin();
        let mut rest = bytes;
        if !self.line.is_empty() {
            let (first, more) = rest.split_at(rest.len().min(LINE_BYTES - self.line.len()));
            self.line.extend_from_slice(first);
            rest = more;
            if self.line.len() == LINE_BYTES {
                put_line(&self.line, &mut self.text);
                self.line.clear();
            }
        }
        let mut lines = rest.chunks_exact(LINE_BYTES);
        lines.by_ref().for_each(|line| put_line(line, &mut self.text));
        self.line.extend_from_slice(lines.remainder());
        self.output.write_all(&self.text)?;
        self.text.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArmorState {
    Before,
    Inside,
    /// The reader has read the last line of symbols, so the end marker must follow.
    Short,
    Ended,
    Failed,
}

/// A reader of armor. The reader reads to the end of the armor, and then to the end of the input. If the armor is not
/// valid, the reader's error contains an [`Error::Armor`].
pub struct ArmorReader<R> {
    input: BufReader<R>,
    state: ArmorState,
    line: Vec<u8>,
    bytes: [u8; LINE_BYTES],
    taken: usize,
    length: usize,
    /// The error that `read` returns after it has returned all bytes before the fault.
    failure: Option<io::Error>,
}

impl<R> fmt::Debug for ArmorReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArmorReader(..)")
    }
}

fn damaged(what: &'static str) -> io::Error {
    Error::Armor(what).into_io()
}

impl<R: Read> ArmorReader<R> {
    /// Reads the armor in `input`.
    pub fn new(input: R) -> Self {
        let input = BufReader::with_capacity(1 << 16, input);
        Self {
            input,
            state: ArmorState::Before,
            line: Vec::new(),
            bytes: [0; LINE_BYTES],
            taken: 0,
            length: 0,
            failure: None,
        }
    }

    /// Reads a line and removes the line end. Returns whether there was a line. If a line is too long, reads only the
    /// beginning of the line.
    fn next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.line)?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        }
        Ok(read > 0)
    }

    fn skip_space(&mut self) -> io::Result<()> {
        let mut skipped = 0;
        loop {
            let buffer = self.input.fill_buf()?;
            let space = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let ends = space < buffer.len() || buffer.is_empty();
            self.input.consume(space);
            skipped += space;
            if skipped > MOST_SPACE {
                return Err(damaged("too much white space stands around it"));
            }
            if ends {
                return Ok(());
            }
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        let (mut skipped, mut inside) = (0, false);
        loop {
            if !self.next_line()? {
                return Err(damaged("it has no first line"));
            }
            // Only whole lines of white space may stand before the begin marker.
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
            // If the line has the length `LONGEST`, the reader has read only the beginning of the line.
            inside = self.line.len() as u64 == LONGEST;
            skipped += self.line.len() + 1;
            if skipped > MOST_SPACE {
                return Err(damaged("too much white space stands around it"));
            }
        }
        if self.line == BEGIN.as_bytes() && !inside { Ok(()) } else { Err(damaged("its first line")) }
    }

    fn end(&mut self) -> io::Result<()> {
        self.skip_space()?;
        if self.input.fill_buf()?.is_empty() { Ok(()) } else { Err(damaged("something stands after it")) }
    }

    /// Reads the next line of symbols, or the end of the armor.
    fn advance(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.state, ArmorState::Failed) {
            ArmorState::Failed => return Err(damaged("an earlier part of it")),
            ArmorState::Ended => {
                self.state = ArmorState::Ended;
                return Ok(());
            }
            ArmorState::Before => {
                self.begin()?;
                self.state = ArmorState::Inside;
            }
            ArmorState::Inside | ArmorState::Short if !self.next_line()? => return Err(damaged("it ends too early")),
            ArmorState::Inside | ArmorState::Short if self.line == END.as_bytes() => {
                self.end()?;
                self.state = ArmorState::Ended;
            }
            ArmorState::Short => return Err(damaged("a line that is too short")),
            ArmorState::Inside => {
                if self.line.is_empty() || self.line.len() > COLUMNS {
                    return Err(damaged("a line that is empty or too long"));
                }
                let bytes = STANDARD.decode_into(&self.line, &mut self.bytes);
                (self.taken, self.length) = (0, bytes.map_err(|_| damaged("it is not base64"))?.len());
                self.state = if self.length < LINE_BYTES { ArmorState::Short } else { ArmorState::Inside };
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for ArmorReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let mut done = 0;
        while done < buffer.len() {
            if self.taken == self.length {
                if done > 0 && self.input.buffer().is_empty() || self.state == ArmorState::Ended {
                    break;
                }
                match self.advance() {
                    Ok(()) => continue,
                    Err(error) if done == 0 => return Err(error),
                    // The reader first returns the bytes before the fault, and then the error.
                    Err(error) => {
                        self.failure = Some(error);
                        break;
                    }
                }
            }
            let taken = (buffer.len() - done).min(self.length - self.taken);
            buffer[done..done + taken].copy_from_slice(&self.bytes[self.taken..self.taken + taken]);
            self.taken += taken;
            done += taken;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armored(bytes: &[u8], step: usize) -> Vec<u8> {
        let mut writer = ArmorWriter::new(Vec::new());
        bytes.chunks(step).for_each(|piece| writer.write_all(piece).expect("written"));
        writer.finish().expect("finished")
    }

    #[test]
    fn every_length_comes_back_however_it_is_cut() {
        for length in [0, 1, 2, 3, 47, 48, 49, 95, 96, 97, 1000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
            let text = armored(&bytes, 1000);
            assert!(text.split(|byte| *byte == b'\n').all(|line| line.len() <= 64), "{length}");
            for step in [1, 47, 48, 49, 100] {
                assert_eq!(armored(&bytes, step), text, "{length} in steps of {step}");
                let mut reader = ArmorReader::new(&text[..]);
                let (mut back, mut piece) = (Vec::new(), vec![0; step]);
                loop {
                    let read = reader.read(&mut piece).expect("read");
                    if read == 0 {
                        break;
                    }
                    back.extend_from_slice(&piece[..read]);
                }
                assert_eq!(back, bytes, "{length} in steps of {step}");
            }
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let text = String::from_utf8(armored(&[7; 100], 100)).expect("text");
        let read = |text: &str| {
            let mut bytes = Vec::new();
            ArmorReader::new(text.as_bytes()).read_to_end(&mut bytes).map(|_| bytes)
        };
        let crlf = text.replace('\n', "\r\n");
        let wide = format!("{}\n{text}", " ".repeat(3 * LONGEST as usize / 2));
        for good in [&text, &crlf, text.trim_end(), &format!("\n \t\r\n{text}\n \n"), &wide] {
            assert_eq!(read(good).expect("valid"), [7; 100], "{good:?}");
        }
        let forms = [
            "",
            "text\n",
            BEGIN,
            &format!("{BEGIN}\n"),
            &format!("text\n{text}"),
            &format!(" {text}"),
            &format!("{}{text}", " ".repeat(LONGEST as usize)),
            &format!("\n{}{text}", " ".repeat(2 * LONGEST as usize)),
            &format!("{text}text"),
            &format!("{text}{text}"),
            &format!("{}{text}", "\n".repeat(MOST_SPACE + 1)),
            &format!("{text}{}", "\n".repeat(MOST_SPACE + 1)),
            &text.replace("BEGIN AGE", "BEGIN RAGE"),
            &text.replace("-----END", "\n-----END"),
            &text.replace("Bw", "B w"),
            &text.replacen("\nB", "\nVersion: 1\n\nB", 1),
            &text.replacen("Bw==", "Bx==", 1),
            &text.replacen("BwcHBwcH\n", "\nBwcHBwcH\n", 1),
            &text.replacen("-----END", "=abcd\n-----END", 1),
            &text.replace("\n-----END AGE ENCRYPTED FILE-----", ""),
        ];
        for form in forms {
            assert!(read(form).is_err(), "{form:?}");
        }
    }
}
