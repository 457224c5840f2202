//! The threshold group of a header: all entries of the threshold, and the values that bind these entries to each other.

use aws_lc_rs::digest::{Context, SHA256};

use super::entry::{self, CHECK, Part};
use super::{Numbers, Share, ShareFault, shamir};
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::{Error, Identity, PublicKey, Stanza};

/// The label of a group's digest.
const GROUP: &[u8] = b"deadpan v1 threshold";

/// The threshold group that was found in the entries of a header. The group is well formed. Only the form of the group
/// is checked: the group is as trustworthy as the header.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) needed: u8,
    pub(crate) of: u8,
    /// The number of entries before the group's first entry.
    begin: usize,
    key_check: [u8; CHECK],
    digest: [u8; CHECK],
}

/// The shares that were gathered, and the keys that opened some of these shares.
#[derive(Default)]
pub(crate) struct GatheredShares {
    pub(crate) shares: Vec<Share>,
    pub(crate) keys: Vec<PublicKey>,
    /// The fault of the first wrong share.
    pub(crate) wrong: Option<ShareFault>,
}

impl Group {
    /// All N entries must be present, without other entries between them, and in the order of their indices. All
    /// entries must have the same K, the same N and the same check value of the file key.
    pub(crate) fn find(preamble: Preamble, entries: &[(Stanza, Entry)]) -> Result<Option<Self>, Error> {
        let is_part = |(stanza, _): &(Stanza, Entry)| matches!(stanza, Stanza::Share { .. });
        let Some(begin) = entries.iter().position(is_part) else { return Ok(None) };
        let rest = &entries[begin..];
        let first = Part::read(&rest[0].1.body)?;
        let Numbers { needed, of, .. } = first.numbers;
        let mut checks = Vec::with_capacity(usize::from(of));
        for index in 1..=of {
            let part = match rest.get(usize::from(index) - 1).filter(|entry| is_part(entry)) {
                Some((_, entry)) => Part::read(&entry.body)?,
                None => return Err(Error::Header("a share is missing")),
            };
            if part.numbers != (Numbers { needed, of, index }) || part.key_check != first.key_check {
                return Err(Error::Header("shares that do not belong together"));
            }
            checks.push(part.share_check);
        }
        if rest[usize::from(of)..].iter().any(is_part) {
            return Err(Error::Header("more shares than it announces"));
        }
        let digest = digest(preamble, needed, of, first.key_check, checks.into_iter());
        Ok(Some(Self { needed, of, begin, key_check: *first.key_check, digest }))
    }

    pub(crate) fn digest(&self) -> &[u8; CHECK] {
        &self.digest
    }

    /// Returns a short name of the group, which differs from file to file.
    pub(crate) fn fingerprint(&self) -> String {
        super::share::fingerprint(&self.digest)
    }

    /// Gathers the shares in `identities`, and the shares that the identities can open. If a share occurs twice, the
    /// function counts it only once.
    pub(crate) fn gather(
        &self,
        preamble: Preamble,
        entries: &[(Stanza, Entry)],
        identities: &[Identity],
    ) -> Result<GatheredShares, Error> {
        let mut gathered = GatheredShares::default();
        let parts = || entries[self.begin..][..usize::from(self.of)].iter().map(|(_, entry)| Part::read(&entry.body));
        for identity in identities {
            match identity {
                Identity::Key(key) => {
                    for part in parts() {
                        let part = part?;
                        let Some(value) = part.unwrap(key, preamble, &self.digest)? else { continue };
                        let share = Share { numbers: part.numbers, group: self.digest, value };
                        if gathered.add(share, part, preamble)? && !gathered.keys.contains(key.public()) {
                            gathered.keys.push(key.public().clone());
                        }
                    }
                }
                Identity::Share(share) if share.group == self.digest => {
                    // The digest of the group covers K and N. The author of a share can write any numbers into the
                    // share, so the numbers are compared, too.
                    match parts().nth(usize::from(share.numbers.index) - 1).transpose()? {
                        Some(part) if part.numbers == share.numbers => {
                            gathered.add(share.clone(), part, preamble)?;
                        }
                        _ => gathered.refuse(ShareFault::Wrong(share.numbers.index)),
                    }
                }
                Identity::Share(_) => gathered.refuse(ShareFault::OtherFile),
                _ => {}
            }
        }
        Ok(gathered)
    }

    /// Rebuilds the file key from at least as many shares as are needed.
    pub(crate) fn combine(&self, preamble: Preamble, shares: &[Share]) -> Result<FileKey, Error> {
        let shares: Vec<_> = shares.iter().map(|share| (share.numbers.index, &share.value[..])).collect();
        let secret = shamir::combine(&shares[..usize::from(self.needed).min(shares.len())]);
        let file = FileKey::from_secret(secret, preamble).ok_or(Error::System("key derivation failed"))?;
        // Each share has the check value that is in the header. If the file key is still wrong, the writer of the
        // header made shares that do not belong together.
        let right = entry::key_check(&file)?.same(&self.key_check);
        if right { Ok(file) } else { Err(Error::HeaderForged) }
    }
}

impl GatheredShares {
    /// Adds a share if the share is right and was not added before. Returns whether the share is right.
    fn add(&mut self, share: Share, part: Part<'_>, preamble: Preamble) -> Result<bool, Error> {
        if !entry::share_check(preamble, share.numbers, &share.value)?.same(part.share_check) {
            self.refuse(ShareFault::Wrong(share.numbers.index));
            return Ok(false);
        }
        if self.shares.iter().all(|known| known.numbers.index != share.numbers.index) {
            self.shares.push(share);
        }
        Ok(true)
    }

    fn refuse(&mut self, fault: ShareFault) {
        self.wrong.get_or_insert(fault);
    }
}

/// Returns the digest of a group. The digest covers all public values of the group's shares.
pub(super) fn digest<'a>(
    preamble: Preamble,
    needed: u8,
    of: u8,
    key_check: &[u8],
    share_checks: impl Iterator<Item = &'a [u8; CHECK]>,
) -> [u8; CHECK] {
    let mut context = Context::new(&SHA256);
    context.update(GROUP);
    context.update(preamble.bytes());
    context.update(&[needed, of]);
    context.update(key_check);
    share_checks.for_each(|check| context.update(check));
    *context.finish().as_ref().as_array().expect("SHA-256 has 32 bytes")
}
