//! Measures the C library beside the same calls from Rust, in pairs: `cargo build --profile dist -p deadpan-capi`, then
//! `cargo bench -p deadpan-bench --bench capi [-- MiB [ROUNDS]]`. `MiB` is the size of the longest message. The
//! environment variable `DEADPAN_LIBRARY` names another `libdeadpan.so`.
//!
//! Both seal to the same X-Wing key and open with it, into buffers that were used before. Each round runs each case
//! once, in turns. The table shows the least times and their ratio.
#![allow(clippy::print_stdout, unsafe_code)]

use std::ffi::c_void;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::time::Instant;

use libloading::{Library, Symbol};

use deadpan_seal::key::private_pem;
use deadpan_seal::{Header, Identity, Kem, PrivateKey, Recipient, Sealing, Work};

type Handle = *mut c_void;
type Code = i32;

/// The library, with the handles for one key.
struct C {
    library: Library,
    sealing: Handle,
    opening: Handle,
}

impl C {
    fn load(path: PathBuf, key: &PrivateKey) -> Self {
        // SAFETY: the library is ours. Loading it runs nothing but what the standard library needs.
        let library = unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = private_pem(key);
        let [mut private, mut public, mut sealing, mut opening] = [null_mut::<c_void>(); 4];
        // SAFETY: the types are those of deadpan.h, and all pointers are valid while the calls last.
        unsafe {
            type New = unsafe extern "C" fn(*mut Handle, *mut Handle) -> Code;
            type Add = unsafe extern "C" fn(Handle, Handle, *mut Handle) -> Code;
            type Read = unsafe extern "C" fn(*const u8, usize, Handle, *mut Handle, *mut Handle) -> Code;
            type Public = unsafe extern "C" fn(Handle, *mut Handle, *mut Handle) -> Code;
            let read: Symbol<'_, Read> = library.get(b"dp_private_key_read").expect("a function");
            let public_of: Symbol<'_, Public> = library.get(b"dp_private_key_public").expect("a function");
            let [sealing_new, opening_new]: [Symbol<'_, New>; 2] =
                [&b"dp_sealing_new"[..], b"dp_opening_new"].map(|name| library.get(name).expect("a function"));
            let [sealing_add, opening_add]: [Symbol<'_, Add>; 2] =
                [&b"dp_sealing_add_key"[..], b"dp_opening_add_key"].map(|name| library.get(name).expect("a function"));
            assert_eq!(read(text.as_ptr(), text.len(), null_mut(), &raw mut private, null_mut()), 0);
            assert_eq!(public_of(private, &raw mut public, null_mut()), 0);
            assert_eq!(sealing_new(&raw mut sealing, null_mut()), 0);
            assert_eq!(sealing_add(sealing, public, null_mut()), 0);
            assert_eq!(opening_new(&raw mut opening, null_mut()), 0);
            assert_eq!(opening_add(opening, private, null_mut()), 0);
        }
        Self { library, sealing, opening }
    }

    /// Seals or opens; both functions have the same types.
    fn run(&self, name: &[u8], handle: Handle, input: &[u8], output: &mut [u8]) -> usize {
        type Run = unsafe extern "C" fn(
            Handle,
            *const u8,
            usize,
            *mut u8,
            usize,
            *mut usize,
            *const c_void,
            *mut Handle,
        ) -> Code;
        let mut written = 0;
        // SAFETY: the types are those of deadpan.h, and the buffers are as long as they say.
        let code = unsafe {
            let run: Symbol<'_, Run> = self.library.get(name).expect("a function");
            let (from, to) = (input.as_ptr(), output.as_mut_ptr());
            run(handle, from, input.len(), to, output.len(), &raw mut written, null(), null_mut())
        };
        assert_eq!(code, 0);
        written
    }

    fn seal(&self, plain: &[u8], sealed: &mut [u8]) -> usize {
        self.run(b"dp_seal", self.sealing, plain, sealed)
    }

    fn open(&self, sealed: &[u8], plain: &mut [u8]) -> usize {
        self.run(b"dp_open", self.opening, sealed, plain)
    }
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let most = arguments.first().copied().unwrap_or(1024) << 20;
    let rounds = arguments.get(1).copied().unwrap_or(9);
    let usual = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/dist/libdeadpan.so"));
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let c = C::load(std::env::var_os("DEADPAN_LIBRARY").map_or_else(usual, PathBuf::from), &key);
    let sealing = Sealing::to(vec![Recipient::Key(key.public().clone())]).expect("a recipient");
    let identities = [Identity::Key(key)];
    println!("{:>12} {:>6} {:>14} {:>14} {:>8} {:>12}", "bytes", "", "C", "Rust", "ratio", "difference");
    for (length, repeated) in [(1 << 10, 2000), (1 << 20, 20), (most, 1)] {
        let plain: Vec<u8> = (0..length as u64).map(|place| ((place * 31) >> 3) as u8).collect();
        let room = sealing.sealed_length(length as u64).expect("a length") as usize;
        let (mut sealed, mut opened) = (vec![1; room], vec![1; length]);
        // Seal in C, in Rust, open in C, in Rust.
        let mut least = [f64::MAX; 4];
        for _ in 0..rounds {
            for (way, least) in least.iter_mut().enumerate() {
                let start = Instant::now();
                for _ in 0..repeated {
                    let written = match way {
                        0 => c.seal(&plain, &mut sealed),
                        1 => sealing.bytes_into(&plain, &mut sealed, &Work::default()).expect("sealed"),
                        2 => c.open(&sealed, &mut opened),
                        _ => {
                            let mut payload = &sealed[..];
                            let header =
                                Header::read(&mut payload).expect("a header").open(&identities).expect("opened");
                            header.bytes_into(payload, &mut opened, &Work::default()).expect("opened").plain as usize
                        }
                    };
                    assert_eq!(written, if way < 2 { room } else { length });
                }
                *least = least.min(start.elapsed().as_secs_f64() / f64::from(repeated));
            }
            assert!(opened == plain);
        }
        for (name, pair) in ["seal", "open"].into_iter().zip(least.as_chunks::<2>().0) {
            let [c, rust] = pair.map(|seconds| seconds * 1e6);
            println!("{length:>12} {name:>6} {c:>11.2} µs {rust:>11.2} µs {:>8.3} {:>9.2} µs", c / rust, c - rust);
        }
    }
}
