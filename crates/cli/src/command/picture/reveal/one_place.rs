//! This module selects the sets to reveal if the output can hold only one result, as with `-o FILE`.
//!
//! Everybody can put other pictures beside the pictures of a sealed set. This module reveals the sealed data, even if
//! other pictures are there.

use std::path::PathBuf;

use super::{Lack, OpenPicture, PictureSetFile, RevealJob, damage, damaged, damaged_note, first_path, missing, paths};
use crate::command::picture::found::Picture;
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_picture::{Reader, Set};
use deadpan_seal::{Cursor, Error};

/// Removes the sets that are certainly not sealed, unless no other sets remain. Returns the paths of the pictures of
/// the removed sets.
pub fn take_unsealed(groups: &mut Vec<Vec<Set<Picture>>>) -> Vec<PathBuf> {
    let taken = take_unless_all(groups, |group| group.iter().all(is_unsealed));
    taken.iter().flatten().flat_map(paths).collect()
}

/// Removes the groups for which `is_true` returns true, unless no other groups remain. Returns the removed groups.
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

/// Whether a set is complete and the beginning of its data shows that the data are not sealed. Damaged sealed data can
/// also look like unsealed data, so the function requires that the pictures that were read are undamaged.
fn is_unsealed(set: &Set<Picture>) -> bool {
    if set.claimed_twice().next().is_some() {
        return false;
    }
    let Ok(reader) = Reader::new(set.clone(), Picture::open as OpenPicture) else { return false };
    let (pages, length) = (PictureSetFile::new(&reader), reader.length());
    let begun = Sealed::begun(Vec::new(), Cursor::new(&pages, length)).map(drop);
    matches!(begun, Err(Error::NotSealed(_))) && reader.damaged_so_far().is_empty()
}

/// A function that returns the failure of a group if something is wrong with the sets of the group.
type Check = fn(&[Set<Picture>], Lack) -> Option<Failure>;

/// Removes the sets whose data cannot be revealed: first the sets in which too many pictures are missing. If several
/// sets are left, also removes the sets in which too many pictures are damaged. For each removed set, returns the path
/// of one picture and the failure.
///
/// To find damage, the function reads all pictures. The function reads all pictures only if the program otherwise has
/// to refuse the command.
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

/// Removes the sets that are not authentic or that the user's keys do not open, unless no other sets remain. For each
/// removed set, returns the path of one picture and the failure.
pub fn take_foreign(job: &mut RevealJob<'_>, groups: &mut Vec<Vec<Set<Picture>>>) -> Vec<(PathBuf, Failure)> {
    let taken = take_unless_all(groups, |group| is_foreign(job, group));
    let path = |group: &Vec<_>| group.first().map_or(PathBuf::new(), first_path);
    taken.iter().map(path).map(|path| (path.clone(), foreign(&shown(path)))).collect()
}

/// Returns whether the data of a set cannot be opened although the pictures of the set are undamaged.
fn is_foreign(job: &mut RevealJob<'_>, group: &[Set<Picture>]) -> bool {
    // If several sets contradict each other, the program determines later which set is right, when it reveals the
    // group.
    let [set] = group else { return false };
    let name = shown(first_path(set));
    let Ok(reader) = job.reader(set.clone(), &name, &mut Vec::new(), false) else { return true };
    job.authenticate(&reader, &name).is_err() && reader.damaged_so_far().is_empty()
}

fn foreign(name: &str) -> Failure {
    let hint = "if the set is not somebody else's, reveal it in a command of its own";
    Failure::new(Exit::Data, format!("{name}: the data are not authentic, or not for your keys"), hint)
}

/// Returns the failure of a group if too many pictures are missing in all its sets. The failure is about the first set
/// of the group; this set has the most pictures.
fn incomplete(group: &[Set<Picture>], lack: Lack) -> Option<Failure> {
    let set = group.first().filter(|_| group.iter().all(|set| !set.is_readable()))?;
    Some(missing(set, &shown(first_path(set)), lack))
}

/// Returns the failure of a group if pictures are damaged and no spare pictures replace the damaged pictures. If
/// several pictures claim the same place, returns `None`: the program determines later which picture is right, when it
/// reveals the group.
fn spoiled(group: &[Set<Picture>]) -> Option<Failure> {
    let [set] = group else { return None };
    if set.claimed_twice().next().is_some() {
        return None;
    }
    let name = shown(first_path(set));
    // If spare pictures replace a missing picture, the set is treated as undamaged.
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
