//! Changes the recipients of an object in a store. The store replaces the object's header in one step, so a crash
//! leaves no half-changed object that must be recovered.

use std::path::Path;

use super::RewrapArgs;
use super::change::Change;
use super::file::{Outcome, Rewrapped, not_sealed};
use super::moved;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::place::input::{Input, Source};
use crate::place::remote;
use crate::place::sealed::Sealed;
use crate::tell::failure::Failure;
use crate::tell::progress::Progress;
use deadpan_remote::{Error, Problem, Splice};

pub fn rewrap(
    path: &Path,
    args: &RewrapArgs,
    change: &mut Change,
    identities: &mut Identities,
    home: &Home,
) -> Result<Outcome, Failure> {
    let input = Input::open(&Source::File(path.to_owned()))?;
    let name = input.shown();
    let sealed = Sealed::begun(Vec::new(), &input.data).map_err(|error| not_sealed(&name, error))?;
    let Rewrapped { header, old, mut outcome } = Rewrapped::make(&name, &sealed, args, change, identities, home)?;
    let Some(object) = input.data.object().filter(|_| outcome.changed && !args.dry_run) else { return Ok(outcome) };
    let splice = Splice::for_object(object);
    let guard = remote::guard(splice.canceller(), name.clone());
    let way = if sealed.armored { "new object" } else { "in place" };
    let done = if sealed.armored {
        replace_armor(&name, splice, &header, sealed)
    } else {
        let progress = Progress::new(&name, Some(object.length() - old));
        splice.replace_beginning(old, &header, |bytes| progress.add(bytes)).map_err(|error| failed(&error))
    };
    drop(guard);
    done?;
    if object.tags() > 0 {
        outcome.notes.push(format!("the tags of {name} are not kept; set them again"));
    }
    outcome.changed_by(way);
    Ok(outcome)
}

/// Replaces an object in armor. The replacement may change every byte of an object in armor.
fn replace_armor(name: &str, splice: Splice, header: &[u8], sealed: Sealed<'_>) -> Result<(), Failure> {
    splice.check_length().map_err(|error| failed(&error))?;
    let mut data = Vec::new();
    moved::armor(&mut data, header, sealed).map_err(|error| Failure::seal(name, error))?;
    splice.replace(data).map_err(|error| failed(&error))
}

fn failed(error: &Error) -> Failure {
    let failure = Failure::store(error);
    let hint = match error.problem() {
        Problem::Changed => "run it again: it changes the object that is there now",
        Problem::Unknowing => "it may not copy parts of objects: open it, and seal it again",
        _ => return failure,
    };
    Failure { hint: Some(hint.into()), ..failure }
}
