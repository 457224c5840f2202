//! Reports the properties of a function that the given classes of inputs do not test.

use super::{ArgumentPlace, Content, ForeignClass};
use crate::foreign::abi::{Abi, Part};

/// Returns warnings, and less serious notes, about classes that may test less than the user expects.
pub(crate) fn limits(abi: &Abi, classes: &[ForeignClass]) -> [Vec<String>; 2] {
    let (mut warnings, mut notes) = (Vec::new(), Vec::new());
    for (index, class) in classes.iter().enumerate() {
        if let Some(other) = classes[..index].iter().find(|other| other.content.same(&class.content, abi)) {
            warnings.push(format!(
                "the classes `{}` and `{}` have the same inputs, so comparing them shows nothing",
                other.name, class.name
            ));
        }
    }
    warnings.extend(classes.iter().filter(|class| is_alone_with_a_public_twin(class, classes, abi)).map(|class| {
        format!(
            "nothing of the result `{}` is compared: where one part is public, `{}` has a single input. State both \
             parts as secret, which gives it many",
            class.outcome, class.name
        )
    }));
    let records = classes.iter().any(|class| matches!(class.content, Content::Records(_)));
    match abi.pairs().count() {
        0 if records => {}
        0 => {
            let late = "a comparison that stops at the first difference is not tested by these classes";
            match abi.buffers().collect::<Vec<_>>()[..] {
                [a, b] if a.length.abs_diff(b.length) <= NEARLY => warnings.push(format!(
                    "the parts have {} and {} bytes, so there are no classes in which they are equal: {late}",
                    a.length, b.length
                )),
                _ => notes.push(format!(
                    "{late}: if the function compares the input with a value of its own, use --class-file with right \
                     guesses, and guesses that are wrong late"
                )),
            }
        }
        1 => {}
        _ => notes.push(
            "several parts have the same length; the classes equal, first, last and differs are about the first two. \
             A comparison of others that stops at the first difference is not tested: use --class-file"
                .to_owned(),
        ),
    }
    [warnings, notes]
}

/// Returns true if no other class has the same public result, and the only secret part of the inputs equals a public
/// part.
fn is_alone_with_a_public_twin(class: &ForeignClass, classes: &[ForeignClass], abi: &Abi) -> bool {
    let Some([first, second]) = abi.twins() else { return false };
    let known = first.kind.secret() != second.kind.secret() && abi.secret() == first.length;
    let alone = classes.iter().filter(|other| other.outcome == class.outcome).count() == 1;
    matches!(class.content, Content::Equal) && class.is_public() && known && alone
}

/// If the lengths of two parts differ by at most this number of bytes, the lab assumes that the function may compare
/// the parts.
const NEARLY: usize = 8;

impl Content {
    fn same(&self, other: &Self, abi: &Abi) -> bool {
        let place = |content: &Self| match (content, abi.twins()) {
            (Self::Differs(ArgumentPlace::Byte(place)), _) => Some(*place),
            (Self::Differs(ArgumentPlace::Last), Some([part, _])) => Some(part.length - 1),
            _ => None,
        };
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Records(a), Self::Records(b)) => a == b,
            (Self::Differs(_), Self::Differs(_)) => place(self) == place(other),
            _ => false,
        }
    }

    /// Returns whether the first bytes of two parts are equal more often than by chance.
    fn meets(&self, abi: &Abi) -> bool {
        match self {
            Self::Equal | Self::Differs(ArgumentPlace::Last) => true,
            Self::Differs(ArgumentPlace::Byte(place)) => *place > 0,
            // A record contains only the secret parts of an input. A public part is random.
            Self::Records(records) => abi.twins().is_some_and(|[a, b]| {
                let before = |part: Part| {
                    let earlier = abi.parts().filter(|other| other.kind.secret() && other.offset < part.offset);
                    earlier.map(|other| other.length).sum::<usize>()
                };
                let (a_at, b_at) = (before(a), before(b));
                let secret = a.kind.secret() && b.kind.secret();
                secret && records.chunks(abi.secret()).any(|record| record[a_at] == record[b_at])
            }),
            Self::Bytes(_) | Self::Random | Self::Bit => false,
        }
    }
}

/// Returns whether the classes may hide a comparison that stops at the first difference. The result is true if parts of
/// the same length differ in the first byte in nearly all inputs.
pub(crate) fn blind(abi: &Abi, classes: &[ForeignClass]) -> bool {
    !classes.is_empty() && abi.twins().is_some() && !classes.iter().any(|class| class.content.meets(abi))
}

/// Returns whether an input has two parts of the same length, so that the parts can be equal.
pub(crate) fn comparable(abi: &Abi) -> bool {
    abi.twins().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the classes whose names are in the text. The list may be empty.
    fn stated(classes: &str) -> Vec<ForeignClass> {
        if classes.is_empty() { Vec::new() } else { ForeignClass::list(classes).unwrap() }
    }

    #[test]
    fn classes_that_always_differ_in_the_first_byte_are_noticed() {
        let blind = |abi: &str, classes: &str| blind(&abi.parse().unwrap(), &stated(classes));
        assert!(blind("secret:8,public:8", "random") && blind("secret:8,public:8", "zeros,first"));
        assert!(!blind("secret:8,public:8", "random,last") && !blind("secret:8,public:8", ""));
        assert!(!blind("secret:8,public:9", "random"));
    }

    #[test]
    fn classes_that_test_less_than_they_seem_to_are_noticed() {
        let limits =
            |abi: &str, classes: &str| limits(&abi.parse().unwrap(), &stated(classes)).map(|lines| lines.len());
        assert_eq!(limits("secret:32,public:31", ""), [1, 0]);
        assert_eq!(limits("secret:32", ""), [0, 1]);
        assert_eq!(limits("secret:32,public:4096", "random,zeros"), [0, 1]);
        assert_eq!(limits("secret:32,public:32", ""), [0, 0]);
        assert_eq!(limits("secret:32,public:32,public:16", ""), [0, 0]);
        assert_eq!(limits("secret:32,public:32,secret:32", ""), [0, 1]);
        assert_eq!(limits("secret:16,public:16,secret:32,public:32", ""), [0, 1]);
        assert_eq!(limits("secret:32,public:32", "equal,differs:31,last"), [1, 0]);
        assert_eq!(limits("secret:32,public:32", "first,differs:0,differs:1"), [1, 0]);
        assert_eq!(limits("secret:32,public:32", "equal@valid,first@invalid"), [1, 0]);
        assert_eq!(limits("secret:32,secret:32", "equal@valid,first@invalid"), [0, 0]);
        assert_eq!(limits("secret:32,public:32", "equal@valid,random@valid"), [0, 0]);
    }

    #[test]
    fn records_that_differ_in_the_first_byte_are_noticed() {
        let blind = |abi: &str, records: Vec<u8>| {
            let class =
                ForeignClass { name: "a".to_owned(), outcome: String::new(), content: Content::Records(records) };
            blind(&abi.parse().unwrap(), &[class, "random".parse().unwrap()])
        };
        assert!(blind("secret:2,public:2", vec![1, 2]), "the public part is random");
        assert!(blind("secret:2,secret:2", vec![1, 2, 3, 2]));
        assert!(!blind("secret:2,secret:2", vec![1, 2, 3, 2, 1, 2, 1, 3]));
        assert!(!blind("secret:3,secret:2,public:5,secret:2", vec![9, 9, 9, 5, 1, 5, 2]));
    }
}
