//! Searches files and folders for pictures that carry data.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};

use crate::command::picture::cover::{self, files_in};
use crate::key::identity::Identities;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_disk::About;
use deadpan_picture::carrier::{Carrier, Finding, SampleOrder, rewritten};
use deadpan_picture::template::{self, Found, Front, Secret};
use deadpan_picture::{Decoded, Error, Label, Limits, Opened, Orientation, Pixels, Sets, probe, read_into};
use deadpan_seal::{Cost, Passphrase, key};

/// Memory that held the pixels of earlier pictures, and that the next pictures reuse.
static ROOMS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
/// The maximum number of memory blocks that are kept.
const MOST_ROOMS: usize = 4;

fn rooms() -> MutexGuard<'static, Vec<Vec<u8>>> {
    ROOMS.lock()
}

/// Stores the memory of a picture that was read, so that [`Picture::open`] can reuse the memory.
pub fn give_back(memory: Vec<u8>) {
    let mut rooms = rooms();
    if rooms.len() < MOST_ROOMS {
        rooms.push(memory);
    }
}

/// A picture that carries a part of the data of a set.
#[derive(Clone, Debug)]
pub struct Picture {
    pub path: PathBuf,
    way: Way,
}

/// How a picture carries its part of the data.
#[derive(Clone, Debug)]
enum Way {
    Carrier(Carrier),
    /// A carrier (a picture whose pixels are data) that another program read and saved again.
    Rewritten(SampleOrder),
    Template(Box<Found>),
}

impl Picture {
    /// Opens the picture, so that the reader of its set can read the part.
    pub fn open(&self) -> io::Result<Opened> {
        match &self.way {
            Way::Carrier(carrier) => Ok(carrier.open(cover::open_again(&self.path)?)),
            Way::Rewritten(order) => Ok(Opened::Pixels(self.pixels()?, *order)),
            Way::Template(found) => {
                // If the samples are at known positions in the file, only the samples that are needed are read.
                if let Ok(opened) = template::open(cover::open_again(&self.path)?, found) {
                    return Ok(opened);
                }
                let mut part = vec![0; found.label.length as usize];
                let pixels = self.pixels()?;
                if !found.fits(&pixels) {
                    return Err(changed(&self.path).into_io());
                }
                template::extract(&pixels, found, &mut part, 1);
                give_back(pixels.samples);
                Ok(Opened::Bytes(part))
            }
        }
    }

    fn pixels(&self) -> io::Result<Pixels> {
        let room = rooms().pop().unwrap_or_default();
        let file = BufReader::with_capacity(1 << 16, cover::open_again(&self.path)?);
        match read_into(file, Orientation::Ignore, &Limits::default(), room) {
            Ok(decoded) => Ok(decoded.pixels),
            Err(Error::Read(error)) => Err(error),
            Err(error) => Err(Failure::picture(&shown(&self.path), error).into_io()),
        }
    }
}

fn changed(path: &Path) -> Failure {
    Failure::new(Exit::Data, "the picture changed while it was read", "reveal it again").about(&shown(path))
}

/// A picture that may be a template, that is, a photograph with hidden data. Its secret is not yet known.
struct Closed {
    path: PathBuf,
    front: Front,
    /// The result of examining all pixels of the picture, if the pixels were decoded.
    finding: Option<Finding>,
}

impl Closed {
    /// Tries a passphrase. Each attempt hashes the passphrase, and hashing takes time.
    fn open(&self, passphrase: &Passphrase) -> Result<Option<Found>, Failure> {
        let open = |hash: &[u8]| self.front.find(&[Secret::passphrase(hash.try_into().ok()?)]);
        passphrase
            .try_derived(Cost::default(), &self.front.seed().salt(), 32, open)
            .map_err(|error| Failure::seal(&shown(&self.path), error))
    }
}

/// The result of the search for pictures that carry data.
#[derive(Default)]
pub struct Search {
    pub sets: Sets<Picture>,
    /// All files that the search examined.
    pub files: Vec<PathBuf>,
    /// The folders that the user named. Folders inside these folders are not searched.
    pub folders: Vec<PathBuf>,
    /// Carriers (pictures whose pixels are data) that were scaled or compressed with loss.
    pub lost: Vec<PathBuf>,
    /// Carriers (pictures whose pixels are data) with unreadable labels, and files that were cut off, each with the
    /// reason.
    pub damaged: Vec<(PathBuf, Failure)>,
    /// Files in the named folders that cannot be read as pictures. If any picture carries data, a note lists the files
    /// that cannot be read. If no picture carries data, unreadable files cause errors, because the user may have meant
    /// these files.
    pub unreadable: Vec<(PathBuf, Failure)>,
    /// The files that the user gave by their own paths, and not only by their folders.
    named: HashSet<PathBuf>,
    /// Pictures compressed with loss, in which nothing was found.
    pub lossy: Vec<PathBuf>,
    /// Pictures in which nothing was found.
    pub foreign: Vec<PathBuf>,
    /// Whether a passphrase opened a set. If a passphrase opened a set, sets with other passphrases were not opened.
    pub used_passphrase: bool,
    /// Whether a passphrase was tried but did not open any of the remaining pictures.
    pub tried_passphrase: bool,
}

impl Search {
    /// Searches the named files, and the files directly in the named folders.
    pub fn among(named: &[PathBuf], identities: &mut Identities, ask: bool) -> Result<Self, Failure> {
        let mut search = Self::default();
        let mut seen = HashSet::new();
        let mut pixels = Vec::new();
        for path in named {
            let about = cover::about(path)?;
            let inside = if about.is_folder() { files_in(path)? } else { vec![path.clone()] };
            if about.is_folder() {
                search.folders.push(path.clone());
            } else {
                search.named.insert(path.clone());
            }
            for file in inside {
                // The user may give the same file twice, for example once by its path and once by its folder.
                if About::of_path(&file).is_ok_and(|about| seen.insert(about.id)) {
                    pixels.extend(search.look(&file)?.then(|| file.clone()));
                    search.files.push(file);
                }
            }
        }
        search.decode(pixels, identities, ask)?;
        Ok(search)
    }

    /// Examines the first bytes of a file. Returns whether the pixels of the file must be examined, too.
    fn look(&mut self, path: &Path) -> Result<bool, Failure> {
        let (name, is_named) = (shown(path), self.named.contains(path));
        let file = match cover::open(path) {
            Ok(file) => file,
            Err(failure) => {
                self.cannot_read(path, failure);
                return Ok(false);
            }
        };
        match Carrier::recognize(&file) {
            Ok(Some(carrier)) => {
                self.sets.add(carrier.label, Picture { path: path.to_owned(), way: Way::Carrier(carrier) });
                return Ok(false);
            }
            // The cover in which data are hidden may itself be a carrier, which is a picture whose pixels are data.
            // Hiding data in a carrier may by chance leave the magic bytes of the carrier unchanged.
            Ok(None) | Err(Error::Label | Error::ImpossibleLabel) => {}
            Err(error) => {
                self.cannot_read(path, Failure::picture(&name, error));
                return Ok(false);
            }
        }
        match probe(BufReader::new(&file)) {
            Ok(_) => Ok(!self.is_rewritten(&file, path)),
            Err(Error::NotAPicture | Error::OtherFormat(_)) if !is_named => Ok(false),
            Err(error) => {
                self.cannot_read(path, Failure::picture(&name, error));
                Ok(false)
            }
        }
    }

    fn cannot_read(&mut self, path: &Path, failure: Failure) {
        if self.named.contains(path) {
            self.damaged.push((path.to_owned(), failure))
        } else {
            self.unreadable.push((path.to_owned(), failure))
        }
    }

    /// Examines the first rows of a picture. If the picture is a carrier that another program saved again, adds the
    /// carrier to its set and returns `true`. If the rest of the file is damaged, the reader of the set detects the
    /// damage later.
    fn is_rewritten(&mut self, mut file: &File, path: &Path) -> bool {
        let found = file
            .rewind()
            .ok()
            .and_then(|()| rewritten(BufReader::with_capacity(1 << 16, file), &Limits::default()).ok().flatten());
        found.is_some_and(|(label, order)| {
            self.add(label, path.to_owned(), Way::Rewritten(order));
            true
        })
    }

    /// Examines the pixels of pictures.
    fn decode(&mut self, paths: Vec<PathBuf>, identities: &mut Identities, ask: bool) -> Result<(), Failure> {
        let mut secrets: Vec<_> =
            identities.public_keys().iter().map(|public| Secret::recipient(&key::public_der(public))).collect();
        secrets.push(Secret::open());
        let mut closed = Vec::new();
        for path in paths {
            let front = match cover::front(&path) {
                Some(front) => Some((front, None)),
                None => self.whole(&path).map(|(front, finding)| (front, Some(finding))),
            };
            let Some((front, finding)) = front else { continue };
            match front.find(&secrets) {
                Some(found) => {
                    secrets.push(Secret::set(&found.set_key));
                    self.add_template(found, path);
                }
                None => closed.push(Closed { path, front, finding }),
            }
        }
        self.with_passphrase(closed, secrets, identities, ask)
    }

    /// Examines all pixels of a picture. If the picture may be a template, returns its front (the seed and the sealed
    /// labels), and the result of examining its pixels.
    fn whole(&mut self, path: &Path) -> Option<(Front, Finding)> {
        let Decoded { pixels, source, .. } =
            cover::decode(path, Orientation::Ignore).map_err(|failure| self.cannot_read(path, failure)).ok()?;
        // A picture that looks like a carrier (its pixels are data) may also be a cover that hides data, so both are
        // examined.
        let finding = Finding::in_pixels(&pixels);
        let path = path.to_owned();
        match finding {
            Finding::Carrier(label, order) if !source.is_lossy() => self.add(label, path, Way::Rewritten(order)),
            Finding::Carrier(..) => self.lost.push(path),
            Finding::Lossy if source.is_lossy() => self.lost.push(path),
            Finding::Damaged | Finding::Impossible if source.is_lossy() => self.say(path, finding),
            Finding::Other if source.is_lossy() => self.lossy.push(path),
            Finding::Damaged | Finding::Impossible | Finding::Lossy | Finding::Other => match Front::in_pixels(&pixels)
            {
                Some(front) => return Some((front, finding)),
                None => self.say(path, finding),
            },
        }
        None
    }

    /// Tries the passphrase on pictures that no other secret opens. Each attempt hashes the passphrase, and hashing
    /// takes time.
    fn with_passphrase(
        &mut self,
        closed: Vec<Closed>,
        mut secrets: Vec<Secret>,
        identities: &mut Identities,
        ask: bool,
    ) -> Result<(), Failure> {
        let mut left = self.with_sets(closed, &secrets);
        if left.is_empty() || !ask && identities.passphrases().given()?.is_none() {
            self.give_up(left);
            return Ok(());
        }
        let found = identities.passphrases().unlock("the pictures", |passphrase| {
            for (at, picture) in left.iter().enumerate() {
                if let Some(found) = picture.open(passphrase)? {
                    return Ok(Some((at, found, passphrase.clone())));
                }
            }
            Ok(None)
        });
        match found {
            Ok(Some((at, found, passphrase))) => {
                // For the pictures before this picture, the passphrase was already tried.
                let mut untried = left.split_off(at);
                let mut found = Some(found);
                while !untried.is_empty() {
                    let picture = untried.remove(0);
                    match found.take().map_or_else(|| picture.open(&passphrase), |found| Ok(Some(found)))? {
                        Some(found) => {
                            secrets.push(Secret::set(&found.set_key));
                            self.add_template(found, picture.path);
                            untried = self.with_sets(untried, &secrets);
                        }
                        None => left.push(picture),
                    }
                }
                // The passphrase that opens the pictures also opens the sealed data in the pictures.
                identities.know(passphrase);
                self.used_passphrase = true;
            }
            // If the search found other sets, a wrong passphrase is not an error, because the user may have meant the
            // passphrase for these sets.
            Err(mut failure) if self.sets.is_empty() && (ask || self.is_empty()) => {
                let first = "of several pictures of a set, the first must be there";
                failure.hint = failure.hint.map(|hint| format!("{hint}; {first}"));
                return Err(failure);
            }
            _ => self.tried_passphrase = true,
        }
        let left = self.with_sets(left, &secrets);
        self.give_up(left);
        Ok(())
    }

    /// Tries the secrets of the found sets on pictures that the search examined before it found these secrets. Returns
    /// the pictures that no secret opens.
    fn with_sets(&mut self, closed: Vec<Closed>, secrets: &[Secret]) -> Vec<Closed> {
        let mut left = Vec::new();
        for picture in closed {
            match picture.front.find(secrets) {
                Some(found) => self.add_template(found, picture.path),
                None => left.push(picture),
            }
        }
        left
    }

    /// Records the findings about the pictures that no secret opens.
    fn give_up(&mut self, left: Vec<Closed>) {
        for Closed { path, finding, .. } in left {
            if let Some(finding) = finding.or_else(|| self.whole(&path).map(|(_, finding)| finding)) {
                self.say(path, finding);
            }
        }
    }

    /// Records the finding about a picture that is not a template.
    fn say(&mut self, path: PathBuf, finding: Finding) {
        match finding {
            Finding::Lossy => self.lost.push(path),
            Finding::Damaged => self.cannot_read(&path, Failure::picture(&shown(&path), Error::Label)),
            Finding::Impossible => self.cannot_read(&path, Failure::picture(&shown(&path), Error::ImpossibleLabel)),
            Finding::Carrier(..) | Finding::Other => self.foreign.push(path),
        }
    }

    fn add(&mut self, label: Label, path: PathBuf, way: Way) {
        self.sets.add(label, Picture { path, way });
    }

    fn add_template(&mut self, found: Found, path: PathBuf) {
        self.add(found.label, path, Way::Template(Box::new(found)));
    }

    fn is_empty(&self) -> bool {
        self.damaged.is_empty() && self.unreadable.is_empty() && self.lost.is_empty()
    }
}
