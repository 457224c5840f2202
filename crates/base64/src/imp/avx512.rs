//! Encodes and decodes 64 symbols at a time. The alphabet is kept in registers. The kernel loads and stores the last,
//! incomplete vector under a mask.
//!
//! `vpermb` and `vpermi2b` look bytes up in registers, so that no address depends on a secret. For inputs below a
//! kilobyte, one vector at a time is loaded and stored. For longer inputs, either the loads or the stores are aligned
//! to cache lines, because an access that straddles two lines costs twice as much. For these inputs, four decoded
//! vectors at a time are packed into three full vectors. The module `memory` decides how large outputs are written.

mod memory;

use core::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_mask_mov_epi8,
    _mm512_mask_test_epi8_mask, _mm512_movepi8_mask, _mm512_multishift_epi64_epi8, _mm512_or_si512,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_storeu_si512, _mm512_ternarylogic_epi64,
};

use self::memory::{Writing, fence, first, load, store, write, write_ahead, write_past};
use super::table::{Table, symbols, values};
use super::{Flaws, apart, bytes_for, symbols_for};
use crate::Alphabet;

/// The number of symbols in a vector, and the number of bytes that these symbols hold.
const SYMBOLS: usize = 64;
const BYTES: usize = 48;
/// The number of vectors in one round of the main loops.
const ROUND: usize = 4;
/// If the input has at least this size, the accesses are aligned to cache lines, and each round of a loop processes
/// four vectors.
const LONG: usize = 1 << 10;
/// `a | b | c`
const OR3: i32 = 0b1111_1110;

/// Indices that spread each three bytes over four bytes, in the order that the shifts below expect: 1 0 2 1, 4 3 5 4, …
const SPREAD: Table = {
    let mut table = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        table[lane] = (lane / 4 * 3) as u8 + [1, 0, 2, 1][lane % 4];
        lane += 1;
    }
    Table(table)
};

/// Indices that gather the three used bytes of every four bytes that `madd` returns, in big-endian order. The indices
/// gather 48 bytes.
const GATHER: Table = {
    let mut table = [0; 64];
    let mut byte = 0;
    while byte < BYTES {
        table[byte] = (byte / 3 * 4) as u8 + [2, 1, 0][byte % 3];
        byte += 1;
    }
    Table(table)
};

/// Indices that gather the bytes of two neighboring vectors, without the first `skip` bytes of the pair. Three gathers
/// with these indices pack four vectors into three.
const fn gather_pair(skip: usize) -> Table {
    let mut table = [0; 64];
    let mut byte = 0;
    while byte < 64 {
        let from = byte + skip;
        // The second vector of the pair starts at index 64.
        let base = if from < BYTES { 0 } else { 64 };
        let within = from % BYTES;
        table[byte] = base + (within / 3 * 4) as u8 + [2, 1, 0][within % 3];
        byte += 1;
    }
    Table(table)
}
const PACKED: [Table; 3] = [gather_pair(0), gather_pair(16), gather_pair(32)];

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn table(table: &Table) -> __m512i {
    // SAFETY: the array is exactly as long as the vector.
    unsafe { _mm512_loadu_si512(table.0.as_ptr().cast()) }
}

/// The registers that encoding needs.
struct Avx512Encoder {
    spread: __m512i,
    shifts: __m512i,
    symbols: __m512i,
}

impl Avx512Encoder {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn new(alphabet: Alphabet) -> Self {
        Self {
            spread: table(&SPREAD),
            // The bit positions where the four sextets begin in each half of a spread quadword.
            shifts: _mm512_set1_epi64(0x3036_242a_1016_040a),
            symbols: table(symbols(alphabet)),
        }
    }

    /// Turns the first 48 bytes of a vector into 64 symbols. `vpermb` ignores the upper two bits of each lane, so these
    /// bits of the sextets need not be cleared.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn step(&self, bytes: __m512i) -> __m512i {
        let spread = _mm512_permutexvar_epi8(self.spread, bytes);
        let sextets = _mm512_multishift_epi64_epi8(self.shifts, spread);
        _mm512_permutexvar_epi8(sextets, self.symbols)
    }
}

/// The registers that decoding needs, and the flaws found so far.
struct Avx512Decoder {
    values: [__m512i; 2],
    /// Two registers, used in turn. With only one register for flaws, the work on each vector would have to wait for
    /// the work on the vector before.
    flaws: [__m512i; 2],
}

impl Avx512Decoder {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn new(alphabet: Alphabet) -> Self {
        let [low, high] = values(alphabet);
        Self { values: [table(low), table(high)], flaws: [_mm512_setzero_si512(); 2] }
    }

    /// Turns 64 symbols into 16 numbers of 24 bits. The lookup uses seven bits of each byte. A byte is a flaw if its
    /// eighth bit is set, or if its table entry shows that it is not a symbol.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn step(&mut self, lane: usize, symbols: __m512i) -> __m512i {
        let values = _mm512_permutex2var_epi8(self.values[0], symbols, self.values[1]);
        let flaws = &mut self.flaws[lane % 2];
        *flaws = _mm512_ternarylogic_epi64::<OR3>(*flaws, values, symbols);
        let pairs = _mm512_maddubs_epi16(values, _mm512_set1_epi32(0x0140_0140));
        _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_1000))
    }

    /// Runs [`step`](Avx512Decoder::step) on up to 64 symbols. If there are fewer symbols, the rest of the vector
    /// contains the symbol for zero.
    ///
    /// # Safety
    /// `source` is readable for `count` bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    unsafe fn load_step(&mut self, source: *const u8, count: usize) -> __m512i {
        // SAFETY: the mask admits `count` lanes.
        let symbols = unsafe { load(source, count, b'A') };
        self.step(0, symbols)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn flaws(&self) -> u64 {
        _mm512_movepi8_mask(_mm512_or_si512(self.flaws[0], self.flaws[1]))
    }
}

/// Encodes `length` bytes under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, `target` is writable for `total` bytes, and the CPU has the target features
/// of this function.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub unsafe fn encode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    // SAFETY: the caller promises what the called function requires.
    unsafe {
        if length >= LONG {
            encode_long(alphabet, source, length, target, total);
        } else {
            encode_short(&Avx512Encoder::new(alphabet), source, length, target, total);
        }
    }
}

/// Works on one vector at a time, until the end of the input.
///
/// # Safety
/// The caller fulfills the conditions of [`encode`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn encode_short(encoder: &Avx512Encoder, source: *const u8, length: usize, target: *mut u8, total: usize) {
    let (mut read, mut written) = (0, 0);
    // SAFETY: every access below stays inside `length` bytes of input and `total` bytes of output. A full load reads 64
    // bytes, of which 48 are used. So the loops run only while at least 64 bytes of input are left. Masked accesses
    // touch only the lanes that their mask admits.
    unsafe {
        while length - read >= SYMBOLS {
            let bytes = _mm512_loadu_si512(source.add(read).cast());
            _mm512_storeu_si512(target.add(written).cast(), encoder.step(bytes));
            read += BYTES;
            written += SYMBOLS;
        }
        if length - read > BYTES {
            let bytes = load(source.add(read), BYTES, 0);
            _mm512_storeu_si512(target.add(written).cast(), encoder.step(bytes));
            read += BYTES;
            written += SYMBOLS;
        }
        let (rest, count) = (length - read, total - written);
        let symbols = encoder.step(load(source.add(read), rest, 0));
        let padded = _mm512_mask_mov_epi8(_mm512_set1_epi8(b'='.cast_signed()), first(symbols_for(rest)), symbols);
        store(target.add(written), count, padded);
    }
}

/// Encodes four vectors at a time, and encodes the end with [`encode_short`]. This function is not inlined, so that its
/// use of registers does not slow down short inputs.
///
/// # Safety
/// The caller fulfills the conditions of [`encode`], and `length` is at least [`LONG`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn encode_long(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    let encoder = Avx512Encoder::new(alphabet);
    let (mut read, mut written) = (0, 0);
    // SAFETY: as in `encode`.
    unsafe {
        if (target as usize).is_multiple_of(4) && apart(source, length, target, total) {
            // Encodes whole groups until the output reaches the start of a cache line.
            written = target.align_offset(64);
            read = written / 4 * 3;
            store(target, written, encoder.step(load(source, read, 0)));
        }
        // In each round, the last load also reads 16 bytes that the round does not use.
        let rounds = (length - read - 16) / (ROUND * BYTES);
        let (from, to) = (source.add(read), target.add(written));
        match Writing::for_length(length, to) {
            Writing::Plain => encode_rounds(&encoder, from, to, rounds, |place, symbols| write(place, symbols)),
            Writing::Ahead => encode_rounds(&encoder, from, to, rounds, |place, symbols| write_ahead(place, symbols)),
            Writing::Past => encode_rounds(&encoder, from, to, rounds, |place, symbols| write_past(place, symbols)),
        }
        fence(length);
        read += rounds * ROUND * BYTES;
        written += rounds * ROUND * SYMBOLS;
        encode_short(&encoder, source.add(read), length - read, target.add(written), total - written);
    }
}

/// Encodes four vectors at a time.
///
/// # Safety
/// `source` is readable for `rounds` times 192 bytes and 16 more bytes, and `target` is writable for `rounds` times 256
/// bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn encode_rounds(
    encoder: &Avx512Encoder,
    source: *const u8,
    target: *mut u8,
    rounds: usize,
    write: impl Fn(*mut u8, __m512i),
) {
    let (mut source, mut target) = (source, target);
    for _ in 0..rounds {
        // SAFETY: the load lies inside this round's 192 bytes and the 16 bytes after them.
        let step = |lane: usize| encoder.step(unsafe { _mm512_loadu_si512(source.add(lane * BYTES).cast()) });
        let (first, second, third, fourth) = (step(0), step(1), step(2), step(3));
        // SAFETY: the stores lie inside this round's 256 symbols.
        unsafe {
            write(target, first);
            write(target.add(SYMBOLS), second);
            write(target.add(2 * SYMBOLS), third);
            write(target.add(3 * SYMBOLS), fourth);
        }
        // SAFETY: each pointer points into its range, or just past the end of its range.
        (source, target) = unsafe { (source.add(ROUND * BYTES), target.add(ROUND * SYMBOLS)) };
    }
}

/// Decodes `length` symbols under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` symbols, `target` is writable for the decoded bytes, and the CPU has the target
/// features of this function.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub unsafe fn decode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    // SAFETY: the caller promises what the called function requires.
    unsafe {
        if length >= LONG && apart(source, length, target, bytes_for(length)) {
            decode_long(alphabet, source, length, target)
        } else {
            decode_short(Avx512Decoder::new(alphabet), source, length, target)
        }
    }
}

/// Works on one vector at a time, until the end of the input.
///
/// # Safety
/// The caller fulfills the conditions of [`decode`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn decode_short(mut decoder: Avx512Decoder, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    let gather = table(&GATHER);
    let (mut read, mut written) = (0, 0);
    // SAFETY: every access below stays inside `length` symbols of input and the bytes of output that these symbols
    // stand for. Masked accesses touch only the lanes that their mask admits.
    unsafe {
        while length - read >= SYMBOLS {
            let symbols = _mm512_loadu_si512(source.add(read).cast());
            store(target.add(written), BYTES, _mm512_permutexvar_epi8(gather, decoder.step(0, symbols)));
            read += SYMBOLS;
            written += BYTES;
        }
        let rest = length - read;
        let bytes = _mm512_permutexvar_epi8(gather, decoder.load_step(source.add(read), rest));
        let meant = bytes_for(rest);
        store(target.add(written), meant, bytes);
        // Lanes after the last symbol contain the symbol for zero. So the byte after the last decoded byte holds only
        // the left-over bits.
        let trailing = _mm512_mask_test_epi8_mask(1 << meant, bytes, bytes);
        Flaws { symbols: decoder.flaws(), trailing }
    }
}

/// Decodes four vectors at a time, and decodes the end with [`decode_short`]. This function is not inlined, so that its
/// use of registers does not slow down short inputs.
///
/// # Safety
/// The caller fulfills the conditions of [`decode`]. In addition, `length` is at least [`LONG`], and the input and the
/// output do not overlap.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn decode_long(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    let mut decoder = Avx512Decoder::new(alphabet);
    let gather = table(&GATHER);
    let (mut read, mut written) = (0, 0);
    // SAFETY: as in `decode`.
    unsafe {
        // If the data are in the caches, loads that straddle cache lines limit the speed of this loop, so the loads are
        // aligned. For larger data, the stores bypass the caches and must be aligned. Three is invertible modulo 64, so
        // the output is aligned to a cache line after at most 63 groups of three bytes.
        let groups =
            if Writing::is_past(length) { target.align_offset(64) * 43 % 64 } else { source.align_offset(64) / 4 };
        while read < groups * 4 {
            let symbols = (groups * 4 - read).min(SYMBOLS);
            let numbers = decoder.load_step(source.add(read), symbols);
            store(target.add(written), symbols / 4 * 3, _mm512_permutexvar_epi8(gather, numbers));
            read += symbols;
            written += symbols / 4 * 3;
        }
        let rounds = (length - read) / (ROUND * SYMBOLS);
        let (from, to) = (source.add(read), target.add(written));
        match Writing::for_length(length, to) {
            Writing::Plain => decode_rounds(&mut decoder, from, to, rounds, |place, bytes| write(place, bytes)),
            Writing::Ahead => decode_rounds(&mut decoder, from, to, rounds, |place, bytes| write_ahead(place, bytes)),
            Writing::Past => decode_rounds(&mut decoder, from, to, rounds, |place, bytes| write_past(place, bytes)),
        }
        fence(length);
        read += rounds * ROUND * SYMBOLS;
        written += rounds * ROUND * BYTES;
        decode_short(decoder, source.add(read), length - read, target.add(written))
    }
}

/// Turns four vectors of symbols into three full vectors of bytes. The stores are aligned if `target` is aligned.
///
/// # Safety
/// `source` is readable for `rounds` times 256 symbols, `target` is writable for the bytes that these symbols hold, and
/// the two ranges do not overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn decode_rounds(
    decoder: &mut Avx512Decoder,
    source: *const u8,
    target: *mut u8,
    rounds: usize,
    write: impl Fn(*mut u8, __m512i),
) {
    let packed = [table(&PACKED[0]), table(&PACKED[1]), table(&PACKED[2])];
    let (mut source, mut target) = (source, target);
    for _ in 0..rounds {
        // SAFETY: the load lies inside this round's 256 symbols.
        let mut step =
            |lane: usize| decoder.step(lane, unsafe { _mm512_loadu_si512(source.add(lane * SYMBOLS).cast()) });
        let (first, second, third, fourth) = (step(0), step(1), step(2), step(3));
        // SAFETY: the stores lie inside this round's 192 bytes.
        unsafe {
            write(target, _mm512_permutex2var_epi8(first, packed[0], second));
            write(target.add(64), _mm512_permutex2var_epi8(second, packed[1], third));
            write(target.add(128), _mm512_permutex2var_epi8(third, packed[2], fourth));
        }
        // SAFETY: each pointer points into its range, or just past the end of its range.
        (source, target) = unsafe { (source.add(ROUND * SYMBOLS), target.add(ROUND * BYTES)) };
    }
}
