//! Functions of shared libraries: `dlopen`, `dlsym`, and calls of functions with up to six arguments.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::path::Path;
use std::ptr::NonNull;

use super::supervise;
use crate::foreign::{Abi, Error, ForeignClass};
use crate::target::Target;

/// A loaded library. The library stays loaded until the program ends, because the library may have started threads.
#[derive(Clone, Copy)]
pub(crate) struct Library {
    handle: NonNull<c_void>,
}

impl Library {
    /// Loads a library. Loading runs the constructors of the library. The error is the message of the operating system.
    pub(crate) fn open(path: &CStr) -> Result<Self, String> {
        // SAFETY: the path ends with a zero byte. The library's constructors run with the rights of the person who
        // chose the library, like a program that this person starts.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match NonNull::new(handle) {
            Some(handle) => Ok(Self { handle }),
            None => {
                // SAFETY: `dlerror` returns null or a text that ends with a zero byte and is valid until the next call.
                let text = unsafe {
                    let text = libc::dlerror();
                    if text.is_null() { None } else { Some(CStr::from_ptr(text).to_string_lossy().into_owned()) }
                };
                Err(text.unwrap_or_else(|| "the system gives no reason".to_owned()))
            }
        }
    }

    /// Returns the address of a function.
    pub(crate) fn symbol(self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle comes from `dlopen` and is never closed, and the name ends with a zero byte.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }
}

/// Loads a shared library and returns one of its functions as a target. If `classes` is empty, the target has the usual
/// classes: `random`, `zeros`, `ones` and `bit`. If two parts have the same length, the usual classes also include
/// `equal`, `first` and `last`.
///
/// Traces can show the source lines only of libraries that were loaded before the first trace of this process.
///
/// # Safety
/// The caller must allow the library's constructors to run. The function must take the arguments that `abi` describes.
/// The function must access no more than the stated bytes behind each pointer, and may change only the bytes of
/// `inout`, `out` and `scratch`.
///
/// # Errors
/// Fails if the library cannot be loaded, if the library exports no such function, or if a class does not suit the
/// arguments.
pub unsafe fn shared_library(path: &Path, symbol: &str, abi: &Abi, classes: &[ForeignClass]) -> Result<Target, Error> {
    crate::foreign::target(path, symbol, abi, classes)
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A pointer into the input, at this offset.
    Input(usize),
    /// A pointer into the output, at this offset.
    Output(usize),
    /// An integer at this offset of the input, with a size of 1, 2, 4 or 8 bytes.
    Integer(usize, usize),
    /// An integer with the same value in every call.
    Constant(usize),
}

pub(crate) struct Function {
    address: NonNull<c_void>,
    words: Vec<Word>,
    /// The memory for outputs. This memory consists of 64-byte blocks, so its alignment suits every type.
    output: Vec<Block>,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Block {
    _bytes: [u8; 64],
}

impl Function {
    /// Creates a function with at most six arguments and `output` bytes for its outputs.
    ///
    /// The lab cannot check the arguments, because only the user knows which arguments the function takes.
    pub(crate) fn new(address: NonNull<c_void>, words: Vec<Word>, output: usize) -> Self {
        assert!(words.len() <= 6, "a function has at most six arguments");
        Self { address, words, output: vec![Block { _bytes: [0; 64] }; output.div_ceil(64)] }
    }

    /// Calls the function. The description of the function's arguments states which parts of `input` the function reads
    /// and changes.
    #[inline]
    pub(crate) fn call(&mut self, input: &mut [u8]) -> usize {
        self.call_at(input.as_mut_ptr(), input.len())
    }

    #[inline]
    pub(crate) fn read(&mut self, input: &[u8]) -> usize {
        self.call_at(input.as_ptr().cast_mut(), input.len())
    }

    #[inline]
    fn call_at(&mut self, input: *mut u8, length: usize) -> usize {
        let mut values = [0_usize; 6];
        let output = self.output.as_mut_ptr().cast::<u8>();
        for (value, word) in values.iter_mut().zip(&self.words) {
            *value = match *word {
                Word::Input(offset) => input.wrapping_add(offset).expose_provenance(),
                Word::Output(offset) => output.wrapping_add(offset).expose_provenance(),
                Word::Constant(constant) => constant,
                Word::Integer(offset, bytes) => {
                    assert!(bytes <= 8 && offset + bytes <= length, "the integer lies in the input");
                    let mut value = [0; 8];
                    // SAFETY: the bytes lie in the input, whose pointer and length come from a slice.
                    unsafe { input.add(offset).copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
                    u64::from_le_bytes(value) as usize
                }
            };
        }
        self.invoke(values)
    }

    /// Calls the function with all of these arguments.
    #[inline]
    pub(crate) fn invoke(&self, values: [usize; 6]) -> usize {
        supervise::begin_call();
        let [a, b, c, d, e, f] = values;
        let address = self.address.as_ptr();
        // SAFETY: the person who chose the function also described its arguments. This person guarantees that the
        // function takes these arguments and accesses only the described bytes behind each pointer. The input and the
        // output live until the call returns. The C calling conventions of 64-bit systems pass integers and pointers in
        // the same way. If the result type is `void`, the code reads an integer that has no meaning.
        let result = unsafe {
            match self.words.len() {
                0 => transmute::<*mut c_void, extern "C" fn() -> usize>(address)(),
                1 => transmute::<*mut c_void, extern "C" fn(usize) -> usize>(address)(a),
                2 => transmute::<*mut c_void, extern "C" fn(usize, usize) -> usize>(address)(a, b),
                3 => transmute::<*mut c_void, extern "C" fn(usize, usize, usize) -> usize>(address)(a, b, c),
                4 => transmute::<*mut c_void, extern "C" fn(usize, usize, usize, usize) -> usize>(address)(a, b, c, d),
                5 => transmute::<*mut c_void, extern "C" fn(usize, usize, usize, usize, usize) -> usize>(address)(
                    a, b, c, d, e,
                ),
                _ => transmute::<*mut c_void, extern "C" fn(usize, usize, usize, usize, usize, usize) -> usize>(
                    address,
                )(a, b, c, d, e, f),
            }
        };
        // If the function has called `fork`, the child process also returns from the function. The child process must
        // not continue to run the lab.
        if supervise::is_copy() {
            supervise::end_copy();
        }
        result
    }
}
