//! Photographs of all kinds as covers, and pictures with data (carriers) that another program compressed again.

use std::io::Cursor;

use jpeg_encoder::{ColorType, Encoder};

use crate::photograph;
use crate::sandbox::Sandbox;
use deadpan_picture::{Channels, Compression, Format, Limits, Orientation, Pixels, read, write};

/// Returns a JPEG file of quality 90 with this orientation in EXIF.
fn jpeg(pixels: &Pixels, orientation: Option<u16>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, 90);
    if let Some(orientation) = orientation {
        let mut exif = b"II*\0\x08\0\0\0\x01\0".to_vec();
        for number in [0x0112, 3, 1, 0, orientation, 0, 0, 0] {
            exif.extend(number.to_le_bytes());
        }
        encoder.add_exif_metadata(&exif).unwrap();
    }
    let color = if pixels.channels == Channels::Gray { ColorType::Luma } else { ColorType::Rgb };
    encoder.encode(&pixels.samples, pixels.width as u16, pixels.height as u16, color).unwrap();
    file
}

fn lossless(pixels: &Pixels, format: Format) -> Vec<u8> {
    let mut file = Vec::new();
    // WebP has no gray.
    let pixels = if format == Format::WebP { pixels.clone().into_rgb() } else { pixels.clone() };
    write(&pixels, format, Compression::Fast, 1, &mut file).unwrap();
    file
}

/// Reads a picture, and turns it upright, as a viewer does.
fn upright(file: &[u8]) -> Pixels {
    read(Cursor::new(file), Orientation::Apply, &Limits::default()).unwrap().pixels
}

#[test]
fn every_kind_of_photograph_is_a_cover() {
    // The eleventh picture is gray.
    let [color, gray] = [1, 10].map(|seed| photograph::photograph(160, 110, seed));
    assert_eq!((color.channels, gray.channels), (Channels::Rgb, Channels::Gray));
    let mut covers = vec![
        ("photo.jpg", jpeg(&color, None)),
        ("gray.jpg", jpeg(&gray, None)),
        ("photo.png", lossless(&color, Format::Png)),
        ("gray.png", lossless(&gray, Format::Png)),
        ("photo.webp", lossless(&color, Format::WebP)),
        ("gray.webp", lossless(&gray, Format::WebP)),
        // A picture of 160 × 120 pixels, which `cwebp -q 85` made from a generated photograph.
        ("lossy.webp", include_bytes!("../data/lossy.webp").to_vec()),
    ];
    let names = ["turned-1.jpg", "turned-2.jpg", "turned-3.jpg", "turned-4.jpg", "turned-5.jpg", "turned-6.jpg"];
    covers.extend(names.into_iter().zip(1..).map(|(name, turned)| (name, jpeg(&color, Some(turned)))));
    covers.extend([("turned-7.jpg", jpeg(&color, Some(7))), ("turned-8.jpg", jpeg(&gray, Some(8)))]);

    let sandbox = Sandbox::with_key("ecc");
    let data: Vec<u8> = (0..1500_u32).map(|at| ((at * at) >> 3) as u8).collect();
    sandbox.write("data", &data);
    for (name, file) in covers {
        sandbox.write(name, &file);
        let cover = upright(&file);
        // EXIF orientations of 5 and more swap width and height.
        let swapped = name.strip_prefix("turned-").is_some_and(|number| number >= "5");
        assert_eq!(cover.width < cover.height, swapped, "{name}");
        for extension in ["png", "webp"] {
            let hidden = format!("{name}.{extension}");
            sandbox.run(&["picture", "hide", "-f", "--cover", name, "-o", &hidden, "data"]).expect(0, "in 1 picture");
            sandbox.run(&["picture", "reveal", "-f", "-o", "back", &hidden]).expect(0, "");
            assert!(sandbox.read("back") == data, "{hidden}");
            // The picture looks like the cover: it is upright, and each sample differs by at most 2.
            let result = upright(&sandbox.read(&hidden));
            assert_eq!((result.width, result.height), (cover.width, cover.height), "{hidden}");
            let cover = if result.channels == cover.channels {
                cover.samples.clone()
            } else {
                // WebP has no gray.
                cover.samples.iter().flat_map(|sample| [*sample; 3]).collect()
            };
            let most = cover.iter().zip(&result.samples).map(|(old, new)| old.abs_diff(*new)).max();
            assert_eq!((cover.len(), most), (result.samples.len(), Some(2)), "{hidden}");
        }
    }
}

#[test]
fn pictures_that_lost_their_data_are_named_and_others_are_revealed() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("data", vec![7; 9000]);
    sandbox.write("cover.png", lossless(&photograph::photograph(256, 192, 3), Format::Png));
    sandbox.shell("mkdir album").expect(0, "");
    sandbox.run(&["picture", "hide", "-o", "whole", "data"]).expect(0, "");
    sandbox.run(&["picture", "hide", "--cover", "cover.png", "-o", "template", "data"]).expect(0, "");
    // At first, all pictures in the album have lost their data.
    for name in ["whole", "template"] {
        let compressed = jpeg(&upright(&sandbox.read(&format!("{name}.png"))), None);
        sandbox.write(&format!("album/{name}.jpg"), compressed);
    }
    sandbox.write("album/photo.jpg", jpeg(&photograph::photograph(160, 110, 1), None));
    let run = sandbox.run(&["picture", "reveal", "-o", "back", "album"]);
    let said = run.stderr();
    assert_eq!(run.code(), Some(1), "{said}");
    assert!(said.contains("album/whole.jpg: written again with loss"), "{said}");
    assert!(!sandbox.names().contains(&"back".into()));
    // Then a picture that still has its data is added to the album, and `reveal` reveals these data.
    for name in ["whole.png", "template.png"] {
        sandbox.shell(&format!("cp {name} album")).expect(0, "");
        let run = sandbox.run(&["picture", "reveal", "-f", "-o", "back", "album"]);
        let said = run.stderr();
        assert_eq!(run.code(), Some(0), "{said}");
        assert!(said.contains("so their data are gone: album/whole.jpg\n"), "{said}");
        assert!(said.contains("which no data survive: album/photo.jpg, album/template.jpg\n"), "{said}");
        assert_eq!(sandbox.read("back"), [7; 9000]);
        sandbox.shell(&format!("rm album/{name} back")).expect(0, "");
    }
}

/// The differences between gray pictures are gray, but WebP has no gray pictures.
#[test]
fn gray_differences_are_drawn_in_both_formats() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("gray.png", lossless(&photograph::photograph(160, 110, 10), Format::Png));
    sandbox.write("data", [7; 900]);
    sandbox.run(&["picture", "hide", "--cover", "gray.png", "-o", "out", "data"]).expect(0, "");
    let drawn = ["png", "webp"].map(|ending| {
        let name = format!("drawn.{ending}");
        sandbox.run(&["picture", "compare", "--difference", &name, "gray.png", "out.png"]).expect(0, "");
        upright(&sandbox.read(&name))
    });
    let [png, webp] = drawn;
    assert!(png.channels == Channels::Gray && png.samples.iter().any(|sample| *sample > 0));
    assert!(png.into_rgb() == webp);
}

/// `capacity` and `hide` must compute the same capacity: if the data have one byte more, `hide` uses a cover twice.
#[test]
fn as_much_fits_as_capacity_says() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir album").expect(0, "");
    // The photographs with seeds 10 and 22 are gray.
    for (name, width, seed) in [("a", 200, 1), ("b", 210, 10), ("c", 190, 2), ("d", 150, 22)] {
        let photograph = photograph::photograph(width, 150, seed);
        assert_eq!(photograph.channels == Channels::Gray, seed >= 10);
        sandbox.write(&format!("album/{name}.png"), lossless(&photograph, Format::Png));
    }
    for (format, spares) in ["png", "webp"].into_iter().flat_map(|format| ["0", "1", "2", "3"].map(|n| (format, n))) {
        let options = ["--bits", "2", "--format", format, "--spare", spares];
        let run = sandbox.run(&[&["picture", "capacity"], &options[..], &["album"]].concat());
        let text = String::from_utf8(run.stdout().to_vec()).unwrap();
        let total = text.lines().find(|line| line.starts_with("total")).and_then(|line| line.split(' ').next_back());
        let total: usize = total.unwrap_or_else(|| panic!("{text}")).parse().unwrap();
        assert!(total > 0);
        for (length, again) in [(total, false), (total + 1, true)] {
            sandbox.write("data", vec![7; length]);
            // The data are found with keys. `capacity` assumes the same.
            let hide = ["picture", "hide", "--raw", "-r", "ecc", "-f", "--cover", "album", "-o", "out/x", "data"];
            sandbox.shell("rm -rf out; mkdir out").expect(0, "");
            let run = sandbox.run(&[&hide[..], &options].concat()).expect(0, "");
            assert_eq!(
                run.stderr().contains("carries 2 pictures"),
                again,
                "{format} {spares} {length}: {}",
                run.stderr()
            );
            let back = ["picture", "reveal", "--raw", "-f", "-o", "back", "out"];
            sandbox.run(&back).expect(0, "");
            assert!(sandbox.read("back") == vec![7; length]);
        }
    }
}

/// An earlier version of `capacity` read only the headers of covers, so it counted covers that `hide` refuses.
#[test]
fn capacity_refuses_the_covers_that_hide_refuses() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("data", [7; 90]);
    // A picture of 100 × 100 pixels, none of them opaque.
    sandbox.write("transparent.png", include_bytes!("../data/transparent.png"));
    let photograph = photograph::photograph(160, 110, 1);
    for (name, file) in [
        ("cut.png", lossless(&photograph, Format::Png)),
        ("cut.webp", lossless(&photograph, Format::WebP)),
        ("cut.jpg", jpeg(&photograph, None)),
    ] {
        sandbox.write(name, &file[..file.len() / 2]);
    }
    for name in ["transparent.png", "cut.png", "cut.webp", "cut.jpg"] {
        let hide = sandbox.run(&["picture", "hide", "--cover", name, "-o", "out.png", "data"]);
        let capacity = sandbox.run(&["picture", "capacity", name]);
        assert_eq!((capacity.code(), capacity.stderr()), (hide.code(), hide.stderr()));
        assert_eq!((capacity.code(), capacity.stdout()), (Some(1), &[][..]), "{name}");
        assert!(capacity.stderr().starts_with(&format!("error: {name}: ")), "{}", capacity.stderr());
    }
    // An ordinary PNG can be transparent, so the earlier hint to write an ordinary PNG did not help.
    for args in [&["hide", "-o", "out.png", "data", "--cover"][..], &["capacity"], &["compare", "transparent.png"]] {
        let run = sandbox.run(&[&["picture"], args, &["transparent.png"]].concat());
        assert!(run.stderr().ends_with("\nhint: write it again without transparency, with another program\n"));
    }
}
