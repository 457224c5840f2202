//! Converts between the stanzas of one key and a single text.

use super::wrap::MOST;
use crate::Error;
use crate::format::age::AgeStanza;

/// Returns the stanzas as text, in the form of an age header.
pub(crate) fn text(stanzas: &[AgeStanza]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    stanzas.iter().try_for_each(|stanza| stanza.encode_onto(&mut text))?;
    Ok(text)
}

/// Reads 1 to 16 stanzas. Returns `None` if the text is not in the only valid form.
pub(crate) fn parse(mut text: &[u8]) -> Option<Vec<AgeStanza>> {
    let mut stanzas = Vec::new();
    while let Some(stanza) = AgeStanza::read(&mut text).ok()? {
        if stanzas.len() == MOST {
            return None;
        }
        stanzas.push(stanza);
    }
    (!stanzas.is_empty()).then_some(stanzas)
}
