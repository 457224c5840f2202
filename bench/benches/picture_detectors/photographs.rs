//! Cover pictures from a folder of real photographs.

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use deadpan_picture::{Limits, Orientation, Pixels, read};

/// The largest size of a cover. A larger photograph is cut into several covers.
const SIZE: (usize, usize) = (640, 480);

/// Reads all pictures of a folder, in the order of their names, and cuts them into covers.
pub fn covers(folder: &Path) -> Result<Vec<Pixels>, Box<dyn Error>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut covers = Vec::new();
    for path in paths {
        let file = BufReader::new(File::open(&path)?);
        let photograph = read(file, Orientation::Ignore, &Limits::default());
        let photograph = photograph.map_err(|error| format!("{}: {error}", path.display()))?;
        covers.extend(cut(&photograph.pixels));
    }
    Ok(covers)
}

fn cut(photograph: &Pixels) -> Vec<Pixels> {
    let (width, height) = (photograph.width as usize, photograph.height as usize);
    let (columns, rows) = (width.div_ceil(SIZE.0), height.div_ceil(SIZE.1));
    let channels = photograph.channels.count();
    let (piece_width, piece_height) = (width / columns, height / rows);
    let piece = |at: usize| {
        let (left, top) = (at % columns * piece_width, at / columns * piece_height);
        let row = |y: usize| &photograph.samples[((top + y) * width + left) * channels..][..piece_width * channels];
        Pixels {
            width: piece_width as u32,
            height: piece_height as u32,
            channels: photograph.channels,
            samples: (0..piece_height).flat_map(row).copied().collect(),
        }
    };
    (0..columns * rows).map(piece).collect()
}
