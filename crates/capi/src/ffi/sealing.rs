//! Lists of recipients and lists of keys: files are sealed to recipients, and keys open files.

use std::ffi::c_char;

use super::border::{give, held, ready, set, text};
use super::kinds::{dp_opening, dp_passphrase, dp_private_key, dp_public_key, dp_sealing, dp_session};
use crate::recipe::{Recipe, Ring};
use deadpan_seal::{Cost, Error, Identity, Level, MaxCost, Passphrase, PrivateKey, PublicKey, Recipient, Session};

exports! {
    /// Begins a list of recipients.
    fn dp_sealing_new(sealing: *mut *mut dp_sealing) {
        ready(sealing)?;
        give(sealing, Recipe::default())
    }

    /// Adds a key. The owner of the key can then open the sealed data.
    fn dp_sealing_add_key(sealing: *const dp_sealing, key: *const dp_public_key) {
        let key = held::<PublicKey, _>(key)?;
        held::<Recipe, _>(sealing)?.change(|parts| parts.recipients.push(Recipient::Key((*key).clone())));
        Ok(())
    }

    /// Adds a passphrase. Everybody who knows the passphrase can then open the sealed data.
    fn dp_sealing_add_passphrase(sealing: *const dp_sealing, passphrase: *const dp_passphrase) {
        let passphrase = (*held::<Passphrase, _>(passphrase)?).clone();
        let recipient = Recipient::Passphrase(passphrase, Cost::default());
        held::<Recipe, _>(sealing)?.change(|parts| parts.recipients.push(recipient));
        Ok(())
    }

    /// Adds a session. Everybody who knows the passphrase of the session can then open the sealed data.
    fn dp_sealing_add_session(sealing: *const dp_sealing, session: *const dp_session) {
        let recipient = held::<Session, _>(session)?.recipient();
        held::<Recipe, _>(sealing)?.change(|parts| parts.recipients.push(recipient));
        Ok(())
    }

    /// Allows a classical key together with recipients that are not classical. The protection of the whole file is then
    /// only classical.
    fn dp_sealing_allow_mixed(sealing: *const dp_sealing, allow: i32) {
        held::<Recipe, _>(sealing)?.change(|parts| parts.mixed = allow != 0);
        Ok(())
    }

    /// Hides the length of the data.
    fn dp_sealing_hide_length(sealing: *const dp_sealing, hide: i32) {
        held::<Recipe, _>(sealing)?.change(|parts| parts.hide_length = hide != 0);
        Ok(())
    }

    /// Compresses the data at a level from 1 to 19. Level 0 means that the data are not compressed.
    fn dp_sealing_compress(sealing: *const dp_sealing, level: i32) {
        let parsed = u8::try_from(level).ok().and_then(|level| Level::new(level).ok());
        if level != 0 && parsed.is_none() {
            return Err(Error::Invalid("a level of compression is a number from 1 to 19").into());
        }
        held::<Recipe, _>(sealing)?.change(|parts| parts.level = parsed);
        Ok(())
    }

    /// Adds a pattern as in `.gitignore`. What the patterns exclude is left out of folders.
    fn dp_sealing_exclude(sealing: *const dp_sealing, pattern: *const c_char) {
        let pattern = deadpan_bind::pattern(text(pattern, "a pattern")?)?;
        held::<Recipe, _>(sealing)?.change(|parts| parts.exclude.push(pattern));
        Ok(())
    }

    /// Chooses the format of age instead of Deadpan's format.
    fn dp_sealing_age(sealing: *const dp_sealing, age: i32) {
        held::<Recipe, _>(sealing)?.change(|parts| parts.age = age != 0);
        Ok(())
    }

    fn dp_sealed_length(sealing: *const dp_sealing, length: u64, sealed: *mut u64) {
        set(sealed, held::<Recipe, _>(sealing)?.sealing()?.sealed_length(length)?)
    }

    /// Begins a list of keys.
    fn dp_opening_new(opening: *mut *mut dp_opening) {
        ready(opening)?;
        give(opening, Ring::default())
    }

    /// Adds a private key.
    fn dp_opening_add_key(opening: *const dp_opening, key: *const dp_private_key) {
        let key = held::<PrivateKey, _>(key)?;
        held::<Ring, _>(opening)?.add(Identity::Key((*key).clone()));
        Ok(())
    }

    /// Adds a passphrase.
    fn dp_opening_add_passphrase(opening: *const dp_opening, passphrase: *const dp_passphrase) {
        let passphrase = held::<Passphrase, _>(passphrase)?;
        held::<Ring, _>(opening)?.add(Identity::Passphrase((*passphrase).clone()));
        Ok(())
    }

    /// Adds a session.
    fn dp_opening_add_session(opening: *const dp_opening, session: *const dp_session) {
        let session = held::<Session, _>(session)?;
        held::<Ring, _>(opening)?.add(Identity::Session((*session).clone()));
        Ok(())
    }

    /// Limits the memory (in KiB) and the work (in passes over this memory) for trying a passphrase or session of the
    /// list.
    fn dp_opening_max_cost(opening: *const dp_opening, memory: u32, passes: u32) {
        held::<Ring, _>(opening)?.limit(MaxCost::new(memory, passes));
        Ok(())
    }
}

frees! {
    /// Frees a list of recipients.
    dp_sealing_free(dp_sealing => Recipe);
    /// Frees a list of keys.
    dp_opening_free(dp_opening => Ring);
}
