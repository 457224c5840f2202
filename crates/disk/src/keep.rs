//! Copies the properties of a replaced file to the new file: owner, group, permissions, access control list,
//! attributes, time.

use std::fs::File;
use std::io;

use crate::about::About;
use crate::error::{Error, Unkept};
use crate::handle::{ACCESS_LIST, Handle};

/// Gives the new file the properties of the old file. A user without access to the old file gets no access to the new
/// file.
///
/// If `lossy` is set, omits properties that cannot be kept, and also omits rights that would have another meaning
/// without these properties. Returns the omitted properties.
///
/// # Errors
/// [`Error::Unkept`] if a property cannot be kept and `lossy` is not set; otherwise the system's error, with the `Step`
/// that failed.
pub fn keep(new: &File, old: &File, lossy: bool) -> Result<Vec<Unkept>, Error> {
    let about = About::of_file(old).map_err(Error::dress)?;
    let mut lost = Vec::new();
    let mut lose = |unkept: Unkept| {
        if lossy {
            lost.push(unkept);
            Ok(())
        } else {
            Err(Error::Unkept(unkept))
        }
    };
    let mut mode = about.mode;
    let now = keep_owner(new, &about).map_err(Error::dress)?;
    if now.owner != about.owner {
        lose(Unkept::Owner(about.owner))?;
        // The new owner has not granted other users the right to write to the file, so this right and the special bits
        // are not kept.
        if mode & !0o755 != 0 {
            lose(Unkept::Rights(mode & !0o755))?;
        }
        mode &= 0o755;
    }
    if now.group != about.group {
        lose(Unkept::Group(about.group))?;
        // The members of another group get no more rights than everybody.
        let less = mode & !0o2070 | (mode & 0o007) << 3;
        if mode & !less != 0 {
            lose(Unkept::Rights(mode & !less))?;
        }
        mode = less;
    }
    // The folder may have given the new file an access control list.
    new.remove_access_list().map_err(Error::dress)?;
    let attributes = old.attributes().map_err(Error::dress)?;
    let list = attributes.iter().find(|(name, _)| name == ACCESS_LIST.as_bytes());
    if let Some((_, list)) = list {
        // Without the list, the group bits of the mode would be wrong, because they are the mask of the list.
        new.set_mode(mode & !0o070).map_err(Error::dress)?;
        if new.set_attribute(ACCESS_LIST.as_bytes(), list).is_err() {
            lose(Unkept::AccessList)?;
            mode &= !0o070;
        }
    }
    new.set_mode(mode).map_err(Error::dress)?;
    for (name, value) in &attributes {
        // System attributes are not copied, because the new file gets its own from its folder. Attributes that grant
        // rights, such as capabilities, are not copied, because the new file contains only data.
        if name.starts_with(b"user.") && new.set_attribute(name, value).is_err() {
            lose(Unkept::Attribute(String::from_utf8_lossy(name).into_owned()))?;
        }
    }
    new.set_modified_at(about.modified).map_err(Error::dress)?;
    Ok(lost)
}

/// Gives the new file the owner and the group of the old file, if the system allows it. Returns the properties of the
/// new file after this change.
fn keep_owner(new: &File, old: &About) -> io::Result<About> {
    let now = About::of_file(new)?;
    if (now.owner, now.group) == (old.owner, old.group) {
        return Ok(now);
    }
    // If the system refuses the owner, it may still accept the group.
    let _ = new.set_owner(Some(old.owner), old.group).or_else(|_| new.set_owner(None, old.group));
    About::of_file(new)
}
