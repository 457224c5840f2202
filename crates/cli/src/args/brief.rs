//! `-h`: help that fits a screen, shortened from the full text of `--help`.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The number of columns for the description of a command in the list of all commands, if the screen has 80 columns.
const LINE: usize = 64;
/// The most examples that `-h` shows.
const EXAMPLES: usize = 3;

/// The options that `-h` lists for commands with more than fifteen options. Each row contains the name of the parent
/// command, the name of the command, and the options to list.
const EVERYDAY: &[(&[&str], &[&str])] = &[
    (
        &["deadpan", "seal"],
        &[
            "recipient",
            "recipients-file",
            "passphrase",
            "passphrase-file",
            "sign",
            "output",
            "force",
            "json",
            "armor",
            "html",
            "compress",
            "repair",
            "exclude",
            "quiet",
        ],
    ),
    (
        &["deadpan", "pack"],
        &[
            "output",
            "force",
            "json",
            "deterministic",
            "keep-going",
            "exclude",
            "exclude-from",
            "gitignore",
            "files-from",
            "dry-run",
            "quiet",
        ],
    ),
    (
        &["deadpan", "open"],
        &["identity", "share", "output", "force", "json", "range", "verify", "only", "passphrase-file", "quiet"],
    ),
    (
        &["deadpan", "diff"],
        &["identity", "contents", "each", "exclude", "exclude-from", "gitignore", "json", "passphrase-file", "quiet"],
    ),
    (
        &["deadpan", "rewrap"],
        &[
            "identity",
            "recipient",
            "recipients-file",
            "passphrase",
            "remove",
            "to",
            "passphrase-file",
            "recursive",
            "dry-run",
            "force",
            "json",
            "quiet",
        ],
    ),
    (
        &["picture", "hide"],
        &[
            "recipient",
            "passphrase",
            "passphrase-file",
            "output",
            "force",
            "json",
            "raw",
            "format",
            "size",
            "cover",
            "spare",
            "exclude",
            "quiet",
        ],
    ),
    (
        &["picture", "reveal"],
        &["identity", "output", "force", "json", "verify", "only", "passphrase-file", "raw", "passphrase", "quiet"],
    ),
    (&["lab", "timing"], LAB),
    (&["lab", "trace"], LAB),
    (&["lab", "speed"], LAB),
];

/// Options that `-h` does not list for any command.
const RARE: [&str; 4] = ["max-cost", "passphrase-fd", "passphrase-command", "no-agent"];

/// The most used options of the lab's measuring commands.
const LAB: &[&str] = &[
    "target",
    "class",
    "quick",
    "delta",
    "time-limit",
    "table",
    "seed",
    "list",
    "json",
    "html",
    "markdown",
    "so",
    "worker",
    "quiet",
];

/// Returns the command line with short help that fits a screen. The help contains the most used options, the first
/// sentence of each text, some examples, and a note on how to get the full help. The help of the program itself does
/// not change.
pub fn brief(cli: Command) -> Command {
    let name = cli.get_name().to_owned();
    below(cli, &name, &name)
}

/// Returns the command line with descriptions of one line, of the program and of each command, for the list of all
/// commands.
pub fn listing(cli: Command) -> Command {
    one_line(cli.mut_subcommands(one_line))
}

/// Shortens the description of a command to one line.
fn one_line(command: Command) -> Command {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let end = if about.len() > LINE { [": ", ", ", " ("].iter().find_map(|end| about.find(end)) } else { None };
    match end {
        Some(end) => command.about(about[..end].to_owned()),
        None => command,
    }
}

/// Shortens the help of all commands below `parent`. `path` contains the words that call the parent command, such as
/// `deadpan keys`.
fn below(parent: Command, name: &str, path: &str) -> Command {
    parent.mut_subcommands(|command| {
        let (own, called) = (command.get_name().to_owned(), format!("{path} {}", command.get_name()));
        if command.has_subcommands() {
            return below(shortened(listing(command), &called, false), &own, &called).mut_args(first_sentence);
        }
        let kept = EVERYDAY.iter().find(|(names, _)| *names == [name, own.as_str()]).map(|(_, options)| *options);
        let command = command.mut_args(|argument| {
            let is_kept = |long| kept.map_or(!RARE.contains(&long), |kept| kept.contains(&long));
            let is_hidden = argument.get_long().is_some_and(|long| !is_kept(long));
            first_sentence(argument).hide_short_help(is_hidden)
        });
        shortened(command, &called, kept.is_some())
    })
}

/// Shortens the text after the options: keeps the first examples, and says where everything is. `hides` is true if
/// options are missing.
fn shortened(command: Command, called: &str, hides: bool) -> Command {
    let more = format!("More: {called} --help (all options, examples and exit codes)");
    match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(format!("{}{more}", first_examples(&text))),
        None if hides => command.after_help(more),
        None => command,
    }
}

/// Removes everything after the first sentence from the help of an argument.
fn first_sentence(argument: Arg) -> Arg {
    let text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let end = [". ", ": ", "; ", " [default", "\n"].iter().filter_map(|end| text.find(end)).min();
    let sentence = &text[..end.unwrap_or(text.len())];
    // A remark in parentheses at the end of the first sentence is removed, too.
    let aside = sentence.strip_suffix(')').and_then(|sentence| sentence.rfind(" ("));
    let sentence = &sentence[..aside.unwrap_or(sentence.len())];
    if sentence == text { argument } else { argument.help(StyledStr::from(sentence.to_owned())) }
}

/// Returns the first examples of `text`, followed by an empty line. `text` is the part of the help after the options.
fn first_examples(text: &str) -> String {
    let examples = text.strip_prefix("Examples:\n").into_iter().flat_map(str::lines);
    let examples: Vec<_> = examples.take_while(|line| line.starts_with("  ")).take(EXAMPLES).collect();
    if examples.is_empty() { String::new() } else { format!("Examples:\n{}\n\n", examples.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::whole;

    /// The maximum number of options that `-h` lists, including `-h` itself.
    const MOST: usize = 15;
    /// The number of lines of a screen with 80 columns.
    const SCREEN: usize = 40;

    /// Calls `act` for each command with three arguments: the command, the name of its parent command, and the words
    /// that call the command.
    fn each(command: &Command, path: &str, act: &mut dyn FnMut(&Command, &str, &str)) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            let called = format!("{path} {}", sub.get_name());
            act(sub, command.get_name(), &called);
            each(sub, &called, act);
        }
    }

    fn cli() -> Command {
        let mut cli = brief(whole()).term_width(80);
        cli.build();
        cli
    }

    #[test]
    fn the_short_help_of_every_command_fits_a_screen() {
        each(&cli(), "deadpan", &mut |command, _, called| {
            let text = command.clone().render_help().to_string();
            assert!(text.lines().count() <= SCREEN, "{called}:\n{text}");
            let shown = command.get_arguments().filter(|it| it.get_long().is_some() && !it.is_hide_short_help_set());
            let shown = shown.filter(|argument| !argument.is_hide_set()).count();
            assert!(shown <= MOST, "{called} lists {shown} options:\n{text}");
            let hides = command.get_arguments().any(|argument| argument.is_hide_short_help_set());
            assert!(!hides || text.contains(&format!("More: {called} --help")), "{called}:\n{text}");
        });
    }

    #[test]
    fn the_list_of_commands_fits_a_screen() {
        let text = listing(whole()).term_width(80).render_help().to_string();
        assert!(text.lines().count() <= 45, "{text}");
        assert!(text.contains("\n  seal         Seals files and folders\n"), "{text}");
    }

    #[test]
    fn the_table_names_commands_and_options_that_exist() {
        let mut seen = Vec::new();
        each(&cli(), "deadpan", &mut |command, parent, _| {
            let Some((names, kept)) = EVERYDAY.iter().find(|(names, _)| *names == [parent, command.get_name()]) else {
                return;
            };
            seen.push(*names);
            for option in kept.iter().filter(|_| names[0] != "lab") {
                assert!(command.get_arguments().any(|it| it.get_long() == Some(option)), "{names:?}: --{option}");
            }
        });
        assert_eq!(seen.len(), EVERYDAY.len());
    }

    #[test]
    fn the_long_help_stays_whole() {
        let mut cli = whole();
        cli.build();
        each(&cli, "deadpan", &mut |command, _, called| {
            let text = command.clone().render_long_help().to_string();
            for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
                let long = argument.get_long().unwrap_or_default();
                assert!(text.contains(long), "{called} --help lacks --{long}");
            }
        });
    }
}
