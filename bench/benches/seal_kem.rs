//! Measures the cost of a recipient for each kind of key, beside the same primitives in AWS-LC: `cargo bench -p
//! deadpan-bench --bench seal_kem`.
//!
//! Sealing and opening are those of HPKE with a 32-byte message: the KEM, five HMAC-based derivations and AES-GCM.
//! "Open from the seed" is the cost of a key file: the key is computed, used once and wiped.
#![allow(clippy::print_stdout)]

use aws_lc_rs::{agreement, kem, rand};

use deadpan_lab::{Silent, Target, clock, speed};
use deadpan_seal::{Kem, Material, PrivateKey, hpke};

fn main() {
    let mut targets: Vec<Target> = Kem::ALL.into_iter().flat_map(ours).collect();
    targets.extend(parts());
    println!("median time of a call in µs, with the bounds of its 95 % interval");
    let (clock, options) = (clock::best(), speed::Options::brief());
    for target in &mut targets {
        let time = speed::estimate(target, 0, &*clock, &options, &mut Silent).median;
        let [value, lower, upper] = [time.estimate, time.lower, time.upper].map(|nanoseconds| nanoseconds / 1000.0);
        println!("{:34} {value:8.2}   {lower:8.2} to {upper:8.2}", target.name());
    }
}

fn target<R: 'static>(name: String, mut function: impl FnMut() -> R + 'static) -> Target {
    Target::new(name, 1, move |_| function()).class("any", |random, input| random.fill(input))
}

fn ours(kem: Kem) -> [Target; 5] {
    const MESSAGE: [u8; 32] = [7; 32];
    let key = PrivateKey::generate(kem).expect("a key");
    let Material::Seed(seed) = key.material() else { unreachable!("a generated key has a seed") };
    let seed = seed.clone();
    let again = seed.clone();
    let public = key.public().clone();
    let (enc, sealed) = hpke::seal(&public, b"bench", b"", &MESSAGE).expect("sealed");
    let (enc_again, sealed_again) = (enc.clone(), sealed.clone());
    let open = move |key: &PrivateKey, enc: &[u8], sealed: &[u8]| {
        let message = hpke::open(key, enc, b"bench", b"", sealed).expect("no failure").expect("the right key");
        assert!(message.same(&MESSAGE));
    };
    let name = kem.name();
    [
        target(format!("{name}: new key"), move || PrivateKey::generate(kem).expect("a key")),
        target(format!("{name}: key from the seed"), move || PrivateKey::from_seed(kem, &seed).expect("a key")),
        target(format!("{name}: seal"), move || hpke::seal(&public, b"bench", b"", &MESSAGE).expect("sealed")),
        target(format!("{name}: open"), move || open(&key, &enc, &sealed)),
        target(format!("{name}: open from the seed"), move || {
            open(&PrivateKey::from_seed(kem, &again).expect("a key"), &enc_again, &sealed_again);
        }),
    ]
}

/// The primitives whose cost no implementation can avoid.
fn parts() -> Vec<Target> {
    let mut targets = Vec::new();
    for (name, algorithm) in [("X25519", &agreement::X25519), ("P-256", &agreement::ECDH_P256)] {
        let ours = agreement::PrivateKey::generate(algorithm).expect("a key");
        let theirs =
            agreement::PrivateKey::generate(algorithm).and_then(|key| key.compute_public_key()).expect("a key");
        targets.push(target(format!("aws-lc {name}: agree"), move || {
            let theirs = agreement::UnparsedPublicKey::new(algorithm, &theirs);
            agreement::agree(&ours, theirs, "", |secret| Ok(secret[0])).expect("a secret")
        }));
        targets.push(target(format!("aws-lc {name}: new key"), move || {
            agreement::PrivateKey::generate(algorithm).expect("a key")
        }));
    }
    for (name, algorithm) in [("ML-KEM-768", &kem::ML_KEM_768), ("ML-KEM-1024", &kem::ML_KEM_1024)] {
        let private = kem::DecapsulationKey::generate(algorithm).expect("a key");
        let public = private.encapsulation_key().expect("its public key");
        let (ciphertext, _) = public.encapsulate().expect("a secret");
        let ciphertext = ciphertext.as_ref().to_vec();
        targets.push(target(format!("aws-lc {name}: new key"), move || {
            kem::DecapsulationKey::generate(algorithm).expect("a key")
        }));
        targets.push(target(format!("aws-lc {name}: encapsulate"), move || public.encapsulate().expect("a secret")));
        targets.push(target(format!("aws-lc {name}: decapsulate"), move || {
            private.decapsulate(ciphertext.as_slice().into()).expect("a secret")
        }));
    }
    targets.push(target("system: 32 random bytes".to_owned(), || {
        let mut bytes = [0; 32];
        rand::fill(&mut bytes).expect("random bytes");
        bytes
    }));
    targets
}
