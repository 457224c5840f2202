//! Advice on errors of packing, unpacking and listing.

use std::io::ErrorKind;

use deadpan_pack::{Action, Error, Flaw, Refusal};

/// Returns advice on an error. For errors of the system, see [`entry`].
pub fn advise(error: &Error) -> Option<&'static str> {
    match error {
        Error::Archive(flaw) => Some(archive(flaw)),
        Error::Truncated => Some("the archive was cut short; get it again"),
        Error::Refused(refusal) => Some(refused(refusal)),
        _ => None,
    }
}

/// Returns advice on the error of an entry if `--keep-going` has unpacked the other entries.
pub fn kept_going(error: &Error) -> Option<&'static str> {
    match error {
        Error::Archive(Flaw::Path { .. } | Flaw::HardLink { .. } | Flaw::ImpliedFolders { .. }) => {
            Some("the archive may be meant to do harm")
        }
        Error::Archive(Flaw::Special { .. }) => Some("deadpan makes files, folders and links only"),
        Error::Archive(Flaw::NoName | Flaw::NoTarget { .. }) => Some("the archive is damaged; get it again"),
        error => advise(error),
    }
}

/// Returns advice on a failed operation on an entry, or `None` if the advice on the system's error is more useful.
pub fn entry(action: Action) -> Option<&'static str> {
    match action {
        Action::SetOwner => Some("leave out --owner, or unpack as root"),
        Action::SetAttributes => Some("leave out --xattrs"),
        _ => None,
    }
}

/// Returns advice on an error of packing, or `None` if the advice on the same error of unpacking fits.
pub fn packing(error: &Error) -> Option<&'static str> {
    match error {
        Error::Entry { action: Action::Read, error, .. } if error.kind() == ErrorKind::NotFound => {
            Some("check the path; with --keep-going, entries that cannot be read are left out")
        }
        Error::Entry { action: Action::Read, .. } => {
            Some("check its permissions; with --keep-going, entries that cannot be read are left out")
        }
        Error::Entry { action: Action::ReadPatterns, .. } => {
            Some("check its permissions and its length; --keep-going goes on without these patterns")
        }
        Error::Entry { action: Action::ReadAttributes, .. } => {
            Some("leave out --xattrs; with --keep-going, attributes that cannot be read are left out")
        }
        Error::Shrank { .. } => Some("wait until nobody writes to it; with --keep-going, zeros replace the rest"),
        _ => None,
    }
}

/// Returns advice on an error of a folder that is hidden in pictures, or `None` if the advice for other folders fits.
/// `deadpan list` cannot read pictures.
pub fn in_pictures(error: &Error) -> Option<&'static str> {
    match error {
        Error::Refused(Refusal::NoMatch { .. }) => {
            Some("list the entries with: deadpan picture reveal -o - PICTURE... | deadpan list")
        }
        _ => None,
    }
}

fn archive(flaw: &Flaw) -> &'static str {
    match flaw {
        Flaw::NoIndex => "the archive was cut short or changed; get it again, or read its entries with tar",
        Flaw::Index(_) => "the archive was changed or cut short; get it again",
        Flaw::Newer => "use a newer deadpan, or tar, which unpacks it without checking",
        Flaw::OutsideRoot { .. } => {
            "another program has added entries to the pack; unpack it from a file instead of a pipe, or with tar"
        }
        Flaw::Changed { .. } => "the archive was changed after it was made; get it again",
        Flaw::Path { .. } | Flaw::HardLink { .. } | Flaw::ImpliedFolders { .. } => {
            "the archive may be meant to do harm; --keep-going unpacks the rest"
        }
        Flaw::Special { .. } => "deadpan makes files, folders and links only; --keep-going unpacks the rest",
        Flaw::NoName | Flaw::NoTarget { .. } => "the archive is damaged; --keep-going unpacks the rest",
        Flaw::NoFolder { .. } => "see the errors before this one",
        Flaw::InTheWay { .. } => "move it away, or choose another folder with -o",
        Flaw::Owner { .. } => "leave out --owner",
        _ => "the file is damaged or no archive; get it again",
    }
}

fn refused(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoName => "name the folder by a path that contains its name",
        Refusal::Deep { .. } | Refusal::Long { .. } => "leave it out, or rename it",
        Refusal::TooMany => "pack its folders one by one",
        Refusal::NoMatch { .. } => "list the entries with: deadpan list",
        Refusal::LinkWithoutFile { .. } => {
            "select that file: it has the contents, and this archive can be read only once, from its start to its end"
        }
        Refusal::Several { .. } | Refusal::NoFile { .. } => {
            "name a folder with -o, or save the sealed file without armor first"
        }
        Refusal::Attributes { .. } => "leave out --xattrs, or unpack all of it",
        Refusal::Exists { .. } => "replace it with --force, or choose another folder with -o",
        Refusal::Name { .. } => "unpack it on another system, or rename it in the archive",
        Refusal::IsArchive { .. } => "choose another folder with -o",
        Refusal::IsFolder { .. } => "folders are not replaced; move it away, or choose another folder with -o",
        Refusal::TooLarge { limit: None, .. } => "if you trust the sender, allow this size with --max-size",
        Refusal::TooLarge { .. } => "allow more with --max-size",
        _ => "ask for something else",
    }
}
