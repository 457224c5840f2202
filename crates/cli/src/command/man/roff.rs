//! Renders a manual page in roff, from the definition of a command.

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// Returns the page of `command`. The caller must have called `Command::build` on `command`. `parent` is the name of
/// the parent command's page.
pub fn page(command: &Command, parent: Option<&str>) -> String {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let program = concat!("deadpan ", env!("CARGO_PKG_VERSION"));
    let mut page = format!(".TH \"{}\" 1 \"\" \"{program}\" \"User Commands\"\n", escaped(&name.to_uppercase()));
    let about = text(command.get_about());
    page.push_str(&format!(".SH NAME\n{} \\- {}\n", escaped(name), escaped(&uncapitalized(&about))));
    page.push_str(&format!(".SH SYNOPSIS\n{}", synopsis(command)));
    let long = command.get_long_about().map_or(format!("{about}."), ToString::to_string);
    page.push_str(&format!(".SH DESCRIPTION\n{}", paragraphs(&long)));
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut add = |heading: String, entry: String| match sections.iter_mut().find(|(name, _)| *name == heading) {
        Some((_, entries)) => entries.push_str(&entry),
        None => sections.push((heading, entry)),
    };
    for command in visible(command) {
        let page = command.get_display_name().unwrap_or_else(|| command.get_name());
        let about = escaped(&text(command.get_about()));
        add("COMMANDS".into(), format!(".TP\n\\fB{}\\fR(1)\n{about}\n", escaped(page)));
    }
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set() && !argument.is_positional());
    for argument in command.get_positionals().filter(|argument| !argument.is_hide_set()).chain(arguments) {
        let usual = if argument.is_positional() { "ARGUMENTS" } else { "OPTIONS" };
        add(argument.get_help_heading().unwrap_or(usual).to_uppercase(), described(argument));
    }
    for (heading, entries) in sections {
        page.push_str(&format!(".SH \"{}\"\n{entries}", escaped(&heading)));
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        page.push_str(&after_options(&after.to_string()));
    }
    if let Some(parent) = parent {
        page.push_str(&format!(".SH \"SEE ALSO\"\n\\fB{}\\fR(1)\n", escaped(parent)));
    }
    page
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Returns each form in which the command can be called: alone, and with each of its subcommands.
fn synopsis(command: &Command) -> String {
    let mut forms = String::new();
    let mut form = |name: &str, words: Vec<String>| {
        // In roff, dots at the end of a line are the end of a sentence, and roff adds two spaces after the dots. The
        // `\\&` after the dots prevents these spaces.
        let words: Vec<_> = words.into_iter().map(|word| format!("{word}\\&")).collect();
        forms.push_str(&format!(".SY \"{}\"\n{}\n", escaped(name), words.join("\n")));
    };
    let has_commands = visible(command).next().is_some();
    if !has_commands || !command.is_subcommand_required_set() && !command.is_arg_required_else_help_set() {
        form(called(command), options(command).into_iter().chain(positionals(command)).collect());
    }
    for command in visible(command) {
        let below = visible(command).next().map(|_| {
            if command.is_subcommand_required_set() {
                "\\fICOMMAND\\fR".to_owned()
            } else {
                "[\\fICOMMAND\\fR]".to_owned()
            }
        });
        let any = options(command).first().map(|_| "[\\fIOPTION\\fR]...".to_owned());
        form(called(command), below.into_iter().chain(any).chain(positionals(command)).collect());
    }
    forms.push_str(".YS\n");
    forms
}

/// Returns the words with which the command is called: `deadpan keys add`.
fn called(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Returns the options in the form of a synopsis: `[-o OUT]`. The synopsis puts options that exclude each other into
/// the same brackets. The synopsis omits the options for help and version, since every command has these options.
fn options(command: &Command) -> Vec<String> {
    let is_standard = |argument: &Arg| {
        matches!(
            argument.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        )
    };
    let all: Vec<_> = command.get_opts().chain(command.get_arguments().filter(|it| is_flag(it))).collect();
    let mut all: Vec<_> = all.into_iter().filter(|it| !it.is_hide_set() && !is_standard(it)).collect();
    let order = |argument: &Arg| command.get_arguments().position(|other| other.get_id() == argument.get_id());
    all.sort_by_key(|argument| order(argument));
    let excludes = |argument: &Arg, other: &Arg| {
        let conflicts = command.get_arg_conflicts_with(argument);
        conflicts.iter().any(|it| it.get_id() == other.get_id())
    };
    let excluded = |argument: &Arg| -> BTreeSet<String> {
        let is = |other: &&&Arg| {
            argument.get_id() == other.get_id() || excludes(argument, other) || excludes(other, argument)
        };
        all.iter().filter(is).map(|other| other.get_id().to_string()).collect()
    };
    let mut groups: Vec<(BTreeSet<String>, Vec<String>)> = Vec::new();
    for argument in &all {
        let (key, shown) = (excluded(argument), brief(argument));
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, alternatives)) => alternatives.push(shown),
            None => groups.push((key, vec![shown])),
        }
    }
    let shown = |(_, alternatives): (_, Vec<String>)| match alternatives.as_slice() {
        [one] => match one.strip_suffix("...") {
            Some(one) => format!("[{one}]..."),
            None => format!("[{one}]"),
        },
        several => format!("[{}]", several.join(" | ")),
    };
    groups.into_iter().map(shown).collect()
}

fn is_flag(argument: &Arg) -> bool {
    !argument.is_positional() && !argument.get_action().takes_values()
}

/// Returns the shortest form of an option: `-o OUT`.
fn brief(argument: &Arg) -> String {
    let name = match (argument.get_short(), argument.get_long()) {
        (Some(letter), _) => format!("\\-{letter}"),
        (None, long) => format!("\\-\\-{}", escaped(long.unwrap_or_default())),
    };
    let dots = if is_repeated(argument) { "..." } else { "" };
    format!("\\fB{name}\\fR{}{dots}", value_after(argument, "\\ "))
}

/// Returns the text that follows an option's name: `space` or an equals sign, and then the name of the value.
fn value_after(argument: &Arg, space: &str) -> String {
    match value(argument) {
        Some(value) if argument.is_require_equals_set() => format!("[={value}]"),
        Some(value) => format!("{space}{value}"),
        None => String::new(),
    }
}

fn is_repeated(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Append)
        || argument.get_num_args().is_some_and(|range| range.max_values() > 1)
}

/// Returns the name of an option's value, or of a positional argument.
fn value(argument: &Arg) -> Option<String> {
    let named = argument.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    let name = named.unwrap_or_else(|| argument.get_id().to_string().to_uppercase());
    argument.get_action().takes_values().then(|| format!("\\fI{}\\fR", escaped(&name)))
}

/// Returns the positional arguments in the form of a synopsis: `[FILE]...`.
fn positionals(command: &Command) -> Vec<String> {
    let shown = |argument: &Arg| {
        let dots = if is_repeated(argument) { "..." } else { "" };
        let name = value(argument).unwrap_or_default();
        if argument.is_required_set() { format!("{name}{dots}") } else { format!("[{name}]{dots}") }
    };
    command.get_positionals().filter(|argument| !argument.is_hide_set()).map(shown).collect()
}

fn described(argument: &Arg) -> String {
    let mut names = Vec::new();
    names.extend(argument.get_short().map(|letter| format!("\\fB\\-{letter}\\fR")));
    names.extend(argument.get_long().map(|name| format!("\\fB\\-\\-{}\\fR", escaped(name))));
    let mut head = names.join(", ");
    head.push_str(&value_after(argument, if head.is_empty() { "" } else { " " }));
    let mut entry = format!(".TP\n{head}\n");
    let help = text(argument.get_help());
    // clap adds a remark about `-h` to the help. The remark about `-h` does not belong in a manual page.
    let help = help.split(" (see ").next().unwrap_or_default();
    let default: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = Some(default).filter(|values| argument.get_action().takes_values() && !values.is_empty());
    let default = default.map_or(String::new(), |values| format!(" [default: {}]", values.join(" ")));
    let values = if argument.get_action().takes_values() { argument.get_possible_values() } else { Vec::new() };
    let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).collect();
    if values.iter().all(|value| value.get_help().is_none()) {
        let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
        let names = if names.is_empty() { String::new() } else { format!(" [possible values: {}]", names.join(", ")) };
        let _ = writeln!(entry, "{}", escaped(&format!("{help}{default}{names}")));
    } else {
        let _ = writeln!(entry, "{}\n.RS", escaped(&format!("{help}{default}:")));
        for value in values {
            let (name, help) = (escaped(value.get_name()), escaped(&text(value.get_help())));
            let _ = writeln!(entry, ".TP\n\\fB{name}\\fR\n{help}");
        }
        entry.push_str(".RE\n");
    }
    entry
}

/// Renders the text after the options. A line that ends with a colon becomes a heading. The indented lines under a
/// heading stay separate lines, and all other lines become paragraphs.
fn after_options(text: &str) -> String {
    let (mut page, mut inside) = (String::new(), false);
    for line in text.lines().filter(|line| !line.is_empty()) {
        let is_indented = line.starts_with(' ');
        if inside != is_indented {
            page.push_str(if is_indented { ".nf\n" } else { ".fi\n" });
            inside = is_indented;
        }
        match line.strip_suffix(':').filter(|_| !is_indented) {
            Some(heading) => page.push_str(&format!(".SH \"{}\"\n", escaped(&heading.to_uppercase()))),
            None if is_indented => page.push_str(&format!("{}\n", escaped(line.strip_prefix("  ").unwrap_or(line)))),
            None => page.push_str(&format!(".PP\n{}\n", escaped(line))),
        }
    }
    page.push_str(if inside { ".fi\n" } else { "" });
    page
}

/// Renders text in which empty lines separate the paragraphs.
fn paragraphs(text: &str) -> String {
    let shown = |paragraph: &str| format!("{}\n", escaped(&paragraph.replace('\n', " ")));
    text.split("\n\n").map(shown).collect::<Vec<_>>().join(".PP\n")
}

fn text(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// Returns the text with a lowercase first letter, unless the first word is an abbreviation.
fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Escapes the characters that roff would interpret or draw in another form: backslashes, a dot at the beginning,
/// hyphens, quotes, and characters that are not ASCII.
fn escaped(line: &str) -> String {
    let mut escaped = String::new();
    for letter in line.chars() {
        match letter {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '"' => escaped.push_str("\\(dq"),
            '`' => escaped.push_str("\\(ga"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            letter if !letter.is_ascii() => escaped.push_str(&format!("\\[u{:04X}]", u32::from(letter))),
            letter => escaped.push(letter),
        }
    }
    let line = escaped;
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_stay_lines_and_nothing_in_them_is_obeyed() {
        let text = "Examples:\n  a -x 'y'   z\n  .b \\ c ~\n\nExit codes:\n  0  done\nThe highest counts.";
        assert_eq!(
            after_options(text),
            ".SH \"EXAMPLES\"\n.nf\na \\-x \\(aqy\\(aq   z\n\\&.b \\e c \\(ti\n.fi\n.SH \"EXIT CODES\"\n.nf\n0  done\n\
             .fi\n.PP\nThe highest counts.\n"
        );
    }

    #[test]
    fn a_synopsis_shows_values_repetition_and_alternatives() {
        let option = |name| Arg::new(name).long(name).value_name("X");
        let mut command = Command::new("prog")
            .arg(option("many").short('m').action(ArgAction::Append))
            .arg(option("one").conflicts_with("other"))
            .arg(option("other"))
            .arg(Arg::new("flag").short('f').action(ArgAction::SetTrue))
            .arg(Arg::new("FILE").required(true).action(ArgAction::Append));
        command.build();
        let words = options(&command).into_iter().chain(positionals(&command)).collect::<Vec<_>>().join(" ");
        let plain = words.replace("\\fB", "").replace("\\fI", "").replace("\\fR", "").replace('\\', "");
        assert_eq!(plain, "[-m X]... [--one X | --other X] [-f] FILE...");
    }
}
