//! A conversation with a plugin. The two sides exchange stanzas. The number and the size of the plugin's stanzas are
//! limited, and so is the time to wait for them.

use std::time::{Duration, Instant};

use super::dialog::{Answer, Question};
use super::error::{About, Reason};
use super::frames::{self, Frames};
use super::{Client, text};
use crate::format::age::AgeStanza;
use crate::key::plugin::PluginName;
use deadpan_base64::STANDARD_NO_PAD;

/// The maximum number of stanzas that a plugin may send, in addition to one stanza for each expected key.
const MOST: usize = 256;
/// After a message to the user, the plugin may be silent for the usual time multiplied by this factor.
const AFTER_MESSAGE: u32 = 5;
/// The time of silence after which the client reports to the user that the plugin may be waiting.
const NOTICE: Duration = Duration::from_secs(5);

/// The two directions of the connection to a plugin.
pub trait Pipe {
    /// Sends all bytes within the time `limit`.
    ///
    /// # Errors
    /// [`Reason::Silent`] if the plugin does not read; [`Reason::Ended`] if the plugin has ended; [`Reason::Pipe`].
    fn send(&mut self, bytes: &[u8], limit: Duration) -> Result<(), Reason>;

    /// Receives some bytes. Waits at most `limit` for the first byte. Returns 0 at the end.
    ///
    /// # Errors
    /// [`Reason::Silent`] if the plugin sends nothing; [`Reason::Pipe`].
    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> Result<usize, Reason>;
}

/// A conversation with one plugin.
pub(super) struct Talk<'a> {
    pipe: &'a mut dyn Pipe,
    program: String,
    client: &'a Client,
    frames: Frames,
    /// The number of stanzas that the plugin may still send.
    left: usize,
    /// The time to wait for the next stanza.
    limit: Duration,
    /// The first question that nobody answered.
    unanswered: Option<String>,
    /// The first error that the plugin reported.
    refused: Option<Reason>,
}

impl<'a> Talk<'a> {
    pub(super) fn new(pipe: &'a mut dyn Pipe, name: &PluginName, client: &'a Client) -> Self {
        Self {
            pipe,
            program: name.program(),
            client,
            frames: Frames::new(),
            left: MOST,
            limit: client.silence,
            unanswered: None,
            refused: None,
        }
    }

    /// Allows the plugin to send `more` additional stanzas.
    pub(super) fn expect(&mut self, more: usize) {
        self.left += more;
    }

    /// Sends a command or an answer.
    pub(super) fn tell(&mut self, words: &[&[u8]], body: &[u8]) -> Result<(), Reason> {
        self.pipe.send(&frames::stanza(words, body), self.client.silence)
    }

    pub(super) fn ok(&mut self) -> Result<(), Reason> {
        self.tell(&[b"ok"], b"")
    }

    /// Sends a command with a random name. Plugins must ignore unknown commands, and this command tests whether they
    /// do.
    pub(super) fn grease(&mut self) -> Result<(), Reason> {
        let random = crate::Secret::random(8).map_err(|error| Reason::Pipe(std::io::Error::other(error)))?;
        let word: String = random.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
        self.tell(&[format!("grease-{word}").as_bytes()], b"")
    }

    pub(super) fn next(&mut self) -> Result<AgeStanza, Reason> {
        self.left = self.left.checked_sub(1).ok_or(Reason::Flood("too many messages"))?;
        let limit = std::mem::replace(&mut self.limit, self.client.silence);
        let (begin, mut noticed) = (Instant::now(), false);
        let mut buffer = deadpan_ct::Wiped::new([0; 4096]);
        loop {
            if let Some(stanza) = self.frames.next()? {
                return Ok(stanza);
            }
            let waited = begin.elapsed();
            let left = limit.checked_sub(waited).ok_or(Reason::Silent(limit))?;
            let until = if noticed { left } else { left.min(NOTICE.saturating_sub(waited)) };
            let room = buffer.len().min(self.frames.room());
            match self.pipe.receive(&mut buffer[..room], until) {
                Ok(0) => return Err(Reason::Ended(None)),
                Ok(length) => self.frames.add(&buffer[..length]),
                Err(Reason::Silent(_)) if !noticed && until < left => {
                    noticed = true;
                    self.client.dialog.ask(&self.program, &Question::Waiting);
                }
                Err(Reason::Silent(_)) => return Err(Reason::Silent(limit)),
                Err(reason) => return Err(reason),
            }
        }
    }

    /// Answers a command that has the same meaning in both phases, wrapping and unwrapping. For any other command,
    /// answers that the command is not supported.
    pub(super) fn answer(&mut self, stanza: &AgeStanza) -> Result<(), Reason> {
        let said = text::lines(&stanza.body);
        let question = match stanza.tag.as_str() {
            "msg" => Question::Message(said.clone()),
            "request-public" => Question::Public(said.clone()),
            "request-secret" => Question::Secret(said.clone()),
            "confirm" => confirm(&stanza.args, said.clone())?,
            _ => return self.tell(&[b"unsupported"], b""),
        };
        let answer = self.client.dialog.ask(&self.program, &question);
        match (&question, answer) {
            (Question::Message(_), Answer::Done) => {
                self.limit = self.client.silence.saturating_mul(AFTER_MESSAGE);
                self.ok()
            }
            (Question::Confirm { .. }, Answer::Yes) => self.tell(&[b"ok", b"yes"], b""),
            (Question::Confirm { .. }, Answer::No) => self.tell(&[b"ok", b"no"], b""),
            (Question::Public(_) | Question::Secret(_), Answer::Text(typed)) => self.tell(&[b"ok"], &typed),
            _ => {
                self.unanswered.get_or_insert_with(|| text::line(said.as_bytes()));
                self.tell(&[b"fail"], b"")
            }
        }
    }

    /// Records an error that the plugin reports. The conversation continues until the plugin ends it.
    pub(super) fn refused(&mut self, stanza: &AgeStanza) -> Result<(), Reason> {
        let about = match stanza.args.first().map(String::as_str) {
            Some("recipient") => About::Recipient,
            Some("identity") => About::Identity,
            Some("stanza") => About::Stanza,
            _ => About::Internal,
        };
        self.refused.get_or_insert_with(|| Reason::Refused { about, text: text::line(&stanza.body) });
        self.ok()
    }

    /// Returns the reason why the plugin returned no result. The reason is the error that the plugin reported or, if
    /// there is none, the question that nobody answered.
    pub(super) fn excuse(&mut self) -> Option<Reason> {
        self.refused.take().or_else(|| self.unanswered.take().map(Reason::Unanswered))
    }
}

impl Talk<'_> {
    /// Runs a phase that the plugin controls, until the plugin is done. `act` returns whether it supports the command.
    pub(super) fn listen(
        &mut self,
        act: impl FnMut(&mut Self, &mut AgeStanza) -> Result<bool, Reason>,
    ) -> Result<(), Reason> {
        // A plugin may report an error and then fail in another way. The reported error then counts.
        self.listen_to_all(act).map_err(|reason| self.refused.take().unwrap_or(reason))
    }

    fn listen_to_all(
        &mut self,
        mut act: impl FnMut(&mut Self, &mut AgeStanza) -> Result<bool, Reason>,
    ) -> Result<(), Reason> {
        loop {
            let mut stanza = self.next()?;
            let known = match stanza.tag.as_str() {
                "done" => return Ok(()),
                "error" => self.refused(&stanza).map(|()| true)?,
                _ => act(self, &mut stanza)?,
            };
            if !known {
                self.answer(&stanza)?;
            }
        }
    }
}

fn confirm(args: &[String], text: String) -> Result<Question, Reason> {
    let option = |arg: &String| {
        let bytes = STANDARD_NO_PAD.decode(arg.as_bytes());
        bytes.map(|bytes| text::line(&bytes)).map_err(|_| Reason::Protocol("an option that is not base64"))
    };
    match args {
        [yes] => Ok(Question::Confirm { text, yes: option(yes)?, no: None }),
        [yes, no] => Ok(Question::Confirm { text, yes: option(yes)?, no: Some(option(no)?) }),
        _ => Err(Reason::Protocol("a choice without options")),
    }
}

/// Reads the number of a file among `count` files. Accepts a number only in its shortest form, without a sign or
/// leading zeros.
pub(super) fn index(text: Option<&String>, count: usize) -> Result<usize, Reason> {
    let number = text.and_then(|text| text.parse::<usize>().ok().filter(|number| number.to_string() == *text));
    number.filter(|number| *number < count).ok_or(Reason::Protocol("a number of a file that it was not given"))
}
