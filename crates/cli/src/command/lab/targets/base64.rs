//! The Base64 targets. Claim: the time of encoding depends only on the length of the data. The time of decoding depends
//! only on the length of the text and on whether the text is valid.

use std::hint::black_box;

use super::size::{SIZES, SYMBOLS};
use deadpan_base64::{Alphabet, STANDARD};
use deadpan_lab::Target;
use deadpan_lab::harness::SizedTarget;

/// The number of symbols in a long text.
const LONG: usize = 1024;
/// White space. A decoder refuses white space, except if it is configured to skip it.
const WHITE_SPACE: &[u8] = b" \t\n\x0b\x0c\r";

/// The classes of symbols. A codec with branches may take a different time for each class.
fn kinds() -> [(&'static str, Vec<u8>); 5] {
    [
        ("uppercase", (b'A'..=b'Z').collect()),
        ("lowercase", (b'a'..=b'z').collect()),
        ("special", b"+/".to_vec()),
        ("digits", (b'0'..=b'9').collect()),
        ("full range", Alphabet::Standard.symbols().to_vec()),
    ]
}

pub(super) fn timing() -> Vec<Target> {
    vec![
        encoding("base64.encoding", SYMBOLS.0),
        encoding("base64.encoding.1KiB", LONG / 4 * 3),
        decoding("base64.decoding", 64),
        decoding("base64.decoding.1KiB", LONG),
    ]
}

/// Returns a target that encodes bytes, with a class for each kind of symbol. The time of encoding may depend only on
/// the length of the input.
fn encoding(name: &str, bytes: usize) -> Target {
    kinds().into_iter().fold(encoder(name, bytes), |target, (kind, symbols)| {
        let mut text = vec![0; bytes / 3 * 4];
        target.class(kind, move |random, input| {
            random.fill_from(&symbols, &mut text);
            STANDARD.decode_into(&text, input).expect("whole groups of symbols");
        })
    })
}

/// The target has a class for each kind of symbol. Other classes contain texts that the decoder refuses, with white
/// space or another byte that is not a symbol. The time may depend on the length, and on whether a text is refused,
/// because the decoder wipes the output of a refused text. Therefore the lab compares refused texts only with other
/// refused texts.
fn decoding(name: &str, symbols: usize) -> Target {
    let valid = kinds().into_iter().fold(decoder(name, symbols), |target, (kind, symbols)| {
        target.class(kind, move |random, input| random.fill_from(&symbols, input))
    });
    let known = Alphabet::Standard.symbols();
    let unknown: Vec<u8> =
        (0..=u8::MAX).filter(|byte| *byte != b'=' && ![&known, WHITE_SPACE].concat().contains(byte)).collect();
    let others = unknown.clone();
    let all = valid
        .class_with_outcome("white space", "invalid", |random, input| random.fill_from(WHITE_SPACE, input))
        .class_with_outcome("invalid", "invalid", move |random, input| random.fill_from(&unknown, input))
        .class_with_outcome("one invalid", "invalid", move |random, input| {
            random.fill_from(&known, input);
            let place = random.below(input.len() as u64) as usize;
            random.fill_from(&others, &mut input[place..=place]);
        });
    within_outcomes(all)
}

fn within_outcomes(target: Target) -> Target {
    let classes: Vec<(String, String)> =
        target.classes().iter().map(|class| (class.name().to_owned(), class.outcome().to_owned())).collect();
    let pairs = target.pairs().into_iter().filter(|&(a, b)| classes[a].1 == classes[b].1);
    pairs.fold(target, |target, (a, b)| target.pair(&classes[a].0, &classes[b].0))
}

fn encoder(name: &str, bytes: usize) -> Target {
    let mut output = vec![0; STANDARD.encoded_len(bytes).expect("a length that exists")];
    Target::new(name, bytes, move |input| black_box(STANDARD.encode_into(input, &mut output)).is_ok())
}

fn decoder(name: &str, symbols: usize) -> Target {
    let mut output = vec![0; STANDARD.decoded_len_max(symbols)];
    Target::new(name, symbols, move |input| black_box(STANDARD.decode_into(input, &mut output)).is_ok())
}

pub(super) fn speed() -> Vec<SizedTarget> {
    let sizes = [SYMBOLS].into_iter().chain(SIZES.into_iter().skip(1));
    let both = |(bytes, size): (usize, &'static str)| {
        let encode = encoder("base64.encoding", bytes).class("random", |random, input| random.fill(input));
        let mut data = vec![0; bytes];
        let symbols = STANDARD.encoded_len(bytes).expect("a length that exists");
        let decode = decoder("base64.decoding", symbols).class("random", move |random, input| {
            random.fill(&mut data);
            STANDARD.encode_into(&data, input).expect("room for all symbols");
        });
        [encode, decode].map(|target| SizedTarget { target, bytes: bytes as u64, size: size.to_owned() })
    };
    sizes.flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_lab::Random;

    /// Calls `check` for inputs of every class, with the class's name, the class's outcome, and the input.
    fn each(mut target: Target, check: impl Fn(&str, &str, &[u8])) {
        let mut random = Random::new(1);
        let mut input = vec![0; target.length()];
        for class in 0..target.classes().len() {
            for _ in 0..100 {
                target.fill(class, &mut random, &mut input);
                let class = &target.classes()[class];
                check(class.name(), class.outcome(), &input);
            }
        }
    }

    fn is_of_kind(text: &[u8], kind: &str) -> bool {
        match kind {
            "uppercase" => text.iter().all(u8::is_ascii_uppercase),
            "lowercase" => text.iter().all(u8::is_ascii_lowercase),
            "special" => text.iter().all(|byte| b"+/".contains(byte)),
            "digits" => text.iter().all(u8::is_ascii_digit),
            "full range" => text.iter().all(|byte| Alphabet::Standard.symbols().contains(byte)),
            _ => false,
        }
    }

    #[test]
    fn each_class_encodes_to_its_own_symbols() {
        for target in timing().into_iter().filter(|target| target.name().starts_with("base64.encoding")) {
            each(target, |class, _, input| assert!(is_of_kind(STANDARD.encode(input).as_bytes(), class), "{class}"));
        }
    }

    #[test]
    fn each_class_of_texts_matches_its_name() {
        for target in timing().into_iter().filter(|target| target.name().starts_with("base64.decoding")) {
            each(target, |class, outcome, input| {
                assert_eq!(STANDARD.decode(input).is_ok(), outcome.is_empty(), "{class}");
                let strangers = input.iter().filter(|byte| !Alphabet::Standard.symbols().contains(byte)).count();
                match class {
                    "white space" => {
                        assert_eq!(strangers, input.len());
                        assert!(STANDARD.skipping_white_space().decode(input).is_ok_and(|bytes| bytes.is_empty()));
                    }
                    "invalid" => {
                        assert_eq!(strangers, input.len());
                        assert!(STANDARD.skipping_white_space().decode(input).is_err());
                    }
                    "one invalid" => assert_eq!(strangers, 1),
                    kind => assert!(is_of_kind(input, kind), "{kind}"),
                }
            });
        }
    }
}
