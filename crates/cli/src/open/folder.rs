//! Opening a folder: all of it, or a part.

use super::{OpenArgs, bare, usual_place};
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
use deadpan_pack::{Contents, Error, Excerpt, Kind, Outcome, Selection, Unpacker};
use deadpan_seal::{Opened, Work};
use std::io::{self, Write};

pub fn open(opened: &Opened, input: &Input, sealed: &mut Sealed<'_>, args: &OpenArgs) -> Result<Done, Failure> {
    let place = Place::resolve(args.output.as_deref(), || usual_place(&input.source, opened.metadata(), true))?;
    if !args.only.is_empty() && input.positioned && !sealed.armored {
        return part(opened, input, &place, args);
    }
    if !args.only.is_empty() && place == Place::Stdout {
        return single(opened, input, sealed, args);
    }
    let mut target = target(&place, input, args)?;
    if !args.only.is_empty() {
        target.unpacker().only(selection(&args.only).filter());
    }
    let outcome = through(opened, input, sealed, target.unpacker(), "the folder");
    target.end(outcome, landing(args))
}

/// As a stream.
fn through(opened: &Opened, input: &Input, sealed: &mut Sealed<'_>, unpacker: &mut Unpacker, output: &str) -> Result<Outcome, Failure> {
    let name = input.shown();
    let progress = Progress::new(&name, input.length());
    let add = |bytes| progress.add(bytes);
    let work = Work { progress: Some(&add), ..Work::default() };
    opened.scatter(&mut sealed.payload, Scattered(unpacker), &work).map_err(|error| folder::blame(error, &name, output))?;
    unpacker.finish().map_err(|error| blamed(error, &name, output))
}

/// A pack's error: of its input, or of where a file out of it goes.
fn blamed(error: Error, input: &str, output: &str) -> Failure {
    match error {
        Error::Write(error) => Failure::io("write", output, &error),
        error => Failure::pack(input, error),
    }
}

/// The one file that was selected, as it comes by, to standard output.
fn single(opened: &Opened, input: &Input, sealed: &mut Sealed<'_>, args: &OpenArgs) -> Result<Done, Failure> {
    let output = Output::open(&Place::Stdout, args.force, Some(input))?;
    let name = output.shown();
    let mut unpacker = Unpacker::single(selection(&args.only).filter(), stream(&output)?);
    let outcome = through(opened, input, sealed, &mut unpacker, &name)?;
    Ok(Done { output: Some(name), bytes: outcome.bytes, ..Done::default() })
}

/// The same output, for whoever keeps it.
fn stream(output: &Output) -> Result<Box<dyn Write + Send>, Failure> {
    let file = output.file().try_clone().map_err(|error| Failure::io("write", &output.shown(), &error))?;
    Ok(if output.is_terminal() { Box::new(TextOnly::new(file)) } else { Box::new(file) })
}

/// What was selected: through the index, and only that.
fn part(opened: &Opened, input: &Input, place: &Place, args: &OpenArgs) -> Result<Done, Failure> {
    let name = input.shown();
    let failed = |error| Failure::pack(&name, error);
    let contents = || {
        let reader = opened.seekable(&input.file).map_err(|error| Failure::of(&name, error))?;
        let no_index =
            || Failure::usage(format!("{name} holds an archive without an index, so no part of it can be found"), "open all of it");
        Contents::read(reader).map_err(failed)?.ok_or_else(no_index)
    };
    let (mut contents, mut other) = (contents()?, contents()?);
    let chosen = selection(&args.only).within(&mut contents).map_err(failed)?;
    if *place != Place::Stdout {
        let mut target = target(place, input, args)?;
        let progress = Progress::new(&name, None);
        let add = |bytes| progress.add(bytes);
        let work = deadpan_pack::Work { progress: Some(&add), ..deadpan_pack::Work::default() };
        let outcome = deadpan_pack::unpack(Excerpt::new(chosen.entries(&mut contents), other), target.unpacker(), &work);
        drop(progress);
        return target.end(outcome.map_err(failed), landing(args));
    }
    let output = Output::open(place, args.force, Some(input))?;
    let blamed = |error| blamed(error, &name, &output.shown());
    let mut writer = stream(&output)?;
    let first: Vec<_> = chosen.entries(&mut contents).take(2).collect::<Result<_, _>>().map_err(failed)?;
    let bytes = match first.as_slice() {
        // A file goes out as it is, several as an archive.
        [pick] if pick.file().kind == Kind::File => other.copy(pick.file(), writer).map_err(blamed)?,
        [pick] if pick.file().kind == Kind::Sparse => {
            let path = [contents.root_name(), b"/", &pick.entry.path].concat();
            let mut unpacker = Unpacker::single(Selection::new([path]).filter(), writer);
            let excerpt = Excerpt::new(chosen.entries(&mut contents), other);
            deadpan_pack::unpack(excerpt, &mut unpacker, &deadpan_pack::Work::default()).map_err(blamed)?.bytes
        }
        _ => io::copy(&mut Excerpt::new(chosen.entries(&mut contents), other), &mut writer)
            .map_err(|error| blamed(error.downcast::<Error>().unwrap_or_else(Error::Write)))?,
    };
    Ok(Done { output: Some(output.shown()), bytes, ..Done::default() })
}

/// A part joins what is there, unless the place has the name from inside: whoever sealed the folder could have chosen that of one that is dear to
/// its owner.
fn target(place: &Place, input: &Input, args: &OpenArgs) -> Result<Target, Failure> {
    match place {
        Place::File(path) => {
            let named = bare(&input.source).is_some() || args.output.as_ref() == Some(path);
            Target::begin(path, &args.unpack, named && !args.only.is_empty(), args.force)
        }
        Place::Stdout => Err(Failure::usage("a folder cannot be written to standard output", "name a folder with -o")),
    }
}

fn landing(args: &OpenArgs) -> Landing {
    Landing { replace: false, sync: args.sync }
}
