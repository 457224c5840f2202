//! Recovery data of files by path.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::fault::shown;
use crate::{Code, Fault, open_seekable};
use deadpan_disk::About;
use deadpan_files::DraftFile;
use deadpan_repair::{Error, Percent, Report, Sidecar};
use deadpan_seal::Work;

/// The maximum number of ranges that a report lists.
const MOST_RANGES: usize = 100_000;

/// The result of [`repair_check`].
#[derive(Clone, Debug)]
pub struct Damage {
    /// Whether the file is the original file.
    pub whole: bool,
    /// Whether the sidecar has no damage.
    pub sidecar_whole: bool,
    /// Whether [`repair_fix`] can make the original file.
    pub fixable: bool,
    /// The ranges of the original file whose bytes are missing: the first byte, and the first byte after the range. At
    /// most the first hundred thousand of them.
    pub missing: Vec<(u64, u64)>,
    /// The number of bytes that were found at another place than before.
    pub moved: u64,
}

/// Returns the usual path of the sidecar of a file.
#[must_use]
pub fn sidecar_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".dpr");
    name.into()
}

/// Makes the sidecar of a file. `replace` lets the sidecar replace another file.
///
/// # Errors
/// If the percentage is not from 1 to 100, the file cannot be read, or the sidecar exists or cannot be written.
pub fn repair_make(file: &Path, sidecar: &Path, percent: u8, replace: bool, work: &Work<'_>) -> Result<(), Fault> {
    let failed = |error| fault(error, file, sidecar);
    let percent = Percent::new(percent).map_err(failed)?;
    let (input, about) = regular(file)?;
    let draft = DraftFile::new(sidecar, replace)?;
    deadpan_repair::make(&input, about.length, draft.file(), percent, &of(work)).map_err(failed)?;
    // The sidecar shows parts of the file.
    Ok(draft.land_with(Some(about.mode & 0o666), None, false)?)
}

/// Compares a file with its sidecar.
///
/// # Errors
/// If the files cannot be read, or if the sidecar has no valid header.
pub fn repair_check(file: &Path, sidecar: &Path, work: &Work<'_>) -> Result<Damage, Fault> {
    let checked = Checked::new(file, sidecar, work)?;
    let report = checked.report;
    Ok(Damage {
        whole: report.is_whole(),
        sidecar_whole: report.is_sidecar_whole(),
        fixable: report.fixable().is_ok(),
        missing: report.missing().take(MOST_RANGES).collect(),
        moved: report.moved_bytes(),
    })
}

/// Writes the original file to `output`, unless the file is whole. Returns whether anything was written. `replace` lets
/// the output replace another file, but not the damaged file itself.
///
/// # Errors
/// If too much is damaged, the files cannot be read, or the output exists or cannot be written.
pub fn repair_fix(file: &Path, sidecar: &Path, output: &Path, replace: bool, work: &Work<'_>) -> Result<bool, Fault> {
    let checked = Checked::new(file, sidecar, work)?;
    if checked.report.is_whole() {
        return Ok(false);
    }
    if About::of_path(output).is_ok_and(|about| about.id == checked.about.id) {
        return Err(Fault::argument(format!("{} is the input and the output", shown(file))));
    }
    let draft = DraftFile::new(output, replace)?;
    let Checked { input, about, sidecar: open, report } = checked;
    open.fix(&input, &report, draft.file(), &of(work)).map_err(|error| match error {
        Error::Write(error) => of_system(Code::Write, output, &error),
        error => fault(error, file, sidecar),
    })?;
    draft.land_with(Some(about.mode), Some(about.modified_at()), false)?;
    Ok(true)
}

/// A file that was compared with its sidecar.
struct Checked {
    input: File,
    about: About,
    sidecar: Sidecar<File>,
    report: Report,
}

impl Checked {
    fn new(file: &Path, sidecar: &Path, work: &Work<'_>) -> Result<Self, Fault> {
        let failed = |error| fault(error, file, sidecar);
        let (input, about) = regular(file)?;
        let (source, length) = regular(sidecar).map(|(source, about)| (source, about.length))?;
        let open = Sidecar::open(source, length).map_err(failed)?;
        let report = open.check(&input, about.length, &of(work)).map_err(failed)?;
        Ok(Self { input, about, sidecar: open, report })
    }
}

fn regular(path: &Path) -> Result<(File, About), Fault> {
    let (file, _) = open_seekable(path)?;
    let about = About::of_file(&file).map_err(|error| of_system(Code::Read, path, &error))?;
    if about.is_file() {
        Ok((file, about))
    } else {
        Err(Fault::argument(format!("{} is not a regular file", shown(path))))
    }
}

fn of<'a>(work: &Work<'a>) -> deadpan_repair::Work<'a> {
    deadpan_repair::Work { threads: work.threads, progress: work.progress, stop: work.stop }
}

fn fault(error: Error, file: &Path, sidecar: &Path) -> Fault {
    let code = match &error {
        Error::Read(error) => return of_system(Code::Read, file, error),
        Error::ReadSidecar(error) => return of_system(Code::Read, sidecar, error),
        Error::Write(error) => return of_system(Code::Write, sidecar, error),
        Error::Newer(_) => Code::Newer,
        Error::Stopped => Code::Stopped,
        Error::Shrank => Code::Read,
        error => match error.fault() {
            deadpan_repair::Fault::Data => Code::Tampered,
            deadpan_repair::Fault::Caller => Code::Argument,
            _ => Code::System,
        },
    };
    let about = if matches!(error, Error::NotSidecar | Error::Newer(_)) { sidecar } else { file };
    Fault::new(code, error.to_string()).about(about)
}

fn of_system(code: Code, path: &Path, error: &std::io::Error) -> Fault {
    let fault = Fault::new(code, error.to_string()).with_errno(error.raw_os_error()).about(path);
    Fault { path: Some(path.to_owned()), ..fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_repaired_and_other_files_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let [file, output] = ["file", "output"].map(|name| place.path().join(name));
        let (sidecar, work) = (sidecar_of(&file), Work::default());
        let original: Vec<u8> = (0..50_000u32).flat_map(u32::to_be_bytes).collect();
        std::fs::write(&file, &original).unwrap();
        assert_eq!(repair_make(&file, &sidecar, 0, false, &work).unwrap_err().code, Code::Argument);
        repair_make(&file, &sidecar, 10, false, &work).unwrap();
        assert_eq!(repair_make(&file, &sidecar, 10, false, &work).unwrap_err().code, Code::Exists);
        assert!(!repair_fix(&file, &sidecar, &output, false, &work).unwrap() && !output.exists());
        let mut damaged = original.clone();
        damaged[100..10_000].fill(0);
        std::fs::write(&file, &damaged).unwrap();
        let damage = repair_check(&file, &sidecar, &work).unwrap();
        assert!(!damage.whole && damage.sidecar_whole && damage.fixable && damage.moved == 0);
        assert_eq!(damage.missing, [(0, 10_240)]);
        assert_eq!(repair_fix(&file, &sidecar, &file, true, &work).unwrap_err().code, Code::Argument);
        assert!(repair_fix(&file, &sidecar, &output, false, &work).unwrap());
        assert_eq!(std::fs::read(&output).unwrap(), original);
        std::fs::write(&file, &damaged[..100_000]).unwrap();
        assert_eq!(repair_fix(&file, &sidecar, &output, true, &work).unwrap_err().code, Code::Tampered);
        assert_eq!(repair_check(&file, &output, &work).unwrap_err().code, Code::Tampered);
        assert_eq!(repair_check(&file, &place.path().join("none"), &work).unwrap_err().code, Code::Read);
        assert_eq!(repair_make(place.path(), &sidecar, 10, false, &work).unwrap_err().code, Code::Argument);
    }
}
