//! Answers the requests that the system sends for a mounted file.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyLseek,
    ReplyOpen, ReplyStatfs, Request,
};
use parking_lot::Mutex;

use super::blocks::{BLOCK, BlockReader, Blocks};
use super::tree::{MountTree, Node};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::bytes;
use deadpan_ct::Wiped;
use deadpan_pack::{Contents, Entry, Error, Kind, Piece};

/// How long the system may keep names and attributes. A mounted file does not change.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// The number of bytes that the system should read ahead. If the limit of the system is lower, the limit counts.
const AHEAD: u32 = 1 << 20;
/// The maximum number of notes about parts that cannot be read.
const MOST_TOLD: usize = 20;

thread_local! {
    /// A buffer for answers with data of several blocks. Using the buffer again is faster than getting new memory from
    /// the system.
    static ROOM: RefCell<Wiped<Vec<u8>>> = const { RefCell::new(Wiped::new(Vec::new())) };
}

/// The index of a mounted folder.
pub type MountedContents = Contents<BlockReader>;

/// A part of a mounted file that cannot be read.
#[derive(PartialEq, Eq, Hash)]
enum Unreadable {
    /// The block with this number.
    Block(u64),
    /// The headers of the node with this number.
    Headers(usize),
}

/// A mounted file.
pub struct Mounted {
    pub name: String,
    pub tree: MountTree,
    pub blocks: Arc<Blocks>,
    /// The index of a folder. `None` for a single file.
    pub contents: Option<Mutex<MountedContents>>,
    pub owner: (u32, u32),
    /// The pieces of the open files, by file handle.
    files: Mutex<HashMap<u64, Arc<[Piece]>>>,
    next: AtomicU64,
    /// The unreadable parts that the user was told about.
    told: Mutex<HashSet<Unreadable>>,
}

impl Mounted {
    pub fn new(
        name: String,
        tree: MountTree,
        blocks: Arc<Blocks>,
        contents: Option<MountedContents>,
        owner: (u32, u32),
    ) -> Self {
        let (files, next, told) = Default::default();
        Self { name, tree, blocks, contents: contents.map(Mutex::new), owner, files, next, told }
    }

    /// Returns the number and the attributes of the file that a node names.
    fn attributes(&self, number: usize) -> Option<FileAttr> {
        let file = self.tree.file(number);
        let Node { kind, mode, modified, size, stored, links, .. } = self.tree.node(file)?;
        let time = modified.system().unwrap_or(UNIX_EPOCH);
        Some(FileAttr {
            ino: inode(file),
            size: *size,
            blocks: stored.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: file_type(*kind),
            // Without setuid, setgid and the sticky bit, as after opening.
            perm: (*mode & 0o777) as u16,
            nlink: *links,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 1 << 17,
            flags: 0,
        })
    }

    /// Returns the entry of a node. For a file without holes, the tree contains all fields of the entry. For links and
    /// files with holes, reads the entry from the index again.
    fn entry(&self, number: usize, node: &Node, contents: &mut MountedContents) -> Result<Option<Entry>, Error> {
        let path = self.tree.path(number);
        let Node { kind, mode, modified, size, begin, content, .. } = *node;
        match kind {
            Kind::File => {
                let (stored, hash, target) = (size, None, None);
                Ok(Some(Entry { path, kind, mode, modified, size, begin, content, stored, hash, target }))
            }
            _ => contents.find(&path),
        }
    }

    /// Returns the target of a link.
    fn target(&self, number: usize) -> Result<Option<Vec<u8>>, Failure> {
        let (Some(contents), Some(node)) = (&self.contents, self.tree.node(number)) else { return Ok(None) };
        let mut contents = contents.lock();
        let found = self.entry(number, node, &mut contents).and_then(|entry| match entry {
            Some(entry) => contents.pieces(&entry).map(|_| entry.target),
            None => Ok(None),
        });
        found.map_err(|error| Failure::pack(&self.name, error))
    }

    /// Returns the pieces of a file: where the archive holds its data.
    fn pieces(&self, number: usize) -> Result<Vec<Piece>, Failure> {
        let Some(node) = self.tree.node(number) else { return Ok(Vec::new()) };
        if node.kind == Kind::HardLink {
            let message = format!("{}: the file that a hard link names is missing", self.name);
            return Err(Failure::new(Exit::Data, message, "open the whole archive"));
        }
        let Some(contents) = &self.contents else {
            return Ok(vec![Piece { offset: 0, position: 0, length: node.size }]);
        };
        let mut contents = contents.lock();
        let found = self.entry(number, node, &mut contents).and_then(|entry| match entry {
            Some(entry) => contents.pieces(&entry),
            None => Ok(Vec::new()),
        });
        found.map_err(|error| Failure::pack(&self.name, error))
    }

    /// Reads up to `length` bytes of a file, and passes the bytes to `put`. Outside the pieces, the file has zeros.
    fn read_file<T>(
        &self,
        number: usize,
        pieces: &[Piece],
        offset: u64,
        length: u32,
        put: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Errno> {
        let size = self.tree.node(number).map_or(0, |node| node.size);
        let end = offset.saturating_add(length.into()).min(size);
        let first = pieces.partition_point(|piece| piece.offset + piece.length <= offset);
        if let Some(piece) = pieces.get(first)
            && piece.offset <= offset
            && offset < end
            && end <= piece.offset + piece.length
        {
            let (begin, end) = (piece.position + (offset - piece.offset), piece.position + (end - piece.offset));
            if begin / BLOCK == (end - 1) / BLOCK {
                return self.with_block(number, begin, end, put);
            }
        }
        ROOM.with_borrow_mut(|data| {
            data.clear();
            for piece in pieces[first..].iter().take_while(|piece| piece.offset < end) {
                let (mut at, until) = (piece.offset.max(offset), (piece.offset + piece.length).min(end));
                data.resize((at - offset) as usize, 0);
                while at < until {
                    let begin = piece.position + (at - piece.offset);
                    let here = (BLOCK - begin % BLOCK).min(until - at);
                    self.with_block(number, begin, begin + here, |bytes| data.extend_from_slice(bytes))?;
                    at += here;
                }
            }
            data.resize(end.saturating_sub(offset) as usize, 0);
            Ok(put(data))
        })
    }

    /// Passes bytes that lie in one block to `put`.
    fn with_block<T>(&self, node: usize, begin: u64, end: u64, put: impl FnOnce(&[u8]) -> T) -> Result<T, Errno> {
        let number = begin / BLOCK;
        let unreadable = |why: &str| self.tell(node, Unreadable::Block(number), why);
        let block = self.blocks.block(number).map_err(|failure| unreadable(&failure.message))?;
        let begin_of_block = number * BLOCK;
        let range = (begin - begin_of_block) as usize..(end - begin_of_block) as usize;
        let missing = || match &block.damage {
            Some(damage) => unreadable(&format!("{}: {damage}", self.name)),
            None => Errno::EIO,
        };
        block.part(range).map(put).ok_or_else(missing)
    }

    /// Tells the user why a part of a file cannot be read. Each part is told once.
    fn tell(&self, node: usize, part: Unreadable, why: &str) -> Errno {
        let (before, is_new) = {
            let mut told = self.told.lock();
            (told.len(), told.insert(part))
        };
        if is_new && before < MOST_TOLD {
            say(&format!("note: {why}; a part of {} cannot be read", bytes(&self.tree.path(node))));
        } else if is_new && before == MOST_TOLD {
            say("note: further damage is not told; see: deadpan open --verify");
        }
        Errno::EIO
    }

    /// Returns the entries of a folder's list, beginning at the position `from`. Each entry has a node, a name, and the
    /// position of the next entry.
    fn listed(&self, folder: usize, from: u64) -> impl Iterator<Item = (usize, &[u8], u64)> {
        let own = [(folder, &b"."[..]), (self.tree.parent(folder), b"..")];
        let children = self.tree.children(folder).iter().map(|child| (*child, self.tree.name(*child)));
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let all = own.into_iter().chain(children).enumerate().skip(from);
        all.map(|(place, (number, name))| (number, name, place as u64 + 1))
    }

    fn is_folder(&self, number: usize) -> bool {
        self.tree.node(number).is_some_and(|node| node.kind == Kind::Folder)
    }
}

/// Returns the inode number of a node. The root has the inode number 1.
fn inode(number: usize) -> INodeNo {
    INodeNo(number as u64 + 1)
}

fn number(inode: INodeNo) -> usize {
    usize::try_from(inode.0.wrapping_sub(1)).unwrap_or(usize::MAX)
}

fn file_type(kind: Kind) -> FileType {
    match kind {
        Kind::Folder => FileType::Directory,
        Kind::SymbolicLink => FileType::Symlink,
        _ => FileType::RegularFile,
    }
}

/// Finds the next data or the next hole of a file, from `offset` on.
fn next_place(pieces: &[Piece], size: u64, offset: u64, whence: i32) -> Option<u64> {
    /// The system's number of the search for data. The other search is that for holes.
    const SEEK_DATA: i32 = 3;
    let mut rest = pieces[pieces.partition_point(|piece| piece.offset + piece.length <= offset)..].iter();
    if offset >= size {
        return None;
    }
    if whence == SEEK_DATA {
        return rest.next().map(|piece| piece.offset.max(offset));
    }
    let mut end = offset;
    // Pieces may follow each other without a hole.
    while let Some(piece) = rest.next().filter(|piece| piece.offset <= end) {
        end = piece.offset + piece.length;
    }
    Some(end)
}

impl Filesystem for Mounted {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = [
            InitFlags::FUSE_DO_READDIRPLUS | InitFlags::FUSE_READDIRPLUS_AUTO,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_CACHE_SYMLINKS,
        ];
        for flags in wanted {
            // An older system goes without.
            let _ = config.add_capabilities(flags);
        }
        let _ = config.set_max_readahead(AHEAD).or_else(|most| config.set_max_readahead(most));
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let child = self.tree.child(number(parent), name.as_bytes());
        match child.and_then(|child| self.attributes(child)) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(number(inode)) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _: &Request, inode: INodeNo, reply: ReplyData) {
        match self.target(number(inode)) {
            Ok(Some(target)) => reply.data(&target),
            Ok(None) => reply.error(Errno::EINVAL),
            Err(failure) => {
                let node = number(inode);
                reply.error(self.tell(node, Unreadable::Headers(node), &failure.message));
            }
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let node = number(inode);
        match self.pieces(node) {
            Ok(pieces) => {
                let handle = self.next.fetch_add(1, Ordering::Relaxed);
                self.files.lock().insert(handle, pieces.into());
                reply.opened(FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE);
            }
            Err(failure) => reply.error(self.tell(node, Unreadable::Headers(node), &failure.message)),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let pieces = self.files.lock().get(&handle.0).cloned();
        let Some(pieces) = pieces else { return reply.error(Errno::EBADF) };
        let mut reply = Some(reply);
        let mut put = |bytes: &[u8]| {
            if let Some(reply) = reply.take() {
                reply.data(bytes);
            }
        };
        let done = self.read_file(number(inode), &pieces, offset, size, &mut put);
        if let (Err(error), Some(reply)) = (done, reply) {
            reply.error(error);
        }
    }

    fn lseek(&self, _: &Request, inode: INodeNo, handle: FileHandle, offset: i64, whence: i32, reply: ReplyLseek) {
        let pieces = self.files.lock().get(&handle.0).cloned();
        let size = self.tree.node(number(inode)).map_or(0, |node| node.size);
        let (Some(pieces), Ok(offset)) = (pieces, u64::try_from(offset)) else { return reply.error(Errno::EINVAL) };
        match next_place(&pieces, size, offset, whence).and_then(|place| i64::try_from(place).ok()) {
            Some(place) => reply.offset(place),
            None => reply.error(Errno::ENXIO),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.files.lock().remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_CACHE_DIR | FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn readdir(&self, _: &Request, inode: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let folder = number(inode);
        if !self.is_folder(folder) {
            return reply.error(Errno::ENOTDIR);
        }
        for (child, name, next) in self.listed(folder, offset) {
            let file = self.tree.file(child);
            let kind = self.tree.node(file).map_or(FileType::RegularFile, |node| file_type(node.kind));
            if reply.add(self::inode(file), next, kind, OsStr::from_bytes(name)) {
                break;
            }
        }
        reply.ok();
    }

    fn readdirplus(&self, _: &Request, inode: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectoryPlus) {
        let folder = number(inode);
        if !self.is_folder(folder) {
            return reply.error(Errno::ENOTDIR);
        }
        for (child, name, next) in self.listed(folder, offset) {
            let Some(attributes) = self.attributes(child) else { break };
            if reply.add(attributes.ino, next, OsStr::from_bytes(name), &FOREVER, &attributes, Generation(0)) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.tree.bytes.div_ceil(512), 0, 0, self.tree.len() as u64, 0, 512, 1024, 512);
    }
}
