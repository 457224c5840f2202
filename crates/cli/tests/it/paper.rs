//! Pages with the words of a key: a reader of QR codes finds the text that `deadpan keys restore` takes.

use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

/// The pixels of a module.
const SCALE: usize = 3;

/// Draws the code in a page, from the rows of black modules in the SVG, and reads the drawing.
fn decoded(page: &str) -> String {
    let (_, svg) = page.split_once("<svg viewBox=\"0 0 ").expect("the page has a picture");
    let width: usize = svg.split(' ').next().unwrap().parse().unwrap();
    let (_, path) = svg.split_once("d=\"").unwrap();
    let (path, _) = path.split_once('"').unwrap();
    let mut black = vec![false; width * width];
    for row in path.split('z').filter(|row| !row.is_empty()) {
        let numbers: Vec<usize> =
            row.split(|character: char| !character.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
        let [x, y, length, 1, back] = numbers[..] else { panic!("a row is {row}") };
        assert_eq!(length, back);
        black[y * width + x..][..length].fill(true);
    }
    let is_white = |x: usize, y: usize| !black[y / SCALE * width + x / SCALE];
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(
            width * SCALE,
            width * SCALE,
            |x, y| {
                if is_white(x, y) { 255 } else { 0 }
            },
        );
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1);
    grids[0].decode().expect("the code can be read").1
}

#[test]
fn the_codes_on_pages_restore_keys_of_24_and_of_48_words() {
    for (args, words) in [(&["--mode", "ecc"][..], 24), (&["--mode", "pqc"], 48), (&["--sign"], 48)] {
        let sandbox = Sandbox::new();
        sandbox.run(&[&["keygen", "--no-passphrase", "-o", "a&<b>.key"], args].concat()).expect(0, "");
        sandbox.run(&["keys", "backup", "a&<b>.key", "--page", "p.html"]).expect(0, "wrote p.html");
        assert_eq!(sandbox.path("p.html").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let page = String::from_utf8(sandbox.read("p.html")).unwrap();
        assert!(page.contains("<h1>Private key a&amp;&lt;b&gt;.key</h1>") && !page.contains("<b>"));
        assert!(page.contains("content=\"default-src 'none';"));
        assert!(["http:", "https:", "src=", "href", "url(", "<script"].iter().all(|part| !page.contains(part)));
        assert_eq!(page.matches("<li>").count(), words);
        let text = decoded(&page);
        let printed = sandbox.run(&["keys", "backup", "a&<b>.key"]);
        assert_eq!(text.as_bytes(), printed.stdout());
        sandbox.run_with(&["keys", "restore", "./again.key", "--no-passphrase"], text.as_bytes()).expect(0, "");
        assert_eq!(sandbox.read("again.key"), sandbox.read("a&<b>.key"));
        // The words in the list are those of the code.
        let listed: Vec<_> = page.split("<li>").skip(1).filter_map(|item| item.split("</li>").next()).collect();
        let coded: Vec<_> = text.lines().skip(2).flat_map(str::split_whitespace).collect();
        assert_eq!(listed, coded);
    }
}

#[test]
fn the_codes_of_any_two_pages_restore_the_key() {
    for mode in ["hybrid", "pqc"] {
        let sandbox = Sandbox::with_key(mode);
        let name = mode;
        sandbox
            .run(&["keys", "backup", name, "--any", "2", "--of", "3", "--page", "x.html"])
            .expect(0, "wrote x-3.html");
        assert_eq!(sandbox.names(), ["x-1.html", "x-2.html", "x-3.html"]);
        let texts = [1, 2, 3].map(|number| {
            let page = String::from_utf8(sandbox.read(&format!("x-{number}.html"))).unwrap();
            assert!(page.contains(&format!("<title>Share {number} of 3 of the private key {name}</title>")));
            decoded(&page)
        });
        for (a, b) in [(0, 1), (2, 0), (1, 2)] {
            sandbox.write("a", &texts[a]);
            sandbox.write("b", &texts[b]);
            sandbox.run(&["keys", "restore", "./again.key", "a", "b", "--no-passphrase", "-q"]).expect(0, "");
            assert_eq!(sandbox.read("again.key"), sandbox.read(&format!("home/{name}.key")));
            for file in ["again.key", "again.pub"] {
                std::fs::remove_file(sandbox.path(file)).unwrap();
            }
        }
        // If one page cannot be written, none is.
        for page in ["x-1.html", "x-3.html"] {
            std::fs::remove_file(sandbox.path(page)).unwrap();
        }
        let again = ["keys", "backup", name, "--any", "2", "--of", "3", "--page", "x.html"];
        sandbox.run(&again).expect(2, "x-2.html exists already");
        assert_eq!(sandbox.names(), ["a", "b", "x-2.html"]);
    }
}
