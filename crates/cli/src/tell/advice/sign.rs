//! Advice on errors of signing and verifying.

use deadpan_seal::sign::{AgentError, SignError};

pub fn advise(error: &SignError) -> Option<&'static str> {
    Some(match error {
        SignError::Malformed(_) => {
            "get the signature again from the signer; it is a text that begins with BEGIN SSH SIGNATURE"
        }
        SignError::Unsupported(_) => "ask for a signature by an Ed25519 key; `ssh-keygen -Y verify` may know this one",
        SignError::Forged => {
            "do not use the file; see whether the signature belongs to it, or get both again from the signer"
        }
        SignError::Namespace { .. } => "if that purpose is right, ask for it with --namespace",
        SignError::Hardware(_) => "sign with it through an SSH agent",
        SignError::AllowedSigners { .. } => "the file has a line for each key: people, options, and the key of SSH",
        SignError::Agent(error) => agent(error),
        _ => return None,
    })
}

fn agent(error: &AgentError) -> &'static str {
    match error {
        AgentError::Refused => "confirm its question, or give it the key again: deadpan keys unlock, or ssh-add",
        AgentError::Unreachable(_) => {
            "check that the agent runs, and that SSH_AUTH_SOCK or DEADPAN_AGENT names its socket"
        }
        AgentError::TimedOut(_) => {
            "answer its question or touch the security key; more time: DEADPAN_AGENT_TIMEOUT=300 (seconds)"
        }
        _ => "start the agent again, or name the file of the private key",
    }
}
