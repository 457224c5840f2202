//! Classes of inputs for code that is not written in Rust. Users choose the classes by name or store the inputs in
//! files.

#[cfg(feature = "harness")]
mod limits;

use std::fs;
use std::path::Path;
use std::str::FromStr;

use super::Error;
use super::abi::{Abi, Part};
use crate::random::Random;
use crate::target::Target;
#[cfg(feature = "harness")]
pub(crate) use limits::{blind, comparable, limits};

/// A class of inputs, which determines how the lab chooses the secret parts of an input. Public parts are random in all
/// classes, but all inputs of one trace have the same public parts.
#[derive(Clone, Debug)]
pub struct ForeignClass {
    name: String,
    /// The public result of the function, or an empty string if all results are secret.
    outcome: String,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    /// All secret bytes have this value.
    Bytes(u8),
    Random,
    /// A single bit at a random position is set.
    Bit,
    /// Two parts are equal.
    Equal,
    /// Two parts are equal except for the byte at this position.
    Differs(ArgumentPlace),
    /// Records of secret bytes, stored one after the other.
    Records(Vec<u8>),
}

#[derive(Clone, Copy, Debug)]
enum ArgumentPlace {
    Byte(usize),
    Last,
}

/// The maximum length of a file with records.
const LARGEST: u64 = 1 << 30;

const NAMES: &str = "a class is zeros, ones, random, bit, equal, first, last or differs:N";

impl FromStr for ForeignClass {
    type Err = Error;

    /// Reads the name of a class:
    ///
    /// - `zeros`, `ones`, `random`: all secret bytes are 0, 255 or random
    /// - `bit`: a single bit of the secret is set, at a random place
    /// - `equal`: two parts of the same length are equal
    /// - `first`, `last`, `differs:N`: two parts of the same length differ in the first byte, the last byte, or byte N,
    ///   counted from 0
    ///
    /// An `@` separates a public result from the name: `equal@valid`. Only classes with the same public result are
    /// compared.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, outcome) = named(text)?;
        let content = match name {
            "zeros" => Content::Bytes(0),
            "ones" => Content::Bytes(255),
            "random" => Content::Random,
            "bit" => Content::Bit,
            "equal" => Content::Equal,
            "first" => Content::Differs(ArgumentPlace::Byte(0)),
            "last" => Content::Differs(ArgumentPlace::Last),
            _ => match name.strip_prefix("differs:").map(str::parse) {
                Some(Ok(place)) => Content::Differs(ArgumentPlace::Byte(place)),
                _ => return Err(Error::Class { name: text.to_owned(), why: NAMES.to_owned() }),
            },
        };
        Ok(Self { name: name.to_owned(), outcome: outcome.to_owned(), content })
    }
}

/// Splits a text such as `equal@valid` into the name of a class and its public result.
fn named(text: &str) -> Result<(&str, &str), Error> {
    if text.chars().any(char::is_control) {
        let why = "a name contains no control characters".to_owned();
        return Err(Error::Class { name: text.escape_debug().to_string(), why });
    }
    match text.split_once('@') {
        None => Ok((text, "")),
        Some((name, outcome)) if !name.is_empty() && !outcome.is_empty() => Ok((name, outcome)),
        Some(_) => {
            let why = "a name and a public result stand around the @, as in equal@valid".to_owned();
            Err(Error::Class { name: text.to_owned(), why })
        }
    }
}

impl ForeignClass {
    /// Creates a class from a file of records. Each record contains the secret bytes of one input, in the order of the
    /// arguments. Each input uses a record that is chosen at random. The name may end with a public result, as in
    /// `good@valid`.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn from_file(name: &str, path: &Path, abi: &Abi) -> Result<Self, Error> {
        let fault = |why: String| Error::ClassFile { path: path.to_owned(), why };
        let unread = |error| fault(format!("cannot read the file: {error}"));
        let about = fs::metadata(path).map_err(unread)?;
        if !about.is_file() || about.len() > LARGEST {
            return Err(fault(format!("it is not a regular file of at most {} MiB", LARGEST >> 20)));
        }
        let bytes = fs::read(path).map_err(unread)?;
        let (length, secret) = (bytes.len(), abi.secret());
        if bytes.is_empty() {
            return Err(fault("the file is empty".to_owned()));
        }
        if !length.is_multiple_of(secret) {
            return Err(fault(format!(
                "its length in bytes, {length}, is not a multiple of the {secret} secret bytes of an input"
            )));
        }
        let (name, outcome) = named(name)?;
        Ok(Self { name: name.to_owned(), outcome: outcome.to_owned(), content: Content::Records(bytes) })
    }

    /// Reads a list such as `equal,first,differs:16`.
    ///
    /// # Errors
    /// Fails if the list contains an unknown name.
    pub fn list(text: &str) -> Result<Vec<Self>, Error> {
        text.split(',').map(|name| name.trim().parse()).collect()
    }

    #[cfg(feature = "harness")]
    pub(crate) fn is_public(&self) -> bool {
        !self.outcome.is_empty()
    }

    fn possible(&self, abi: &Abi) -> Result<(), Error> {
        let fault = |why: String| Err(Error::Class { name: self.name.clone(), why });
        match (&self.content, abi.twins()) {
            (Content::Equal | Content::Differs(_), None) => {
                fault("no two parts of the input have the same length".to_owned())
            }
            (Content::Differs(ArgumentPlace::Byte(place)), Some([part, _])) if *place >= part.length => {
                fault(format!("the parts have only {} bytes, counted from 0", part.length))
            }
            _ => Ok(()),
        }
    }

    fn fill(&self, abi: &Abi, random: &mut Random, input: &mut [u8]) {
        // For the parts of an input, every class draws the same number of random numbers from the generator. After the
        // random numbers for the parts, a class may draw more random numbers for its own content.
        let mut public = random.public();
        for part in abi.parts() {
            let random = if part.kind.secret() { &mut *random } else { &mut public };
            random.fill(bytes(input, *part));
        }
        let secrets = abi.parts().filter(|part| part.kind.secret());
        match &self.content {
            Content::Bytes(value) => secrets.for_each(|part| bytes(input, *part).fill(*value)),
            Content::Random => {}
            Content::Bit => {
                let mut bit = random.below(8 * abi.secret() as u64) as usize;
                for part in secrets {
                    let part = bytes(input, *part);
                    part.fill(0);
                    if let Some(byte) = part.get_mut(bit / 8) {
                        *byte = 1 << (bit % 8);
                    }
                    // Makes `bit` relative to the start of the next part.
                    bit = bit.wrapping_sub(8 * part.len());
                }
            }
            Content::Equal | Content::Differs(_) => {
                let Some([first, second]) = abi.twins() else { return };
                let [from, to] = if second.kind.secret() { [first, second] } else { [second, first] };
                input.copy_within(from.offset..from.offset + from.length, to.offset);
                if let Content::Differs(place) = self.content {
                    let place = if let ArgumentPlace::Byte(place) = place { place } else { to.length - 1 };
                    bytes(input, to)[place] ^= 1 + random.below(255) as u8;
                }
            }
            Content::Records(records) => {
                let length = abi.secret();
                let mut record = &records[random.below((records.len() / length) as u64) as usize * length..];
                for part in secrets {
                    let (now, rest) = record.split_at(part.length);
                    bytes(input, *part).copy_from_slice(now);
                    record = rest;
                }
            }
        }
    }
}

fn bytes(input: &mut [u8], part: Part) -> &mut [u8] {
    &mut input[part.offset..part.offset + part.length]
}

/// Adds classes to a target: the classes in `classes`, or the usual classes for the target's arguments.
pub(crate) fn add(mut target: Target, abi: &Abi, classes: &[ForeignClass]) -> Result<Target, Error> {
    for class in classes {
        class.possible(abi)?;
    }
    let names = |names: &[&str]| names.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>();
    for (index, class) in classes.iter().enumerate() {
        if classes[..index].iter().any(|other| other.name == class.name) {
            return Err(Error::Class { name: class.name.clone(), why: "it is stated twice".to_owned() });
        }
    }
    let usual = classes.is_empty();
    let mut all = if usual { names(&["random", "zeros", "ones", "bit"])? } else { classes.to_vec() };
    let mut pairs = vec![("random", "zeros"), ("random", "ones"), ("random", "bit")];
    if usual && abi.twins().is_some() {
        all.extend(names(&["equal", "first", "last"])?);
        pairs.extend([("equal", "first"), ("equal", "last"), ("first", "last")]);
    }
    note_classes(all.iter().map(|class| class.name.as_str()));
    for (index, class) in all.into_iter().enumerate() {
        let (name, outcome, abi) = (class.name.clone(), class.outcome.clone(), abi.clone());
        target = target.class_with_outcome(name, outcome, move |random, input| {
            between_calls(index);
            class.fill(&abi, random, input);
        });
    }
    if usual {
        target = pairs.into_iter().fold(target, |target, (a, b)| target.pair(a, b));
    } else {
        target = target.within_outcomes();
    }
    Ok(target)
}

#[cfg(all(unix, feature = "harness"))]
use super::supervised::{between_calls, note_classes};

/// Does nothing, because without the harness no other process needs the names of the classes.
#[cfg(not(all(unix, feature = "harness")))]
fn note_classes<'n>(_names: impl Iterator<Item = &'n str>) {}
#[cfg(not(all(unix, feature = "harness")))]
fn between_calls(_class: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(class: &str, abi: &str) -> Vec<u8> {
        let abi: Abi = abi.parse().unwrap();
        let mut input = vec![0; abi.length()];
        class.parse::<ForeignClass>().unwrap().fill(&abi, &mut Random::new(3), &mut input);
        input
    }

    #[test]
    fn classes_draw_secrets_and_leave_public_parts_random() {
        let abi = "secret:4,public:8,secret:3";
        for (class, value) in [("zeros", 0), ("ones", 255)] {
            let input = drawn(class, abi);
            assert!(input[..4].iter().chain(&input[12..]).all(|&byte| byte == value), "{class}: {input:?}");
            assert!(input[4..12].iter().any(|&byte| byte != value), "{class}: {input:?}");
        }
        assert_eq!(drawn("random", abi)[4..12], drawn("zeros", abi)[4..12]);
    }

    #[test]
    fn a_single_bit_is_set_over_all_secret_parts() {
        let abi: Abi = "secret:1,public:4,secret:2".parse().unwrap();
        let (mut random, mut seen) = (Random::new(1), [0_u8; 7]);
        let class: ForeignClass = "bit".parse().unwrap();
        for _ in 0..500 {
            let mut input = [0; 7];
            class.fill(&abi, &mut random, &mut input);
            input[1..5].fill(0);
            assert_eq!(input.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1, "{input:?}");
            seen.iter_mut().zip(input).for_each(|(seen, byte)| *seen |= byte);
        }
        assert_eq!(seen, [255, 0, 0, 0, 0, 255, 255]);
    }

    #[test]
    fn compared_parts_are_equal_except_for_the_stated_byte() {
        let differ = |class: &str| {
            let input = drawn(class, "secret:8,public:8");
            (0..8).filter(|&place| input[place] != input[8 + place]).collect::<Vec<_>>()
        };
        assert!(differ("equal").is_empty());
        assert_eq!(differ("first"), [0]);
        assert_eq!(differ("last"), [7]);
        assert_eq!(differ("differs:3"), [3]);
    }

    #[test]
    #[cfg(feature = "trace")]
    fn the_inputs_of_a_trace_have_the_same_public_parts() {
        let abi: Abi = "secret:8,public:8".parse().unwrap();
        let mut random = Random::with_same_public(5);
        let inputs = ["random", "equal", "first", "zeros"].map(|class| {
            let mut input = [0; 16];
            class.parse::<ForeignClass>().unwrap().fill(&abi, &mut random, &mut input);
            input
        });
        assert!(inputs.iter().all(|input| input[8..] == inputs[0][8..]), "{inputs:?}");
        assert_eq!(inputs[1][..8], inputs[1][8..]);
        assert_ne!(inputs[0][..8], inputs[3][..8]);
    }

    #[test]
    fn classes_with_different_public_results_are_not_compared() {
        let abi: Abi = "secret:8,public:8".parse().unwrap();
        let classes = ForeignClass::list("equal@valid,first@invalid,last@invalid").unwrap();
        let target = add(Target::new("t", 16, |input| input[0]), &abi, &classes).unwrap();
        let outcomes: Vec<_> = target.classes().iter().map(|class| (class.name(), class.outcome())).collect();
        assert_eq!(outcomes, [("equal", "valid"), ("first", "invalid"), ("last", "invalid")]);
        assert_eq!(target.pairs(), [(1, 2)]);
        assert!(["equal@", "@valid"].iter().all(|text| text.parse::<ForeignClass>().is_err()));
        let twice = ForeignClass::list("first,first@x").unwrap();
        assert!(add(Target::new("t", 16, |input| input[0]), &abi, &twice).is_err());
    }

    #[test]
    fn files_of_records_are_regular_and_names_have_no_control_characters() {
        let abi: Abi = "secret:8".parse().unwrap();
        for path in ["/", "/dev/zero"] {
            let error = ForeignClass::from_file("a", Path::new(path), &abi).map(drop).unwrap_err().to_string();
            assert!(!cfg!(unix) || error.contains("regular file"), "{error}");
        }
        let error = "zeros@\u{1b}[2J".parse::<ForeignClass>().unwrap_err().to_string();
        assert!(error.contains("control") && !error.contains('\u{1b}'), "{error}");
    }

    #[test]
    fn impossible_classes_are_refused() {
        let add = |class: &str, abi: &str| {
            let abi: Abi = abi.parse().unwrap();
            let target = Target::new("t", abi.length(), |input| input[0]);
            class.parse().and_then(|class| add(target, &abi, &[class])).map(drop).map_err(|error| error.to_string())
        };
        assert!(add("differs:7", "secret:8,public:8").is_ok());
        for (class, abi, why) in [
            ("differs:8", "secret:8,public:8", "only 8 bytes"),
            ("equal", "secret:8,public:9", "same length"),
            ("eqal", "secret:8", "a class is zeros"),
            ("differs:x", "secret:8,public:8", "a class is zeros"),
        ] {
            assert!(add(class, abi).is_err_and(|error| error.contains(why)), "{class}");
        }
    }
}
