//! Pictures that an attacker added to the pictures of a set. Everybody can make pictures for any set, with any label
//! and any checksum.

use crate::sandbox::Sandbox;
use deadpan_picture::carrier::{Carrier, Finding};
use deadpan_picture::template::{Bits, Hiding, Order, Secret, Seed, embed};
use deadpan_picture::{Channels, Compression, Format, Label, Pixels, checksum, write};

const PART: usize = 1024;

fn carrier(label: &Label, part: &[u8]) -> Vec<u8> {
    written(label, part, Format::Png, Compression::Stored)
}

fn written(label: &Label, part: &[u8], format: Format, compression: Compression) -> Vec<u8> {
    let mut bytes = header(label);
    bytes.extend(part);
    picture(bytes, format, compression)
}

/// Returns the bytes before the part in a carrier: magic bytes, label and checksum.
fn header(label: &Label) -> Vec<u8> {
    let mut bytes = [&b"\x89DPNPIC\x01"[..], &label.to_bytes()].concat();
    bytes.extend(checksum(&bytes).to_be_bytes());
    bytes
}

/// Returns a picture that begins with these samples. All other samples are zero.
fn picture(mut samples: Vec<u8>, format: Format, compression: Compression) -> Vec<u8> {
    let width = 32;
    let height = samples.len().div_ceil(3 * width);
    samples.resize(3 * width * height, 0);
    let pixels = Pixels { width: width as u32, height: height as u32, channels: Channels::Rgb, samples };
    let mut file = Vec::new();
    write(&pixels, format, compression, 1, &mut file).unwrap();
    file
}

fn parts(data: &[u8]) -> Vec<(Label, Vec<u8>)> {
    let count = data.len().div_ceil(PART) as u32;
    let part = |(index, part): (u32, &[u8])| {
        let (offset, total) = (u64::from(index) * PART as u64, data.len() as u64);
        let (length, checksum) = (part.len() as u32, checksum(part));
        (Label { set: [7; 16], index, count, spares: 0, length, offset, total, checksum }, part.to_vec())
    };
    (0..).zip(data.chunks(PART)).map(part).collect()
}

/// Returns a label for a different part with the same place in the set.
fn other(label: &Label, part: &[u8]) -> Label {
    Label { length: part.len() as u32, checksum: checksum(part), ..*label }
}

/// Makes a sandbox with the file `data` of 5000 bytes, and with a folder of pictures `m-1.png` and so on that carry the
/// sealed data.
fn sealed_set() -> (Sandbox, Vec<(Label, Vec<u8>)>) {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("data", (0..5000_u32).map(|at| ((at * at) >> 5) as u8).collect::<Vec<_>>());
    sandbox.run(&["seal", "data"]).expect(0, "");
    let parts = parts(&sandbox.read("data.dpn"));
    sandbox.shell("mkdir album").expect(0, "");
    for (label, part) in &parts {
        sandbox.write(&format!("album/m-{}.png", label.index + 1), carrier(label, part));
    }
    (sandbox, parts)
}

/// Reveals the album, and expects the sealed data and the text `words`.
#[track_caller]
fn comes_back(sandbox: &Sandbox, words: &str) {
    sandbox.run(&["picture", "reveal", "-f", "-o", "back", "album"]).expect(0, words);
    assert!(sandbox.read("back") == sandbox.read("data"));
}

/// Expects that nothing is revealed, and expects the exit code for wrong data and the text `words`.
#[track_caller]
fn refused(sandbox: &Sandbox, options: &[&str], words: &str) {
    let run = sandbox.run(&[&["picture", "reveal", "-o", "none"], options, &["album"]].concat());
    run.expect(1, words);
    assert!(!sandbox.path("none").exists());
}

/// An earlier version mistook PNG pictures with stored blocks and filtered rows for its own pictures, and reported
/// damage.
#[test]
fn pictures_that_another_program_wrote_again_come_back() {
    let (sandbox, parts) = sealed_set();
    let compressions = [Compression::Fast, Compression::Stored];
    for (format, compression) in
        [Format::Png, Format::WebP].into_iter().flat_map(|it| compressions.map(|how| (it, how)))
    {
        for (label, part) in &parts {
            let name = format!("album/m-{}.png", label.index + 1);
            sandbox.write(&name, written(label, part, format, compression));
        }
        comes_back(&sandbox, "");
    }
}

/// An earlier version used the picture whose name comes first, so the data were wrong if this picture was forged.
#[test]
fn the_name_of_a_forged_picture_decides_nothing() {
    let (sandbox, parts) = sealed_set();
    comes_back(&sandbox, "");
    for at in [0, 1, parts.len() - 1] {
        for name in ["album/a.png", "album/z.png"] {
            let forged = vec![9; parts[at].1.len()];
            sandbox.write(name, carrier(&other(&parts[at].0, &forged), &forged));
            comes_back(&sandbox, &format!("not used, because they contradict other pictures of their set: {name}"));
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
    }
}

#[test]
fn several_forged_pictures_are_left_out_together() {
    let (sandbox, parts) = sealed_set();
    for (at, name) in [(0, "a"), (1, "b"), (1, "y"), (3, "z")] {
        let forged = vec![name.as_bytes()[0]; PART];
        sandbox.write(&format!("album/{name}"), carrier(&other(&parts[at].0, &forged), &forged));
    }
    comes_back(&sandbox, "their set: album/a, album/b, album/y, album/z\n");
}

#[test]
fn labels_that_disagree_about_the_set_or_the_place_in_it_decide_nothing() {
    let (sandbox, parts) = sealed_set();
    let (label, part) = &parts[1];
    let total = label.total;
    let forged = [
        Label { index: 0, count: 1, offset: 0, total: PART as u64, ..*label },
        Label { total: total + 1, ..*label },
        Label { count: label.count + 1, ..*label },
        Label { spares: 3, ..*label },
        Label { offset: 0, ..*label },
        Label { offset: label.offset + 1, ..*label },
        Label { offset: total - PART as u64, ..*label },
    ];
    for label in forged {
        for name in ["album/a", "album/z"] {
            sandbox.write(name, carrier(&label, part));
            comes_back(&sandbox, &format!("contradict other pictures of their set: {name}"));
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
    }
}

/// An earlier version used the copy whose name comes first, even if this copy was damaged and a good copy existed.
#[test]
fn a_good_copy_takes_the_place_of_a_damaged_one() {
    let (sandbox, parts) = sealed_set();
    for name in ["album/a", "album/z"] {
        for (label, part) in &parts {
            let mut part = part.clone();
            part[7] ^= 1;
            sandbox.write(name, carrier(label, &part));
            comes_back(&sandbox, &format!("note: damaged: {name}\n"));
        }
        std::fs::remove_file(sandbox.path(name)).unwrap();
    }
}

/// At least one byte is not zero.
fn change_that_no_checksum_sees() -> [u8; 16] {
    let zero = checksum(&[0; 16]);
    let mut basis: Vec<(u64, u128)> = Vec::new();
    for bit in 0..128 {
        let mut change = 1_u128 << bit;
        let mut sum = checksum(&change.to_be_bytes()) ^ zero;
        for (other, its) in &basis {
            if sum ^ other < sum {
                (sum, change) = (sum ^ other, change ^ its);
            }
        }
        if sum == 0 {
            return change.to_be_bytes();
        }
        basis.push((sum, change));
        basis.sort_by_key(|(sum, _)| std::cmp::Reverse(*sum));
    }
    unreachable!("128 changes of a checksum of 64 bits depend on each other")
}

#[test]
fn a_copy_with_the_same_label_and_checksum_is_compared_byte_by_byte() {
    let (sandbox, parts) = sealed_set();
    let (label, part) = &parts[2];
    let mut forged = part.clone();
    forged.iter_mut().zip(change_that_no_checksum_sees()).for_each(|(byte, change)| *byte ^= change);
    assert!(forged != *part && checksum(&forged) == label.checksum);
    for name in ["album/a", "album/z"] {
        sandbox.write(name, carrier(label, &forged));
        comes_back(&sandbox, &format!("contradict other pictures of their set: {name}"));
        refused(&sandbox, &["--raw"], "pictures of its set contradict each other");
        std::fs::remove_file(sandbox.path(name)).unwrap();
    }
}

#[test]
fn bytes_that_are_not_sealed_tell_nothing_so_contradictions_are_refused() {
    let (sandbox, parts) = sealed_set();
    sandbox.write("album/a", carrier(&other(&parts[0].0, &[1; PART]), &[1; PART]));
    refused(&sandbox, &["--raw"], "note: they contradict each other: album/a, album/m-1.png\n");
    std::fs::remove_file(sandbox.path("album/a")).unwrap();
    sandbox.write("album/a", carrier(&Label { total: parts[1].0.total + 1, ..parts[1].0 }, &parts[1].1));
    refused(&sandbox, &["--raw"], "pictures of its set contradict each other");
}

#[test]
fn two_sealed_files_that_claim_one_set_are_refused() {
    let (sandbox, parts) = sealed_set();
    sandbox
        .shell("tac data | head -c 5000 > b; cp data c; truncate -s 4999 c; deadpan seal b && deadpan seal c")
        .expect(0, "");
    for name in ["b.dpn", "c.dpn"] {
        let theirs = self::parts(&sandbox.read(name));
        // The forged data are as long as the real data, or have another length.
        assert_eq!(theirs[0].0.total == parts[0].0.total, name == "b.dpn");
        for (label, part) in &theirs {
            sandbox.write(&format!("album/{}-{name}", label.index), carrier(label, part));
        }
        refused(&sandbox, &[], "pictures of its set contradict each other");
        sandbox.shell(&format!("rm album/*-{name}")).expect(0, "");
    }
    comes_back(&sandbox, "");
}

#[test]
fn many_forged_pictures_are_refused_after_a_few_tries() {
    let (sandbox, parts) = sealed_set();
    for number in 0..300_u32 {
        let forged = [number.to_be_bytes(); PART / 4].concat();
        let (label, _) = parts[number as usize % parts.len()];
        let forged = &forged[..label.length as usize];
        sandbox.write(&format!("album/{number}"), carrier(&other(&label, forged), forged));
    }
    refused(&sandbox, &[], "and 30");
}

/// Makes a folder `album` with the pictures of `data`. Two of these pictures are spare.
fn spare_set() -> Sandbox {
    let sandbox = Sandbox::with_key("ecc");
    sandbox
        .shell("deadpan random 60000 -o data; mkdir album; deadpan picture hide --size 100x60 --spare 2 -o album/ data")
        .expect(0, "");
    sandbox
}

/// Returns the label of a carrier.
fn label(sandbox: &Sandbox, name: &str) -> Label {
    let file = std::fs::File::open(sandbox.path(name)).unwrap();
    Carrier::recognize(&file).unwrap().unwrap().label
}

#[test]
fn spare_pictures_replace_those_that_contradict_each_other() {
    let sandbox = spare_set();
    let first = label(&sandbox, "album/data-001.png");
    assert_eq!(first.spares, 2);
    let pictures = std::fs::read_dir(sandbox.path("album")).unwrap().count();
    assert_eq!(pictures, first.count as usize + 2, "no picture is missing at first");
    for name in ["album/a", "album/z"] {
        let forged = vec![5; label(&sandbox, "album/data-002.png").length as usize];
        sandbox.write(name, carrier(&other(&label(&sandbox, "album/data-002.png"), &forged), &forged));
        sandbox.shell("mv album/data-001.png first").expect(0, "");
        comes_back(&sandbox, "contradict other pictures of their set: album/");
        sandbox.shell(&format!("mv first album/data-001.png; rm {name}")).expect(0, "");
    }
}

/// Returns the last remaining picture of a set: one of its 80 spare pictures, with this part.
fn last_spare(set: u8, part: &[u8], compression: Compression) -> Vec<u8> {
    let length = part.len() as u32;
    let (total, checksum) = (part.len() as u64, checksum(part));
    let label = Label { set: [set; 16], index: 1, count: 1, spares: 80, length, offset: 0, total, checksum };
    written(&label, part, Format::Png, compression)
}

/// Fills a part with bytes that cannot be compressed.
fn fill_with_noise(part: &mut [u8]) {
    let mut state = 1_u32;
    part.fill_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
}

/// In an earlier version, `reveal` needed minutes for a spare picture of zeros in a short file.
#[test]
fn short_files_with_long_parts_make_nothing_again() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir album").expect(0, "");
    let album = |part: &[u8], compression| sandbox.write("album/spare.png", last_spare(7, part, compression));
    let words = "album/spare.png: pictures are missing, and the others are compressed too much to make them again";
    // 81 parts have more than 1 GiB.
    let mut part = vec![0; 14 << 20];
    album(&part, Compression::Fast);
    refused(&sandbox, &[], words);
    refused(&sandbox, &["--raw"], words);
    // Raw bytes may compress well. Sealed bytes do not compress.
    fill_with_noise(&mut part[..1 << 20]);
    album(&part, Compression::Fast);
    refused(&sandbox, &[], words);
    album(&part, Compression::Stored);
    refused(&sandbox, &[], "the data are not sealed");
}

/// An earlier version could not restore missing raw data that consist of zeros or similar bytes, if another program had
/// compressed the pictures.
#[test]
fn sets_that_make_little_work_are_made_again_however_they_are_compressed() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("mkdir album results").expect(0, "");
    let part = vec![7; 256_000];
    sandbox.write("album/spare.png", last_spare(7, &part, Compression::Fast));
    assert!(sandbox.read("album/spare.png").len() < part.len() / 16);
    sandbox.run(&["picture", "reveal", "--raw", "-o", "back", "album"]).expect(0, "made again from spare ones");
    assert!(sandbox.read("back") == part);
    // The limit on the work holds for all sets of a command together, so that many short files do not cause much work.
    let part = vec![7; 7 << 20];
    for set in [8, 9] {
        sandbox.write(&format!("album/{set}.png"), last_spare(set, &part, Compression::Fast));
    }
    let run = sandbox.run(&["picture", "reveal", "--raw", "-o", "results", "album"]);
    run.expect(1, "album/9.png: pictures are missing, and the others are compressed too much to make them again");
    assert!(sandbox.read("results/8") == part && sandbox.read("results/spare").len() == 256_000);
}

/// In an earlier version, a set was treated as contradictory if one spare picture had another length.
#[test]
fn a_spare_picture_of_another_length_is_left_out() {
    let sandbox = Sandbox::with_key("ecc");
    for raw in [&[][..], &["--raw"]] {
        sandbox.shell("rm -rf album; deadpan random 60000 -o data; mkdir album").expect(0, "");
        let hide = ["picture", "hide", "--size", "100x60", "--spare", "2", "-o", "album/", "data"];
        sandbox.run(&[&hide, raw].concat()).expect(0, "");
        let first = label(&sandbox, "album/data-001.png");
        let spare = format!("album/data-{:03}.png", first.count + 1);
        for (name, by) in ["album/a", "album/z"].into_iter().flat_map(|name| [64, -64].map(|by| (name, by))) {
            let forged = vec![5; first.length.strict_add_signed(by) as usize];
            let label = Label { index: first.count, offset: 0, ..other(&first, &forged) };
            sandbox.write(name, carrier(&label, &forged));
            let note = format!("their labels do not fit the other pictures of their set: {name}\n");
            let reveal = [&["picture", "reveal", "-f", "-o", "back", "album"], raw].concat();
            // There are three cases: the real picture exists in addition to the forged picture, the real picture is
            // missing, and both spare pictures are needed.
            for away in [&["002"][..], &["002", &spare[11..14]], &["001", "003"]] {
                for number in away {
                    sandbox.shell(&format!("mv album/data-{number}.png {number}")).expect(0, "");
                }
                sandbox.run(&reveal).expect(0, &note);
                assert!(sandbox.read("back") == sandbox.read("data"), "{name} {by} {away:?}");
                for number in away {
                    sandbox.shell(&format!("mv {number} album/data-{number}.png")).expect(0, "");
                }
            }
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
    }
}

/// An earlier version reported a label with values beyond the limits as damaged.
#[test]
fn a_label_beyond_the_limits_is_not_called_damaged() {
    let (sandbox, parts) = sealed_set();
    let (label, part) = &parts[0];
    let format = Format::Png;
    for compression in [Compression::Stored, Compression::Fast] {
        let words = |what: &str| format!("note: left out: album/m-1.png: the label of the picture {what}\n");
        let forged = Label { count: 2, spares: 97, ..*label };
        sandbox.write("album/m-1.png", written(&forged, part, format, compression));
        refused(&sandbox, &[], &words("is whole, but describes a set that cannot be"));
        let mut damaged = header(label);
        damaged[20] ^= 1;
        damaged.extend(part);
        sandbox.write("album/m-1.png", picture(damaged, format, compression));
        refused(&sandbox, &[], &words("is damaged"));
    }
}

/// An earlier version used a forged picture in place of a lost picture, and no message contained the name of the forged
/// picture.
#[test]
fn a_forged_picture_in_the_place_of_a_lost_one_is_left_out() {
    let sandbox = spare_set();
    let first = label(&sandbox, "album/data-001.png");
    let forged = vec![5; first.length as usize];
    let unused = "note: not used, because they contradict other pictures of their set: album/z\n";
    for lost in [1, 2, first.count, first.count + 1, first.count + 2] {
        let name = format!("album/data-{lost:03}.png");
        let its = label(&sandbox, &name);
        let forged = &forged[..its.length as usize];
        sandbox.shell(&format!("mv {name} lost")).expect(0, "");
        sandbox.write("album/z", carrier(&other(&its, forged), forged));
        if its.is_spare() {
            sandbox.shell("mv album/data-003.png third").expect(0, "");
            comes_back(&sandbox, "");
            sandbox.shell("mv third album/data-003.png").expect(0, "");
        } else {
            comes_back(&sandbox, unused);
            let streamed = sandbox.run(&["picture", "reveal", "-o", "-", "album"]).expect(0, unused);
            assert!(streamed.stdout() == sandbox.read("data"));
        }
        // Both spare pictures are needed, and one of them is forged.
        if its.is_spare() {
            sandbox.shell("mv album/data-003.png third; mv album/data-001.png first").expect(0, "");
            refused(&sandbox, &[], "leave out pictures that came from others");
            sandbox.shell("mv third album/data-003.png; mv first album/data-001.png").expect(0, "");
        }
        sandbox.shell(&format!("mv lost {name}; rm album/z")).expect(0, "");
    }
}

/// Everybody can make such sets. An earlier version treated sets that are not authentic as additional results, for
/// which the command had no output.
#[test]
fn sets_that_are_not_authentic_need_no_place() {
    let (sandbox, parts) = sealed_set();
    let mut noise = vec![0; PART];
    fill_with_noise(&mut noise);
    sandbox.write("album/a", last_spare(9, &noise, Compression::Stored));
    let foreign = "album/a: the data are not authentic, or not for your keys";
    let reveal = |words: &str| {
        sandbox.run(&["picture", "reveal", "-f", "-o", "back", "album"]).expect(1, words);
        assert!(sandbox.read("back") == sandbox.read("data"));
    };
    reveal(foreign);
    for (label, part) in &parts {
        let mut part = part.clone();
        part[7] ^= u8::from(label.index == 2);
        let label = Label { set: [8; 16], ..other(label, &part) };
        let number = ["", "1", "2", "3", "4", "5"][label.index as usize];
        sandbox.write(&format!("album/a{number}"), carrier(&label, &part));
    }
    reveal(foreign);
}

#[test]
fn spare_pictures_that_contradict_each_other_replace_nothing() {
    let sandbox = spare_set();
    let first = label(&sandbox, "album/data-001.png");
    let spare = format!("album/data-{:03}.png", first.count + 1);
    for name in ["album/a", "album/z"] {
        let forged = vec![5; first.length as usize];
        let label = Label { index: first.count, offset: 0, ..other(&first, &forged) };
        sandbox.write(name, carrier(&label, &forged));
        let mut both = [name, &spare];
        both.sort_unstable();
        let note = format!("not used, because they contradict other pictures of their set: {}\n", both.join(", "));
        // No picture is missing, or another spare picture replaces the missing picture.
        comes_back(&sandbox, &note);
        sandbox.shell("mv album/data-002.png second").expect(0, "");
        comes_back(&sandbox, &note);
        comes_back(
            &sandbox,
            "note: 1 picture was missing, and made again from spare ones; 1 spare picture is missing, too; no other",
        );
        // Now two pictures are missing, so both spare pictures are necessary.
        sandbox.shell("mv album/data-001.png first").expect(0, "");
        refused(&sandbox, &[], &format!("note: they contradict each other: {}\n", both.join(", ")));
        sandbox.shell(&format!("mv first album/data-001.png; mv second album/data-002.png; rm {name}")).expect(0, "");
    }
}

/// Returns a template that everybody can find. All templates have the same set key.
fn template(label: &Label, part: &[u8]) -> Vec<u8> {
    let samples = (0..3 * 100 * 60_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    let mut pixels = Pixels { width: 100, height: 60, channels: Channels::Rgb, samples };
    let bits = Bits::new(2).unwrap();
    let hiding = Hiding { bits, order: Order::Keyed, set_key: [9; 32], doors: vec![Secret::open()] };
    embed(&mut pixels, label, part, &hiding, &Seed::random().unwrap(), 1).unwrap();
    let mut file = Vec::new();
    write(&pixels, Format::Png, Compression::Fast, 1, &mut file).unwrap();
    file
}

#[test]
fn templates_of_one_set_key_with_different_labels_are_like_other_forged_pictures() {
    let (sandbox, parts) = sealed_set();
    for (label, part) in &parts {
        sandbox.write(&format!("album/m-{}.png", label.index + 1), template(label, part));
    }
    comes_back(&sandbox, "");
    let (label, part) = &parts[1];
    let forged = [9; PART];
    let contradictions = [
        template(&other(label, &forged), &forged),
        template(&Label { total: label.total + 1, ..*label }, part),
        template(&Label { count: label.count + 1, ..*label }, part),
        template(&Label { offset: label.offset + 1, ..*label }, part),
        template(&Label { index: 2, ..*label }, part),
        // A carrier with the same set.
        carrier(&other(label, &forged), &forged),
    ];
    for file in contradictions {
        for name in ["album/a", "album/z"] {
            sandbox.write(name, &file);
            comes_back(&sandbox, &format!("contradict other pictures of their set: {name}\n"));
            refused(&sandbox, &["--raw"], "pictures of its set contradict each other");
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
    }
    let mut damaged = part.clone();
    damaged[7] ^= 1;
    sandbox.write("album/a", template(label, &damaged));
    comes_back(&sandbox, "note: damaged: album/a\n");
}

/// An earlier version reported damage in the header as a wrong key, or as data that are not sealed.
#[test]
fn damage_in_the_first_bytes_is_no_wrong_key() {
    let (sandbox, parts) = sealed_set();
    let (label, part) = &parts[0];
    for at in [0, 5, 8, 12, 15, 30, 60, 200, 500] {
        let mut damaged = part.clone();
        damaged[at] ^= 4;
        sandbox.write("album/m-1.png", carrier(label, &damaged));
        refused(&sandbox, &[], "error: album/m-1.png: the data are damaged\n");
        refused(&sandbox, &[], "note: damaged: album/m-1.png\n");
    }
    sandbox.write("album/m-1.png", carrier(label, part));
    sandbox.shell("mkdir -m 700 other; DEADPAN_HOME=other deadpan keygen --no-passphrase --mode ecc").expect(0, "");
    let run = sandbox.shell("DEADPAN_HOME=other deadpan picture reveal -o none album");
    run.expect(3, "no key fits");
}

/// An earlier version wrote a range of unsealed data without a check of any checksum.
#[test]
fn a_range_of_raw_bytes_is_checked_in_the_pictures_that_it_touches() {
    let (sandbox, parts) = sealed_set();
    let (label, part) = &parts[2];
    let mut damaged = part.clone();
    damaged[1000] ^= 1;
    sandbox.write("album/m-3.png", carrier(label, &damaged));
    for range in ["2048:10", "2040:9", "3071:2", "0:", "2500:"] {
        refused(&sandbox, &["--raw", "--range", range], "note: damaged: album/m-3.png\n");
    }
    for range in ["0:2048", "3072:100"] {
        sandbox.run(&["picture", "reveal", "--raw", "--range", range, "-f", "-o", "out", "album"]).expect(0, "");
    }
}

#[test]
fn missing_and_damaged_pictures_are_named_but_not_all_of_many() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox
        .shell("deadpan random 60000 -o data; mkdir album; deadpan picture hide --size 30x30 -o album/ data")
        .expect(0, "");
    sandbox.shell("rm album/data-00[2468].png album/data-01[2468].png").expect(0, "");
    refused(&sandbox, &[], "these are missing: 2, 4, 6, 8, 12, and 3 more\n");
    let run = sandbox.run(&["picture", "reveal", "--json", "-o", "none", "album"]).0;
    assert_eq!(run.status.code(), Some(1));
    let text = String::from_utf8(run.stdout).unwrap();
    for field in [
        r#""command":"reveal""#,
        r#""exit":1"#,
        r#""file":"album/data-001.png""#,
        r#""error":"album/data-001.png: of its set"#,
    ] {
        assert!(text.contains(field), "no {field} in {text}");
    }
    sandbox.shell("rm -r album; mkdir album; cp data album").expect(0, "");
    let run = sandbox.run(&["picture", "reveal", "--json", "-o", "none", "album"]).0;
    let text = String::from_utf8(run.stdout).unwrap();
    let error = r#""error":"album: no file in this folder is a PNG, WebP or JPEG picture""#;
    assert!(run.status.code() == Some(1) && text.contains(error), "{text}");
}

/// An earlier version reported a damaged carrier if the cover of a template began with a carrier's magic number, and
/// the seed did not change this number.
#[test]
fn templates_whose_cover_has_the_magic_of_a_carrier_come_back() {
    let sandbox = Sandbox::new();
    let part: Vec<u8> = (0..PART as u32).map(|at| ((at * at) >> 5) as u8).collect();
    let length = part.len() as u32;
    let label = Label {
        set: [7; 16],
        index: 0,
        count: 1,
        spares: 0,
        length,
        offset: 0,
        total: length.into(),
        checksum: checksum(&part),
    };
    let mut samples: Vec<_> = (0..3 * 200 * 100_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    samples[..8].copy_from_slice(b"\x89DPNPIC\x01");
    let cover = Pixels { width: 200, height: 100, channels: Channels::Rgb, samples };
    // If the seed is equal to the seed in the cover, none of the first samples changes.
    let seed = Seed::in_pixels(&cover).unwrap();
    let bits = Bits::new(2).unwrap();
    let hiding = Hiding { bits, order: Order::Keyed, set_key: [9; 32], doors: vec![Secret::open()] };
    let mut template = cover.clone();
    embed(&mut template, &label, &part, &hiding, &seed, 1).unwrap();
    assert!(Finding::in_pixels(&template) == Finding::Damaged);
    for (format, compression) in [
        (Format::Png, Compression::Stored),
        (Format::Png, Compression::Fast),
        (Format::WebP, Compression::Stored),
        (Format::WebP, Compression::Fast),
    ] {
        let write = |name: &str, pixels: &Pixels| {
            let mut file = Vec::new();
            write(pixels, format, compression, 1, &mut file).unwrap();
            sandbox.write(name, file);
        };
        write("template", &template);
        sandbox.run(&["picture", "reveal", "--raw", "-f", "-o", "back", "template"]).expect(0, "");
        assert!(sandbox.read("back") == part);
        write("cover", &cover);
        sandbox.run(&["picture", "reveal", "--raw", "-o", "none", "cover"]).expect(1, "cover");
    }
}
