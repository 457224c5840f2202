//! The program's command line.

mod brief;
mod option;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::command::plan::Task;
use crate::command::{
    cluster, completions, inspect, keygen, keys, lab, list, man, open, pack, picture, random, rewrap, seal, share,
    sign, synonym, unpack, verify,
};
use crate::place::report::Whole;
use crate::tell::console;
use crate::tell::failure::Failure;
use crate::tell::shown::{bytes, guarded};
use crate::tell::streams;
use crate::tell::suggest::closest;
use brief::{brief, listing};
use deadpan_lab::{harness, invocation};

/// Seals (encrypts) files and folders with a straight face: neither the bytes nor the time show anything of the secret
#[derive(Parser)]
#[command(name = "deadpan", version, max_term_width = 120, arg_required_else_help = true)]
#[command(after_help = concat!(
    "Examples:\n",
    "  deadpan seal report.pdf            report.pdf.dpn, which only you can open\n",
    "  deadpan open report.pdf.dpn        report.pdf again\n",
    "  deadpan seal -r alice report.pdf   for Alice, one of your contacts (deadpan keys add)\n",
    "  deadpan help seal                  what a command does, with examples\n",
    "\nEnvironment:\n",
    "  DEADPAN_HOME        the folder of your keys and contacts, usually ~/.config/deadpan\n",
    "  DEADPAN_PASSPHRASE  the passphrase, where nobody can type it"
))]
pub struct Cli {
    /// Print errors alone: no notes, no summaries, no progress
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Keygen(keygen::KeygenArgs),
    Keys(keys::KeysArgs),
    Seal(seal::SealArgs),
    Open(open::OpenArgs),
    Sign(sign::SignArgs),
    Verify(verify::VerifyArgs),
    List(list::ListArgs),
    Inspect(inspect::InspectArgs),
    Rewrap(rewrap::RewrapArgs),
    Pack(pack::PackCommand),
    Unpack(unpack::UnpackCommand),
    Picture(picture::PictureArgs),
    Share(share::ShareArgs),
    Random(random::RandomArgs),
    Cluster(cluster::ClusterArgs),
    /// Measures speed, and whether run time depends on a secret
    #[command(subcommand)]
    Lab(lab::Command),
    Completions(completions::Completions),
    Complete(completions::Complete),
    Man(man::Man),
}

/// A command line that was parsed.
pub struct CommandLine {
    cli: Cli,
    whole: Whole,
}

impl CommandLine {
    /// Runs the command and returns the exit code of the program.
    pub fn run(self) -> u8 {
        let Self { cli, whole } = self;
        if cli.quiet {
            console::be_quiet();
            harness::be_quiet();
        }
        match cli.plan() {
            Ok(task) => task.run(&whole),
            Err(failure) => whole.end(&failure),
        }
    }
}

/// Parses the command line, of which the first word is the program's name. After `--help` or an error of clap, ends the
/// program.
pub fn parse(words: Vec<OsString>) -> Result<CommandLine, Failure> {
    option::refuse_attached(&Cli::command(), &words)?;
    let asks_for_all = words.iter().any(|word| word == "--help") || words.get(1).is_some_and(|word| word == "help");
    let names_none = words.iter().skip(1).all(|word| word.to_string_lossy().starts_with('-'));
    let mut command = match (asks_for_all, names_none) {
        (true, _) => Cli::command(),
        (false, true) => listing(Cli::command()),
        (false, false) => brief(Cli::command()),
    };
    let parsed = command.try_get_matches_from_mut(&words).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        let json = asks_for_json(&matches).then(|| Whole::in_json(name_of(&matches), cli.command.is_to_stdout()));
        Ok(CommandLine { cli, whole: json.unwrap_or_default() })
    });
    parsed.map_err(|error| refused(error, &words))
}

/// Whether the results are JSON. `--json` of the lab names a file.
fn asks_for_json(matches: &ArgMatches) -> bool {
    let asks = matches.try_get_one::<bool>("json").ok().flatten().is_some_and(|asks| *asks);
    asks || matches.subcommand().is_some_and(|(_, below)| asks_for_json(below))
}

/// Returns the name of the command as results in JSON have it.
fn name_of(matches: &ArgMatches) -> String {
    match matches.subcommand() {
        Some(("picture", below)) => below.subcommand_name().unwrap_or("picture").to_owned(),
        Some(("share", below)) => format!("share {}", below.subcommand_name().unwrap_or_default()),
        Some((name, _)) => name.to_owned(),
        None => String::new(),
    }
}

/// Whether a text can be the number of a descriptor. Others are not repeated.
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
            option::unknown(&Cli::command(), &option, text(ContextKind::SuggestedArg).as_deref(), words)
        }
        (ErrorKind::TooManyValues, _, Some(option))
            if option.starts_with("--passphrase") || option.starts_with("--no-passphrase") =>
        {
            option::no_value(&option)
        }
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, _, Some(option))
            if option.starts_with("--passphrase") && !text(ContextKind::InvalidValue).is_some_and(is_descriptor) =>
        {
            option::no_secret(&option)
        }
        _ if error.use_stderr() => {
            // The shell expands patterns such as `*`, so the name of any file can be among the arguments.
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

/// Prints the text of `--help` or `--version` and ends the program; fails if it cannot be written.
fn help(text: &clap::Error) -> Failure {
    if let Err(failure) = streams::check_stdout() {
        return failure;
    }
    match text.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => std::process::exit(text.exit_code()),
        Err(error) => streams::unwritten(&error),
    }
}

/// Reports that the command does not exist, and suggests a similar one.
fn unknown(word: &str) -> Failure {
    // After `deadpan help`, only `deadpan --help` lists commands.
    let parent = invocation::arguments().into_iter().next().and_then(|first| first.into_string().ok());
    let parent = parent.filter(|first| first != word && first != "help");
    let cli = Cli::command();
    let command = parent.as_deref().and_then(|name| cli.find_subcommand(name)).unwrap_or(&cli);
    let within = parent.as_ref().map_or(String::new(), |parent| format!(" {parent}"));
    let names = command.get_subcommands().filter(|command| !command.is_hide_set()).map(|it| it.get_name().to_owned());
    let alike = || closest(word, names).map(|name| format!("deadpan{within} {name}"));
    let hint = match synonym::meant_by(parent.as_deref(), word).map(String::from).or_else(alike) {
        Some(meant) => format!("did you mean: {meant}"),
        None => format!("the commands are listed by: deadpan{within} --help"),
    };
    Failure::usage(format!("there is no command {}", bytes(word.as_bytes())), hint)
}

impl Command {
    /// Whether results in JSON leave standard output to the data.
    fn is_to_stdout(&self) -> bool {
        match self {
            Self::Seal(args) => args.is_to_stdout(),
            Self::Open(args) => args.is_to_stdout(),
            Self::Sign(args) => args.is_to_stdout(),
            Self::Pack(args) => args.is_to_stdout(),
            Self::Picture(args) => args.is_to_stdout(),
            Self::Share(args) => args.is_to_stdout(),
            Self::Random(args) => args.is_to_stdout(),
            _ => false,
        }
    }
}

impl Cli {
    /// Checks the arguments as far as possible without accessing any file.
    pub fn plan(self) -> Result<Task, Failure> {
        Ok(Task::Plan(match self.command {
            Command::Keygen(args) => Box::new(args.plan()?),
            Command::Keys(args) => Box::new(args.plan()?),
            Command::Seal(args) => Box::new(args.plan()?),
            Command::Open(args) => Box::new(args.plan()?),
            Command::Sign(args) => Box::new(args.plan()?),
            Command::Verify(args) => Box::new(args.plan()?),
            Command::List(args) => Box::new(args.plan()?),
            Command::Inspect(args) => Box::new(args.plan()?),
            Command::Rewrap(args) => Box::new(args.plan()?),
            Command::Pack(args) => Box::new(args.plan()?),
            Command::Unpack(args) => Box::new(args.plan()?),
            Command::Picture(args) => args.plan()?,
            Command::Share(args) => args.plan()?,
            Command::Random(args) => Box::new(args.plan()?),
            Command::Cluster(args) => Box::new(args.plan()?),
            Command::Completions(args) => Box::new(args.plan(Self::command())),
            Command::Complete(args) => Box::new(args.plan(Self::command())),
            Command::Man(args) => Box::new(args.plan(Self::command())),
            Command::Lab(command) => return Ok(Task::Lab(Box::new(command))),
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
    fn an_option_stands_under_the_same_heading_in_every_command() {
        let (cli, mut headings) = (Cli::command(), BTreeMap::new());
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
