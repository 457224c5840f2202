//! Forged pictures that look like pictures with data. The search for hidden data returns only values within their
//! limits, and all data that it finds can be read. The authentication codes of doors (sealed labels) and the checksums
//! are correct, so that the library examines the contents.
//!
//! Input: the number of the test. The next bytes depend on the kind. For a template, they are its samples and the
//! contents of a sealed label. For a carrier, they are its label, its size and changes to the file. For pixels, they
//! are a label.
#![no_main]

use std::io::{self, Read, Seek, Write};

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::{Input, change};
use deadpan_picture::carrier::{Carrier, Finding, Layout, SampleOrder, Writer};
use deadpan_picture::template::{self, Secret, Seed};
use deadpan_picture::{Channels, Format, LABEL, Label, Opened, Pixels, checksum};

const MAGIC: [u8; 8] = *b"\x89DPNPIC\x01";
/// The length of a carrier's header. The header contains the magic bytes, the label, and a checksum of both.
const HEADER: usize = MAGIC.len() + LABEL + 8;
/// The length of the contents of a door (a sealed label), and the length of a whole door with its authentication code.
const CONTENTS: usize = 96;
const DOOR: usize = CONTENTS + 8;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    match input.byte() % 3 {
        0 => a_template(input),
        1 => a_carrier(input),
        _ => pixels_of_a_carrier(input),
    }
});

fn a_template(mut input: Input<'_>) {
    let (kind, length) = (input.byte(), input.word() % 10_000);
    let (door, channels) = (usize::from(kind >> 1 & 3), if kind & 1 == 0 { Channels::Gray } else { Channels::Rgb });
    let mut samples: Vec<u8> = (0..length).map(|at| (at * 37 + usize::from(kind)) as u8).collect();

    let (seed, contents) = ([kind; 24], std::array::from_fn(|_| input.byte()));
    let (secret, bytes) = match door {
        0 => (Secret::set(&[0; 32]), blake3::derive_key("deadpan picture set 1", &[0; 32])),
        _ => (Secret::open(), [0; 32]),
    };
    let mut put = |bytes: &[u8], line: usize| {
        for (at, sample) in samples.iter_mut().skip(line * 64).take(bytes.len() * 8).enumerate() {
            *sample = *sample & !1 | bytes[at / 8] >> (at % 8) & 1;
        }
    };
    put(&seed, 0);
    put(&seal(&bytes, &seed, &contents), 3 + 13 * door);

    let rows = if channels == Channels::Gray { 1 } else { 3 };
    samples.truncate(length / rows * rows);
    let pixels = Pixels { width: (length / rows) as u32, height: 1, channels, samples };
    let secrets = [Secret::recipient(b"key"), secret];
    let Some(found) = template::find(&pixels, &secrets) else { return };
    assert_eq!((found.secret, found.seed), (1, Seed(seed)));
    assert_eq!(Some(found.label), Label::from_bytes(contents[..LABEL].try_into().expect("a label")));
    assert!(found.doors > door && found.doors <= template::DOORS, "{found:?}");
    let room = template::capacity(pixels.samples.len() as u64, found.bits, found.doors - 1);
    assert!(u64::from(found.label.length) <= room, "{found:?}");
    let parts = [1, 3].map(|threads| {
        let mut part = vec![threads as u8; found.label.length as usize];
        template::extract(&pixels, &found, &mut part, threads);
        part
    });
    assert_eq!(parts[0], parts[1], "other bytes with three threads");
}

/// Seals the contents of a door (a sealed label), as docs/format-picture.md specifies.
fn seal(secret: &[u8; 32], seed: &[u8; 24], contents: &[u8; CONTENTS]) -> [u8; DOOR] {
    let mut stream = [0; CONTENTS + 32];
    blake3::Hasher::new_keyed(secret).update(b"deadpan picture door").update(seed).finalize_xof().fill(&mut stream);
    let (stream, key) = stream.split_first_chunk::<CONTENTS>().expect("a stream");
    let sealed: [u8; CONTENTS] = std::array::from_fn(|at| contents[at] ^ stream[at]);
    let code = blake3::keyed_hash(key.try_into().expect("a key"), &sealed);
    std::array::from_fn(|at| if at < CONTENTS { sealed[at] } else { code.as_bytes()[at - CONTENTS] })
}

/// Takes a label from the input. Returns a header with this label and the correct checksum.
fn header(input: &mut Input<'_>) -> [u8; HEADER] {
    let label: [u8; LABEL] = std::array::from_fn(|_| input.byte());
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..64].copy_from_slice(&label);
    let sum = checksum(&header[..64]);
    header[64..].copy_from_slice(&sum.to_be_bytes());
    header
}

fn a_carrier(mut input: Input<'_>) {
    let format = if input.byte() & 1 == 0 { Format::Png } else { Format::WebP };
    // If the picture is at least 24 pixels wide, the header lies in the first row, so the test can replace it.
    let (width, height) = (24 + u32::from(input.byte()), 2 + u32::from(input.byte()));
    let header = header(&mut input);
    let layout = Layout::new(format, width, height).expect("a size");
    let mut file = whole(layout).expect("written");
    let at = file.windows(8).position(|bytes| *bytes == MAGIC).expect("a header");
    file[at..at + HEADER].copy_from_slice(&header);
    change(&mut input, &mut file, 0, 64);

    let mut out = tempfile::tempfile().expect("a file");
    out.write_all(&file).expect("written");
    let Ok(Some(carrier)) = Carrier::recognize(&out) else { return };
    assert_eq!(carrier.layout.file_length(), file.len() as u64, "{carrier:?}");
    assert_eq!(Label::from_bytes(&carrier.label.to_bytes()), Some(carrier.label));
    let length = carrier.label.length;
    let digest = carrier.open(out).digest(length).expect("the part lies in the file");
    if length == 0 {
        assert_eq!(digest.checksum, checksum(&[]));
    }
}

fn whole(layout: Layout) -> io::Result<Vec<u8>> {
    let mut file = tempfile::tempfile()?;
    let writer = Writer::new(layout, |_| file.try_clone()).expect("a size that carries bytes");
    writer.write_all_at(&vec![0x5c; layout.part() as usize], 0)?;
    writer.finish([1; 16], 0).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn pixels_of_a_carrier(mut input: Input<'_>) {
    let (kind, width, height) = (input.byte(), u32::from(input.byte()), u32::from(input.byte()));
    let mut header = header(&mut input).to_vec();
    change(&mut input, &mut header, 8, 8);
    let order = if kind & 1 == 0 { SampleOrder::Rgb } else { SampleOrder::Reversed };
    let length = width as usize * height as usize * 3;
    header.resize(length.next_multiple_of(3), kind);
    let mut samples = header;
    if order == SampleOrder::Reversed {
        for pixel in samples.as_chunks_mut::<3>().0 {
            let [green, red, blue] = pixel.map(u8::reverse_bits);
            *pixel = [red, green, blue];
        }
    }
    let pixels = Pixels { width, height, channels: Channels::Rgb, samples };
    if let Finding::Carrier(label, found) = Finding::in_pixels(&pixels) {
        assert_eq!(found, order);
        assert_eq!(Label::from_bytes(&label.to_bytes()), Some(label));
        Opened::Pixels(pixels, found).digest(label.length).expect("the part lies in the pixels");
    }
}
