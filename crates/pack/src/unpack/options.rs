//! Options for unpacking.

use deadpan_disk::FileId;

/// Options for unpacking an archive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unpacking {
    /// Replaces files that exist, and sets the mode and the time of folders that exist.
    pub replace: bool,
    /// Records an entry that fails, and unpacks the other entries. A full disk nevertheless ends the work.
    pub keep_going: bool,
    /// After damage in an archive that is read without an index, goes on with the next header, and records the damage.
    /// The content of a damaged entry may be an archive, too, and its entries are then unpacked. Has an effect only
    /// together with `keep_going`.
    pub skip_damage: bool,
    /// Permission bits that files and folders never get, even if the archive states them. Use the umask of the process,
    /// or use 0 to restore exactly the modes in the archive.
    pub mask: u32,
    /// Restores owners and groups, and also setuid, setgid and sticky bits. Has an effect only if the process runs as
    /// root.
    pub owner: bool,
    /// Restores the extended attributes of users: the attributes whose names begin with `user.`. If `owner` is set too,
    /// access control lists and capabilities are also restored, because they grant rights like the setuid bit.
    pub attributes: bool,
    /// The target folder is new, and no other program uses it before the work ends. Therefore files get their final
    /// names immediately.
    pub fresh: bool,
    /// The archive itself: no entry of the archive may replace this file.
    pub archive: Option<FileId>,
}
