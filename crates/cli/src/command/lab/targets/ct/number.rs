//! The integer types whose operations are measured.

use deadpan_ct::{CtAssign, CtOrd, CtSelect, CtZero};

/// An integer type that has all operations, and its layout in an input.
pub(super) trait Number: CtAssign + CtOrd + CtSelect + CtZero + Copy + Default + 'static {
    /// The type's name in Rust.
    const NAME: &'static str;
    /// The type's size in bytes.
    const SIZE: usize = size_of::<Self>();

    /// Reads the number at the start of `bytes`.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ident)*) => { $(
        impl Number for $number {
            const NAME: &'static str = stringify!($number);

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(*bytes.first_chunk().expect("as many bytes as a number has"))
            }
        }
    )* };
}

numbers!(u8 u32 u64 u128 i8 i32 i64 i128);
