//! Tests with trailers that were changed by somebody who cannot open the file.

use super::*;

/// Returns a signed file, and the position of its trailer.
fn signed(data: &[u8], seed: u8) -> (Vec<u8>, usize) {
    let sealed = sealing(false).0.with_entropy(Entropy::Fixed(seed)).seal(data).expect("sealed");
    let trailer = Header::read(&sealed[..]).and_then(|it| it.trailer(&sealed)).expect("a trailer").length as usize;
    let begin = sealed.len() - trailer;
    (sealed, begin)
}

#[test]
fn every_byte_of_a_trailer_counts() {
    let (sealed, begin) = signed(b"data", 1);
    assert_eq!(sealed.len() - begin, 32 + 28 + 4096 + 28 + 44);
    for place in begin..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1 << (place % 8);
        assert_refused(&changed, &format!("byte {} of the trailer", place - begin));
    }
}

#[test]
fn a_trailer_cannot_be_cut_or_made_longer() {
    let (sealed, begin) = signed(b"data", 1);
    for length in (0..sealed.len()).filter(|length| *length > begin - 100 || length % 50 == 0) {
        assert_refused(&sealed[..length], &format!("cut to {length}"));
    }
    for more in [1, 16, 28, 44, 4096, 4124, 5000] {
        assert_refused(&[&sealed[..], &vec![0; more]].concat(), &format!("{more} bytes more"));
        let mut inside = sealed.clone();
        inside.splice(begin..begin, vec![0; more]);
        assert_refused(&inside, &format!("{more} bytes before the trailer"));
    }
}

#[test]
fn a_trailer_belongs_to_its_file() {
    let long = sample(600_000);
    for data in [&b"data"[..], &long] {
        let (sealed, begin) = signed(data, 1);
        let trailer = &sealed[begin..];
        // The file `again` contains the same data as `sealed`, sealed a second time. The file `other` contains other
        // data of the same length.
        let (again, _) = signed(data, 2);
        let (other, _) = signed(&data.iter().map(|byte| byte ^ 1).collect::<Vec<_>>(), 3);
        for other in [&again, &other] {
            assert_refused(&[&sealed[..begin], &other[begin..]].concat(), "the trailer of another file");
        }
        assert_refused(&[&sealed[..begin], trailer, trailer].concat(), "a trailer twice");
        assert_refused(&sealed[..begin], "no trailer");
        let header = Header::read(&sealed[..]).expect("a header").length() as usize;
        let payload = &sealed[header..begin];
        assert_refused(&[&sealed[..header], trailer, payload].concat(), "a trailer before the payload");
        let (leaves, rest) = trailer.split_at(trailer.len() - 4124 - 44);
        let (signatures, footer) = rest.split_at(4124);
        for parts in [[signatures, leaves, footer], [leaves, footer, signatures], [footer, leaves, signatures]] {
            assert_refused(&[&sealed[..begin], &parts.concat()].concat(), "parts in another order");
        }
        for part in [[signatures, footer], [leaves, footer], [leaves, signatures]] {
            assert_refused(&[&sealed[..begin], &part.concat()].concat(), "a part is missing");
        }
        let plain = Sealing::to(vec![recipient()]).and_then(|it| it.seal(data)).expect("sealed");
        assert_refused(&[&plain[..], trailer].concat(), "a trailer without its flag");
        let mut flagged = plain.clone();
        flagged[9] = 1;
        assert_refused(&flagged, "a flag without its trailer");
        let mut hidden = sealed[..begin].to_vec();
        hidden[9] = 0;
        assert_refused(&hidden, "a trailer that was removed");
    }
}

/// If a part of a signed file was changed, reading this part gives an error. The unchanged parts open.
#[test]
fn ranges_are_verified() {
    let data = sample(20 * 4064);
    let sealed = ForeignTrailer::new().seal(&data, &[&signer().0]);
    let begin = sealed.len() - (20 * 32 + 28 + 4124 + 44) - 20 * 4096;
    let mut changed = sealed.clone();
    changed[begin + 7 * 4096 + 100] ^= 1;
    let (opened, _) = opened(&changed).expect("the passphrase");
    let mut reader = opened.seek_in(Cursor::new(&changed)).expect("the end is right");
    for segment in 0..20_u64 {
        let mut piece = vec![0; 4064];
        reader.seek(std::io::SeekFrom::Start(segment * 4064)).expect("a place");
        assert_eq!(reader.read_exact(&mut piece).is_ok(), segment != 7, "segment {segment}");
    }
}

#[test]
fn readers_of_before_refuse_signed_files() {
    /// Checks the start of a header as the program did before signed files existed.
    fn released(start: &[u8; 16]) -> Result<(), &'static str> {
        const PREAMBLE: [u8; 10] = [0x89, b'D', b'P', b'N', 0x0d, 0x0a, 0x1a, 0x0a, 1, 0];
        if start[..8] != PREAMBLE[..8] {
            return Err("not sealed");
        }
        if start[8] != 1 {
            return Err("sealed with another version of the format, which this version does not know");
        }
        if start[9] != 0 {
            return Err("sealed with a signature behind the data, or another flag, which this version does not know");
        }
        Ok(())
    }
    let plain = Sealing::to(vec![recipient()]).and_then(|it| it.seal(b"data")).expect("sealed");
    let start = |sealed: &[u8]| *sealed.first_chunk().expect("longer");
    assert_eq!(released(&start(&plain)), Ok(()));
    let refusal = released(&start(&signed(b"data", 1).0)).expect_err("refused");
    assert!(refusal.contains("signature"), "{refusal}");
}
