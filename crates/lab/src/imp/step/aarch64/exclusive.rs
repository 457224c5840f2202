//! Exclusive loads and stores (`ldxr`, `stxr` and their relatives).
//!
//! An exclusive store succeeds only if nothing has cleared the processor's monitor since the exclusive load. Each
//! interrupt clears the monitor, and single-stepping interrupts the process after each instruction. An exclusive store
//! would therefore always fail, and its loop would never end. A breakpoint behind the loop, as debuggers set one, would
//! leave out the path through the loop.
//!
//! The tracing process instead carries out these instructions itself, with a plain load and a plain store, and keeps
//! its own monitor. The traced process has one thread, so no other thread can write between the load and the store.
//! Memory that the call shares with another process may change in between; then the traces of one input usually differ.

use super::registers::{self, Registers};

/// The address of the last exclusive load, and the number of bytes that it loaded.
#[derive(Clone, Copy, Default)]
pub(super) struct Monitor(Option<(u64, usize)>);

/// The fields of an exclusive load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exclusive {
    loads: bool,
    /// The bytes of one register.
    size: usize,
    pair: bool,
    /// The numbers of the registers with the data. The second number counts only for a pair.
    data: [usize; 2],
    /// The number of the register with the address.
    base: usize,
    /// The number of the register to which a store writes whether it failed.
    status: usize,
}

impl Exclusive {
    fn decode(code: u32) -> Option<Self> {
        let field = |low: u32| (code >> low & 31) as usize;
        // Bit 23 distinguishes these instructions from other ordered loads and stores. Bit 21 stands for a pair, and
        // pairs of bytes do not exist: these encodings are `casp`.
        let pair = code >> 21 & 1 == 1;
        let found = code >> 24 & 0x3f == 0b00_1000 && code >> 23 & 1 == 0 && !(pair && code >> 31 == 0);
        found.then(|| Self {
            loads: code >> 22 & 1 == 1,
            size: 1 << (code >> 30),
            pair,
            data: [field(0), field(10)],
            base: field(5),
            status: field(16),
        })
    }

    fn bytes(self) -> usize {
        if self.pair { 2 * self.size } else { self.size }
    }
}

impl Monitor {
    /// If the next instruction, `code`, is an exclusive load or store, carries it out and moves to the instruction
    /// after it. Returns false for other instructions, and for accesses that fail: the process itself then makes them.
    pub(super) fn carry_out(&mut self, code: u32, registers: &mut Registers<'_>) -> bool {
        const CLEAR: u32 = 0xd503_305f;
        if code & 0xffff_f0ff == CLEAR {
            self.0 = None;
            return false;
        }
        let Some(access) = Exclusive::decode(code) else { return false };
        let (address, length) = (registers.base(access.base), access.bytes());
        let mut bytes = [0_u8; 16];
        // An address that is not aligned is an error of the program.
        if !address.is_multiple_of(length as u64) {
            return false;
        }
        let halves = |bytes: &[u8; 16]| {
            let whole = u128::from_le_bytes(*bytes);
            let low = if access.size == 8 { u128::from(u64::MAX) } else { (1 << (8 * access.size)) - 1 };
            [whole & low, whole >> (8 * access.size) & low].map(|half| half as u64)
        };
        if access.loads {
            if !registers::read(registers.process, address, &mut bytes[..length]) {
                return false;
            }
            let values = halves(&bytes);
            registers.set_general(access.data[0], values[0]);
            if access.pair {
                registers.set_general(access.data[1], values[1]);
            }
            self.0 = Some((address, length));
        } else {
            let held = self.0.take() == Some((address, length));
            if held {
                for (index, number) in access.data.into_iter().enumerate().take(if access.pair { 2 } else { 1 }) {
                    let value = registers.general(number).to_le_bytes();
                    bytes[index * access.size..][..access.size].copy_from_slice(&value[..access.size]);
                }
                if !registers::write(registers.process, address, &mut bytes[..length]) {
                    return false;
                }
            }
            registers.set_general(access.status, u64::from(!held));
        }
        registers.set_pc(registers.pc() + 4);
        registers.write()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exclusive_loads_and_stores_are_carried_out() {
        let access = |code| Exclusive::decode(code).map(|access| (access.loads, access.size, access.pair));
        // ldxr x0, [x1]; ldaxrb w0, [x1]; stlxrh w2, w0, [x1]; stxr w2, w0, [x1]
        assert_eq!(access(0xc85f_7c20), Some((true, 8, false)));
        assert_eq!(access(0x085f_fc20), Some((true, 1, false)));
        assert_eq!(access(0x4802_fc20), Some((false, 2, false)));
        assert_eq!(access(0x8802_7c20), Some((false, 4, false)));
        // ldaxp x0, x3, [x1]; stxp w2, w0, w3, [x1]
        assert_eq!(access(0xc87f_8c20), Some((true, 8, true)));
        assert_eq!(access(0x8822_0c20), Some((false, 4, true)));
        // ldar x0, [x1]; stlr x0, [x1]; cas x2, x0, [x1]; casp x2, x3, x0, x1, [x4]; ldr x0, [x1]
        for other in [0xc8df_fc20, 0xc89f_fc20, 0xc8a2_7c20, 0x4822_7c80, 0xf940_0020] {
            assert_eq!(access(other), None, "{other:x}");
        }
    }
}
