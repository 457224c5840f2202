//! Memory of Python's objects. All `unsafe` code of this crate is here.
#![allow(unsafe_code)]

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer::unfit;
use deadpan_ct::Wiped;
use deadpan_seal::{ReadAt, WriteAt};

/// Memory that other threads may read and write at the same time. This crate only copies bytes from and to this memory,
/// and never makes a Rust reference to it.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'a> {
    start: *mut u8,
    length: usize,
    writable: bool,
    /// The bytes of the memory as a slice, if the bytes never change.
    fixed: Option<&'a [u8]>,
    holder: PhantomData<&'a [u8]>,
}

// SAFETY: any thread may copy from or to this memory. The lifetime keeps the owner of the memory alive.
unsafe impl Send for Memory<'_> {}
// SAFETY: copies may race with each other, and with other threads of Python if a user writes to the buffer during the
// work. Each copied byte then has its old or its new value, and this crate is safe with either value.
unsafe impl Sync for Memory<'_> {}

impl<'a> Memory<'a> {
    /// Makes read-only memory from bytes that never change.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self {
            start: bytes.as_ptr().cast_mut(),
            length: bytes.len(),
            writable: false,
            fixed: Some(bytes),
            holder: PhantomData,
        }
    }

    pub(crate) fn len(self) -> usize {
        self.length
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        let (one, two) = (self.start as usize, other.start as usize);
        one < two + other.length && two < one + self.length && self.length > 0 && other.length > 0
    }

    pub(crate) fn copy(self) -> Wiped<Vec<u8>> {
        let mut copy = Wiped::new(vec![0; self.length]);
        self.read(&mut copy, 0);
        copy
    }

    /// Copies bytes, beginning at a position, and returns the number of copied bytes.
    pub(crate) fn read(self, buffer: &mut [u8], position: u64) -> usize {
        let begin = usize::try_from(position).map_or(self.length, |position| position.min(self.length));
        let count = buffer.len().min(self.length - begin);
        // SAFETY: `begin + count` is at most the length of this memory, which the holder of this `Memory` keeps alive.
        // The buffer has `count` bytes, and only this Rust code uses it.
        unsafe { std::ptr::copy_nonoverlapping(self.start.add(begin), buffer.as_mut_ptr(), count) };
        count
    }

    /// Writes bytes to this memory at a position, if they fit.
    pub(crate) fn write(self, bytes: &[u8], position: u64) -> Option<()> {
        let begin = usize::try_from(position).ok()?;
        let end = begin.checked_add(bytes.len()).filter(|&end| self.writable && end <= self.length)?;
        debug_assert!(end <= self.length);
        // SAFETY: the range lies in this memory, which the holder of this `Memory` keeps alive and writable.
        unsafe {
            let start = self.start.add(begin);
            if self.length < BEYOND { copy(start, bytes) } else { copy_past(start, bytes) }
        }
        Some(())
    }

    pub(crate) fn wipe(self, length: usize) {
        const ZEROS: [u8; 4096] = [0; 4096];
        for begin in (0..length.min(self.length)).step_by(ZEROS.len()) {
            let count = ZEROS.len().min(length.min(self.length) - begin);
            let _ = self.write(&ZEROS[..count], begin as u64);
        }
    }
}

/// Memory of this length does not fit into a cache. The bytes of such a long copy are not read again soon, so the
/// caches need not hold them.
const BEYOND: usize = 32 << 20;

/// Copies bytes.
///
/// # Safety
/// `to` is valid for writing as many bytes as `bytes` contains.
unsafe fn copy(to: *mut u8, bytes: &[u8]) {
    // SAFETY: the caller promises that `to` is writable for this length.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Copies bytes with stores that bypass the caches. Ordinary stores would first read the old bytes, which takes twice
/// as long.
///
/// # Safety
/// The caller must fulfill the condition of `copy`.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_past(to: *mut u8, bytes: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    const LINE: usize = 64;
    const WORD: usize = size_of::<__m128i>();

    let (front, rest) = bytes.split_at(to.align_offset(LINE).min(bytes.len()));
    let (lines, end) = rest.as_chunks::<LINE>();
    // SAFETY: `front`, `lines` and `end` together have the length of `bytes`, and the caller promises that `to` is
    // writable for this length. The words are aligned, because the lines are aligned. The fence completes all writes
    // before any other thread can learn that they have happened.
    unsafe {
        copy(to, front);
        let mut to = to.add(front.len());
        for line in lines {
            for word in (0..LINE).step_by(WORD) {
                _mm_stream_si128(to.add(word).cast(), _mm_loadu_si128(line.as_ptr().add(word).cast()));
            }
            to = to.add(LINE);
        }
        copy(to, end);
        _mm_sfence();
    }
}

#[cfg(not(target_arch = "x86_64"))]
use copy as copy_past;

impl ReadAt for Memory<'_> {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        Ok(self.read(buffer, position))
    }

    fn bytes_at(&self, position: u64, length: usize) -> Option<&[u8]> {
        self.fixed?.get(usize::try_from(position).ok()?..)?.get(..length)
    }
}

impl WriteAt for Memory<'_> {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.write(bytes, position).ok_or_else(|| io::ErrorKind::WriteZero.into())
    }

    fn at_once(&self) -> usize {
        // There is no minimum length for a copy, because a copy has no cost that is independent of its length.
        0
    }
}

/// A buffer that its owner cannot free or resize while this value lives.
pub(crate) struct Pinned(PyUntypedBuffer);

impl Pinned {
    /// Takes a buffer with items of any type.
    pub(crate) fn readable(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(value)?;
        if buffer.is_c_contiguous() { Ok(Self(buffer)) } else { Err(unfit("the buffer is not contiguous")) }
    }

    pub(crate) fn writable(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let pinned = Self::readable(value)?;
        if pinned.0.readonly() { Err(unfit("the buffer cannot be written")) } else { Ok(pinned) }
    }

    pub(crate) fn memory(&self) -> Memory<'_> {
        let (start, length) = (self.0.buf_ptr().cast::<u8>(), self.0.len_bytes());
        Memory { start, length, writable: !self.0.readonly(), fixed: None, holder: PhantomData }
    }
}

/// New memory of at least this length is allocated on huge pages.
#[cfg(target_os = "linux")]
const HUGE: usize = 8 << 20;

/// A new `bytes` object that Python code has not seen yet. The bytes of the new object are not initialized, because
/// filling them with zeros takes as long as sealing.
pub(crate) struct NewBytes<'py> {
    bytes: Bound<'py, PyBytes>,
    length: usize,
}

impl<'py> NewBytes<'py> {
    pub(crate) fn new(py: Python<'py>, length: u64) -> PyResult<Self> {
        let length = isize::try_from(length).map_err(|_| pyo3::exceptions::PyMemoryError::new_err(()))?;
        // SAFETY: if the pointer to the text is NULL, Python makes an object with `length` uninitialized bytes, or
        // fails with an exception.
        let bytes = unsafe {
            let made = ffi::PyBytes_FromStringAndSize(std::ptr::null(), length);
            Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked::<PyBytes>()
        };
        let mut new = Self { bytes, length: length as usize };
        new.advise();
        Ok(new)
    }

    /// Asks the system for huge pages, if the object is long. With small pages, clearing the memory takes longer than
    /// filling it.
    #[cfg(target_os = "linux")]
    fn advise(&mut self) {
        use rustix::mm::{Advice, madvise};

        const PAGE: usize = 4096;
        let Memory { start, length, .. } = self.memory();
        let begin = start.align_offset(PAGE);
        if length >= HUGE && begin < PAGE {
            // SAFETY: the range lies within the object and begins on a page. A program can observe no effect of the
            // advice except speed. Without huge pages, filling the memory is only slower.
            let _ = unsafe { madvise(start.add(begin).cast(), (length - begin) / PAGE * PAGE, Advice::LinuxHugepage) };
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn advise(&mut self) {}

    pub(crate) fn memory(&mut self) -> Memory<'_> {
        // SAFETY: this is a `bytes` object, and its bytes live as long as the object. Nobody else has the object yet,
        // so writing is allowed.
        let start = unsafe { ffi::PyBytes_AsString(self.bytes.as_ptr()) }.cast::<u8>();
        Memory { start, length: self.length, writable: true, fixed: None, holder: PhantomData }
    }

    /// Returns the bytes, which are not initialized yet.
    pub(crate) fn uninit(&mut self) -> &mut [MaybeUninit<u8>] {
        let Memory { start, length, .. } = self.memory();
        // SAFETY: nobody else has the object, and its bytes live as long as the object. The bytes may have any value.
        unsafe { std::slice::from_raw_parts_mut(start.cast(), length) }
    }

    /// Returns the object with its first `length` bytes, which the caller has written. The bytes after the first
    /// `length` bytes are not initialized.
    pub(crate) fn finish(self, length: u64) -> Bound<'py, PyBytes> {
        let length = usize::try_from(length).map_or(self.length, |length| length.min(self.length));
        if length == self.length {
            return self.bytes;
        }
        let py = self.bytes.py();
        self.with(length as u64, |data| PyBytes::new(py, data))
    }

    /// Calls a function with the first `length` bytes, which the caller has written. Wipes all bytes afterwards.
    pub(crate) fn with<T>(mut self, length: u64, use_them: impl FnOnce(&[u8]) -> T) -> T {
        let length = usize::try_from(length).map_or(self.length, |length| length.min(self.length));
        let result = use_them(&self.bytes.as_bytes()[..length]);
        let all = self.length;
        self.memory().wipe(all);
        result
    }
}
