//! Writes PNG.
//!
//! The rows are cut into bands. Each band is one `IDAT` chunk. The deflate blocks of a band end at a byte border and
//! refer to no other band, so several threads can compress a picture.

mod band;
pub(crate) mod code;
mod pack;

use std::io::Write;

use super::Compression;
use crate::adler::Adler;
use crate::{Channels, Error, Pixels};
use band::BandEncoder;

/// The approximate number of bytes of the rows in a band. This number of bytes fits into the cache of a CPU core.
const BAND: usize = 1 << 19;

/// Returns the number of rows in a band, if each row has `row` bytes.
pub(crate) fn rows_of_band(row: usize) -> usize {
    (BAND / (row + 1)).max(1)
}

pub(super) fn write(
    pixels: &Pixels,
    compression: Compression,
    threads: usize,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let row = pixels.width as usize * pixels.channels.count();
    let rows = rows_of_band(row);
    let mut bands: Vec<_> = (0..threads.max(1)).map(|_| BandEncoder::new(compression, row)).collect();
    let color = match pixels.channels {
        Channels::Gray => 0,
        Channels::Rgb => 2,
    };
    let mut header = [0; 13];
    header[..4].copy_from_slice(&pixels.width.to_be_bytes());
    header[4..8].copy_from_slice(&pixels.height.to_be_bytes());
    header[8..].copy_from_slice(&[8, color, 0, 0, 0]);
    put(out, b"\x89PNG\r\n\x1a\n")?;
    put_chunk(out, b"IHDR", &header)?;

    let count = (pixels.height as usize).div_ceil(rows);
    let mut adler = Adler::default();
    for first in (0..count).step_by(bands.len()) {
        let now = bands.len().min(count - first);
        let task = |band: &mut BandEncoder, at: usize| {
            let samples = &pixels.samples[at * rows * row..((at + 1) * rows * row).min(pixels.samples.len())];
            let above = if at == 0 { None } else { Some(&pixels.samples[(at * rows - 1) * row..at * rows * row]) };
            band.compress(above, samples, at + 1 == count);
        };
        match &mut bands[..now] {
            [band] => task(band, first),
            bands => std::thread::scope(|scope| {
                for (at, band) in (first..).zip(bands) {
                    scope.spawn(move || task(band, at));
                }
            }),
        }
        for (at, band) in (first..).zip(&mut bands[..now]) {
            adler = adler.then(band.adler);
            if at + 1 == count {
                band.data.extend(adler.sum().to_be_bytes());
            }
            let head: &[u8] = if at == 0 { &[0x78, 0x01] } else { &[] };
            put_pieces(out, b"IDAT", &[head, &band.data])?;
        }
    }
    put_chunk(out, b"IEND", &[])
}

fn put_chunk(out: &mut dyn Write, name: &[u8; 4], data: &[u8]) -> Result<(), Error> {
    put_pieces(out, name, &[data])
}

fn put_pieces(out: &mut dyn Write, name: &[u8; 4], pieces: &[&[u8]]) -> Result<(), Error> {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    // The limit of the width keeps a band below 2³¹ bytes.
    let length = u32::try_from(length).map_err(|error| Error::Write(std::io::Error::other(error)))?;
    put(out, &length.to_be_bytes())?;
    put(out, name)?;
    let mut sum = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32IsoHdlc);
    sum.update(name);
    for piece in pieces {
        sum.update(piece);
        put(out, piece)?;
    }
    put(out, &(sum.finalize() as u32).to_be_bytes())
}

fn put(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Error> {
    out.write_all(bytes).map_err(Error::Write)
}
