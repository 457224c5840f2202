//! Writes machine code. No instruction that this module writes changes flags.

use iced_x86::{Register, UsedMemory};

use super::state::{EXIT, LOG, LOG_END, LOOKUP, RAX, RCX, RECORD, REQUEST, Request};

/// Register numbers, as instructions encode them.
const A: u8 = 0;
const C: u8 = 1;

/// A buffer for new machine code, and the address at which the code will run.
pub(super) struct Emit<'c> {
    bytes: &'c mut [u8],
    address: u64,
    length: usize,
}

/// A memory address, given by base, index, scale and displacement.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    base: Option<u8>,
    index: Option<u8>,
    scale: u8,
    displacement: i32,
}

impl Operand {
    /// Returns `None` if the address depends on anything except 64-bit general registers.
    pub(super) fn new(base: Register, index: Register, scale: u32, displacement: u64) -> Option<Self> {
        let number = |register: Register| match register {
            Register::None => Some(None),
            _ if register.is_gpr64() => Some(Some(register.number() as u8)),
            _ => None,
        };
        Some(Self {
            base: number(base)?,
            index: number(index)?,
            scale: scale.trailing_zeros() as u8,
            displacement: i32::try_from(displacement as i64).ok()?,
        })
    }

    pub(super) fn from_used(memory: &UsedMemory) -> Option<Self> {
        Self::new(memory.base(), memory.index(), memory.scale(), memory.displacement())
    }
}

impl<'c> Emit<'c> {
    pub(super) fn new(address: u64, bytes: &'c mut [u8]) -> Self {
        Self { bytes, address, length: 0 }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns the address of the next byte.
    pub(super) fn here(&self) -> u64 {
        self.address + self.length as u64
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn word(&mut self, word: u32) {
        self.bytes(&word.to_le_bytes());
    }

    /// Replaces four bytes at `address` that were written earlier.
    pub(super) fn change(&mut self, address: u64, word: u32) {
        let place = (address - self.address) as usize;
        self.bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
    }

    /// `mov gs:[offset], rax` or `rcx`.
    fn save(&mut self, register: u8, offset: u32) {
        self.bytes(&[0x65, 0x48, 0x89, 0x04 | register << 3, 0x25]);
        self.word(offset);
    }

    /// `mov rax, gs:[offset]` or `rcx`.
    fn restore(&mut self, register: u8, offset: u32) {
        self.bytes(&[0x65, 0x48, 0x8b, 0x04 | register << 3, 0x25]);
        self.word(offset);
    }

    /// `jmp gs:[offset]`.
    fn leave(&mut self, offset: u32) {
        self.bytes(&[0x65, 0xff, 0x24, 0x25]);
        self.word(offset);
    }

    /// Writes an instruction whose operands are RAX and an address in memory.
    fn with_rax(&mut self, prefix: Option<u8>, opcode: u8, operand: Operand) {
        if let Some(prefix) = prefix {
            self.bytes(&[prefix]);
        }
        let high = |number: Option<u8>| number.map_or(0, |number| number >> 3);
        self.bytes(&[0x48 | high(operand.index) << 1 | high(operand.base), opcode]);
        let index = operand.index.map_or(4, |number| number & 7);
        let sib = |base: u8| operand.scale << 6 | index << 3 | base;
        match operand.base {
            None => self.bytes(&[0x04, sib(5)]),
            Some(base) if operand.index.is_some() || base & 7 == 4 => self.bytes(&[0x84, sib(base & 7)]),
            Some(base) => self.bytes(&[0x80 | base & 7]),
        }
        self.word(operand.displacement as u32);
    }

    /// Writes code that sends a request to the engine. Returns the address of the four bytes that contain the request.
    pub(super) fn request(&mut self, request: Request, number: u32) -> u64 {
        self.bytes(&[0x65, 0xc7, 0x04, 0x25]);
        self.word(REQUEST);
        let place = self.here();
        self.word(request.word(number));
        self.leave(EXIT);
        place
    }

    /// Writes the beginning of a block, which reserves the next record of the log. Returns the start address of the
    /// block, and the addresses of the two words that must contain the block's number.
    pub(super) fn head(&mut self) -> ([u64; 2], u64) {
        self.restore(C, RCX);
        let full = self.request(Request::Full, 0);
        let start = self.here();
        self.save(C, RCX);
        self.restore(C, LOG);
        // lea rcx, [rcx + RECORD]
        self.bytes(&[0x48, 0x8d, 0x89]);
        self.word(RECORD);
        self.save(C, LOG);
        // jrcxz to the request above.
        let back = (full - 8) as i64 - 9 - (self.here() + 2) as i64;
        self.bytes(&[0xe3, back as u8]);
        // mov qword ptr gs:[rcx + LOG_END], number
        self.bytes(&[0x65, 0x48, 0xc7, 0x81]);
        self.word(LOG_END);
        let number = self.here();
        self.word(0);
        self.restore(C, RCX);
        ([full, number], start)
    }

    /// Writes code that stores an address in word `index` of the block's record.
    pub(super) fn log(&mut self, index: usize, operand: Operand) {
        self.save(A, RAX);
        self.save(C, RCX);
        self.with_rax(None, 0x8d, operand);
        self.restore(C, LOG);
        // mov gs:[rcx + LOG_END + 8 + 8 * index], rax
        self.bytes(&[0x65, 0x48, 0x89, 0x81]);
        self.word(LOG_END + 8 + 8 * index as u32);
        self.restore(A, RAX);
        self.restore(C, RCX);
    }

    /// Writes code that saves RAX and RCX, and then loads a value from memory into RAX. [`Self::find`] must follow.
    pub(super) fn load(&mut self, prefix: Option<u8>, operand: Operand) {
        self.save(A, RAX);
        self.save(C, RCX);
        self.with_rax(prefix, 0x8b, operand);
    }

    /// Like [`Self::load`], but the address of the memory is a constant.
    pub(super) fn load_constant(&mut self, address: u64) {
        self.save(A, RAX);
        self.save(C, RCX);
        self.bytes(&[0x48, 0xb8]);
        self.bytes(&address.to_le_bytes());
        // mov rax, [rax]
        self.bytes(&[0x48, 0x8b, 0x00]);
    }

    /// Like [`Self::load`], but the value comes from a register.
    pub(super) fn load_register(&mut self, number: u8) {
        self.save(A, RAX);
        self.save(C, RCX);
        self.bytes(&[0x48 | number >> 3, 0x8b, 0xc0 | number & 7]);
    }

    /// Writes code that loads RCX with the address of the instruction after the original system call. Before this load,
    /// RCX contains the address after the copied system call, because the processor stored that address there.
    pub(super) fn load_next(&mut self, address: u64) {
        self.bytes(&[0x48, 0xb9]);
        self.bytes(&address.to_le_bytes());
    }

    /// Writes code that jumps to the copy of the code whose original address is in RAX.
    pub(super) fn find(&mut self) {
        self.leave(LOOKUP);
    }

    /// Pushes a constant.
    pub(super) fn push(&mut self, word: u64) {
        self.bytes(&[0x68]);
        self.word(word as u32);
        if word as u32 as i32 as u64 != word {
            // mov dword ptr [rsp + 4], high half
            self.bytes(&[0xc7, 0x44, 0x24, 0x04]);
            self.word((word >> 32) as u32);
        }
    }

    /// `lea rsp, [rsp + bytes]`.
    pub(super) fn pop(&mut self, bytes: u32) {
        self.bytes(&[0x48, 0x8d, 0xa4, 0x24]);
        self.word(bytes);
    }

    /// Writes a jump whose target is still unknown. The jump is taken if `condition` is true. Returns the address of
    /// the four bytes that contain the jump's distance.
    pub(super) fn jump(&mut self, condition: Option<u8>) -> u64 {
        match condition {
            None => self.bytes(&[0xe9]),
            Some(condition) => self.bytes(&[0x0f, 0x80 | condition]),
        }
        self.word(0);
        self.here() - 4
    }

    /// Stores the distance to `target` at `site`. Returns false if the distance needs more than 32 bits.
    pub(super) fn aim(&mut self, site: u64, target: u64) -> bool {
        let distance = i32::try_from(target.wrapping_sub(site + 4) as i64);
        distance.map(|distance| self.change(site, distance as u32)).is_ok()
    }
}
