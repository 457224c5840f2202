//! Packs a folder into a file: `cargo run --release --example pack -- FOLDER PACK`.

use deadpan_pack::{Options, Packer, Work, pack_file};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), Some(pack)) = (arguments.next(), arguments.next()) else { return Err("FOLDER PACK".into()) };
    let packer = Packer::new(Path::new(&folder), b"folder", Options::default())?;
    let packer = pack_file(packer, &std::fs::File::create(pack)?, &Work::default())?;
    println!("{} entries, {} bytes in files", packer.entries(), packer.size());
    for note in packer.notes().list() {
        println!("note: {note}");
    }
    Ok(())
}
