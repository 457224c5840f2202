//! Sealing, opening and listing of folders.

use std::ffi::{c_char, c_void};

use super::border::{held, maybe, path};
use super::kinds::{dp_opening, dp_sealing, dp_work};
use crate::recipe::{Recipe, Ring};
use crate::watch::{Watch, under};
use deadpan_bind::Fault;

/// Receives an entry's path (a text that ends with a zero), its kind and its size. A result other than 0 ends the
/// listing.
type EntryCallback = Option<unsafe extern "C" fn(user: *mut c_void, path: *const c_char, kind: i32, size: u64) -> i32>;

exports! {
    /// Seals a folder, without what the patterns of `sealing` exclude.
    fn dp_seal_folder(
        sealing: *const dp_sealing,
        folder: *const c_char,
        output: *const c_char,
        replace: i32,
        work: *const dp_work,
    ) {
        let (recipe, watch) = (held::<Recipe, _>(sealing)?, maybe::<Watch, _>(work)?);
        let (sealing, exclude) = (recipe.sealing()?, recipe.exclude());
        let (folder, output) = (path(folder)?, path(output)?);
        under(watch.as_deref(), |work| {
            deadpan_bind::seal_folder(&sealing, folder, output, exclude, false, replace != 0, work)
        })?;
        Ok(())
    }

    fn dp_open_folder(
        opening: *const dp_opening,
        input: *const c_char,
        folder: *const c_char,
        work: *const dp_work,
    ) {
        let (identities, watch) = (held::<Ring, _>(opening)?.identities(), maybe::<Watch, _>(work)?);
        let (input, folder) = (path(input)?, path(folder)?);
        under(watch.as_deref(), |work| deadpan_bind::open_folder(&identities, input, folder, work))?;
        Ok(())
    }

    fn dp_list_folder(opening: *const dp_opening, input: *const c_char, each: EntryCallback, user: *mut c_void) {
        let identities = held::<Ring, _>(opening)?.identities();
        let each = each.ok_or_else(|| Fault::argument("the callback is NULL"))?;
        deadpan_bind::list_folder(&identities, path(input)?, |entry| {
            let path: Vec<u8> = entry.path.iter().copied().filter(|byte| *byte != 0).chain([0]).collect();
            let kind = match entry.kind {
                deadpan_bind::Kind::File => 0,
                deadpan_bind::Kind::Folder => 1,
                _ => 2,
            };
            each(user, path.as_ptr().cast(), kind, entry.size) == 0
        })
    }
}
