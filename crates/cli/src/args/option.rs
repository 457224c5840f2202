//! Advice on options that a command does not have. The advice contains the option that the user probably meant, even if
//! the given option belongs to another program.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, Command};

use crate::tell::failure::Failure;
use crate::tell::shown::{bytes, shown};
use deadpan_disk::About;

/// Advice on how to give a passphrase without typing it.
const GIVEN: &str =
    "the passphrase is asked for, or comes from --passphrase-file, --passphrase-command or DEADPAN_PASSPHRASE";

/// Returns the failure for an option that the command does not have. `words` are the words of the command line, with
/// the program's name first. `alike` is an option of the command with a name similar to the given option.
pub fn unknown(cli: &Command, option: &str, alike: Option<&str>, words: &[OsString]) -> Failure {
    let (called, command) = called(cli, words);
    let word = words.iter().skip(1).find(|word| holds(word, option));
    let is_flag =
        |letter| command.get_arguments().any(|it| it.get_short() == Some(letter) && !it.get_action().takes_values());
    if word.is_some_and(|word| word.to_string_lossy().starts_with("-p")) && option != "-p" && is_flag('p') {
        return no_value("-p");
    }
    let what = if option.starts_with('-') { "has no option" } else { "takes no word" };
    let message = format!("{called} {what} {}", bytes(option.as_bytes()));
    let file = word.map(Path::new).filter(|path| About::of_name(path).is_ok());
    let hint = file.map(|path| format!("for the file of this name, write ./{}", shown(path)));
    let within = called.strip_prefix("deadpan ").unwrap_or_default();
    let hint = hint
        .or_else(|| meant(within, option).map(str::to_owned))
        .or_else(|| alike.map(|alike| format!("did you mean: {called} {}", bytes(alike.as_bytes()))))
        .or_else(|| elsewhere(cli, option).filter(|_| within.is_empty()))
        .unwrap_or_else(|| format!("the options are listed by: {called} --help"));
    Failure::usage(message, hint)
}

/// Whether there is advice on a word that is no option, and that the command does not take.
pub fn has_advice(cli: &Command, word: &str, words: &[OsString]) -> bool {
    meant(called(cli, words).0.strip_prefix("deadpan ").unwrap_or_default(), word).is_some()
}

/// Returns the failure for a passphrase among the arguments.
pub fn no_value(option: &str) -> Failure {
    let option = option.split([' ', '=']).next().unwrap_or_default();
    Failure::usage(
        format!("{option} takes no value, since everybody on this machine can see arguments"),
        format!("leave it out, and choose another one: {GIVEN}"),
    )
}

/// Returns the failure for an option about passphrases that has a wrong value. The message does not repeat the value,
/// since the value may be a passphrase.
pub fn no_secret(option: &str) -> Failure {
    let option = option.split([' ', '=']).next().unwrap_or_default();
    let rule = if option.ends_with("-command") {
        "a command has words, and each quote in it is closed"
    } else {
        "a descriptor is a number, such as 3 in `3< FILE`"
    };
    let hint = format!("{rule}; a passphrase itself is never an argument");
    Failure::usage(format!("the value of {option} is not valid"), hint)
}

/// Refuses a passphrase that is written directly after `-p`. Otherwise, clap treats the letters of the passphrase as
/// options.
pub fn refuse_attached(cli: &Command, words: &[OsString]) -> Result<(), Failure> {
    let (_, command) = called(cli, words);
    let short = |letter: char| command.get_arguments().find(|it| it.get_short() == Some(letter));
    let is_flag =
        |letter: char| "hq".contains(letter) || short(letter).is_some_and(|it| !it.get_action().takes_values());
    if short('p').is_none_or(|it| it.get_action().takes_values()) {
        return Ok(());
    }
    let words = words.iter().skip(1).map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    // In the same word, other flags may precede `p`.
    let attached = words.filter_map(|word| {
        let letters = word.strip_prefix('-')?;
        let (before, behind) = letters.split_once('p')?;
        before.chars().all(is_flag).then(|| behind.to_owned())
    });
    let is_secret = |letters: &String| {
        let (last, others) = letters
            .chars()
            .next_back()
            .map_or((None, ""), |last| (Some(last), &letters[..letters.len() - last.len_utf8()]));
        !others.chars().all(is_flag) || last.is_some_and(|last| !is_flag(last) && short(last).is_none())
    };
    if attached.into_iter().any(|letters| is_secret(&letters)) { Err(no_value("-p")) } else { Ok(()) }
}

/// Refuses a number that follows an option whose value needs an equals sign, if no file has this name: in `--compress
/// 19`, clap treats the number as a file.
pub fn refuse_detached(cli: &Command, words: &[OsString]) -> Result<(), Failure> {
    let (_, command) = called(cli, words);
    let words: Vec<_> = words.iter().skip(1).take_while(|word| *word != "--").collect();
    let needs_equals = |word: &str| {
        let is_meant = |it: &&Arg| match word.strip_prefix("--") {
            Some(long) => it.get_long() == Some(long),
            None => word.starts_with('-') && it.get_short().is_some_and(|short| word.ends_with(short)),
        };
        command.get_arguments().filter(|it| it.is_require_equals_set()).find(is_meant).and_then(Arg::get_long)
    };
    for pair in words.windows(2) {
        let (Some(word), Some(number)) = (pair[0].to_str(), pair[1].to_str()) else { continue };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let Some(option) = needs_equals(word).filter(|_| is_number && About::of_name(Path::new(number)).is_err())
        else {
            continue;
        };
        let message = format!("there is no file {number}, and --{option} takes its value after an equals sign");
        return Err(Failure::usage(message, format!("if it is the value, write --{option}={number}")));
    }
    Ok(())
}

/// Returns the words that call the command, such as `deadpan keys add`, and the definition of the command.
fn called<'a>(cli: &'a Command, words: &[OsString]) -> (String, &'a Command) {
    let (mut called, mut command) = ("deadpan".to_owned(), cli);
    for word in words.iter().skip(1).filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-')) {
        let Some(below) = command.find_subcommand(word) else { break };
        called.push_str(&format!(" {word}"));
        command = below;
    }
    (called, command)
}

/// Whether a word of the command line contains the option `option`: a long option, possibly with a value, or one letter
/// in a group of short options.
fn holds(word: &OsString, option: &str) -> bool {
    let word = word.to_string_lossy();
    let letter = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    match (letter, word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))) {
        (Some(letter), Some(letters)) => letters.contains(letter),
        _ => word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')),
    }
}

/// If the user wrote an option before the command, and a common command has this option, returns advice.
fn elsewhere(cli: &Command, option: &str) -> Option<String> {
    let has = |command: &&Command| {
        command.get_arguments().any(|it| {
            it.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long))
                || it
                    .get_short()
                    .is_some_and(|short| option.strip_prefix('-').is_some_and(|it| it == short.to_string()))
        })
    };
    let command = cli.get_subcommands().filter(|command| !command.is_hide_set()).find(|command| {
        ["seal", "open", "sign", "verify", "list", "inspect", "rewrap"].contains(&command.get_name()) && has(command)
    })?;
    Some(format!("the command comes first, as in: deadpan {} {option}", command.get_name()))
}

/// If the user gives an option of another program, returns advice: what to use in Deadpan instead. `within` is the name
/// of the command, such as `keys add`, or an empty text if there is no command.
fn meant(within: &str, option: &str) -> Option<&'static str> {
    let has = |row: &HabitRow| row.options.iter().any(|it| *it == option || *it == ANY && !option.starts_with('-'));
    let row = |row: &&HabitRow| row.within.is_none_or(|all| all.contains(&within)) && has(row);
    OPTIONS.iter().find(row).map(|row| row.meant)
}

/// Options of age, GnuPG, 7-Zip, OpenSSL, tar and gzip, and the advice on what to use in Deadpan instead.
struct HabitRow {
    /// The commands that the row applies to. `None` means all commands, except the commands of earlier rows.
    within: Option<&'static [&'static str]>,
    options: &'static [&'static str],
    meant: &'static str,
}

/// Stands for any word that is no option.
const ANY: &str = "*";

const fn habit(within: &'static [&'static str], options: &'static [&'static str], meant: &'static str) -> HabitRow {
    HabitRow { within: Some(within), options, meant }
}

const fn any(options: &'static [&'static str], meant: &'static str) -> HabitRow {
    HabitRow { within: None, options, meant }
}

const OPTIONS: &[HabitRow] = &[
    habit(&["seal"], &["-e", "--encrypt"], "deadpan seal encrypts by itself: leave the option out"),
    habit(&["open"], &["-d", "--decrypt"], "deadpan open decrypts by itself: leave the option out"),
    habit(&["seal"], &["-c", "--symmetric"], "to seal with a passphrase: deadpan seal -p FILE"),
    habit(&["open"], &["-c", "--stdout"], "to write to standard output: deadpan open -o - FILE"),
    habit(&["seal"], &["-c", "--stdout"], "to write to standard output: deadpan seal -o - FILE"),
    habit(
        &["seal"],
        &["-i", "--identity", "-k", "--key", "--keyfile", "--key-file"],
        "to seal to a key, name its public part or its owner: deadpan seal -r KEY FILE",
    ),
    habit(
        &["open"],
        &["-r", "--recipient", "-R", "--recipients-file", "-k", "--key", "--keyfile", "--key-file"],
        "to open with a private key: deadpan open -i KEY FILE; with one of your own keys, no option is needed",
    ),
    habit(
        &["seal"],
        &["-s", "-u", "--local-user"],
        "to seal and sign: deadpan seal --sign FILE; with a certain key: deadpan seal --sign=KEY FILE",
    ),
    habit(&["seal"], &["--base64", "--ascii", "--text", "--pem"], "to write text: deadpan seal --armor FILE"),
    habit(
        &["seal"],
        &["--self-decrypting", "--sfx", "--page"],
        "to write a page that opens itself: deadpan seal --html FILE",
    ),
    habit(
        &["open"],
        &["-a", "--armor", "--base64", "--format"],
        "deadpan open finds out by itself what a sealed file is: leave the option out",
    ),
    habit(
        &["seal"],
        &["--delete", "--rm", "--unlink", "--shred", "--wipe"],
        "to remove FILE after its sealed file was compared: deadpan seal --remove-source FILE",
    ),
    habit(&["seal"], &["--recursive"], "a folder is sealed with everything in it: deadpan seal FOLDER"),
    habit(
        &["seal"],
        &["--cipher", "--cipher-algo"],
        "the cipher is always the same; deadpan seal --mode MODE chooses keys",
    ),
    habit(&["open", "unpack"], &["-C", "--directory"], "to write into a folder: deadpan open -o FOLDER FILE"),
    habit(
        &["open", "list", "inspect", "sign", "keys protect", "keys unprotect", "share open"],
        &["-p", "--passphrase", "--password", "--passwd", "--pass"],
        "a passphrase is asked for where one is needed; scripts give it with --passphrase-file, --passphrase-command \
         or DEADPAN_PASSPHRASE",
    ),
    habit(
        &["seal", "picture hide"],
        &["--password", "--passwd", "--pass"],
        "-p seals with a passphrase, which is asked for, or comes from --passphrase-file, --passphrase-command or \
         DEADPAN_PASSPHRASE",
    ),
    habit(
        &["open", "sign", "pack", "unpack", "random", "picture hide", "picture reveal"],
        &["-y", "--yes", "--overwrite"],
        "to replace an output that exists: --force",
    ),
    habit(&["seal"], &["-y", "--overwrite"], "to replace an output that exists: --force"),
    habit(
        &["keygen"],
        &[ANY, "--name", "-n"],
        "to name a key of your own: deadpan keygen -o ~/.config/deadpan/NAME.key; for a file: deadpan keygen -o \
         NAME.key",
    ),
    habit(
        &["keygen"],
        &["-t", "--type", "--algo", "--algorithm"],
        "the kind of key: deadpan keygen --mode MODE; for signatures: deadpan keygen --sign",
    ),
    habit(&["keys unlock"], &["-t", "--time", "--timeout", "--ttl"], "for how long: deadpan keys unlock --for 1h"),
    habit(
        &["agent"],
        &["lock", "stop", "kill", "-k", "--kill"],
        "to make the agent forget its keys: deadpan keys lock",
    ),
    habit(
        &["agent"],
        &["list", "status", "-l", "--list", "--status"],
        "to list the keys that the agent holds: deadpan keys unlock --list",
    ),
    habit(&["agent"], &["unlock", "start", "add"], "to give it a key, which also starts it: deadpan keys unlock"),
    #[cfg(all(feature = "mount", target_os = "linux"))]
    habit(
        &["mount"],
        &["-d", "--debug", "--daemon", "--background"],
        "the command runs until the folder is unmounted; in the background of a shell: deadpan mount FILE FOLDER &",
    ),
    any(&["-e", "--encrypt"], "to seal a file: deadpan seal FILE"),
    any(&["-d", "--decrypt"], "to open a sealed file: deadpan open FILE"),
    any(&["-c", "--symmetric"], "to seal with a passphrase: deadpan seal -p FILE"),
    any(
        &["-x", "--extract"],
        "to open a sealed file or folder: deadpan open FILE; to unpack an archive: deadpan unpack FILE",
    ),
    any(
        &["-t", "--test"],
        "to check a sealed file: deadpan open --verify FILE; to list what is inside: deadpan list FILE",
    ),
    any(&["-l", "--list"], "to list what is inside a sealed folder: deadpan list FILE"),
    any(
        &["-z", "--gzip", "--compress", "-j", "--bzip2", "-J", "--xz", "--zstd"],
        "to compress: deadpan seal -z FILE, deadpan pack -z FOLDER; other commands need no option",
    ),
    habit(&[""], &["-v"], "for the version: deadpan --version; for details of a sealed file: deadpan inspect FILE"),
    any(&["-v", "--verbose", "--debug"], "for details of a sealed file: deadpan inspect FILE"),
    any(&["-V", "--version"], "for the version: deadpan --version"),
    any(&["--password", "--passwd", "--pass", "-p"], "to seal with a passphrase: deadpan seal -p FILE"),
    any(&["-k", "-K", "--list-keys", "--list-secret-keys"], "to list keys: deadpan keys"),
    any(
        &["--gen-key", "--generate-key", "--full-generate-key", "--full-gen-key", "--keygen"],
        "to make a key: deadpan keygen",
    ),
    any(&["--import"], "to add a key of somebody else: deadpan keys add NAME FILE"),
    any(&["--export"], "to print your public key: deadpan keys export"),
    any(
        &["-s", "-b", "--sign", "--detach-sign", "--clearsign", "--clear-sign"],
        "for a signature beside the file: deadpan sign FILE; inside the sealed file: deadpan seal --sign FILE",
    ),
    any(&["--verify"], "to check a signature: deadpan verify FILE; to check a sealed file: deadpan open --verify FILE"),
    any(&["--man", "--manual"], "for the manual: deadpan man"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::whole;

    fn find<'a>(cli: &'a Command, words: &str) -> &'a Command {
        words.split_whitespace().fold(cli, |command, word| {
            command.find_subcommand(word).unwrap_or_else(|| panic!("there is no command {words}"))
        })
    }

    fn has(command: &Command, option: &str) -> bool {
        let long = |name: &str| command.get_arguments().any(|it| it.get_long() == Some(name));
        let short = |letter: char| command.get_arguments().any(|it| it.get_short() == Some(letter));
        match option.strip_prefix("--") {
            Some(name) => long(name) || name == "help" || name == "version",
            None => option.chars().nth(1).is_some_and(short),
        }
    }

    #[test]
    fn each_answer_names_what_exists_for_an_option_that_does_not() {
        let mut cli = whole();
        cli.build();
        for HabitRow { within, options, meant } in OPTIONS {
            for within in within.iter().copied().flatten() {
                let command = find(&cli, within);
                for option in *options {
                    assert!(!has(command, option), "{within} has {option}");
                }
                // If the advice mentions an option before it mentions a command, the command of this row must have this
                // option.
                let own = meant.split([' ', ',', ';', ':']).take_while(|word| *word != "deadpan");
                for option in own.filter(|word| word.starts_with('-') && *word != "-") {
                    assert!(has(command, option), "{within} has no {option}");
                }
            }
            for called in meant.split("deadpan ").skip(1) {
                let called = called.split([';', ':', '|']).next().unwrap();
                let mut words = called.split(' ').peekable();
                let mut command = &cli;
                while let Some(below) = words.peek().and_then(|word| command.find_subcommand(word)) {
                    command = below;
                    words.next();
                }
                for option in words.filter(|word| word.starts_with('-') && *word != "-") {
                    let option = option.split('=').next().unwrap();
                    assert!(has(command, option), "{called}: there is no {option}");
                }
            }
        }
    }

    #[test]
    fn the_first_row_wins_and_other_commands_have_the_general_answer() {
        assert_eq!(meant("seal", "-e"), Some("deadpan seal encrypts by itself: leave the option out"));
        assert_eq!(meant("", "-e"), Some("to seal a file: deadpan seal FILE"));
        assert_eq!(meant("open", "-e"), meant("", "-e"));
        assert_eq!(meant("seal", "--frobnicate"), None);
    }
}
