//! Writes the record of a run to the files that the user names.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Suite;
use super::args::OutputArgs;
use crate::clock::Clock;
use crate::record::{Record, SCHEMA_VERSION};
use crate::visible::visible_lines;
use crate::{cleanup, disk, machine, record};

/// An error that is shown to a person.
pub(super) type Fault = Box<dyn std::error::Error>;

/// A run in progress, with its record.
pub(super) struct Run {
    pub(super) record: Record,
    begin: Instant,
}

impl Run {
    pub(super) fn new(suite: &Suite, command: &str, clock: &dyn Clock) -> Self {
        let record = Record {
            schema_version: SCHEMA_VERSION,
            tool: machine::tool(suite.name, suite.version),
            machine: machine::machine(clock),
            started: machine::now(),
            command: suite.caller.repeat(command),
            ..record::Record::default()
        };
        Self { record, begin: Instant::now() }
    }

    pub(super) fn finish(mut self, output: &OutputArgs) -> Result<(), Fault> {
        #[cfg(unix)]
        crate::imp::supervise::leave_if_spoiled();
        self.record.seconds = self.begin.elapsed().as_secs_f64();
        if let Some(path) = &output.json {
            write(path, serde_json::to_string(&self.record)?.as_bytes())?;
        }
        #[cfg(feature = "report")]
        {
            if let Some(path) = &output.html {
                write(path, crate::report::html(&self.record).as_bytes())?;
            }
            if let Some(path) = &output.markdown {
                let (folder, file) = page(path);
                crate::report::markdown_as(&self.record, &[], folder, file, crate::report::Detail::Full)
                    .map_err(page_failed)?;
            }
        }
        Ok(())
    }
}

impl OutputArgs {
    /// Checks that the outputs can be written, and that no output file is one of the files in `inputs`. The check runs
    /// before the measurement, because the measurement can take minutes.
    pub(super) fn check(&self, inputs: &[&Path]) -> Result<(), Fault> {
        #[cfg(feature = "report")]
        let files = [&self.json, &self.html];
        #[cfg(not(feature = "report"))]
        let files = [&self.json];
        #[cfg(feature = "report")]
        if let [Some(json), Some(html)] = files
            && same_file(json, html)
        {
            let path = json.display();
            return Err(format!("--json and --html both name {path}\nhint: give each output a file of its own").into());
        }
        for path in files.into_iter().flatten().filter(|path| path.as_path() != Path::new("-")) {
            apart(path, inputs)?;
            disk::check(path).map_err(|error| cannot_write(path, &error))?;
        }
        #[cfg(feature = "report")]
        if let Some(path) = &self.markdown {
            let (folder, _) = page(path);
            disk::make_folder(folder).map_err(|error| cannot_write(folder, &error))?;
        }
        Ok(())
    }

    pub(super) fn takes_stdout(&self) -> bool {
        let dash = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        #[cfg(feature = "report")]
        if dash(&self.html) {
            return true;
        }
        dash(&self.json)
    }
}

pub(super) fn apart(output: &Path, inputs: &[&Path]) -> Result<(), Fault> {
    if output != Path::new("-") && inputs.iter().any(|input| same_file(output, input)) {
        let path = output.display();
        return Err(format!("{path} is an input of this command\nhint: give the output another name").into());
    }
    Ok(())
}

/// The file need not exist.
pub(super) fn same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    a == b || place(a).is_some_and(|a| Some(a) == place(b))
}

/// Splits the argument of `--markdown` into the folder and the name of the page.
#[cfg(feature = "report")]
pub(super) fn page(path: &Path) -> (&Path, &str) {
    let name = path
        .file_name()
        .and_then(std::ffi::OsStr::to_str)
        .filter(|_| path.extension().is_some_and(|ending| ending == "md"));
    match (path.parent(), name) {
        (Some(folder), Some(name)) => (if folder.as_os_str().is_empty() { Path::new(".") } else { folder }, name),
        _ => (path, "report.md"),
    }
}

/// Returns a word for a shell. The word gets quotes only if the shell needs them.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Ends the program after a failed write to standard output. If the pipe of standard output is closed, the exit code is
/// the code that shells report for SIGPIPE.
pub(super) fn unwritable(error: &std::io::Error) -> ! {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        cleanup::exit(141);
    }
    note(&format!("error: cannot write the results: {error}"));
    cleanup::exit(2)
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Stops all further output of progress and notes. The lab still writes errors and results.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub(super) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a text with [`note`], except if the user wants to see only errors and results.
pub(super) fn remark(text: &str) {
    if !is_quiet() {
        note(text);
    }
}

/// Writes a line to standard error. Control characters are shown as visible text. If the line cannot be written, the
/// function ignores the error.
pub(super) fn note(text: &str) {
    let _ = print(Stream::Errors, format!("{}\n", visible_lines(text)).as_bytes());
}

/// An output of this program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Output,
    Errors,
}

pub(super) fn is_terminal(stream: Stream) -> bool {
    #[cfg(unix)]
    if let Some(files) = crate::imp::supervise::outputs() {
        return files[stream as usize].is_terminal();
    }
    match stream {
        Stream::Output => std::io::stdout().is_terminal(),
        Stream::Errors => std::io::stderr().is_terminal(),
    }
}

/// Writes to standard output or standard error. The write succeeds even if the code of a library has closed these
/// streams.
pub(super) fn print(stream: Stream, bytes: &[u8]) -> std::io::Result<()> {
    #[cfg(unix)]
    if let Some(files) = crate::imp::supervise::outputs() {
        return (&files[stream as usize]).write_all(bytes);
    }
    match stream {
        Stream::Output => {
            let mut out = std::io::stdout();
            out.write_all(bytes).and_then(|()| out.flush())
        }
        Stream::Errors => std::io::stderr().write_all(bytes),
    }
}

/// Writes the bytes to a file, or to standard output if the path is `-`.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    if path == Path::new("-") {
        print(Stream::Output, bytes).unwrap_or_else(|error| unwritable(&error));
        return Ok(());
    }
    disk::write(path, bytes).map_err(|error| cannot_write(path, &error))
}

/// Returns an error with advice if a page could not be written.
#[cfg(feature = "report")]
pub(super) fn page_failed(error: crate::report::Error) -> Fault {
    let crate::report::Error::Write { path, source } = error;
    cannot_write(&path, &source)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Fault {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room, or choose a folder on another disk",
        ErrorKind::IsADirectory => "choose the name of a file, not of a folder",
        _ => "choose an existing folder that you may write to",
    };
    format!("cannot write {}: {error}\nhint: {hint}", path.display()).into()
}

#[cfg(all(test, feature = "report"))]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_no_input() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (file, other) = (here.join("src/../Cargo.toml"), here.join("README.md"));
        let fault = apart(&file, &[&other, &here.join("Cargo.toml")]).expect_err("an input");
        assert!(fault.to_string().contains("is an input of this command"), "{fault}");
        assert!(apart(&file, &[&other]).is_ok() && apart(Path::new("-"), &[Path::new("-")]).is_ok());
    }

    #[test]
    fn two_outputs_need_two_files() {
        let output = |json: &str, html: &str| OutputArgs {
            json: Some(json.into()),
            html: Some(html.into()),
            ..OutputArgs::default()
        };
        for (json, html) in [("-", "-"), ("no-folder/a", "no-folder/a"), ("no-folder/a", "./no-folder/a")] {
            assert!(
                output(json, html).check(&[]).is_err_and(|error| error.to_string().contains("both name")),
                "{json}"
            );
        }
        assert!(output("-", "/dev/null").check(&[]).is_ok());
    }

    #[test]
    fn a_path_that_ends_in_md_names_the_page_and_another_path_names_the_folder() {
        assert_eq!(page(Path::new("docs/results/x.md")), (Path::new("docs/results"), "x.md"));
        assert_eq!(page(Path::new("x.md")), (Path::new("."), "x.md"));
        assert_eq!(page(Path::new("docs")), (Path::new("docs"), "report.md"));
    }
}
