//! Plugins' recipients in age files. The plugin gets the file key itself, and its stanzas stand in the header.

use super::known::may_be_of_plugin;
use super::{AgeFileKey, AgeStanza};
use crate::format::plugin;
use crate::{Error, Stanza};

/// Lets the plugin wrap the file key. Returns the stanzas and their labels.
pub(super) fn wrap(recipient: &plugin::Recipient, file: &AgeFileKey) -> Result<(Vec<AgeStanza>, Vec<String>), Error> {
    let mut wrapping = recipient.wrap(&[file.secret()])?;
    wrapping.labels.sort();
    wrapping.labels.dedup();
    Ok((wrapping.stanzas.pop().unwrap_or_default(), wrapping.labels))
}

/// Returns the file key if the plugin unwraps it. The plugin gets all stanzas, and is started only if one may be its
/// own. May leak: whether it unwraps one.
pub(crate) fn unwrap<'s>(
    identity: &plugin::Identity,
    stanzas: &'s [(Stanza, AgeStanza)],
) -> Result<Option<(AgeFileKey, &'s AgeStanza)>, Error> {
    if !stanzas.iter().any(|(kind, _)| may_be_of_plugin(kind)) {
        return Ok(None);
    }
    let copies = stanzas.iter().map(|(_, stanza)| stanza.clone()).collect();
    let key = identity.unwrap(&[copies])?.into_iter().next().flatten();
    // The plugin does not tell which stanza it opened.
    let first = stanzas.first().map(|(_, stanza)| stanza);
    Ok(key.and_then(AgeFileKey::from_secret).zip(first))
}
