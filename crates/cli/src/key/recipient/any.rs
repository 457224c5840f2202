//! `--any N`: any N of the recipients open a file together.

use crate::tell::failure::Failure;
use crate::tell::shown::count;
use deadpan_seal::{PublicKey, Recipient, Threshold};

/// Refuses `--any` if its number is not valid or contradicts the other options. The check runs before any key is read.
pub fn check(needed: u8, names_nobody: bool, passphrase: bool) -> Result<(), Failure> {
    if needed < 2 {
        let hint = "leave out --any: then each recipient opens it alone";
        return Err(Failure::usage(format!("--any {needed} is no threshold, which takes two keys at least"), hint));
    }
    if names_nobody {
        let hint = format!("name all of them with -r: --any {needed} -r alice -r bob -r carol");
        return Err(Failure::usage("--any chooses among the recipients, and none is named", hint));
    }
    if passphrase {
        let hint = "leave out the passphrase, or --any";
        return Err(Failure::usage("a passphrase cannot be one of the keys of --any", hint));
    }
    Ok(())
}

/// Returns a recipient for a group of keys. Any `needed` of these keys open the file together. Each key has a name.
pub fn group(needed: u8, keys: &[(String, PublicKey)]) -> Result<Recipient, Failure> {
    let named = count(keys.len() as u64, "key is named", "keys are named");
    if usize::from(needed) > keys.len() {
        return Err(Failure::usage(format!("--any {needed} needs {needed} keys, and {named}"), "name more with -r"));
    }
    if keys.len() > Threshold::MOST {
        let message = format!("--any takes {} keys at most, and {named}", Threshold::MOST);
        return Err(Failure::usage(message, "name fewer recipients"));
    }
    for (number, (name, key)) in keys.iter().enumerate() {
        if let Some((first, _)) = keys[..number].iter().find(|(_, other)| other == key) {
            let message = if first == name {
                format!("{name} is named twice, and would count as two of the keys of --any")
            } else {
                format!("{first} and {name} are the same key, which would count as two of the keys of --any")
            };
            return Err(Failure::usage(message, "name each key once"));
        }
    }
    let threshold = Threshold::new(needed.into(), keys.iter().map(|(_, key)| key.clone()).collect());
    threshold.map(Recipient::Threshold).map_err(|error| Failure::seal("", error))
}

/// Refuses recipients that cannot be members of the group, such as recipients of plugins: each such recipient would
/// open the file alone.
pub fn refuse_others(recipients: &[Recipient]) -> Result<(), Failure> {
    if recipients.iter().all(|recipient| matches!(recipient, Recipient::Threshold(_))) {
        return Ok(());
    }
    let hint = "name public keys only, or seal a second copy for the others";
    Err(Failure::usage("--any takes keys, and another recipient beside them would open the file alone", hint))
}
