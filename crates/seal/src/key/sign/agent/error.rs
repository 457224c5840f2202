//! Errors of an SSH agent.

use std::io;
use std::time::Duration;

use crate::Fault;

/// The reason why a request to an SSH agent failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    // The data that the agent sent.
    /// The agent sent a message that is not well formed, or a message that does not answer the request.
    #[error("the agent sent something that is not well formed: {0}")]
    Malformed(&'static str),
    /// The agent announced a message longer than 256 KiB.
    #[error("the agent announced a message of {0} bytes, which is more than is allowed")]
    TooLong(u32),
    /// The agent sent a signature by another key, or a signature over other data.
    #[error("the agent sent a wrong signature")]
    WrongSignature,

    // The keys.
    /// The agent refused the request: the agent is locked, the agent no longer has the key, or a person declined.
    #[error("the agent refused")]
    Refused,

    // The system.
    /// The socket of the agent cannot be reached.
    #[error("the agent cannot be reached: {0}")]
    Unreachable(#[source] io::Error),
    /// The agent took longer than the caller allows.
    #[error("the agent did not answer within {} seconds", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The agent closed the connection before its answer was complete.
    #[error("the agent closed the connection before its answer was complete")]
    Closed,
    /// The connection failed.
    #[error("the connection to the agent failed: {0}")]
    Connection(#[source] io::Error),
}

impl AgentError {
    /// Returns the cause of the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Malformed(_) | Self::TooLong(_) | Self::WrongSignature => Fault::Data,
            Self::Refused => Fault::Key,
            Self::Unreachable(_) | Self::TimedOut(_) | Self::Closed | Self::Connection(_) => Fault::System,
        }
    }
}

impl From<AgentError> for crate::Error {
    fn from(error: AgentError) -> Self {
        super::SignError::from(error).into()
    }
}
