//! Runs named operations on request, and prints how long each operation took. This program is the worker for Rust and C
//! in `scripts/bench languages`.
//!
//! For a line `NAME SIZE TIMES` on standard input, the worker runs the operation NAME on SIZE bytes, TIMES times, and
//! prints the nanoseconds. The environment variable `DEADPAN_LIBRARY` has the path of `libdeadpan.so`, and the variable
//! `DEADPAN` has the path of the command-line program.
#![allow(clippy::print_stdout)]

mod ffi;

use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use deadpan_base64::STANDARD;
use deadpan_seal::{Header, Identity, Kem, PrivateKey, Recipient, Sealing, Work};
use ffi::C;

struct Data {
    plain: Vec<u8>,
    sealed: Vec<u8>,
    opened: Vec<u8>,
    text: Vec<u8>,
}

struct Worker {
    sealing: Sealing,
    identities: [Identity; 1],
    c: Result<C, Box<dyn Error>>,
    data: Data,
    files: Option<Files>,
}

struct Files {
    folder: PathBuf,
    size: usize,
}

impl Files {
    fn new(plain: &[u8]) -> Result<Self, Box<dyn Error>> {
        let folder = env::temp_dir().join(format!("deadpan-worker-{}", std::process::id()));
        // An earlier worker with the same process number may have left a folder with this name.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("plain"), plain)?;
        let files = Self { folder, size: plain.len() };
        files.run(&["keygen", "--no-passphrase"])?;
        files.run(&["seal", "-o", "sealed", "plain"])?;
        Ok(files)
    }

    /// Removes an output file and creates it again. If the file were replaced instead, the system would first write the
    /// file to the disk.
    fn renew(&self, output: &str, words: &[&str]) -> Result<(), Box<dyn Error>> {
        let _ = fs::remove_file(self.folder.join(output));
        self.run(words)
    }

    fn run(&self, words: &[&str]) -> Result<(), Box<dyn Error>> {
        let program = env::var_os("DEADPAN").ok_or("DEADPAN is not set")?;
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.folder).env("DEADPAN_HOME", self.folder.join("home"));
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(format!("deadpan {}: {status}", words.join(" ")).into()) }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // An error is ignored, because the files are in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Worker {
    fn new() -> Result<Self, Box<dyn Error>> {
        let key = PrivateKey::generate(Kem::XWing)?;
        let sealing = Sealing::to(vec![Recipient::Key(key.public().clone())])?;
        let c = C::load(&key);
        let data = Data { plain: Vec::new(), sealed: Vec::new(), opened: Vec::new(), text: Vec::new() };
        Ok(Self { sealing, identities: [Identity::Key(key)], c, data, files: None })
    }

    /// Runs the operation that a line of input names, and returns the duration of the operation in nanoseconds.
    fn answer(&mut self, line: &str) -> Result<String, Box<dyn Error>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, size, times] = words[..] else { return Err("a line is NAME SIZE TIMES".into()) };
        let (size, times): (usize, u32) = (size.parse()?, times.parse()?);
        self.prepare(name, size)?;
        let start = Instant::now();
        for _ in 0..times {
            self.once(name)?;
        }
        let took = start.elapsed().as_nanos();
        self.check(name)?;
        Ok(took.to_string())
    }

    /// Makes the data of this size, if these data do not exist already.
    fn prepare(&mut self, name: &str, size: usize) -> Result<(), Box<dyn Error>> {
        if self.data.plain.len() != size || self.data.sealed.is_empty() {
            self.files = None;
            self.data = Data { plain: Vec::new(), sealed: Vec::new(), opened: Vec::new(), text: Vec::new() };
            let plain: Vec<u8> = (0..size as u64).map(|place| ((place * 31) >> 3) as u8).collect();
            let room = self.sealing.sealed_length(size as u64)? as usize;
            self.data =
                Data { text: STANDARD.encode(&plain).into(), plain, sealed: vec![1; room], opened: vec![1; size] };
            self.once("seal")?;
        }
        if name.starts_with("command") && self.files.as_ref().is_none_or(|files| files.size != size) {
            self.files = Some(Files::new(&self.data.plain)?);
        }
        Ok(())
    }

    fn once(&mut self, name: &str) -> Result<(), Box<dyn Error>> {
        let Data { plain, sealed, opened, text } = &mut self.data;
        let c = || self.c.as_ref().map_err(ToString::to_string);
        let open = |sealed: &[u8], opened: &mut [u8]| {
            let header = Header::read(sealed)?.open(&self.identities)?;
            header.open_into(&sealed, sealed.len() as u64, opened, &Work::default())
        };
        let done = match name {
            "seal" => self.sealing.seal_into(plain, sealed, &Work::default())?,
            "open" => open(sealed, opened)?.plain as usize,
            "seal.new" => self.sealing.seal(plain)?.len(),
            "open.new" => {
                let mut payload = &sealed[..];
                let header = Header::read(&mut payload)?.open(&self.identities)?;
                header.open(payload)?.len()
            }
            "c.seal" => c()?.seal(plain, sealed),
            "c.open" => c()?.open(sealed, opened),
            "base64.seal" => STANDARD.encode(plain).len(),
            "base64.open" => STANDARD.decode(text)?.len(),
            "command.seal" | "command.open" => {
                let files = self.files.as_ref().ok_or("there are no files")?;
                match name {
                    "command.seal" => files.renew("sealed", &["seal", "-o", "sealed", "plain"])?,
                    _ => files.renew("opened", &["open", "-o", "opened", "sealed"])?,
                }
                plain.len()
            }
            _ => return Err(format!("there is no operation {name}").into()),
        };
        // If the input is empty, the result may also be empty.
        if done == 0 && !plain.is_empty() { Err("nothing was done".into()) } else { Ok(()) }
    }

    /// Checks the result of the last run.
    fn check(&mut self, name: &str) -> Result<(), Box<dyn Error>> {
        match name {
            "command.seal" => self.once("command.open")?,
            "seal" | "c.seal" => self.once("open")?,
            _ => {}
        }
        let same = match name {
            "command.seal" | "command.open" => {
                let folder = &self.files.as_ref().ok_or("there are no files")?.folder;
                fs::read(folder.join("opened"))? == self.data.plain
            }
            "seal" | "open" | "c.seal" | "c.open" => self.data.opened == self.data.plain,
            "base64.seal" | "base64.open" => STANDARD.decode(&self.data.text)? == self.data.plain,
            // The other operations return the same results as `seal` and `open`, which are checked above. For the other
            // operations, only the number of result bytes is checked, after each call.
            _ => true,
        };
        if same { Ok(()) } else { Err("the data did not come back".into()) }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut worker = Worker::new()?;
    for line in std::io::stdin().lock().lines() {
        match worker.answer(line?.trim()) {
            Ok(answer) => println!("{answer}"),
            Err(error) => println!("error {error}"),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
