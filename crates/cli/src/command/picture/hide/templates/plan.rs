//! Divides the data of a set of pictures among the covers.

use std::collections::BTreeMap;

use crate::tell::failure::Failure;
use deadpan_picture::carrier::MOST_PICTURES;
use deadpan_picture::{Error, Label, spare};

/// In a set with spare pictures, the lengths of all parts except the last part are multiples of this number of bytes.
const WORD: u64 = 64;

/// A task to make one picture.
pub struct TemplateTask {
    pub cover: usize,
    pub label: Label,
}

/// Divides the data among the covers. `rooms` contains the number of bytes that each cover can carry.
pub fn plan(rooms: &[u64], total: u64, spares: u32) -> Result<Vec<TemplateTask>, Failure> {
    let mut set = [0; 16];
    deadpan_seal::random::fill(&mut set).map_err(|error| Failure::seal("", error))?;
    let label = Label { set, index: 0, count: 0, spares, length: 0, offset: 0, total, checksum: 0 };
    if spares > 0 { equal(rooms, label) } else { in_proportion(rooms, label) }
}

/// Returns the number of bytes that fit into a set with `spares` spare pictures if no cover is used twice.
pub fn room(rooms: &[u64], spares: u32) -> u64 {
    if spares == 0 {
        return rooms.iter().sum();
    }
    let most = |(pictures, room): (u32, u64)| {
        let count = pictures.min(spare::MOST).saturating_sub(spares);
        if spares <= spare::most_spares(count) { u64::from(count) * room } else { 0 }
    };
    (1..).zip(lengths(rooms)).map(most).max().unwrap_or(0)
}

/// Returns the number of pictures that are made from each cover.
pub fn uses(tasks: &[TemplateTask]) -> BTreeMap<usize, u32> {
    let mut uses = BTreeMap::new();
    tasks.iter().for_each(|task| *uses.entry(task.cover).or_default() += 1);
    uses
}

fn too_small() -> Failure {
    Failure::usage("the covers are too small to carry anything", "choose larger ones")
}

fn too_many() -> Failure {
    Failure::usage("the set would have too many pictures", "choose more or larger covers")
}

/// Uses the first covers, as many as are needed to carry all data. Fills each cover in proportion to its capacity,
/// because fewer hidden bits in a picture are harder to detect.
fn in_proportion(rooms: &[u64], label: Label) -> Result<Vec<TemplateTask>, Failure> {
    let total = label.total;
    let usable: Vec<usize> = (0..rooms.len()).filter(|cover| rooms[*cover] > 0).collect();
    if usable.is_empty() {
        return Err(too_small());
    }
    let (mut chosen, mut room) = (Vec::new(), 0_u64);
    while room < total.max(1) {
        if chosen.len() >= MOST_PICTURES as usize {
            return Err(too_many());
        }
        let cover = usable[chosen.len() % usable.len()];
        chosen.push(cover);
        room += rooms[cover];
    }
    leave_out(&mut chosen, rooms, room - total.max(1));
    let room: u64 = chosen.iter().map(|cover| rooms[*cover]).sum();
    let (count, mut before, mut offset) = (chosen.len() as u32, 0_u64, 0_u64);
    let mut tasks = Vec::new();
    for (index, cover) in (0..).zip(chosen) {
        before += rooms[cover];
        // A picture's share of the data is at most its capacity, because all pictures together have enough capacity.
        // Rounding up the end of a share can add one byte, and `min` in the next line removes this byte again.
        let end = (u128::from(total) * u128::from(before)).div_ceil(room.into()) as u64;
        let end = end.min(offset + rooms[cover]);
        let length = (end - offset) as u32;
        tasks.push(TemplateTask { cover, label: Label { index, count, length, offset, ..label } });
        offset = end;
    }
    if offset == total && (total == 0 || tasks.iter().all(|task| task.label.length > 0)) {
        Ok(tasks)
    } else {
        Err(Failure::usage("the data do not divide among these covers", "leave out the smallest cover"))
    }
}

/// Removes from `chosen` the pictures that are not needed, beginning with the smallest picture. `spare` is the number
/// of bytes by which the capacity exceeds the length of the data.
fn leave_out(chosen: &mut Vec<usize>, rooms: &[u64], mut spare: u64) {
    let mut smallest: Vec<usize> = (0..chosen.len()).collect();
    smallest.sort_by_key(|at| rooms[chosen[*at]]);
    let mut is_needed = vec![true; chosen.len()];
    for at in smallest {
        let Some(left) = spare.checked_sub(rooms[chosen[at]]) else { break };
        (spare, is_needed[at]) = (left, false);
    }
    let mut is_needed = is_needed.into_iter();
    chosen.retain(|_| is_needed.next().unwrap_or(true));
}

/// For a set with spare pictures, returns the maximum length of a part for each cover that can carry data. The longest
/// length comes first.
fn lengths(rooms: &[u64]) -> Vec<u64> {
    let mut lengths: Vec<u64> = rooms.iter().map(|room| room / WORD * WORD).filter(|room| *room > 0).collect();
    lengths.sort_unstable_by(|one, other| other.cmp(one));
    lengths
}

/// Plans the parts of the data: all parts have the same length, except that the last part may be shorter. After these
/// parts, plans parts for the spare pictures, with the length of the longest part.
fn equal(rooms: &[u64], label: Label) -> Result<Vec<TemplateTask>, Failure> {
    let (total, spares) = (label.total, label.spares);
    let lengths = lengths(rooms);
    if lengths.is_empty() {
        return Err(too_small());
    }
    // With longer parts, the set needs fewer pictures, but covers that are too small for these parts cannot be used.
    // With the best length, the set uses each cover as few times as possible. If several lengths use the covers equally
    // often, the best length needs the fewest pictures.
    let (mut best, mut refused) = (None, None);
    for (at, room) in (1_u64..).zip(&lengths) {
        let pictures = total.div_ceil(*room).max(1) + u64::from(spares);
        // The lengths are sorted, so a part of the length `room` fits into each of the first `at` covers.
        let fits = lengths.get(at as usize).is_none_or(|next| next < room);
        let uses = pictures.div_ceil(at);
        let possible = u32::try_from(pictures - u64::from(spares)).map(|count| spare::check(count, spares));
        match possible {
            Ok(Ok(())) if fits && best.is_none_or(|(fewest, _)| uses < fewest) => best = Some((uses, *room)),
            Ok(Err(error @ Error::TooManySpares { .. })) => refused = Some(error),
            _ => {}
        }
    }
    let (_, room) = best.ok_or_else(|| refused.map_or_else(too_many, |error| Failure::picture("", error)))?;
    let count = total.div_ceil(room).max(1);
    let part = total.div_ceil(count).next_multiple_of(WORD);
    // The number of pictures is computed again, so that each part has data. Rounding a part up to whole words can leave
    // no data for the last part. The last part is empty only if the set has more pictures than a part has words. In
    // this case, each part has the length `room`.
    let count = total.div_ceil(part.max(1)).max(1) as u32;
    let usable = (0..rooms.len()).filter(|cover| rooms[*cover] >= room);
    let tasks = (0..count + spares).zip(usable.cycle()).map(|(index, cover)| {
        let offset = if index < count { u64::from(index) * part } else { 0 };
        let length = if index < count { part.min(total - offset) } else { part } as u32;
        TemplateTask { cover, label: Label { index, count, length, offset, ..label } }
    });
    Ok(tasks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rooms: &[u64], total: u64, spares: u32) -> Vec<TemplateTask> {
        let tasks = plan(rooms, total, spares).unwrap_or_else(|failure| panic!("{rooms:?} {total}: {failure:?}"));
        let count = tasks.len() as u32 - spares;
        let mut end = 0;
        for (index, task) in (0..).zip(&tasks) {
            let Label { length, offset, .. } = task.label;
            assert_eq!((task.label.index, task.label.count, task.label.spares), (index, count, spares));
            assert!(u64::from(length) <= rooms[task.cover], "{rooms:?} {total} {spares}");
            assert!(Label::from_bytes(&task.label.to_bytes()).is_some());
            if index < count {
                assert_eq!(offset, end);
                assert!(length > 0 || total == 0, "{rooms:?} {total} {spares}");
                end += u64::from(length);
            }
            if spares > 0 {
                let first = tasks[0].label.length;
                let usual = if count > 1 { first } else { first.next_multiple_of(64) };
                assert!(length == usual || index + 1 == count && length <= usual, "{rooms:?} {total} {spares}");
                assert!(usual.is_multiple_of(64));
            }
        }
        assert_eq!(end, total);
        tasks
    }

    #[test]
    fn all_data_get_a_place_in_the_rooms() {
        for rooms in [&[64][..], &[100, 64, 1000], &[1000, 999, 70], &[64, 6400], &[50_000; 7], &[0, 3, 128]] {
            for total in [0, 1, 63, 64, 65, 127, 128, 129, 1000, 1063, 1064, 1065, 6464, 50_001] {
                for spares in [0, 1, 2, 9] {
                    check(rooms, total, spares);
                }
            }
        }
    }

    #[test]
    fn as_much_fits_as_the_plan_needs_each_cover_once() {
        for rooms in [&[64][..], &[100, 64, 1000], &[1000, 999, 70], &[64, 6400], &[50_000; 7], &[3, 128], &[500; 40]] {
            for spares in [0, 1, 2, 5, 39, 50] {
                let most = room(rooms, spares);
                let is_once = |total| uses(&check(rooms, total, spares)).values().all(|times| *times == 1);
                assert_eq!(is_once(most), most > 0 || spares == 0, "{rooms:?} {spares}");
                assert!(!is_once(most + 1), "{rooms:?} {spares} {most}");
            }
        }
        assert_eq!([room(&[], 0), room(&[0, 3], 0), room(&[3, 63], 1), room(&[64], 1)], [0, 3, 0, 0]);
    }

    #[test]
    fn covers_that_are_not_needed_are_left_out() {
        let covers = |rooms: &[u64], total, spares| -> Vec<usize> {
            check(rooms, total, spares).iter().map(|task| task.cover).collect()
        };
        assert_eq!(covers(&[100, 64, 1000], 1000, 0), [2]);
        assert_eq!(covers(&[100, 64, 1000], 1090, 0), [0, 2]);
        assert_eq!(covers(&[100, 64, 1000], 150, 0), [0, 1]);
        assert_eq!(covers(&[1000, 1000, 1000], 10, 0), [0]);
        // The smallest cover is not used, because with this cover all parts are short.
        assert_eq!(covers(&[1000, 64, 1000, 1000], 1500, 1), [0, 2, 3]);
        assert_eq!(covers(&[1000, 640, 1000], 1200, 1), [0, 1, 2]);
        assert_eq!(covers(&[1000], 1500, 1), [0, 0, 0]);
    }

    #[test]
    fn sets_have_limits() {
        assert!(plan(&[0, 0], 1, 0).is_err());
        assert!(plan(&[63], 1, 1).is_err());
        assert!(plan(&[64], 64 * 65_537, 0).is_err());
        assert!(plan(&[64], 64 * 32_767, 2).is_err());
        assert_eq!(check(&[64, 100], 65, 96).len(), 98);
        let failure = plan(&[64, 100], 65, 97).err().expect("too many spare pictures");
        assert!(failure.message.contains("97 spare pictures are too many for 2"), "{failure:?}");
        assert_eq!([room(&[64; 98], 96), room(&[64; 99], 97), room(&[64; 100], 97)], [128, 0, 192]);
        assert_eq!(check(&[64], 64 * 32_767, 1).len(), 32_768);
    }
}
