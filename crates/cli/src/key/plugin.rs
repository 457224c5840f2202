//! age's plugins on the command line: a plugin's questions go to the terminal, and its messages go to standard error.

use std::any::Any;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use crate::key::home;
use crate::key::prompt::{Asker, Terminal};
use crate::tell::console::{complain, say};
use crate::tell::failure::Failure;
use crate::tell::patience;
use crate::tell::signals;
use deadpan_seal::key::{self, Found};
use deadpan_seal::plugin::{Answer, Client, Dialog, Process, Question, Recipient};
use deadpan_seal::{Passphrase, Secret};

/// How many times the user may answer a question that has numbered answers.
const TRIES: usize = 3;

pub fn client() -> Result<Client, Failure> {
    let client = Client::new(Arc::new(TerminalDialog)).hide_variable(crate::key::passphrase::VARIABLE);
    Ok(match patience::seconds(patience::PLUGIN, "a silent plugin")? {
        Some(limit) => client.timeout(limit),
        None => client,
    })
}

fn only_recipient(found: &[Found]) -> Option<Recipient> {
    if let [Found::PluginRecipient(line)] = found { Some(line.clone().into()) } else { None }
}

/// Returns the recipient in a file if the file contains one recipient of a plugin and nothing else.
pub fn of_contact(path: &Path) -> Option<Recipient> {
    home::read(path).ok().and_then(|found| only_recipient(&found))
}

/// Returns the recipient in an argument, if the argument is a recipient of a plugin.
pub fn of_argument(text: &str) -> Option<Recipient> {
    if text.starts_with("age1") {
        return key::read(text.as_bytes()).ok().and_then(|found| only_recipient(&found));
    }
    let path = Path::new(text);
    if path.is_file() { of_contact(path) } else { None }
}

/// Asks the user on the terminal. Each line from a plugin begins with the plugin's name, so that nobody thinks that the
/// line comes from Deadpan.
struct TerminalDialog;

impl Dialog for TerminalDialog {
    fn ask(&self, program: &str, question: &Question) -> Answer {
        match question {
            Question::Message(text) | Question::Log(text) => {
                show(program, text);
                Answer::Done
            }
            Question::Waiting => {
                say(&format!("note: waiting for {program}"));
                Answer::Done
            }
            Question::Public(text) => typed(program, text, Terminal::find(), Terminal::ask_openly),
            Question::Secret(text) => typed(program, text, Asker::find(), Asker::ask),
            Question::Confirm { text, yes, no } => choose(program, text, yes, no.as_deref()),
            _ => Answer::Nobody,
        }
    }

    fn started(&self, process: &Process) -> Box<dyn Any> {
        let process = process.clone();
        Box::new(signals::guard(move || process.kill()))
    }
}

/// Shows a text on standard error, or on the terminal if standard error is not a terminal.
fn show(program: &str, text: &str) {
    let terminal = if std::io::stderr().is_terminal() { None } else { Terminal::find() };
    for line in text.lines() {
        let line = format!("{program}: {line}");
        match &terminal {
            Some(terminal) => terminal.say(&line),
            None => complain(&line),
        }
    }
}

/// Asks the user; the last line of the text is the question.
fn typed<A>(program: &str, text: &str, asker: Option<A>, ask: fn(&A, &str) -> Result<Passphrase, Failure>) -> Answer {
    let Some(asker) = asker else { return Answer::Nobody };
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    show(program, before);
    let typed = ask(&asker, &format!("{program}: {}", last.trim_end_matches([':', ' '])));
    typed.map_or(Answer::Nobody, |typed| Answer::Text(Secret::copy_of(typed.as_bytes())))
}

fn choose(program: &str, text: &str, yes: &str, no: Option<&str>) -> Answer {
    let Some(terminal) = Terminal::find() else { return Answer::Nobody };
    show(program, text);
    let question = match no {
        Some(no) => format!("{program}: type 1 for \"{yes}\", 2 for \"{no}\""),
        None => format!("{program}: press Enter for \"{yes}\""),
    };
    for _ in 0..TRIES {
        let Ok(typed) = terminal.ask_openly(&question) else { return Answer::Nobody };
        match (typed.as_bytes().trim_ascii(), no) {
            (b"1", Some(_)) | (_, None) => return Answer::Yes,
            (b"2", Some(_)) => return Answer::No,
            _ => {}
        }
    }
    Answer::Nobody
}
