//! Loads the C library in the same way as programs in other languages load it.
#![allow(unsafe_code)]

use std::env;
use std::error::Error;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use libloading::{Library, Symbol};

use deadpan_seal::PrivateKey;
use deadpan_seal::key::private_pem;

type Handle = *mut c_void;
type Code = i32;

pub(crate) struct C {
    library: Library,
    sealing: Handle,
    opening: Handle,
}

impl C {
    pub(crate) fn load(key: &PrivateKey) -> Result<Self, Box<dyn Error>> {
        let path = env::var_os("DEADPAN_LIBRARY").ok_or("DEADPAN_LIBRARY is not set")?;
        // SAFETY: the library is a part of this project. Loading the library runs only the initialization that the
        // standard library needs.
        let library = unsafe { Library::new(&path) }?;
        let text = private_pem(key);
        let [mut private, mut public, mut sealing, mut opening] = [null_mut::<c_void>(); 4];
        // SAFETY: the types are the types in deadpan.h, and all pointers are valid during the calls.
        unsafe {
            type New = unsafe extern "C" fn(*mut Handle, *mut Handle) -> Code;
            type Add = unsafe extern "C" fn(Handle, Handle, *mut Handle) -> Code;
            type Read = unsafe extern "C" fn(*const u8, usize, Handle, *mut Handle, *mut Handle) -> Code;
            type Public = unsafe extern "C" fn(Handle, *mut Handle, *mut Handle) -> Code;
            let read: Symbol<'_, Read> = library.get(b"dp_private_key_read")?;
            let public_of: Symbol<'_, Public> = library.get(b"dp_private_key_public")?;
            let (sealing_new, opening_new): (Symbol<'_, New>, Symbol<'_, New>) =
                (library.get(b"dp_sealing_new")?, library.get(b"dp_opening_new")?);
            let (sealing_add, opening_add): (Symbol<'_, Add>, Symbol<'_, Add>) =
                (library.get(b"dp_sealing_add_key")?, library.get(b"dp_opening_add_key")?);
            assert_eq!(read(text.as_ptr(), text.len(), null_mut(), &raw mut private, null_mut()), 0);
            assert_eq!(public_of(private, &raw mut public, null_mut()), 0);
            assert_eq!(sealing_new(&raw mut sealing, null_mut()), 0);
            assert_eq!(sealing_add(sealing, public, null_mut()), 0);
            assert_eq!(opening_new(&raw mut opening, null_mut()), 0);
            assert_eq!(opening_add(opening, private, null_mut()), 0);
        }
        Ok(Self { library, sealing, opening })
    }

    /// Calls the function `name` of the library, which seals or opens data.
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
        // SAFETY: the types are the types in deadpan.h, and each buffer has the length that is passed with the buffer.
        let code = unsafe {
            let run: Symbol<'_, Run> = self.library.get(name).expect("a function");
            let (from, to) = (input.as_ptr(), output.as_mut_ptr());
            run(handle, from, input.len(), to, output.len(), &raw mut written, null(), null_mut())
        };
        assert_eq!(code, 0);
        written
    }

    pub(crate) fn seal(&self, plain: &[u8], sealed: &mut [u8]) -> usize {
        self.run(b"dp_seal", self.sealing, plain, sealed)
    }

    pub(crate) fn open(&self, sealed: &[u8], plain: &mut [u8]) -> usize {
        self.run(b"dp_open", self.opening, sealed, plain)
    }
}
