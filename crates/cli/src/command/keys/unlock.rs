//! `deadpan keys unlock` and `lock`: gives unlocked keys to the agent, and makes the agent forget them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::key::agent;
use crate::key::home::{self, Home, Public};
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::program;
use crate::key::protected::{not_private, text, unlock_any};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{Foreign, bytes, shown};
use crate::tell::streams::print;
use deadpan_disk::portable::OsStrExt;
use deadpan_seal::key::Found;
use deadpan_seal::sign::HeldKey;

#[derive(Debug, clap::Args)]
pub struct UnlockArgs {
    /// The names of your own keys, or private key files [default: your default key]
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// How long the agent holds the keys: 30s, 15m, 8h
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = time)]
    time: Duration,
    /// Ask before each use, with the program that DEADPAN_ASKPASS or SSH_ASKPASS names
    #[arg(long)]
    ask: bool,
    /// Print the keys that the agent holds
    #[arg(long, conflicts_with_all = ["keys", "ask"])]
    list: bool,
    #[command(flatten)]
    source: PassphraseArgs,
}

/// Reads a time: a whole number with a unit.
fn time(text: &str) -> Result<Duration, &'static str> {
    let wrong = "a time is a number with a unit: 30s, 15m, 8h";
    let (number, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit()).ok_or(wrong)?);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong),
    };
    let seconds = number.parse::<u32>().ok().and_then(|number| number.checked_mul(unit)).filter(|time| *time > 0);
    seconds.map(|seconds| Duration::from_secs(seconds.into())).ok_or("the time is too short or too long")
}

pub fn unlock(home: &Home, args: &UnlockArgs, own: impl Fn(&str) -> Result<PathBuf, Failure>) -> Result<(), Failure> {
    if args.source.leaves_agent_out() {
        return Err(Failure::usage("the keys go to the agent, and --no-agent leaves it out", "leave out --no-agent"));
    }
    if args.list {
        return list(home);
    }
    let paths = if args.keys.is_empty() {
        let nothing = || Failure::usage("you have no key", "make one with: deadpan keygen");
        vec![home.default_key()?.ok_or_else(nothing)?.path]
    } else {
        args.keys.iter().map(|key| own(key)).collect::<Result<_, _>>()?
    };
    let asks = match program::confirming().filter(|_| args.ask) {
        None if args.ask => {
            let hint = "name a program that asks with DEADPAN_ASKPASS or SSH_ASKPASS";
            return Err(Failure::usage("--ask needs a program that asks", hint));
        }
        // The agent works in another folder, where a relative path would lead to another program.
        Some(program) if Path::new(&program).components().count() > 1 => {
            std::path::absolute(&program).map_or(program, PathBuf::into_os_string)
        }
        program => program.unwrap_or_default(),
    };
    let passphrases = Passphrases::new(&args.source);
    for path in paths {
        let name = shown(&path);
        let key = match home::KeyFile::find(&path)?.only()? {
            Found::Protected(locked) => unlock_any(&path, &locked, &passphrases)?,
            Found::Private(_) | Found::Signing(_) => {
                say(&format!("note: {name} has no passphrase, so the agent is not needed for it"));
                continue;
            }
            Found::OpenSsh(_) => {
                let public = shown(home::public_path(&path));
                let hint = format!("give it to the agent of SSH: ssh-add {name}; then: deadpan sign -k {public} FILE");
                return Err(Failure::usage(format!("{name} is a key of SSH"), hint));
            }
            _ => return Err(not_private(&name)),
        };
        let pem = text(&name, &key, None)?;
        // Other commands ask the agent for a private key only if they know its public key.
        match Public::from_key(&key) {
            Some(public) if !home::public_path(&path).exists() => home::write_public(&path, &public),
            _ => {}
        }
        let agent = started(home)?;
        let called = home.name_of(&path).map_or_else(|| name.clone(), str::to_owned);
        let seconds = u32::try_from(args.time.as_secs()).unwrap_or(u32::MAX);
        let unlocked = match agent.unlock(&called, &pem, seconds, asks.as_bytes()) {
            // The agent has just ended, because it held no key any more.
            Err(error) if agent::is_gone(&error) => started(home)?.unlock(&called, &pem, seconds, asks.as_bytes()),
            result => result,
        };
        unlocked.map_err(|error| agent::failed(&error))?;
        say(&format!("{called} is unlocked for {}", said(args.time)));
    }
    Ok(())
}

#[cfg(unix)]
fn started(home: &Home) -> Result<deadpan_seal::sign::Agent, Failure> {
    let path = agent::socket(home).ok_or_else(|| Failure::usage("DEADPAN_AGENT is empty", "unset the variable"))?;
    crate::command::agent::start(home, &path, true)?;
    agent::find(home)?.ok_or_else(|| Failure::new(Exit::Key, "the agent has ended", "try again"))
}

#[cfg(not(unix))]
fn started(_home: &Home) -> Result<deadpan_seal::sign::Agent, Failure> {
    Err(Failure::new(Exit::Usage, "there is no agent on this system", "type the passphrase where it is needed"))
}

fn list(home: &Home) -> Result<(), Failure> {
    // If an agent was killed, its socket still exists, and nothing listens there.
    let keys = agent::find(home)?.map(|agent| agent::held(&agent)).transpose()?.flatten().unwrap_or_default();
    let line = |key: &HeldKey| {
        let asks = if key.asks { "  asks before each use" } else { "" };
        format!("{}  {}{asks}\n", Foreign::new(&*key.name), said(Duration::from_secs(key.seconds.into())))
    };
    let lines: String = keys.iter().map(line).collect();
    if lines.is_empty() {
        say("no key is unlocked");
    }
    print(&lines)
}

/// Makes the agent forget the keys with these names, or all keys if there are no names.
pub fn lock(home: &Home, names: &[String]) -> Result<(), Failure> {
    for name in names {
        if !agent::find(home)?.map(|agent| agent::forget(&agent, name)).transpose()?.unwrap_or_default() {
            let message = format!("the agent does not hold {}", bytes(name.as_bytes()));
            return Err(Failure::usage(message, "list the keys that it holds: deadpan keys unlock --list"));
        }
        say(&format!("{} is locked", bytes(name.as_bytes())));
    }
    if !names.is_empty() {
        return Ok(());
    }
    let is_there = agent::find(home)?.map(|agent| agent::forget_all(&agent)).transpose()?.unwrap_or_default();
    say(if is_there { "the agent holds no keys" } else { "no agent runs" });
    Ok(())
}

/// Returns a time in words.
fn said(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60, seconds) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, minutes, _) if minutes % 60 == 0 => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {} min", minutes % 60),
    }
}
