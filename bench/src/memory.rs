//! The table of messages. The benchmark measures sealing and opening with a key, a session and a passphrase, for bytes
//! in memory and for files of this process. The benchmark also measures reads at random positions in a long sealed
//! file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::cells::Role::{ConstantTime, Ours, Yardstick};
use crate::cells::{Cell, Cells};
use deadpan_lab::Watch;
use deadpan_lab::record::GenerationRow;
use deadpan_lab::speed::workload::{Goal, Measured, Offer, Plan, Trouble};
use deadpan_seal::{
    Cost, Header, Identity, Kem, Material, Opened, Passphrase, PrivateKey, Recipient, Sealing, Session, Work, random,
};

const ABOUT: &str = "\
*New* memory is what `seal` and `open` return: the system has to clear it first. *Again* is memory that was used before.
A session hashes its passphrase once, before all rounds; a passphrase is hashed in each call. *From the seed*: the key
is computed from a key file's 32 bytes, used once and wiped. Files are new ones in the folder for temporary files.";

const KEY: &str = "X-Wing key";
const FAR: u64 = 10_000_000_000;

/// Returns the table.
pub fn offer(_quick: bool) -> Offer {
    Offer {
        title: "Messages in memory, and reads out of a long file",
        about: ABOUT,
        functions: Some(run),
        goals: vec![
            Goal::seconds(75e-6).in_part("1 KiB, seal").by("X-Wing key, again"),
            Goal::seconds(90e-6).in_part("1 KiB, open").by("X-Wing key from the seed"),
            Goal::rate(1e10 / 1_048_576.0).in_part("64 MiB, ").by("X-Wing key, again"),
            Goal::seconds(150e-6).in_part("a read of 4 KiB"),
        ],
        ..Offer::default()
    }
}

fn run(plan: &Plan, watch: &mut dyn Watch, show: &mut dyn FnMut(&[GenerationRow])) -> Result<Measured, Trouble> {
    let mut cells = Cells::new(plan, watch, show);
    for (size, name) in [(1 << 10, "1 KiB"), (1 << 20, "1 MiB"), (64 << 20, "64 MiB")] {
        messages(&mut cells, size, name)?;
        passphrase(&mut cells, size, name)?;
        files(&mut cells, size, name)?;
    }
    if cells.wants("a long file", "a read of 4 KiB") {
        reads(&mut cells)?;
    }
    cells.finish()
}

struct Lock {
    sealing: Sealing,
    identity: Identity,
}

impl Lock {
    fn new(recipient: Recipient, identity: Identity) -> Result<Self, Trouble> {
        Ok(Self { sealing: Sealing::to(vec![recipient])?, identity })
    }

    fn key() -> Result<Self, Trouble> {
        let key = PrivateKey::generate(Kem::XWing)?;
        Self::new(key.public().into(), Identity::from(&key))
    }

    fn opened(&self, sealed: impl Read) -> Opened {
        let header = Header::read(sealed).expect("a header");
        header.open(std::slice::from_ref(&self.identity)).expect("the right key")
    }

    /// Opens sealed data into memory that has exactly the length of the plain data.
    fn open_into(&self, sealed: &[u8], plain: &mut [u8]) {
        let opened = self.opened(sealed);
        opened.open_into(&sealed, sealed.len() as u64, plain, &Work::default()).expect("opened");
    }
}

/// Adds sealing functions to the first cell and opening functions to the second cell. Each cell gets its function
/// twice: with new memory for each result, and with memory that is used again.
fn enter<'a>(cells: &mut [Cell<'a>; 2], lock: &'a Lock, name: &str, plain: &'a [u8], sealed: &'a [u8]) {
    let [seal, open] = cells;
    let (mut into, mut back) = (vec![0; sealed.len()], vec![0; plain.len()]);
    seal.call(&format!("{name}, again"), Ours, move || {
        lock.sealing.seal_into(plain, &mut into, &Work::default()).expect("sealed");
    });
    seal.call(&format!("{name}, new"), Ours, || lock.sealing.seal(plain).expect("sealed"));
    lock.open_into(sealed, &mut back);
    let is_right = back == plain;
    open.enter(&format!("{name}, again"), Ours, 1, is_right, move |turns| {
        (0..turns).for_each(|_| lock.open_into(sealed, &mut back));
    });
    open.call(&format!("{name}, new"), Ours, || {
        let mut back = vec![0; plain.len()];
        lock.open_into(sealed, &mut back);
        back
    });
}

fn pair<'a>(section: &'static str, name: &str, size: usize) -> [Cell<'a>; 2] {
    ["seal", "open"].map(|way| Cell::new(section, format!("{name}, {way}"), Some(size)).beside("X-Wing key, again"))
}

fn messages(cells: &mut Cells<'_>, size: usize, name: &str) -> Result<(), Trouble> {
    if !cells.wants("messages", name) {
        return Ok(());
    }
    let plain = random_bytes(size);
    let session = Session::new(&Passphrase::new(b"straight face"), Cost::default())?;
    let locks = [(KEY, Lock::key()?), ("session", Lock::new((&session).into(), (&session).into())?)];
    let sealed = [locks[0].1.sealing.seal(&plain)?, locks[1].1.sealing.seal(&plain)?];
    let Identity::Key(key) = &locks[0].1.identity else { unreachable!("the first lock has a key") };
    let Material::Seed(seed) = key.material() else { unreachable!("a generated key has a seed") };
    let (mut back, mut copy) = (vec![0; size], plain.clone());
    let mut both = pair("messages", name, size);
    for ((what, lock), sealed) in locks.iter().zip(&sealed) {
        enter(&mut both, lock, what, &plain, sealed);
    }
    both[1].call("X-Wing key from the seed, again", Ours, || {
        let identity = Identity::Key(PrivateKey::from_seed(Kem::XWing, seed).expect("a key"));
        Lock { sealing: locks[0].1.sealing.clone(), identity }.open_into(&sealed[0], &mut back);
        assert_eq!(back.len(), size);
    });
    both[0].call("memcpy", Yardstick, || copy.copy_from_slice(&plain));
    both.into_iter().for_each(|cell| cells.run(cell));
    Ok(())
}

/// Measures passphrases. Each call with a passphrase takes a tenth of a second, so passphrases have separate cells.
fn passphrase(cells: &mut Cells<'_>, size: usize, name: &str) -> Result<(), Trouble> {
    if !cells.wants("a passphrase", name) {
        return Ok(());
    }
    let (plain, passphrase) = (random_bytes(size), Passphrase::new(b"straight face"));
    let lock = Lock::new((&passphrase).into(), (&passphrase).into())?;
    let sealed = lock.sealing.seal(&plain)?;
    let mut both = pair("a passphrase", name, size);
    enter(&mut both, &lock, "passphrase", &plain, &sealed);
    both.into_iter().for_each(|cell| cells.run(cell));
    Ok(())
}

fn files(cells: &mut Cells<'_>, size: usize, name: &str) -> Result<(), Trouble> {
    if !cells.wants("files", name) {
        return Ok(());
    }
    let plain = random_bytes(size);
    let mut input = tempfile::tempfile()?;
    io::copy(&mut plain.as_slice(), &mut input)?;
    let lock = Lock::key()?;
    let (sealed, opened) = (tempfile::tempfile()?, tempfile::tempfile()?);
    lock.sealing.seal_file(&input, &sealed, &Work::default())?;
    lock.opened(&sealed).open_file(&sealed, &opened, &Work::default())?;
    let mut back = Vec::new();
    rewound(&opened);
    (&opened).read_to_end(&mut back)?;
    let is_right = back == plain;
    let file = || tempfile::tempfile().expect("a file");
    let mut cell = Cell::new("files", format!("{name}, from file to file"), Some(size)).beside("seal");
    cell.call("seal", Ours, || lock.sealing.seal_file(&input, &file(), &Work::default()).expect("sealed"));
    cell.enter("open", Ours, 1, is_right, |turns| {
        (0..turns).for_each(|_| {
            rewound(&sealed);
            lock.opened(&sealed).open_file(&sealed, &file(), &Work::default()).expect("opened");
        });
    });
    cells.run(cell);
    Ok(())
}

fn reads(cells: &mut Cells<'_>) -> Result<(), Trouble> {
    let length = if cells.plan.quick { FAR / 100 } else { FAR };
    let lock = Lock::key()?;
    let file = tempfile::tempfile_in(std::env::current_dir()?)?;
    lock.sealing.seal_stream(io::repeat(0).take(length), &file, &Work::default())?;
    rewound(&file);
    let mut reader = lock.opened(&file).seek_in(&file)?;
    let mut places = deadpan_lab::Random::new(1);
    let mut cell = Cell::new("a long file", format!("a read of 4 KiB out of {} GB", length as f64 / 1e9), Some(4096));
    cell.call("deadpan", ConstantTime, || {
        let mut buffer = [1; 4096];
        reader.seek(SeekFrom::Start(places.below(length - 4096))).expect("a place");
        reader.read_exact(&mut buffer).expect("opened");
        assert_eq!(buffer, [0; 4096]);
    });
    cells.run(cell);
    Ok(())
}

fn random_bytes(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random::fill(&mut bytes).expect("random bytes");
    bytes
}

fn rewound(mut file: &File) {
    file.rewind().expect("a file");
}
