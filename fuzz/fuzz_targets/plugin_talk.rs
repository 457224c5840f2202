//! A client that talks to a plugin. No matter which messages the plugin sends, the client ends, and never returns a key
//! of the wrong length or a stanza of the wrong form.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;

use deadpan_seal::Secret;
use deadpan_seal::age::AgeStanza;
use deadpan_seal::plugin::{Identity, KEY, Pipe, Reason, Recipient};

/// A plugin that sends the input to the client, a few bytes at a time.
struct Said<'a> {
    rest: &'a [u8],
    step: usize,
}

impl Pipe for Said<'_> {
    fn send(&mut self, _: &[u8], _: Duration) -> Result<(), Reason> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], _: Duration) -> Result<usize, Reason> {
        let length = self.rest.len().min(buffer.len()).min(self.step);
        buffer[..length].copy_from_slice(&self.rest[..length]);
        self.rest = &self.rest[length..];
        Ok(length)
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((step, rest)) = data.split_first() else { return };
    let pipe = |step: usize| Said { rest, step };
    let step = usize::from(*step) + 1;
    let recipient = Recipient::parse("age1dummy1qypqxvy7tqt").expect("a recipient");
    let keys = [Secret::zeroed(KEY), Secret::zeroed(KEY)];
    let wrapped = recipient.wrap_over(&mut pipe(step), &keys);
    let at_once = recipient.wrap_over(&mut pipe(usize::MAX), &keys);
    assert_eq!(format!("{wrapped:?}"), format!("{at_once:?}"), "the steps change the result");
    if let Ok(wrapping) = wrapped {
        assert_eq!(wrapping.stanzas.len(), keys.len());
        for stanza in wrapping.stanzas.iter().flatten() {
            let text = stanza.encode().expect("printable");
            assert_eq!(AgeStanza::read(&text[..]).expect("a stanza").as_ref(), Some(stanza));
        }
    }
    let identity = Identity::parse(b"AGE-PLUGIN-DUMMY-1QYPQXTZ7LX4").expect("an identity");
    let files = vec![vec![AgeStanza { tag: "a".into(), args: Vec::new(), body: Vec::new() }]; 2];
    match identity.unwrap_over(&mut pipe(step), &files) {
        Ok(keys) => assert!(keys.len() == 2 && keys.iter().flatten().all(|key| key.len() == KEY)),
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?}"),
    }
});
