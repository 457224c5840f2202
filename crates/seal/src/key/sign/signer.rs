//! Keys that can sign: private keys in this process, and private keys in an SSH agent.

use super::sshsig::{self, Hash};
use super::{AgentError, AgentKey, SignError, SigningKey, SshSig, VerifyingKey};
use crate::Error;

/// A key that can sign.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Signer {
    /// A private key.
    Key(SigningKey),
    /// A key in an SSH agent.
    Agent(AgentKey),
}

impl From<SigningKey> for Signer {
    fn from(key: SigningKey) -> Self {
        Self::Key(key)
    }
}

impl From<AgentKey> for Signer {
    fn from(key: AgentKey) -> Self {
        Self::Agent(key)
    }
}

impl Signer {
    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &VerifyingKey {
        match self {
            Self::Key(key) => key.public(),
            Self::Agent(key) => key.public(),
        }
    }

    /// Signs the SHA-512 digest of a message for one purpose. The namespace names the purpose.
    ///
    /// # Errors
    /// If the namespace is empty, if an SSH agent refuses to sign, or if the system fails.
    pub fn sign(&self, namespace: &str, digest: &[u8; 64]) -> Result<SshSig, Error> {
        if namespace.is_empty() {
            return Err(SignError::NoNamespace.into());
        }
        let data = sshsig::signed_data(namespace, Hash::Sha512, digest);
        match self {
            Self::Key(key) => {
                let blob = sshsig::signature_blob(key.scheme(), &key.sign(&data)?);
                SshSig::assemble(&key.public().to_ssh(), namespace, &blob)
            }
            Self::Agent(key) => {
                let blob = key.sign(&data)?;
                let signature = SshSig::assemble(&key.public().to_ssh(), namespace, &blob)
                    .map_err(|_| AgentError::Malformed("its signature"))?;
                match signature.verify(namespace, digest) {
                    Err(Error::Sign(SignError::Forged)) => Err(AgentError::WrongSignature.into()),
                    result => result.map(|()| signature),
                }
            }
        }
    }
}
