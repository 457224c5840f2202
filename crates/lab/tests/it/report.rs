//! Tests that reports are complete, load nothing from other sites, and fit on the screen of a phone.
#![cfg(feature = "report")]

mod browser;
mod sample;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use deadpan_lab::record::{Class, Histogram, Interval, Record, Trace, Verdict};
use deadpan_lab::report::{self, Detail};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_page_has_all_sections_and_loads_nothing_from_elsewhere() {
    let page = report::html_with_history(&sample::full(), &sample::earlier());
    for part in
        ["timing", "speed", "comparisons", "baselines", "calibration", "selftest", "guide", "target-1", "target-6"]
    {
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
fn every_link_has_a_target() {
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
fn markup_in_a_record_is_escaped() {
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
    let [html, markdown] = both_pages(&record, "markup");
    for page in [html, markdown] {
        assert!(page.contains("u{1b}") && !page.contains(|c: char| c.is_control() && c != '\n'), "{page}");
    }
    for chart in report::charts(&record, &[], Detail::Full) {
        assert!(!chart.svg().contains("<script"), "{}", chart.name);
        assert!(
            chart.name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-')),
            "{}",
            chart.name
        );
    }
}

#[test]
fn a_command_cannot_end_its_block_in_a_markdown_page() {
    let mut record = sample::full();
    record.command = "x\n```\n# INJECTED\n````".into();
    let [_, page] = both_pages(&record, "fence");
    let line = r"x\n```\n# INJECTED\n````";
    assert!(page.contains(&format!("\n`````sh\n{line}\n`````\n")), "{page}");
}

#[test]
fn records_with_missing_and_infinite_values_give_pages() {
    let mut record = sample::full();
    for timing in &mut record.timing {
        timing.trace = None;
        for pair in &mut timing.pairs {
            pair.bound_ns = f64::INFINITY;
            pair.mde_ns = f64::NAN;
            pair.funnel.clear();
            pair.series = vec![f64::NAN; 3];
            pair.effects.iter_mut().for_each(|effect| {
                effect.difference = Interval { lower: f64::NEG_INFINITY, estimate: 0.0, upper: f64::INFINITY }
            });
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
    }
    assert!(report::html(&record).contains("</html>"));
}

#[test]
fn the_page_of_ninety_targets_has_less_than_six_megabytes() {
    let page = report::html(&sample::large());
    fs::write(folder("large").join("page.html"), &page).unwrap();
    assert!(page.len() < 6_000_000, "{}", page.len());
}

#[test]
fn the_pictures_of_a_markdown_page_are_in_its_folder() {
    let folder = folder("markdown");
    report::markdown(&sample::full(), &folder).unwrap();
    let text = fs::read_to_string(folder.join("report.md")).unwrap();
    let mut linked = HashSet::new();
    for link in text.split("](").skip(1) {
        let name = link.split(')').next().unwrap();
        check_svg(&folder.join(name));
        linked.insert(name.to_owned());
    }
    for name in [
        "security.base64.encoding.all.violin.svg",
        "security.ct.early-exit.first-byte-wrong-last-byte-wrong.quantiles.svg",
        "speed.base64.all.throughput.svg",
        "security.calibration.power.svg",
    ] {
        assert!(linked.contains(name), "{name} {linked:?}");
    }
    assert!(!text.contains("<script"));
}

#[test]
fn the_detail_of_a_markdown_page_decides_its_sections_and_pictures() {
    let record = sample::full();
    let page = |detail, name| {
        let folder = folder(name);
        report::markdown_as(&record, &[], &folder, "report.md", detail).unwrap();
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let pictures: HashSet<String> = names.filter(|name| name.ends_with(".svg")).collect();
        (fs::read_to_string(folder.join("report.md")).unwrap(), pictures)
    };
    let [full, main, brief] = [(Detail::Full, "full"), (Detail::Main, "main"), (Detail::Brief, "brief")]
        .map(|(detail, name)| page(detail, name));
    let guide = brief.0.matches("\n### ").count();
    let targets = |text: &str| text.matches("\n### ").count() - guide;
    assert_eq!([targets(&full.0), targets(&main.0), targets(&brief.0)], [record.timing.len(), record.timing.len(), 0]);
    assert!(
        full.0.len() > main.0.len() && main.0.len() > 2 * brief.0.len(),
        "{} {} {}",
        full.0.len(),
        main.0.len(),
        brief.0.len()
    );
    assert!(full.1.is_superset(&main.1) && main.1.is_superset(&brief.1));
    // The page with the main pictures has no picture of a target with the verdict `NO_LEAK_ABOVE`.
    let [quiet, leaky] =
        ["base64.encoding.all.violin.svg", "ct.early-exit.first-byte-wrong-last-byte-wrong.quantiles.svg"];
    let has = |pictures: &HashSet<String>, name: &str| pictures.contains(&format!("security.{name}"));
    assert!(has(&full.1, quiet) && !has(&main.1, quiet) && has(&main.1, leaky) && !has(&brief.1, leaky));
    assert!(brief.1.contains("security.calibration.power.svg"));
    // The folders of the main page and of the brief page must contain only pictures that the page shows.
    for (text, pictures) in [&main, &brief] {
        assert!(pictures.iter().all(|name| text.contains(&format!("]({name})"))), "{pictures:?}");
    }
    // The brief page has a row for each target, and a reason for each pair whose verdict is not `NO_LEAK_ABOVE`.
    for timing in &record.timing {
        assert!(brief.0.contains(&format!("| {} | **", timing.target.replace('_', "\\_"))), "{}", timing.target);
    }
    let open = record
        .timing
        .iter()
        .flat_map(|timing| &timing.pairs)
        .filter(|pair| pair.verdict != Verdict::NoLeakAbove)
        .count();
    assert!(
        open > 0
            && brief
                .0
                .lines()
                .filter(|line| line.starts_with("- ") && !line.starts_with("- **") && line.contains(" against "))
                .count()
                == open
    );
}

fn check_svg(path: &Path) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{}", path.display());
    assert!(text.len() < 48_000, "{}: {}", path.display(), text.len());
    assert!(text.matches("<path").count() > 3, "{} is blank", path.display());
}

#[test]
fn no_two_charts_have_the_same_name() {
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
fn the_most_severe_verdict_comes_first() {
    let page = report::html(&sample::full());
    let summary = &page[page.find("id=\"timing\"").unwrap()..page.find("id=\"target-1\"").unwrap()];
    let rows: Vec<usize> =
        [2, 5, 4, 6, 3, 1].map(|target| summary.find(&format!("#target-{target}\"")).unwrap()).to_vec();
    assert!(rows.is_sorted(), "{rows:?}");
    assert!(Verdict::Leak > Verdict::Invalid);
}

#[test]
fn the_page_fits_wide_and_narrow_browser_windows() {
    let Some(browser) = browser::find() else {
        crate::skipped("no Chromium");
        return;
    };
    let folder = folder("browser");
    let page = folder.join("page.html");
    fs::write(&page, report::html_with_history(&sample::full(), &sample::earlier())).unwrap();
    for width in [1280, 390] {
        let widths = browser::widths(&browser, &page, width);
        assert_eq!(widths.inner, width, "the browser window has the requested width");
        assert!(widths.scroll <= widths.inner, "the page is {} wide in a window of {}", widths.scroll, widths.inner);
        assert!(widths.smallest_letters >= 11.0, "{}", widths.smallest_letters);
        assert_eq!(widths.cut, 0, "wide tables without a cue at {width}");
        assert_eq!(widths.scrolling > 0, width == 390, "{} tables scroll at {width}", widths.scrolling);
        let colors = browser::screenshot(&browser, &page, width, &folder.join(format!("{width}.png")));
        assert!(colors > 50, "the picture at {width} has {colors} colors");
    }
}

fn both_pages(record: &Record, name: &str) -> [String; 2] {
    let folder = folder(name);
    report::markdown(record, &folder).unwrap();
    [report::html(record), fs::read_to_string(folder.join("report.md")).unwrap()]
}

#[test]
fn verdicts_come_first_and_machine_data_last() {
    for page in both_pages(&sample::full(), "order") {
        let body = &page[page.find("</head>").unwrap_or(0)..];
        let place = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text}"));
        let verdict = place("LEAK");
        for table in ["<table", "|---"] {
            assert!(body.find(table).is_none_or(|place| verdict < place));
        }
        let machine = place("Linux 6.1");
        assert!(place("Run and machine") < machine && place("What is not claimed") < machine);
        assert!(body.rfind("id=\"").is_none_or(|last| body[last..].starts_with("id=\"run\"")));
    }
}

#[test]
fn the_text_about_a_leak_does_not_read_as_an_all_clear() {
    let mut record = sample::full();
    record.timing.retain(|timing| timing.verdict == Verdict::Leak);
    record.timing[0].pairs.truncate(1);
    record.timing[0].classes.truncate(2);
    let leak = record.timing[0].pairs[0].clone();
    assert_eq!(leak.verdict, Verdict::Leak);
    for page in both_pages(&record, "leak") {
        // The test ignores the guide and the line below the table, which explain bounds.
        let end = page.find("How to read this</h2>").or(page.find("## How to read this")).unwrap();
        let start = page.find("<main>").unwrap_or(0);
        let text = &page[start..end];
        for soothing in ["o difference above", "may differ by up to", "by more than", "do not differ", "NO_LEAK"] {
            assert!(!text.contains(soothing), "{soothing}");
        }
        // The table of pairs must not contain the bounds.
        for column in ["Most calls differ at most", "Slowest calls", "Shift that is found"] {
            let cell = text.split(&format!("data-t=\"{column}\">")).nth(1);
            assert!(cell.is_none_or(|cell| cell.starts_with('–')), "{column}");
        }
        assert!(text.matches("is slower than").count() >= 2);
    }
}

#[test]
fn figures_that_load_has_spoiled_are_no_estimates() {
    let mut record = sample::full();
    let estimated = |record: &Record| both_pages(record, "spoiled").map(|page| page.matches("a call takes").count());
    assert!(estimated(&record).iter().all(|&count| count > 0));
    for class in record.timing.iter_mut().flat_map(|timing| &mut timing.classes) {
        class.estimates.iter_mut().for_each(|estimates| estimates.r_squared = 0.18);
    }
    assert_eq!(estimated(&record), [0, 0]);
    assert!(both_pages(&record, "spoiled").iter().all(|page| page.contains("Other programs disturbed")));
}

#[test]
fn a_trace_that_differs_stands_beside_a_verdict_of_no_leak() {
    let mut record = sample::full();
    let quiet = record.timing.iter().position(|timing| timing.verdict == Verdict::NoLeakAbove).unwrap();
    let leaky = record.timing.iter().position(|timing| timing.verdict == Verdict::Leak).unwrap();
    let name = record.timing[quiet].target.clone();
    record.timing[quiet].trace = record.timing[leaky].trace.clone();
    for page in both_pages(&record, "trace beside verdict") {
        // The words "TRACES DIFFER" appear in the list at the top, in the summary's row, and in the heading of the
        // target.
        let lines: Vec<&str> = page.lines().filter(|line| line.contains("TRACES DIFFER")).collect();
        let own = lines.iter().filter(|line| line.replace('\\', "").contains("NO_LEAK_ABOVE")).count();
        assert_eq!((lines.len(), own), (5, 2), "{lines:?}");
        assert!(page.contains("This is about the clock: the traces of 1 of them differ."));
        let line = lines[0];
        assert!(line.contains("The traces of 2 of 5 functions") && line.contains(&name), "{line}");
    }
}

#[test]
fn pages_of_traces_alone_have_no_verdict_about_time() {
    let mut record = sample::full();
    record.timing.truncate(3);
    let differs = record.timing.iter().position(|timing| timing.verdict == Verdict::Leak).unwrap();
    for timing in &mut record.timing {
        timing.repeats = 0;
        timing.pairs.clear();
        timing.classes.clear();
        timing.verdict = if timing.verdict == Verdict::Leak { Verdict::Leak } else { Verdict::Inconclusive };
    }
    for page in both_pages(&record, "traces alone") {
        let start = page.find("<main>").unwrap_or(0);
        let end = page.find("id=\"guide\"").or(page.find("## How to read this")).unwrap();
        let text = &page[start..end];
        for word in ["INCONCLUSIVE", ">LEAK", "**LEAK", "undecided", "0 pairs", "Pairs"] {
            assert!(!text.contains(word), "{word}");
        }
        let name = &record.timing[differs].target;
        let line = format!("The traces of 1 of 3 functions depend on the input: {name}.");
        assert!(text.replace('\\', "").contains(&line), "{text}");
        assert!(text.contains("The traces of 2 of 3 functions are equal"));
        assert!(text.find("TRACES DIFFER") < text.find("TRACES EQUAL"));
        assert!(text.contains("tag.rs:41"));
    }
}

/// For code that was compiled without optimization, equal traces show nothing about the optimized code. Each report
/// must contain a warning about code without optimization.
#[test]
fn code_without_optimization_is_named_in_every_report() {
    let folder = folder("without optimization");
    for only_traced in [false, true] {
        let mut record = sample::full();
        let trace = Trace { equal: true, secrets: 8, unoptimized: Some("dalek::sub".to_owned()), ..Trace::default() };
        let timing = record.timing.iter_mut().find(|timing| !timing.pairs.is_empty()).unwrap();
        timing.trace = Some(trace);
        if only_traced {
            (timing.repeats, timing.pairs, timing.classes) = (0, Vec::new(), Vec::new());
        }
        let pages = [
            report::html(&record),
            [Detail::Full, Detail::Main, Detail::Brief]
                .map(|detail| {
                    report::markdown_as(&record, &[], &folder, "report.md", detail).unwrap();
                    fs::read_to_string(folder.join("report.md")).unwrap()
                })
                .concat(),
        ];
        let whole = pages.concat();
        assert!(whole.matches("NOT OPTIMIZED: dalek::sub looks").count() >= 4, "{only_traced}");
        assert!(whole.matches("Apparently compiled without optimization: ").count() >= 4, "{only_traced}");
        assert!(serde_json::to_string(&record).unwrap().contains("\"unoptimized\":\"dalek::sub\""));
    }
}
