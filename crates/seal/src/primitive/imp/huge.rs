//! Puts long memory areas on huge pages, because clearing small pages takes longer than filling the memory with data.

#[cfg(target_os = "linux")]
pub(crate) fn advise<T>(memory: &mut [T]) {
    const PAGE: usize = 4096;
    const LONG: usize = 8 << 20;

    let length = size_of_val(memory);
    let start = memory.as_mut_ptr().cast::<u8>();
    let begin = start.align_offset(PAGE);
    if length >= LONG && begin < PAGE {
        // SAFETY: the range lies within the memory and begins on a page. This advice to the system does not change the
        // contents of the memory. If the system does not support this advice, filling the memory is only slower.
        unsafe {
            libc::madvise(start.add(begin).cast(), (length - begin) / PAGE * PAGE, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise<T>(_memory: &mut [T]) {}
