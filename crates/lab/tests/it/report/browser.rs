//! Runs a headless Chromium, if Chromium is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Returns the path of the browser.
pub fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.is_file())
}

fn run(browser: &Path, page: &Path, arguments: &[&str]) -> Vec<u8> {
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(page)
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The measurements of a page in a browser, in CSS pixels.
pub struct Widths {
    /// The width of the window.
    pub inner: u32,
    /// The width of the page.
    pub scroll: u32,
    /// The smallest font size of the visible text in charts.
    pub smallest_letters: f64,
    /// The number of tables that a reader can scroll sideways and that have a visible line about scrolling above them.
    pub scrolling: usize,
    /// The number of tables that are wider than their box and have no shadow at the edge. In a narrow window, this
    /// number includes tables that are wider than their box but have no line about scrolling.
    pub cut: usize,
}

/// Measures the page in a window of this width. A desktop window cannot be narrower than about 500 pixels, so the
/// function shows the page in a frame of the given width.
pub fn widths(browser: &Path, page: &Path, width: u32) -> Widths {
    let probe = "<script>addEventListener('load',()=>{document.querySelectorAll('details').forEach(d=>d.open=true);\
        let least=99;document.querySelectorAll('.chart text').forEach(t=>{const s=t.ownerSVGElement,\
        k=s.getBoundingClientRect().width/s.viewBox.baseVal.width;if(k>0)\
        least=Math.min(least,k*parseFloat(getComputedStyle(t).fontSize))});\
        let told=0,cut=0;\
        document.querySelectorAll('table').forEach(t=>{const b=t.parentElement,s=getComputedStyle(b),\
        c=getComputedStyle(b,'::before');if(b.scrollWidth<=b.clientWidth)return;\
        const shade=s.overflowX==='auto'&&s.backgroundImage.includes('gradient'),\
        line=c.display==='block'&&c.content.includes('scroll');\
        if(shade&&line)told++;else if(!shade||innerWidth<560)cut++});\
        const wide=document.documentElement.scrollWidth;\
        parent.postMessage([innerWidth,wide,least,told,cut].join(' '),'*')})</script></body>";
    let inner = page.with_extension(format!("{width}.probe.html"));
    fs::write(&inner, fs::read_to_string(page).unwrap().replace("</body>", probe)).unwrap();
    let name = inner.file_name().unwrap().to_str().unwrap();
    let outer = page.with_extension(format!("{width}.frame.html"));
    let frame = format!(
        "<!doctype html><title>waiting</title><script>onmessage=e=>document.title=e.data</script>\
         <iframe src=\"{name}\" style=\"border:0;width:{width}px;height:900px\"></iframe>"
    );
    fs::write(&outer, frame).unwrap();
    let ask = || {
        let arguments = ["--window-size=1400,1000", "--virtual-time-budget=20000", "--dump-dom"];
        let dom = String::from_utf8(run(browser, &outer, &arguments)).unwrap();
        dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default().to_owned()
    };
    // On a busy machine, the browser may return the page before the frame has sent its measurements.
    let title = (0..20).map(|_| ask()).find(|title| title != "waiting").unwrap_or_default();
    let numbers: Vec<f64> =
        title.split(' ').map(|word| word.parse().unwrap_or_else(|_| panic!("the page answered {title:?}"))).collect();
    Widths {
        inner: numbers[0] as u32,
        scroll: numbers[1] as u32,
        smallest_letters: numbers[2],
        scrolling: numbers[3] as usize,
        cut: numbers[4] as usize,
    }
}

/// Takes a screenshot of the page's top, and returns the number of its colors.
pub fn screenshot(browser: &Path, page: &Path, width: u32, to: &Path) -> usize {
    let (size, file) = (format!("--window-size={width},1600"), format!("--screenshot={}", to.display()));
    run(browser, page, &[&size, &file, "--virtual-time-budget=5000"]);
    let mut colors = colors(&fs::read(to).unwrap());
    colors.sort_unstable();
    colors.dedup();
    colors.len()
}

pub fn colors(bytes: &[u8]) -> Vec<[u8; 3]> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let step = reader.next_frame(&mut data).unwrap().color_type.samples();
    data.chunks_exact(step).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}
