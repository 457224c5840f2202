//! Opening a folder: all of it, or a part.

use super::{OpenArgs, usual_place};
use crate::failure::Failure;
use crate::folder::{self, Scattered, Target};
use crate::input::Input;
use crate::output::{Output, Place};
use crate::partial::Landing;
use crate::progress::Progress;
use crate::report::Done;
use crate::sealed::Sealed;
use crate::unpack::selection;
use crate::window::TextOnly;
use deadpan_pack::{Contents, Error, Excerpt, Kind, Outcome};
use deadpan_seal::{Opened, Work};
use std::io::{self, Write};
use std::path::PathBuf;

pub fn open(opened: &Opened, input: &Input, sealed: &mut Sealed<'_>, args: &OpenArgs) -> Result<Done, Failure> {
    let name = input.shown();
    let place = Place::resolve(args.output.as_deref(), || usual_place(&input.source, opened.metadata(), true))?;
    let progress = Progress::new(&name, input.length().filter(|_| args.only.is_empty()));
    let add = |bytes| progress.add(bytes);
    let landing = Landing { replace: false, sync: args.sync };
    if args.only.is_empty() {
        let mut target = Target::begin(&folder_at(place)?, &args.unpack, false, args.force)?;
        let work = Work { progress: Some(&add), ..Work::default() };
        let outcome = opened
            .scatter(&mut sealed.payload, Scattered(target.unpacker()), &work)
            .map(drop)
            .map_err(|error| folder::blame(error, &name, "the folder"));
        let outcome = outcome.and_then(|()| finish(&mut target, &name));
        drop(progress);
        return target.end(outcome, landing);
    }
    if !input.positioned || sealed.armored {
        return Err(Failure::usage(
            "--only looks for its parts, which pipes and armor do not allow",
            "open all of it, or save it to a file without armor first",
        ));
    }
    let failed = |error| Failure::pack(&name, error);
    let seekable = || opened.seekable(&input.file).map_err(|error| Failure::of(&name, error));
    let no_index = || Failure::usage(format!("{name} holds an archive without an index, so no part of it can be found"), "open all of it");
    let mut contents = Contents::read(seekable()?).map_err(failed)?.ok_or_else(no_index)?;
    let other = Contents::read(seekable()?).map_err(failed)?.ok_or_else(no_index)?;
    let chosen = selection(&args.only).within(&mut contents).map_err(failed)?;
    if place == Place::Stdout {
        let input_or_output = |error| match error {
            Error::Write(error) => Failure::io("write", "standard output", &error),
            error => failed(error),
        };
        let output = Output::open(&place, args.force, Some(input))?;
        let mut output: Box<dyn Write> = match output.is_terminal() {
            true => Box::new(TextOnly::new(output.file())),
            false => Box::new(output.file()),
        };
        let first: Vec<_> = chosen.entries(&mut contents).take(2).collect::<Result<_, _>>().map_err(failed)?;
        let bytes = match first.as_slice() {
            // A file goes out as it is, several as an archive.
            [pick] if pick.entry.kind == Kind::File => contents.copy(&pick.entry, output).map_err(input_or_output)?,
            _ => io::copy(&mut Excerpt::new(chosen.entries(&mut contents), other), &mut output)
                .map_err(|error| error.downcast::<Error>().map_or_else(|error| input_or_output(Error::Write(error)), failed))?,
        };
        return Ok(Done { output: Some("standard output".into()), bytes, ..Done::default() });
    }
    let mut target = Target::begin(&folder_at(place)?, &args.unpack, true, args.force)?;
    let work = deadpan_pack::Work { progress: Some(&add), ..deadpan_pack::Work::default() };
    let outcome = deadpan_pack::unpack(Excerpt::new(chosen.entries(&mut contents), other), target.unpacker(), &work);
    drop(progress);
    target.end(outcome.map_err(failed), landing)
}

/// What the unpacker has to say at the end.
fn finish(target: &mut Target, name: &str) -> Result<Outcome, Failure> {
    target.unpacker().finish().map_err(|error| Failure::pack(name, error))
}

fn folder_at(place: Place) -> Result<PathBuf, Failure> {
    match place {
        Place::File(path) => Ok(path),
        Place::Stdout => Err(Failure::usage("a folder cannot be written to standard output", "name a folder with -o")),
    }
}
