//! Tests that no function starts AWS-LC's own generator. Before its first byte, that generator gathers jitter for tens
//! of milliseconds, which would slow down each short run of the program.
#![cfg(target_os = "linux")]

use rustix::time::{ClockId, clock_gettime};

use deadpan_seal::{
    Cost, Header, Identity, Kem, Passphrase, PrivateKey, Recipient, Sealing, Session, key, random, seal,
};

/// Calls every function that needs randomness.
fn everything() {
    let passphrase = Passphrase::new(b"straight face");
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem).expect("a key");
        let sealed =
            Sealing::to(vec![Recipient::Key(key.public().clone())]).and_then(|it| it.bytes(b"data")).expect("sealed");
        let read = key::read(&key::private_pem(&key)).expect("a key");
        assert!(matches!(read[..], [key::Found::Private(_)]));
        Header::read(&sealed[..]).and_then(|header| header.open(&[Identity::Key(key)])).expect("the key");
    }
    let cheap = Cost { memory: 8, passes: 1, lanes: 1 };
    let session = Session::new(&passphrase, cheap).expect("a session");
    seal(&session, b"data").expect("sealed");
    let mut bytes = vec![0; 10_000];
    random::fill(&mut bytes[..32]).and_then(|()| random::fill(&mut bytes)).expect("random bytes");
    Sealing::to(vec![Recipient::Passphrase(passphrase, cheap)]).and_then(|it| it.bytes(b"data")).expect("sealed");
}

/// Returns the CPU time in milliseconds, which other programs do not lengthen much.
fn spent(work: impl FnOnce()) -> f64 {
    let now = || clock_gettime(ClockId::ProcessCPUTime);
    let begin = now();
    work();
    let end = now();
    (end.tv_sec - begin.tv_sec) as f64 * 1e3 + (end.tv_nsec - begin.tv_nsec) as f64 / 1e6
}

/// Asks AWS-LC's generator for a byte.
fn ask_aws_lc() {
    aws_lc_rs::rand::fill(&mut [0]).expect("a random byte");
}

/// The first byte of AWS-LC's generator takes tens of milliseconds, and each later one microseconds. It is still the
/// first byte after every function has run.
#[test]
fn no_run_pays_for_jitter() {
    everything();
    let first = spent(ask_aws_lc);
    let later = (0..100).map(|_| spent(ask_aws_lc)).fold(f64::MAX, f64::min);
    assert!(first > 300.0 * later, "a byte took {first} ms after every function had run, and {later} ms again");
}
