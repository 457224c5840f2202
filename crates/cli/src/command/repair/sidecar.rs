//! Sidecars: the files with the recovery data of other files.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::place::input::{Input, Source};
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::partial::{Attributes, land_all};
use crate::place::remote;
use crate::place::report::Done;
use crate::tell::failure::{Exit, Failure};
use crate::tell::progress::Progress;
use crate::tell::shown::shown;
use deadpan_disk::About;
use deadpan_disk::portable::OsStrExt;
use deadpan_repair::{Percent, Report, Sidecar, Work, make};

/// The ending of the name of a sidecar.
pub const ENDING: &str = ".dpr";

/// How the sidecar of a file is found.
#[derive(Debug, clap::Args)]
pub struct SidecarArgs {
    /// The file with the recovery data, or its folder [default: FILE.dpr]
    #[arg(short, long, value_name = "FILE")]
    sidecar: Option<PathBuf>,
}

impl SidecarArgs {
    /// Returns an error if one sidecar is named for several files.
    pub fn check(&self, sources: &[Source]) -> Result<(), Failure> {
        if self.sidecar.as_deref().is_some_and(|sidecar| !is_folder(sidecar)) && sources.len() > 1 {
            let hint = "name the folder that holds the sidecars of all files, or name the files one by one";
            return Err(Failure::usage("one sidecar is for one file", hint));
        }
        Ok(())
    }

    /// Returns the path of the sidecar of the file at `path`.
    pub fn path(&self, path: &Path) -> PathBuf {
        let usual = beside(path, ENDING);
        match &self.sidecar {
            Some(folder) if is_folder(folder) => folder.join(usual.file_name().unwrap_or_default()),
            Some(sidecar) => sidecar.clone(),
            None => usual,
        }
    }
}

fn is_folder(path: &Path) -> bool {
    About::of_path(path).is_ok_and(|about| about.is_folder())
}

/// Returns the path of a file beside another one, whose name is the other name with an ending.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Returns a note if recovery data lie beside a file that was just changed or replaced.
pub fn outdated(path: &Path) -> Option<String> {
    let sidecar = beside(path, ENDING);
    About::of_path(&sidecar).ok().filter(About::is_file)?;
    Some(format!(
        "{} still repairs the file as it was before: make it again with: deadpan repair make --force {}",
        shown(&sidecar),
        shown(path)
    ))
}

/// Adds advice to the failures of a damaged file, if recovery data lie beside the file.
pub fn repairable(source: &Source, result: Result<Done, Failure>) -> Result<Done, Failure> {
    let advised = |failure| advised(source, failure);
    match result {
        Ok(done) => Ok(Done { failures: done.failures.into_iter().map(advised).collect(), ..done }),
        Err(failure) => Err(advised(failure)),
    }
}

/// Does the same with one failure.
pub fn advised(source: &Source, mut failure: Failure) -> Failure {
    // If the header of a sealed file is damaged, it may seem that no key fits.
    let is_keyless = failure.exit == Exit::Key;
    let path = source.path().filter(|path| (failure.damaged || is_keyless) && !remote::is_address(path));
    if let Some(path) = path.filter(|path| About::of_path(&beside(path, ENDING)).is_ok_and(|it| it.is_file())) {
        let path = shown(path);
        let fix = format!("repair it with: deadpan repair fix {path}");
        failure.hint = Some(match failure.hint {
            Some(hint) if is_keyless => format!("{hint}; or is it damaged? deadpan repair check {path}"),
            Some(hint) => format!("{fix}; or else: {hint}"),
            None => fix,
        });
    }
    failure
}

/// Opens the files whose sidecars are made or used: regular files that are named.
pub fn regular(source: &Source) -> Result<Input, Failure> {
    if source.path().is_some_and(remote::is_address) {
        let hint = "copy the object to a file first, with the tool of its store";
        return Err(Failure::usage(format!("{} is an object in a store", source.shown()), hint));
    }
    let input = Input::open(source)?
        .file_only("name a file; a folder becomes one with: deadpan seal FOLDER, or deadpan pack FOLDER")?;
    if *source == Source::Stdin || input.length().is_none() {
        let message = format!("{} is not a regular file, which can be read at any position", input.shown());
        return Err(Failure::usage(message, "save the data to a file first"));
    }
    Ok(input)
}

/// Returns the file and the length of an input that [`regular`] has opened.
pub fn opened(input: &Input) -> Result<(&File, u64), Failure> {
    let opened = input.file().zip(input.length());
    opened.ok_or_else(|| Failure::usage(format!("{} is not a file", input.shown()), "name a file"))
}

/// Returns an error if the name of the file is that of a sidecar.
pub fn refuse_sidecar(path: &Path, verb: &str) -> Result<(), Failure> {
    let Some(file) = path.as_os_str().as_bytes().strip_suffix(ENDING.as_bytes()) else { return Ok(()) };
    let file = Path::new(std::ffi::OsStr::from_bytes(file));
    let is_there = About::of_path(file).is_ok();
    let hint = if is_there {
        format!("name the file: deadpan repair {verb} {}", shown(file))
    } else {
        "name the file to which it belongs; any other file that is called so needs another name".into()
    };
    Err(Failure::usage(format!("{} holds recovery data itself", shown(path)), hint))
}

/// An open sidecar.
pub struct OpenSidecar {
    input: Input,
    name: String,
}

impl OpenSidecar {
    /// Opens the sidecar at `path`, which belongs to the file with this name.
    pub fn open(path: PathBuf, file: &str) -> Result<Self, Failure> {
        let name = shown(&path);
        if About::of_path(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            let message = format!("there are no recovery data for {file}: there is no file {name}");
            let hint = format!(
                "name them with --sidecar; recovery data are made while a file is whole: deadpan repair make {file}"
            );
            return Err(Failure::usage(message, hint));
        }
        let input = regular(&Source::File(path))?;
        Ok(Self { input, name })
    }

    pub fn shown(&self) -> &str {
        &self.name
    }

    /// Reads the header.
    pub fn read(&self) -> Result<Sidecar<&File>, Failure> {
        let (file, length) = opened(&self.input)?;
        Sidecar::open(file, length).map_err(|error| Failure::repair("", &self.name, error))
    }

    /// Reads the file and the sidecar, and compares all blocks.
    pub fn check(&self, sidecar: &Sidecar<&File>, input: &Input) -> Result<Report, Failure> {
        let (file, length) = opened(input)?;
        let total = sidecar.file_length().saturating_add(sidecar.length());
        let progress = Progress::new(&input.shown(), Some(total));
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        sidecar.check(file, length, &work).map_err(|error| Failure::repair(&input.shown(), &self.name, error))
    }
}

/// A sidecar that is being made.
pub struct Draft {
    output: Output,
    percent: Percent,
}

impl Draft {
    /// Opens the output. `input` is the input of the command, which the output must not replace.
    pub fn open(args: &OutputArgs, place: &Place, input: Option<&Input>, percent: Percent) -> Result<Self, Failure> {
        let output = args.open(place, input)?;
        if !output.is_positioned() {
            let message =
                format!("recovery data are written at any position, and {} takes only a stream", output.shown());
            return Err(Failure::usage(message, "name a file with -o"));
        }
        Ok(Self { output, percent })
    }

    /// Makes the sidecar of this file. Returns the length of the sidecar.
    pub fn make(&self, file: &File, length: u64, name: &str) -> Result<u64, Failure> {
        let Some(to) = self.output.positions() else {
            return Err(Failure::usage(format!("{} is not a file", self.output.shown()), "name a file with -o"));
        };
        let progress = Progress::new(name, Some(length));
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        make(file, length, to, self.percent, &work).map_err(|error| Failure::repair(name, &self.output.shown(), error))
    }

    pub fn place(&self) -> &Place {
        self.output.place()
    }

    /// Gives a new file and its sidecar, which lies beside it, their names. If one of them cannot get its name, none
    /// gets one. Returns the place of the file.
    pub fn land_with(self, file: Output, sync: bool) -> Result<Place, Failure> {
        let attributes = Attributes::usual();
        match (file, self.output) {
            (Output::Partial { partial, place, replace }, Output::Partial { partial: sidecar, place: beside, .. }) => {
                let path = |place: &Place| place.path().map(Path::to_owned).unwrap_or_default();
                land_all(vec![(partial, path(&place)), (sidecar, path(&beside))], attributes, replace, sync)?;
                Ok(place)
            }
            (file, sidecar) => {
                let place = file.land(attributes, sync)?;
                sidecar.land(attributes, sync)?;
                Ok(place)
            }
        }
    }

    /// Gives the sidecar its name. Nobody may read it who may not read the file, because it shows parts of the file.
    pub fn land(self, mode: u32, sync: bool) -> Result<Place, Failure> {
        self.output.land(Attributes { mode: mode & 0o666, modified: None }, sync)
    }
}
