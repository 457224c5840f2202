//! Uses the definition of the command line to determine which words may stand at the cursor.

use clap::{Arg, Command, ValueHint};

/// The kinds of names that may be the value of an option or argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedNames {
    None,
    /// Names of the user's own keys.
    Own,
    /// Names of the user's own keys that open files.
    Opening,
    /// Names of the user's own keys that sign.
    Signing,
    /// Names of contacts, which are keys of other people.
    Contacts,
    /// Names of the user's own keys and of contacts.
    Keys,
    /// Names of all keys and contacts to which files can be sealed.
    Recipients,
    /// Names of all keys and contacts whose signatures can be checked.
    Signers,
    /// Names of functions whose time the lab measures.
    Timed,
    /// Names of functions whose speed the lab measures.
    Fast,
    /// Names of pages of the manual.
    Pages,
}

/// The kinds of files that may be the value of an option or argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedFiles {
    None,
    Any,
    /// Sealed files, or all files if there are no sealed files.
    Sealed,
    Folders,
}

impl OfferedFiles {
    /// Returns the word for this kind of files in the output of `deadpan complete`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Any => "files",
            Self::Sealed => "sealed",
            Self::Folders => "folders",
        }
    }
}

/// The words, names and files that may stand at the cursor.
pub struct Expected<'a> {
    /// The part of the current word before the value, such as `--output=`.
    pub prefix: String,
    pub files: OfferedFiles,
    names: OfferedNames,
    /// Commands, options or values, each with a description.
    words: Vec<(String, String)>,
    command: &'a Command,
}

impl<'a> Expected<'a> {
    /// Parses the words before the cursor, and determines the words that may follow.
    pub fn at(cli: &'a Command, before: &[String], current: &str) -> Self {
        let mut expected = Self {
            prefix: String::new(),
            files: OfferedFiles::None,
            names: OfferedNames::None,
            words: Vec::new(),
            command: cli,
        };
        let (mut option, mut positional, mut only_values) = (None, 0, false);
        // If there is no word before the cursor, a shell may pass an empty word.
        for word in before.iter().filter(|word| !word.is_empty()) {
            if option.take().is_some() {
                // This word is the value of the preceding option.
            } else if only_values || !word.starts_with('-') || word == "-" {
                match expected.command.find_subcommand(word).filter(|_| positional == 0) {
                    Some(command) => expected.command = command,
                    None => positional += 1,
                }
            } else if word == "--" {
                only_values = true;
            } else {
                let open = |(option, value): &(&Arg, Option<&str>)| value.is_none() && !option.is_require_equals_set();
                option = expected.option(word).filter(open).map(|(option, _)| option);
            }
        }
        if let Some(option) = option {
            expected.value(option);
        } else if let Some((option, Some(value))) = expected.option(current).filter(|_| !only_values) {
            expected.prefix = current.strip_suffix(value).unwrap_or_default().to_owned();
            expected.value(option);
        } else if current.starts_with('-') && !only_values {
            expected.options();
        } else {
            if positional == 0 {
                let commands = expected.command.get_subcommands().filter(|command| !command.is_hide_set());
                expected
                    .words
                    .extend(commands.map(|command| (command.get_name().to_owned(), about(command.get_about()))));
            }
            if let Some(argument) = argument(expected.command, positional) {
                expected.value(argument);
            }
        }
        expected
    }

    /// Returns the option in `word`, if the option takes a value. If the word also contains the value, returns the
    /// value, too.
    fn option<'w>(&self, word: &'w str) -> Option<(&'a Arg, Option<&'w str>)> {
        let mut options = self.command.get_arguments().filter(|argument| argument.get_action().takes_values());
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            return Some((options.find(|option| option.get_long() == Some(name))?, value));
        }
        let letters = word.strip_prefix('-')?;
        let options: Vec<_> = options.collect();
        let named = |letter| options.iter().find(|option| option.get_short() == Some(letter));
        letters.char_indices().find_map(|(index, letter)| {
            let value = &letters[index + letter.len_utf8()..];
            Some((*named(letter)?, Some(value.strip_prefix('=').unwrap_or(value)).filter(|value| !value.is_empty())))
        })
    }

    /// Offers all options of the command.
    fn options(&mut self) {
        let shown = self.command.get_arguments().filter(|argument| !argument.is_hide_set());
        self.words = shown
            .filter_map(|argument| Some((format!("--{}", argument.get_long()?), about(argument.get_help()))))
            .collect();
    }

    fn value(&mut self, argument: &Arg) {
        let values = argument.get_possible_values();
        let shown = values.iter().filter(|value| !value.is_hide_set());
        self.words.extend(shown.map(|value| (value.get_name().to_owned(), about(value.get_help()))));
        let command = self.command.get_name();
        if (command, argument.get_id().as_str()) == ("rewrap", "remove") {
            self.words.push(("passphrase".to_owned(), "the passphrase".to_owned()));
        }
        (self.names, self.files) = match (command, argument.get_id().as_str()) {
            (_, "recipients") | ("rewrap", "remove" | "to") => (OfferedNames::Recipients, OfferedFiles::Any),
            ("export", "name") => (OfferedNames::Keys, OfferedFiles::Any),
            (_, "identities") => (OfferedNames::Opening, OfferedFiles::Any),
            ("protect" | "unprotect", "key") => (OfferedNames::Own, OfferedFiles::Any),
            ("add", "key") => (OfferedNames::None, OfferedFiles::Any),
            ("seal", "sign") | ("sign", "key") => (OfferedNames::Signing, OfferedFiles::Any),
            (_, "require_signature") | ("verify", "by") => (OfferedNames::Signers, OfferedFiles::Any),
            ("timing" | "trace", "target") => (OfferedNames::Timed, OfferedFiles::None),
            ("speed", "target") => (OfferedNames::Fast, OfferedFiles::None),
            ("open" | "inspect", "file" | "files") | ("rewrap", "files") => (OfferedNames::None, OfferedFiles::Sealed),
            ("remove", "name") => (OfferedNames::Contacts, OfferedFiles::None),
            ("default", "name") => (OfferedNames::Opening, OfferedFiles::None),
            ("man", "command") => (OfferedNames::Pages, OfferedFiles::None),
            // The value of `--only` is a path inside the sealed folder, so no files of the disk are offered.
            (_, "only") => (OfferedNames::None, OfferedFiles::None),
            _ => match argument.get_value_hint() {
                ValueHint::DirPath => (OfferedNames::None, OfferedFiles::Folders),
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::ExecutablePath => {
                    (OfferedNames::None, OfferedFiles::Any)
                }
                _ => (OfferedNames::None, OfferedFiles::None),
            },
        };
    }

    /// Returns the words that begin with the current word, each with a description.
    pub fn offers(
        &self,
        current: &str,
        known: impl FnOnce(OfferedNames) -> Vec<(String, &'static str)>,
    ) -> Vec<(String, String)> {
        let begun = current.strip_prefix(&self.prefix).unwrap_or(current);
        let named = known(self.names).into_iter().map(|(name, meaning)| (name, meaning.to_owned()));
        self.words.iter().cloned().chain(named).filter(|(word, _)| word.starts_with(begun)).collect()
    }
}

/// The last positional argument may be repeated.
fn argument(command: &Command, index: usize) -> Option<&Arg> {
    let arguments: Vec<_> = command.get_positionals().collect();
    let repeated = || arguments.last().copied().filter(|argument| is_repeated(argument));
    arguments.get(index).copied().or_else(repeated)
}

fn is_repeated(argument: &Arg) -> bool {
    matches!(argument.get_action(), clap::ArgAction::Append)
        || argument.get_num_args().is_some_and(|range| range.max_values() > 1)
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::whole;

    /// Returns the completions at the end of a line: the kind of files, the kind of names, and the words.
    fn at(line: &str) -> (OfferedFiles, OfferedNames, String) {
        let mut cli = whole();
        cli.build();
        let mut words: Vec<_> = line.split(' ').map(String::from).collect();
        let current = words.pop().unwrap();
        let expected = Expected::at(&cli, &words, &current);
        let offers = expected.offers(&current, |_| Vec::new());
        (expected.files, expected.names, offers.into_iter().map(|(word, _)| word).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn every_place_expects_what_belongs_there() {
        for (line, files, names, words) in [
            ("se", OfferedFiles::None, OfferedNames::None, "seal"),
            ("keys ex", OfferedFiles::None, OfferedNames::None, "export"),
            ("keys export ", OfferedFiles::Any, OfferedNames::Keys, ""),
            ("keys remove ", OfferedFiles::None, OfferedNames::Contacts, ""),
            ("keys add ", OfferedFiles::None, OfferedNames::None, ""),
            ("keys add bob ", OfferedFiles::Any, OfferedNames::None, ""),
            ("keys default ", OfferedFiles::None, OfferedNames::Opening, ""),
            ("keys protect ", OfferedFiles::Any, OfferedNames::Own, ""),
            ("seal ", OfferedFiles::Any, OfferedNames::None, ""),
            ("seal a b ", OfferedFiles::Any, OfferedNames::None, ""),
            ("seal -r ", OfferedFiles::Any, OfferedNames::Recipients, ""),
            ("seal --recipient ", OfferedFiles::Any, OfferedNames::Recipients, ""),
            ("seal --recipient=", OfferedFiles::Any, OfferedNames::Recipients, ""),
            ("seal -ral", OfferedFiles::Any, OfferedNames::Recipients, ""),
            ("seal -pr ", OfferedFiles::Any, OfferedNames::Recipients, ""),
            ("seal --sign=", OfferedFiles::Any, OfferedNames::Signing, ""),
            ("sign -k ", OfferedFiles::Any, OfferedNames::Signing, ""),
            ("open --require-signature=", OfferedFiles::Any, OfferedNames::Signers, ""),
            ("open --require-signature ", OfferedFiles::Sealed, OfferedNames::None, ""),
            ("verify --by ", OfferedFiles::Any, OfferedNames::Signers, ""),
            ("rewrap --remove ", OfferedFiles::Any, OfferedNames::Recipients, "passphrase"),
            ("rewrap --to ", OfferedFiles::Any, OfferedNames::Recipients, ""),
            ("rewrap ", OfferedFiles::Sealed, OfferedNames::None, ""),
            ("open ", OfferedFiles::Sealed, OfferedNames::None, ""),
            ("open a.dpn ", OfferedFiles::Sealed, OfferedNames::None, ""),
            ("inspect ", OfferedFiles::Sealed, OfferedNames::None, ""),
            ("share open ", OfferedFiles::Sealed, OfferedNames::None, ""),
            ("lab timing -t ", OfferedFiles::None, OfferedNames::Timed, ""),
            ("lab speed --target ", OfferedFiles::None, OfferedNames::Fast, ""),
            ("seal -r alice ", OfferedFiles::Any, OfferedNames::None, ""),
            ("seal -p ", OfferedFiles::Any, OfferedNames::None, ""),
            ("seal --mode ", OfferedFiles::None, OfferedNames::None, "ecc pqc hybrid"),
            ("seal --mode=h", OfferedFiles::None, OfferedNames::None, "hybrid"),
            ("seal --remo", OfferedFiles::None, OfferedNames::None, "--remove-source"),
            ("seal -- --remo", OfferedFiles::Any, OfferedNames::None, ""),
            ("seal -o ", OfferedFiles::Any, OfferedNames::None, ""),
            ("seal -R ", OfferedFiles::Any, OfferedNames::None, ""),
            ("open -i ", OfferedFiles::Any, OfferedNames::Opening, ""),
            ("open --only ", OfferedFiles::None, OfferedNames::None, ""),
            ("man -o ", OfferedFiles::Folders, OfferedNames::None, ""),
            ("man ", OfferedFiles::None, OfferedNames::Pages, ""),
            ("completions z", OfferedFiles::None, OfferedNames::None, "zsh"),
            ("page -o ", OfferedFiles::Any, OfferedNames::None, ""),
            ("page ", OfferedFiles::None, OfferedNames::None, ""),
            ("random -o ", OfferedFiles::Any, OfferedNames::None, ""),
        ] {
            assert_eq!(at(line), (files, names, words.to_owned()), "{line:?}");
        }
        assert!(!at("").2.contains("complete "), "the hidden command is offered");
    }
}
