//! Compares `deadpan-pad` with versions that leak and with RustCrypto's `block-padding`. Blocks have 16 bytes, and the
//! messages need 1, 8 and 15 bytes of padding.
//!
//! The measurements of all rows of a cell are interleaved. The goals can therefore compare rows of `deadpan-pad` with
//! each other: one byte of padding with fifteen bytes, and valid padding with invalid padding. A turn repeats one
//! message, so the branch predictor learns this message. With real messages, the variants that leak would be slower.

mod peer;
mod plain;

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::barrier::{Register, hide_bytes, hide_bytes_mut, hide_ref};
use crate::cells::Role::{self, Leaks, Ours};
use crate::cells::{Cell, Cells, bytes};
use crate::movable::Movable;
use deadpan_lab::Random;
use deadpan_pad::{Padding, Scheme};
use peer::Peer;
use plain::Plain;

/// Number of bytes in a block. Only `block-padding` gets the block size at compile time.
const BLOCK: usize = 16;

const ROWS: [(usize, &str); 3] = [(1, "1 pad byte"), (8, "8 pad bytes"), (15, "15 pad bytes")];

/// The row with 8 bytes of invalid padding. All functions must refuse this padding.
const INVALID: &str = "8 pad bytes, invalid";

/// The name of the section for schemes with random padding bytes.
const RANDOM: &str = "pad with random bytes";

/// The measured operations, named as in `deadpan-pad`. All outputs are long enough.
trait Padder {
    /// Copies the data to `output` and adds the padding. Returns the length of the result.
    fn pad_into(&self, data: &[u8], output: &mut [u8]) -> usize;
    /// Writes the padded last block to `output`. Returns the total length of the blocks before the last block.
    fn pad_last_block(&self, data: &[u8], output: &mut [u8]) -> usize;
    /// Returns the length of the data, or `None` if the padding is not valid.
    fn unpad(&self, data: &[u8]) -> Option<usize>;
    /// Returns the length of the data and the validity of the padding, without a jump that depends on the validity.
    /// Only some contestants can do this.
    fn unpad_ct(&self, data: &[u8]) -> (usize, usize) {
        self.unpad(data).map_or((0, 0), |length| (length, usize::MAX))
    }
}

impl Padder for Padding {
    #[inline(always)]
    fn pad_into(&self, data: &[u8], output: &mut [u8]) -> usize {
        Padding::pad_into(self, data, output).map_or(0, |padded| padded.len())
    }

    #[inline(always)]
    fn pad_last_block(&self, data: &[u8], output: &mut [u8]) -> usize {
        Padding::pad_last_block(self, data, output).map_or(0, |(blocks, _)| blocks.len())
    }

    #[inline(always)]
    fn unpad(&self, data: &[u8]) -> Option<usize> {
        Padding::unpad(self, data).ok().map(<[u8]>::len)
    }

    #[inline(always)]
    fn unpad_ct(&self, data: &[u8]) -> (usize, usize) {
        let (length, valid) = Padding::unpad_ct(self, data);
        (length, valid.mask().cast_unsigned())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    PadInto,
    PadLastBlock,
    Unpad,
    UnpadCt,
}

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    for (operation, verb) in [
        (Operation::PadInto, "pad_into"),
        (Operation::PadLastBlock, "pad_last_block"),
        (Operation::Unpad, "unpad"),
        (Operation::UnpadCt, "unpad_ct"),
    ] {
        for scheme in Scheme::ALL {
            for blocks in [1, 3] {
                let name = format!("{verb} {scheme}, {blocks} block{}", if blocks == 1 { "" } else { "s" });
                if bench.wants("pad", &name) {
                    cell(bench, name, operation, scheme, blocks * BLOCK);
                }
            }
        }
    }
}

fn cell(bench: &mut Cells<'_>, name: String, operation: Operation, scheme: Scheme, length: usize) {
    let Ok(ours) = Padding::new(scheme, BLOCK as u8) else {
        return bench.notes.push(format!("{name}: deadpan-pad refuses blocks of {BLOCK} bytes"));
    };
    let plain = Plain::new(scheme, BLOCK);
    let messages = messages(&ours, &plain, operation, length);
    let stage = Stage::new(length);
    let section = if matches!(scheme, Scheme::Iso10126 | Scheme::ArbitraryTail) { RANDOM } else { "pad" };
    let mut cell = Cell::new(section, name, None);
    stage.relocate(&mut cell);
    for message in &messages {
        message.enter(&mut cell, &stage, ("deadpan", Ours), operation, &ours);
        message.enter(&mut cell, &stage, ("plain", Role::Plain), operation, &plain);
        match scheme {
            Scheme::Zero => message.enter_peer::<block_padding::ZeroPadding>(&mut cell, &stage, operation),
            Scheme::Pkcs7 => message.enter_peer::<block_padding::Pkcs7>(&mut cell, &stage, operation),
            Scheme::AnsiX923 => message.enter_peer::<block_padding::AnsiX923>(&mut cell, &stage, operation),
            // In `block-padding`, an ISO 10126 padding has the same bytes as a PKCS#7 padding, and no random bytes.
            Scheme::Iso10126 => message.enter_peer::<block_padding::Iso10126>(&mut cell, &stage, operation),
            Scheme::Iso7816 => message.enter_peer::<block_padding::Iso7816>(&mut cell, &stage, operation),
            _ => {}
        }
    }
    bench.run(cell);
}

/// The message of a row. For unpadding, the message also states whether its padding is valid.
struct Message {
    row: &'static str,
    data: Vec<u8>,
    padded: Vec<u8>,
    /// Whether the padding is the same each time; if not, the results of two libraries cannot be compared.
    fixed: bool,
    valid: bool,
}

/// The input and output buffers of all variants. All variants share these buffers, so that the addresses are the same
/// for all rows. The input buffer and the output buffer move before each round.
struct Stage {
    input: RefCell<Movable>,
    output: RefCell<Movable>,
}

impl Stage {
    fn new(length: usize) -> Self {
        let memory = || RefCell::new(Movable::new(&vec![0; length + BLOCK]));
        Self { input: memory(), output: memory() }
    }

    fn relocate<'a>(&'a self, cell: &mut Cell<'a>) {
        let mut random = Random::new(10);
        cell.before_round(move || {
            let past = random.bits() as usize;
            self.input.borrow_mut().relocate(past % 64 * 16);
            // The input lies in the first half of a page, and the output lies in the second half of a page. The reason:
            // the CPU at first treats two addresses with equal low bits as the same address.
            self.output.borrow_mut().relocate(2048 + past / 64 % 64 * 16);
        });
    }

    /// Copies the input to its buffer and runs the measured calls. The copy takes one ten-thousandth of the time of the
    /// measured calls.
    #[inline(always)]
    fn turn(&self, input: &[u8], turns: usize, call: impl Fn(&[u8], &mut [u8])) {
        let (mut place, mut output) = (self.input.borrow_mut(), self.output.borrow_mut());
        let place = &mut place.bytes_mut()[..input.len()];
        place.copy_from_slice(input);
        (0..turns).for_each(|_| call(hide_bytes(place), hide_bytes_mut(output.bytes_mut())));
    }
}

fn messages(ours: &Padding, plain: &Plain, operation: Operation, length: usize) -> Vec<Message> {
    let mut random = Random::new(9);
    let mut message = |row, count| {
        let mut data = bytes(&mut random, length - count);
        // The last byte must not be zero, because zero padding cannot distinguish a zero byte at the end of the data
        // from padding.
        *data.last_mut().expect("one byte of data at least") |= 1;
        let mut padded = vec![0; length];
        plain.pad_into(&data, &mut padded);
        let mut again = vec![0; length];
        plain.pad_into(&data, &mut again);
        Message { row, fixed: again == padded, data, padded, valid: true }
    };
    let mut messages: Vec<Message> = ROWS.iter().map(|&(count, row)| message(row, count)).collect();
    if matches!(operation, Operation::Unpad | Operation::UnpadCt) {
        let mut bad = message(INVALID, 8);
        bad.valid = false;
        // The padding is made invalid by an impossible count, by a wrong byte, or by zeros in the whole block. Some
        // schemes have no invalid padding.
        let candidates: [fn(&mut [u8]); 3] =
            [|end| end[BLOCK - 1] = 0x11, |end| end[BLOCK - 5] ^= 0xff, |end| end.fill(0)];
        for spoil in candidates {
            let mut padded = bad.padded.clone();
            spoil(&mut padded[length - BLOCK..]);
            if Padding::unpad(ours, &padded).is_err() && plain.unpad(&padded).is_none() {
                bad.padded = padded;
                messages.push(bad);
                break;
            }
        }
    }
    messages
}

impl Message {
    fn enter_peer<'a, P: block_padding::Padding>(
        &'a self,
        cell: &mut Cell<'a>,
        stage: &'a Stage,
        operation: Operation,
    ) {
        self.enter(cell, stage, ("block-padding", Leaks), operation, &Peer::<P>(PhantomData));
    }

    fn enter<'a>(
        &'a self,
        cell: &mut Cell<'a>,
        stage: &'a Stage,
        (name, role): (&str, Role),
        operation: Operation,
        padder: &'a impl Padder,
    ) {
        let correct = self.check(operation, padder);
        let (data, padded) = (self.data.as_slice(), self.padded.as_slice());
        let mut enter = |turn: Box<dyn FnMut(usize) + 'a>| cell.enter_row(self.row, name, role, 1, correct, turn);
        match operation {
            Operation::PadInto => enter(Box::new(move |turns| {
                stage.turn(data, turns, |data, output| hide_ref(padder).pad_into(data, output).sink());
            })),
            Operation::PadLastBlock => enter(Box::new(move |turns| {
                stage.turn(data, turns, |data, output| hide_ref(padder).pad_last_block(data, output).sink());
            })),
            Operation::Unpad => enter(Box::new(move |turns| {
                stage.turn(padded, turns, |padded, _| hide_ref(padder).unpad(padded).unwrap_or(usize::MAX).sink());
            })),
            Operation::UnpadCt => enter(Box::new(move |turns| {
                stage.turn(padded, turns, |padded, _| hide_ref(padder).unpad_ct(padded).sink());
            })),
        }
    }

    /// Checks a contestant. Unpadding must return the data. The padded bytes must be equal to the bytes of the other
    /// libraries, except in schemes with random bytes.
    fn check(&self, operation: Operation, padder: &impl Padder) -> bool {
        let (data, padded) = (self.data.as_slice(), self.padded.as_slice());
        let good = |other: &[u8]| {
            other.starts_with(data) && padder.unpad(other) == Some(data.len()) && (!self.fixed || other == padded)
        };
        let whole = padded.len() - BLOCK;
        let mut output = vec![0xee; padded.len() + BLOCK];
        match operation {
            Operation::PadInto => padder.pad_into(data, &mut output) == padded.len() && good(&output[..padded.len()]),
            Operation::PadLastBlock => {
                let before = padder.pad_last_block(data, &mut output[..BLOCK]);
                before == whole && good(&[&data[..whole], &output[..BLOCK]].concat())
            }
            Operation::Unpad => padder.unpad(padded) == self.valid.then_some(data.len()),
            Operation::UnpadCt => {
                let (length, valid) = padder.unpad_ct(padded);
                if self.valid { (length, valid) == (data.len(), usize::MAX) } else { valid == 0 }
            }
        }
    }
}
