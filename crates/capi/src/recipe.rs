//! The recipients and keys for sealed files, which callers put together step by step.

use std::sync::Arc;

use parking_lot::Mutex;

use deadpan_bind::{Fault, Pattern};
use deadpan_seal::{Format, Identity, Level, MaxCost, Recipient, Sealing};

/// The recipients and options of sealed files.
#[derive(Default)]
pub(crate) struct Recipe(Mutex<Parts>);

#[derive(Clone, Default)]
pub(crate) struct Parts {
    pub(crate) recipients: Vec<Recipient>,
    pub(crate) mixed: bool,
    pub(crate) hide_length: bool,
    pub(crate) age: bool,
    pub(crate) level: Option<Level>,
    /// What is left out of folders.
    pub(crate) exclude: Vec<Pattern>,
    made: Option<Arc<Sealing>>,
}

impl Recipe {
    /// Changes the parts.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Parts)) {
        let mut parts = self.0.lock();
        parts.made = None;
        change(&mut parts);
    }

    pub(crate) fn exclude(&self) -> Vec<Pattern> {
        self.0.lock().exclude.clone()
    }

    pub(crate) fn sealing(&self) -> Result<Arc<Sealing>, Fault> {
        let mut parts = self.0.lock();
        if let Some(made) = &parts.made {
            return Ok(made.clone());
        }
        let recipients = parts.recipients.clone();
        let sealing = if parts.mixed { Sealing::mixed(recipients) } else { Sealing::to(recipients) };
        let format = if parts.age { Format::Age } else { Format::Deadpan };
        let mut sealing = sealing?.hide_length(parts.hide_length).format(format)?;
        if let Some(level) = parts.level {
            sealing = sealing.compress(level);
        }
        let made = Arc::new(sealing);
        parts.made = Some(made.clone());
        Ok(made)
    }
}

/// The keys and passphrases that open files.
#[derive(Default)]
pub(crate) struct Ring {
    identities: Mutex<Vec<Identity>>,
    max_cost: Mutex<Option<MaxCost>>,
}

impl Ring {
    pub(crate) fn add(&self, identity: Identity) {
        self.identities.lock().push(identity);
    }

    pub(crate) fn limit(&self, max_cost: MaxCost) {
        *self.max_cost.lock() = Some(max_cost);
    }

    pub(crate) fn identities(&self) -> Vec<Identity> {
        let max_cost = *self.max_cost.lock();
        let identities = self.identities.lock().clone();
        match max_cost {
            Some(max_cost) => identities.into_iter().map(|one| one.with_max_cost(max_cost)).collect(),
            None => identities,
        }
    }
}
