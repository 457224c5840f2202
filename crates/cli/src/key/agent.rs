//! Finds Deadpan's agent and the keys that the agent holds. The agent keeps unlocked keys in memory for a time.

use std::path::{PathBuf, absolute};
use std::time::Duration;

use crate::key::home::Home;
use crate::tell::console::complain;
use crate::tell::failure::{Exit, Failure};
use crate::tell::patience;
use crate::tell::shown::shown;
use deadpan_disk::{About, parent};
use deadpan_seal::sign::{Agent, AgentError, HeldKey, SignError, Signer, VerifyingKey};
use deadpan_seal::{Error, PrivateKey, PublicKey};

/// The variable with the path of the agent's socket. If the variable is empty, no agent is used.
pub const VARIABLE: &str = "DEADPAN_AGENT";
/// How long an agent may take to list its keys.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns the path of the agent's socket, or `None` if the user wants no agent.
pub fn socket(home: &Home) -> Option<PathBuf> {
    if cfg!(not(unix)) {
        return None;
    }
    match std::env::var_os(VARIABLE) {
        // The agent works in another folder, where a relative path would lead to another file.
        Some(path) => (!path.is_empty()).then(|| absolute(&path).unwrap_or_else(|_| path.into())),
        None => {
            let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
            Some(runtime.map_or_else(|| home.folder.join("agent"), |path| path.join("deadpan-agent")).join("socket"))
        }
    }
}

/// Returns the agent, if there is one. Refuses a socket that another user may have made.
pub fn find(home: &Home) -> Result<Option<Agent>, Failure> {
    let Some(path) = socket(home) else { return Ok(None) };
    let Ok(about) = About::of_name(&path) else { return Ok(None) };
    let is_safe = |folder: About| folder.is_trusted() && folder.mode & 0o022 == 0;
    if !about.is_trusted() || !About::of_path(parent(&path)).is_ok_and(is_safe) {
        return Err(Failure::new(
            Exit::Key,
            format!("{} is not used as an agent, because another user can replace it", shown(&path)),
            format!("name the socket of your own agent with {VARIABLE}, or set it to nothing"),
        ));
    }
    Ok(Some(Agent::new(path)))
}

/// The keys in the agent.
#[derive(Default)]
pub struct HeldKeys {
    opening: Vec<(PrivateKey, bool)>,
    signing: Vec<Signer>,
}

impl HeldKeys {
    /// Asks the agent for a list of its keys. If the agent does not answer, prints a note, and returns no keys.
    pub fn of(home: &Home) -> Self {
        let agent = match find(home) {
            Ok(Some(agent)) => agent,
            Ok(None) => return Self::default(),
            Err(failure) => {
                failure.say();
                return Self::default();
            }
        };
        let patient = agent.clone().with_timeout(PATIENCE);
        // Before the agent uses a key, the user may have to confirm the use, which takes longer than a list.
        let agent = match patience::seconds(patience::AGENT, "an answer of the agent") {
            Ok(limit) => limit.map_or(agent.clone(), |limit| agent.clone().with_timeout(limit)),
            Err(failure) => {
                failure.say();
                agent
            }
        };
        let keys = patient.held_keys().and_then(|held| Ok((held, agent.keys()?)));
        match keys {
            Ok((held, signing)) => {
                let opening = held.iter().filter_map(|key| Some((key.private(&agent)?, key.asks))).collect();
                Self { opening, signing: signing.into_iter().map(Signer::from).collect() }
            }
            Err(error) if is_gone(&error) => Self::default(),
            Err(error) => {
                complain(&format!("note: the agent's keys are not used: {error}"));
                Self::default()
            }
        }
    }

    /// Searches for the private key of a public key. Also returns whether the agent asks the user before it uses the
    /// key.
    pub fn private(&self, public: &PublicKey) -> Option<(PrivateKey, bool)> {
        self.opening.iter().find(|(key, _)| key.public() == public).cloned()
    }

    /// Searches for the signer whose signatures a public key verifies.
    pub fn signer(&self, public: &VerifyingKey) -> Option<Signer> {
        self.signing.iter().find(|key| key.public() == public).cloned()
    }
}

/// Whether the error came from an agent, for example because the user declined.
pub fn is_of_agent(error: &Error) -> bool {
    matches!(error, Error::Sign(SignError::Agent(_)))
}

/// Whether the error means that the agent has ended, or is about to end.
pub fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Sign(SignError::Agent(AgentError::Unreachable(_) | AgentError::Closed)))
}

/// Returns the keys in the agent, or `None` if the agent has ended.
pub fn held(agent: &Agent) -> Result<Option<Vec<HeldKey>>, Failure> {
    match agent.clone().with_timeout(PATIENCE).held_keys() {
        Err(error) if is_gone(&error) => Ok(None),
        result => result.map(Some).map_err(|error| failed(&error)),
    }
}

/// Makes the agent forget all keys. Returns whether there is an agent.
pub fn forget_all(agent: &Agent) -> Result<bool, Failure> {
    match agent.clone().with_timeout(PATIENCE).forget_all() {
        Err(error) if is_gone(&error) => Ok(false),
        result => result.map(|()| true).map_err(|error| failed(&error)),
    }
}

/// Makes the agent forget the keys of this name. Returns whether the agent held such a key.
pub fn forget(agent: &Agent, name: &str) -> Result<bool, Failure> {
    match agent.clone().with_timeout(PATIENCE).forget(name) {
        Err(error) if is_gone(&error) => Ok(false),
        result => result.map_err(|error| failed(&error)),
    }
}

pub fn failed(error: &Error) -> Failure {
    Failure::new(Exit::Key, format!("the agent: {error}"), "end it, and start it again: deadpan keys unlock")
}
