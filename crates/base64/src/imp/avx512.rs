//! 64 symbols a step: the alphabet lies in registers, and a masked load and store take the place of a tail.
//!
//! `vpermb` and `vpermi2b` look bytes up in registers, so nothing is addressed by a secret. Sizes come in three kinds. Short of a kilobyte,
//! every step stores on its own. From [`ALIGN_FROM`] on, the output is first brought to a cache line, since a store that straddles two costs
//! double, and four decoded vectors are packed into three full ones. From [`STREAM_FROM`] on, stores go past the caches, which would only
//! be emptied for nothing.

use super::{Flaws, apart, bytes_for, symbols_for};
use crate::Alphabet;
use core::arch::x86_64::{
    __m512i, __mmask64, _bzhi_u64, _mm_mask_loadu_epi8, _mm_mask_storeu_epi8, _mm_sfence, _mm256_mask_loadu_epi8, _mm256_mask_storeu_epi8,
    _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_inserti32x4, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_madd_epi16,
    _mm512_maddubs_epi16, _mm512_mask_loadu_epi8, _mm512_mask_storeu_epi8, _mm512_mask_test_epi8_mask, _mm512_movepi8_mask,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_stream_si512, _mm512_ternarylogic_epi64,
};

/// Symbols in a vector, and the bytes they hold.
const SYMBOLS: usize = 64;
const BYTES: usize = 48;
/// Vectors in one round of the main loops.
const ROUND: usize = 4;
/// Input sizes from which stores are aligned, and from which they go past the caches.
const ALIGN_FROM: usize = 1 << 10;
const STREAM_FROM: usize = 24 << 20;
/// `a | b | c`
const OR3: i32 = 0b1111_1110;
/// What a table holds for a byte that is no symbol: the top bit, which no value has.
const NO_SYMBOL: u8 = 0x80;

/// A register's worth of bytes, aligned so that it loads in one piece.
#[repr(align(64))]
struct Table([u8; 64]);

/// Spreads three bytes over four lanes, in the order that the shifts below expect: 1 0 2 1, 4 3 5 4, …
const SPREAD: Table = {
    let mut table = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        table[lane] = (lane / 4 * 3) as u8 + [1, 0, 2, 1][lane % 4];
        lane += 1;
    }
    Table(table)
};

/// Gathers the three bytes out of every four that `madd` leaves, in big-endian order, 48 in all.
const GATHER: Table = {
    let mut table = [0; 64];
    let mut byte = 0;
    while byte < BYTES {
        table[byte] = (byte / 3 * 4) as u8 + [2, 1, 0][byte % 3];
        byte += 1;
    }
    Table(table)
};

/// As [`GATHER`] over two neighbours, so that `skip` bytes of the pair are left out in front: three of these pack four vectors.
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

/// The value of every ASCII character, as two registers.
const fn values(alphabet: Alphabet) -> [Table; 2] {
    let symbols = alphabet.symbols();
    let mut tables = [[NO_SYMBOL; 64]; 2];
    let mut value = 0;
    while value < 64 {
        let symbol = symbols[value] as usize;
        tables[symbol / 64][symbol % 64] = value as u8;
        value += 1;
    }
    [Table(tables[0]), Table(tables[1])]
}

static STANDARD_SYMBOLS: Table = Table(Alphabet::Standard.symbols());
static URL_SAFE_SYMBOLS: Table = Table(Alphabet::UrlSafe.symbols());
static STANDARD_VALUES: [Table; 2] = values(Alphabet::Standard);
static URL_SAFE_VALUES: [Table; 2] = values(Alphabet::UrlSafe);

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn table(table: &Table) -> __m512i {
    // SAFETY: the array is exactly as long as the vector.
    unsafe { _mm512_loadu_si512(table.0.as_ptr().cast()) }
}

/// A mask of the first `count` lanes, up to all 64.
#[inline]
#[target_feature(enable = "bmi2")]
fn first(count: usize) -> __mmask64 {
    _bzhi_u64(u64::MAX, count as u32)
}

/// What encoding needs in registers.
struct Encoder {
    spread: __m512i,
    shifts: __m512i,
    symbols: __m512i,
}

impl Encoder {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn new(alphabet: Alphabet) -> Self {
        Self {
            spread: table(&SPREAD),
            // Where the four sextets start in each half of a spread quadword.
            shifts: _mm512_set1_epi64(0x3036_242a_1016_040a),
            symbols: table(match alphabet {
                Alphabet::Standard => &STANDARD_SYMBOLS,
                Alphabet::UrlSafe => &URL_SAFE_SYMBOLS,
            }),
        }
    }

    /// The first 48 bytes of a vector as 64 symbols. `vpermb` looks at six bits of each lane, so the sextets need no masking.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn step(&self, bytes: __m512i) -> __m512i {
        let spread = _mm512_permutexvar_epi8(self.spread, bytes);
        let sextets = _mm512_multishift_epi64_epi8(self.shifts, spread);
        _mm512_permutexvar_epi8(sextets, self.symbols)
    }
}

/// What decoding needs in registers, and what was wrong so far.
struct Decoder {
    values: [__m512i; 2],
    /// Two, taken in turn: one alone would make every step wait for the one before.
    flaws: [__m512i; 2],
}

impl Decoder {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn new(alphabet: Alphabet) -> Self {
        let values = match alphabet {
            Alphabet::Standard => &STANDARD_VALUES,
            Alphabet::UrlSafe => &URL_SAFE_VALUES,
        };
        Self { values: [table(&values[0]), table(&values[1])], flaws: [_mm512_setzero_si512(); 2] }
    }

    /// 64 symbols as 16 numbers of 24 bits. The lookup takes seven bits of each byte; the eighth is a flaw, as is a missing entry.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn step(&mut self, lane: usize, symbols: __m512i) -> __m512i {
        let values = _mm512_permutex2var_epi8(self.values[0], symbols, self.values[1]);
        let flaws = &mut self.flaws[lane % 2];
        *flaws = _mm512_ternarylogic_epi64::<OR3>(*flaws, values, symbols);
        let pairs = _mm512_maddubs_epi16(values, _mm512_set1_epi32(0x0140_0140));
        _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_1000))
    }

    /// [`step`](Decoder::step) on up to 64 symbols, with the symbol of zero behind them.
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

/// Encodes; see the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, `target` writable for their symbols, and the CPU has the features named here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub unsafe fn encode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) {
    let encoder = Encoder::new(alphabet);
    let (mut read, mut written) = (0, 0);
    // SAFETY: every access below stays inside `length` bytes of input and their symbols. A full load takes 64 bytes where 48 are used, so
    // the loops ask for 16 more; masked accesses touch only the lanes that their mask admits.
    unsafe {
        if length >= ALIGN_FROM && apart(source, length, target, symbols_for(length)) && (target as usize).is_multiple_of(4) {
            // Up to a cache line of the output, in whole groups.
            written = target.align_offset(64);
            read = written / 4 * 3;
            let head = load(source, read, 0);
            store(target, written, encoder.step(head));
            if length >= STREAM_FROM {
                while length - read >= ROUND * BYTES + 16 {
                    for lane in 0..ROUND {
                        let bytes = _mm512_loadu_si512(source.add(read + lane * BYTES).cast());
                        _mm512_stream_si512(target.add(written + lane * SYMBOLS).cast(), encoder.step(bytes));
                    }
                    read += ROUND * BYTES;
                    written += ROUND * SYMBOLS;
                }
                _mm_sfence();
            }
        }
        while length - read >= ROUND * BYTES + 16 {
            let mut symbols = [_mm512_setzero_si512(); ROUND];
            for (lane, symbols) in symbols.iter_mut().enumerate() {
                *symbols = encoder.step(_mm512_loadu_si512(source.add(read + lane * BYTES).cast()));
            }
            for (lane, symbols) in symbols.into_iter().enumerate() {
                _mm512_storeu_si512(target.add(written + lane * SYMBOLS).cast(), symbols);
            }
            read += ROUND * BYTES;
            written += ROUND * SYMBOLS;
        }
        while length - read >= BYTES {
            let bytes = load(source.add(read), BYTES, 0);
            _mm512_storeu_si512(target.add(written).cast(), encoder.step(bytes));
            read += BYTES;
            written += SYMBOLS;
        }
        let rest = length - read;
        let bytes = load(source.add(read), rest, 0);
        store(target.add(written), symbols_for(rest), encoder.step(bytes));
    }
}

/// Decodes; see the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` symbols, `target` writable for their bytes, and the CPU has the features named here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub unsafe fn decode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    let mut decoder = Decoder::new(alphabet);
    let gather = table(&GATHER);
    let (mut read, mut written) = (0, 0);
    // SAFETY: every access below stays inside `length` symbols of input and their bytes; masked accesses touch only the lanes that their
    // mask admits.
    unsafe {
        if length >= ALIGN_FROM && apart(source, length, target, bytes_for(length)) {
            // In the caches, loads that straddle cache lines are what holds up this loop; past them, stores must be aligned. Three is
            // invertible modulo 64, so some number of groups, at most 63, takes the output to a cache line.
            let groups = if length >= STREAM_FROM { target.align_offset(64) * 43 % 64 } else { source.align_offset(64) / 4 };
            while read < groups * 4 {
                let symbols = (groups * 4 - read).min(SYMBOLS);
                let numbers = decoder.load_step(source.add(read), symbols);
                store(target.add(written), symbols / 4 * 3, _mm512_permutexvar_epi8(gather, numbers));
                read += symbols;
                written += symbols / 4 * 3;
            }
            let rounds = (length - read) / (ROUND * SYMBOLS);
            let (from, to) = (source.add(read), target.add(written));
            if length >= STREAM_FROM {
                decode_rounds(&mut decoder, from, to, rounds, |place, bytes| _mm512_stream_si512(place.cast(), bytes));
                _mm_sfence();
            } else {
                decode_rounds(&mut decoder, from, to, rounds, |place, bytes| _mm512_storeu_si512(place.cast(), bytes));
            }
            read += rounds * ROUND * SYMBOLS;
            written += rounds * ROUND * BYTES;
        }
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
        // Lanes past the end were filled with the symbol of zero, so the next byte holds the bits left over and nothing else.
        let trailing = _mm512_mask_test_epi8_mask(1 << meant, bytes, bytes);
        Flaws { symbols: decoder.flaws(), trailing }
    }
}

/// Four vectors of symbols make three of bytes, whose stores are full and, if `target` is, aligned.
///
/// # Safety
/// `source` is readable for `rounds` times 256 symbols, `target` writable for as many bytes as they hold, and the two do not overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn decode_rounds(decoder: &mut Decoder, source: *const u8, target: *mut u8, rounds: usize, write: impl Fn(*mut u8, __m512i)) {
    let packed = [table(&PACKED[0]), table(&PACKED[1]), table(&PACKED[2])];
    let (mut source, mut target) = (source, target);
    for _ in 0..rounds {
        let mut numbers = [_mm512_setzero_si512(); ROUND];
        for (lane, numbers) in numbers.iter_mut().enumerate() {
            // SAFETY: inside this round's 256 symbols.
            *numbers = decoder.step(lane, unsafe { _mm512_loadu_si512(source.add(lane * SYMBOLS).cast()) });
        }
        for (part, packed) in packed.into_iter().enumerate() {
            // SAFETY: inside this round's 192 bytes.
            write(unsafe { target.add(part * 64) }, _mm512_permutex2var_epi8(numbers[part], packed, numbers[part + 1]));
        }
        // SAFETY: at most one past the end.
        (source, target) = unsafe { (source.add(ROUND * SYMBOLS), target.add(ROUND * BYTES)) };
    }
}

/// Up to 64 bytes, and `fill` behind them.
///
/// Masked-out bytes are not read, but the CPU waits for writes to them that are still under way, as when a small output lies right behind
/// a small input: so the load is no wider than it must be.
///
/// # Safety
/// `source` is readable for `count` bytes, and the CPU has the features named here.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn load(source: *const u8, count: usize, fill: u8) -> __m512i {
    let fill = _mm512_set1_epi8(fill.cast_signed());
    let lanes = first(count);
    // SAFETY: the mask admits `count` lanes, all of which fit into the width chosen.
    unsafe {
        if count <= 16 {
            let low = _mm_mask_loadu_epi8(_mm512_castsi512_si128(fill), lanes as u16, source.cast());
            _mm512_inserti32x4::<0>(fill, low)
        } else if count <= 32 {
            let low = _mm256_mask_loadu_epi8(_mm512_castsi512_si256(fill), lanes as u32, source.cast());
            _mm512_inserti64x4::<0>(fill, low)
        } else {
            _mm512_mask_loadu_epi8(fill, lanes, source.cast())
        }
    }
}

/// The first `count` bytes of a vector; no wider than it must be, for the reason given at [`load`].
///
/// # Safety
/// `target` is writable for `count` bytes, and the CPU has the features named here.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn store(target: *mut u8, count: usize, bytes: __m512i) {
    let lanes = first(count);
    // SAFETY: the mask admits `count` lanes, all of which fit into the width chosen.
    unsafe {
        if count <= 16 {
            _mm_mask_storeu_epi8(target.cast(), lanes as u16, _mm512_castsi512_si128(bytes));
        } else if count <= 32 {
            _mm256_mask_storeu_epi8(target.cast(), lanes as u32, _mm512_castsi512_si256(bytes));
        } else {
            _mm512_mask_storeu_epi8(target.cast(), lanes, bytes);
        }
    }
}
