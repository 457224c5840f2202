use deadpan_seal::{Error, Header, Identity, Kem, PrivateKey, Recipient, Sealing};

fn there_and_back(data: &[u8]) -> Result<Vec<u8>, Error> {
    let key = PrivateKey::generate(Kem::XWing)?;
    let sealed = Sealing::to(vec![Recipient::Key(key.public().clone())])?.bytes(data)?;

    let mut input = sealed.as_slice();
    let opened = Header::read(&mut input)?.open(&[Identity::Key(key)])?;
    let mut plain = Vec::new();
    opened.bytes_onto(input, &mut plain)?;
    Ok(plain)
}
