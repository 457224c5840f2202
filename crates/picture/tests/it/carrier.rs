//! Tests carriers through the public API: the written data can be read again, here and in other programs.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Open;
use deadpan_picture::carrier::{Carrier, Finding, Layout, SampleOrder, Writer, rewritten};
use deadpan_picture::{Channels, Compression, Error, Format, Label, Limits, Opened, Pixels, Reader, Sets};

const BOTH: [Format; 2] = [Format::Png, Format::WebP];

fn bytes(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn path(folder: &Path, index: u32) -> PathBuf {
    folder.join(format!("{index}"))
}

fn create(folder: &Path) -> impl Fn(u32) -> io::Result<File> + Sync {
    let folder = folder.to_owned();
    move |index| File::options().read(true).write(true).create(true).truncate(false).open(path(&folder, index))
}

fn write(folder: &Path, layout: Layout, bytes: &[u8], spares: u32) -> Vec<Label> {
    let writer = Writer::new(layout, create(folder)).expect("a layout");
    writer.stream().write_all(bytes).expect("written");
    writer.finish([3; 16], spares).expect("finished").labels
}

pub type Picture = (PathBuf, Carrier);

pub const OPEN: Open<'static, Picture> = &|(path, carrier)| Ok(carrier.open(File::open(path)?));

fn reader(folder: &Path) -> Reader<Picture, Open<'static, Picture>> {
    let mut sets = Sets::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let carrier = Carrier::recognize(&File::open(&path).expect("a file")).expect("whole").expect("a carrier");
        sets.add(carrier.label, (path, carrier));
    }
    let mut sets = sets.into_sets();
    assert_eq!(sets.len(), 1);
    Reader::new(sets.remove(0), OPEN).expect("complete")
}

fn decode(format: Format, file: &[u8]) -> Pixels {
    match format {
        Format::Png => {
            let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a PNG");
            let mut samples = vec![0; reader.output_buffer_size().expect("a size")];
            let info = reader.next_frame(&mut samples).expect("pixels");
            reader.finish().expect("an end");
            assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
            Pixels { width: info.width, height: info.height, channels: Channels::Rgb, samples }
        }
        Format::WebP => {
            let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).expect("a WebP");
            let (width, height) = decoder.dimensions();
            assert!(!decoder.has_alpha() && !decoder.is_lossy());
            let mut samples = vec![0; decoder.output_buffer_size().expect("a size")];
            decoder.read_image(&mut samples).expect("pixels");
            Pixels { width, height, channels: Channels::Rgb, samples }
        }
    }
}

#[test]
fn the_first_rows_of_other_pictures_tell_nothing() {
    for (width, height) in [(1, 1), (1, 200), (5, 4), (40, 30)] {
        for (channels, shade) in [(Channels::Rgb, 200), (Channels::Gray, 0x89)] {
            let samples = vec![shade; width as usize * height as usize * channels.count()];
            let pixels = Pixels { width, height, channels, samples };
            for format in BOTH {
                let mut file = Vec::new();
                // WebP has no gray.
                let pixels = if format == Format::WebP { pixels.clone().into_rgb() } else { pixels.clone() };
                deadpan_picture::write(&pixels, format, Compression::Fast, 1, &mut file).expect("written");
                let found = rewritten(Cursor::new(&file), &Limits::default()).expect("a picture");
                assert_eq!(found, None, "{format:?} {width} × {height}");
            }
        }
    }
}

/// Writes data, reads the data again, and compares: once reads at constant offsets, and once reads from the pixels that
/// other decoders return.
fn round_trip(format: Format, width: u32, height: u32, total: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let (layout, bytes) = (Layout::new(format, width, height).expect("a layout"), bytes(total));
    let what = format!("{format:?} {width} × {height}, {total} bytes");
    let labels = write(folder.path(), layout, &bytes, 0);
    assert_eq!(Some(labels.len() as u32), layout.pictures(total as u64), "{what}");
    assert_eq!(fs::metadata(path(folder.path(), 0)).expect("a file").len() == layout.file_length(), {
        let rows = (72 + u64::from(labels[0].length)).div_ceil(3 * u64::from(width));
        labels.len() > 1 || rows == u64::from(height)
    });

    let reader = reader(folder.path());
    assert_eq!(reader.length(), total as u64);
    let mut back = Vec::new();
    reader.stream().read_to_end(&mut back).expect("read");
    assert!(back == bytes, "{what}");
    assert!(reader.damaged().is_empty(), "{what}");

    for label in labels {
        let file = fs::read(path(folder.path(), label.index)).expect("a file");
        let pixels = decode(format, &file);
        assert_eq!(pixels.width, width, "{what}");
        assert_eq!(pixels.samples.len() as u32, pixels.width * pixels.height * 3, "{what}");
        let Finding::Carrier(found, order) = Finding::in_pixels(&pixels) else { panic!("{what}: no carrier") };
        let first = rewritten(Cursor::new(&file), &Limits::default()).expect("a picture");
        assert_eq!(first, Some((label, order)), "{what}: the first rows");
        assert_eq!(found, label, "{what}");
        let mut sets = Sets::new();
        // Each picture gets its own set, so that the set is complete.
        sets.add(Label { index: 0, count: 1, offset: 0, total: u64::from(label.length), ..label }, pixels);
        let open: Open<'_, Pixels> = &|pixels| Ok(Opened::Pixels(pixels.clone(), order));
        let reader = Reader::new(sets.into_sets().remove(0), open).expect("complete");
        let mut part = Vec::new();
        reader.stream().read_to_end(&mut part).expect("read");
        let offset = label.offset as usize;
        assert!(part == bytes[offset..offset + label.length as usize], "{what}");
        assert!(reader.damaged().is_empty(), "{what}");
    }
}

static GIVEN_BACK: AtomicUsize = AtomicUsize::new(0);

/// Decoded pictures are large, and the system would allocate new memory for each picture.
#[test]
fn the_memory_of_pictures_that_were_read_is_given_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let layout = Layout::new(Format::WebP, 64, 64).expect("a layout");
    let bytes = bytes(12 * layout.part() as usize);
    let labels = write(folder.path(), layout, &bytes, 0);
    let mut sets = Sets::new();
    for label in &labels {
        sets.add(*label, decode(Format::WebP, &fs::read(path(folder.path(), label.index)).expect("a file")));
    }
    let open: Open<'_, Pixels> = &|pixels| Ok(Opened::Pixels(pixels.clone(), SampleOrder::Reversed));
    let count = |memory: Vec<u8>| {
        assert_eq!(memory.len(), 3 * 64 * 64);
        GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
    };
    let reader = Reader::new(sets.into_sets().remove(0), open).expect("complete").giving_back(count);
    let mut back = Vec::new();
    reader.stream().read_to_end(&mut back).expect("read");
    assert!(back == bytes);
    // Up to four pictures stay open.
    let given_back = GIVEN_BACK.load(Ordering::Relaxed);
    assert!(labels.len() == 12 && (8..12).contains(&given_back), "{given_back} of {}", labels.len());
}

#[test]
fn data_of_every_length_come_back() {
    for format in BOTH {
        for (width, height) in [(46, 1), (1, 46), (2, 30), (5, 40), (16_383, 1), (1, 16_383), (100, 3), (64, 64)] {
            let part = Layout::new(format, width, height).expect("a layout").part() as usize;
            let row = 3 * width as usize;
            let mut lengths =
                vec![0, 1, 2, 3, 63, 64, 65, part - 1, part, part + 1, 2 * part - 1, 2 * part, 2 * part + 1];
            lengths.extend([row - 1, row, row + 1].map(|end| end.saturating_sub(72)));
            lengths.extend([2 * row - 1, 2 * row, 2 * row + 1].map(|end| end.saturating_sub(72)));
            lengths.sort_unstable();
            lengths.dedup();
            for total in lengths {
                round_trip(format, width, height, total);
            }
        }
    }
}

#[test]
fn data_around_the_borders_of_blocks_come_back() {
    for (width, height) in [(1, 16_383), (5, 5000), (1000, 66), (16_383, 3)] {
        let row = 3 * width as usize;
        let block = 65_535 / (row + 1) * row;
        for end in [block - 1, block, block + 1, block + row, 2 * block, 2 * block + 1] {
            round_trip(Format::Png, width, height, end.saturating_sub(72));
        }
    }
}

fn sets(folder: &Path) -> Sets<Picture> {
    let mut sets = Sets::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if let Ok(Some(carrier)) = Carrier::recognize(&File::open(&path).expect("a file")) {
            sets.add(carrier.label, (path, carrier));
        }
    }
    sets
}

fn recovering(folder: &Path) -> Result<Reader<Picture, Open<'static, Picture>>, Error> {
    Reader::recovering(sets(folder).into_sets().remove(0), OPEN, tempfile::tempfile)
}

pub fn read(reader: &Reader<Picture, Open<'_, Picture>>) -> Vec<u8> {
    let mut back = Vec::new();
    reader.stream().read_to_end(&mut back).expect("read");
    back
}

#[test]
fn writes_in_any_order_from_several_threads_make_the_same_files() {
    let bytes = bytes(3_000_000);
    for (format, width, height) in [(Format::Png, 300, 400), (Format::WebP, 301, 401), (Format::Png, 1, 16_383)] {
        let layout = Layout::new(format, width, height).expect("a layout");
        let bytes = &bytes[..if width == 1 { 150_000 } else { bytes.len() }];
        for step in [1000, 65_536, 999_999] {
            let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
            let labels = write(folders[0].path(), layout, bytes, 0);
            let writer = Writer::new(layout, create(folders[1].path())).expect("a layout");
            let chunks: Vec<_> = bytes.chunks(step).enumerate().collect();
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let (writer, chunks) = (&writer, &chunks);
                    scope.spawn(move || {
                        for (number, chunk) in chunks.iter().rev().filter(|(number, _)| number * 7 % 3 == thread) {
                            writer.write_all_at(chunk, (number * step) as u64).expect("written");
                        }
                    });
                }
            });
            assert_eq!(writer.finish([3; 16], 0).expect("finished").labels, labels);
            for label in labels {
                let [one, other] =
                    folders.each_ref().map(|folder| fs::read(path(folder.path(), label.index)).expect("a file"));
                assert!(one == other, "{format:?} {step}, picture {}", label.index);
            }
        }
    }
}

#[test]
fn bytes_that_are_left_out_or_written_twice_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let layout = Layout::new(Format::Png, 10, 10).expect("a layout");
    let writer = Writer::new(layout, create(folder.path())).expect("a layout");
    writer.write_all_at(&[1; 300], 0).expect("written");
    writer.write_all_at(&[1; 300], 301).expect("written");
    assert!(writer.write_all_at(&[1; 2], 299).is_err());
    assert!(writer.write_all_at(&[1], u64::MAX).is_err());
    assert!(matches!(writer.finish([3; 16], 0), Err(Error::Incomplete { position: 300 })));
}

#[test]
fn any_pictures_may_be_lost_as_many_as_there_are_spare_ones() {
    for format in BOTH {
        for (count, spares) in [(1, 1), (1, 3), (2, 1), (3, 2), (4, 3), (5, 2)] {
            let folder = tempfile::tempdir().expect("a folder");
            let layout = Layout::new(format, 20, 20).expect("a layout");
            let total = (count - 1) * layout.part() as usize + 77;
            let bytes = bytes(total);
            let labels = write(folder.path(), layout, &bytes, spares);
            assert_eq!(labels.len(), count + spares as usize);
            for lost in 0..1_u32 << labels.len() {
                let away = |index: u32| lost >> index & 1 == 1;
                let kept = tempfile::tempdir().expect("a folder");
                for label in labels.iter().filter(|label| !away(label.index)) {
                    fs::copy(path(folder.path(), label.index), path(kept.path(), label.index)).expect("copied");
                }
                let data = (lost & ((1 << count) - 1)).count_ones();
                if lost.count_ones() == labels.len() as u32 {
                    continue;
                }
                match (recovering(kept.path()), lost.count_ones() <= spares) {
                    (Ok(reader), true) => assert!(read(&reader) == bytes, "{format:?} {count} + {spares}, {lost:b}"),
                    (Ok(reader), false) => {
                        // Enough pictures are present, because only spare pictures are lost.
                        assert_eq!(data, 0);
                        assert!(read(&reader) == bytes);
                    }
                    (Err(Error::MissingPictures { .. }), false) => assert!(data > 0),
                    (Err(error), _) => panic!("{format:?} {count} + {spares}, {lost:b}: {error}"),
                }
            }
        }
    }
}

#[test]
fn flipped_bytes_are_named_and_spare_pictures_replace_them() {
    for format in BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let layout = Layout::new(format, 30, 30).expect("a layout");
        let bytes = bytes(10_000);
        write(folder.path(), layout, &bytes, 2);
        let flipped = path(folder.path(), 2);
        let mut file = fs::read(&flipped).expect("a file");
        file[1000] ^= 4;
        fs::write(&flipped, file).expect("written");
        // Check for damage twice: before the data are read, and after the data were read.
        for read in [false, true] {
            let reader = reader(folder.path());
            if read {
                io::copy(&mut reader.stream(), &mut io::sink()).expect("read");
            }
            let damaged = reader.damaged();
            assert_eq!(damaged.iter().map(|damage| damage.index).collect::<Vec<_>>(), [2]);
        }
        fs::remove_file(path(folder.path(), 0)).expect("removed");
        let reader = recovering(folder.path()).expect("recovered");
        assert_eq!(reader.rejected().iter().map(|(index, _)| *index).collect::<Vec<_>>(), [2]);
        assert!(self::read(&reader) == bytes);
        fs::remove_file(path(folder.path(), 1)).expect("removed");
        assert!(matches!(recovering(folder.path()), Err(Error::MissingPictures { missing: 3, spares: 2, .. })));
    }
}

#[test]
fn a_copy_takes_the_place_of_a_damaged_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = bytes(5000);
    write(folder.path(), Layout::new(Format::Png, 30, 30).expect("a layout"), &bytes, 0);
    fs::copy(path(folder.path(), 1), folder.path().join("copy")).expect("copied");
    let mut set = sets(folder.path()).into_sets().remove(0);
    assert_eq!(set.doubled().map(|(label, copies)| (label.index, copies.len())).collect::<Vec<_>>(), [(1, 2)]);
    assert!(set.reject(1).is_some() && set.is_complete());
    assert!(read(&Reader::new(set.clone(), OPEN).expect("complete")) == bytes);
    assert!(set.reject(1).is_some() && !set.is_complete());
    assert_eq!(set.missing().next(), Some(1..2));
    assert_eq!(set.missing().count(), 1);
    assert!(set.reject(1).is_none());
}

#[test]
fn several_sets_in_a_folder_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let layout = Layout::new(Format::WebP, 30, 30).expect("a layout");
    for (set, first) in [(1, 0), (2, 100)] {
        let writer = Writer::new(layout, |index| create(folder.path())(first + index)).expect("a layout");
        writer.write_all_at(&bytes(6000)[set..], 0).expect("written");
        writer.finish([set as u8; 16], 0).expect("finished");
    }
    let sets = sets(folder.path()).into_sets();
    assert_eq!(sets.len(), 2);
    for set in sets {
        let from = usize::from(set.id()[0]);
        assert!(read(&Reader::new(set, OPEN).expect("complete")) == bytes(6000)[from..]);
    }
}

#[test]
fn cut_files_and_damaged_labels_are_errors() {
    for format in BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), Layout::new(format, 30, 30).expect("a layout"), &bytes(500), 0);
        let whole = fs::read(path(folder.path(), 0)).expect("a file");
        let recognize = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(bytes).expect("written");
            Carrier::recognize(&file)
        };
        assert!(matches!(recognize(&whole), Ok(Some(_))));
        for length in 0..whole.len() {
            match recognize(&whole[..length]) {
                Ok(None) => assert!(length < 80, "{length}"),
                Err(Error::Cut(_)) => assert!(length >= 50, "{length}"),
                other => panic!("{length}: {other:?}"),
            }
        }
        let longer = [&whole[..], &[0]].concat();
        assert!(matches!(recognize(&longer), Ok(None)));
        for at in 0..whole.len().min(130) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            match recognize(&flipped) {
                Ok(None) | Err(Error::Label | Error::Cut(_)) => {}
                Ok(Some(_)) => assert!(at > 110, "{at}"),
                Err(error) => panic!("{at}: {error}"),
            }
        }
    }
}
