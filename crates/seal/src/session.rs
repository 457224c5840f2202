//! Many items under one passphrase, which is hashed once.

use crate::entropy::Entropy;
use crate::{Cost, Error, Passphrase, Recipient, Sealing, Secret, recipient};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) const SALT: usize = 16;
/// So many results are kept for opening: a session reads what a few other sessions have sealed.
const KEPT: usize = 16;

/// A passphrase for many items. [`crate::Recipient::Passphrase`] hashes it for each, a quarter of a second; a session hashes it once for all that it
/// seals, and once for each salt that it meets when it opens.
///
/// Anybody can see which items were sealed in the same session, since they show the same salt. Each has a file key of its own, under a wrapping
/// key of its own. A copy of a session is the same session.
///
/// ```
/// use deadpan_seal::{Cost, Passphrase, Session, open, seal};
/// # let cost = Cost { memory: 8, passes: 1, lanes: 1 };
/// # /*
/// let cost = Cost::default();
/// # */
/// let session = Session::new(&Passphrase::new(b"correct horse"), cost)?;
/// for item in [&b"one"[..], b"another"] {
///     let sealed = seal(&session, item)?;
///     assert_eq!(open(&session, &sealed)?, item);
/// }
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    passphrase: Passphrase,
    cost: Cost,
    salt: [u8; SALT],
    kept: Mutex<Kept>,
}

/// What the passphrase was hashed to, the latest first.
#[derive(Default)]
struct Kept {
    hashes: VecDeque<(Question, Secret)>,
    #[cfg(test)]
    made: usize,
}

/// What Argon2id was asked.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Question {
    cost: Cost,
    salt: [u8; SALT],
    length: usize,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("cost", &self.0.cost).finish_non_exhaustive()
    }
}

impl Session {
    /// A session with a random salt. The passphrase is hashed when the first item is sealed; who only opens pays for what is opened.
    ///
    /// # Errors
    /// If the passphrase is empty or the cost out of bounds, or if the system has no random bytes.
    pub fn new(passphrase: &Passphrase, cost: Cost) -> Result<Self, Error> {
        Self::with_entropy(passphrase, cost, Entropy::System)
    }

    pub(crate) fn with_entropy(passphrase: &Passphrase, cost: Cost, entropy: Entropy) -> Result<Self, Error> {
        recipient::check_passphrase(passphrase, cost)?;
        let mut salt = [0; SALT];
        entropy.fill("session's salt", 0, &mut salt)?;
        Ok(Self(Arc::new(Inner { passphrase: passphrase.clone(), cost, salt, kept: Mutex::default() })))
    }

    /// To whoever knows the passphrase. Takes its place among others, for [`Sealing::to`].
    #[must_use]
    pub fn recipient(&self) -> Recipient {
        Recipient::Session(self.clone())
    }

    /// Sealing to whoever knows the passphrase.
    ///
    /// # Errors
    /// As [`Sealing::to`], which has nothing against a single recipient.
    pub fn sealing(&self) -> Result<Sealing, Error> {
        Sealing::to(vec![self.recipient()])
    }

    pub(crate) fn cost(&self) -> Cost {
        self.0.cost
    }

    pub(crate) fn salt(&self) -> &[u8; SALT] {
        &self.0.salt
    }

    /// `length` bytes of Argon2id, from what is kept if it was asked before. Whoever asks the same at the same time waits for the first.
    pub(crate) fn stretch(&self, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error> {
        let question = Question { cost, salt: *salt, length };
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = kept.hashes.iter().position(|(asked, _)| *asked == question) {
            let found = kept.hashes.remove(place).expect("it was found there");
            let answer = found.1.clone();
            kept.hashes.push_front(found);
            return Ok(answer);
        }
        let mut answer = Secret::zeroed(length);
        self.0.passphrase.stretch(cost, salt, &mut answer)?;
        #[cfg(test)]
        {
            kept.made += 1;
        }
        kept.hashes.truncate(KEPT - 1);
        kept.hashes.push_front((question, answer.clone()));
        Ok(answer)
    }

    /// How often the passphrase was hashed.
    #[cfg(test)]
    pub(crate) fn hashes(&self) -> usize {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).made
    }
}

#[cfg(test)]
mod tests;
