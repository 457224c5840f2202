//! Hides data in carriers: the bytes of the data become the pixels of the pictures.

use std::fs::File;
use std::io;

use super::{Hide, Made, fill, total};
use crate::command::picture::drafts::{DraftNames, Drafts};
use crate::place::claims::Claims;
use crate::place::input::Input;
use crate::place::report::Done;
use crate::tell::failure::Failure;
use deadpan_picture::carrier::{Layout, Writer};
use deadpan_picture::spare;
use deadpan_seal::{Sealing, WriteAt};

/// Hides the input in carriers.
pub fn hide(
    hide: &Hide,
    input: &Input,
    sealing: Option<&Sealing>,
    names: DraftNames,
    claims: &Claims,
) -> Result<Done, Failure> {
    let args = &hide.args;
    let total = total(input, sealing)?;
    let layout = layout(hide, total)?;
    if let Some(count) = total.and_then(|total| layout.pictures(total)) {
        // Before the data are sealed, the function refuses impossible numbers of pictures and existing names.
        if args.spare > 0 {
            spare::check(count, args.spare).map_err(|error| Failure::picture(&names.shown(), error))?;
        }
        names.check(Some(count.saturating_add(args.spare)), args.output.force, claims)?;
    }
    deadpan_disk::allow_many_files();
    let drafts = Drafts::new(names);
    let about = |error| drafts.blame(Failure::picture(&drafts.names().shown(), error));
    let writer = Writer::new(layout, |index| drafts.open(index)).map_err(about)?;
    let done = fill(hide, input, sealing, &Canvas(&writer), drafts.names()).map_err(|failure| drafts.blame(failure))?;
    let mut set = [0; 16];
    deadpan_seal::random::fill(&mut set).map_err(|error| Failure::seal("", error))?;
    let labels = writer.finish(set, args.spare).map_err(about)?.labels;
    let total = labels.first().map_or(0, |label| label.total);
    let paths = drafts.land(hide.attributes(input), args.output.force, args.output.sync, claims)?;
    Ok(Made { paths, spares: args.spare, total }.report(hide, input, done))
}

/// Chooses the size of the pictures.
fn layout(hide: &Hide, total: Option<u64>) -> Result<Layout, Failure> {
    let made = match hide.args.size {
        Some(size) => Layout::new(hide.format, size.width, size.height),
        None => Layout::usual(hide.format, total),
    };
    made.map_err(|error| Failure::picture("", error))
}

/// A set of carriers (pictures whose pixels are data) that can be written like one file.
struct Canvas<'a, O>(&'a Writer<O>);

impl<O: Fn(u32) -> io::Result<File> + Sync> WriteAt for Canvas<'_, O> {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }
}
