//! Gives the shared library the name under which programs search for it when they start, such as `libdeadpan.so.0`.
//!
//! Programs that are linked with a library in `target` find it by its file name, so this name is only given if the
//! environment variable `DEADPAN_SONAME` is set. `cargo cinstall` gives the name itself.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DEADPAN_SONAME");
    if env::var_os("DEADPAN_SONAME").is_none() {
        return;
    }
    let version = env!("CARGO_PKG_VERSION_MAJOR");
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdeadpan.so.{version}"),
        Ok("macos") => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libdeadpan.{version}.dylib"),
        _ => (),
    }
}
