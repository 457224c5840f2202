//! The first message of a worker: its language, its clock and its targets.

use super::abi::{Abi, Argument, Kind};
use super::class::ForeignClass;
use crate::visible::visible;

/// The first bytes of a worker's first message.
pub(super) const MAGIC: &[u8; 4] = b"DPWK";
/// The version of the protocol.
pub const VERSION: u32 = 1;
/// Maximum length of the first message's text.
pub(super) const LONGEST: u32 = 1 << 20;
/// The largest number of warm-up calls that a worker may request.
const MOST_WARM_UP: u32 = 10_000_000;

/// A worker's description of itself.
#[derive(Clone, Debug)]
pub struct Hello {
    /// The programming language.
    pub language: String,
    /// The runtime and its version.
    pub runtime: String,
    /// The name of the clock.
    pub clock: String,
    /// Ticks of the clock in a second.
    pub hertz: f64,
    /// The number of warm-up calls that each target needs before the lab measures.
    pub warm_up: u32,
    pub(super) targets: Vec<Entry>,
}

/// A function that a worker offers.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) abi: Abi,
    pub(super) classes: Vec<ForeignClass>,
}

impl Hello {
    /// Reads the text of the first message. If the text is not valid, the error contains the wrong line and the reason.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut hello = Self {
            language: String::new(),
            runtime: String::new(),
            clock: String::new(),
            hertz: f64::NAN,
            warm_up: 0,
            targets: Vec::new(),
        };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let wrong = |why: &str| format!("the line `{}` of its first message: {why}", visible(line));
            if line.chars().any(char::is_control) {
                return Err(wrong("a control character"));
            }
            let (key, value) = line.split_once(':').ok_or_else(|| wrong("no colon"))?;
            let value = value.trim();
            match key.trim() {
                "language" => value.clone_into(&mut hello.language),
                "runtime" => value.clone_into(&mut hello.runtime),
                "clock" => value.clone_into(&mut hello.clock),
                "hertz" => {
                    let hertz = value.parse().ok().filter(|hertz: &f64| !hertz.is_nan());
                    hello.hertz = hertz.ok_or_else(|| wrong("not a number"))?;
                }
                "warm-up" => match value.parse() {
                    Ok(calls @ 0..=MOST_WARM_UP) => hello.warm_up = calls,
                    _ => return Err(wrong(&format!("not a number of calls from 0 to {MOST_WARM_UP}"))),
                },
                "target" => {
                    let entry = entry(value).map_err(|why| wrong(&why))?;
                    if hello.targets.iter().any(|other| other.name == entry.name) {
                        return Err(wrong("another target has this name"));
                    }
                    hello.targets.push(entry);
                }
                // A later version of the protocol may add lines that this version does not need.
                _ => {}
            }
        }
        for (key, missing) in [
            ("language", hello.language.is_empty()),
            ("clock", hello.clock.is_empty()),
            ("hertz", hello.hertz.is_nan()),
            ("target", hello.targets.is_empty()),
        ] {
            if missing {
                return Err(format!("its first message has no line `{key}: …`"));
            }
        }
        if !(1e3..=1e13).contains(&hello.hertz) {
            return Err(format!("its clock has {} ticks in a second, which no clock has", hello.hertz));
        }
        Ok(hello)
    }
}

fn entry(text: &str) -> Result<Entry, String> {
    let mut words = text.split_whitespace();
    let (Some(name), Some(parts), classes, None) = (words.next(), words.next(), words.next(), words.next()) else {
        return Err("a target has a name, the parts of its input, and perhaps classes".to_owned());
    };
    let abi: Abi = parts.parse().map_err(|error: super::Error| error.to_string())?;
    let plain = |argument: &Argument| match argument {
        Argument::Input(part) => matches!(part.kind, Kind::Secret | Kind::Public),
        _ => false,
    };
    if !abi.arguments.iter().all(plain) {
        return Err("the input of a worker has the parts secret:N and public:N only".to_owned());
    }
    let classes = match classes {
        Some(list) => ForeignClass::list(list).map_err(|error| error.to_string())?,
        None => Vec::new(),
    };
    Ok(Entry { name: name.to_owned(), abi, classes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "language: Lua\nruntime: LuaJIT 2.1\nclock: os.clock\nhertz: 1e6\nwarm-up: 100\nfuture: x\n\
        target: eq secret:8,public:8 equal,random\ntarget: hash secret:64\n";

    #[test]
    fn a_first_message_has_lines_with_keys() {
        let hello = Hello::parse(TEXT).unwrap();
        assert_eq!((hello.language.as_str(), hello.hertz, hello.warm_up), ("Lua", 1e6, 100));
        let targets: Vec<_> =
            hello.targets.iter().map(|entry| (entry.name.as_str(), entry.abi.length(), entry.classes.len())).collect();
        assert_eq!(targets, [("eq", 16, 2), ("hash", 64, 0)]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (old, new, why) in [
            ("hertz: 1e6", "hertz: fast", "`hertz: fast`"),
            ("warm-up: 100", "warm-up: 4000000000", "from 0 to 10000000"),
            ("hertz: 1e6", "hertz: 0", "which no clock has"),
            ("hertz: 1e6", "hertz: NaN", "not a number"),
            ("hertz: 1e6\n", "", "no line `hertz: …`"),
            ("target: hash", "target: eq", "another target has this name"),
            ("language: Lua\n", "", "no line `language: …`"),
            ("runtime: LuaJIT 2.1", "runtime", "no colon"),
            ("runtime: LuaJIT 2.1", "runtime: \x1b[2J", "`runtime: \\u{1b}[2J`"),
            ("secret:64", "secret:x", "secret:x"),
            ("secret:64", "secret:64,out:8", "secret:N and public:N only"),
            ("equal,random", "equal,randm", "randm"),
            ("equal,random", "equal, random", "a target has"),
        ] {
            let error = Hello::parse(&TEXT.replace(old, new)).expect_err(new);
            assert!(error.contains(why), "{error}");
        }
    }
}
