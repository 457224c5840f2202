//! The table of the building blocks of sealing, signing and templates. The table compares these building blocks with
//! those of other libraries.

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::digest::{SHA512, digest};
use aws_lc_rs::{agreement, kem, rand};
use sha2::{Digest, Sha512};

use crate::cells::Role::{ConstantTime, Ours, Yardstick};
use crate::cells::{Cell, Cells};
use deadpan_lab::Watch;
use deadpan_lab::record::GenerationRow;
use deadpan_lab::speed::workload::{Goal, Measured, Offer, Plan, Trouble};
use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
use deadpan_picture::{Channels, Label, Pixels};
use deadpan_seal::age::ChunkCipher;
use deadpan_seal::sign::{Hash, Hasher};
use deadpan_seal::{Cost, Kem, Material, Passphrase, PrivateKey, hpke, open, seal};

const ABOUT: &str = "\
*Keys*: sealing and opening are those of HPKE with a message of 32 bytes: the KEM, five HMAC-based derivations and
AES-GCM; *from the seed* is the cost of a key file. *Hashes*: a leaf of a signed file is the BLAKE3 hash of 16 bytes,
the 65 504 bytes of a segment, and zeros: 64 whole chunks; *in two calls* is what it costs without the zeros, and when
BLAKE3 gets the 16 bytes first. *Argon2id* is that of an empty message to a passphrase; `scripts/bench` gives the crate
`argon2` huge pages by `GLIBC_TUNABLES`, which our code requests itself. *Templates* have 4000 × 3000 pixels of waves
and noise, on one thread.";

/// Returns the table.
pub fn offer(_quick: bool) -> Offer {
    let goals =
        vec![Goal::fastest_peer(1.0).in_part("chunks of age files"), Goal::fastest_peer(1.0).in_part("SHA-512")];
    Offer { title: "Parts beside other libraries", about: ABOUT, functions: Some(run), goals, ..Offer::default() }
}

fn run(plan: &Plan, watch: &mut dyn Watch, show: &mut dyn FnMut(&[GenerationRow])) -> Result<Measured, Trouble> {
    let mut cells = Cells::new(plan, watch, show);
    for (section, measure) in [
        ("keys", keys as fn(&mut Cells<'_>) -> Result<(), Trouble>),
        ("chunks of age files", chunks),
        ("hashes", hashes),
        ("Argon2id", argon2),
        ("templates", |cells| templates(cells, 4000, 3000)),
    ] {
        if cells.wants(section, "") {
            measure(&mut cells)?;
        }
    }
    cells.finish()
}

fn keys(cells: &mut Cells<'_>) -> Result<(), Trouble> {
    const MESSAGE: [u8; 32] = [7; 32];
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem)?;
        let Material::Seed(seed) = key.material() else { unreachable!("a generated key has a seed") };
        let (enc, sealed) = hpke::seal(key.public(), b"bench", b"", &MESSAGE)?;
        let open = |key: &PrivateKey| {
            let message = hpke::open(key, &enc, b"bench", b"", &sealed).expect("no failure").expect("the right key");
            assert!(message.same(&MESSAGE));
        };
        let from_seed = || PrivateKey::from_seed(kem, seed).expect("a key");
        let mut cell = Cell::new("keys", kem.name(), None).beside("seal");
        cell.call("new key", Ours, || PrivateKey::generate(kem).expect("a key"));
        cell.call("key from the seed", Ours, from_seed);
        cell.call("seal", Ours, || hpke::seal(key.public(), b"bench", b"", &MESSAGE).expect("sealed"));
        cell.call("open", Ours, || open(&key));
        cell.call("open from the seed", Ours, || open(&from_seed()));
        cells.run(cell);
    }
    let mut cell = Cell::new("keys", "AWS-LC: the cost that no implementation can avoid", None);
    for (name, algorithm) in [("X25519", &agreement::X25519), ("P-256", &agreement::ECDH_P256)] {
        let new = move || agreement::PrivateKey::generate(algorithm).expect("a key");
        let (ours, theirs) = (new(), new().compute_public_key().expect("a key"));
        cell.call(&format!("{name}: agree"), ConstantTime, move || {
            let theirs = agreement::UnparsedPublicKey::new(algorithm, &theirs);
            agreement::agree(&ours, theirs, "", |secret| Ok(secret[0])).expect("a secret")
        });
        cell.call(&format!("{name}: new key"), ConstantTime, new);
    }
    for (name, algorithm) in [("ML-KEM-768", &kem::ML_KEM_768), ("ML-KEM-1024", &kem::ML_KEM_1024)] {
        let new = move || kem::DecapsulationKey::generate(algorithm).expect("a key");
        let private = new();
        let public = private.encapsulation_key().expect("its public key");
        let ciphertext = public.encapsulate().expect("a secret").0.as_ref().to_vec();
        cell.call(&format!("{name}: new key"), ConstantTime, new);
        cell.call(&format!("{name}: encapsulate"), ConstantTime, move || public.encapsulate().expect("a secret"));
        cell.call(&format!("{name}: decapsulate"), ConstantTime, move || {
            private.decapsulate(ciphertext.as_slice().into()).expect("a secret")
        });
    }
    cell.call("system: 32 random bytes", Yardstick, || {
        let mut bytes = [0; 32];
        rand::fill(&mut bytes).expect("random bytes");
        bytes
    });
    cells.run(cell);
    Ok(())
}

fn chunks(cells: &mut Cells<'_>) -> Result<(), Trouble> {
    const KEY: [u8; 32] = [7; 32];
    const DATA: usize = 64 << 10;
    const SECTION: &str = "chunks of age files";
    let theirs = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &KEY).expect("a key"));
    let nonce = || Nonce::assume_unique_for_key([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let (mut sealer, mut opener, data) = (ChunkCipher::new(&KEY)?, ChunkCipher::new(&KEY)?, [3; DATA]);
    let mut sealed = vec![0; DATA + 16];
    sealer.seal(0, true, &data, &mut sealed)?;
    let (mut one, mut other, mut third, mut fourth) = (sealed.clone(), sealed.clone(), vec![0; DATA], vec![0; DATA]);
    let mut cell = Cell::new(SECTION, "seal", Some(DATA));
    cell.call("deadpan", Ours, || sealer.seal(0, true, &data, &mut one).expect("sealed"));
    cell.call("AWS-LC", ConstantTime, || {
        let (output, tag) = other.split_at_mut(DATA);
        theirs.seal_out_of_place_scatter(nonce(), Aad::empty(), &data, output, &[], tag).expect("sealed");
    });
    cells.run(cell);
    assert!(one == sealed && other == sealed, "both seal to the same chunk");
    let mut cell = Cell::new(SECTION, "open", Some(DATA));
    cell.call("deadpan", Ours, || opener.open(0, true, &sealed, &mut third).expect("opened"));
    cell.call("AWS-LC", ConstantTime, || {
        let (input, tag) = sealed.split_at(DATA);
        theirs.open_separate_gather(nonce(), Aad::empty(), input, tag, &mut fourth).expect("opened");
    });
    cells.run(cell);
    assert!(third == data && fourth == data, "both open to the same data");
    Ok(())
}

fn hashes(cells: &mut Cells<'_>) -> Result<(), Trouble> {
    let data = vec![5; 1 << 20];
    let leaf = &data[..65_504];
    let mut cell = Cell::new("hashes", "BLAKE3 of a leaf", Some(64 << 10)).beside("64 whole chunks");
    cell.call("64 whole chunks", Ours, || blake3::hash(&data[..64 << 10]));
    cell.call("in two calls", ConstantTime, || blake3::Hasher::new().update(&[7; 16]).update(leaf).finalize());
    cells.run(cell);
    let ours = || {
        let mut hasher = Hasher::new(Hash::Sha512);
        data.chunks(1 << 16).for_each(|piece| hasher.update(piece));
        hasher.finish()
    };
    let is_right = ours().as_slice() == Sha512::digest(&data).as_slice();
    let mut cell = Cell::new("hashes", "SHA-512 of 1 MiB", Some(data.len()));
    cell.enter("deadpan", Ours, 1, is_right, |turns| (0..turns).for_each(|_| drop(ours())));
    cell.call("AWS-LC", ConstantTime, || digest(&SHA512, &data));
    cell.call("sha2", ConstantTime, || Sha512::digest(&data));
    cells.run(cell);
    Ok(())
}

fn argon2(cells: &mut Cells<'_>) -> Result<(), Trouble> {
    let Cost { memory, passes, lanes } = Cost::default();
    let passphrase = Passphrase::new(b"straight face");
    let is_right = open(&passphrase, &seal(&passphrase, b"")?)?.is_empty();
    let theirs = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(memory, passes, lanes, Some(64))?);
    let name = format!("{} MiB, {passes} passes, {lanes} lanes, on all cores", memory >> 10);
    let mut cell = Cell::new("Argon2id", name, None);
    cell.enter("deadpan", Ours, 1, is_right, |turns| {
        (0..turns).for_each(|_| drop(seal(&passphrase, b"").expect("sealed")));
    });
    cell.call("the crate argon2", ConstantTime, || {
        let mut hash = [0; 64];
        theirs.hash_password_into(b"straight face", b"a salt of 16 b's", &mut hash).expect("hashed");
        hash
    });
    cells.run(cell);
    Ok(())
}

/// Hides in a picture of this size, and extracts again.
pub fn templates(cells: &mut Cells<'_>, width: u32, height: u32) -> Result<(), Trouble> {
    let cover = photograph(width, height);
    for order in [Order::Keyed, Order::InOrder] {
        for bits in 1..=4 {
            hide(cells, &cover, Bits::new(bits).expect("1 to 4"), order)?;
        }
    }
    Ok(())
}

/// Hides as much data as a cover can carry, and extracts the data again.
fn hide(cells: &mut Cells<'_>, cover: &Pixels, bits: Bits, order: Order) -> Result<(), Trouble> {
    let length = template::capacity(cover.samples.len() as u64, bits, 1);
    let mut part = vec![0; length as usize];
    blake3::Hasher::new().update(b"part").finalize_xof().fill(&mut part);
    let (set, checksum, total) = ([1; 16], 0, length);
    let label = Label { set, index: 0, count: 1, spares: 0, length: length as u32, offset: 0, total, checksum };
    let hiding = Hiding { bits, order, set_key: [2; 32], doors: vec![Secret::open()] };
    let (seed, mut copy) = (Seed::random()?, vec![1; part.len()]);
    let mut pixels = cover.clone();
    let psnr = template::embed(&mut pixels, &label, &part, &hiding, &seed, 1)?.psnr();
    let extract = |copy: &mut [u8]| {
        let found = template::find(&pixels, &[Secret::open()]).expect("found");
        template::extract(&pixels, &found, copy, 1);
    };
    extract(&mut copy);
    let is_right = copy == part;
    let mut again = cover.clone();
    let name = format!("{} bits, {order:?}, {psnr:.1} dB", bits.get());
    let mut cell = Cell::new("templates", name, Some(part.len())).beside("embed");
    cell.call("embed", Ours, || {
        again.samples.copy_from_slice(&cover.samples);
        template::embed(&mut again, &label, &part, &hiding, &seed, 1).expect("room")
    });
    cell.enter("extract", Ours, 1, is_right, |turns| (0..turns).for_each(|_| extract(&mut copy)));
    cells.run(cell);
    Ok(())
}

/// Returns a picture that consists of waves of several lengths and of noise. The standard deviation of the noise is
/// 2.5.
fn photograph(width: u32, height: u32) -> Pixels {
    let row = width as usize * 3;
    let mut noise = vec![[0_u8; 4]; row * height as usize];
    blake3::Hasher::new().finalize_xof().fill(noise.as_flattened_mut());
    let sample = |(at, noise): (usize, &[u8; 4])| {
        let (x, y, channel) = ((at % row / 3) as f32, (at / row) as f32, (at % 3) as f32);
        let coarse = 60.0 * (x / 700.0 + channel).sin() * (y / 500.0).cos();
        let fine = 15.0 * (x * 0.05 + y * 0.03).sin() + 6.0 * (x * 0.9).sin() * (y * 0.7).sin();
        let noise = noise.iter().map(|&byte| f32::from(byte) - 127.5).sum::<f32>() / 148.0 * 2.5;
        (128.0 + coarse + fine + noise) as u8
    };
    let samples = noise.iter().enumerate().map(sample).collect();
    Pixels { width, height, channels: Channels::Rgb, samples }
}
