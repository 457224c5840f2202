//! Determines which of several contradicting pictures are right. Pictures are right if the sealed data are authentic
//! with these pictures.

use std::collections::HashSet;
use std::io::{self, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    OpenPicture, PictureReader, PictureSetFile, RevealJob, contradiction, damaged_note, first_path, foreign, unused,
};
use crate::command::picture::contested::{self, Choices, Contest, Contested};
use crate::command::picture::found::Picture;
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_picture::{Label, Reader, Set};
use deadpan_seal::{Cursor, Error, ReadAt, Work};

/// The maximum number of tries to choose between pictures that claim the same place in the set. Each try may read all
/// data of the set.
const TRIES: usize = 16;
/// The maximum number of combinations of pictures whose labels the program examines.
const STEPS: usize = 4096;

impl RevealJob<'_> {
    /// Removes the authentic set from the group and returns the set. Returns `None` if the group has no authentic set,
    /// or several authentic sets.
    pub(super) fn authentic_one(&mut self, group: &mut Vec<Set<Picture>>) -> Option<Set<Picture>> {
        let readable = group.iter().filter(|set| set.is_readable()).count();
        if self.raw || readable == 0 || readable > TRIES {
            return None;
        }
        if readable == 1 {
            return Some(group.remove(0));
        }
        let mut authentic = None;
        for (at, set) in group.iter().enumerate().take(readable) {
            let mut set = set.clone();
            let name = shown(first_path(&set));
            if self.settle(&mut set, &name, &mut Vec::new()).is_err() || !set.is_readable() {
                continue;
            }
            let Ok(reader) = self.reader(set, &name, &mut Vec::new(), false) else { continue };
            if self.authenticate(&reader, &name).is_ok() && authentic.replace(at).is_some() {
                return None;
            }
        }
        authentic.map(|at| group.remove(at))
    }

    /// Determines which pictures to use if several pictures claim the same place in the set. An undamaged copy replaces
    /// a damaged picture. If the pictures differ, the function keeps the pictures with which the sealed data are
    /// authentic. If no choice makes the data authentic, spare pictures replace all pictures that claim the same place.
    pub(super) fn settle(
        &mut self,
        set: &mut Set<Picture>,
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let misfits: Vec<_> = set.take_misfits().into_iter().map(|picture| picture.path).collect();
        if !misfits.is_empty() {
            notes.push(foreign(misfits));
        }
        let Contested { mut contests, damaged } = contested::compare(set);
        if !damaged.is_empty() {
            notes.push(damaged_note(damaged));
        }
        if contests.is_empty() {
            return Ok(());
        }
        let all: Vec<_> = contests.iter().flat_map(Contest::paths).collect();
        if self.raw {
            return Err(contradiction(name, &all));
        }
        // If several spare pictures claim the same place, all of them are removed, because only a set with a missing
        // picture needs spare pictures.
        let count = set.count();
        contests.extract_if(.., |contest| contest.index >= count).for_each(|spare| set.remove(spare.index));
        let chosen = if set.is_complete() { self.choose(set, &contests, name) } else { None };
        match &chosen {
            Some(chosen) => chosen.iter().for_each(|(label, picture)| set.keep(*label, picture.clone())),
            None => contests.iter().for_each(|contest| set.remove(contest.index)),
        }
        if !set.is_readable() {
            return Err(contradiction(name, &all));
        }
        let used: HashSet<_> = chosen.into_iter().flatten().map(|(_, picture)| picture.path).collect();
        let others: Vec<_> = all.into_iter().filter(|path| !used.contains(path)).collect();
        if !others.is_empty() {
            notes.push(unused(&others));
        }
        Ok(())
    }

    /// Finds the pictures, of those that claim the same place, with which the data are authentic. The number of tries
    /// is limited. Returns `None` if no choice of pictures makes the data authentic. Returns `None`, too, if several
    /// choices make the data authentic, because everybody can seal data for a public key.
    fn choose(&mut self, set: &Set<Picture>, contests: &[Contest], name: &str) -> Option<Vec<(Label, Picture)>> {
        let (mut choices, mut found, mut tries) = (Choices::new(contests), None, 0);
        for _ in 0..STEPS {
            let mut set = set.clone();
            choices.pictures().for_each(|(label, picture)| set.keep(*label, picture.clone()));
            let more = match contested::gap(&set) {
                Some(gap) => choices.next(|label| label.index <= gap),
                None => {
                    tries += 1;
                    if tries > TRIES {
                        return None;
                    }
                    let reader = Reader::new(set, Picture::open as OpenPicture).ok()?;
                    // Other choices that begin with the same bytes fail at the same position, so the program skips
                    // these choices.
                    match self.authenticate(&reader, name) {
                        Err(end) => choices.next(|label| label.offset < end),
                        Ok(_) if found.is_some() => return None,
                        // With this header, no other bytes are authentic, so the program tries only choices that change
                        // the header.
                        Ok(header) => {
                            found = Some(choices.pictures().cloned().collect());
                            choices.next(|label| label.offset < header)
                        }
                    }
                }
            };
            if !more {
                return found;
            }
        }
        None
    }

    /// Finds a picture whose removal makes the data authentic. Somebody may have put this picture in the place of a
    /// lost picture. Spare pictures then replace the removed picture. The function first tries the pictures that begin
    /// before the position where authentication failed, in reverse order. The function tries the spare pictures last.
    pub(super) fn intruder(&mut self, reader: &PictureReader, name: &str) -> Option<u32> {
        let end = self.authenticate(reader, name).err()?;
        let (mut labels, spares): (Vec<Label>, Vec<Label>) =
            reader.set().pictures().map(|(label, _)| *label).partition(|label| !label.is_spare());
        labels.retain(|label| label.offset < end);
        labels.reverse();
        labels.into_iter().chain(spares).map(|label| label.index).take(TRIES).find(|index| {
            let mut left = reader.set().clone();
            left.reject(*index);
            let left = Some(left).filter(Set::is_readable);
            let reader = left.and_then(|left| self.reader(left, name, &mut Vec::new(), true).ok());
            reader.is_some_and(|reader| self.authenticate(&reader, name).is_ok())
        })
    }

    /// Returns whether the data are sealed, but none of the user's keys opens the data.
    pub(super) fn no_key_fits(&mut self, reader: &PictureReader, name: &str) -> bool {
        let (pages, length) = (PictureSetFile::new(reader), reader.length());
        let Ok(sealed) = Sealed::begun(Vec::new(), Cursor::new(&pages, length)) else { return false };
        self.job.identities.open(name, &sealed).is_err_and(|failure| failure.exit == Exit::Key)
    }

    /// Opens the data without writing them. Returns the length of the header if the data are authentic. If the data are
    /// not authentic, returns a position as the error: the bytes before this position are not authentic.
    pub(super) fn authenticate(&mut self, reader: &PictureReader, name: &str) -> Result<u64, u64> {
        let (pages, length) = (Watched { pages: PictureSetFile::new(reader), end: AtomicU64::new(0) }, reader.length());
        let end = || pages.end.load(Ordering::Relaxed);
        let sealed = Sealed::begun(Vec::new(), Cursor::new(&pages, length)).map_err(|_| end())?;
        let opened = self.job.identities.open(name, &sealed).map_err(|_| end())?;
        let header = sealed.header.clone();
        match opened.open_stream(sealed.payload, io::sink(), &Work::default()) {
            Ok(_) => Ok(header.length()),
            Err(Error::Segment { segment }) if !sealed.armored => {
                let mut payload = Cursor::new(&pages, length);
                payload.seek(SeekFrom::Start(header.length())).map_err(|_| end())?;
                let segments = header.segments(payload, length).map_err(|_| end())?;
                Err(length - segments.sealed() + segments.sealed_at(segment) + segments.segment_length())
            }
            Err(_) => Err(end()),
        }
    }
}

/// A reader of the data that records the highest position up to which data were read.
struct Watched<'a> {
    pages: PictureSetFile<'a>,
    end: AtomicU64,
}

impl ReadAt for Watched<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let read = self.pages.read_at(buffer, position)?;
        self.end.fetch_max(position + read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
