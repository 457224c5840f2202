//! Command names of other programs, for suggestions: after `deadpan encrypt`, the error suggests `deadpan seal`.

/// Returns the command of Deadpan that corresponds to `word`, a command of another program. `parent` is the command
/// before the word, if any.
pub fn meant_by(parent: Option<&str>, word: &str) -> Option<&'static str> {
    let table = match parent {
        None => COMMANDS,
        Some("keys") => KEYS,
        Some(_) => return None,
    };
    let word = word.to_lowercase().replace('_', "-");
    table.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, command)| *command)
}

const COMMANDS: &[(&[&str], &str)] = &[
    (&["encrypt", "enc", "encode", "encipher", "crypt", "e"], "deadpan seal"),
    (&["decrypt", "dec", "decode", "decipher", "unseal", "d"], "deadpan open"),
    (&["lock"], "deadpan keys lock, for the agent's keys, or deadpan seal, for a file"),
    (&["unlock"], "deadpan keys unlock, for a key, or deadpan open, for a file"),
    (&["umount", "unmount"], "umount FOLDER, or without root: fusermount3 -u FOLDER"),
    (&["extract", "x"], "deadpan open, for a sealed file, or deadpan unpack, for an archive"),
    (
        &["gen-key", "genkey", "key-gen", "generate-key", "generate", "gen", "new-key", "newkey", "new", "init"],
        "deadpan keygen",
    ),
    (&["key", "contact", "contacts", "recipients", "list-keys"], "deadpan keys"),
    (&["import"], "deadpan keys import, for a private key, or deadpan keys add, for a contact"),
    (&["add-key", "add"], "deadpan keys add"),
    (&["export"], "deadpan keys export"),
    (&["passwd", "password"], "deadpan keys protect"),
    (&["ls", "l", "contents"], "deadpan list"),
    (&["info", "show", "stat", "dump"], "deadpan inspect"),
    (&["rekey", "reencrypt", "re-encrypt", "readdress", "share-with", "grant", "revoke"], "deadpan rewrap"),
    (&["par2", "recover", "parity", "fix", "heal"], "deadpan repair"),
    (&["check", "test"], "deadpan open --verify, for a sealed file, or deadpan verify, for a signature"),
    (&["tar", "archive", "create", "zip", "a"], "deadpan pack"),
    (&["untar", "unzip"], "deadpan unpack"),
    (&["rand", "urandom", "bytes"], "deadpan random"),
    (&["html", "web", "webpage", "browser"], "deadpan page"),
    (&["bench", "benchmark", "speed"], "deadpan lab speed"),
    (&["completion"], "deadpan completions"),
    (&["manual", "manpage"], "deadpan man"),
    (&["version"], "deadpan --version"),
];

const KEYS: &[(&[&str], &str)] = &[
    (&["ls", "show"], "deadpan keys"),
    (&["new-contact"], "deadpan keys add"),
    (&["rm", "delete", "del"], "deadpan keys remove"),
    (&["encrypt", "passwd", "password", "passphrase"], "deadpan keys protect"),
    (&["decrypt"], "deadpan keys unprotect"),
    (&["public", "pub", "print"], "deadpan keys export"),
    (&["use", "set-default", "select", "choose"], "deadpan keys default"),
    (&["generate", "gen", "new", "make", "create"], "deadpan keygen"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_synonym_leads_to_a_command_and_none_is_one() {
        let cli = crate::args::whole();
        for (parent, table) in [(&cli, COMMANDS), (cli.find_subcommand("keys").unwrap(), KEYS)] {
            for (words, meant) in table {
                for word in *words {
                    assert!(parent.find_subcommand(word).is_none(), "{word} is a command");
                    assert_eq!(meant_by(Some(parent.get_name()).filter(|name| *name == "keys"), word), Some(*meant));
                }
                let mut command = &cli;
                let ours = meant.split(',').next().unwrap().strip_prefix("deadpan ").unwrap_or_default();
                for word in ours.split_whitespace().filter(|word| !word.starts_with('-')) {
                    command = command.find_subcommand(word).unwrap_or_else(|| panic!("{meant}"));
                }
            }
        }
    }
}
