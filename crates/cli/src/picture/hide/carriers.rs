//! Hides data in carriers: the bytes are the pixels.

use std::fs::File;
use std::io;

use super::{Hide, Made, fill, total};
use crate::claims::Claims;
use crate::failure::Failure;
use crate::folder;
use crate::input::Input;
use crate::picture::drafts::{Drafts, Names};
use crate::picture::failed;
use crate::report::Done;
use deadpan_picture::carrier::{Layout, MOST, Writer};
use deadpan_picture::spare;
use deadpan_seal::{Sealing, WriteAt};

/// The usual size of a picture, whose file has 33.5 MB.
const USUAL: (u32, u32) = (4096, 2730);
/// Data of a known length that would need more pictures than these get larger pictures.
const MANY: u64 = 1000;

/// Hides the input in carriers.
pub fn hide(
    hide: &Hide,
    input: &Input,
    sealing: Option<&Sealing>,
    names: Names,
    claims: &Claims,
) -> Result<Done, Failure> {
    let args = &hide.args;
    let total = total(input, sealing)?;
    let layout = layout(hide, total)?;
    if let Some(count) = total.and_then(|total| layout.pictures(total)) {
        // Refused before the data are sealed.
        if args.spare > 0 {
            spare::check(count, args.spare).map_err(|error| failed(&names.shown(), error))?;
        }
        names.check(Some(count.saturating_add(args.spare)), args.output.force, claims)?;
    }
    folder::allow_many_files();
    let drafts = Drafts::new(names);
    let about = |error| drafts.blame(failed(&drafts.names().shown(), error));
    let writer = Writer::new(layout, |index| drafts.open(index)).map_err(about)?;
    let done = fill(hide, input, sealing, &Canvas(&writer), drafts.names()).map_err(|failure| drafts.blame(failure))?;
    let mut set = [0; 16];
    deadpan_seal::random::fill(&mut set).map_err(|error| Failure::of("", error))?;
    let labels = writer.finish(set, args.spare).map_err(about)?.labels;
    let total = labels.first().map_or(0, |label| label.total);
    let paths = drafts.land(hide.attributes(input), args.output.force, args.output.sync, claims)?;
    Ok(Made { paths, spares: args.spare, total }.report(hide, input, done))
}

/// Chooses the size of the pictures.
fn layout(hide: &Hide, total: Option<u64>) -> Result<Layout, Failure> {
    let new = |width, height| Layout::new(hide.format, width, height).map_err(|error| failed("", error));
    if let Some(size) = hide.args.size {
        return new(size.width, size.height);
    }
    let (width, height) = USUAL;
    let usual = new(width, height)?;
    let Some(total) = total else { return Ok(usual) };
    if total <= MANY * u64::from(usual.part()) {
        return Ok(usual.fitted(total));
    }
    // Three bytes a pixel. 128 bytes are more than the header takes.
    let side = (total.div_ceil(MANY).saturating_add(128).div_ceil(3).isqrt() + 1).min(MOST.into());
    new(side as u32, side as u32)
}

/// A set of carriers as one file.
struct Canvas<'a, O>(&'a Writer<O>);

impl<O: Fn(u32) -> io::Result<File> + Sync> WriteAt for Canvas<'_, O> {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }
}
