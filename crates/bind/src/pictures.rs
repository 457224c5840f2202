//! Data in pictures. A picture stores the bytes of the data as its pixels.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::fault::shown;
use crate::{Code, Fault, open_seekable};
use deadpan_files::DraftFile;
use deadpan_picture::carrier::{Carrier, Layout, SampleOrder, Writer, rewritten};
use deadpan_picture::{Error, Format, Limits, Opened, Orientation, Reader, Sets, read_into, spare};
use deadpan_seal::{ReadAt, Work, random};

/// The number of bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// How pictures are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct PictureOptions {
    /// Width and height in pixels. With `None`, the pictures have the default size, or a smaller size if the data fit
    /// into it.
    pub size: Option<(u32, u32)>,
    /// The number of spare pictures. The data can be restored if at most this number of pictures are lost.
    pub spares: u32,
    /// Whether the pictures may replace other files.
    pub replace: bool,
}

/// Writes the first `length` bytes of `data` to PNG or WebP pictures, and returns their paths. A single picture gets
/// the name `output`, whose extension decides the format. Several pictures get numbers before the extension. Nothing is
/// encrypted.
///
/// # Errors
/// If the extension is neither of PNG nor of WebP, if an output exists or cannot be written, or if the data need too
/// many pictures.
pub fn write_pictures(
    data: &impl ReadAt,
    length: u64,
    output: &Path,
    options: PictureOptions,
    work: &Work<'_>,
) -> Result<Vec<PathBuf>, Fault> {
    let failed = |error| fault(error, output);
    let format = format(output)?;
    let layout = match options.size {
        Some((width, height)) => Layout::new(format, width, height),
        None => Layout::usual(format, Some(length)),
    };
    let layout = layout.map_err(failed)?;
    let count = layout.pictures(length).ok_or_else(|| failed(Error::TooManyPictures))?;
    if options.spares > 0 {
        spare::check(count, options.spares).map_err(failed)?;
    }
    let names = names(output, count.saturating_add(options.spares));
    let first = DraftFile::new(&names[0], options.replace)?;
    let others = names.iter().skip(1).map(|name| first.another(name)).collect::<Result<Vec<_>, _>>()?;
    let drafts: Vec<_> = std::iter::once(first).chain(others).collect();
    let writer = Writer::new(layout, |index| drafts[index as usize].file().try_clone()).map_err(failed)?;
    let (mut piece, mut position) = (vec![0; PIECE], 0);
    while position < length {
        check(work)?;
        let most = (length - position).min(PIECE as u64) as usize;
        let read = data.read_at(&mut piece[..most], position).map_err(|error| failed(Error::Read(error)))?;
        if read == 0 {
            return Err(failed(Error::Read(std::io::ErrorKind::UnexpectedEof.into())));
        }
        writer.write_all_at(&piece[..read], position).map_err(|error| failed(Error::Write(error)))?;
        position += read as u64;
    }
    let mut set = [0; 16];
    random::fill(&mut set)?;
    writer.finish(set, options.spares).map_err(failed)?;
    check(work)?;
    DraftFile::land_all(drafts)?;
    Ok(names)
}

/// Fails if the work was stopped.
fn check(work: &Work<'_>) -> Result<(), Fault> {
    if work.stop.is_some_and(|stop| stop()) { Err(Fault::new(Code::Stopped, Code::Stopped.message())) } else { Ok(()) }
}

/// A picture that carries a part of the data.
struct PartPicture {
    path: PathBuf,
    /// The order of the picture's samples, if another program rewrote the picture.
    order: Option<SampleOrder>,
    carrier: Option<Carrier>,
}

/// Returns the data of pictures. The pictures may be given in any order, and other programs may have rewritten them
/// without loss. If pictures are missing, spare pictures (which contain redundant data) replace them.
///
/// # Errors
/// If a picture carries no data or is damaged, if the pictures are of several sets, or if too many pictures are
/// missing.
pub fn read_pictures(pictures: &[PathBuf], work: &Work<'_>) -> Result<Vec<u8>, Fault> {
    let (mut sets, mut room) = (Sets::new(), 0);
    for path in pictures {
        let failed = |error| fault(error, path);
        let (file, _) = open_seekable(path)?;
        let (label, picture) = match Carrier::recognize(&file).map_err(failed)? {
            Some(carrier) => (carrier.label, PartPicture { path: path.clone(), order: None, carrier: Some(carrier) }),
            None => match rewritten(BufReader::new(file), &Limits::default()).map_err(failed)? {
                Some((label, order)) => (label, PartPicture { path: path.clone(), order: Some(order), carrier: None }),
                None => return Err(Fault::new(Code::NotSealed, format!("{} carries no data", shown(path)))),
            },
        };
        room = room.max(u64::from(label.length));
        sets.add(label, picture);
    }
    let mut sets = sets.into_sets();
    let set = match (sets.pop(), sets.is_empty()) {
        (Some(set), true) => set,
        (None, _) => return Err(Fault::argument("there are no pictures")),
        (Some(_), false) => return Err(Fault::argument("the pictures belong to several sets")),
    };
    // No part is longer than `room`, the length of the longest part, so if the total length is larger than all parts
    // together, the labels contradict each other.
    if set.total() > u64::from(set.count()).saturating_mul(room) {
        return Err(Fault::new(Code::Tampered, "the labels of the pictures contradict each other"));
    }
    let failed = |error: Error| Fault::new(code(&error), error.to_string());
    let open = |picture: &PartPicture| open(picture);
    let reader = Reader::recovering(set, open, || deadpan_disk::scratch_in(&std::env::temp_dir())).map_err(failed)?;
    let (mut data, mut stream) = (Vec::new(), reader.stream());
    loop {
        check(work)?;
        let read = (&mut stream).take(PIECE as u64).read_to_end(&mut data);
        if read.map_err(|error| failed(Error::Read(error)))? == 0 {
            break;
        }
    }
    match reader.damaged().first() {
        None => Ok(data),
        Some(damage) => {
            Err(Fault::new(Code::Tampered, format!("picture {} of the set is damaged", u64::from(damage.index) + 1)))
        }
    }
}

fn open(picture: &PartPicture) -> std::io::Result<Opened> {
    let file = open_seekable(&picture.path).map_err(std::io::Error::other)?.0;
    match (picture.carrier, picture.order) {
        (Some(carrier), _) => Ok(carrier.open(file)),
        (None, order) => {
            let read = read_into(BufReader::new(file), Orientation::Ignore, &Limits::default(), Vec::new());
            let pixels = read.map_err(std::io::Error::other)?.pixels;
            order.map(|order| Opened::Pixels(pixels, order)).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
        }
    }
}

fn format(output: &Path) -> Result<Format, Fault> {
    match output.extension().map(|ending| ending.to_ascii_lowercase()) {
        Some(ending) if ending == "png" => Ok(Format::Png),
        Some(ending) if ending == "webp" => Ok(Format::WebP),
        _ => Err(Fault::argument(format!("{} does not end with .png or .webp", shown(output)))),
    }
}

fn names(output: &Path, count: u32) -> Vec<PathBuf> {
    if count == 1 {
        return vec![output.to_owned()];
    }
    let digits = count.to_string().len().max(3);
    let stem = output.file_stem().unwrap_or_default();
    let ending = output.extension().unwrap_or_default();
    let name = |number: u32| {
        let mut name = stem.to_owned();
        name.push(format!("-{number:0digits$}."));
        name.push(ending);
        output.with_file_name(name)
    };
    (1..=count).map(name).collect()
}

fn fault(error: Error, path: &Path) -> Fault {
    match error {
        Error::Read(error) => deadpan_files::Error::Read { path: path.to_owned(), error }.into(),
        Error::Write(error) => deadpan_files::Error::Write { path: path.to_owned(), error }.into(),
        error => Fault::new(code(&error), error.to_string()).about(path),
    }
}

fn code(error: &Error) -> Code {
    match error {
        Error::Read(_) => Code::Read,
        Error::Write(_) => Code::Write,
        Error::MissingPictures { .. } | Error::Cut(_) => Code::Truncated,
        Error::CarrierSize { .. } | Error::TooManyPictures | Error::TooManySpares { .. } => Code::Argument,
        Error::TooManyPixels { .. } | Error::TooMuchMemory { .. } | Error::Disproportionate { .. } => Code::Limit,
        Error::NotAPicture | Error::OtherFormat(_) | Error::Unsupported { .. } | Error::Animated => Code::NotSealed,
        _ => Code::Tampered,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn data(length: usize) -> Vec<u8> {
        (0..length).map(|place| ((place * 7) >> 2) as u8).collect()
    }

    struct Given<'a>(&'a [u8]);

    impl ReadAt for Given<'_> {
        fn read_at(&self, buffer: &mut [u8], position: u64) -> std::io::Result<usize> {
            let rest = &self.0[position as usize..];
            // Returns fewer bytes than the caller requested.
            let read = rest.len().min(buffer.len()).min(1000);
            buffer[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        }
    }

    fn write(data: &[u8], output: &Path, options: PictureOptions) -> Result<Vec<PathBuf>, Fault> {
        write_pictures(&Given(data), data.len() as u64, output, options, &Work::default())
    }

    fn reveal(paths: &[PathBuf]) -> Result<Vec<u8>, Fault> {
        read_pictures(paths, &Work::default())
    }

    #[test]
    fn stopped_work_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, stop) = (data(3 << 20), || true);
        let work = Work { stop: Some(&stop), ..Work::default() };
        let output = folder.path().join("a.png");
        let written = write_pictures(&Given(&data), data.len() as u64, &output, PictureOptions::default(), &work);
        assert_eq!(written.expect_err("stopped").code, Code::Stopped);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn data_come_back_from_one_picture_and_from_many() {
        let folder = tempfile::tempdir().expect("a folder");
        let small = PictureOptions { size: Some((64, 64)), ..PictureOptions::default() };
        for (name, length, options) in [
            ("none.png", 0, PictureOptions::default()),
            ("one.webp", 50_000, PictureOptions::default()),
            ("many.png", 50_000, small),
            ("spare.png", 50_000, PictureOptions { spares: 2, ..small }),
        ] {
            let data = data(length);
            let mut paths = write(&data, &folder.path().join(name), options).expect("written");
            paths.reverse();
            assert_eq!(reveal(&paths).expect("read"), data, "{name}");
            if options.spares > 0 {
                assert_eq!(paths.len(), 7);
                assert_eq!(reveal(&paths[2..]).expect("read"), data, "two pictures are lost");
                assert_eq!(reveal(&paths[3..]).expect_err("too few").code, Code::Truncated);
            }
        }
        let count = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(count, 1 + 1 + 5 + 7, "and no drafts");
    }

    #[test]
    fn what_carries_nothing_or_is_there_already_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let code = |result: Result<Vec<PathBuf>, Fault>| result.expect_err("refused").code;
        assert_eq!(code(write(b"face", &place("a.jpg"), PictureOptions::default())), Code::Argument);
        write(b"face", &place("a.png"), PictureOptions::default()).expect("written");
        write(b"other", &place("b.png"), PictureOptions::default()).expect("written");
        assert_eq!(code(write(b"face", &place("a.png"), PictureOptions::default())), Code::Exists);
        let read = |names: &[&str]| reveal(&names.iter().map(|name| place(name)).collect::<Vec<_>>());
        assert_eq!(read(&["a.png", "b.png"]).expect_err("two sets").code, Code::Argument);
        assert_eq!(read(&[]).expect_err("none").code, Code::Argument);
        assert_eq!(read(&["c.png"]).expect_err("missing").code, Code::Read);
        fs::write(place("text.png"), b"a text").expect("written");
        assert_eq!(read(&["text.png"]).expect_err("no picture").code, Code::NotSealed);
        let mut bytes = fs::read(place("a.png")).expect("read");
        let last = bytes.windows(4).position(|part| part == b"face").expect("the data");
        bytes[last] ^= 1;
        fs::write(place("a.png"), bytes).expect("written");
        assert_eq!(read(&["a.png"]).expect_err("damaged").code, Code::Tampered);
    }
}
