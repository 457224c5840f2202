//! Bytes at a chosen address.

/// A byte buffer that can move to another address. At first, the buffer begins at the start of a page.
pub struct Movable {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Movable {
    /// Makes a copy of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let mut movable = Self { memory: vec![0; bytes.len() + 2 * 4096], start: 0, length: bytes.len() };
        movable.relocate(0);
        movable.bytes_mut().copy_from_slice(bytes);
        movable
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..][..self.length]
    }

    /// Returns the bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.length]
    }

    /// Moves the bytes so that they begin `past` bytes after the start of a page. `past` must be at most 4096.
    pub fn relocate(&mut self, past: usize) {
        let start = self.memory.as_ptr().align_offset(4096) + past;
        self.memory.copy_within(self.start..self.start + self.length, start);
        self.start = start;
    }
}

#[cfg(test)]
mod tests {
    use super::Movable;

    #[test]
    fn moved_bytes_are_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut movable = Movable::new(&bytes);
        for past in [0, 16, 4096, 64] {
            movable.relocate(past);
            assert_eq!(movable.bytes(), bytes);
            assert_eq!(movable.bytes().as_ptr() as usize % 4096, past % 4096);
        }
    }
}
