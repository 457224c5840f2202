//! Keys, passphrases and sessions.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer;
use crate::errors::{exception, raised};
use crate::to::{advice, advised};
use crate::work::detached;
use deadpan_bind::{Code, public_key, public_keys};
use deadpan_ct::CtEq;
use deadpan_seal::key;
use deadpan_seal::{Cost, Kem, Material};

/// Returns the exception for an attempt to pickle a secret.
fn not_pickled(what: &str, instead: &str) -> PyResult<()> {
    Err(PyTypeError::new_err(format!(
        "{what} is not pickled, because everybody who can read the pickle would have the secret: {instead}"
    )))
}

/// Returns a hash of a public key.
fn hash(key: &deadpan_seal::PublicKey) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    key.as_bytes().hash(&mut hasher);
    hasher.finish()
}

/// A private key, which opens data that were sealed to its public key.
#[pyclass(frozen, module = "deadpan")]
pub(crate) struct PrivateKey(pub(crate) deadpan_seal::PrivateKey);

#[pymethods]
impl PrivateKey {
    /// Makes a new key: "hybrid" (X-Wing), "ecc" (X25519), "pqc" (ML-KEM-768), or the name of a kind.
    #[staticmethod]
    #[pyo3(signature = (mode = "hybrid"))]
    fn generate(py: Python<'_>, mode: &str) -> PyResult<Self> {
        let kem = match mode {
            "hybrid" => Kem::XWing,
            "ecc" => Kem::X25519,
            "pqc" => Kem::MlKem768,
            name => Kem::ALL.into_iter().find(|kem| kem.name() == name).ok_or_else(|| {
                let names: Vec<_> = Kem::ALL.iter().map(|kem| kem.name()).collect();
                PyValueError::new_err(format!("{name} is no mode; there are hybrid, ecc, pqc, {}", names.join(", ")))
            })?,
        };
        detached(py, || deadpan_seal::PrivateKey::generate(kem)).map(Self).map_err(raised)
    }

    /// Reads a key: PEM, or an age identity. To read a protected key, its passphrase is needed. A text with several
    /// keys is an error.
    #[staticmethod]
    #[pyo3(signature = (text, passphrase = None))]
    fn read(py: Python<'_>, text: &Bound<'_, PyAny>, passphrase: Option<&Passphrase>) -> PyResult<Self> {
        let text = buffer::text(text)?;
        let passphrase = passphrase.map(|passphrase| &passphrase.0);
        let key = detached(py, || deadpan_bind::private_key(&text, passphrase));
        key.map(Self).map_err(|fault| match fault.code {
            Code::Key => exception(advised(fault, advice(&text))),
            _ => exception(fault),
        })
    }

    /// Returns the key as PEM, protected if there is a passphrase. The result is `bytes`; write them to a file and then
    /// drop them.
    #[pyo3(signature = (passphrase = None))]
    fn to_pem<'py>(&self, py: Python<'py>, passphrase: Option<&Passphrase>) -> PyResult<Bound<'py, PyBytes>> {
        match passphrase {
            None => Ok(PyBytes::new(py, &key::private_pem(&self.0))),
            Some(passphrase) => {
                let pem = detached(py, || key::protected_pem(&self.0, &passphrase.0)).map_err(raised)?;
                Ok(PyBytes::new(py, pem.as_bytes()))
            }
        }
    }

    /// Returns the key as an age identity.
    fn to_age<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let identity = key::age_identity(&self.0);
        let identity = identity.ok_or_else(|| PyValueError::new_err("age has no keys of this kind"))?;
        Ok(PyBytes::new(py, &identity))
    }

    /// The public key.
    #[getter]
    fn public(&self) -> PublicKey {
        PublicKey(self.0.public().clone())
    }

    /// Compares two keys by the contents of their files, in constant time. May leak: the kinds and the lengths.
    fn __eq__(&self, other: &Self) -> bool {
        let (one, two) = match (self.0.material(), other.0.material()) {
            (Material::Seed(one), Material::Seed(two)) | (Material::Expanded(one), Material::Expanded(two)) => {
                (one, two)
            }
            _ => return false,
        };
        self.0.kem() == other.0.kem() && one.len() == two.len() && one.ct_eq(two).declassify()
    }

    fn __hash__(&self) -> u64 {
        hash(self.0.public())
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        not_pickled("a private key", "write to_pem(passphrase)")
    }

    fn __repr__(&self) -> String {
        format!("<deadpan.PrivateKey {} {}>", self.0.kem().name(), key::fingerprint(self.0.public()))
    }
}

/// A public key, to which data are sealed.
#[pyclass(frozen, module = "deadpan")]
pub(crate) struct PublicKey(pub(crate) deadpan_seal::PublicKey);

#[pymethods]
impl PublicKey {
    /// Reads a key: PEM, or an age recipient. A text with several keys is an error.
    #[staticmethod]
    fn read(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = buffer::text(text)?;
        public_key(&text).map(Self).map_err(|fault| {
            let is_several = public_keys(&text).is_ok_and(|keys| keys.len() > 1);
            let advice = if is_several { "; PublicKey.read_all returns all" } else { advice(&text) };
            exception(advised(fault, advice))
        })
    }

    /// Reads all keys of a text, such as a file with a key in each line.
    #[staticmethod]
    fn read_all(text: &Bound<'_, PyAny>) -> PyResult<Vec<Self>> {
        let text = buffer::text(text)?;
        let keys = public_keys(&text).map_err(|fault| exception(advised(fault, advice(&text))))?;
        Ok(keys.into_iter().map(Self).collect())
    }

    /// Returns the key as PEM.
    fn to_pem(&self) -> String {
        key::public_pem(&self.0)
    }

    /// Returns the key as an age recipient.
    fn to_age(&self) -> PyResult<String> {
        key::age_recipient(&self.0).ok_or_else(|| PyValueError::new_err("age has no keys of this kind"))
    }

    /// A short text by which keys can be compared.
    #[getter]
    fn fingerprint(&self) -> String {
        key::fingerprint(&self.0)
    }

    /// The name of the kind of key.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kem().name()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.kem() == other.0.kem() && self.0.as_bytes() == other.0.as_bytes()
    }

    fn __hash__(&self) -> u64 {
        hash(&self.0)
    }

    /// Copies and pickles are made from the PEM text.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.import("deadpan._native")?.getattr("pickled_key")?, (self.to_pem(),)))
    }

    fn __repr__(&self) -> String {
        format!("<deadpan.PublicKey {} {}>", self.kind(), self.fingerprint())
    }
}

/// Returns the public key of a pickle.
#[pyfunction]
pub(crate) fn pickled_key(pem: &Bound<'_, PyAny>) -> PyResult<PublicKey> {
    PublicKey::read(pem)
}

/// A passphrase. It is hashed for each item. A `Session` hashes its passphrase only once.
#[pyclass(frozen, module = "deadpan")]
pub(crate) struct Passphrase(pub(crate) deadpan_seal::Passphrase);

#[pymethods]
impl Passphrase {
    #[new]
    fn new(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = buffer::text(text)?;
        if text.is_empty() {
            Err(PyValueError::new_err("the passphrase is empty"))
        } else {
            Ok(Self(deadpan_seal::Passphrase::new(&text)))
        }
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        not_pickled("a passphrase", "ask for it where it is needed")
    }

    fn __repr__(&self) -> &'static str {
        "<deadpan.Passphrase>"
    }
}

/// A passphrase that is hashed once, for many items.
#[pyclass(frozen, module = "deadpan")]
pub(crate) struct Session(pub(crate) deadpan_seal::Session);

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, passphrase: &Passphrase) -> PyResult<Self> {
        detached(py, || deadpan_seal::Session::new(&passphrase.0, Cost::default())).map(Self).map_err(raised)
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        not_pickled("a session", "make one where it is needed")
    }

    fn __repr__(&self) -> &'static str {
        "<deadpan.Session>"
    }
}
