//! Which sets count where there is a place for one result only, as with `-o FILE`.
//!
//! Everybody can put pictures beside those of a sealed set. The sealed data are revealed nevertheless.

use std::path::PathBuf;

use super::{Lack, OpenPicture, PictureSetFile, RevealJob, damage, damaged, damaged_note, first_path, missing, paths};
use crate::command::picture::found::Picture;
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_picture::{Reader, Set};
use deadpan_seal::{Cursor, Error};

/// Takes out the sets that are certainly not sealed, if there are others. Returns their pictures.
pub fn take_unsealed(groups: &mut Vec<Vec<Set<Picture>>>) -> Vec<PathBuf> {
    let taken = take_unless_all(groups, |group| group.iter().all(is_unsealed));
    taken.iter().flatten().flat_map(paths).collect()
}

/// Takes out the groups of which something is true, if there are others.
fn take_unless_all(
    groups: &mut Vec<Vec<Set<Picture>>>,
    is_true: impl FnMut(&Vec<Set<Picture>>) -> bool,
) -> Vec<Vec<Set<Picture>>> {
    if groups.len() < 2 {
        return Vec::new();
    }
    let taken: Vec<_> = groups.iter().map(is_true).collect();
    if taken.iter().all(|is_taken| *is_taken) {
        return Vec::new();
    }
    let mut taken = taken.into_iter();
    groups.extract_if(.., |_| taken.next().unwrap_or(false)).collect()
}

/// Whether a set is complete and its data begin as sealed data do not. Damage in sealed data can look the same, so the
/// pictures that were read must be whole.
fn is_unsealed(set: &Set<Picture>) -> bool {
    if set.claimed_twice().next().is_some() {
        return false;
    }
    let Ok(reader) = Reader::new(set.clone(), Picture::open as OpenPicture) else { return false };
    let (pages, length) = (PictureSetFile::new(&reader), reader.length());
    let begun = Sealed::begun(Vec::new(), Cursor::new(&pages, length)).map(drop);
    matches!(begun, Err(Error::NotSealed(_))) && reader.damaged_so_far().is_empty()
}

/// Returns what is wrong with the sets of a group.
type Check = fn(&[Set<Picture>], Lack) -> Option<Failure>;

/// Takes out the sets that give no result: those of which too many pictures are missing, and if several others are
/// left, those of which too many are damaged. Returns the path of a picture of each, and what is wrong.
///
/// To find damage, all pictures are read. This happens only if the command would be refused otherwise.
pub fn take_broken(groups: &mut Vec<Vec<Set<Picture>>>, lack: Lack) -> Vec<(PathBuf, Failure)> {
    let mut broken = Vec::new();
    let checks: [Check; 2] = [incomplete, |group, _| spoiled(group)];
    for wrong in checks {
        if groups.len() > 1 {
            groups.retain(|group| match (group.first().map_or(PathBuf::new(), first_path), wrong(group, lack)) {
                (path, Some(failure)) => {
                    broken.push((path, failure));
                    false
                }
                (_, None) => true,
            });
        }
    }
    broken
}

/// Takes out the sets that are not authentic, or not for these keys, if there is one that is. Returns the path of a
/// picture of each, and what is wrong.
pub fn take_foreign(job: &mut RevealJob<'_>, groups: &mut Vec<Vec<Set<Picture>>>) -> Vec<(PathBuf, Failure)> {
    let taken = take_unless_all(groups, |group| is_foreign(job, group));
    let path = |group: &Vec<_>| group.first().map_or(PathBuf::new(), first_path);
    taken.iter().map(path).map(|path| (path.clone(), foreign(&shown(path)))).collect()
}

/// Returns whether the data of a set cannot be opened, though its pictures are whole.
fn is_foreign(job: &mut RevealJob<'_>, group: &[Set<Picture>]) -> bool {
    // Revealing them decides between sets that contradict each other.
    let [set] = group else { return false };
    let name = shown(first_path(set));
    let Ok(reader) = job.reader(set.clone(), &name, &mut Vec::new(), false) else { return true };
    job.authenticate(&reader, &name).is_err() && reader.damaged_so_far().is_empty()
}

fn foreign(name: &str) -> Failure {
    let hint = "if the set is not somebody else's, reveal it in a command of its own";
    Failure::new(Exit::Data, format!("{name}: the data are not authentic, or not for your keys"), hint)
}

/// Returns what is wrong if too many pictures are missing. The first set of a group has the most pictures.
fn incomplete(group: &[Set<Picture>], lack: Lack) -> Option<Failure> {
    let set = group.first().filter(|_| group.iter().all(|set| !set.is_readable()))?;
    Some(missing(set, &shown(first_path(set)), lack))
}

/// Returns what is wrong if pictures are damaged and nothing replaces them. If pictures claim the same place, revealing
/// them decides.
fn spoiled(group: &[Set<Picture>]) -> Option<Failure> {
    let [set] = group else { return None };
    if set.claimed_twice().next().is_some() {
        return None;
    }
    let name = shown(first_path(set));
    // If a picture is missing that spare ones replace, the set counts as whole.
    let reader = Reader::new(set.clone(), Picture::open as OpenPicture).ok()?;
    let spoiled = damage(&reader);
    let mut left = set.clone();
    spoiled.iter().for_each(|(index, _)| drop(left.reject(*index)));
    if left.is_readable() {
        return None;
    }
    let mut failure = damaged(&name);
    failure.notes.push(damaged_note(spoiled.into_iter().map(|(_, path)| path).collect()));
    Some(failure)
}
