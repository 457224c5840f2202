//! The program's command line.

mod brief;
mod option;
mod version;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(unix)]
use crate::command::edit;
#[cfg(all(feature = "mount", target_os = "linux"))]
use crate::command::mount;
use crate::command::plan::Task;
use crate::command::{
    agent, cluster, completions, diff, inspect, keygen, keys, lab, list, man, open, pack, page, picture, random,
    repair, rewrap, seal, share, sign, synonym, unpack, verify,
};
use crate::place::report::Whole;
use crate::tell::console;
use crate::tell::failure::Failure;
use crate::tell::shown::{bytes, guarded};
use crate::tell::streams;
use crate::tell::suggest::closest;
use brief::{brief, listing};
use deadpan_lab::{harness, invocation};

#[cfg(not(windows))]
macro_rules! key_folder {
    () => {
        "~/.config/deadpan"
    };
}

#[cfg(windows)]
macro_rules! key_folder {
    () => {
        "%APPDATA%\\deadpan"
    };
}

/// Seals (encrypts) files and folders with a straight face: neither the bytes nor the time show anything of the secret
#[derive(Parser)]
#[command(name = "deadpan", version, max_term_width = 120, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = concat!(
    "Examples:\n",
    "  deadpan seal report.pdf            report.pdf.dpn, which only you can open\n",
    "  deadpan open report.pdf.dpn        report.pdf again\n",
    "  deadpan seal -r alice report.pdf   for Alice, a contact (deadpan keys add)\n",
    "  deadpan help seal                  what a command does, with examples\n",
    "\nEnvironment:\n",
    "  DEADPAN_HOME        the folder of your keys, usually ",
    key_folder!(),
    "\n",
    "  DEADPAN_PASSPHRASE  the passphrase, where nobody can type it"
))]
struct GlobalArgs {
    /// Print errors alone: no notes, no summaries, no progress
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,
}

// Each command in this enum also needs a row in `COMMANDS`. This comment is not a doc comment, because clap prints a
// doc comment as the help text of the program.
#[derive(Subcommand)]
enum Command {
    Keygen(keygen::KeygenArgs),
    Keys(keys::KeysArgs),
    Agent(agent::AgentArgs),
    Seal(seal::SealArgs),
    Open(open::OpenArgs),
    Sign(sign::SignArgs),
    Verify(verify::VerifyArgs),
    List(list::ListArgs),
    #[cfg(all(feature = "mount", target_os = "linux"))]
    Mount(mount::MountArgs),
    Diff(diff::DiffArgs),
    Inspect(inspect::InspectArgs),
    #[cfg(unix)]
    Edit(edit::EditArgs),
    Rewrap(rewrap::RewrapArgs),
    Pack(pack::PackCommand),
    Unpack(unpack::UnpackCommand),
    Page(page::PageArgs),
    Picture(picture::PictureArgs),
    Share(share::ShareArgs),
    Repair(repair::RepairArgs),
    Random(random::RandomArgs),
    Cluster(cluster::ClusterArgs),
    /// Measures speed, and whether run time depends on a secret
    #[command(subcommand)]
    Lab(lab::Command),
    Completions(completions::Completions),
    Complete(completions::Complete),
    Man(man::Man),
}

/// A function that adds the arguments and the help to a command that has only a name.
type Maker = fn(clap::Command) -> clap::Command;

/// The commands by name. The program builds only the command that is called, since building all commands takes longer
/// than sealing a small file.
const COMMANDS: &[(&str, Maker)] = &[
    ("keygen", keygen::KeygenArgs::augment_args),
    ("keys", keys::KeysArgs::augment_args),
    ("agent", agent::AgentArgs::augment_args),
    ("seal", seal::SealArgs::augment_args),
    ("open", open::OpenArgs::augment_args),
    ("sign", sign::SignArgs::augment_args),
    ("verify", verify::VerifyArgs::augment_args),
    ("list", list::ListArgs::augment_args),
    #[cfg(all(feature = "mount", target_os = "linux"))]
    ("mount", mount::MountArgs::augment_args),
    ("diff", diff::DiffArgs::augment_args),
    ("inspect", inspect::InspectArgs::augment_args),
    #[cfg(unix)]
    ("edit", edit::EditArgs::augment_args),
    ("rewrap", rewrap::RewrapArgs::augment_args),
    ("pack", pack::PackCommand::augment_args),
    ("unpack", unpack::UnpackCommand::augment_args),
    ("page", page::PageArgs::augment_args),
    ("picture", picture::PictureArgs::augment_args),
    ("share", share::ShareArgs::augment_args),
    ("repair", repair::RepairArgs::augment_args),
    ("random", random::RandomArgs::augment_args),
    ("cluster", cluster::ClusterArgs::augment_args),
    ("lab", lab),
    ("completions", completions::Completions::augment_args),
    ("complete", completions::Complete::augment_args),
    ("man", man::Man::augment_args),
];

/// Adds the subcommands and the description to the command `lab`.
fn lab(command: clap::Command) -> clap::Command {
    let command = lab::Command::augment_subcommands(command).subcommand_required(true).arg_required_else_help(true);
    command.about("Measures speed, and whether run time depends on a secret").long_about(None)
}

/// Returns the whole command line.
pub(crate) fn whole() -> clap::Command {
    Command::augment_subcommands(GlobalArgs::command())
}

/// Returns the command line with only the command that `words` contain, or with all commands if `words` contain no
/// command.
fn called(words: &[OsString]) -> clap::Command {
    if let [_, word, ..] = words
        && (word == "--version" || word == "-V")
    {
        return GlobalArgs::command();
    }
    let name = words.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'));
    match COMMANDS.iter().find(|(command, _)| name.is_some_and(|name| name == command)) {
        Some((name, make)) => GlobalArgs::command().subcommand(make(clap::Command::new(*name))),
        None => whole(),
    }
}

/// A command line that was parsed.
pub struct CommandLine {
    quiet: bool,
    command: Command,
    whole: Whole,
}

impl CommandLine {
    pub fn run(self) -> u8 {
        let Self { quiet, command, whole } = self;
        if quiet {
            console::be_quiet();
            harness::be_quiet();
        }
        match command.plan() {
            Ok(task) => task.run(&whole),
            Err(failure) => whole.end(&failure),
        }
    }
}

/// Parses the command line. The first word is the program's name. Ends the program after printing help, and after most
/// of the errors that clap finds.
pub fn parse(words: Vec<OsString>) -> Result<CommandLine, Failure> {
    let mut command = called(&words);
    option::refuse_attached(&command, &words)?;
    let mut parsed = read(&mut command, &words);
    let asks_for_all = words.iter().any(|word| word == "--help") || words.get(1).is_some_and(|word| word == "help");
    // The short help takes time to make, so the program makes it only when clap is about to print help.
    if !asks_for_all && parsed.as_ref().is_err_and(is_help) {
        let names_none = words.iter().skip(1).all(|word| word.to_string_lossy().starts_with('-'));
        let command = called(&words);
        let mut command = if names_none { listing(command) } else { brief(command) };
        parsed = read(&mut command, &words);
    }
    let line = parsed.map_err(|error| refused(error, &words))?;
    option::refuse_detached(&command, &words)?;
    Ok(line)
}

fn read(command: &mut clap::Command, words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    let found = GlobalArgs::from_arg_matches(&matches).and_then(|it| Ok((it, Command::from_arg_matches(&matches)?)));
    let (GlobalArgs { quiet }, called) = found.map_err(|error| error.format(command))?;
    let json = asks_for_json(&matches).then(|| Whole::in_json(name_of(&matches), called.is_to_stdout()));
    Ok(CommandLine { quiet, command: called, whole: json.unwrap_or_default() })
}

fn is_help(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
}

/// Whether the results are JSON. In the lab's commands, `--json` has another meaning: its value is the name of a file.
fn asks_for_json(matches: &ArgMatches) -> bool {
    let asks = matches.try_get_one::<bool>("json").ok().flatten().is_some_and(|asks| *asks);
    asks || matches.subcommand().is_some_and(|(_, below)| asks_for_json(below))
}

/// Returns the name of the command for the results in JSON.
fn name_of(matches: &ArgMatches) -> String {
    match matches.subcommand() {
        Some(("picture", below)) => below.subcommand_name().unwrap_or("picture").to_owned(),
        Some((name @ ("share" | "repair"), below)) => {
            format!("{name} {}", below.subcommand_name().unwrap_or_default())
        }
        Some((name, _)) => name.to_owned(),
        None => String::new(),
    }
}

/// Whether a text can be the number of a file descriptor. If a text cannot be the number of a descriptor, error
/// messages do not repeat the text.
fn is_descriptor(text: String) -> bool {
    text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the failure for a command line that clap refuses, or ends the program with clap's message.
fn refused(mut error: clap::Error, words: &[OsString]) -> Failure {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match (error.kind(), text(ContextKind::InvalidSubcommand), text(ContextKind::InvalidArg)) {
        (_, Some(word), _) => unknown(&word),
        (ErrorKind::UnknownArgument, _, Some(option)) if option.starts_with('-') => {
            option::unknown(&whole(), &option, text(ContextKind::SuggestedArg).as_deref(), words)
        }
        (ErrorKind::UnknownArgument, _, Some(word)) if option::has_advice(&whole(), &word, words) => {
            option::unknown(&whole(), &word, None, words)
        }
        (ErrorKind::TooManyValues, _, Some(option))
            if option.starts_with("--passphrase") || option.starts_with("--no-passphrase") =>
        {
            option::no_value(&option)
        }
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, _, Some(option))
            if option.contains("-passphrase-") && !text(ContextKind::InvalidValue).is_some_and(is_descriptor) =>
        {
            option::no_secret(&option)
        }
        _ if error.use_stderr() => {
            // The shell expands patterns such as `*`, so the arguments can contain any file name.
            let shown: Vec<_> = error
                .context()
                .filter_map(|(kind, value)| match value {
                    ContextValue::String(text) => Some((kind, ContextValue::String(guarded(text, false).into_owned()))),
                    _ => None,
                })
                .collect();
            for (kind, value) in shown {
                error.insert(kind, value);
            }
            error.exit()
        }
        _ => help(&error),
    }
}

/// Prints the text of `--help` or `--version` and ends the program. Fails if the text cannot be written.
fn help(text: &clap::Error) -> Failure {
    if let Err(failure) = streams::check_stdout() {
        return failure;
    }
    let verbose =
        text.kind() == ErrorKind::DisplayVersion && invocation::arguments().iter().any(|it| it == "--verbose");
    let details = if verbose { version::details() } else { String::new() };
    match text.print().and_then(|()| io::stdout().write_all(details.as_bytes())).and_then(|()| io::stdout().flush()) {
        Ok(()) => std::process::exit(text.exit_code()),
        Err(error) => streams::unwritten(&error),
    }
}

/// Reports that the command does not exist, and suggests a similar one.
fn unknown(word: &str) -> Failure {
    // The word `help` cannot be the parent of a command, because only `deadpan --help` lists the commands.
    let parent = invocation::arguments().into_iter().next().and_then(|first| first.into_string().ok());
    let parent = parent.filter(|first| first != word && first != "help");
    let cli = whole();
    let command = parent.as_deref().and_then(|name| cli.find_subcommand(name)).unwrap_or(&cli);
    let within = parent.as_ref().map_or(String::new(), |parent| format!(" {parent}"));
    let names = command.get_subcommands().filter(|command| !command.is_hide_set()).map(|it| it.get_name().to_owned());
    if parent.is_none() && word == "mount" {
        let why = if cfg!(target_os = "linux") { "this build of Deadpan has none" } else { "it is for Linux alone" };
        return Failure::usage(format!("there is no command mount: {why}"), "open the file with: deadpan open");
    }
    let alike = || closest(word, names).map(|name| format!("deadpan{within} {name}"));
    let hint = match synonym::meant_by(parent.as_deref(), word).map(String::from).or_else(alike) {
        Some(meant) => format!("did you mean: {meant}"),
        None => format!("the commands are listed by: deadpan{within} --help"),
    };
    Failure::usage(format!("there is no command {}", bytes(word.as_bytes())), hint)
}

impl Command {
    /// Whether the data go to standard output. If the data go to standard output, results in JSON go to standard error.
    fn is_to_stdout(&self) -> bool {
        match self {
            Self::Seal(args) => args.is_to_stdout(),
            Self::Open(args) => args.is_to_stdout(),
            Self::Sign(args) => args.is_to_stdout(),
            Self::Pack(args) => args.is_to_stdout(),
            Self::Page(args) => args.is_to_stdout(),
            Self::Picture(args) => args.is_to_stdout(),
            Self::Share(args) => args.is_to_stdout(),
            Self::Random(args) => args.is_to_stdout(),
            _ => false,
        }
    }
}

impl Command {
    /// Checks the arguments as far as possible without accessing any file.
    fn plan(self) -> Result<Task, Failure> {
        Ok(Task::Plan(match self {
            Self::Keygen(args) => Box::new(args.plan()?),
            Self::Keys(args) => Box::new(args.plan()?),
            Self::Agent(args) => Box::new(args.plan()?),
            Self::Seal(args) => Box::new(args.plan()?),
            Self::Open(args) => Box::new(args.plan()?),
            Self::Sign(args) => Box::new(args.plan()?),
            Self::Verify(args) => Box::new(args.plan()?),
            Self::Diff(args) => Box::new(args.plan()?),
            Self::List(args) => Box::new(args.plan()?),
            #[cfg(all(feature = "mount", target_os = "linux"))]
            Self::Mount(args) => Box::new(args.plan()?),
            Self::Inspect(args) => Box::new(args.plan()?),
            #[cfg(unix)]
            Self::Edit(args) => Box::new(args.plan()?),
            Self::Rewrap(args) => Box::new(args.plan()?),
            Self::Pack(args) => Box::new(args.plan()?),
            Self::Unpack(args) => Box::new(args.plan()?),
            Self::Page(args) => Box::new(args.plan()?),
            Self::Picture(args) => args.plan()?,
            Self::Share(args) => args.plan()?,
            Self::Repair(args) => args.plan()?,
            Self::Random(args) => Box::new(args.plan()?),
            Self::Cluster(args) => Box::new(args.plan()?),
            Self::Completions(args) => Box::new(move || args.print(whole())),
            Self::Complete(args) => Box::new(move || args.print(&whole())),
            Self::Man(args) => Box::new(move || args.print(whole())),
            Self::Lab(command) => return Ok(Task::Lab(Box::new(command))),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn options<'a>(command: &'a clap::Command, all: &mut Vec<(&'a str, Option<&'a str>)>) {
        let named =
            command.get_arguments().filter_map(|argument| Some((argument.get_long()?, argument.get_help_heading())));
        all.extend(named);
        command.get_subcommands().for_each(|command| options(command, all));
    }

    #[test]
    fn a_command_that_is_made_alone_is_the_same() {
        let mut all = whole();
        all.build();
        assert!(all.render_long_help().to_string().starts_with("Seals (encrypts) files and folders"));
        for command in all.get_subcommands().filter(|command| command.get_name() != "help") {
            let mut alone = called(&["deadpan".into(), "-q".into(), command.get_name().into()]);
            alone.build();
            assert_eq!(alone.get_subcommands().count(), 2, "{}, and help", command.get_name());
            let alone = alone.find_subcommand(command.get_name()).unwrap();
            let help = |command: &clap::Command| command.clone().render_long_help().to_string();
            assert_eq!(help(alone), help(command));
            let below = |command: &clap::Command| command.get_subcommands().map(help).collect::<Vec<_>>();
            assert_eq!(below(alone), below(command));
        }
    }

    #[test]
    fn an_option_stands_under_the_same_heading_in_every_command() {
        let (cli, mut headings) = (whole(), BTreeMap::new());
        for command in cli.get_subcommands() {
            let mut all = Vec::new();
            options(command, &mut all);
            let is_lab = command.get_name() == "lab";
            for (name, heading) in all.into_iter().filter(|(name, _)| !is_lab || ["html", "json"].contains(name)) {
                assert_eq!(*headings.entry(name).or_insert(heading), heading, "--{name}");
            }
        }
        for name in ["output", "force", "sync", "json", "html", "help", "recipient", "identity"] {
            assert!(headings.get(name).is_none_or(Option::is_none), "--{name}");
        }
        assert_eq!(headings["owner"], Some("Folders"));
    }
}
