//! Why stored bytes are refused, and what happens after a failure.

use std::io;

use thiserror::Error;

/// What is wrong with stored bytes. Readers return a flaw inside an [`io::Error`] of the kind
/// [`io::ErrorKind::InvalidData`], or of the kind [`io::ErrorKind::UnexpectedEof`] for [`Flaw::Truncated`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The header of a frame is malformed, or asks for something that this format does not have, such as a dictionary.
    #[error("frame {0} has a header that is not allowed")]
    Header(u64),
    /// A frame's blocks are malformed, or longer than its data could need.
    #[error("frame {0} has blocks that are not allowed")]
    Blocks(u64),
    /// A frame does not expand to the length that it states.
    #[error("frame {0} does not expand to the length that it states")]
    Contents(u64),
    /// A frame other than the last is shorter than [`FRAME`](crate::FRAME).
    #[error("frame {0} is short, but it is not the last frame")]
    Short(u64),
    /// The seek table is malformed.
    #[error("the seek table is malformed")]
    Table,
    /// The seek table is for other frames.
    #[error("the seek table does not describe the frames")]
    OtherFrames,
    /// Frames of another program cannot be expanded.
    #[error("frames of another program are malformed or end too early")]
    Foreign,
    /// Bytes follow the seek table.
    #[error("bytes follow the seek table")]
    Trailing,
    /// The bytes end before the seek table does.
    #[error("the bytes end before the end of the seek table")]
    Truncated,
}

impl From<Flaw> for io::Error {
    fn from(flaw: Flaw) -> Self {
        let kind = if flaw == Flaw::Truncated { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::InvalidData };
        Self::new(kind, flaw)
    }
}

/// Does a step, unless an earlier step failed: then data may be lost. `failed` returns where a failure is noted.
pub(crate) fn step<S, T>(
    state: &mut S,
    failed: impl Fn(&mut S) -> &mut bool,
    act: impl FnOnce(&mut S) -> io::Result<T>,
) -> io::Result<T> {
    if *failed(state) {
        return Err(io::Error::other("compressing or expanding failed before"));
    }
    *failed(state) = true;
    let done = act(state)?;
    *failed(state) = false;
    Ok(done)
}
