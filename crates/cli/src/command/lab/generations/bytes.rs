//! Seals and opens bytes in memory. Each process does the work twice, and only the second time is measured. The memory
//! of the output is already allocated when the second run begins, as in a program that reuses its buffer. The time of
//! the first call mostly shows how the system allocates pages.

use std::time::Instant;

use deadpan_lab::speed::workload::{Done, Job, Trouble, contents_of};
use deadpan_seal::{Cost, Header, Identity, Kem, Passphrase, PrivateKey, Recipient, Sealing, Work};

const PASSPHRASE: &[u8] = b"correct horse battery staple";

/// The settings for sealing to one recipient, and the identity that opens data for this recipient.
struct Lock {
    sealing: Sealing,
    identity: Identity,
}

impl Lock {
    fn passphrase() -> Result<Self, Trouble> {
        let recipient = Recipient::Passphrase(Passphrase::new(PASSPHRASE), Cost::default());
        Ok(Self { sealing: Sealing::to(vec![recipient])?, identity: Identity::Passphrase(Passphrase::new(PASSPHRASE)) })
    }

    fn key() -> Result<Self, Trouble> {
        let key = PrivateKey::generate(Kem::XWing)?;
        Ok(Self { sealing: Sealing::to(vec![Recipient::Key(key.public().clone())])?, identity: Identity::Key(key) })
    }

    /// Opens the sealed bytes. The time includes the computations with the passphrase or the private key.
    fn open(&self, sealed: &[u8], plain: &mut Vec<u8>) -> Result<(), Trouble> {
        let opened = Header::read(sealed)?.open(std::slice::from_ref(&self.identity))?;
        let length = sealed.len() as u64;
        plain.resize(opened.room_at(&sealed, length)? as usize, 0);
        opened.open_into(&sealed, length, plain, &Work::default())?;
        Ok(())
    }
}

pub(super) fn seal_with_passphrase(job: &Job) -> Result<Done, Trouble> {
    seal(job, &Lock::passphrase()?)
}

pub(super) fn open_with_passphrase(job: &Job) -> Result<Done, Trouble> {
    open(job, &Lock::passphrase()?)
}

pub(super) fn seal_with_key(job: &Job) -> Result<Done, Trouble> {
    seal(job, &Lock::key()?)
}

pub(super) fn open_with_key(job: &Job) -> Result<Done, Trouble> {
    open(job, &Lock::key()?)
}

fn seal(job: &Job, lock: &Lock) -> Result<Done, Trouble> {
    let plain = contents_of(job)?;
    let mut sealed = vec![0; lock.sealing.sealed_length(plain.len() as u64)? as usize];
    let seconds = second_time(&mut sealed, |sealed| {
        lock.sealing.seal_into(&plain, sealed, &Work::default())?;
        Ok(())
    })?;
    // The input is freed before opening. The function `same` generates the input again to compare it with the opened
    // data.
    drop(plain);
    let mut opened = Vec::new();
    lock.open(&sealed, &mut opened)?;
    drop(sealed);
    same(job, &opened, seconds)
}

fn open(job: &Job, lock: &Lock) -> Result<Done, Trouble> {
    let plain = contents_of(job)?;
    let sealed = lock.sealing.seal(&plain)?;
    drop(plain);
    let mut opened = Vec::new();
    let seconds = second_time(&mut opened, |opened| lock.open(&sealed, opened))?;
    drop(sealed);
    same(job, &opened, seconds)
}

/// Calls `work` twice and returns the seconds of the second call. At the second call, the memory of the output is
/// already allocated.
fn second_time(
    output: &mut Vec<u8>,
    mut work: impl FnMut(&mut Vec<u8>) -> Result<(), Trouble>,
) -> Result<f64, Trouble> {
    work(output)?;
    let begin = Instant::now();
    work(output)?;
    Ok(begin.elapsed().as_secs_f64())
}

fn same(job: &Job, opened: &[u8], seconds: f64) -> Result<Done, Trouble> {
    if opened != contents_of(job)? {
        return Err("the opened bytes differ from the input".into());
    }
    Ok(Done { seconds, amount: job.bytes as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_lab::speed::workload::Contents;

    #[test]
    fn bytes_open_to_the_input_with_a_key_and_with_a_passphrase() {
        let job = |bytes| Job {
            kernel: String::new(),
            bytes,
            contents: Contents::Random,
            scale: 1.0,
            input: "".into(),
            output: "".into(),
            result: "".into(),
        };
        for bytes in [0, 1, 300_000] {
            for kernel in [seal_with_key, open_with_key] {
                let done = kernel(&job(bytes)).unwrap();
                assert!(done.amount == bytes as f64 && done.seconds > 0.0);
            }
        }
        seal_with_passphrase(&job(9)).unwrap();
        open_with_passphrase(&job(9)).unwrap();
    }
}
