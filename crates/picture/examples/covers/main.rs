//! Writes pictures that resemble photographs, for tests and measurements:
//! `cargo run -p deadpan-picture --example covers -- FOLDER COUNT WIDTH HEIGHT`.
#![allow(clippy::print_stdout)]

mod photograph;

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;

use deadpan_picture::{Compression, Format, write};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, numbers @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let numbers: Vec<u32> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let [count, width, height] = numbers[..] else { return Err(USAGE.into()) };
    if width == 0 || height == 0 {
        return Err("a picture has at least one pixel".into());
    }
    fs::create_dir_all(folder)?;
    for seed in 0..count {
        let path = Path::new(folder).join(format!("cover-{seed:03}.png"));
        let picture = photograph::photograph(width, height, seed.into());
        write(&picture, Format::Png, Compression::Fast, 1, &mut File::create(&path)?)?;
        println!("{}: {:?}", path.display(), photograph::Camera::new(seed.into()));
    }
    Ok(())
}

const USAGE: &str = "usage: covers FOLDER COUNT WIDTH HEIGHT";
