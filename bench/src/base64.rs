//! Compares `deadpan-base64` with base64-turbo, base64-simd, base64, base64ct and simdutf. All compared libraries use
//! the standard alphabet with `=`, and write into existing buffers.
//!
//! All compared libraries read the same input buffer and write to the same output buffer. Before each round, both
//! buffers move to another multiple of 16 bytes in a page, so that no library profits from a favorable address. Each
//! size is the size of the binary data. For comparison, the benchmark measures a `memcpy` of the same size.

#[cfg(feature = "simdutf")]
#[allow(unsafe_code)]
mod barrier;

use std::cell::RefCell;

use ::base64::Engine;
use ::base64::engine::general_purpose::PAD;
use ::base64::engine::simd::Simd;
use base64_simd::AsOut;
use base64ct::Encoding;

use crate::barrier::{Register, hide_bytes, hide_bytes_mut};
use crate::cells::Role::{self, ConstantTime, NoPromise, Ours, Yardstick};
use crate::cells::{Cell, Cells, bytes};
use crate::movable::Movable;
use deadpan_lab::Random;

/// The sizes and their names.
const SIZES: [(usize, &str); 7] = [
    (16, "16 B"),
    (64, "64 B"),
    (256, "256 B"),
    (1 << 10, "1 KiB"),
    (16 << 10, "16 KiB"),
    (1 << 20, "1 MiB"),
    (64 << 20, "64 MiB"),
];

/// At this size and at larger sizes, a round takes most of a second, so `--quick` does not measure these sizes.
const SLOW: usize = 64 << 20;

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    if cfg!(not(feature = "simdutf")) {
        bench.notes.push("simdutf: skipped (no C++ compiler)".to_owned());
    }
    for (size, name) in SIZES {
        if size < SLOW || !bench.plan.quick {
            cells(bench, size, name);
        }
    }
}

fn cells(bench: &mut Cells<'_>, size: usize, name: &str) {
    let (encode, decode) = (format!("encode {name}"), format!("decode {name}"));
    if !bench.wants("base64", &encode) && !bench.wants("base64", &decode) {
        return;
    }
    let binary = bytes(&mut Random::new(6), size);
    let text = ::base64::engine::general_purpose::STANDARD.encode(&binary).into_bytes();
    let output = place(&vec![0; text.len() + 64]);
    let buffers = Buffers { binary: place(&binary), text: place(&text), output };
    if bench.wants("base64", &encode) {
        let mut cell = Cell::new("base64", encode, Some(size));
        encoders(&mut cell, &buffers);
        buffers.relocate(&mut cell);
        bench.run(cell);
    }
    if bench.wants("base64", &decode) {
        let mut cell = Cell::new("base64", decode, Some(size));
        decoders(&mut cell, &buffers);
        buffers.relocate(&mut cell);
        bench.run(cell);
    }
}

fn encoders<'a>(cell: &mut Cell<'a>, buffers: &'a Buffers) {
    let crate_base64 = Simd::standard(PAD);
    buffers.encode(cell, ("deadpan", Ours), |input, output| {
        deadpan_base64::STANDARD.encode_into(input, output).map_or(0, str::len)
    });
    buffers.encode(cell, ("base64-turbo", NoPromise), |input, output| {
        base64_turbo::STANDARD.encode_slice(input, output).unwrap_or(0)
    });
    buffers.encode(cell, ("base64-simd", NoPromise), |input, output| {
        base64_simd::STANDARD.encode(input, output.as_out()).len()
    });
    buffers.encode(cell, ("base64", NoPromise), move |input, output| {
        crate_base64.encode_slice(input, output).unwrap_or(0)
    });
    #[cfg(feature = "simdutf")]
    buffers.encode(cell, ("simdutf", NoPromise), barrier::encode);
    buffers.encode(cell, ("base64ct", ConstantTime), |input, output| {
        base64ct::Base64::encode(input, output).map_or(0, str::len)
    });
    buffers.copy(cell);
}

fn decoders<'a>(cell: &mut Cell<'a>, buffers: &'a Buffers) {
    let crate_base64 = Simd::standard(PAD);
    buffers.decode(cell, ("deadpan", Ours), |input, output| {
        deadpan_base64::STANDARD.decode_into(input, output).map_or(0, |out| out.len())
    });
    buffers.decode(cell, ("base64-turbo", NoPromise), |input, output| {
        base64_turbo::STANDARD.decode_slice(input, output).unwrap_or(0)
    });
    buffers.decode(cell, ("base64-simd", NoPromise), |input, output| {
        base64_simd::STANDARD.decode(input, output.as_out()).map_or(0, |out| out.len())
    });
    buffers.decode(cell, ("base64", NoPromise), move |input, output| {
        crate_base64.decode_slice(input, output).unwrap_or(0)
    });
    #[cfg(feature = "simdutf")]
    buffers.decode(cell, ("simdutf", NoPromise), barrier::decode);
    buffers.decode(cell, ("base64ct", ConstantTime), |input, output| {
        base64ct::Base64::decode(input, output).map_or(0, <[u8]>::len)
    });
    buffers.copy(cell);
}

struct Buffers {
    binary: Place,
    text: Place,
    output: Place,
}

impl Buffers {
    fn encode<'a>(
        &'a self,
        cell: &mut Cell<'a>,
        who: (&str, Role),
        operation: impl Fn(&[u8], &mut [u8]) -> usize + 'a,
    ) {
        self.enter(cell, who, (&self.binary, &self.text), operation);
    }

    fn decode<'a>(
        &'a self,
        cell: &mut Cell<'a>,
        who: (&str, Role),
        operation: impl Fn(&[u8], &mut [u8]) -> usize + 'a,
    ) {
        self.enter(cell, who, (&self.text, &self.binary), operation);
    }

    fn copy<'a>(&'a self, cell: &mut Cell<'a>) {
        self.enter(cell, ("memcpy", Yardstick), (&self.binary, &self.binary), |input, output| {
            output[..input.len()].copy_from_slice(input);
            input.len()
        });
    }

    fn enter<'a>(
        &'a self,
        cell: &mut Cell<'a>,
        (name, role): (&str, Role),
        (input, expected): (&'a Place, &Place),
        operation: impl Fn(&[u8], &mut [u8]) -> usize + 'a,
    ) {
        self.output.borrow_mut().bytes_mut().fill(0);
        let length = operation(input.borrow().bytes(), self.output.borrow_mut().bytes_mut());
        let correct = self.output.borrow().bytes().get(..length) == Some(expected.borrow().bytes());
        cell.enter(name, role, 1, correct, move |turns| {
            let (input, mut output) = (input.borrow(), self.output.borrow_mut());
            let (input, output) = (input.bytes(), output.bytes_mut());
            for _ in 0..turns {
                operation(hide_bytes(input), hide_bytes_mut(output)).sink();
            }
        });
    }

    fn relocate<'a>(&'a self, cell: &mut Cell<'a>) {
        let mut random = Random::new(7);
        cell.before_round(move || {
            for place in [&self.binary, &self.text, &self.output] {
                place.borrow_mut().relocate(random.bits() as usize % 256 * 16);
            }
        });
    }
}

type Place = RefCell<Movable>;

fn place(bytes: &[u8]) -> Place {
    RefCell::new(Movable::new(bytes))
}
