//! Memory of Python's buffers: all `unsafe` of this crate.
#![allow(unsafe_code)]

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::buffer::unfit;
use deadpan_seal::Secret;

/// A buffer that its owner cannot free or resize while this value lives.
pub(crate) struct Pinned(PyBuffer<u8>);

impl Pinned {
    pub(crate) fn readable(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<u8>::get(value)?;
        match buffer.is_c_contiguous() {
            true => Ok(Self(buffer)),
            false => Err(unfit("the buffer is not contiguous")),
        }
    }

    pub(crate) fn writable(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let pinned = Self::readable(value)?;
        match pinned.0.readonly() {
            true => Err(unfit("the buffer cannot be written")),
            false => Ok(pinned),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// Copies the bytes as they are now.
    pub(crate) fn copy(&self) -> Secret {
        let mut copy = Secret::zeroed(self.len());
        // SAFETY: the buffer has so many bytes, in one piece, as long as it is held; the copy has as many. Another
        // thread may write them meanwhile, so no reference to them is made.
        unsafe { std::ptr::copy_nonoverlapping(self.0.buf_ptr().cast::<u8>(), copy.as_mut_ptr(), copy.len()) };
        copy
    }

    /// Writes bytes to the beginning of a buffer that has room for them.
    pub(crate) fn put(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.len() && !self.0.readonly(), "it has the room");
        // SAFETY: `writable` made this value, so the buffer may be written, and it has the room.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.buf_ptr().cast::<u8>(), bytes.len()) };
    }
}
