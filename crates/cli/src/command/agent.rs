//! `deadpan agent`: a process that keeps unlocked keys in memory for a time, and uses the keys on behalf of other
//! processes of the same user.

#[cfg(unix)]
mod serve;

use crate::command::plan::Plan;
use crate::key::agent;
use crate::key::home::Home;
use crate::tell::failure::{Exit, Failure, help};

/// Holds unlocked keys in memory for a time, so that their passphrases are typed once
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan keys unlock                   starts the agent by itself, and unlocks your default key for an hour",
    "deadpan keys lock                     forgets all keys",
    "deadpan agent                         runs in the foreground, for example as a service of systemd",
    "eval \"$(deadpan agent --shell)\"       in a shell's profile: starts the agent unless it runs"
))]
pub struct AgentArgs {
    /// Start the agent in the background unless it runs, and print the line that tells a shell where it listens
    #[arg(long)]
    shell: bool,
    /// Go on when the terminal is closed, and end without an error if an agent already runs
    #[arg(long, hide = true, conflicts_with = "shell")]
    background: bool,
    /// End when no key is left
    #[arg(long, hide = true, conflicts_with = "shell")]
    brief: bool,
}

pub struct RunAgent {
    args: AgentArgs,
}

impl AgentArgs {
    pub fn plan(self) -> Result<RunAgent, Failure> {
        Ok(RunAgent { args: self })
    }
}

impl Plan for RunAgent {
    #[cfg(unix)]
    fn run(&self) -> Result<Exit, Failure> {
        use crate::tell::shown::shown;
        use crate::tell::streams::print;

        let home = Home::find()?;
        let path = agent::socket(&home).ok_or_else(nowhere)?;
        if !self.args.shell {
            return serve::run(&path, self.args.background, self.args.brief);
        }
        serve::start(&home, &path, false)?;
        let text = path.to_str().and_then(|path| shlex::try_quote(path).ok());
        let text = text.ok_or_else(|| Failure::usage(format!("{} is no path for a shell", shown(&path)), HINT))?;
        print(&format!("export {}={text}\n", agent::VARIABLE)).map(|()| Exit::Done)
    }

    #[cfg(not(unix))]
    fn run(&self) -> Result<Exit, Failure> {
        let _ = (&self.args, Home::find()?, agent::VARIABLE);
        Err(Failure::usage("there is no agent on this system", "see: deadpan keys protect"))
    }
}

#[cfg(unix)]
pub use serve::start;

#[cfg(unix)]
const HINT: &str = "name a path with DEADPAN_AGENT";

#[cfg(unix)]
fn nowhere() -> Failure {
    Failure::usage("DEADPAN_AGENT is empty, so no agent is used", "unset the variable, or name a path with it")
}
