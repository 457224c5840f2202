//! Public lines: the name of the kind, the key in base64, and a comment.

use super::{MAX_LINE, SshKind, SshPublic};
use crate::key::error::Trouble;
use deadpan_base64::STANDARD;

/// The prefixes of the lines that hold SSH keys of supported and unsupported kinds.
const PREFIXES: [&str; 4] = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"];

/// Returns the key in a line and the comment after it, or `None` if the line is not an SSH key.
pub(in crate::key) fn read(line: &str) -> Result<Option<(SshPublic, &str)>, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the SSH public key is damaged");
    let line = line.trim_matches(SPACE);
    if !PREFIXES.iter().any(|prefix| line.starts_with(prefix)) {
        return Ok(None);
    }
    if line.len() > MAX_LINE {
        return Err(Trouble::Limit("an SSH public key of more than 32 KiB"));
    }
    let (name, rest) = line.split_once(SPACE).unwrap_or((line, ""));
    let kind = SshKind::from_name(name)?;
    let rest = rest.trim_start_matches(SPACE);
    let (body, comment) = rest.split_once(SPACE).unwrap_or((rest, ""));
    let blob = STANDARD.decode(body.as_bytes()).map_err(|_| DAMAGED)?;
    let key = SshPublic::decode(&blob)?;
    // Like OpenSSH, this reader requires that the name in the line and the name in the encoded key are equal.
    let inside = blob.get(4..4 + name.len());
    if key.kind() != kind || inside != Some(name.as_bytes()) {
        return Err(Trouble::Malformed("the SSH public key is of another kind than its line says"));
    }
    Ok(Some((key, comment.trim_matches(SPACE))))
}

/// White space around and within a line.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
