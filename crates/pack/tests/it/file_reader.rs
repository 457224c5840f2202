//! Reads single files of packs at any position.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tempfile::tempdir;

use crate::reference::{Item, pack};
use crate::tree::odd::odd_tree;
use deadpan_pack::{Contents, Error, Fault, FileReader, Kind, Packer, Packing, Refusal, Work};

fn packed(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    deadpan_pack::pack(Packer::new(folder, b"root", Packing::default()).unwrap(), &mut bytes, &Work::default())
        .unwrap();
    bytes
}

fn open<'a>(pack: &'a [u8], path: &[u8]) -> Result<FileReader<Cursor<&'a [u8]>>, Error> {
    let mut contents = Contents::read(Cursor::new(pack)).unwrap().expect("a pack");
    let entry = contents.find(path).unwrap().expect("an entry");
    FileReader::new(contents, &entry)
}

/// Files with holes, hard links, and files whose headers are long.
#[test]
fn each_file_is_read_at_any_position() {
    let place = tempdir().unwrap();
    odd_tree(place.path());
    let pack = packed(place.path());
    let entries: Vec<_> =
        Contents::read(Cursor::new(&pack)).unwrap().unwrap().entries().collect::<Result<_, _>>().unwrap();
    let mut kinds = Vec::new();
    for entry in entries {
        let data = fs::read(place.path().join(OsStr::from_bytes(&entry.path)));
        let mut reader = match open(&pack, &entry.path) {
            Err(Error::Refused(Refusal::NotAFile { .. })) => {
                assert!(matches!(entry.kind, Kind::Folder | Kind::SymbolicLink));
                continue;
            }
            reader => reader.unwrap(),
        };
        kinds.push(entry.kind);
        let (data, mut whole) = (data.unwrap(), Vec::new());
        assert_eq!(reader.length(), data.len() as u64);
        reader.read_to_end(&mut whole).unwrap();
        assert!(whole == data, "{}", entry.path.escape_ascii());
        // Around the beginning and the end of the data in the file with holes, too.
        for begin in [0, 1, 512, (3 << 20) - 7, (3 << 20) + 4990, (20 << 20) - 1, 22 << 20, data.len() - data.len() / 3]
        {
            let wanted = data.get(begin..).unwrap_or_default();
            let mut piece = vec![0xee; wanted.len().min(1000)];
            assert_eq!(reader.seek(SeekFrom::Start(begin as u64)).unwrap(), begin as u64);
            reader.read_exact(&mut piece).unwrap();
            assert!(piece == wanted[..piece.len()], "{} at {begin}", entry.path.escape_ascii());
        }
        assert_eq!(reader.seek(SeekFrom::End(9)).unwrap(), data.len() as u64 + 9);
        assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
        assert!(reader.seek(SeekFrom::Current(-(data.len() as i64) - 10)).is_err());
    }
    for kind in [Kind::File, Kind::Sparse, Kind::HardLink] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
}

#[test]
fn headers_that_differ_from_the_index_are_refused() {
    let (pack, entries) = pack(&[Item::folder(""), Item::file("a", 600), Item::file("b", 1)], &[3], false);
    assert!(open(&pack, b"a").is_ok() && open(&pack, b"b").is_ok());
    let swapped = |one: u64, other: u64| {
        let mut pack = pack.clone();
        let header = pack[one as usize..][..512].to_vec();
        pack[other as usize..][..512].copy_from_slice(&header);
        pack
    };
    let wrong = swapped(entries[2].begin, entries[1].begin);
    let error = open(&wrong, b"a").expect_err("the header names another file");
    assert_eq!(error.fault(), Fault::Data, "{error}");
    assert!(error.to_string().contains("a is not what the index says"), "{error}");
    assert!(open(&wrong, b"b").is_ok(), "only the headers of the file itself are read");
}

#[test]
fn a_pack_that_ends_within_a_file_is_an_error() {
    let (pack, entries) = pack(&[Item::folder(""), Item::file("a", 600)], &[2], false);
    let end = Cell::new(u64::MAX);
    let mut contents = Contents::read(Cut { pack: Cursor::new(&pack), end: &end }).unwrap().expect("a pack");
    let entry = contents.find(b"a").unwrap().expect("an entry");
    let mut reader = FileReader::new(contents, &entry).unwrap();
    // The index was read before the pack became shorter.
    end.set(entries[1].content + 599);
    let error = reader.read_to_end(&mut Vec::new()).expect_err("a byte is missing");
    assert!(matches!(error.downcast(), Ok(Error::Truncated)));
}

/// A pack of which the bytes from `end` on are missing.
struct Cut<'a> {
    pack: Cursor<&'a [u8]>,
    end: &'a Cell<u64>,
}

impl Read for Cut<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.get().saturating_sub(self.pack.position()).min(buffer.len() as u64) as usize;
        self.pack.read(&mut buffer[..left])
    }
}

impl Seek for Cut<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pack.seek(to)
    }
}
