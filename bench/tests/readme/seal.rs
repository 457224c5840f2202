use deadpan_seal::{Cost, Error, Kem, Passphrase, PrivateKey, Session, open, seal};

fn there_and_back(data: &[u8]) -> Result<Vec<u8>, Error> {
    let key = PrivateKey::generate(Kem::XWing)?;
    let sealed = seal(key.public(), data)?;
    open(&key, &sealed)
}

/// The passphrase is hashed once, not once for each item.
fn with_a_passphrase(passphrase: &[u8], items: &[&[u8]]) -> Result<Vec<Vec<u8>>, Error> {
    let session = Session::new(&Passphrase::new(passphrase), Cost::default())?;
    items.iter().map(|item| seal(&session, item)).collect()
}
