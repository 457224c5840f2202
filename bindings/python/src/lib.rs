//! Deadpan for Python. This crate only converts values and calls other crates. The Python code of the package is in
//! `python/deadpan`.

mod base64;
mod buffer;
mod bytes;
mod command;
mod compare;
mod errors;
mod files;
mod imp;
mod keys;
mod lab;
mod pad;
mod picture;
mod repair;
mod sealed;
mod source;
mod streams;
mod to;
mod work;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<keys::PrivateKey>()?;
    module.add_class::<keys::PublicKey>()?;
    module.add_class::<keys::Passphrase>()?;
    module.add_class::<keys::Session>()?;
    module.add_class::<sealed::NativeSealed>()?;
    module.add_class::<streams::NativeReader>()?;
    module.add_class::<streams::NativeWriter>()?;
    module.add_function(wrap_pyfunction!(keys::pickled_key, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::seal, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::open, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::seal_into, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::open_into, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::sealed_length, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::random_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(files::seal_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::open_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::seal_folder, module)?)?;
    module.add_function(wrap_pyfunction!(files::open_folder, module)?)?;
    module.add_function(wrap_pyfunction!(files::list_folder, module)?)?;
    module.add_function(wrap_pyfunction!(files::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(repair::repair_make, module)?)?;
    module.add_function(wrap_pyfunction!(repair::repair_check, module)?)?;
    module.add_function(wrap_pyfunction!(repair::repair_fix, module)?)?;
    module.add_function(wrap_pyfunction!(base64::b64encode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::b64decode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::standard_b64encode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::standard_b64decode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::urlsafe_b64encode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::urlsafe_b64decode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::encodebytes, module)?)?;
    module.add_function(wrap_pyfunction!(base64::decodebytes, module)?)?;
    module.add_function(wrap_pyfunction!(base64::b16encode, module)?)?;
    module.add_function(wrap_pyfunction!(base64::b16decode, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare_digest, module)?)?;
    module.add_function(wrap_pyfunction!(pad::pad, module)?)?;
    module.add_function(wrap_pyfunction!(pad::unpad, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(lab::lab_worker, module)?)?;
    module.add_function(wrap_pyfunction!(lab::lab_shown, module)?)?;
    module.add_function(wrap_pyfunction!(picture::hide, module)?)?;
    module.add_function(wrap_pyfunction!(picture::reveal, module)?)?;
    // If this function were not registered, a daemon thread that still works at exit would leave its incomplete output.
    let at_exit = module.py().import("atexit")?;
    at_exit.call_method1("register", (wrap_pyfunction!(files::remove_drafts, module)?,))?;
    Ok(())
}
