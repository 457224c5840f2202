//! The arguments of a function. An argument is a pointer to secret or public bytes, a pointer to an output, or an
//! integer.

use super::Error;

/// Maximum number of arguments.
pub(crate) const MOST: usize = 6;
/// Maximum length of a part in bytes.
const LONGEST: usize = 16 << 20;

/// The arguments of a function, in order.
///
/// ```
/// use deadpan_lab::foreign::Abi;
///
/// // int compare(const uint8_t left[32], const uint8_t right[32], size_t length);
/// let abi: Abi = "secret:32,public:32,int:32->int".parse()?;
/// assert_eq!(abi.length(), 64);
/// # Ok::<(), deadpan_lab::foreign::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abi {
    pub(crate) arguments: Vec<Argument>,
    length: usize,
}

/// An argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// A pointer to a part of the input, or an integer whose value is stored in a part of the input.
    Input(Part),
    /// A pointer to an output of this number of bytes, to which the function may write.
    Output(usize),
    /// An integer that is the same in each call.
    Constant(i64),
}

/// A part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    /// The position in the input.
    pub(crate) offset: usize,
    /// Length in bytes.
    pub(crate) length: usize,
}

/// The meaning of a part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Secret bytes, which differ between the classes of inputs.
    Secret,
    /// Random bytes, which are drawn in the same way for all classes of inputs.
    Public,
    /// Secret bytes that the function may change.
    Changed,
    /// A secret integer, which is passed by value.
    Integer,
}

impl Kind {
    pub(crate) fn secret(self) -> bool {
        self != Self::Public
    }
}

impl Abi {
    /// The length of an input in bytes: the total length of all secret and public parts.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the parts of the input.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> + Clone {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Input(part) => Some(part),
            _ => None,
        })
    }

    /// Returns the number of secret bytes.
    pub(crate) fn secret(&self) -> usize {
        self.parts().filter(|part| part.kind.secret()).map(|part| part.length).sum()
    }

    /// Returns the parts that the function receives through a pointer.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &Part> + Clone {
        self.parts().filter(|part| part.kind != Kind::Integer)
    }

    /// Returns all pairs of parts that have the same length and contain at least one secret part.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [Part; 2]> {
        let twins = |[a, b]: &[Part; 2]| a.length == b.length && (a.kind.secret() || b.kind.secret());
        let later = |(index, &part): (usize, &Part)| self.buffers().skip(index + 1).map(move |&other| [part, other]);
        self.buffers().enumerate().flat_map(later).filter(twins)
    }

    /// Returns the first pair of [`Self::pairs`].
    pub(crate) fn twins(&self) -> Option<[Part; 2]> {
        self.pairs().next()
    }

    /// Moves each part to an offset that is a multiple of `align` bytes, because functions may expect that their
    /// pointers are aligned.
    pub(crate) fn aligned(mut self, align: usize) -> Self {
        let mut end = 0;
        for argument in &mut self.arguments {
            if let Argument::Input(part) = argument {
                part.offset = end;
                end = (end + part.length).next_multiple_of(align);
            }
        }
        self.length = end;
        self
    }
}

impl std::str::FromStr for Abi {
    type Err = Error;

    /// Parses a description of arguments, such as `secret:32,public:32,out:32`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (list, result) = text.split_once("->").map_or((text, None), |(list, result)| (list, Some(result.trim())));
        if let Some(result) = result.filter(|result| !RESULTS.contains(result)) {
            return Err(fault(result, format!("a result is one of {}", RESULTS.join(", "))));
        }
        let mut arguments = Vec::new();
        for part in list.split(',').map(str::trim) {
            arguments.push(argument(part)?);
        }
        if arguments.len() > MOST {
            return Err(fault(text, format!("a function has at most {MOST} arguments")));
        }
        let abi = Self { arguments, length: 0 }.aligned(1);
        if abi.secret() == 0 {
            return Err(fault(text, "no argument is secret, so there is nothing to compare".to_owned()));
        }
        Ok(abi)
    }
}

/// The result types that a description may state. The lab ignores the result of a function.
const RESULTS: [&str; 6] = ["void", "int", "long", "size", "bool", "pointer"];

const KINDS: &str =
    "an argument is secret:N, public:N, inout:N, out:N, scratch:N, secret-int:N, int:VALUE or len:VALUE";

fn fault(part: &str, why: impl Into<String>) -> Error {
    Error::Abi { part: part.to_owned(), why: why.into() }
}

fn argument(part: &str) -> Result<Argument, Error> {
    let Some((kind, value)) = part.split_once(':') else { return Err(fault(part, KINDS)) };
    let input = |kind| {
        let length = length(part, value)?;
        Ok(Argument::Input(Part { kind, offset: 0, length }))
    };
    match kind.trim() {
        "secret" => input(Kind::Secret),
        "public" => input(Kind::Public),
        "inout" => input(Kind::Changed),
        "secret-int" if !["1", "2", "4", "8"].contains(&value.trim()) => {
            Err(fault(part, "an integer has 1, 2, 4 or 8 bytes"))
        }
        "secret-int" => input(Kind::Integer),
        "out" | "scratch" => Ok(Argument::Output(length(part, value)?)),
        "int" | "len" => integer(value.trim())
            .map(Argument::Constant)
            .ok_or_else(|| fault(part, "the value is not an integer such as 32, -1 or 0x20")),
        _ => Err(fault(part, KINDS)),
    }
}

fn length(part: &str, value: &str) -> Result<usize, Error> {
    match value.trim().parse() {
        Ok(length) if (1..=LONGEST).contains(&length) => Ok(length),
        _ => Err(fault(part, format!("the length is not a number from 1 to {LONGEST}"))),
    }
}

fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Abi {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn arguments_keep_their_order_and_parts_follow_each_other() {
        let abi = parsed("out:32, secret:5,public:3,int:-1,len:0x10,secret-int:4 -> int");
        let part = |kind, offset, length| Argument::Input(Part { kind, offset, length });
        assert_eq!(
            abi.arguments,
            [
                Argument::Output(32),
                part(Kind::Secret, 0, 5),
                part(Kind::Public, 5, 3),
                Argument::Constant(-1),
                Argument::Constant(16),
                part(Kind::Integer, 8, 4),
            ]
        );
        assert_eq!((abi.length(), abi.secret()), (12, 9));
        let aligned = abi.aligned(16);
        assert_eq!(aligned.parts().map(|part| part.offset).collect::<Vec<_>>(), [0, 16, 32]);
        assert_eq!(aligned.length(), 48);
    }

    #[test]
    fn the_twins_are_the_first_two_buffers_of_one_length() {
        let twins = |text: &str| parsed(text).twins().map(|twins| twins.map(|part| part.offset));
        assert_eq!(twins("secret:32,public:32,int:32"), Some([0, 32]));
        assert_eq!(twins("public:8,public:8,secret:4,secret:8"), Some([0, 20]));
        assert_eq!(twins("secret:32,public:16"), None);
    }

    #[test]
    fn a_wrong_description_is_refused_and_the_message_names_the_part() {
        for (text, part, why) in [
            ("secret:32,pubic:32", "pubic:32", "secret:N"),
            ("secret", "secret", "secret:N"),
            ("", "", "secret:N"),
            ("secret:0", "secret:0", "from 1 to"),
            ("secret:99999999999", "secret:99999999999", "from 1 to"),
            ("secret:8,out:x", "out:x", "from 1 to"),
            ("secret:8,int:x", "int:x", "not an integer"),
            ("secret-int:3", "secret-int:3", "1, 2, 4 or 8"),
            ("secret:8->struct", "struct", "void"),
            ("public:8,out:8", "public:8,out:8", "no argument is secret"),
            ("secret:1,int:1,int:1,int:1,int:1,int:1,int:1", "secret:1,int:1,int:1,int:1,int:1,int:1,int:1", "at most"),
        ] {
            let error = text.parse::<Abi>().expect_err(text);
            let Error::Abi { part: found, why: reason } = &error else { panic!("{error}") };
            assert!(found == part && reason.contains(why), "{text}: {error}");
        }
    }
}
