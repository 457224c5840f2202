//! `deadpan picture hide`: hides a file or a folder in pictures.

mod carriers;
pub mod templates;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use super::copy::copy;
use super::cover;
use super::drafts::{DraftNames, name_of};
use super::shape::{PictureFormatArg, Pixels, ending, format_of, is_other_picture};
use crate::command::folder::{self, ExcludeArgs, PackArgs, check_stdin};
use crate::command::plan::Plan;
use crate::command::seal;
use crate::key::home::Home;
use crate::key::passphrase::Passphrases;
use crate::key::recipient::{RecipientArgs, Recipients};
use crate::place::claims::Claims;
use crate::place::input::{Input, Source};
use crate::place::level::LevelArgs;
use crate::place::output::{OutputArgs, Place};
use crate::place::partial::{Attributes, is_no_file};
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::put_names;
use crate::tell::shown::shown;
use deadpan_disk::About;
use deadpan_files::PackSource;
use deadpan_pack::Rules;
use deadpan_picture::Format;
use deadpan_seal::{Error, Sealing, Work, WriteAt};

/// The number of bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// Hides a file or a folder in pictures beside it: FILE becomes FILE.png, or FILE-001.png and so on, sealed for the
/// recipients
#[derive(Debug, clap::Args)]
#[command(mut_arg("output", |output| {
    output.help("The name of the pictures, without number and ending, or a folder to put them into")
}))]
#[command(after_help = help!(
    "deadpan picture hide report.pdf                  report.pdf.png, for yourself: open it with reveal",
    "deadpan picture hide -r alice photos             a folder, for Alice",
    "deadpan picture hide -p --format webp notes.txt  with a passphrase, as WebP",
    "deadpan picture hide --spare 2 photos            photos-001.png and two more; any two of them may be lost",
    "deadpan picture hide --exclude '*.tmp' photos    without what matches",
    "deadpan picture hide --cover beach.jpg -o b notes.txt   in the lowest bits of a photograph: b.png",
    "deadpan picture hide --spare 1 --cover album -o trip notes.txt   in photographs, any of which may be lost",
    "deadpan picture hide --raw -o out data           the bytes as they are, not sealed",
    "tar c folder | deadpan picture hide -o backup    from a pipe: backup.png"
))]
pub struct HideArgs {
    #[command(flatten)]
    to: RecipientArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Hide the bytes as they are, without sealing them. Anyone can reveal the bytes, unless --cover hides them for
    /// recipients
    #[arg(long)]
    raw: bool,
    /// The file format of the pictures [default: by the ending of -o, or png]
    #[arg(long, value_name = "FORMAT")]
    format: Option<PictureFormatArg>,
    /// The size of each picture, in pixels [default: up to 4096x2730, and larger for more than 30 GB]
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    size: Option<Pixels>,
    /// Hide the data in the lowest bits of this photograph, or of a folder of photographs. May be repeated
    #[arg(long, value_name = "PICTURE", conflicts_with = "size")]
    cover: Vec<PathBuf>,
    /// The number of bits in each channel of a cover's pixel, 1 to 4. Fewer bits show less
    #[arg(long, value_name = "BITS", default_value_t = 2, requires = "cover",
        value_parser = clap::value_parser!(u8).range(1..=4))]
    bits: u8,
    /// Write PNG files without compression. Such files are unusual and twice as large, but made and read faster
    #[arg(long, requires = "cover")]
    uncompressed: bool,
    /// Make N more pictures, so that any N pictures may be lost. With --cover, they take covers too
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    spare: u32,
    /// Pad the data, so that the sealed file reveals little about their length; adds up to 12 %
    #[arg(long)]
    hide_length: bool,
    #[command(flatten)]
    compress: LevelArgs,
    #[command(flatten)]
    pack: PackArgs,
    #[command(flatten)]
    exclude: ExcludeArgs,
    /// The file or folder to hide; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub struct Hide {
    args: HideArgs,
    source: Source,
    format: Format,
    /// What is left out of a folder.
    rules: Rules,
}

impl HideArgs {
    pub fn plan(mut self) -> Result<Hide, Failure> {
        self.to.imply_passphrase(false);
        self.to.check()?;
        let files: Vec<_> = self.file.clone().into_iter().collect();
        check_stdin(&files, &[], self.exclude.files())?;
        let sources = Source::all(files)?;
        let reads_list = self.exclude.files().iter().any(|file| file == Path::new("-"));
        let read: Vec<_> = sources.iter().cloned().chain(reads_list.then_some(Source::Stdin)).collect();
        self.to.leave_stdin_to(&read)?;
        self.exclude.check(&sources)?;
        let source = sources.into_iter().next().unwrap_or(Source::Stdin);
        if self.raw && self.to.is_given() && self.cover.is_empty() {
            let hint = "leave out --raw, or the recipients";
            return Err(Failure::usage("--raw seals nothing, so there is nothing for recipients to open", hint));
        }
        if self.raw && self.hide_length {
            let hint = "leave out --raw, or --hide-length";
            return Err(Failure::usage("--hide-length pads what is sealed, and --raw seals nothing", hint));
        }
        if self.raw && self.compress.get().is_some() {
            let hint = "leave out --raw, or compress before: zstd < FILE | deadpan picture hide --raw -o OUT";
            return Err(Failure::usage("--compress is for what is sealed, and --raw seals nothing", hint));
        }
        if self.output.is_stdout() {
            let hint = "name them with -o, or name a folder to put them into";
            return Err(Failure::usage("pictures are files, and cannot be written to standard output", hint));
        }
        let format = self.format()?;
        if self.uncompressed && format != Format::Png {
            let hint = "leave out --uncompressed, or choose --format png";
            return Err(Failure::usage("--uncompressed is for PNG, and WebP is always compressed", hint));
        }
        let rules = self.exclude.rules()?;
        Ok(Hide { args: self, source, format, rules })
    }

    /// Returns the format of the pictures. `--format` and the extension of `-o` determine the format.
    fn format(&self) -> Result<Format, Failure> {
        let wanted = self.format.map(Format::from);
        // The name of a folder may also have the extension of a picture, so this code ignores folders.
        let path = self.output.place().filter(|place| !place.is_folder() && !place.ends_with_slash());
        let Some(path) = path.and_then(Place::path) else { return Ok(wanted.unwrap_or_default()) };
        if is_other_picture(path) {
            let message = format!("{} does not end with .png or .webp, the formats without loss", shown(path));
            return Err(Failure::usage(message, "give it one of these endings, or none"));
        }
        match (wanted, format_of(path)) {
            (Some(wanted), Some(asked)) if wanted != asked => Err(Failure::usage(
                format!("{} does not end with .{}, and --format asks for it", shown(path), ending(wanted)),
                "leave out --format, or change the ending",
            )),
            (wanted, asked) => Ok(wanted.or(asked).unwrap_or_default()),
        }
    }
}

impl Plan for Hide {
    fn run(&self) -> Result<Exit, Failure> {
        let mut report = Report::new("hide", self.args.output.json, 1);
        let start = Instant::now();
        report.add(&self.source, start, &self.hide());
        Ok(report.exit())
    }
}

impl Hide {
    fn hide(&self) -> Result<Done, Failure> {
        let args = &self.args;
        args.output.hold(std::slice::from_ref(&self.source));
        let input = Input::open(&self.source).map_err(|failure| args.to.advise(&self.source, failure))?;
        if args.raw && input.is_folder() {
            let hint = "leave out --raw, or pack the folder first: deadpan pack FOLDER";
            return Err(Failure::usage(format!("{} is a folder, and --raw hides bytes", input.shown()), hint));
        }
        let covers = cover::all(&args.cover)?;
        let inputs: Vec<_> = covers.iter().cloned().map(Source::File).chain([self.source.clone()]).collect();
        let claims = Claims::on(&inputs);
        let names = self.names(&input)?;
        names.check(None, args.output.force, &claims)?;
        let named = args.to.find(&Home::find()?)?;
        // With `--raw`, the data are not sealed. With `--raw`, the recipients only determine who can find the data.
        let to = if args.raw && !args.to.is_given() {
            None
        } else {
            let (home, passphrases) = (Home::find()?, Passphrases::new(&args.to.source));
            let to = args.to.resolve(&named, "the pictures", &home, &passphrases, false)?;
            to.refuse_ssh()?;
            to.tell_if_others(&home)?;
            Some(to)
        };
        let sealing = to.as_ref().filter(|_| !args.raw).map(|to| self.sealing(to, &input)).transpose()?;
        input.announce();
        let done = if args.cover.is_empty() {
            carriers::hide(self, &input, sealing.as_ref(), names, &claims)?
        } else {
            templates::hide(self, &covers, &input, sealing.as_ref(), to.as_ref(), names, &claims)?
        };
        Ok(Done { default_key: to.and_then(|to| to.default_key), ..done })
    }

    fn sealing(&self, to: &Recipients, input: &Input) -> Result<Sealing, Failure> {
        let mut sealing = to.sealing.clone().hide_length(self.args.hide_length);
        if let Some(level) = self.args.compress.get() {
            sealing = sealing.compress(level);
        }
        sealing.metadata(seal::metadata(input)?).map_err(|error| Failure::seal(&input.shown(), error))
    }

    /// With `--raw`, only users who can read the input can read the pictures.
    fn attributes(&self, input: &Input) -> Attributes {
        let usual = Attributes::usual();
        match input.file().and_then(|file| About::of_file(file).ok()).filter(|about| self.args.raw && about.is_file()) {
            Some(about) => Attributes { mode: usual.mode & about.mode, ..usual },
            None => usual,
        }
    }

    /// Returns the names of the pictures, which come from `-o`, or else from the path of the input.
    fn names(&self, input: &Input) -> Result<DraftNames, Failure> {
        let usual = || match input.source.path() {
            Some(path) => folder::beside(path, "").map(Place::Given),
            None => {
                let hint = match self.args.output.place().filter(|place| place.is_folder()) {
                    Some(folder) => format!("name them with -o {}", shown(Path::new(&folder.shown()).join("NAME"))),
                    None => "name them with -o".to_owned(),
                };
                Err(Failure::usage("standard input does not say what the pictures are called", hint))
            }
        };
        let place = self.args.output.file(usual)?;
        let path = place.path().unwrap_or(Path::new(""));
        if place.descriptor().is_some() || path.file_name().is_none() {
            let hint = "name the pictures with -o, without number and ending";
            return Err(Failure::usage(format!("{} is no name for pictures", place.shown()), hint));
        }
        // A pipe or a device cannot be the output, because the pictures are separate files whose names only begin with
        // the name of the output.
        if About::of_path(path).is_ok_and(|about| !about.is_file() && !about.is_folder()) {
            return Err(is_no_file(path));
        }
        let given = self.args.output.place().is_some_and(|given| *given == place);
        let folder = self.args.output.folder_of(&name_of(path, self.format, given), Some(input))?;
        Ok(if given {
            DraftNames::given(path, self.format, folder)
        } else {
            DraftNames::of_input(path, self.format, folder)
        })
    }
}

/// A set of pictures that was made.
struct Made {
    paths: Vec<PathBuf>,
    spares: u32,
    /// The number of bytes of the hidden data.
    total: u64,
}

impl Made {
    fn report(self, hide: &Hide, input: &Input, done: Done) -> Done {
        let Done { mut notes, mut more, .. } = done;
        put_names(&mut more, "pictures", &self.paths);
        let pictures = self.paths.len();
        more.insert("spares".into(), json!(self.spares));
        more.insert("hidden".into(), json!(self.total));
        let (mut paths, output) = (self.paths.into_iter(), &hide.args.output);
        let first = paths.next().map(Place::Given);
        let remark = paths.next_back().map(|last| {
            let spare = if self.spares > 0 { format!(", {} of them spare", self.spares) } else { String::new() };
            format!("to {}, {pictures} pictures{spare}", shown(last))
        });
        notes.extend(first.iter().filter_map(|first| folder::outside(input, first, output)));
        Done { output: first, remark, notes, more, ..done }
    }
}

/// Returns the length of the data that will be hidden; these data may be sealed. Returns `None` if this length is not
/// known before the data are read.
fn total(input: &Input, sealing: Option<&Sealing>) -> Result<Option<u64>, Failure> {
    if sealing.is_some_and(Sealing::is_compressed) {
        return Ok(None);
    }
    let length = input.length().filter(|_| input.positioned);
    let sealed = |(length, sealing): (u64, &Sealing)| sealing.sealed_length(length);
    match length.zip(sealing).map(sealed) {
        Some(total) => total.map(Some).map_err(|error| Failure::seal(&input.shown(), error)),
        None => Ok(length),
    }
}

/// Writes the data of the input to `output`. The result contains the number of bytes of the input.
fn fill(
    hide: &Hide,
    input: &Input,
    sealing: Option<&Sealing>,
    output: &impl WriteAt,
    names: &DraftNames,
) -> Result<Done, Failure> {
    let pack = &hide.args.pack;
    let progress = pack.progress(input, &hide.rules).hidden_if(input.is_terminal());
    let add = |bytes| progress.add(bytes);
    let work = Work { progress: Some(&add), ..Work::default() };
    let name = input.shown();
    if let Some(sealing) = sealing.filter(|_| input.is_folder()) {
        let source = PackSource(pack.packer(input, None, hide.rules.clone())?);
        let (_, PackSource(packer)) =
            sealing.gather_at(source, output, &work).map_err(|error| folder::blame(error, &name, &names.shown()))?;
        let mut done = folder::outcome(&name, &packer.notes());
        folder::tell(&mut done, &hide.rules, &packer);
        return Ok(Done { bytes: packer.size(), ..done });
    }
    let written = match (sealing, input.length().filter(|_| input.positioned)) {
        (Some(sealing), Some(length)) => sealing.seal_at(&input.data, length, output, &work).map(|done| done.plain),
        (Some(sealing), None) => sealing.seal_stream(input.reader(), InOrder(output, 0), &work).map(|done| done.plain),
        (None, Some(length)) => copy(&input.data, length, output, &work),
        (None, None) => pour(input.reader(), output, &work),
    };
    let bytes = written.map_err(|error| Failure::blame(error, &name, &names.shown()))?;
    let now = input.file().filter(|_| input.positioned).and_then(|file| file.metadata().ok());
    let grew = now.is_some_and(|now| now.len() > bytes);
    let note = || format!("{name} grew while it was hidden; the pictures have the contents up to its old length");
    Ok(Done { bytes, notes: grew.then(note).into_iter().collect(), ..Done::default() })
}

/// A writer that writes all bytes in order, at increasing positions.
struct InOrder<'a, W>(&'a W, u64);

impl<W: WriteAt> Write for InOrder<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all_at(bytes, self.1)?;
        self.1 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies a stream.
fn pour(mut input: impl Read, output: &impl WriteAt, work: &Work<'_>) -> Result<u64, Error> {
    let (mut buffer, mut position) = (vec![0; PIECE], 0);
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(position),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::Read(error)),
        };
        output.write_all_at(&buffer[..read], position).map_err(Error::Write)?;
        position += read as u64;
        work.progress.iter().for_each(|progress| progress(read as u64));
    }
}
