//! Writes the pictures of docs/results/pictures.md: a cover, the same cover with data, and the difference of both:
//! `cargo run -p deadpan-picture --example difference -- docs/results/pictures`.

#[path = "covers/photograph/mod.rs"]
mod photograph;

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;

use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
use deadpan_picture::{Compression, Format, Label, analysis, write};

/// The seed of the generated picture that serves as the cover.
const SEED: u64 = 96;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: difference FOLDER")?;
    fs::create_dir_all(&folder)?;
    let cover = photograph::photograph(240, 180, SEED);
    assert!(!photograph::Camera::new(SEED).overexposed, "the cover has white areas");
    let bits = Bits::new(2).ok_or("two bits")?;
    let hiding =
        Hiding { bits, order: Order::Keyed, set_key: [2; 32], doors: vec![Secret::recipient(b"a public key")] };
    let room = template::capacity(cover.samples.len() as u64, bits, hiding.doors.len());
    let part = vec![0; room as usize]; // The mask makes it random.
    let length = room as u32;
    let label = Label { set: [1; 16], index: 0, count: 1, spares: 0, length, offset: 0, total: room, checksum: 0 };
    let mut result = cover.clone();
    template::embed(&mut result, &label, &part, &hiding, &Seed::random()?, 1)?;
    let difference = analysis::difference(&cover, &result, 48)?;
    for (name, picture) in [("cover", &cover), ("result", &result), ("difference", &difference)] {
        let path = Path::new(&folder).join(name).with_extension("png");
        write(picture, Format::Png, Compression::Fast, 1, &mut File::create(path)?)?;
    }
    Ok(())
}
