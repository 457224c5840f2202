//! Advice for errors of sealing and opening.

use std::borrow::Cow;

use super::key;
use crate::tell::patience::PLUGIN;
use deadpan_seal::plugin::{About, PluginError, Reason};
use deadpan_seal::{Cost, Error, InvalidKey, LooksLike, ShareFault};

const ANOTHER_COPY: &str = "get another copy of the file";
const QUIET_FILE: &str = "wait until nobody writes to it";

pub fn advise(error: &Error) -> Option<Cow<'static, str>> {
    if let Error::TooCostly(cost) = error {
        return Some(format!("if you trust the sender, allow this cost with {}", max_cost(*cost)).into());
    }
    if let Error::Plugin(error) = error {
        return plugin(error);
    }
    fixed(error).map(Cow::Borrowed)
}

/// Returns the option `--max-cost` with a value that allows this cost.
pub fn max_cost(cost: Cost) -> String {
    let (number, unit) = match cost.memory {
        kib if kib % (1 << 20) == 0 => (kib >> 20, "GiB"),
        kib if kib % (1 << 10) == 0 => (kib >> 10, "MiB"),
        kib => (kib, "KiB"),
    };
    format!("--max-cost {number}{unit}:{}", cost.passes)
}

fn plugin(error: &PluginError) -> Option<Cow<'static, str>> {
    Some(match error.reason() {
        Reason::Missing => format!("install {} so that it is in PATH", error.program()).into(),
        Reason::Refused { about, .. } => match about {
            About::Recipient => "ask its owner for the recipient again".into(),
            About::Identity | About::Stanza => "check that it is the right key, and its PIN or passphrase".into(),
            _ => "see the documentation of the plugin".into(),
        },
        Reason::Start(_) => "check the permissions of the program".into(),
        Reason::Silent(_) => format!("if it waits for you, give it more time: {}=300 (seconds)", PLUGIN).into(),
        Reason::Unanswered(_) => "run this on a terminal, where it can ask you".into(),
        Reason::Labels(_) => "seal a second copy for the others".into(),
        Reason::WrongKey => "the file was changed after sealing, or the plugin has a fault".into(),
        Reason::Ended(_) => "if it said why, that stands above; see its documentation".into(),
        Reason::Flood(_) | Reason::Protocol(_) | Reason::Stanza(_) | Reason::KeyLength(_) | Reason::NoStanza => {
            "the plugin has a fault; get another version of it".into()
        }
        _ => return None,
    })
}

fn fixed(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NotSealed(looks_like) => not_sealed(*looks_like),
        Error::Newer(_) => "a newer deadpan may open it",
        Error::Truncated => "the file was cut short; get a whole copy",
        Error::Armor(_) | Error::Header(_) | Error::HeaderForged | Error::Segment { .. } => ANOTHER_COPY,
        Error::Limit(_) => "the file is damaged or hostile; nothing of it was used",
        Error::Trailer(_) | Error::TrailerForged => ANOTHER_COPY,
        Error::SignatureForged => "somebody who can open the file changed it; nothing of it can be trusted",
        Error::WholeFile => ANOTHER_COPY,
        Error::Trailing => "two files were joined, or the file was changed",
        Error::Padding => "the writer of this file was not Deadpan, or had a fault",
        Error::Key(error) => return key::advise(error),
        Error::Sign(error) => return super::sign::advise(error),
        Error::NoKeyFits(_) => "give the right key with -i, or ask the sender who it was sealed to",
        Error::TooFewShares { .. } => {
            "give more keys with -i, or ask other members: each runs `deadpan share open -r YOU FILE`, and you open \
             with --share"
        }
        Error::Share(fault) => share(*fault),
        Error::WrongPassphrase => key::PASSPHRASE,
        Error::NoRecipients => "name at least one with -r, or seal with a passphrase: -p",
        Error::Mixed(_) => "leave it out, seal a second copy for it, or ask for --mode ecc",
        Error::TooMany(_) => "seal a second copy for the others",
        Error::Threshold(_) => "files that several keys open together are made with: deadpan seal --any",
        Error::InvalidKey(invalid) => invalid_key(*invalid),
        Error::EmptyPassphrase => "choose one that others will not guess",
        Error::NotRegular => "send it through a pipe: deadpan seal < FILE",
        Error::NotEmpty => "name a new file with -o",
        Error::TooLong => "split the data into several files",
        Error::Shrank => QUIET_FILE,
        _ => return None,
    })
}

fn share(fault: ShareFault) -> &'static str {
    match fault {
        ShareFault::Form => "name a file that a member made with: deadpan share open",
        ShareFault::OtherFile => "ask its owner for the share of this file: deadpan share open",
        _ => "ask its owner for it again, or collect the share of another member",
    }
}

fn not_sealed(looks_like: LooksLike) -> &'static str {
    match looks_like {
        LooksLike::Age => "nothing may stand before the armor of an age file; remove it",
        LooksLike::OpenPgp => "open it with: gpg --decrypt",
        LooksLike::Pem => "if it holds a key, give it with -i",
        LooksLike::Png | LooksLike::WebP => "if it carries data: deadpan picture reveal",
        LooksLike::Html => {
            "if it holds a sealed file, cut that out with: sed -n '/^-----BEGIN DEADPAN/,/^-----END DEADPAN/p' FILE"
        }
        LooksLike::Format(_) => "it is not sealed; open it with the program that made it",
        LooksLike::OpenSsl => "open it with: openssl enc -d",
        LooksLike::ChangedLineEnds => "send it as binary, or sealed with --armor",
        _ => "check that it is the right file",
    }
}

fn invalid_key(invalid: InvalidKey) -> &'static str {
    match invalid {
        InvalidKey::PublicLength | InvalidKey::PrivateLength => {
            "a part of the key is missing, or the key is of another kind"
        }
        InvalidKey::Private => "the key is damaged; get it from a backup, or make a new one",
        InvalidKey::SmallOrder => "nobody has such a key by chance; ask its owner",
        _ => "the key is damaged; get it again from its owner",
    }
}
