//! Tests with known answers: RFC 9180 for the curves, and draft-ietf-hpke-pq for the other kinds of keys.

use serde_json::Value;

use super::*;

/// Returns the published vectors for the supported kinds of keys, or `None` if the files are missing.
pub(crate) fn vectors() -> Option<Vec<Value>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/hpke-pq/test-vectors.json");
    let Ok(text) = std::fs::read(path) else {
        // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "skipped: the test vectors of draft-ietf-hpke-pq are not here");
        return None;
    };
    let all: Vec<Value> = serde_json::from_slice(&text).unwrap();
    Some(all.into_iter().filter(|vector| kem(vector).is_some()).collect())
}

fn kem(vector: &Value) -> Option<Kem> {
    Kem::from_id(u16::try_from(vector["kem_id"].as_u64()?).ok()?)
}

fn bytes(vector: &Value, name: &str) -> Vec<u8> {
    hex(vector[name].as_str().unwrap_or_else(|| panic!("no {name}")))
}

#[test]
fn hpke_pq() {
    let Some(vectors) = vectors() else { return };
    let mut seen = Vec::new();
    for vector in &vectors {
        let kem = kem(vector).unwrap();
        seen.push(kem);
        let private = derive_key_pair(kem, &bytes(vector, "ikmR"));
        let Material::Seed(seed) = private.material() else { panic!("a seed was given") };
        assert_eq!(seed[..], bytes(vector, "skRm"), "{kem:?}");
        assert_eq!(private.public().as_bytes(), bytes(vector, "pkRm"), "{kem:?}");

        let shared = bytes(vector, "shared_secret");
        assert!(private.decapsulate(&bytes(vector, "enc")).unwrap().unwrap().same(&shared), "{kem:?}");

        let public = PublicKey::from_bytes(kem, &bytes(vector, "pkRm")).unwrap();
        let (enc, made) = encapsulate_with(&public, &bytes(vector, "ikmE")).unwrap();
        assert_eq!(enc, bytes(vector, "enc"), "{kem:?}");
        assert!(made.same(&shared), "{kem:?}");
    }
    assert!(Kem::ALL.iter().all(|kem| seen.contains(kem)), "a kind without a vector");
}

/// Tests the KEM part of the examples in RFC 9180, A.1.1 and A.3.1.
#[test]
fn rfc_9180() {
    for [id, material_e, material_r, private, public, enc, shared] in [
        [
            "0020",
            "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234",
            "6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037",
            "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
            "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
            "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
            "fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc",
        ],
        [
            "0010",
            "4270e54ffd08d79d5928020af4686d8f6b7d35dbe470265f1f5aa22816ce860e",
            "668b37171f1072f3cf12ea8a236a45df23fc13b82af3609ad1e354f6ef817550",
            "f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2",
            "04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a826a779b4cf969b8a0e539c7f62fb3d30ad6aa8f80e30f1d128aafd68a2ce72ea0",
            "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4",
            "c0d26aeab536609a572b07695d933b589dcf363ff9d93c93adea537aeabb8cb8",
        ],
    ] {
        let kem = Kem::from_id(u16::from_str_radix(id, 16).unwrap()).unwrap();
        let key = derive_key_pair(kem, &hex(material_r));
        let Material::Seed(seed) = key.material() else { panic!("a seed was given") };
        assert_eq!(seed[..], hex(private));
        assert_eq!(key.public().as_bytes(), hex(public));
        let (made, secret) = encapsulate_with(key.public(), &hex(material_e)).unwrap();
        assert_eq!(made, hex(enc));
        assert!(secret.same(&hex(shared)));
        assert!(key.decapsulate(&made).unwrap().unwrap().same(&hex(shared)));
    }
}
