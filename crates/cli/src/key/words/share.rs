//! Shares of a private key as words. Any K of the shares give the key, and fewer tell nothing about it. The words of a
//! share contain all that `deadpan keys restore` needs. docs/format-keys.md describes the bytes.

use aws_lc_rs::digest::{Context, SHA256};

use super::{BITS, CHANGED, decode, encode};
use crate::key::home::Public;
use crate::key::seed::SeedKind;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::count;
use deadpan_seal::key::Found;
use deadpan_seal::threshold::shamir;
use deadpan_seal::{Error, Secret};

/// The label of a share's checksum.
const CHECKSUM: &[u8] = b"deadpan key share: checksum";
/// The label of the key's check value.
const KEY: &[u8] = b"deadpan key share: key";
/// The number of bytes before the value: the kind, the numbers, the split and the check value of the key.
const FRONT: usize = 8;
/// The minimum length of the checksum, in bytes.
const LEAST: usize = 4;

/// The maximum number of shares.
pub const MOST: u8 = 16;

/// A share of a private key.
pub struct KeyShare {
    kind: SeedKind,
    /// How many shares give the key.
    pub needed: u8,
    /// The number of the share, which begins at 1.
    pub index: u8,
    /// A random number that all shares of one split have.
    split: [u8; 2],
    /// The beginning of a hash of the key's fingerprint.
    check: [u8; 4],
    value: Secret,
}

impl KeyShare {
    /// Splits a private key. Any `needed` of the `of` shares give the key.
    pub fn split(kind: SeedKind, seed: &[u8], public: &Public, needed: u8, of: u8) -> Result<Vec<Self>, Error> {
        let coefficients: Vec<_> = (1..needed).map(|_| Secret::random(seed.len())).collect::<Result<_, _>>()?;
        let split = Secret::random(2)?;
        let (split, check) = (split.first_chunk().copied().unwrap_or_default(), check(public));
        let value = |index| shamir::share(seed, &coefficients, index);
        Ok((1..=of).map(|index| Self { kind, needed, index, split, check, value: value(index) }).collect())
    }

    /// Returns the words of the share.
    pub fn words(&self) -> Vec<&'static str> {
        let mut bytes = Secret::zeroed(words_of(self.kind) * BITS / 8);
        bytes[0] = self.kind.number();
        bytes[1] = (self.needed - 1) << 4 | (self.index - 1);
        bytes[2..4].copy_from_slice(&self.split);
        bytes[4..FRONT].copy_from_slice(&self.check);
        let (contents, sum) = bytes.split_at_mut(FRONT + self.value.len());
        contents[FRONT..].copy_from_slice(&self.value);
        let digest = hash(CHECKSUM, contents);
        sum.copy_from_slice(&digest[..sum.len()]);
        encode(&bytes)
    }

    /// Reads the words of one share.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let bytes = decode(words)?;
        let kind = bytes.first().and_then(|number| SeedKind::of_number(*number)).ok_or(CHANGED)?;
        if words.len() != words_of(kind) {
            return Err(format!("it has {}, and this share has {}", words.len(), words_of(kind)));
        }
        let (contents, sum) = bytes.split_at(FRONT + kind.length());
        if hash(CHECKSUM, contents)[..sum.len()] != *sum {
            return Err(CHANGED.into());
        }
        let [_, numbers, a, b, check @ ..] = *contents.first_chunk::<FRONT>().ok_or(CHANGED)?;
        Ok(Self {
            kind,
            needed: (numbers >> 4) + 1,
            index: (numbers & 15) + 1,
            split: [a, b],
            check,
            value: Secret::copy_of(&contents[FRONT..]),
        })
    }

    /// Returns the number of words of the share that begins with this word, if a share can begin with this word.
    pub fn count_of(first: &str) -> Option<usize> {
        SeedKind::of_number(*decode(&[first]).ok()?.first()?).map(words_of)
    }

    /// Returns the private key that the shares give. Each share comes with the name of its file, for messages.
    pub fn join(shares: &[(String, Self)]) -> Result<Found, Failure> {
        let Some((first_name, first)) = shares.first() else {
            return Err(Failure::new(Exit::Data, "there are no shares", "name the files with the shares"));
        };
        let wrong = |message: String, hint: &str| Err(Failure::new(Exit::Data, message, hint));
        for (number, (name, share)) in shares.iter().enumerate() {
            let said = |share: &Self| (share.kind.number(), share.needed, share.split, share.check);
            if said(share) != said(first) {
                let what = if share.check == first.check { "was split another time" } else { "is of another key" };
                let message =
                    format!("{name}: share {} {what} than share {} in {first_name}", share.index, first.index);
                return wrong(message, "collect shares that were made together");
            }
            if let Some((earlier, _)) = shares[..number].iter().find(|(_, other)| other.index == share.index) {
                let message = format!("{name}: share {}, the same as in {earlier}", share.index);
                return wrong(message, "collect a share with another number");
            }
        }
        if let Some(missing) = usize::from(first.needed).checked_sub(shares.len()).filter(|missing| *missing > 0) {
            let (here, missing) = (shares.len() as u64, missing as u64);
            let message = format!(
                "the key takes {} of its shares, and {} here: {} missing",
                first.needed,
                count(here, "is", "are"),
                count(missing, "more is", "more are"),
            );
            return Err(Failure::new(Exit::Key, message, "name the files with the other shares, too"));
        }
        let values: Vec<_> = shares.iter().map(|(_, share)| (share.index, &share.value[..])).collect();
        let key = first.kind.key(&shamir::combine(&values)).ok();
        match key.filter(|key| Public::from_key(key).is_some_and(|public| check(&public) == first.check)) {
            Some(key) => Ok(key),
            None => wrong("the shares do not give the key that was split".into(), "one of them is forged: try others"),
        }
    }
}

/// Returns the number of words in a share of a key of this kind: the smallest number that is divisible by 8, so that
/// the words encode whole bytes, and that leaves room for the checksum.
fn words_of(kind: SeedKind) -> usize {
    ((FRONT + kind.length() + LEAST) * 8).div_ceil(BITS).next_multiple_of(8)
}

fn check(public: &Public) -> [u8; 4] {
    hash(KEY, public.fingerprint().as_bytes()).first_chunk().copied().unwrap_or_default()
}

fn hash(label: &[u8], bytes: &[u8]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(label);
    context.update(bytes);
    context.finish().as_ref().as_array().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a key of this kind with a fixed seed, and its shares.
    fn shares(number: u8, needed: u8, of: u8) -> (Secret, Vec<KeyShare>) {
        let kind = SeedKind::of_number(number).unwrap();
        let seed = Secret::copy_of(&vec![number; kind.length()]);
        let public = Public::from_key(&kind.key(&seed).unwrap()).unwrap();
        (seed.clone(), KeyShare::split(kind, &seed, &public, needed, of).unwrap())
    }

    fn named(shares: &[KeyShare], chosen: &[usize]) -> Vec<(String, KeyShare)> {
        let again = |index: usize| KeyShare::read(&shares[index].words()).unwrap();
        chosen.iter().map(|index| (format!("file {index}"), again(*index))).collect()
    }

    #[test]
    fn any_two_of_three_give_a_key_of_each_kind() {
        for number in 1..=9 {
            let (seed, shares) = shares(number, 2, 3);
            let words = if seed.len() == 32 { 32 } else { 56 };
            for share in &shares {
                assert_eq!(share.words().len(), words);
                assert_eq!(KeyShare::count_of(share.words()[0]), Some(words));
            }
            for chosen in [&[0, 1][..], &[2, 0], &[1, 2], &[0, 1, 2]] {
                let key = KeyShare::join(&named(&shares, chosen)).unwrap();
                assert_eq!(SeedKind::of(&key).unwrap().1, &seed[..], "{number}, {chosen:?}");
            }
        }
        assert!(SeedKind::of_number(0).is_none() && SeedKind::of_number(10).is_none());
    }

    #[test]
    fn sixteen_of_sixteen_give_the_key() {
        let (seed, shares) = shares(1, 16, 16);
        let all: Vec<_> = (0..16).collect();
        assert_eq!(SeedKind::of(&KeyShare::join(&named(&shares, &all)).unwrap()).unwrap().1, &seed[..]);
        let failure = KeyShare::join(&named(&shares, &all[..14])).unwrap_err();
        assert_eq!(failure.message, "the key takes 16 of its shares, and 14 are here: 2 more are missing");
        assert_eq!(failure.exit, Exit::Key);
    }

    #[test]
    fn shares_that_do_not_fit_are_refused_by_name() {
        let ((_, one), (_, again), (_, other)) = (shares(1, 2, 3), shares(1, 2, 3), shares(7, 2, 3));
        let refused = |with: &KeyShare| {
            let mut both = named(&one, &[0]);
            both.push(("file x".into(), KeyShare::read(&with.words()).unwrap()));
            KeyShare::join(&both).unwrap_err().message
        };
        assert_eq!(refused(&one[0]), "file x: share 1, the same as in file 0");
        assert_eq!(refused(&other[1]), "file x: share 2 is of another key than share 1 in file 0");
        // Two splits have the same number in one of 65 536 cases.
        if one[0].split != again[0].split {
            assert_eq!(refused(&again[1]), "file x: share 2 was split another time than share 1 in file 0");
        }
        let forged = KeyShare { value: Secret::zeroed(32), ..shares(1, 2, 3).1.remove(1) };
        let forged = KeyShare { split: one[0].split, ..forged };
        assert_eq!(refused(&forged), "the shares do not give the key that was split");
    }

    #[test]
    fn each_other_word_and_each_swap_is_found() {
        let (_, shares) = shares(3, 2, 2);
        let words = shares[0].words();
        for at in 0..words.len() {
            let mut changed = words.clone();
            changed[at] = if words[at] == "zoo" { "abandon" } else { "zoo" };
            assert!(KeyShare::read(&changed).is_err(), "{at}");
            changed.clone_from(&words);
            changed.swap(at, (at + 1) % words.len());
            assert!(changed == words || KeyShare::read(&changed).is_err(), "{at}");
        }
        assert!(KeyShare::read(&words[..55]).is_err());
        assert!(KeyShare::read(&[]).is_err());
    }

    /// The words of this share must stay the same, because they are on paper.
    #[test]
    fn the_words_of_a_share_stay_as_they_are() {
        let kind = SeedKind::of_number(5).unwrap();
        let share = KeyShare {
            kind,
            needed: 2,
            index: 3,
            split: [1, 2],
            check: [3, 4, 5, 6],
            value: Secret::copy_of(&[7; 32]),
        };
        let words = "agree mosquito dog alcohol doctor loan bright thought alpha deal scrub asthma idea logic \
            bright thought alpha deal scrub asthma idea logic bright thought alpha deal scrub asthma idea \
            sting critic often";
        assert_eq!(share.words().join(" "), words);
    }
}
