//! Reports: whole, safe to open, readable on a phone.
#![cfg(feature = "report")]

#[path = "data/browser.rs"]
mod browser;
#[path = "data/sample.rs"]
mod sample;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use deadpan_lab::record::{Class, Histogram, Interval, Record, Verdict};
use deadpan_lab::report::{self, Detail};

/// A folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_page_holds_everything_and_fetches_nothing() {
    let page = report::html_with_history(&sample::full(), &sample::earlier());
    for part in ["timing", "speed", "comparisons", "baselines", "calibration", "selftest", "guide", "target-1", "target-6"] {
        assert!(page.contains(&format!("id=\"{part}\"")), "{part}");
        assert_eq!(page.matches(&format!("id=\"{part}\"")).count(), 1, "{part}");
    }
    for foreign in ["http://", "https://", "<script", "<link", "<img", "<iframe", "@import", "url(", "src="] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("What is not claimed"));
    for verdict in ["NO_LEAK_ABOVE", "LEAK", "BELOW_THRESHOLD", "INCONCLUSIVE", "INVALID", "UNMEASURABLE"] {
        assert!(page.contains(verdict), "{verdict}");
    }
    assert!(!page.to_lowercase().contains("constant-time"));
    assert!(!page.contains("NaN") && !page.contains(">inf"));
}

#[test]
fn every_link_leads_somewhere() {
    let page = report::html(&sample::full());
    for link in page.split("href=\"#").skip(1) {
        let place = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{place}\"")), "{place}");
    }
}

#[test]
fn every_tag_is_closed() {
    for record in [sample::full(), sample::bare(), Record::default()] {
        let page = report::html(&record);
        let body = &page[page.find("</style>").unwrap()..];
        let mut open = vec!["html", "head", "style"];
        for piece in body.split('<').skip(1) {
            let inside = &piece[..piece.find('>').expect("a tag ends")];
            if inside.ends_with('/') {
                continue;
            }
            let name = inside.split([' ', '\n']).next().unwrap();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{inside}"),
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn strings_of_the_record_stay_strings() {
    let evil = "<script>alert('\"&\u{1b}')</script>";
    let mut record = sample::full();
    record.command = evil.into();
    record.tool.name = evil.into();
    record.timing[0].target = evil.into();
    record.timing[0].classes[0].name = evil.into();
    record.timing[0].pairs[0].a = evil.into();
    record.timing[4].pairs[0].reason = evil.into();
    record.timing[1].trace.as_mut().unwrap().divergence = Some(evil.into());
    record.speed[0].target = evil.into();
    record.comparisons[0].a.name = evil.into();
    record.baselines[0].name = evil.into();
    record.selftest[0].detail = evil.into();
    let page = report::html(&record);
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    for chart in report::charts(&record, &[], Detail::Full) {
        assert!(!chart.svg().contains("<script"), "{}", chart.name);
        assert!(chart.name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-')), "{}", chart.name);
    }
}

#[test]
fn records_with_holes_give_pages_too() {
    let mut record = sample::full();
    for timing in &mut record.timing {
        timing.trace = None;
        for pair in &mut timing.pairs {
            pair.bound_ns = f64::INFINITY;
            pair.mde_ns = f64::NAN;
            pair.funnel.clear();
            pair.series = vec![f64::NAN; 3];
            pair.effects
                .iter_mut()
                .for_each(|effect| effect.difference = Interval { lower: f64::NEG_INFINITY, estimate: 0.0, upper: f64::INFINITY });
        }
        timing.classes.push(Class {
            name: "empty".into(),
            samples: 0,
            quantiles: vec![],
            histogram: Histogram::default(),
            estimates: None,
        });
    }
    record.timing[1].pairs.clear();
    record.timing[2].classes.clear();
    for chart in report::charts(&record, &[], Detail::Full) {
        assert!(!chart.svg().contains("NaN") && !chart.svg().contains("inf"), "{}", chart.name);
        chart.png().unwrap();
    }
    assert!(report::html(&record).contains("</html>"));
}

#[test]
fn a_large_record_stays_light() {
    let page = report::html(&sample::large());
    fs::write(folder("large").join("page.html"), &page).unwrap();
    assert!(page.len() < 6_000_000, "{}", page.len());
}

#[test]
fn the_markdown_page_has_its_pictures_beside_it() {
    let folder = folder("markdown");
    report::markdown(&sample::full(), &folder).unwrap();
    let text = fs::read_to_string(folder.join("report.md")).unwrap();
    let mut linked = HashSet::new();
    for link in text.split("](").skip(1) {
        let name = link.split(')').next().unwrap();
        check_png(&folder.join(name));
        linked.insert(name.to_owned());
    }
    for name in [
        "security.base64.encoding.all.violin.png",
        "security.ct.early-exit.first-byte-wrong-last-byte-wrong.quantiles.png",
        "speed.base64.all.throughput.png",
        "security.calibration.power.png",
    ] {
        assert!(linked.contains(name), "{name} {linked:?}");
    }
    assert!(!text.contains("<script"));
}

#[test]
fn a_page_holds_as_much_as_it_is_asked_for() {
    let record = sample::full();
    let page = |detail, name| {
        let folder = folder(name);
        report::markdown_as(&record, &[], &folder, "report.md", detail).unwrap();
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let pictures: HashSet<String> = names.filter(|name| name.ends_with(".png")).collect();
        (fs::read_to_string(folder.join("report.md")).unwrap(), pictures)
    };
    let [full, main, brief] =
        [(Detail::Full, "full"), (Detail::Main, "main"), (Detail::Brief, "brief")].map(|(detail, name)| page(detail, name));
    let guide = brief.0.matches("\n### ").count();
    let targets = |text: &str| text.matches("\n### ").count() - guide;
    assert_eq!([targets(&full.0), targets(&main.0), targets(&brief.0)], [record.timing.len(), record.timing.len(), 0]);
    assert!(full.0.len() > main.0.len() && main.0.len() > 2 * brief.0.len(), "{} {} {}", full.0.len(), main.0.len(), brief.0.len());
    assert!(full.1.is_superset(&main.1) && main.1.is_superset(&brief.1));
    // Where nothing was found there is nothing to see; where something was, there is.
    let [quiet, leaky] = ["base64.encoding.all.violin.png", "ct.early-exit.first-byte-wrong-last-byte-wrong.quantiles.png"];
    let has = |pictures: &HashSet<String>, name: &str| pictures.contains(&format!("security.{name}"));
    assert!(has(&full.1, quiet) && !has(&main.1, quiet) && has(&main.1, leaky) && !has(&brief.1, leaky));
    assert!(brief.1.contains("security.calibration.power.png"));
    // The whole folder may hold pictures that its page has no place for; a small one may not.
    for (text, pictures) in [&main, &brief] {
        assert!(pictures.iter().all(|name| text.contains(&format!("]({name})"))), "{pictures:?}");
    }
    // One row for each target, and a reason for each pair that is not on the side of no leak.
    for timing in &record.timing {
        assert!(brief.0.contains(&format!("| {} | **", timing.target.replace('_', "\\_"))), "{}", timing.target);
    }
    let open = record.timing.iter().flat_map(|timing| &timing.pairs).filter(|pair| pair.verdict != Verdict::NoLeakAbove).count();
    assert!(
        open > 0
            && brief.0.lines().filter(|line| line.starts_with("- ") && !line.starts_with("- **") && line.contains(" against ")).count()
                == open
    );
}

fn check_png(path: &Path) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert!(bytes.len() < 24_000, "{}: {}", path.display(), bytes.len());
    let mut colours = browser::colours(&bytes);
    colours.sort_unstable();
    colours.dedup();
    assert!(colours.len() > 3, "{} is blank", path.display());
}

#[test]
fn all_charts_have_names_of_their_own() {
    let mut record = sample::full();
    let mut again = record.timing[0].clone();
    again.length = 4096;
    record.timing.push(again);
    let charts = report::charts(&record, &sample::earlier(), Detail::Full);
    let names: HashSet<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(names.len(), charts.len());
    for name in [
        "security.base64.encoding.64-bytes.uppercase.regression",
        "security.base64.encoding.4096-bytes.uppercase.regression",
        "security.base64.decoding.all.density",
        "speed.base64.encoding.16-kib.regression",
        "speed.memcpy.baseline.history",
    ] {
        assert!(names.contains(name), "{name}");
    }
    let folder = folder("svg");
    for chart in &charts {
        let svg = chart.svg();
        assert!(svg.starts_with("<svg") && svg.contains("role=\"img\"") && svg.contains("<title>"));
        fs::write(folder.join(format!("{}.svg", chart.name)), svg).unwrap();
    }
}

#[test]
fn the_worst_verdict_comes_first() {
    let page = report::html(&sample::full());
    let summary = &page[page.find("id=\"timing\"").unwrap()..page.find("id=\"target-1\"").unwrap()];
    let rows: Vec<usize> = [2, 5, 4, 6, 3, 1].map(|target| summary.find(&format!("#target-{target}\"")).unwrap()).to_vec();
    assert!(rows.is_sorted(), "{rows:?}");
    assert!(Verdict::Leak > Verdict::Invalid);
}

#[test]
fn browsers_show_it_at_any_width() {
    let Some(browser) = browser::find() else {
        #[expect(clippy::print_stderr, reason = "what could not run is reported as skipped")]
        {
            eprintln!("skipped: no Chromium");
        }
        return;
    };
    let folder = folder("browser");
    let page = folder.join("page.html");
    fs::write(&page, report::html_with_history(&sample::full(), &sample::earlier())).unwrap();
    for width in [1280, 390] {
        let widths = browser::widths(&browser, &page, width);
        assert_eq!(widths.inner, width, "the window is as wide as asked for");
        assert!(widths.scroll <= widths.inner, "{} wide on {}", widths.scroll, widths.inner);
        assert!(widths.smallest_letters >= 11.0, "{}", widths.smallest_letters);
        let colours = browser::screenshot(&browser, &page, width, &folder.join(format!("{width}.png")));
        assert!(colours > 50, "the picture at {width} has {colours} colours");
    }
}
