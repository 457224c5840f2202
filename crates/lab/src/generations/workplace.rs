//! Where everything lies: what is worked on, what is made of it, keys. All of it is gone when this is dropped.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Contents, Set, Shape, Trouble, tree};
use crate::imp::child;

const BLOCK: usize = 1 << 20;
/// Of no worth to anybody.
const PASSPHRASE: &str = "correct horse battery staple";

/// Two new folders: one for data where there is room, one for keys where names are short, as sockets need them.
#[derive(Debug)]
pub struct Workplace {
    data: PathBuf,
    keys: PathBuf,
    program: PathBuf,
    teardowns: Vec<String>,
}

impl Workplace {
    /// A new folder in `parent`; `program` is what `{self}` stands for.
    ///
    /// # Errors
    /// If no folder can be made; if a path is no text, which commands are made of.
    pub fn new(parent: &Path, program: PathBuf) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("deadpan-lab-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let data = fs::canonicalize(parent)?.join(format!("{name}-data"));
        let keys = fs::canonicalize(std::env::temp_dir())?.join(format!("{name}-keys"));
        if [&data, &keys, &program].iter().any(|path| path.to_str().is_none()) {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path of the folder is not UTF-8"));
        }
        fs::create_dir(&data)?;
        let place = Self { data, keys, program, teardowns: Vec::new() };
        private(&place.keys)?;
        fs::write(place.keys.join("passphrase"), format!("{PASSPHRASE}\n"))?;
        place.clear()?;
        Ok(place)
    }

    /// What is worked on.
    #[must_use]
    pub fn input(&self) -> PathBuf {
        self.data.join("plain")
    }

    /// What the first operation makes.
    #[must_use]
    pub fn made(&self) -> PathBuf {
        self.data.join("made").join("x")
    }

    /// What the second operation makes.
    #[must_use]
    pub fn out(&self) -> PathBuf {
        self.data.join("out").join("x")
    }

    /// Where a kernel says what it took.
    #[must_use]
    pub fn result(&self) -> PathBuf {
        self.keys.join("result")
    }

    /// Variables of the environment for every program.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, String); 3] {
        let keys = |name: &str| self.keys.join(name).to_string_lossy().into_owned();
        [("DEADPAN_HOME", keys("home")), ("GNUPGHOME", keys("gnupg")), ("LC_ALL", "C".to_owned())]
    }

    /// One word or line with its places filled in.
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
            ("{bytes}", bytes),
        ]
        .iter()
        .fold(template.to_owned(), |filled, (place, what)| filled.replace(place, what))
    }

    /// A message without our folders in it, which mean nothing to a reader.
    #[must_use]
    pub fn without_paths(&self, text: &str) -> String {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        [(shown(&self.data), "…"), (shown(&self.keys), "…"), (shown(&self.program), "{self}")]
            .iter()
            .fold(text.to_owned(), |text, (path, short)| text.replace(path.as_str(), short))
    }

    /// Bytes that the disk has for us.
    #[must_use]
    pub fn free(&self) -> Option<u64> {
        child::free(&self.data)
    }

    /// Makes what is worked on, in place of what was there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn make(&self, set: &Set, contents: Contents) -> io::Result<()> {
        remove(&self.input())?;
        match set.shape {
            Shape::File => tree::fill(&mut File::create_new(self.input())?, set.bytes, contents, 1),
            Shape::Folder => tree::write(&self.input(), set.bytes, contents),
        }
    }

    /// Removes what operations made.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        for name in ["made", "out"] {
            remove(&self.data.join(name))?;
            fs::create_dir(self.data.join(name))?;
        }
        Ok(())
    }

    /// Reads what is worked on, so that the system has it in its cache whatever the others did to it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn warm(&self) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        for path in files(&self.input())? {
            let mut file = File::open(path)?;
            while file.read(&mut block)? > 0 {}
        }
        Ok(())
    }

    /// Runs a line by `sh`, off the clock; what it says is shown if it fails.
    ///
    /// # Errors
    /// If it fails.
    pub fn shell(&self, line: &str) -> Result<(), Trouble> {
        let output = Command::new("sh").args(["-c", &self.fill(line, 0)]).envs(self.environment()).stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(self.without_paths(said.trim().lines().last().unwrap_or("it said nothing")).into())
    }

    /// A line to be run at the end.
    pub fn at_the_end(&mut self, line: &str) {
        self.teardowns.push(line.to_owned());
    }

    /// Whether `{out}` holds what `{in}` holds. Programs that open archives may put it into a folder of their own.
    ///
    /// # Errors
    /// If something cannot be read.
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
        for line in &self.teardowns {
            let _ = self.shell(line);
        }
        let _ = fs::remove_dir_all(&self.data);
        let _ = fs::remove_dir_all(&self.keys);
    }
}

/// A folder for nobody else.
fn private(path: &Path) -> io::Result<()> {
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

/// All files below, or the file itself.
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

/// Whether both are files, or both are folders with the same names in them.
fn same_shape(one: &Path, other: &Path) -> io::Result<bool> {
    if !one.is_dir() || !other.is_dir() {
        return Ok(one.is_dir() == other.is_dir());
    }
    let names = |path: &Path| -> io::Result<Vec<_>> {
        let mut names = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
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
    fn places_are_filled_in_and_taken_out_again() {
        let place = place();
        assert_eq!(place.fill("{self} {bytes}", 7), "/usr/bin/true 7");
        let filled = place.fill("{self} seal -o {made}.tar {in}", 7);
        assert!(filled.ends_with("plain") && filled.contains("made/x.tar") && !filled.contains('{'), "{filled}");
        assert_eq!(place.without_paths(&filled), "{self} seal -o …/made/x.tar …/plain");
    }

    #[test]
    fn nothing_stays_behind() {
        let place = place();
        place.make(&SETS[0].scaled(1e-6), Contents::Zero).unwrap();
        let (data, keys) = (place.data.clone(), place.keys.clone());
        assert!(data.exists() && keys.join("passphrase").exists());
        drop(place);
        assert!(!data.exists() && !keys.exists());
    }

    #[test]
    fn what_came_back_is_compared_wherever_it_lies() {
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
        assert!(!place.same().unwrap_or(false), "nothing at all");
    }

    #[test]
    fn a_line_that_fails_says_why() {
        let error = place().shell("echo no such luck in {keys} >&2; false").unwrap_err().to_string();
        assert_eq!(error, "no such luck in …");
    }
}
