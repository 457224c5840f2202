//! For every kind of picture that this crate writes, other decoders return the same pixels as our decoder: libpng,
//! libwebp, ImageMagick, Pillow and Chromium. A decoder that is not installed is skipped, and the test prints a
//! message.
//!
//! `DEADPAN_PYTHON` is a Python that has Pillow; by default, the test tries `python3`.

use std::fs::{self, File};
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deadpan_picture::carrier::{Layout, Writer};
use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
use deadpan_picture::{Channels, Compression, Format, Label, Limits, Orientation, Pixels, read};

/// Picture sizes near the length of a stored block, with rows that end near the borders of pixels and of bytes.
const SIZES: [(u32, u32); 5] = [(25, 1), (7, 33), (64, 40), (301, 17), (1000, 50)];

fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn pictures(folder: &Path) -> Vec<(PathBuf, Format)> {
    let mut files = Vec::new();
    for (number, (width, height)) in SIZES.into_iter().enumerate() {
        for (format, extension) in [(Format::Png, "png"), (Format::WebP, "webp")] {
            let name = |kind: &str| folder.join(format!("{kind}-{number}.{extension}"));
            let layout = Layout::new(format, width, height).expect("a layout");
            if layout.part() > 0 {
                let file = name("carrier");
                let create = |_| File::options().read(true).write(true).create(true).truncate(true).open(&file);
                let writer = Writer::new(layout, create).expect("a writer");
                writer.stream().write_all(&noise(layout.part() as usize)).expect("written");
                writer.finish([7; 16], 0).expect("finished");
                files.push((file, format));
            }
            for channels in [Channels::Gray, Channels::Rgb] {
                let samples = noise(width as usize * height as usize * channels.count());
                let pixels = Pixels { width, height, channels, samples };
                // WebP has no gray, so three equal channels are written.
                let pixels = if format == Format::WebP { pixels.into_rgb() } else { pixels };
                let template = template(&pixels).map(|template| (template, "template"));
                for (pixels, kind) in [(pixels, "noise")].into_iter().chain(template) {
                    for compression in [Compression::Fast, Compression::Stored] {
                        let file = name(&format!("{kind}-{channels:?}-{compression:?}"));
                        let mut out = File::create(&file).expect("created");
                        deadpan_picture::write(&pixels, format, compression, 2, &mut out).expect("written");
                        files.push((file, format));
                    }
                }
            }
        }
    }
    files
}

/// Fills a smooth cover of the same size with data. Returns `None` if the cover has no room for data.
fn template(size: &Pixels) -> Option<Pixels> {
    let channels = size.channels.count();
    let row = size.width as usize * channels;
    let shade = |at: usize| 128.0 + 90.0 * ((at % row) as f32 / 37.0).sin() + 35.0 * ((at / row) as f32 / 5.0).cos();
    let samples = (0..size.samples.len()).map(|at| shade(at) as u8).collect();
    let mut pixels = Pixels { samples, ..size.clone() };
    let doors = vec![Secret::open()];
    let hiding = Hiding { bits: Bits::new(2)?, order: Order::Keyed, set_key: [2; 32], doors };
    let room = template::capacity(pixels.samples.len() as u64, hiding.bits, 1);
    let (set, length) = ([1; 16], room as u32);
    let label = Label { set, index: 0, count: 1, spares: 0, length, offset: 0, total: room, checksum: 0 };
    let part = noise(room as usize);
    template::embed(&mut pixels, &label, &part, &hiding, &Seed([4; 24]), 1).ok()?;
    Some(pixels).filter(|_| room > 0)
}

/// Reads a picture with this crate. A gray sample becomes three equal samples.
fn ours(file: &Path) -> Pixels {
    let bytes = fs::read(file).expect("a file");
    let pixels = read(Cursor::new(bytes), Orientation::Ignore, &Limits::default()).expect("a picture").pixels;
    pixels.into_rgb()
}

/// Reads a binary PPM or PGM.
fn netpbm(bytes: &[u8]) -> Pixels {
    let mut words = bytes.splitn(5, |byte| byte.is_ascii_whitespace());
    let mut word = || words.next().expect("a word");
    let (kind, width, height, most, samples) = (word(), word(), word(), word(), word());
    let number = |word: &[u8]| String::from_utf8_lossy(word).parse().expect("a number");
    assert_eq!(most, b"255");
    let channels = match kind {
        b"P5" => Channels::Gray,
        b"P6" => Channels::Rgb,
        _ => panic!("not a binary PPM or PGM"),
    };
    Pixels { width: number(width), height: number(height), channels, samples: samples.to_vec() }.into_rgb()
}

/// Runs a program that writes a PPM or PGM.
fn run(program: &str, arguments: &[&str], file: &Path) -> Pixels {
    let arguments =
        arguments.iter().map(|&argument| if argument == "FILE" { file.as_os_str() } else { argument.as_ref() });
    let output = Command::new(program).args(arguments).output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {}: {errors}", file.display());
    netpbm(&output.stdout)
}

fn says(program: &str, arguments: &[&str], word: &str) -> bool {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    output.is_ok_and(|output| {
        [output.stdout, output.stderr].iter().any(|text| String::from_utf8_lossy(text).contains(word))
    })
}

fn say(line: &str) {
    // `eprintln!` is not used, because the test harness would hide its output.
    let _ = writeln!(io::stderr(), "{line}");
}

fn compare(decoder: &str, found: bool, formats: &[Format], decode: impl Fn(&Path) -> Pixels) {
    if !found {
        return say(&format!("skipped: {decoder} is not installed"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut compared = 0;
    for (file, format) in pictures(folder.path()) {
        if formats.contains(&format) {
            let (ours, theirs) = (ours(&file), decode(&file));
            assert!(ours == theirs, "{decoder} sees other pixels in {}", file.display());
            compared += 1;
        }
    }
    // 4 carriers, 20 pictures with noise and 12 templates are compared in each format.
    assert!(compared >= 36 * formats.len(), "{compared}");
    say(&format!("{decoder}: {compared} pictures have the same pixels"));
}

const BOTH: [Format; 2] = [Format::Png, Format::WebP];

#[test]
fn libpng_sees_the_same_pixels() {
    let found = says("pngtopnm", &["-version"], "Netpbm") || says("pngtopnm", &["-version"], "libpng");
    compare("libpng (pngtopnm)", found, &[Format::Png], |file| run("pngtopnm", &["FILE"], file));
}

#[test]
fn libwebp_sees_the_same_pixels() {
    let found = says("dwebp", &["-version"], ".");
    compare("libwebp (dwebp)", found, &[Format::WebP], |file| {
        run("dwebp", &["-quiet", "FILE", "-ppm", "-o", "-"], file)
    });
}

/// The pictures from `cwebp` use all transforms, color caches, references and several groups of prefix codes.
#[test]
fn what_libwebp_writes_is_read() {
    if !says("cwebp", &["-version"], ".") {
        return say("skipped: libwebp (cwebp) is not installed");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (ppm, webp) = (folder.path().join("in.ppm"), folder.path().join("out.webp"));
    let scene = |x: u32, y: u32, channel: u32| {
        let (x, y, channel) = (f64::from(x), f64::from(y), f64::from(channel));
        (128.0 + 60.0 * (x / 17.0 + channel).sin() + 50.0 * (y / 13.0 - channel).cos()) as u8
    };
    let random = noise(3 << 16);
    let noise = |x: u32, y: u32, channel: u32| random[((x * 3 + y * 1021 + channel * 7919) % (3 << 16)) as usize];
    let kinds: [&dyn Fn(u32, u32, u32) -> u8; 6] = [
        &noise,
        &scene,
        &|x, y, channel| scene(x, y, channel).wrapping_add(noise(x, y, channel) / 32),
        &|x, y, channel| (noise(x / 7 % 5, y / 9 % 4, 0) & 7) * (30 + 3 * channel as u8),
        &|x, y, channel| if x < 60 { scene(x, y, channel) } else { noise(x, y % 11, 0) },
        &|x, y, _| u8::from(x * y % 7 < 2) * 200,
    ];
    let mut compared = 0;
    for (kind, sample) in kinds.iter().enumerate() {
        for (width, height) in [(1, 1), (3, 50), (127, 64), (600, 33)] {
            let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            let samples: Vec<u8> = pixels.flat_map(|(x, y)| (0..3).map(move |at| sample(x, y, at))).collect();
            let head = format!("P6\n{width} {height}\n255\n");
            fs::write(&ppm, [head.as_bytes(), &samples].concat()).expect("written");
            for options in [["-m", "0", "-q", "0"], ["-m", "4", "-q", "75"], ["-m", "6", "-q", "100"]] {
                let mut cwebp = Command::new("cwebp");
                cwebp.args(["-quiet", "-lossless"]).args(options).arg(&ppm).arg("-o").arg(&webp);
                assert!(cwebp.status().expect("the program starts").success());
                assert!(ours(&webp).samples == samples, "kind {kind}, {width} × {height}, {options:?}");
                compared += 1;
            }
        }
    }
    say(&format!("libwebp: {compared} pictures that it wrote have the same pixels"));
}

#[test]
fn imagemagick_sees_the_same_pixels() {
    let program = ["magick", "/usr/bin/convert", "convert"];
    let program = program.into_iter().find(|program| says(program, &["-version"], "Version: ImageMagick"));
    compare("ImageMagick", program.is_some(), &BOTH, |file| {
        run(program.expect("found"), &["FILE", "-depth", "8", "ppm:-"], file)
    });
}

#[test]
fn pillow_sees_the_same_pixels() {
    const SCRIPT: &str = "import sys; from PIL import Image; picture = Image.open(sys.argv[1]).convert('RGB'); \
        sys.stdout.buffer.write(b'P6\\n%d %d\\n255\\n' % picture.size + picture.tobytes())";
    let python = std::env::var("DEADPAN_PYTHON").unwrap_or_else(|_| "python3".into());
    let test = "from PIL import features; print('webp', features.check('webp'))";
    let found = says(&python, &["-c", test], "webp True");
    compare("Pillow", found, &BOTH, |file| run(&python, &["-c", SCRIPT, "FILE"], file));
}

/// A page draws each picture on a canvas, and writes the pixels into the document as hexadecimal numbers.
#[test]
fn chromium_sees_the_same_pixels() {
    let browser = ["chromium", "chromium-browser", "google-chrome"];
    let Some(browser) = browser.into_iter().find(|browser| says(browser, &["--version"], "Chrom")) else {
        return say("skipped: Chromium is not installed");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let files = pictures(folder.path());
    let mut page = String::from("<!doctype html><pre id=out></pre>");
    for (file, format) in &files {
        let kind = if *format == Format::Png { "png" } else { "webp" };
        page += &format!("<img src='data:image/{kind};base64,{}'>", base64(&fs::read(file).expect("a file")));
    }
    page += "<script>addEventListener('load',()=>{const out=document.getElementById('out');\
        [...document.images].forEach((image,at)=>{const width=image.naturalWidth,height=image.naturalHeight,\
        canvas=document.createElement('canvas');canvas.width=width;canvas.height=height;\
        const context=canvas.getContext('2d');context.drawImage(image,0,0);\
        const data=context.getImageData(0,0,width,height).data;let text='';\
        for(let i=0;i<data.length;i++)if(i%4<3)text+=data[i].toString(16).padStart(2,'0');\
        out.append(`picture ${at} ${width} ${height} ${text}\\n`)});out.append('done')})</script>";
    let path = folder.path().join("page.html");
    fs::write(&path, page).expect("written");
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"])
        .args(["--dump-dom", "--force-color-profile=srgb"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(&path)
        .output()
        .expect("the browser starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("done</pre>"), "the page did not end: {}", String::from_utf8_lossy(&output.stderr));
    let mut compared = 0;
    for line in text.lines().filter_map(|line| line.split_once("picture ").map(|(_, line)| line)) {
        let words: Vec<&str> = line.split(' ').collect();
        let [at, width, height, samples] = *words else { continue };
        // The script of the page also contains the word `picture`, but no number after it.
        let Ok(at) = at.parse::<usize>() else { continue };
        let file = &files[at].0;
        let ours = ours(file);
        assert_eq!((ours.width.to_string(), ours.height.to_string()), (width.to_owned(), height.to_owned()));
        let hex: String = ours.samples.iter().map(|sample| format!("{sample:02x}")).collect();
        assert!(hex == samples, "Chromium sees other pixels in {}", file.display());
        compared += 1;
    }
    assert_eq!(compared, files.len());
    say(&format!("Chromium: {compared} pictures have the same pixels"));
}

fn base64(bytes: &[u8]) -> String {
    const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        for at in 0..4 {
            text.push(if at <= group.len() { SYMBOLS[bits >> (18 - 6 * at) & 63] as char } else { '=' });
        }
    }
    text
}
