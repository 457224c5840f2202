//! The folders of one run, for inputs, outputs and keys. The lab removes these folders when the run ends.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Contents, Set, Shape, Trouble, tree};
use crate::cleanup::Cleanup;
use crate::imp::child;

const BLOCK: usize = 1 << 20;
/// The passphrase for the test data of a run. This passphrase protects no other data.
const PASSPHRASE: &str = "correct horse battery staple";

/// Two new folders: a folder for data, and a folder for keys. The folder for keys lies in the system's temporary
/// folder, because paths of sockets must be short.
#[derive(Debug)]
pub struct Workplace {
    data: PathBuf,
    keys: PathBuf,
    program: PathBuf,
    /// The cleanup actions: the removal of both folders, followed by the command lines that run after all measurements
    /// (`Way::teardown`). The actions run in reverse order, beginning with the last action.
    cleanups: Vec<Cleanup>,
}

impl Workplace {
    /// Creates the folder for data in `parent`, and the folder for keys. In commands, the path `program` replaces the
    /// text `{self}`.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be created, or if a path is not UTF-8. Commands need paths in UTF-8.
    pub fn new(parent: &Path, program: PathBuf) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("deadpan-lab-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let data = fs::canonicalize(parent)?.join(format!("{name}-data"));
        let keys = fs::canonicalize(std::env::temp_dir())?.join(format!("{name}-keys"));
        if [&data, &keys, &program].iter().any(|path| path.to_str().is_none()) {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path of the folder is not UTF-8"));
        }
        let cleanups = vec![Cleanup::removing(&data), Cleanup::removing(&keys)];
        let place = Self { data, keys, program, cleanups };
        fs::create_dir(&place.data)?;
        private(&place.keys)?;
        fs::write(place.keys.join("passphrase"), format!("{PASSPHRASE}\n"))?;
        place.clear()?;
        Ok(place)
    }

    /// Returns the path of the input.
    #[must_use]
    pub fn input(&self) -> PathBuf {
        self.data.join("plain")
    }

    /// Returns the path of the output of the first operation.
    #[must_use]
    pub fn made(&self) -> PathBuf {
        self.data.join("made").join("x")
    }

    /// Returns the path of the output of the second operation.
    #[must_use]
    pub fn out(&self) -> PathBuf {
        self.data.join("out").join("x")
    }

    /// Returns the path of the file for the result of a kernel or of an [`Action::Told`](super::Action::Told).
    #[must_use]
    pub fn result(&self) -> PathBuf {
        self.keys.join("result")
    }

    /// Returns the environment variables for all programs. The variables set the folders for keys and the language of
    /// messages.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, String); 3] {
        let keys = |name: &str| self.keys.join(name).to_string_lossy().into_owned();
        [("DEADPAN_HOME", keys("home")), ("GNUPGHOME", keys("gnupg")), ("LC_ALL", "C".to_owned())]
    }

    /// Replaces the words in braces in a command line, as described at [`Action`](super::Action).
    #[must_use]
    pub fn fill(&self, template: &str, bytes: u64) -> String {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (input, bytes) = (self.input(), bytes.to_string());
        [
            ("{self}", text(&self.program)),
            ("{in}", text(&input)),
            ("{made}", text(&self.made())),
            ("{out}", text(&self.out())),
            ("{parent}", text(&self.data)),
            ("{name}", input.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())),
            ("{keys}", text(&self.keys)),
            ("{passphrase}", text(&self.keys.join("passphrase"))),
            ("{result}", text(&self.result())),
            ("{bytes}", bytes),
        ]
        .iter()
        .fold(template.to_owned(), |filled, (place, what)| filled.replace(place, what))
    }

    /// Returns a message without the paths of this run, because these paths have no meaning for a reader.
    #[must_use]
    pub fn without_paths(&self, text: &str) -> String {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        [(shown(&self.data), "…"), (shown(&self.keys), "…"), (shown(&self.program), "{self}")]
            .iter()
            .fold(text.to_owned(), |text, (path, short)| text.replace(path.as_str(), short))
    }

    /// Returns the number of free bytes on the disk of the folder for data, if the system reports this number.
    #[must_use]
    pub fn free(&self) -> Option<u64> {
        child::free(&self.data)
    }

    /// Replaces the input by the given set with the given contents.
    ///
    /// # Errors
    /// Returns an error if the old input cannot be removed, or if the new input cannot be written.
    pub fn make(&self, set: &Set, contents: Contents) -> io::Result<()> {
        remove(&self.input())?;
        match set.shape {
            Shape::File => tree::fill(&mut File::create_new(self.input())?, set.bytes, contents, 1),
            Shape::Folder => tree::write(&self.input(), &tree::entries(set.bytes), contents),
            Shape::Files(files) => tree::write(&self.input(), &tree::described(&files), contents),
        }
    }

    /// Removes the outputs of all operations.
    ///
    /// # Errors
    /// Returns an error if an output cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        for name in ["made", "out"] {
            remove(&self.data.join(name))?;
            fs::create_dir(self.data.join(name))?;
        }
        Ok(())
    }

    /// Reads the input, so that the system's cache contains the input even if earlier programs have displaced it.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read.
    pub fn warm(&self) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        for path in files(&self.input())? {
            let mut file = File::open(path)?;
            while file.read(&mut block)? > 0 {}
        }
        Ok(())
    }

    /// Runs a command line with `sh`, without measuring its time, and returns its output.
    ///
    /// # Errors
    /// Returns an error if the command line fails. The error contains the last line of the command's error messages.
    pub fn shell(&self, line: &str) -> Result<String, Trouble> {
        let output = shell(&self.fill(line, 0), self.environment()).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(self.without_paths(said.trim().lines().last().unwrap_or("no message")).into())
    }

    /// Registers a command line that `sh` runs before the lab removes the folders.
    pub fn at_the_end(&mut self, line: &str) {
        let (line, environment) = (self.fill(line, 0), self.environment());
        self.cleanups.push(Cleanup::new(move || drop(shell(&line, environment).output())));
    }

    /// Returns whether the output of the second operation is equal to the input. Programs that open archives may create
    /// an additional outer folder, so the function skips such outer folders.
    ///
    /// # Errors
    /// Returns an error if a file or folder cannot be read.
    pub fn same(&self) -> io::Result<bool> {
        let mut out = self.out();
        while out.is_dir() && !same_shape(&self.input(), &out)? {
            let mut entries = fs::read_dir(&out)?;
            match (entries.next(), entries.next()) {
                (Some(only), None) => out = only?.path(),
                _ => return Ok(false),
            }
        }
        let (mine, its) = (files(&self.input())?, files(&out)?);
        if mine.len() != its.len() {
            return Ok(false);
        }
        for path in mine {
            let other = match path.strip_prefix(self.input()) {
                Ok(inside) if !inside.as_os_str().is_empty() => out.join(inside),
                _ => out.clone(),
            };
            if !other.is_file() || !same_bytes(&path, &other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        while self.cleanups.pop().is_some() {}
    }
}

/// Returns a command that lets `sh` run a command line, with these environment variables and an empty standard input.
fn shell(line: &str, environment: [(&'static str, String); 3]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).envs(environment).stdin(Stdio::null());
    command
}

/// Creates the folder for keys, and a folder for GnuPG inside it. Only the owner may use these folders.
fn private(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "the mode is set on Unix"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    builder.create(path.join("gnupg"))
}

fn remove(path: &Path) -> io::Result<()> {
    let result = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    result.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Returns all files in a folder and its subfolders. If the path is a file, returns this path.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(path)? {
        all.extend(files(&entry?.path())?);
    }
    Ok(all)
}

/// Returns whether both paths are files, or both paths are folders that contain the same names.
fn same_shape(one: &Path, other: &Path) -> io::Result<bool> {
    if !one.is_dir() || !other.is_dir() {
        return Ok(one.is_dir() == other.is_dir());
    }
    let names = |path: &Path| -> io::Result<Vec<_>> {
        let mut names =
            fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    Ok(names(one)? == names(other)?)
}

fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut block, mut its) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let length = one.read(&mut block)?;
        if length == 0 {
            return Ok(true);
        }
        other.read_exact(&mut its[..length])?;
        if block[..length] != its[..length] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generations::SETS;

    fn place() -> Workplace {
        Workplace::new(&std::env::temp_dir(), PathBuf::from("/usr/bin/true")).unwrap()
    }

    #[test]
    fn paths_are_filled_into_commands_and_removed_from_messages() {
        let place = place();
        assert_eq!(place.fill("{self} {bytes}", 7), "/usr/bin/true 7");
        let filled = place.fill("{self} seal -o {made}.tar {in}", 7);
        assert!(filled.ends_with("plain") && filled.contains("made/x.tar") && !filled.contains('{'), "{filled}");
        assert_eq!(place.without_paths(&filled), "{self} seal -o …/made/x.tar …/plain");
    }

    #[test]
    fn a_dropped_workplace_leaves_no_folder_behind() {
        let place = place();
        place.make(&SETS[0].scaled(1e-6), Contents::Zero).unwrap();
        let (data, keys) = (place.data.clone(), place.keys.clone());
        assert!(data.exists() && keys.join("passphrase").exists());
        drop(place);
        assert!(!data.exists() && !keys.exists());
    }

    #[test]
    fn the_output_is_compared_with_the_input_in_any_folder() {
        let place = place();
        place.make(&SETS[4].scaled(1e-5), Contents::Random).unwrap();
        let copy = |to: &str| place.shell(&format!("mkdir -p {to} && cp -r {{in}}/. {to}")).unwrap();
        copy("{out}");
        assert!(place.same().unwrap());
        place.clear().unwrap();
        copy("{out}/folder");
        assert!(place.same().unwrap());
        let small = place.out().join("folder").join(&tree::entries(SETS[4].scaled(1e-5).bytes)[12].name);
        let mut bytes = fs::read(&small).unwrap();
        bytes[0] ^= 1;
        fs::write(&small, bytes).unwrap();
        assert!(!place.same().unwrap(), "a changed byte");
        fs::remove_file(small).unwrap();
        assert!(!place.same().unwrap(), "a missing file");
        place.clear().unwrap();
        assert!(!place.same().unwrap_or(false), "no output at all");
    }

    #[test]
    fn a_line_that_fails_reports_its_message() {
        let error = place().shell("echo no such luck in {keys} >&2; false").unwrap_err().to_string();
        assert_eq!(error, "no such luck in …");
    }
}
