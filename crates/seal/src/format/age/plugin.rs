//! Plugins' recipients in age files. The plugin receives the file key itself, and wraps it. The header holds the
//! plugin's stanzas.

use super::known::may_be_of_plugin;
use super::{AgeFileKey, AgeStanza};
use crate::format::plugin;
use crate::{Error, Stanza};

/// Lets the plugin wrap the file key. Returns the stanzas and the labels of the stanzas.
pub(super) fn wrap(recipient: &plugin::Recipient, file: &AgeFileKey) -> Result<(Vec<AgeStanza>, Vec<String>), Error> {
    let mut wrapping = recipient.wrap(&[file.secret()])?;
    wrapping.labels.sort();
    wrapping.labels.dedup();
    Ok((wrapping.stanzas.pop().unwrap_or_default(), wrapping.labels))
}

/// Returns the file key if the plugin unwraps the key. The plugin gets all stanzas. The plugin is started only if one
/// of the stanzas may belong to a plugin. May leak: whether the plugin unwraps a stanza.
pub(crate) fn unwrap<'s>(
    identity: &plugin::Identity,
    stanzas: &'s [(Stanza, AgeStanza)],
) -> Result<Option<(AgeFileKey, &'s AgeStanza)>, Error> {
    if !stanzas.iter().any(|(kind, _)| may_be_of_plugin(kind)) {
        return Ok(None);
    }
    let copies = stanzas.iter().map(|(_, stanza)| stanza.clone()).collect();
    let key = identity.unwrap(&[copies])?.into_iter().next().flatten();
    // The plugin does not report which stanza it opened, so the first stanza is returned.
    let first = stanzas.first().map(|(_, stanza)| stanza);
    Ok(key.and_then(AgeFileKey::from_secret).zip(first))
}
