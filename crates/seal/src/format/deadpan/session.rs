//! Sessions: many items are sealed under one passphrase, which is hashed only once.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::format::deadpan::file_key::KEY;
use crate::key::passphrase::form::Form;
use crate::primitive::entropy::Entropy;
use crate::{Cost, Error, MaxCost, Passphrase, Recipient, Secret};

pub(crate) const SALT: usize = 16;
/// The maximum number of hashes that a session stores for items of other sessions.
const KEPT: usize = 16;

/// A passphrase for many items. [`crate::Recipient::Passphrase`] hashes the passphrase for each item, and each hash
/// takes a tenth to a quarter of a second. A session hashes the passphrase once for all items that it seals. To open
/// items with other salts, the session computes one more hash for each salt.
///
/// Everybody can see which items were sealed in the same session, because these items have the same salt. Each item has
/// its own file key, which is sealed under its own wrapping key. A clone of a session is the same session.
///
/// A session can be shared between threads. Threads that need the same hash wait for one computation. Threads that need
/// different hashes do not wait for each other. Each computation takes the memory that the cost of the item requires.
/// The session stores the hash for its own salt as long as the session exists, and the latest 16 other hashes. An item
/// with a higher cost than [`Session::with_max_cost`] allows is refused with [`Error::TooCostly`] before any hash is
/// computed.
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
pub struct Session {
    shared: Arc<SessionState>,
    max_cost: MaxCost,
}

/// The state that all clones of a session share.
struct SessionState {
    passphrase: Passphrase,
    cost: Cost,
    salt: [u8; SALT],
    /// The hash for the session's own salt. This hash is never evicted.
    own: Arc<Cell>,
    kept: Mutex<Kept>,
}

/// The result of one hash, or `None` until the result is known. The thread that computes the hash holds the lock, so
/// that other threads that need the same hash wait.
type Cell = Mutex<Option<Secret>>;

/// Hashes for items of other sessions, the latest first. An empty cell means that a thread is computing the hash, or
/// that the computation failed.
#[derive(Default)]
struct Kept {
    cells: VecDeque<(HashQuestion, Arc<Cell>)>,
    #[cfg(test)]
    made: usize,
}

/// The inputs of one hash: the form of the passphrase, and the parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
struct HashQuestion {
    form: Form,
    cost: Cost,
    salt: [u8; SALT],
    length: usize,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("cost", &self.shared.cost).finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a session with a random salt. The passphrase is hashed when the first item is sealed. A session that only
    /// opens items computes only the hashes for these items.
    ///
    /// # Errors
    /// If the passphrase is empty, if the cost is out of bounds, or if the system has no random bytes.
    pub fn new(passphrase: &Passphrase, cost: Cost) -> Result<Self, Error> {
        Self::with_entropy(passphrase, cost, Entropy::System)
    }

    pub(crate) fn with_entropy(passphrase: &Passphrase, cost: Cost, entropy: Entropy) -> Result<Self, Error> {
        passphrase.check(cost)?;
        let mut salt = [0; SALT];
        entropy.fill("session's salt", 0, &mut salt)?;
        let (own, kept) = (Arc::default(), Mutex::default());
        let shared = SessionState { passphrase: passphrase.clone(), cost, salt, own, kept };
        Ok(Self { shared: Arc::new(shared), max_cost: passphrase.max_cost() })
    }

    /// Returns the same session with another limit on the cost of the items that it opens. Both sessions share the
    /// existing hashes. Items with the session's own cost or a lower cost always open.
    #[must_use]
    pub fn with_max_cost(mut self, max: MaxCost) -> Self {
        self.max_cost = max;
        self
    }

    /// Returns the recipient that represents everybody who knows the passphrase. A list for
    /// [`Sealing::to`](crate::Sealing::to) can contain this recipient and other recipients.
    #[must_use]
    pub fn recipient(&self) -> Recipient {
        Recipient::Session(self.clone())
    }

    pub(crate) fn passphrase(&self) -> Passphrase {
        self.shared.passphrase.clone().with_max_cost(self.max_cost)
    }

    pub(crate) fn cost(&self) -> Cost {
        self.shared.cost
    }

    pub(crate) fn salt(&self) -> &[u8; SALT] {
        &self.shared.salt
    }

    /// Returns the Unicode forms of the passphrase to try with a salt, in order. For the session's own salt, NFC comes
    /// first: the session seals its items with this form, so this hash usually exists already.
    pub(crate) fn forms(&self, salt: &[u8; SALT]) -> Vec<Form> {
        let mut forms = self.shared.passphrase.forms();
        if salt == self.salt() {
            forms.sort_by_key(|form| *form != Form::Composed);
        }
        forms
    }

    /// Returns `length` bytes of the Argon2id hash of the passphrase in the given Unicode form. Computes the hash only
    /// if it is not cached.
    pub(crate) fn stretch(&self, form: Form, cost: Cost, salt: &[u8; SALT], length: usize) -> Result<Secret, Error> {
        let Cost { memory, passes, .. } = self.shared.cost;
        if !MaxCost::new(memory, passes).allows(cost) {
            self.max_cost.check(cost)?;
        }
        let cell = self.shared.cell(HashQuestion { form, cost, salt: *salt, length });
        let mut cell = lock(&cell);
        if let Some(answer) = &*cell {
            return Ok(answer.clone());
        }
        let mut answer = Secret::zeroed(length);
        self.shared.passphrase.in_form(form).stretch(cost, salt, &mut answer)?;
        #[cfg(test)]
        {
            lock(&self.shared.kept).made += 1;
        }
        *cell = Some(answer.clone());
        Ok(answer)
    }

    #[cfg(test)]
    pub(crate) fn hashes(&self) -> usize {
        lock(&self.shared.kept).made
    }
}

impl SessionState {
    /// Returns the cell for these inputs. If the cell is in the list of other hashes, the cell moves to the beginning
    /// of the list.
    fn cell(&self, question: HashQuestion) -> Arc<Cell> {
        if question == (HashQuestion { form: Form::Composed, cost: self.cost, salt: self.salt, length: KEY }) {
            return self.own.clone();
        }
        let mut kept = lock(&self.kept);
        let place = kept.cells.iter().position(|(asked, _)| *asked == question);
        let found = place.and_then(|place| kept.cells.remove(place)).unwrap_or_else(|| (question, Arc::default()));
        let cell = found.1.clone();
        kept.cells.push_front(found);
        kept.cells.truncate(KEPT);
        cell
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests;
