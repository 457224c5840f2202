//! `deadpan seal`: files become sealed files.

mod verify;

use crate::armor::Armor;
use crate::failure::{Exit, Failure, help};
use crate::folder::{self, Gathered, PackArgs};
use crate::home::Home;
use crate::input::{Input, Source};
use crate::output::{self, Output, Place};
use crate::partial::Landing;
use crate::passphrase::Passphrases;
use crate::plan::Plan;
use crate::process;
use crate::progress::Progress;
use crate::recipient::{RecipientArgs, Recipients};
use crate::report::{Done, Report};
use deadpan_seal::{Error, Kind, Metadata, Sealing, Summary, Work};
use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use verify::Removal;

/// What is added to the name of a sealed file.
pub const ENDING: &str = ".dpn";

/// Seals files and folders: FILE becomes FILE.dpn, and only the recipients can open it
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan seal report.pdf                   to yourself: report.pdf.dpn (makes a key if you have none)",
    "deadpan seal -r alice -r bob.pub *.pdf    to Alice, a contact, and to the key in bob.pub",
    "deadpan seal -p -o notes.dpn notes.txt    with a passphrase",
    "deadpan seal photos                       a folder with all that is in it: photos.dpn",
    "tar c folder | deadpan seal > folder.dpn  through pipes"
))]
pub struct SealArgs {
    #[command(flatten)]
    to: RecipientArgs,
    /// Where the sealed file goes; a folder is possible, and - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write text (PEM) instead of bytes
    #[arg(short, long)]
    armor: bool,
    /// Pad the data, so that the length tells little: up to 12 % more
    #[arg(long)]
    hide_length: bool,
    /// Remove FILE once the sealed file is on the disk and was opened and compared with it
    #[arg(long)]
    remove_source: bool,
    /// Have the sealed file on the disk before saying that it is done
    #[arg(long)]
    sync: bool,
    /// Replace an output that exists
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    pack: PackArgs,
    /// Print the results as JSON, an object a line
    #[arg(long)]
    json: bool,
    /// What to seal: files and folders; - or nothing is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Files to be sealed.
pub struct Seal {
    args: SealArgs,
    sources: Vec<Source>,
}

impl SealArgs {
    pub fn plan(self) -> Result<Seal, Failure> {
        self.to.check()?;
        let sources = Source::all(self.files.clone())?;
        self.to.source.leave_stdin_to(&sources)?;
        let to_stdout = self.output.as_deref() == Some(Path::new("-"));
        if sources.len() > 1 && to_stdout {
            return Err(Failure::usage(
                "several sealed files in one stream cannot be told apart",
                "leave out -o, or seal a tar archive of them",
            ));
        }
        if self.remove_source && (to_stdout || sources.contains(&Source::Stdin)) {
            return Err(Failure::usage(
                "--remove-source takes files, on both sides",
                "a sealed file that went into a pipe cannot be checked",
            ));
        }
        Ok(Seal { args: self, sources })
    }
}

impl Plan for Seal {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        output::check_room(args.output.as_deref(), self.sources.len())?;
        let to_stdout = self.sources.contains(&Source::Stdin) || args.output.as_deref() == Some(Path::new("-"));
        let mut report = Report::new("seal", args.json, self.sources.len()).aside(to_stdout);
        let mut job: Option<Job<'_>> = None;
        for source in &self.sources {
            let start = Instant::now();
            let result = match (self.prepare(source), &mut job) {
                (Ok((input, output)), Some(job)) => job.seal(&input, output),
                // Nobody is asked for a passphrase, and no key made, before there is something to seal.
                (Ok((input, output)), None) => job.insert(Job::begin(args)?).seal(&input, output),
                (Err(failure), _) => Err(failure),
            };
            report.add(&source.shown(), start, &result);
        }
        Ok(report.exit())
    }
}

impl Seal {
    /// Opens both sides, and refuses what cannot work.
    fn prepare(&self, source: &Source) -> Result<(Input, Output), Failure> {
        let args = &self.args;
        let mut input = Input::open(source)?;
        if args.remove_source {
            input = input
                .file_only("--remove-source takes files only: remove the folder yourself when the sealed file is where it should be")?;
            verify::check(&input)?;
        }
        let place = Place::resolve(args.output.as_deref(), || usual_place(&input))?;
        let output = Output::open(&place, args.force, Some(&input))?;
        if output.is_terminal() && !args.armor {
            let hint = "name a file with -o, send it to another program, or ask for text with --armor";
            return Err(Failure::usage("sealed data are bytes, and a terminal shows text", hint));
        }
        if args.remove_source && !output.is_positioned() {
            let message = format!("what goes to {} cannot be checked, so the source is not removed", output.shown());
            return Err(Failure::usage(message, "name a file with -o, or leave out --remove-source"));
        }
        Ok((input, output))
    }
}

/// All that is the same for every file.
struct Job<'a> {
    args: &'a SealArgs,
    to: Recipients,
    removal: Option<Removal>,
}

impl<'a> Job<'a> {
    fn begin(args: &'a SealArgs) -> Result<Self, Failure> {
        let home = Home::find()?;
        let passphrases = Passphrases::new(&args.to.source);
        let to = args.to.resolve(&home, &passphrases)?;
        let removal = if args.remove_source { Some(Removal::prepare(&home, passphrases, &to)?) } else { None };
        Ok(Self { args, to, removal })
    }

    fn seal(&mut self, input: &Input, output: Output) -> Result<Done, Failure> {
        let sealing = self.sealing(input)?;
        let (summary, exit) = self.transform(&sealing, input, &output)?;
        let remark = match (&mut self.removal, &output) {
            (Some(removal), Output::Partial(partial, _)) => {
                partial.sync()?;
                removal.verify(input, partial.file())?;
                Some("compared, source removed".to_owned())
            }
            _ => None,
        };
        if let Output::Partial(partial, path) = &output {
            let mode = Permissions::from_mode(0o666 & !process::umask());
            partial.file().set_permissions(mode).map_err(|error| Failure::path("set the mode of", path, &error))?;
        }
        let name = output.shown();
        output.land(Landing { replace: self.args.force, sync: self.args.sync || self.args.remove_source })?;
        if self.removal.is_some() {
            verify::remove(input)?;
        }
        Ok(Done { output: Some(name), bytes: summary.plain, remark, exit })
    }

    /// To the recipients, with what is to be sealed beside this input's data.
    fn sealing(&self, input: &Input) -> Result<Sealing, Failure> {
        let metadata = match input.source.path().filter(|_| input.metadata.is_file() || input.is_folder()) {
            None => Metadata::default(),
            Some(path) => Metadata {
                kind: if input.is_folder() { Kind::Folder } else { Kind::File },
                // A backslash would be a separator where the file may be opened: such a name stays out, and the sealed file's name is all there is.
                name: Some(folder::name_of(path)?.into_encoded_bytes()).filter(|name| !name.contains(&b'\\')),
                modified: input.metadata.modified().ok(),
                mode: Some(input.metadata.permissions().mode() & 0o7777),
            },
        };
        let sealing = self.to.sealing.clone().hide_length(self.args.hide_length).metadata(metadata);
        sealing.map_err(|error| Failure::of(&input.shown(), error))
    }

    /// Seals; whether all of it.
    fn transform(&self, sealing: &Sealing, input: &Input, output: &Output) -> Result<(Summary, Exit), Failure> {
        let progress = Progress::new(&input.shown(), input.length());
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        if input.is_folder() {
            return self.folder(sealing, input, output, &work);
        }
        let summary = if self.args.armor {
            armored(output, |armor| sealing.stream(&input.file, armor, &work))
        } else if input.positioned && output.is_positioned() {
            sealing.file(&input.file, output.file(), &work)
        } else {
            sealing.stream(&input.file, output.file(), &work)
        };
        summary.map(|summary| (summary, Exit::Done)).map_err(|error| blame(error, &input.shown(), &output.shown()))
    }

    fn folder(&self, sealing: &Sealing, input: &Input, output: &Output, work: &Work<'_>) -> Result<(Summary, Exit), Failure> {
        let source = Gathered(self.args.pack.packer(input, output)?);
        let sealed = if self.args.armor {
            armored(output, |armor| sealing.gather(source, armor, work))
        } else if output.is_positioned() {
            sealing.gather_file(source, output.file(), work)
        } else {
            sealing.gather(source, output.file(), work)
        };
        let (summary, Gathered(packer)) = sealed.map_err(|error| folder::blame(error, &input.shown(), &output.shown()))?;
        Ok((Summary { plain: packer.size(), ..summary }, folder::tell(&packer.notes())))
    }
}

fn armored<T>(output: &Output, seal: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>) -> Result<T, Error> {
    let mut armor = Armor::new(BufWriter::with_capacity(1 << 18, output.file())).map_err(Error::Write)?;
    let done = seal(&mut armor)?;
    armor.finish().map_err(Error::Write)?;
    Ok(done)
}

/// An error about the file that it is about.
pub fn blame(error: Error, input: &str, output: &str) -> Failure {
    Failure::of(if matches!(error, Error::Write(_)) { output } else { input }, error)
}

/// Beside a file, with the ending; standard input goes to standard output.
fn usual_place(input: &Input) -> Result<Place, Failure> {
    match input.source.path() {
        None => Ok(Place::Stdout),
        Some(path) if input.is_folder() => folder::beside(path, ENDING).map(Place::File),
        Some(path) => {
            let mut name = path.as_os_str().to_owned();
            name.push(ENDING);
            Ok(Place::File(name.into()))
        }
    }
}
