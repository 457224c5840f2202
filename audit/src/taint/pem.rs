//! Tests the PEM functions of `deadpan-base64`.

use crate::plain;
use crate::secret::{bytes, hide, lengths, show};
use crate::tally::Tally;
use deadpan_base64::Alphabet;
use deadpan_base64::pem::{self, Error};

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

pub(crate) fn run(tally: &mut Tally) {
    for length in lengths() {
        let plain = bytes(length, 40);
        let body = plain::base64(Alphabet::Standard, true, &plain);
        let lines = |width: usize, end: &str| {
            body.chunks(width).flat_map(|line| [line, end.as_bytes()].concat()).collect::<Vec<_>>()
        };
        tally.case(format_args!("pem encode {length}"), || {
            let expected = [BEGIN.as_bytes(), b"\n", &lines(64, "\n"), END.as_bytes(), b"\n"].concat();
            pem::encode("PRIVATE KEY", &hide(&plain)).is_ok_and(|text| show(text.as_bytes()) == expected)
        });
        decoding(tally, &format!("{length}"), ["", "\n", "\n"], &lines(64, "\n"), Ok(&plain));
        decoding(
            tally,
            &format!("{length}, carriage returns"),
            ["before\r\n", "\r\n", "\r\nbehind"],
            &lines(64, "\r\n"),
            Ok(&plain),
        );
        decoding(tally, &format!("{length}, lines of 5"), ["\n\n", "\r", "\r"], &lines(5, " \r"), Ok(&plain));
        let mut flawed = lines(64, "\n");
        flawed.splice(length / 2..length / 2, *b"!\n");
        decoding(tally, &format!("{length}, flawed"), ["", "\n", "\n"], &flawed, Err(Error::Body));
        let with_headers = [b"Proc-Type: 4,ENCRYPTED\n", &lines(64, "\n")[..]].concat();
        decoding(tally, &format!("{length}, with headers"), ["", "\n", "\n"], &with_headers, Err(Error::Headers));
    }
    ends(tally);
}

/// Decodes a block that is surrounded by the texts in `around`: before its first line, after its first line, and after
/// its last line. The test marks the whole text as secret; the tested code must declassify the public parts.
fn decoding(tally: &mut Tally, name: &str, around: [&str; 3], body: &[u8], plain: Result<&[u8], Error>) {
    let [before, between, behind] = around.map(str::as_bytes);
    let text = hide(&[before, BEGIN.as_bytes(), between, body, END.as_bytes(), behind].concat());
    let expected = plain.map(<[u8]>::to_vec);
    tally.case(format_args!("pem decode {name}"), || {
        let decoded = pem::decode(&text);
        decoded.map(|document| (show(&document.contents), document.label == "PRIVATE KEY"))
            == expected.clone().map(|plain| (plain, true))
    });
    let twice = [&text[..], b"\n", &text].concat();
    tally.case(format_args!("pem documents {name}"), || {
        let found: Vec<_> =
            pem::documents(&twice).map(|document| document.map(|document| show(&document.contents))).collect();
        found == [expected.clone(), expected]
    });
}

/// Tests texts without a block, and texts with half of a block.
fn ends(tally: &mut Tally) {
    let secret = hide(&bytes(1000, 41));
    tally.case(format_args!("pem decode without a block"), || matches!(pem::decode(&secret), Err(Error::Missing)));
    let half = hide(&[BEGIN.as_bytes(), b"\nAAAA\nBBBB\n"].concat());
    tally.case(format_args!("pem decode of half a block"), || matches!(pem::decode(&half), Err(Error::End)));
    let one_line = hide(&[BEGIN.as_bytes(), b"AAAABBBB", END.as_bytes()].concat());
    tally.case(format_args!("pem decode of a block on one line"), || {
        matches!(pem::decode(&one_line), Err(Error::Begin))
    });
    let document = hide(&[BEGIN.as_bytes(), b"\nAAAA\n", END.as_bytes()].concat());
    tally.case(format_args!("pem document, printed"), || {
        pem::decode(&document).is_ok_and(|document| format!("{document:?}").contains("contents: Wiped(..)"))
    });
}
