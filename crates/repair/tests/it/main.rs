//! Damage of every kind, repaired through the public interface.

mod damage;
mod hostile;
mod limits;
mod random;

use deadpan_repair::{Error, Memory, Percent, Report, Sidecar, Work, make};

/// Bytes that repeat nowhere.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn sidecar(file: &[u8], percent: u8) -> Vec<u8> {
    let sidecar = Memory::default();
    let percent = Percent::new(percent).unwrap();
    let length = make(file, file.len() as u64, &sidecar, percent, &Work::default()).unwrap();
    let bytes = sidecar.into_bytes();
    assert_eq!(length, bytes.len() as u64);
    assert_eq!(length, deadpan_repair::sidecar_length(file.len() as u64, percent).unwrap());
    bytes
}

fn check(sidecar: &[u8], file: &[u8]) -> Result<Report, Error> {
    Sidecar::open(sidecar, sidecar.len() as u64)?.check(file, file.len() as u64, &Work::default())
}

fn fix(sidecar: &[u8], file: &[u8]) -> Result<Vec<u8>, Error> {
    let sidecar = Sidecar::open(sidecar, sidecar.len() as u64)?;
    let report = sidecar.check(file, file.len() as u64, &Work::default())?;
    let output = Memory::default();
    sidecar.fix(file, &report, &output, &Work::default())?;
    Ok(output.into_bytes())
}

/// Checks that the damaged file becomes the original again.
#[track_caller]
fn assert_fixed(sidecar: &[u8], damaged: &[u8], original: &[u8]) {
    let report = check(sidecar, damaged).unwrap();
    assert_eq!(report.is_whole(), damaged == original);
    report.fixable().unwrap();
    assert!(fix(sidecar, damaged).unwrap() == original, "another result");
}

/// Checks that the damage is reported as too much, and that nothing else happens.
#[track_caller]
fn assert_too_much(sidecar: &[u8], damaged: &[u8]) {
    let fixed = fix(sidecar, damaged).map(|_| "a result");
    assert!(matches!(fixed, Err(Error::TooMuch { missing: 1.., .. })), "{fixed:?}");
}
