//! A headless Chromium, where there is one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The browser's program.
pub fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.is_file())
}

fn run(browser: &Path, page: &Path, arguments: &[&str]) -> Vec<u8> {
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(page)
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// What a browser says of a page's widths, in its own pixels.
pub struct Widths {
    pub inner: u32,
    pub scroll: u32,
    /// Of all text in charts that shows.
    pub smallest_letters: f64,
}

/// Desktop windows are not narrower than about 500 pixels, so the page stands in a frame of the wanted width.
pub fn widths(browser: &Path, page: &Path, width: u32) -> Widths {
    let probe = "<script>addEventListener('load',()=>{document.querySelectorAll('details').forEach(d=>d.open=true);\
        let least=99;document.querySelectorAll('.chart text').forEach(t=>{const s=t.ownerSVGElement,\
        k=s.getBoundingClientRect().width/s.viewBox.baseVal.width;if(k>0)\
        least=Math.min(least,k*parseFloat(getComputedStyle(t).fontSize))});\
        parent.postMessage([innerWidth,document.documentElement.scrollWidth,least].join(' '),'*')})</script></body>";
    let inner = page.with_extension(format!("{width}.probe.html"));
    fs::write(&inner, fs::read_to_string(page).unwrap().replace("</body>", probe)).unwrap();
    let name = inner.file_name().unwrap().to_str().unwrap();
    let outer = page.with_extension(format!("{width}.frame.html"));
    let frame = format!(
        "<!doctype html><title>waiting</title><script>onmessage=e=>document.title=e.data</script>\
         <iframe src=\"{name}\" style=\"border:0;width:{width}px;height:900px\"></iframe>"
    );
    fs::write(&outer, frame).unwrap();
    let dom = String::from_utf8(run(browser, &outer, &["--window-size=1400,1000", "--virtual-time-budget=20000", "--dump-dom"])).unwrap();
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default();
    let numbers: Vec<f64> = title.split(' ').map(|word| word.parse().unwrap_or_else(|_| panic!("the page answered {title:?}"))).collect();
    Widths { inner: numbers[0] as u32, scroll: numbers[1] as u32, smallest_letters: numbers[2] }
}

/// Takes a picture of the page's top; how many colours it has.
pub fn screenshot(browser: &Path, page: &Path, width: u32, to: &Path) -> usize {
    let (size, file) = (format!("--window-size={width},1600"), format!("--screenshot={}", to.display()));
    run(browser, page, &[&size, &file, "--virtual-time-budget=5000"]);
    let mut colours = colours(&fs::read(to).unwrap());
    colours.sort_unstable();
    colours.dedup();
    colours.len()
}

/// The colours of a PNG's pixels.
pub fn colours(bytes: &[u8]) -> Vec<[u8; 3]> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let step = reader.next_frame(&mut data).unwrap().color_type.samples();
    data.chunks_exact(step).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}
