//! Sealing and opening of files by path, and their description.

use std::ffi::c_char;

use super::border::{copy, held, maybe, path};
use super::kinds::{dp_opening, dp_sealing, dp_work};
use crate::recipe::{Recipe, Ring};
use crate::watch::{Watch, under};

exports! {
    /// Seals a file.
    fn dp_seal_file(
        sealing: *const dp_sealing,
        input: *const c_char,
        output: *const c_char,
        replace: i32,
        work: *const dp_work,
    ) {
        let (sealing, watch) = (held::<Recipe, _>(sealing)?.sealing()?, maybe::<Watch, _>(work)?);
        let (input, output) = (path(input)?, path(output)?);
        under(watch.as_deref(), |work| deadpan_bind::seal_file(&sealing, input, output, replace != 0, work))?;
        Ok(())
    }

    /// Opens a sealed file.
    fn dp_open_file(
        opening: *const dp_opening,
        input: *const c_char,
        output: *const c_char,
        replace: i32,
        work: *const dp_work,
    ) {
        let (identities, watch) = (held::<Ring, _>(opening)?.identities(), maybe::<Watch, _>(work)?);
        let (input, output) = (path(input)?, path(output)?);
        under(watch.as_deref(), |work| deadpan_bind::open_file(&identities, input, output, replace != 0, work))?;
        Ok(())
    }

    /// Describes a sealed file as JSON. `opening` may be NULL.
    fn dp_inspect(
        input: *const c_char,
        opening: *const dp_opening,
        text: *mut c_char,
        room: usize,
        length: *mut usize,
    ) {
        let identities = maybe::<Ring, _>(opening)?.map(|ring| ring.identities());
        copy(deadpan_bind::inspect(path(input)?, identities.as_deref())?.as_bytes(), text.cast(), room, length)
    }
}
